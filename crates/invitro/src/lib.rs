//! The command line: one match, one file per command. The program `invitro` and the Python package call [`run()`].

/// Tells a result to people, in lines that fit their terminal. A reader who has seen enough is the function's error.
macro_rules! say {
    () => { say!("") };
    ($($text:tt)*) => {{
        use std::io::Write as _;
        writeln!(std::io::stdout(), "{}", crate::terminal::fit(&format!($($text)*)))?
    }};
}

/// The same for other programs: as it is.
macro_rules! emit {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        writeln!(std::io::stdout(), $($text)*)?
    }};
}

/// Tells on standard error what may be left out.
macro_rules! note {
    ($($text:tt)*) => { crate::terminal::note(&format!($($text)*)) };
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
mod columns;
mod comments;
mod compare;
mod completions;
mod config;
mod corpus;
mod evaluate;
mod examples;
mod experiment;
mod export;
mod findings;
mod generate;
mod hidden;
mod language;
mod lines;
mod output;
mod pace;
mod pairs;
mod patch;
mod pooled;
mod progress;
mod report;
mod resume;
mod run;
mod run_summary;
mod runs;
mod score;
mod selftest;
mod sentence;
mod study;
mod table;
mod terminal;
mod tokenizer;
mod train;
mod version;

use anyhow::Context;
use clap::{CommandFactory, FromArgMatches, Parser};
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::OnceLock;

/// Study, under full control, how language models carry knowledge from one language to another.
#[derive(Parser)]
#[command(name = "invitro", version = version::VERSION, max_term_width = 110)]
struct Cli {
    /// Print results and errors alone, without progress and notes
    #[arg(long, short, global = true, display_order = 100)]
    quiet: bool,
    /// Threads to work with [default: one per core]; results do not depend on it
    #[arg(long, value_name = "N", global = true, display_order = 100, value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    #[command(subcommand)]
    command: Command,
}

commands! {
    Run(run),
    Train(train),
    Evaluate(evaluate),
    Generate(generate),
    Score(score),
    Hidden(hidden),
    Patch(patch),
    Pairs(pairs),
    Export(export),
    Study(study),
    Report(report),
    Runs(runs),
    Compare(compare),
    Findings(findings),

    Config(config),
    Language(language),
    Tokenizer(tokenizer),
    Corpus(corpus),
    Check(check),
    Bench(bench),
    Selftest(selftest),
    Completions(completions),
}

/// Where the program lies that other processes can be started with.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Runs a command and returns its exit code. `program` is an absolute path, `args` are the arguments without it.
pub fn run(program: PathBuf, args: impl IntoIterator<Item = OsString>) -> ExitCode {
    PROGRAM.get_or_init(|| program);
    let code = run_command(std::iter::once("invitro".into()).chain(args));
    // At the end of Rust's own `main` this is done by itself.
    let _ = std::io::stdout().flush();
    code
}

/// The command line as clap has it, with its help's examples and its arguments' values.
pub fn command() -> clap::Command {
    completions::add(examples::add(Cli::command()))
}

fn parse(args: &[OsString]) -> clap::error::Result<Cli> {
    let mut command = command();
    let matches = command.try_get_matches_from_mut(args)?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

fn run_command(args: impl Iterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.collect();
    match completions::answer(&args) {
        Ok(true) => return ExitCode::SUCCESS,
        Ok(false) => {}
        Err(error) => return report_usage(&error),
    }
    let cli = match parse(&args) {
        Ok(cli) => cli,
        Err(told) => return report_usage(&told),
    };
    if cli.quiet {
        terminal::be_quiet();
    }
    invitro_results::set_commit(version::COMMIT);
    match use_threads(cli.threads).and_then(|()| cli.command.run()) {
        Ok(code) => code,
        // A reader that has seen enough, such as `head`, is no error.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            terminal::error(&format!("{error:#}"));
            ExitCode::from(2)
        }
    }
}

/// Help, the version, or what is wrong with the arguments.
fn report_usage(error: &clap::Error) -> ExitCode {
    let to = if error.use_stderr() { terminal::To::Err } else { terminal::To::Out };
    let text = if terminal::colours(to) { error.render().ansi().to_string() } else { error.render().to_string() };
    let text = terminal::wrap(&text, terminal::width(to));
    if error.use_stderr() {
        let _ = write!(std::io::stderr(), "{text}");
    } else {
        // A reader that has seen enough is no error.
        let _ = write!(std::io::stdout(), "{text}");
    }
    ExitCode::from(error.exit_code() as u8)
}

/// The pool that everything works in, unless a part of it has reasons for its own.
fn use_threads(threads: Option<u16>) -> anyhow::Result<()> {
    let Some(threads) = threads else { return Ok(()) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(threads));
    pool.build_global().with_context(|| format!("{threads} threads cannot be had"))
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io = |e: &(dyn std::error::Error + 'static)| e.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
    error.chain().any(|e| io(e) == Some(std::io::ErrorKind::BrokenPipe))
}
