//! `invitro study run`: works on a study until nothing is left, here or through Slurm.

use super::amounts::{count, parse_time};
use super::display::Display;
use super::slurm;
use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use invitro_lab::Stop;
use invitro_lab::executor::local::{Ended, Settings, work};
use invitro_lab::executor::slurm::REQUEUE;
use invitro_lab::executor::{Training, queue};
use invitro_lab::study::{Fate, StudyFolder};
use invitro_model::Device;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Run what is missing of a study; any number of these share the work on one folder
///
/// The same command goes on where an interrupted one left off. Exit status: 0 if all is done or the time is up, 1 if
/// cells failed, 2 for bad input, 75 if it was asked to stop.
#[derive(clap::Args)]
pub struct Args {
    /// A study file, or the folder of a study
    file: PathBuf,
    /// Settings laid over the base experiment, such as train.steps=2000
    #[arg(value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// The study's folder; made if need be
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Keep the runs in this folder, to be shared with other studies: a cell they have in common is run once
    #[arg(long, value_name = "DIR")]
    runs: Option<PathBuf>,
    /// The study's file has changed: replace the one in the folder, and keep the runs of cells that are still in it
    #[arg(long)]
    update: bool,
    /// Results of this study that `study collect` wrote elsewhere: their cells are not run again
    #[arg(long, value_name = "DIR")]
    with: Option<PathBuf>,
    /// auto, cpu, cuda or cuda:NUMBER
    #[arg(long, default_value = "auto")]
    pub(super) device: String,
    /// Cells trained at once [default: one per core, or what the GPU's memory holds]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) jobs: Option<u32>,
    /// Take no more than this many cells
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Stop cleanly within this time, such as 25m or 2h; with Slurm, the time limit of each task
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(super) time: Option<Duration>,
    /// Stop everything at the first failure
    #[arg(long)]
    fail_fast: bool,
    /// Where to run
    #[arg(long, value_enum, default_value = "local")]
    executor: Executor,
    #[command(flatten)]
    pub(super) slurm: slurm::SlurmArgs,
    /// How long a worker on another machine may be silent before its cells are taken over
    #[arg(long, value_name = "TIME", value_parser = parse_time, default_value = "2m")]
    pub(super) lease: Duration,
    /// Work as a task of this submission
    #[arg(long, value_name = "DIR", hide = true)]
    task: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Executor {
    Local,
    Slurm,
}

/// Part of the time that is kept for saving and leaving.
const MARGIN: f64 = 0.02;

pub fn run(args: Args) -> Result<ExitCode> {
    if args.lease < Duration::from_secs(1) {
        bail!("--lease is {:?}, but must be at least 1s", args.lease);
    }
    if args.executor == Executor::Slurm {
        let folder = if args.slurm.dry_run { plan(&args)? } else { open(&args)? };
        return slurm::run(&folder, &args);
    }
    let folder = open(&args)?;
    let only = args.task.as_deref().map(slurm::cells_of_this_task).transpose()?;
    let mut stop = Stop::new().on_signals()?;
    if let Some(time) = args.time {
        stop = stop.at(Instant::now() + time.mul_f64(1.0 - MARGIN));
    }
    let time_is_up = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGUSR1, time_is_up.clone())
        .context("signals cannot be watched")?;
    let ended = work_on(&folder, &args, &stop, only.as_ref())?;
    tell(&folder, &ended)?;
    if ended.stopped && args.task.is_some() && time_is_up.load(Ordering::Relaxed) {
        // Slurm puts back what it preempts itself; at the end of the time a task has to ask. Whoever asks is ended at
        // once, so this comes last.
        queue::requeue()?;
    }
    let in_time = args.time.is_some() && args.task.is_none() && !time_is_up.load(Ordering::Relaxed);
    Ok(match ended {
        Ended { failed: 1.., .. } => ExitCode::from(1),
        Ended { stopped: true, .. } if !in_time => ExitCode::from(REQUEUE),
        _ => ExitCode::SUCCESS,
    })
}

fn work_on(folder: &StudyFolder, args: &Args, stop: &Stop, only: Option<&HashSet<String>>) -> Result<Ended> {
    let device = Device::parse(&args.device)?;
    let training = Training::new(device, args.jobs.map(|jobs| jobs as usize));
    let fates = folder.fates(&HashSet::new())?;
    let stale: Vec<&String> =
        fates.values().filter_map(|(fate, _)| if let Fate::Stale { why } = fate { Some(why) } else { None }).collect();
    if let Some(why) = stale.first() {
        let cells = count(stale.len(), "cell");
        eprintln!("{cells} cannot be used ({why}); `study retry --stale` runs them anew");
    }
    let done = fates.values().filter(|(fate, _)| *fate == Fate::Done).count();
    let display = Display::new(folder.cells.len(), done);
    let (limit, fail_fast, expiry) = (args.limit, args.fail_fast, args.lease);
    let ended = work(folder, &training, &Settings { stop, only, limit, fail_fast, expiry }, &display);
    display.end();
    Ok(ended?)
}

fn tell(folder: &StudyFolder, ended: &Ended) -> Result<()> {
    let Ended { done, failed, left, stopped } = ended;
    let mut text = format!("{} done here", count(*done, "cell"));
    if *failed > 0 {
        text += &format!(", {failed} failed");
    }
    match (left, stopped) {
        (0, _) => text += "; nothing is left to run",
        (left, true) => text += &format!("; stopped with {left} left: the same command goes on"),
        (left, false) => text += &format!("; {left} left"),
    }
    say!("{text} ({})", folder.path.display());
    Ok(())
}

/// The study's folder, made if need be, with the results it is to build upon.
fn open(args: &Args) -> Result<StudyFolder> {
    let mut folder = if args.file.is_dir() {
        if !args.overrides.is_empty() || args.out.is_some() {
            bail!("`{}` is a study's folder: its settings and its place are fixed", args.file.display());
        }
        StudyFolder::open(&args.file)?
    } else {
        StudyFolder::create(&args.file, &args.overrides, out(args)?, args.runs.as_deref(), args.update)?
    };
    if let Some(results) = &args.with {
        folder.learn(results)?;
    }
    Ok(folder)
}

fn plan(args: &Args) -> Result<StudyFolder> {
    if args.file.is_dir() {
        return Ok(StudyFolder::open(&args.file)?);
    }
    Ok(StudyFolder::planned(&args.file, &args.overrides, out(args)?)?)
}

fn out(args: &Args) -> Result<&Path> {
    match &args.out {
        Some(out) => Ok(out),
        None => bail!("say where the study goes with --out DIR"),
    }
}
