//! `invitro study`: grids of experiments that resume, on one machine or a cluster.

mod collect;
mod display;
pub mod format;
mod gpus;
mod measure;
mod needs;
mod plan;
mod retry;
mod rounds;
mod run;
mod run_args;
mod slurm;
mod status;

use anyhow::Result;
use std::process::ExitCode;

/// Plan, run, watch and collect a grid of experiments
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

commands! { Plan(plan), Run(run), Status(status), Retry(retry), Collect(collect), Measure(measure), }

pub fn run(args: Args) -> Result<ExitCode> {
    args.command.run()
}
