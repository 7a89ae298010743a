//! `invitro study status`: how a study stands.

use super::amounts::{count, parse_time, time};
use anyhow::Result;
use invitro_lab::executor::{queue, slurm};
use invitro_lab::study::StudyFolder;
use invitro_lab::study::status::{Overview, Standing};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::{IsTerminal, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Show what is done, running, failed, waiting and stale, how fast it goes, and how long it will take
#[derive(clap::Args)]
pub struct Args {
    /// The folder of a study
    folder: PathBuf,
    /// Show it again every few seconds, until nothing is left
    #[arg(long)]
    watch: bool,
    /// List every cell
    #[arg(long)]
    cells: bool,
    /// One JSON object
    #[arg(long)]
    json: bool,
    /// As given to `study run`
    #[arg(long, value_name = "TIME", value_parser = parse_time, default_value = "2m")]
    lease: Duration,
}

/// Failures and stale cells shown with their reasons, unless all are asked for.
const SHOWN: usize = 8;

pub fn run(args: Args) -> Result<ExitCode> {
    let folder = StudyFolder::open(&args.folder)?;
    loop {
        let overview = Overview::read(&folder, args.lease)?;
        let queue = tasks_of(&folder)?;
        if args.json {
            say!("{}", in_json(&folder, &overview, queue.as_ref()));
        } else {
            if args.watch && std::io::stdout().is_terminal() {
                write!(std::io::stdout(), "\x1b[2J\x1b[H")?;
            }
            write!(std::io::stdout(), "{}", in_words(&folder, &overview, queue.as_ref(), args.cells))?;
        }
        let counts = overview.counts();
        if !args.watch || counts.running + counts.waiting == 0 {
            return Ok(ExitCode::SUCCESS);
        }
        std::thread::sleep(Duration::from_secs(5));
    }
}

/// The tasks of this study's submissions by state, or why the queue cannot be read; `None` if nothing was submitted.
type Queue = std::result::Result<BTreeMap<String, usize>, String>;

fn tasks_of(folder: &StudyFolder) -> Result<Option<Queue>> {
    let jobs: Vec<u64> = slurm::submissions(&folder.path)?.iter().filter_map(|(_, place)| slurm::job(place)).collect();
    if jobs.is_empty() {
        return Ok(None);
    }
    Ok(Some(match queue::tasks() {
        Err(error) => Err(error.to_string()),
        Ok(tasks) => {
            let mut states = BTreeMap::new();
            for task in tasks.into_iter().filter(|task| jobs.contains(&task.job)) {
                *states.entry(task.state.to_lowercase()).or_insert(0) += 1;
            }
            Ok(states)
        }
    }))
}

fn in_words(folder: &StudyFolder, overview: &Overview, queue: Option<&Queue>, all: bool) -> String {
    let mut text = String::new();
    let counts = overview.counts();
    let rows = [
        ("done", counts.done),
        ("running", counts.running),
        ("failed", counts.failed),
        ("waiting", counts.waiting),
        ("stale", counts.stale),
    ];
    let cells = folder.cells.len();
    let _ = writeln!(text, "{}: {}", folder.study.name, count(cells, "cell"));
    for (name, number) in rows {
        let bar = "█".repeat((number * 40).div_ceil(cells.max(1)));
        let _ = writeln!(text, "  {name:<8} {number:>6}  {bar}");
    }
    if !overview.workers.is_empty() {
        let _ = writeln!(text, "{} at work", count(overview.workers.len(), "worker"));
    }
    if let (Some(rate), Some(left)) = (overview.rate, overview.seconds_left()) {
        let _ = writeln!(text, "{rate:.1} steps/s over all members, {} left", time(left));
    }
    match queue {
        None => {}
        Some(Err(why)) => {
            let _ = writeln!(text, "the queue cannot be read: {why}");
        }
        Some(Ok(states)) if states.is_empty() => {
            let _ = writeln!(text, "no tasks in the queue");
        }
        Some(Ok(states)) => {
            let list: Vec<String> = states.iter().map(|(state, number)| format!("{number} {state}")).collect();
            let _ = writeln!(text, "tasks in the queue: {}", list.join(", "));
        }
    }
    let mut shown = 0;
    for (cell, standing) in folder.cells.iter().zip(&overview.standings) {
        let line = match standing {
            Standing::Failed { step, error } => format!("failed at step {step}: {error}"),
            Standing::Stale { why } => format!("stale: {why}"),
            Standing::Running { step, worker } if all => format!("running, step {step}, by {worker}"),
            Standing::Waiting { step: 0 } if all => "waiting".into(),
            Standing::Waiting { step } if all => format!("waiting, interrupted at step {step}"),
            Standing::Done if all => "done".into(),
            _ => continue,
        };
        shown += 1;
        if all || shown <= SHOWN {
            let _ = writeln!(text, "{}  {}  {line}", cell.id, cell.label());
        }
    }
    if !all && shown > SHOWN {
        let _ = writeln!(text, "and {} more; --cells lists all", shown - SHOWN);
    }
    text
}

fn in_json(folder: &StudyFolder, overview: &Overview, queue: Option<&Queue>) -> Value {
    let cells: Vec<Value> = folder
        .cells
        .iter()
        .zip(&overview.standings)
        .map(|(cell, standing)| {
            let mut value = json!(standing);
            value["run"] = json!(cell.id);
            value["label"] = json!(cell.label());
            value
        })
        .collect();
    json!({
        "study": folder.study.name,
        "counts": overview.counts(),
        "workers": overview.workers,
        "steps_per_second": overview.rate,
        "seconds_left": overview.seconds_left(),
        "queue": queue.and_then(|queue| queue.as_ref().ok()),
        "cells": cells,
    })
}
