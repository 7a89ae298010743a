//! Reading a folder: a collected study, a study that is still running, or one run.
//!
//! A collected study has `runs.parquet` and `metrics.parquet`; a running one has a folder per run under `runs/`, each
//! with `config.toml`, `status.json` and `metrics.jsonl` (or `metrics.parquet` once done). Whichever is newer is read.
//! Beside the run folders count the runs that are known from tables alone (see [`super::known`]).
//! A [`Cache`] keeps what was parsed, so that the live page rereads only the runs that moved.

use super::curves::{Curves, Keys, Point};
use super::plan::{self, Plan};
use super::run::Run;
use super::study::{Kind, Parts, Study};
use super::{known, tables, words};
use crate::error::{At, Error, Result};
use serde_json::{Map, Value as Json};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Runs parsed before, by folder, with the files' state they were parsed from.
#[derive(Default)]
pub struct Cache {
    keys: Keys,
    runs: HashMap<PathBuf, (u64, Run)>,
    known: Option<(u64, Vec<Run>)>,
}

/// Reads the study or run in the folder.
pub fn read(folder: &Path) -> Result<Study> {
    read_cached(folder, &mut Cache::default())
}

pub fn read_cached(folder: &Path, cache: &mut Cache) -> Result<Study> {
    let shown = folder.canonicalize().at(folder)?;
    let name = shown.file_name().map_or("study".into(), |name| name.to_string_lossy().into_owned());
    let has = |file: &str| folder.join(file).exists();
    let is_run = has("config.toml") || has("status.json");
    if has("study.toml") || has("runs.parquet") || has("runs") || (!is_run && !run_folders(folder).is_empty()) {
        let config = optional_text(&folder.join("study.toml"))?;
        let plan = config.as_deref().map(Plan::parse).unwrap_or_default();
        let parts = study_parts(folder, config, &plan, cache)?;
        Ok(Study::new(name, folder.to_owned(), Kind::Study, &plan, parts))
    } else if is_run {
        let parts = run_parts(folder, cache)?;
        Ok(Study::new(name, folder.to_owned(), Kind::Run, &Plan::default(), parts))
    } else {
        Err(Error::NotResults { path: folder.to_owned() })
    }
}

const RUN_FILES: [&str; 5] = ["config.toml", "status.json", "summary.json", "metrics.jsonl", "metrics.parquet"];

/// A number that changes when any file a report is made from does.
pub fn fingerprint(folder: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    for file in ["study.toml", "runs.parquet", "words.parquet", "pairs.jsonl", "samples.jsonl"] {
        stamp(&folder.join(file)).hash(&mut hasher);
    }
    known::files(folder).iter().for_each(|path| stamp(path).hash(&mut hasher));
    run_stamp(folder).hash(&mut hasher);
    for run in run_folders(folder) {
        run_stamp(&run).hash(&mut hasher);
    }
    hasher.finish()
}

fn stamp(path: &Path) -> Option<(u64, SystemTime)> {
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.len(), meta.modified().ok()?))
}

fn run_stamp(folder: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    for file in RUN_FILES {
        stamp(&folder.join(file)).hash(&mut hasher);
    }
    hasher.finish()
}

/// The run folders of a study, in order of name. A run over several seeds has its runs' folders side by side.
fn run_folders(study: &Path) -> Vec<PathBuf> {
    let runs = study.join("runs");
    let Ok(entries) = std::fs::read_dir(if runs.is_dir() { &runs } else { study }) else { return Vec::new() };
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    folders.retain(|path| path.join("config.toml").exists() || path.join("status.json").exists());
    folders.sort();
    folders
}

