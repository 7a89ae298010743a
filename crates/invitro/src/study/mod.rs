//! `invitro study`: grids of experiments that resume, on one machine or a cluster.

pub mod amounts;
mod collect;
mod display;
mod plan;
mod retry;
mod run;
mod slurm;
mod status;

use anyhow::Result;
use clap::Subcommand;
use std::process::ExitCode;

/// Plan, run, watch and collect a grid of experiments
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Plan(plan::Args),
    Run(Box<run::Args>),
    Status(status::Args),
    Retry(retry::Args),
    Collect(collect::Args),
}

pub fn run(args: Args) -> Result<ExitCode> {
    match args.command {
        Command::Plan(args) => plan::run(args),
        Command::Run(args) => run::run(*args),
        Command::Status(args) => status::run(args),
        Command::Retry(args) => retry::run(args),
        Command::Collect(args) => collect::run(args),
    }
}
