//! `invitro language`: look at a pair of languages, sample it, export it.

mod export;
mod gloss;
mod sample;
mod show;

use anyhow::Result;
use clap::Subcommand;
use std::process::ExitCode;

/// Look at the two languages of an experiment, sample them, export them
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Show(show::Args),
    Sample(sample::Args),
    Export(export::Args),
}

pub fn run(args: Args) -> Result<ExitCode> {
    match args.command {
        Command::Show(args) => show::run(args),
        Command::Sample(args) => sample::run(args),
        Command::Export(args) => export::run(args),
    }
}
