//! `invitro study run`: works on a study until nothing is left, here or through Slurm.

use super::display::{StudyDisplay, WorkerDisplay};
use super::format::{count, damaged_cell, time, without_checkpoint};
pub use super::run_args::Args;
use super::run_args::{Executor, UntilGoal};
use super::{rounds, slurm};
use crate::terminal::warn;
use anyhow::{Context, Result, bail};
use invitro_lab::Stop;
use invitro_lab::executor::shared::{WorkSettings, WorkSummary, WorkerSetup};
use invitro_lab::executor::slurm::REQUEUE;
use invitro_lab::executor::training::PER_GPU;
use invitro_lab::executor::workers::run_workers;
use invitro_lab::executor::{Training, queue};
use invitro_lab::study::collect::open_damaged;
use invitro_lab::study::intact::Depth;
use invitro_lab::study::{Cell, CellState, StudyFolder};
use invitro_lab::training;
use invitro_lab::training::activity::{Activity, Times};
use invitro_model::Device;
use invitro_results::ReadCache;
use std::collections::HashSet;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Part of the time that is kept for saving and leaving.
const MARGIN: f64 = 0.02;

pub fn run(args: Args) -> Result<ExitCode> {
    if args.lease < Duration::from_secs(1) {
        bail!("--lease is {:?}, but must be at least 1s", args.lease);
    }
    if args.executor == Executor::Slurm {
        let folder = if args.slurm.dry_run { plan(&args)? } else { open(&args)? };
        return slurm::run(folder, &args);
    }
    let devices = devices(&args.device)?;
    let mut folder = open(&args)?;
    check_finished(&folder, args.verify)?;
    let only = args.task.as_deref().map(slurm::cells_of_this_task).transpose()?;
    let mut stop = Stop::new().on_signals()?;
    if let Some(time) = args.time {
        stop = stop.at(Instant::now() + time.mul_f64(1.0 - MARGIN));
    }
    let time_is_up = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGUSR1, time_is_up.clone())
        .context("signals cannot be watched")?;
    let mut ended = work_on(&folder, &devices, &args, args.limit, &stop, only.as_ref())?;
    if only.is_some() && !ended.stopped {
        slurm::submit_next_round(&mut folder, &args)?;
    } else if only.is_none() {
        let mut cache = ReadCache::default();
        while !ended.stopped && ended.left == 0 && rounds::next(&mut folder, &mut cache)?.is_some() {
            let limit = args.limit.map(|limit| limit.saturating_sub(ended.done + ended.failed));
            let further = work_on(&folder, &devices, &args, limit, &stop, None)?;
            ended = WorkSummary { done: ended.done + further.done, failed: ended.failed + further.failed, ..further };
        }
    }
    report(&folder, &ended)?;
    if ended.stopped && args.task.is_some() && time_is_up.load(Ordering::Relaxed) {
        // Slurm puts back what it preempts itself; at the end of the time a task has to ask. Whoever asks is ended at
        // once, so this comes last.
        queue::requeue()?;
    }
    let in_time = args.time.is_some() && args.task.is_none() && !time_is_up.load(Ordering::Relaxed);
    Ok(match ended {
        WorkSummary { failed: 1.., .. } => ExitCode::from(1),
        WorkSummary { stopped: true, .. } if !in_time => ExitCode::from(REQUEUE),
        _ => ExitCode::SUCCESS,
    })
}

/// Reports finished runs whose files are missing or were changed, and opens those without their results again. Reads all
/// of them with `verify`.
fn check_finished(folder: &StudyFolder, verify: bool) -> Result<()> {
    let states = folder.cell_states_checked(if verify { Depth::All } else { Depth::Lengths })?;
    if verify {
        open_damaged(folder, &states).iter().for_each(|cell| warn(&damaged_cell(cell)));
    }
    let faults = folder.checkpoint_faults(&states, verify);
    without_checkpoint(faults.iter().map(|(_, why)| why.as_str())).iter().for_each(|text| warn(text));
    let strays = folder.strays()?;
    if !strays.is_empty() {
        note!("{} in its folder are no cells of this study", count(strays.len(), "finished run"));
    }
    Ok(())
}

/// The named devices. A missing one is an error before any worker starts.
fn devices(named: &str) -> Result<Vec<Device>> {
    let devices = Device::parse_list(named)?;
    devices.iter().try_for_each(|device| device.describe().map(drop))?;
    Ok(devices)
}

