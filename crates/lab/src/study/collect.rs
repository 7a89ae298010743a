//! A study's results as tables: `runs.parquet` (a row per cell, whatever became of it), `metrics.parquet` and
//! `words.parquet` (the rows of all finished runs), and the same as `.csv` for those who want it.

use super::file::Cell;
use super::folder::{CellState, StudyFolder};
use super::intact::Depth;
use super::retry::open_all;
use crate::error::{At, Error, Result};
use crate::inputs::{InputCache, on_threads};
use crate::run_folder::record;
use invitro_results::claims::Claim;
use invitro_results::folder::{METRICS_TABLE, RUNS_TABLE, SUMMARY, WORDS, read_json};
use invitro_results::summary;
use invitro_results::table::{self, Columns, TableReader};
use invitro_results::{Measure, State, Status, column, compact, words};
use rayon::prelude::*;
use serde_json::json;
use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What was collected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Collected {
    pub files: Vec<PathBuf>,
    pub runs: usize,
    pub done: usize,
    /// Cells that say they are done but whose results cannot be read: identity, label, and why. They are in the tables as
    /// interrupted, and open for the next worker.
    pub damaged: Vec<(String, String, String)>,
    /// Finished cells whose checkpoints are missing or were changed: label, and why. Their results are intact.
    pub without_checkpoint: Vec<(String, String)>,
    /// Finished runs in the folder that are no cells of the study.
    pub strays: usize,
}

/// How to collect.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CollectRequest {
    /// The tables as `.csv` too.
    pub csv: bool,
    /// Only what a report on the study shows, numbers that are no shares to four decimals, and a sample of the words.
    pub compact: bool,
    /// All sealed files are read, not the tables alone.
    pub verify: bool,
}

/// Cells whose rows are in memory at once.
const PART: usize = 1024;

/// The lock of those who collect: tables that are whole one by one are to fit each other too.
const LOCK: &str = "lock";

/// How long the worker that reopens a damaged cell may be silent.
const EXPIRY: Duration = Duration::from_secs(120);

/// Writes the tables into the study's folder, replacing older ones.
pub fn collect(folder: &StudyFolder, request: CollectRequest) -> Result<Collected> {
    folder.check_runs()?;
    let _lock = lock(&folder.path)?;
    folder.remove_abandoned();
    folder.check_strays()?;
    let states = folder.cell_states_checked(if request.verify { Depth::All } else { Depth::Tables })?;
    let damaged = open_damaged(folder, &states);
    let without_checkpoint = folder.checkpoint_faults(&states, request.verify);
    let without_checkpoint = without_checkpoint.into_iter().map(|(cell, why)| (cell.label.clone(), why)).collect();
    check_known(folder)?;
    let ids: HashSet<&str> = folder.cells.iter().map(|cell| cell.id.as_str()).collect();
    let done: Vec<PathBuf> = folder
        .cells
        .iter()
        .zip(&states)
        .filter(|(cell, (state, _))| *state == CellState::Done && !folder.known.runs.contains_key(&cell.id))
        .map(|(cell, _)| folder.run(cell))
        .collect();
    let claims = folder.plan.claims().map_or_else(Vec::new, |claims| claims.claims);
    let claimed: HashSet<Measure> = claims.iter().flat_map(Claim::measures).collect();
    // The runs last: a reader that sees a new runs.parquet finds its metrics.
    let mut files = Vec::new();
    for name in [METRICS_TABLE, WORDS] {
        let made = done.iter().map(|run| run.join(name));
        let known = folder.known.table_of(name, &ids)?;
        let parts: Vec<PathBuf> = known.iter().map(|(path, _)| path.clone()).chain(made).collect();
        let whole = folder.path.join(name);
        if !parts.is_empty() {
            let joined = match (name, request.compact) {
                (WORDS, false) => words::join(&parts, &whole),
                (WORDS, true) => compact::join_words(&parts, &whole),
                (_, false) => table::join(&parts, &whole),
                (_, true) => compact::join_metrics(&parts, &whole, &claimed),
            };
            if let Some((part, true)) = known {
                let _ = std::fs::remove_file(part);
            }
            joined?;
            files.push(whole);
        }
    }
    let runs = folder.path.join(RUNS_TABLE);
    let cells: Vec<_> = folder.cells.iter().zip(&states).collect();
    summary::write(&runs, request.compact, cells.chunks(PART), |part| {
        let shortened = |mut row: Columns| {
            request.compact.then(|| summary::shorten(&mut row));
            row
        };
        part.par_iter().map(|(cell, state)| row(folder, cell, state).map(shortened)).collect::<Result<_>>()
    })?;
    files.push(runs);
    if request.csv {
        write_csv(&mut files)?;
    }
    let known = folder.known.runs.keys().filter(|id| ids.contains(id.as_str())).count();
    let (runs, done) = (folder.cells.len(), known + done.len());
    Ok(Collected { files, runs, done, damaged, without_checkpoint, strays: folder.strays()?.len() })
}

