//! `invitro tokenizer`: train tokenizers, measure them, find their bridges, look at them.

mod bridges;
mod external;
mod measure;
mod subject;
mod table;
mod train;

use anyhow::Result;
use std::process::ExitCode;

/// Train tokenizers, measure them and find their bridges; no model is needed
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

commands! { Train(train), Measure(measure), Bridges(bridges), Table(table), }

pub fn run(args: Args) -> Result<ExitCode> {
    args.command.run()
}
