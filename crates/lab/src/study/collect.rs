//! A study's results as tables: `runs.parquet` (a row per cell, whatever became of it), `metrics.parquet` and
//! `words.parquet` (the rows of all finished runs), and the same as `.csv` for those who want it.

use super::folder::{Fate, StudyFolder};
use super::grid::Cell;
use super::known::RUNS;
use crate::error::{Error, Result};
use crate::files;
use crate::folder::{METRICS_TABLE, SUMMARY, Status, WORDS};
use crate::metrics;
use crate::table::{self, Column};
use parquet::column::writer::ColumnCloseResult;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::{Field, RowAccessor};
use rayon::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::{BTreeSet, HashSet};
use std::fs::File;
use std::io::{BufWriter, Write};
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
    let fates = folder.fates(&HashSet::new())?;
    let rows: Vec<Map<String, Value>> =
        folder.cells.par_iter().map(|cell| row(folder, cell, fates.get(cell.id.as_str()))).collect::<Result<_>>()?;
    let done: Vec<PathBuf> = folder
        .cells
        .iter()
        .filter(|cell| matches!(fates.get(cell.id.as_str()), Some((Fate::Done, _))))
        .filter(|cell| !folder.known.runs.contains_key(&cell.id))
        .map(|cell| folder.run(cell))
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
            join(&parts, &whole)?;
            files.push(whole);
        }
        if request.compact {
            std::fs::remove_dir_all(&place).map_err(|error| wrong(&place, &error))?;
        }
    }
    let runs = folder.path.join(RUNS);
    table::write(&runs, &columns(&rows))?;
    files.push(runs);
    if request.csv {
        for table in files.clone() {
            let text = table.with_extension("csv");
            to_csv(&table, &text)?;
            files.push(text);
        }
    }
    Ok(Collected { files, runs: rows.len(), done: known + done.len() })
}

/// The row of a cell: a finished run's summary, or what is known of any other.
fn row(folder: &StudyFolder, cell: &Cell, fate: Option<&(Fate, Option<Status>)>) -> Result<Map<String, Value>> {
    if let Some(known) = folder.known.runs.get(&cell.id) {
        return Ok(known.clone());
    }
    let mut row = Map::new();
    row.insert("run".into(), json!(cell.id));
    row.insert("study".into(), json!(folder.study.name));
    let state = match fate {
        Some((Fate::Done, _)) => "done",
        Some((Fate::Failed { .. }, _)) => "failed",
        Some((Fate::Stale { .. }, _)) => "stale",
        Some((Fate::Open { step }, _)) if *step > 0 => "interrupted",
        _ => "waiting",
    };
    row.insert("state".into(), json!(state));
    if state == "done" {
        let path = folder.run(cell).join(SUMMARY);
        let wrong = |why: String| Error::Read { path: path.clone(), why };
        let text = files::read_text(&path)?.ok_or_else(|| wrong("a run that is done must have one".into()))?;
        let summary: Map<String, Value> = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        row.extend(summary.into_iter().filter(|(name, _)| !["run", "study", "state"].contains(&name.as_str())));
        return Ok(row);
    }
    for (key, value) in cell.experiment.flatten() {
        row.insert(key, serde_json::to_value(value).unwrap_or(Value::Null));
    }
    if let Some((fate, status)) = fate {
        if let Fate::Failed { error, .. } | Fate::Stale { why: error } = fate {
            row.insert("error".into(), json!(error));
        }
        if let Some(status) = status {
            row.insert("steps".into(), json!(status.step));
            row.insert("device".into(), json!(status.device));
            row.insert("version".into(), json!(status.version));
            row.insert("schema".into(), json!(status.schema));
        }
    }
    Ok(row)
}

/// Rows as columns, those that tell runs apart first: whole numbers, numbers, or text where any value is.
fn columns(rows: &[Map<String, Value>]) -> Vec<(String, Column)> {
    const FIRST: [&str; 3] = ["run", "study", "state"];
    let known: BTreeSet<&String> = rows.iter().flat_map(Map::keys).collect();
    let mut names: Vec<&String> = known.into_iter().collect();
    names.sort_by_key(|name| FIRST.iter().position(|first| first == name).unwrap_or(FIRST.len()));
    let column = |name: &String| {
        let values: Vec<Option<&Value>> =
            rows.iter().map(|row| row.get(name).filter(|value| !value.is_null())).collect();
        let all = |is: fn(&Value) -> bool| values.iter().flatten().all(|value| is(value));
        if all(Value::is_i64) {
            Column::Whole(values.iter().map(|value| value.and_then(Value::as_i64)).collect())
        } else if all(Value::is_number) {
            Column::Number(values.iter().map(|value| value.and_then(Value::as_f64)).collect())
        } else {
            let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            Column::Text(values.iter().map(|value| value.map(text)).collect())
        }
    };
    names.into_iter().map(|name| (name.clone(), column(name))).collect()
}

