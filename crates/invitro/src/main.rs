//! The command line: one match, one file per command.

/// `println!` for a reader who may have seen enough: then it is the function's error.
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        writeln!(std::io::stdout(), $($text)*)?
    }};
}

/// The commands of a group, each a module with its `Args` and its `run`.
macro_rules! commands {
    ($($command:ident($module:ident),)+) => {
        #[derive(clap::Subcommand)]
        enum Command { $($command(Box<$module::Args>),)+ }

        impl Command {
            fn run(self) -> anyhow::Result<std::process::ExitCode> {
                match self { $(Command::$command(args) => $module::run(*args),)+ }
            }
        }
    };
}

mod bar;
mod bench;
mod check;
mod config;
mod corpus;
mod evaluate;
mod experiment;
mod export;
mod generate;
mod language;
mod output;
mod progress;
mod report;
mod run;
mod run_summary;
mod selftest;
mod study;
mod tokenizer;
mod train;

use clap::Parser;
use std::process::ExitCode;

/// Study, under full control, how language models carry knowledge from one language to another.
#[derive(Parser)]
#[command(name = "invitro", version, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

commands! {
    Run(run),
    Train(train),
    Evaluate(evaluate),
    Generate(generate),
    Export(export),
    Study(study),
    Report(report),
    Config(config),
    Language(language),
    Tokenizer(tokenizer),
    Corpus(corpus),
    Check(check),
    Bench(bench),
    Selftest(selftest),
}

fn main() -> ExitCode {
    match Cli::parse().command.run() {
        Ok(code) => code,
        // A reader that has seen enough, such as `head`, is no error.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io = |e: &(dyn std::error::Error + 'static)| e.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
    error.chain().any(|e| io(e) == Some(std::io::ErrorKind::BrokenPipe))
}
