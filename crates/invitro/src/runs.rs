//! `invitro runs`: what runs there are, how they stand, and what they say.

use crate::table;
use crate::terminal::{self, Paint, To, paint};
use anyhow::{Result, bail};
use invitro_lab::run_folder::locked;
use invitro_lab::{State, Status};
use invitro_results::folder::{CONFIG, STATUS};
use invitro_results::{Condition, Curve, Loss, Measure, Quantity, Run, TaskMetric, read_ends};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// List the runs in a folder: their state, their step and their headline
///
/// Of every condition: the share of unscrambled sentences that are grammatical, and the contrast of facts in nats.
#[derive(clap::Args)]
pub struct Args {
    /// The folder of run folders
    #[arg(default_value = "runs")]
    dir: PathBuf,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

/// How deep run folders are looked for: a run of several seeds has a folder of theirs, a study has `runs/`.
const DEPTH: usize = 3;

/// A run's folder and what could be read of it.
struct RunEntry {
    name: String,
    path: PathBuf,
    found: Result<FoundRuns, String>,
}

struct FoundRuns {
    run: Run,
    state: &'static str,
    step: u64,
    steps: u64,
}

pub fn run(args: Args) -> Result<ExitCode> {
    if !args.dir.is_dir() {
        bail!("`{}` is not a folder: say where the runs are", args.dir.display());
    }
    let mut folders = Vec::new();
    find(&args.dir, DEPTH, &mut folders);
    folders.sort();
    let entries: Vec<RunEntry> = folders.into_par_iter().map(|path| entry(&args.dir, path)).collect();
    if args.json {
        for entry in &entries {
            emit!("{}", in_json(entry));
        }
        return Ok(ExitCode::SUCCESS);
    }
    if entries.is_empty() {
        say!("there are no runs in {}", args.dir.display());
        return Ok(ExitCode::SUCCESS);
    }
    say!("{}", list(&entries, terminal::width(To::Out)));
    Ok(ExitCode::SUCCESS)
}

fn is_run(path: &Path) -> bool {
    path.join(CONFIG).exists() || path.join(STATUS).exists()
}

fn find(dir: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    if is_run(dir) {
        found.push(dir.to_owned());
        return;
    }
    let Some(depth) = depth.checked_sub(1) else { return };
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    // What a study moved aside is hidden.
    let shown = entries.flatten().filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'));
    shown.map(|entry| entry.path()).filter(|path| path.is_dir()).for_each(|path| find(&path, depth, found));
}

fn entry(dir: &Path, path: PathBuf) -> RunEntry {
    let within = path.strip_prefix(dir).ok().filter(|rest| *rest != Path::new(""));
    let name = within.unwrap_or(&path).display().to_string();
    let found = found(&path).map_err(|error| error.to_string());
    RunEntry { name, path, found }
}

fn found(path: &Path) -> invitro_results::Result<FoundRuns> {
    let run = read_ends(path)?;
    let status = Status::read(path)?;
    let state = match &status {
        None => "new",
        Some(status) if status.state == State::Running && !locked(path) => State::Interrupted.name(),
        Some(status) => status.state.name(),
    };
    let (step, steps) = status.map_or((0, 0), |status| (status.step, status.steps));
    Ok(FoundRuns { run, state, step, steps })
}

/// The conditions that anything was measured in, masked ones last.
fn conditions(run: &Run) -> Vec<Condition> {
    let mut all: Vec<Condition> = run.curves.keys().filter_map(|quantity| quantity.condition.clone()).collect();
    all.sort_by(|a, b| (a.masked, a).cmp(&(b.masked, b)));
    all.dedup();
    all
}

const GRAMMATICAL: fn() -> Measure = || Measure::unscrambling(TaskMetric::Grammaticality);

fn end(run: &Run, measure: Measure, condition: &Condition) -> Option<f64> {
    run.curve(&Quantity::in_condition(measure, condition)).end()
}

fn list(entries: &[RunEntry], width: Option<usize>) -> String {
    let mut all: Vec<Condition> =
        entries.iter().flat_map(|e| &e.found).flat_map(|found| conditions(&found.run)).collect();
    all.sort_by(|a, b| (a.masked, a).cmp(&(b.masked, b)));
    all.dedup();
    let mut head: Vec<String> = ["run", "id", "state", "step"].map(str::to_owned).into();
    head.extend(all.iter().map(Condition::label));
    head.extend(all.iter().filter(|c| c.masked || all.len() == 1).map(|c| format!("nats {}", c.label())));
    let mut rows = vec![table::heads(head)];
    let mut faults = Vec::new();
    for entry in entries {
        let found = match &entry.found {
            Ok(found) => found,
            Err(error) => {
                faults.push(format!("{}: {error}", paint(To::Out, Paint::Red, &entry.name)));
                continue;
            }
        };
        let id: String = found.run.id.chars().take(8).collect();
        let mut row = vec![entry.name.clone(), id, painted(found.state), format!("{}/{}", found.step, found.steps)];
        let number = |value: Option<f64>, signed: bool| match value {
            Some(value) if signed => format!("{value:+.2}"),
            Some(value) => format!("{value:.2}"),
            None => "–".into(),
        };
        row.extend(all.iter().map(|c| number(end(&found.run, GRAMMATICAL(), c), false)));
        let masked = all.iter().filter(|c| c.masked || all.len() == 1);
        row.extend(masked.map(|c| number(end(&found.run, Measure::KNOWLEDGE, c), true)));
        rows.push(row);
    }
    let mut text = table::numbers(&rows, width);
    if !all.is_empty() {
        text += &terminal::wrap(
            &format!(
                "\n\n{}: share of unscrambled sentences that are grammatical; nats: the contrast of facts; at the end so far",
                all.iter().filter(|c| !c.masked).map(Condition::label).collect::<Vec<_>>().join(", ")
            ),
            width,
        );
    }
    for fault in faults {
        text += &format!("\n{}", terminal::wrap(&fault, width));
    }
    text
}

fn painted(state: &str) -> String {
    let colour = match state {
        "done" => Paint::Green,
        "failed" => Paint::Red,
        "running" => Paint::Cyan,
        _ => Paint::Yellow,
    };
    paint(To::Out, colour, state)
}

fn in_json(entry: &RunEntry) -> Value {
    let RunEntry { name, path, found } = entry;
    let FoundRuns { run, state, step, steps } = match found {
        Ok(found) => found,
        Err(error) => return json!({ "name": name, "path": path.display().to_string(), "error": error }),
    };
    let scores = |condition: &Condition| {
        let headline = json!({
            "grammatical": end(run, GRAMMATICAL(), condition),
            "types": end(run, Measure::unscrambling(TaskMetric::Types), condition),
            "facts": end(run, Measure::unscrambling(TaskMetric::Facts), condition),
            "contrast_nats": end(run, Measure::KNOWLEDGE, condition),
        });
        (condition.to_string(), headline)
    };
    let headline: serde_json::Map<String, Value> = conditions(run).iter().map(scores).collect();
    let loss = run.curve(&Quantity::overall(Measure::Loss(Loss::Loss)));
    json!({
        "name": name, "path": path.display().to_string(), "run": run.id, "state": state, "step": step, "steps": steps,
        "loss": Curve::end(loss), "headline": headline,
    })
}