/// Waits for others who collect or plan. Where the file system has no locks, each table is still whole.
pub(super) fn lock(study: &Path) -> Result<File> {
    let path = study.join(LOCK);
    let file = File::options().create(true).truncate(false).write(true).open(&path).writing(&path)?;
    let _ = file.lock();
    Ok(file)
}

/// Opens the cells whose results cannot be read, for the next worker to take: identity, label, and why.
pub fn open_damaged(folder: &StudyFolder, states: &[(CellState, Option<Status>)]) -> Vec<(String, String, String)> {
    let damage = |(cell, (state, _)): (_, &(CellState, _))| match state {
        CellState::Damaged { why, .. } => Some((cell, why.clone())),
        _ => None,
    };
    let all: Vec<(&Cell, String)> = folder.cells.iter().zip(states).filter_map(damage).collect();
    if !all.is_empty() {
        // Who may not write here still collects; `study retry` tells why they cannot be opened.
        let _ = open_all(folder, all.clone(), false, EXPIRY);
    }
    all.into_iter().map(|(cell, why)| (cell.id.clone(), cell.label.clone(), why)).collect()
}

/// Whether the runs that are known from tables have their metrics.
fn check_known(folder: &StudyFolder) -> Result<()> {
    let without = folder.known.without_metrics()?;
    let Some(first) = without.first() else { return Ok(()) };
    let why = format!(
        "`known/{METRICS_TABLE}` has nothing of {} of the runs that `known/{RUNS_TABLE}` lists, such as {first}; \
         `study run --with DIR` takes both anew",
        without.len()
    );
    Err(Error::Study { path: folder.path.clone(), why })
}

/// Measures the languages and tokenizers of all cells, trains nothing, and writes `runs.parquet` into `out`. Cells that
/// differ in neither are measured once; `measured` gets the number done and the number of all.
pub fn measure(
    folder: &StudyFolder,
    out: &Path,
    csv: bool,
    measured: &(dyn Fn(usize, usize) + Sync),
) -> Result<Collected> {
    let mut seen = HashSet::new();
    let cells: Vec<&Cell> =
        folder.cells.iter().filter(|cell| seen.insert(record::measured_settings(&cell.experiment))).collect();
    let mut rows = Vec::with_capacity(cells.len());
    // Chunks with a cache of their own: neighbours share languages, and memory stays small.
    for chunk in cells.chunks(2 * rayon::current_num_threads()) {
        let cache = InputCache::default();
        let measure = |cell: &Cell| -> Result<Columns> {
            let (languages, text) = cache.languages_and_text(&cell.experiment)?;
            let mut row = summary::describe(&cell.id, State::Measured, None, &cell.experiment.flatten());
            row.insert(column::STUDY.into(), json!(folder.plan.name));
            summary::add_measures(&mut row, &record::measures(&cell.experiment, &languages, &text)?);
            Ok(row)
        };
        let made = on_threads(chunk, |cell| measure(cell));
        rows.extend(made.into_iter().collect::<Result<Vec<Columns>>>()?);
        measured(rows.len(), cells.len());
    }
    std::fs::create_dir_all(out).writing(out)?;
    let mut files = vec![out.join(RUNS_TABLE)];
    table::write(&files[0], &summary::columns(&rows))?;
    if csv {
        write_csv(&mut files)?;
    }
    Ok(Collected { files, runs: rows.len(), ..Collected::default() })
}

/// Writes every table as comma-separated values too.
fn write_csv(files: &mut Vec<PathBuf>) -> Result<()> {
    for table in files.clone() {
        let text = table.with_extension("csv");
        TableReader::open(&table)?.write_csv(&text)?;
        files.push(text);
    }
    Ok(())
}

/// The row of a cell: a finished run's summary, or the state of any other.
fn row(folder: &StudyFolder, cell: &Cell, (state, status): &(CellState, Option<Status>)) -> Result<Columns> {
    if let Some(known) = folder.known.runs.get(&cell.id) {
        return Ok(known.clone());
    }
    let study = (column::STUDY.to_owned(), json!(folder.plan.name));
    let named = match state {
        CellState::Done => {
            let path = folder.run(cell).join(SUMMARY);
            let missing = || Error::Read { path: path.clone(), why: "a run that is done must have one".into() };
            let mut row: Columns = read_json(&path)?.ok_or_else(missing)?;
            row.extend([study]);
            return Ok(row);
        }
        CellState::Damaged { .. } => State::Interrupted,
        CellState::Failed { .. } => State::Failed,
        CellState::Stale { .. } => State::Stale,
        CellState::Open { step } if *step > 0 => State::Interrupted,
        CellState::Open { .. } => State::Waiting,
    };
    let mut row = summary::describe(&cell.id, named, status.as_ref(), &cell.experiment.flatten());
    row.extend([study]);
    if let CellState::Failed { error: why, .. } | CellState::Damaged { why, .. } | CellState::Stale { why } = state {
        row.insert(column::ERROR.into(), json!(why));
    }
    Ok(row)
}
