//! `invitro study run --executor slurm`: writes and submits the job arrays.

use super::format::count;
use super::gpus::gpu_request;
use super::rounds;
use super::run_args::Args;
use anyhow::{Context, Result, bail};
use invitro_lab::executor::queue;
use invitro_lab::executor::slurm::{self, SlurmRequest, covered, plan, submit, tasks};
use invitro_lab::executor::training::{MOST_ON_GPU, PER_GPU};
use invitro_lab::study::StudyFolder;
use invitro_lab::study::grouping::Open;
use invitro_lab::study::status::{CellStatus, Overview};
use invitro_results::ReadCache;
use std::collections::HashSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Cells of a task on a CPU where nothing else says.
const ON_CPU: usize = 4;

pub fn run(mut folder: StudyFolder, args: &Args) -> Result<ExitCode> {
    let request = request(args)?;
    if open_cells(&folder, args)?.is_empty() && !args.slurm.dry_run {
        rounds::next(&mut folder, &mut ReadCache::default())?;
    }
    submit_open(&folder, args, &request)?;
    Ok(ExitCode::SUCCESS)
}

/// From a task of a study that plans itself: takes the next data seed once all runs of the others are done, and submits
/// its cells as those of this task were.
pub fn submit_next_round(folder: &mut StudyFolder, args: &Args) -> Result<()> {
    let (Some(task), Some(true)) = (&args.task, rounds::next(folder, &mut ReadCache::default())?) else {
        return Ok(());
    };
    submit_open(folder, args, &slurm::request(task)?)
}

fn submit_open(folder: &StudyFolder, args: &Args, request: &SlurmRequest) -> Result<()> {
    let open = open_cells(folder, args)?;
    if open.is_empty() {
        say!("nothing is left to submit");
    }
    let longest = if args.slurm.dry_run { 1001 } else { queue::longest_array() };
    for mut submission in plan(folder, &open, request, longest)? {
        if args.slurm.dry_run {
            write!(std::io::stdout(), "{}", submission.script)?;
            continue;
        }
        submit(&mut submission)?;
        let cells = submission.tasks.iter().map(Vec::len).sum();
        let (cells, tasks) = (count(cells, "cell"), count(submission.tasks.len(), "task"));
        let job = submission.job.unwrap_or_default();
        say!("submitted {cells} in {tasks} as job {job}; logs are in {}", submission.folder.display());
    }
    Ok(())
}

fn request(args: &Args) -> Result<SlurmRequest> {
    let slurm = &args.slurm;
    let read = |path: &PathBuf| {
        std::fs::read_to_string(path).with_context(|| format!("the profile `{}` cannot be read", path.display()))
    };
    let profile = slurm.profile.as_ref().map(read).transpose()?;
    let request = gpu_request(args.slurm.gpus.as_ref(), args.slurm.gres.as_deref(), &args.device, profile.as_deref())?;
    let number = |given: Option<u32>, default: usize| given.map_or(default, |given| given as usize);
    let on_device = match request.gpus {
        0 => number(args.jobs, ON_CPU),
        gpus => gpus * number(args.jobs, MOST_ON_GPU * number(args.per_gpu, PER_GPU)),
    };
    let mut arguments = vec!["--device".into(), request.device, "--lease".into()];
    arguments.push(format!("{}s", args.lease.as_secs()));
    for (option, given) in [("--jobs", args.jobs), ("--per-gpu", args.per_gpu)] {
        arguments.extend(given.into_iter().flat_map(|given| [option.to_owned(), given.to_string()]));
    }
    Ok(SlurmRequest {
        partition: slurm.partition.clone(),
        time: args.time,
        gres: request.gres,
        profile,
        at_once: slurm.at_once.map(|most| most as usize),
        population: number(slurm.population, on_device),
        program: crate::PROGRAM.get().context("where this program lies cannot be found out")?.clone(),
        arguments,
    })
}

/// Cells that wait and that no task in the queue will see to.
fn open_cells<'a>(folder: &'a StudyFolder, args: &Args) -> Result<Vec<Open<'a>>> {
    if !folder.path.join("study.toml").exists() {
        return Ok(folder.cells.iter().map(|cell| Open { cell, step: 0 }).collect());
    }
    let queued = if args.slurm.dry_run { HashSet::new() } else { covered(&folder.path, &queue::tasks()?)? };
    let overview = Overview::read(folder, args.lease)?;
    let waits = |status: &CellStatus| match status {
        CellStatus::Waiting { step } | CellStatus::Damaged { step, .. } => Some(*step),
        _ => None,
    };
    let open: Vec<Open> = folder
        .cells
        .iter()
        .zip(&overview.cells)
        .filter_map(|(cell, status)| Some(Open { cell, step: waits(status)? }))
        .collect();
    let all = open.len();
    let open: Vec<Open> = open.into_iter().filter(|open| !queued.contains(&open.cell.id)).collect();
    if open.len() < all {
        say!("{} in the queue already", count(all - open.len(), "cell"));
    }
    Ok(open)
}

/// The cells this array task of a submission sees to.
pub fn cells_of_this_task(submission: &Path) -> Result<HashSet<String>> {
    let index = std::env::var("SLURM_ARRAY_TASK_ID").ok().and_then(|index| index.parse::<usize>().ok());
    let Some(index) = index else { bail!("--task is for tasks of a Slurm job array: SLURM_ARRAY_TASK_ID is not set") };
    let mut tasks = tasks(submission)?;
    if index >= tasks.len() {
        bail!("the submission `{}` has {} tasks, no task {index}", submission.display(), tasks.len());
    }
    Ok(tasks.swap_remove(index).into_iter().collect())
}
