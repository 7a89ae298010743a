//! The arguments of `invitro study run`, which both executors read.

use super::format::parse_time;
use super::gpus::{Gpus, parse_gpus};
use clap::ValueEnum;
use std::path::PathBuf;
use std::time::Duration;

/// Run what is missing of a study; any number of these share the work on one folder
///
/// The same command resumes where an interrupted one left off. Exit status: 0 if all is done or the time is up, 1 if
/// cells failed, 2 for bad input, 75 if it was asked to stop.
#[derive(clap::Args)]
pub struct Args {
    /// A study file, or the folder of a study
    pub file: PathBuf,
    /// Settings laid over the base experiment, such as train.steps=2000
    #[arg(value_name = "KEY=VALUE")]
    pub overrides: Vec<String>,
    /// The study's folder; made if need be
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Keep the runs in this folder, to be shared with other studies: a cell they have in common is run once
    #[arg(long, value_name = "DIR")]
    pub runs: Option<PathBuf>,
    /// The study's file has changed: replace the one in the folder, and keep the runs of cells that are still in it
    #[arg(long)]
    pub update: bool,
    /// First read every file whose checksum a finished run has: damaged runs are named and made again
    #[arg(long)]
    pub verify: bool,
    /// Results of this study that `study collect` wrote elsewhere: their cells are not run again
    #[arg(long, value_name = "DIR")]
    pub with: Option<PathBuf>,
    /// auto, cpu, cuda, cuda:NUMBER, several GPUs as cuda:0,cuda:2, or cuda:all
    #[arg(long, default_value = "auto")]
    pub device: String,
    /// Cells trained at once on each device [default: one per core, or what the GPU's memory holds]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// Populations under way on each GPU: while one is evaluated, the others train [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub per_gpu: Option<u32>,
    /// Plan the study as it runs: begin with three data seeds, and add one after the other until every primary claim is
    /// decided or, where a number is given, its interval is this narrow (half of its width)
    #[arg(long, value_name = "decided|HALF", value_parser = parse_until, conflicts_with = "update")]
    pub until: Option<UntilGoal>,
    /// With --until: data seeds, at most
    #[arg(long, value_name = "N", default_value = "20", requires = "until",
        value_parser = clap::value_parser!(u32).range(3..=20))]
    pub cap: u32,
    /// Take no more than this many cells, the first that are missing in the study's order: every setting with
    /// one pair of seeds, then with the next
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Stop cleanly within this time, such as 25m or 2h; with Slurm, the time limit of each task
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub time: Option<Duration>,
    /// Stop everything at the first failure
    #[arg(long)]
    pub fail_fast: bool,
    /// Where to run
    #[arg(long, value_enum, default_value = "local")]
    pub executor: Executor,
    #[command(flatten)]
    pub slurm: SlurmArgs,
    /// How long a worker on another machine may be silent before its cells are taken over
    #[arg(long, value_name = "TIME", value_parser = parse_time, default_value = "2m")]
    pub lease: Duration,
    /// Work as a task of this submission
    #[arg(long, value_name = "DIR", hide = true)]
    pub task: Option<PathBuf>,
}

/// When a study that plans itself stops.
#[derive(Clone, Copy)]
pub struct UntilGoal {
    /// Also at intervals this narrow: half of their width.
    pub half_width: Option<f64>,
}

fn parse_until(text: &str) -> Result<UntilGoal, String> {
    if text == "decided" {
        return Ok(UntilGoal { half_width: None });
    }
    match text.parse() {
        Ok(half_width) if half_width > 0.0 && f64::is_finite(half_width) => {
            Ok(UntilGoal { half_width: Some(half_width) })
        }
        _ => Err("it must be `decided` or a number above 0, half the width of an interval".into()),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Executor {
    Local,
    Slurm,
}

#[derive(clap::Args)]
#[command(next_help_heading = "Slurm")]
pub struct SlurmArgs {
    /// Print the script and submit nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Partition of the tasks
    #[arg(long, value_name = "NAME")]
    pub partition: Option<String>,
    /// GPUs of each task, such as 1, 2 or a100:2 [default: 1 with --device cuda]; with several a task trains on all of them
    #[arg(long, value_name = "[TYPE:]N", value_parser = parse_gpus)]
    pub gpus: Option<Gpus>,
    /// Generic resources of each task as `sbatch` has them, such as gpu:1
    #[arg(long, value_name = "LIST")]
    pub gres: Option<String>,
    /// File with further lines for the script: #SBATCH options, and commands to run first
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
    /// Tasks at once, at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub at_once: Option<u32>,
    /// Cells per task [default: 64 for each GPU, else --jobs or 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub population: Option<u32>,
}