fn study_parts(folder: &Path, config: Option<String>, plan: &Plan, cache: &mut Cache) -> Result<Parts> {
    let [runs, metrics, all_words] = ["runs.parquet", "metrics.parquet", "words.parquet"].map(|file| folder.join(file));
    let folders = run_folders(folder);
    let known = cached_known(folder, cache)?;
    let mut parts = Parts { config, ..Parts::default() };
    let collected = if runs.exists() { tables::runs(&runs)? } else { Vec::new() };
    let is_collected = runs.exists() && metrics.exists();
    if is_collected && !any_newer(&folders, &metrics) && known::is_within(&known, &collected) {
        parts.runs = collected;
        let strays = tables::metrics(&metrics, &mut parts.runs, &mut parts.keys)?;
        if strays > 0 {
            parts.notes.push(format!("{strays} metric rows belong to runs that runs.parquet does not list."));
        }
    } else {
        if is_collected {
            parts.notes.push("Runs have moved since the study was collected; this reads the run folders.".into());
        }
        let own = folders.iter().map(|run| cached_run(run, cache)).collect::<Result<_>>()?;
        parts.runs = known::beside(known.clone(), own);
        // Several studies may keep their runs in one store.
        parts.runs.retain(|run| plan.holds(run));
        parts.keys = cache.keys.clone();
        tables::merge_columns(&mut parts.runs, collected);
    }
    let places: HashMap<&str, usize> = parts.runs.iter().enumerate().map(|(i, run)| (run.id.as_str(), i)).collect();
    let files = if all_words.exists() {
        vec![(None, all_words)]
    } else {
        scattered_words(&known::words(folder), &known, &folders, &places)
    };
    parts.words_in_all = files.iter().map(|(_, path)| words::rows(path)).sum::<Result<usize>>()?;
    let stride = words::stride(parts.words_in_all);
    for (run, path) in &files {
        words::read(path, &places, *run, stride, &mut parts.words)?;
    }
    parts.pairs = pairs(folder, &folders)?;
    Ok(parts)
}

/// The table of the known runs' words, and that of each other run's folder with the run's place.
fn scattered_words(
    table: &Path,
    known: &[Run],
    folders: &[PathBuf],
    places: &HashMap<&str, usize>,
) -> Vec<(Option<usize>, PathBuf)> {
    let known: HashSet<&str> = known.iter().map(|run| run.id.as_str()).collect();
    let own = |run: &PathBuf| {
        let id = run.file_name()?.to_str().filter(|id| !known.contains(id))?;
        Some((Some(*places.get(id)?), run.join("words.parquet")))
    };
    let own = folders.iter().filter_map(own);
    std::iter::once((None, table.to_owned())).chain(own).filter(|(_, path)| path.exists()).collect()
}

fn run_parts(folder: &Path, cache: &mut Cache) -> Result<Parts> {
    let run = cached_run(folder, cache)?;
    let mut parts = Parts { runs: vec![run], keys: cache.keys.clone(), ..Parts::default() };
    parts.config = optional_text(&folder.join("config.toml"))?;
    let own_words = folder.join("words.parquet");
    if own_words.exists() {
        parts.words_in_all = words::rows(&own_words)?;
        words::read(&own_words, &HashMap::new(), Some(0), words::stride(parts.words_in_all), &mut parts.words)?;
    }
    parts.pairs = pairs(folder, &[])?;
    if let Some(text) = optional_text(&folder.join("samples.jsonl"))? {
        parts.samples = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    }
    Ok(parts)
}

/// The study's own pairs, or those of the first run that has any.
fn pairs(folder: &Path, runs: &[PathBuf]) -> Result<Vec<words::Pair>> {
    let first = std::iter::once(folder).chain(runs.iter().map(PathBuf::as_path)).map(|place| place.join("pairs.jsonl"));
    match first.into_iter().find(|path| path.exists()) {
        Some(path) => words::read_pairs(&path),
        None => Ok(Vec::new()),
    }
}

fn any_newer(folders: &[PathBuf], than: &Path) -> bool {
    let Some((_, collected)) = stamp(than) else { return false };
    folders.iter().any(|run| stamp(&run.join("status.json")).is_some_and(|(_, moved)| moved > collected))
}

