//! The command line: one match, one file per command.

/// `println!` for a reader who may have seen enough: then it is the function's error.
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        writeln!(std::io::stdout(), $($text)*)?
    }};
}

mod bench;
mod check;
mod corpus;
mod evaluate;
mod experiment;
mod export;
mod generate;
mod language;
mod outcome;
mod output;
mod progress;
mod report;
mod run;
mod selftest;
mod study;
mod tokenizer;
mod train;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Study, under full control, how language models carry knowledge from one language to another.
#[derive(Parser)]
#[command(name = "invitro", version, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(run::Args),
    Train(train::Args),
    Evaluate(evaluate::Args),
    Generate(generate::Args),
    Export(export::Args),
    Study(study::Args),
    Report(report::Args),
    Languages(language::Args),
    Tokenizer(tokenizer::Args),
    Corpus(corpus::Args),
    Check(check::Args),
    Bench(bench::Args),
    Selftest(selftest::Args),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Run(args) => run::run(args),
        Command::Train(args) => train::run(args),
        Command::Evaluate(args) => evaluate::run(args),
        Command::Generate(args) => generate::run(args),
        Command::Export(args) => export::run(args),
        Command::Study(args) => study::run(args),
        Command::Report(args) => report::run(args),
        Command::Languages(args) => language::run(args),
        Command::Tokenizer(args) => tokenizer::run(args),
        Command::Corpus(args) => corpus::run(args),
        Command::Check(args) => check::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Selftest(args) => selftest::run(args),
    };
    match result {
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
