//! `invitro train`: as `run`, but judged at the end alone.

use crate::experiment::ExperimentArgs;
use crate::run::carry_out;
use anyhow::Result;
use std::path::PathBuf;
use std::process::ExitCode;

/// Train without evaluations but the last: short for `run --no-report eval.every=0`
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    experiment: ExperimentArgs,
    /// The run's folder; with several seeds, the folder of their folders [default: runs/NAME-ID]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// auto, cpu, cuda or cuda:NUMBER
    #[arg(long, default_value = "auto")]
    device: String,
    /// Start over in a folder that holds a run already
    #[arg(long)]
    force: bool,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let mut experiment = args.experiment.load()?;
    experiment.eval.every = 0;
    carry_out(&experiment, args.out.as_deref(), &args.device, args.force, false)
}