fn work_on(
    folder: &StudyFolder,
    devices: &[Device],
    args: &Args,
    limit: Option<usize>,
    stop: &Stop,
    only: Option<&HashSet<String>>,
) -> Result<WorkSummary> {
    let trainings = trainings(devices, args.jobs, args.per_gpu);
    let cell_states = folder.cell_states(&HashSet::new())?;
    let open = folder.cells.iter().zip(&cell_states).filter(|(_, (state, _))| state.open_at().is_some());
    check_models(open.map(|(cell, _)| cell), devices)?;
    let stale: Vec<&String> = cell_states
        .iter()
        .filter_map(|(cell_state, _)| if let CellState::Stale { why } = cell_state { Some(why) } else { None })
        .collect();
    if let Some(why) = stale.first() {
        let cells = count(stale.len(), "cell");
        note!("{cells} cannot be used ({why}); `study retry --stale` runs them anew");
    }
    let done = cell_states.iter().filter(|(cell_state, _)| *cell_state == CellState::Done).count();
    // The devices in turn, so that each has something to do where there are few cells.
    let most = trainings.iter().map(|training| training.populations).max().unwrap_or(0);
    let turns = (0..most).flat_map(|turn| trainings.iter().filter(move |training| turn < training.populations));
    let workers: Vec<&Training> = turns.collect();
    let display = StudyDisplay::new(folder.cells.len(), done, workers.len());
    let displays: Vec<WorkerDisplay> = (0..workers.len()).map(|worker| display.worker(worker)).collect();
    let setups: Vec<WorkerSetup> =
        workers.iter().zip(&displays).map(|(&training, displays)| (training as _, displays as _)).collect();
    let (fail_fast, expiry) = (args.fail_fast, args.lease);
    let begun = Instant::now();
    let ended = run_workers(folder, &setups, &WorkSettings { stop, only, limit, fail_fast, expiry })?;
    let times = display.times();
    // Its line goes before others come.
    drop(display);
    tell_times(&times, &trainings, begun.elapsed());
    Ok(ended)
}

/// An error that counts the cells whose model one of the devices cannot train.
pub fn check_models<'a>(cells: impl IntoIterator<Item = &'a Cell>, devices: &[Device]) -> Result<()> {
    let check = |cell: &'a Cell| devices.iter().find_map(|device| training::check(&cell.experiment, *device).err());
    let failing: Vec<(&Cell, invitro_lab::Error)> =
        cells.into_iter().filter_map(|cell| Some((cell, check(cell)?))).collect();
    match failing.first() {
        Some((cell, error)) => {
            bail!("{} cannot be trained on this device: {error} ({}, …)", count(failing.len(), "cell"), cell.label)
        }
        None => Ok(()),
    }
}

/// Training on these devices, as `--jobs` and `--per-gpu` say.
pub fn trainings(devices: &[Device], jobs: Option<u32>, per_gpu: Option<u32>) -> Vec<Training> {
    Training::on(devices, jobs.map(|jobs| jobs as usize), per_gpu.map_or(PER_GPU, |number| number as usize))
}

/// Where the time went, if anything was trained.
fn tell_times(times: &Times, trainings: &[Training], passed: Duration) {
    if !times.0.contains_key(&Activity::Training) {
        return;
    }
    for training in trainings {
        if let Device::Cuda(number) = training.device {
            let share = 100.0 * training.slots.busy().as_secs_f64() / passed.as_secs_f64();
            note!("cuda:{number} trained {share:.1} % of {}", time(passed.as_secs_f64()));
        }
    }
    note!("time of the workers: {}", times.shares());
}

fn report(folder: &StudyFolder, ended: &WorkSummary) -> Result<()> {
    let WorkSummary { done, failed, left, stopped } = ended;
    let mut text = format!("{} done here", count(*done, "cell"));
    if *failed > 0 {
        text += &format!(", {failed} failed");
    }
    match (left, stopped) {
        (0, _) => text += "; nothing is left to run",
        (left, true) => text += &format!("; stopped with {left} left: the same command resumes it"),
        (left, false) => text += &format!("; {left} left"),
    }
    say!("{text} ({})", folder.path.display());
    Ok(())
}

/// The study's folder, made if need be, with the results it is to build upon.
fn open(args: &Args) -> Result<StudyFolder> {
    let mut folder = if args.file.is_dir() {
        if !args.overrides.is_empty() || args.out.is_some() || args.until.is_some() {
            bail!("`{}` is a study's folder: its settings, its place and when it stops are fixed", args.file.display());
        }
        let folder = StudyFolder::open(&args.file)?;
        folder.check_runs()?;
        folder
    } else {
        planned(args)?.write(&args.file, args.runs.as_deref(), args.update)?
    };
    if let Some(results) = &args.with {
        folder.add_known(results)?;
    }
    Ok(folder)
}

fn plan(args: &Args) -> Result<StudyFolder> {
    if args.file.is_dir() {
        return Ok(StudyFolder::open(&args.file)?);
    }
    planned(args)
}

/// The study of the file, which nothing was written of.
fn planned(args: &Args) -> Result<StudyFolder> {
    let planned = StudyFolder::planned(&args.file, &args.overrides, out(args)?)?;
    Ok(match args.until {
        Some(UntilGoal { half_width }) => planned.planning_itself(&args.file, args.cap as usize, half_width)?,
        None => planned,
    })
}

fn out(args: &Args) -> Result<&Path> {
    match &args.out {
        Some(out) => Ok(out),
        None => bail!("say where the study goes with --out DIR"),
    }
}
