//! A study's results as tables: `runs.parquet` (a row per cell, whatever became of it), `metrics.parquet` and
//! `words.parquet` (the rows of all finished runs), and the same as `.csv` for those who want it.

use super::file::Cell;
use super::folder::{CellState, StudyFolder};
use crate::error::{At, Error, Result};
use crate::inputs::{InputCache, on_threads};
use crate::record;
use invitro_results::folder::{METRICS_TABLE, RUNS_TABLE, SUMMARY, WORDS, read_json};
use invitro_results::summary;
use invitro_results::table::{self, Columns, Table};
use invitro_results::{State, Status, column, metrics};
use rayon::prelude::*;
use serde_json::json;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// What was collected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collected {
    pub files: Vec<PathBuf>,
    pub runs: usize,
    pub done: usize,
}

/// How to collect.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Request {
    /// The tables as `.csv` too.
    pub csv: bool,
    /// Only what a report needs: no kinds of failure, no second reading of reachability, an even sample of the words.
    pub compact: bool,
}

/// Words that a compact study keeps in all.
const WORDS_KEPT: usize = 60_000;

/// Writes the tables into the study's folder, replacing older ones.
pub fn collect(folder: &StudyFolder, request: Request) -> Result<Collected> {
    let states = folder.cell_states(&HashSet::new())?;
    let rows: Vec<Columns> =
        folder.cells.par_iter().zip(&states).map(|(cell, state)| row(folder, cell, state)).collect::<Result<_>>()?;
    let done: Vec<PathBuf> = folder
        .cells
        .iter()
        .zip(&states)
        .filter(|(cell, (state, _))| *state == CellState::Done && !folder.known.runs.contains_key(&cell.id))
        .map(|(cell, _)| folder.run(cell))
        .collect();
    let known = folder.cells.iter().filter(|cell| folder.known.runs.contains_key(&cell.id)).count();
    if known < folder.known.runs.len() {
        let others = folder.known.runs.len() - known;
        let why = format!("{others} of the runs that are known from tables are not cells of this study");
        return Err(Error::Study { path: folder.path.clone(), why });
    }
    // The runs last: whoever sees a new runs.parquet finds the metrics that go with it.
    let mut files = Vec::new();
    for name in [METRICS_TABLE, WORDS] {
        let mut made: Vec<PathBuf> = done.iter().map(|run| run.join(name)).filter(|part| part.exists()).collect();
        let place = folder.path.join(".compact");
        if request.compact {
            made = thin(name, &made, &place, folder.cells.len())?;
        }
        let parts: Vec<PathBuf> = folder.known.table(name).into_iter().chain(made).collect();
        let whole = folder.path.join(name);
        if !parts.is_empty() {
            table::join(&parts, &whole)?;
            files.push(whole);
        }
        if request.compact {
            std::fs::remove_dir_all(&place).writing(&place)?;
        }
    }
    let runs = folder.path.join(RUNS_TABLE);
    table::write(&runs, &summary::columns(&rows))?;
    files.push(runs);
    if request.csv {
        write_csv(&mut files)?;
    }
    Ok(Collected { files, runs: rows.len(), done: known + done.len() })
}

/// Measures the languages and tokenizers of all cells, trains nothing, and writes `runs.parquet` into `out`. Cells that
/// differ in neither are measured once; `measured` is told how many of how many are done.
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
    Ok(Collected { files, runs: rows.len(), done: 0 })
}

/// Writes every table as comma-separated values too.
fn write_csv(files: &mut Vec<PathBuf>) -> Result<()> {
    for table in files.clone() {
        let text = table.with_extension("csv");
        Table::open(&table)?.write_csv(&text)?;
        files.push(text);
    }
    Ok(())
}

/// The row of a cell: a finished run's summary, or what is known of any other.
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
        CellState::Failed { .. } => State::Failed,
        CellState::Stale { .. } => State::Stale,
        CellState::Open { step } if *step > 0 => State::Interrupted,
        CellState::Open { .. } => State::Waiting,
    };
    let mut row = summary::describe(&cell.id, named, status.as_ref(), &cell.experiment.flatten());
    row.extend([study]);
    if let CellState::Failed { error, .. } | CellState::Stale { why: error } = state {
        row.insert(column::ERROR.into(), json!(error));
    }
    Ok(row)
}

/// Writes of each run's table what a report needs into `place`.
fn thin(name: &str, parts: &[PathBuf], place: &Path, cells: usize) -> Result<Vec<PathBuf>> {
    std::fs::create_dir_all(place).writing(place)?;
    let thin = |(at, part): (usize, &PathBuf)| {
        let whole = Table::open(part)?;
        let columns = if name == WORDS {
            // Every k-th of a run's; runs of one data seed mask the same words, and so keep the same.
            let stride = whole.len().div_ceil((WORDS_KEPT / cells).max(1));
            whole.retain(|at, _| at.is_multiple_of(stride))?
        } else {
            whole.retain(|_, row| !metrics::is_detail(row))?
        };
        let thinned = place.join(format!("{at}.parquet"));
        table::write(&thinned, &columns)?;
        Ok(thinned)
    };
    parts.par_iter().enumerate().map(thin).collect()
}
