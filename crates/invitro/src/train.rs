//! `invitro train`: as `run`, but judged at the end alone.

use crate::run::{TrainingArgs, carry_out};
use anyhow::Result;
use std::process::ExitCode;

/// Train without evaluations but the last: short for `run --no-report eval.every=0`
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    training: TrainingArgs,
}

pub fn run(args: Args) -> Result<ExitCode> {
    carry_out(args.training, &["eval.every=0"], false)
}
