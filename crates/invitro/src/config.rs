//! `invitro config`: the experiment that the arguments give, or every key there is.

use crate::comments::fitted;
use crate::experiment::ExperimentArgs;
use crate::terminal::{self, To};
use anyhow::Result;
use invitro_base::settings::{all, reference};
use std::process::ExitCode;

/// Print the experiment as a file with comments, to start from; or the reference of all keys
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    experiment: ExperimentArgs,
    /// Every key with its meaning, default and range, as Markdown
    #[arg(long, conflicts_with_all = ["preset", "config", "seed", "overrides"])]
    reference: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let text = match (args.reference, args.json) {
        (false, false) => fitted(&args.experiment.load()?.commented(), terminal::width(To::Out)),
        (false, true) => serde_json::to_string_pretty(&args.experiment.load()?)?,
        (true, false) => reference(),
        (true, true) => serde_json::to_string_pretty(&all().collect::<Vec<_>>())?,
    };
    emit!("{}", text.trim_end());
    Ok(ExitCode::SUCCESS)
}
