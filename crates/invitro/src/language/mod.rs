//! `invitro language`: look at the languages of an experiment, sample them, export them.

mod dictionary;
mod export;
mod figures;
mod gloss;
mod sample;
mod show;
pub mod tree;

use anyhow::Result;
use std::process::ExitCode;

/// Look at the languages of an experiment, sample them, export them
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

commands! { Show(show), Sample(sample), Export(export), }

pub fn run(args: Args) -> Result<ExitCode> {
    args.command.run()
}
