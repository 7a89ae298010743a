//! `invitro language`: look at the languages of an experiment, sample them, export them.

mod export;
mod gloss;
mod sample;
mod show;

use anyhow::Result;
use std::process::ExitCode;

/// Look at the two languages of an experiment, sample them, export them
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

commands! { Show(show), Sample(sample), Export(export), }

pub fn run(args: Args) -> Result<ExitCode> {
    args.command.run()
}