fn cached_known(study: &Path, cache: &mut Cache) -> Result<Vec<Run>> {
    let mut hasher = DefaultHasher::new();
    known::files(study).iter().for_each(|path| stamp(path).hash(&mut hasher));
    let now = hasher.finish();
    if let Some((then, runs)) = &cache.known
        && *then == now
    {
        return Ok(runs.clone());
    }
    let runs = known::read(study, &mut cache.keys)?;
    cache.known = Some((now, runs.clone()));
    Ok(runs)
}

fn cached_run(folder: &Path, cache: &mut Cache) -> Result<Run> {
    let now = run_stamp(folder);
    if let Some((then, run)) = cache.runs.get(folder)
        && *then == now
    {
        return Ok(run.clone());
    }
    let run = run_folder(folder, &mut cache.keys)?;
    cache.runs.insert(folder.to_owned(), (now, run.clone()));
    Ok(run)
}

fn run_folder(folder: &Path, keys: &mut Keys) -> Result<Run> {
    let id = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut run = Run { id, ..Run::default() };
    let config = folder.join("config.toml");
    if let Some(text) = optional_text(&config)? {
        let table = text
            .parse::<toml::Table>()
            .map_err(|error| Error::Format { path: config.clone(), what: error.message().to_owned() })?;
        flatten("", &serde_json::to_value(table).unwrap_or_default(), &mut run);
    }
    for file in ["status.json", "summary.json"] {
        let path = folder.join(file);
        if let Some(text) = optional_text(&path)? {
            // Both are written beside and renamed, so a half-written one is a fault worth naming.
            let value: Json = serde_json::from_str(&text)
                .map_err(|error| Error::Format { path: path.clone(), what: error.to_string() })?;
            flatten("", &value, &mut run);
        }
    }
    let (parquet, lines) = (folder.join("metrics.parquet"), folder.join("metrics.jsonl"));
    if parquet.exists() {
        tables::each_metric(&parquet, keys, |_, key, point| run.curves.push(key, point))?;
    } else if let Some(text) = optional_text(&lines)? {
        metric_lines(&lines, &text, keys, &mut run.curves)?;
    }
    run.curves.finish();
    Ok(run)
}

fn metric_lines(path: &Path, text: &str, keys: &mut Keys, curves: &mut Curves) -> Result<()> {
    let mut scratch = String::new();
    // A last line without its newline is still being written.
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    for (line, row) in whole.lines().enumerate().filter(|(_, row)| !row.is_empty()) {
        let wrong = |what: String| Error::Line { path: path.to_owned(), line: line + 1, what };
        let row: Map<String, Json> = serde_json::from_str(row).map_err(|error| wrong(error.to_string()))?;
        let text = |name: &str| row.get(name).and_then(Json::as_str).unwrap_or_default();
        let number = |name: &str| row.get(name).and_then(Json::as_f64);
        let step = number("step").ok_or_else(|| wrong("no step in this row".into()))?;
        if let Some(key) = keys.intern(text("condition"), text("task"), text("metric"), &mut scratch) {
            let bound = |name: &str| number(name).map_or(f32::NAN, |bound| bound as f32);
            let (value, low, high) = (number("value").unwrap_or(f64::NAN), bound("low"), bound("high"));
            curves.push(key, Point { step: step as u32, value, low, high });
        }
    }
    Ok(())
}

/// Nested objects as dotted columns; a list as one text.
fn flatten(prefix: &str, value: &Json, run: &mut Run) {
    if let Json::Object(fields) = value {
        for (name, value) in fields {
            let name = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
            flatten(&name, value, run);
        }
    } else if let Some(value) = plan::value(value) {
        run.columns.insert(prefix.to_owned(), value);
    }
}

fn optional_text(path: &Path) -> Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::File { path: path.to_owned(), why: error.to_string() }),
    }
}
