//! `invitro study status`: how a study stands.

use super::format::{count, parse_time, time};
use super::needs::ClaimsNow;
use crate::terminal::{self, To};
use anyhow::Result;
use invitro_lab::executor::{queue, slurm};
use invitro_lab::study::StudyFolder;
use invitro_lab::study::status::{CellStatus, Counts, Overview};
use invitro_lab::study::worker::WorkerRecord;
use invitro_results::{Known, ReadCache};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
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
    let mut folder = StudyFolder::open(&args.folder)?;
    let tables_alone = folder.has_tables_alone();
    if tables_alone {
        folder.known = Known::of_tables(folder.path.clone())?;
    }
    let mut cache = ReadCache::default();
    loop {
        let overview = Overview::read(&folder, args.lease)?;
        let queue = tasks_of(&folder)?;
        // Results that cannot be read are a matter of the cells, which say so.
        let claims = ClaimsNow::read(&folder, &mut cache).ok().flatten();
        if args.json {
            emit!("{}", in_json(&folder, &overview, queue.as_ref(), claims.as_ref()));
        } else {
            if args.watch && std::io::stdout().is_terminal() {
                write!(std::io::stdout(), "\x1b[2J\x1b[H")?;
            }
            let mut text = in_words(&folder, &overview, queue.as_ref(), tables_alone, args.cells);
            for line in claims.iter().flat_map(ClaimsNow::in_words) {
                text += &format!("{line}\n");
            }
            write!(std::io::stdout(), "{}", terminal::fit(&text))?;
        }
        let counts = overview.counts();
        if !args.watch || counts.running + counts.waiting + counts.damaged == 0 {
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

fn in_words(folder: &StudyFolder, overview: &Overview, queue: Option<&Queue>, tables_alone: bool, all: bool) -> String {
    let Counts { done, damaged, running, failed, waiting, stale } = overview.counts();
    let cells = folder.cells.len();
    let mut lines = vec![format!("{}: {}", folder.plan.name, count(cells, "cell"))];
    let room = terminal::width(To::Out).map_or(40, |width| width.saturating_sub(19).min(40));
    let rows = [("done", done), ("running", running), ("failed", failed), ("waiting", waiting), ("stale", stale)];
    // Named only where there are any: a study that is well has none.
    for (name, number) in rows.into_iter().chain((damaged > 0).then_some(("damaged", damaged))) {
        let bar = "█".repeat((number * room).div_ceil(cells.max(1)));
        lines.push(format!("  {name:<8} {number:>6}  {bar}"));
    }
    if !overview.workers.is_empty() {
        lines.push(format!("{} at work", count(overview.workers.len(), "worker")));
    }
    for (record, silence) in overview.silent.iter().take(SHOWN) {
        let job = record.slurm_job.as_ref().map(|job| format!(", Slurm job {job}")).unwrap_or_default();
        lines.push(format!(
            "silent for {}: worker {} on {} (process {}{job}): frozen or gone; others take its cells over",
            time(silence.as_secs_f64()),
            record.worker,
            record.host,
            record.process.pid
        ));
    }
    if overview.silent.len() > SHOWN {
        lines.push(format!("and {} more are silent", count(overview.silent.len() - SHOWN, "worker")));
    }
    if let (Some(rate), Some(left)) = (overview.rate, overview.seconds_left()) {
        lines.push(format!("{rate:.1} steps/s over all members, {} left", time(left)));
    }
    if let Some(times) = overview.times() {
        lines.push(format!("time of the workers: {}", times.shares()));
    }
    if let Ok(strays) = folder.strays()
        && let Some(first) = strays.first()
    {
        lines.push(format!(
            "{} in its folder are no cells of this study, such as {first}",
            count(strays.len(), "finished run")
        ));
    }
    if tables_alone {
        lines.push("only tables are here, without the runs that they are of: `invitro report` shows them".into());
    }
    lines.extend(queue.map(|queue| match queue {
        Err(why) => format!("the queue cannot be read: {why}"),
        Ok(states) if states.is_empty() => "no tasks in the queue".into(),
        Ok(states) => {
            let list: Vec<String> = states.iter().map(|(state, number)| format!("{number} {state}")).collect();
            format!("tasks in the queue: {}", list.join(", "))
        }
    }));
    let mut shown = 0;
    for (cell, status) in folder.cells.iter().zip(&overview.cells) {
        let line = match status {
            CellStatus::Failed { step, error } => format!("failed at step {step}: {error}"),
            CellStatus::Stale { why } => format!("stale: {why}"),
            CellStatus::Damaged { why, .. } => format!("damaged, `study run` takes it again: {why}"),
            CellStatus::Running { step, worker } if all => format!("running, step {step}, by {worker}"),
            CellStatus::Waiting { step: 0 } if all => "waiting".into(),
            CellStatus::Waiting { step } if all => format!("waiting, interrupted at step {step}"),
            CellStatus::Done if all => "done".into(),
            _ => continue,
        };
        shown += 1;
        if all || shown <= SHOWN {
            lines.push(format!("{}  {}  {line}", cell.id, cell.label));
        }
    }
    if !all && shown > SHOWN {
        lines.push(format!("and {} more; --cells lists all", shown - SHOWN));
    }
    lines.join("\n") + "\n"
}

fn in_json(folder: &StudyFolder, overview: &Overview, queue: Option<&Queue>, claims: Option<&ClaimsNow>) -> Value {
    let cells: Vec<Value> = folder
        .cells
        .iter()
        .zip(&overview.cells)
        .map(|(cell, status)| {
            let mut value = json!(status);
            value["run"] = json!(cell.id);
            value["label"] = json!(cell.label);
            value
        })
        .collect();
    let silent =
        |(record, silence): &(WorkerRecord, Duration)| json!({ "worker": record, "seconds": silence.as_secs() });
    json!({
        "study": folder.plan.name,
        "counts": overview.counts(),
        "workers": overview.workers,
        "silent": overview.silent.iter().map(silent).collect::<Vec<_>>(),
        "steps_per_second": overview.rate,
        "seconds_left": overview.seconds_left(),
        "queue": queue.and_then(|queue| queue.as_ref().ok()),
        "claims": claims.map(ClaimsNow::in_json),
        "cells": cells,
    })
}