/// Writes of each run's table what a report needs into `place`.
fn thin(name: &str, parts: &[PathBuf], place: &Path, cells: usize) -> Result<Vec<PathBuf>> {
    std::fs::create_dir_all(place).map_err(|error| wrong(place, &error))?;
    let thin = |(at, part): (usize, &PathBuf)| {
        let columns = if name == WORDS {
            // Every k-th of a run's; runs of one data seed mask the same words, and so keep the same.
            let stride = table::rows(part)?.div_ceil((WORDS_KEPT / cells).max(1));
            table::thinned(part, |at, _| at.is_multiple_of(stride))?
        } else {
            table::thinned(part, |_, row| row.get_string(metrics::METRIC).is_ok_and(|metric| !is_detail(metric)))?
        };
        let thinned = place.join(format!("{at}.parquet"));
        table::write(&thinned, &columns).map(|()| thinned)
    };
    parts.par_iter().enumerate().map(thin).collect()
}

/// Whether no figure shows the metric.
fn is_detail(metric: &str) -> bool {
    metric.contains("_boundary@") || metric.starts_with("failure.")
}

/// Joins tables of one schema, a row group each, without decoding them.
fn join(parts: &[PathBuf], whole: &Path) -> Result<()> {
    let beside = whole.with_extension("parquet.part");
    let result = join_into(parts, &beside);
    result.and_then(|()| std::fs::rename(&beside, whole).map_err(|error| wrong(whole, &error))).inspect_err(|_| {
        let _ = std::fs::remove_file(&beside);
    })
}

fn join_into(parts: &[PathBuf], whole: &Path) -> Result<()> {
    let mut writer: Option<SerializedFileWriter<BufWriter<File>>> = None;
    for part in parts {
        let file = File::open(part).map_err(|error| wrong(part, &error))?;
        let reader = SerializedFileReader::new(file.try_clone().map_err(|error| wrong(part, &error))?)
            .map_err(|error| wrong(part, &error))?;
        let schema = reader.metadata().file_metadata().schema_descr().root_schema_ptr();
        if writer.is_none() {
            let out = File::create(whole).map_err(|error| wrong(whole, &error))?;
            let new = SerializedFileWriter::new(BufWriter::new(out), schema.clone(), Default::default());
            writer = Some(new.map_err(|error| wrong(whole, &error))?);
        }
        let Some(writer) = writer.as_mut() else { continue };
        if writer.schema_descr().root_schema() != schema.as_ref() {
            return Err(wrong(part, &"its columns differ from those of the other runs"));
        }
        for group in reader.metadata().row_groups() {
            let mut out = writer.next_row_group().map_err(|error| wrong(whole, &error))?;
            for column in group.columns() {
                let chunk = ColumnCloseResult {
                    bytes_written: column.compressed_size() as u64,
                    rows_written: group.num_rows() as u64,
                    metadata: column.clone(),
                    bloom_filter: None,
                    column_index: None,
                    offset_index: None,
                };
                out.append_column(&file, chunk).map_err(|error| wrong(whole, &error))?;
            }
            out.close().map_err(|error| wrong(whole, &error))?;
        }
    }
    let Some(writer) = writer else { return Ok(()) };
    writer.close().map(|_| ()).map_err(|error| wrong(whole, &error))
}

fn to_csv(table: &Path, path: &Path) -> Result<()> {
    let reader = SerializedFileReader::new(File::open(table).map_err(|error| wrong(table, &error))?)
        .map_err(|error| wrong(table, &error))?;
    let beside = path.with_extension("csv.part");
    let mut out = BufWriter::new(File::create(&beside).map_err(|error| wrong(path, &error))?);
    let fields = reader.metadata().file_metadata().schema().get_fields().to_vec();
    let heads: Vec<String> = fields.iter().map(|field| cell_text(field.name())).collect();
    writeln!(out, "{}", heads.join(",")).map_err(|error| wrong(path, &error))?;
    for row in reader.get_row_iter(None).map_err(|error| wrong(table, &error))? {
        let row = row.map_err(|error| wrong(table, &error))?;
        let cells: Vec<String> = row.get_column_iter().map(|(_, field)| field_text(field)).collect();
        writeln!(out, "{}", cells.join(",")).map_err(|error| wrong(path, &error))?;
    }
    out.flush().map_err(|error| wrong(path, &error))?;
    std::fs::rename(&beside, path).map_err(|error| wrong(path, &error))
}

fn field_text(field: &Field) -> String {
    match field {
        Field::Null => String::new(),
        Field::Str(text) => cell_text(text),
        // The shortest form that reads back to the same number.
        Field::Double(number) => format!("{number:?}"),
        Field::Long(number) => number.to_string(),
        other => cell_text(&other.to_string()),
    }
}

fn cell_text(text: &str) -> String {
    let plain = !text.contains([',', '"', '\n', '\r']);
    if plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

fn wrong(path: &Path, why: &dyn std::fmt::Display) -> Error {
    Error::Write { path: path.to_owned(), why: why.to_string() }
}
