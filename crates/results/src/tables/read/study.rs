//! The runs of a study: out of its tables, its run folders, or both.

use super::Results;
use super::run_folder::{ReadCache, cached_runs};
use super::stamp::{any_newer, length_and_time, run_folders};
use super::words::SampledWords;
use crate::error::Result;
use crate::folder::{KNOWN, METRICS_TABLE, RUNS_TABLE, STUDY, WORDS, read_text};
use crate::known::Known;
use crate::run::{Run, Value, column, shared};
use crate::summary::is_of_curve;
use crate::table::{Columns, TableReader};
use crate::{Plan, PlannedRun, SCHEMA, State, Status, identity_under, metrics};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

impl Results {
    pub(super) fn read_study(&mut self, mut cache: Option<&mut ReadCache>) -> Result<()> {
        let [runs, metrics, words] = [RUNS_TABLE, METRICS_TABLE, WORDS].map(|file| self.folder.join(file));
        let folders = run_folders(&self.folder);
        let known = cached_known(&self.folder, cache.as_deref_mut())?;
        self.config = read_text(&self.folder.join(STUDY))?;
        match Plan::open(&self.folder) {
            Ok(plan) => self.plan = plan,
            Err(error) => self.notes.push(format!("The study's plan cannot be read: {error}.")),
        }
        let known_ids: HashSet<String> = known.iter().map(|run| run.id.clone()).collect();
        let collected = if runs.exists() { read_runs(&runs, |column| !is_of_curve(column))? } else { Vec::new() };
        let is_collected = runs.exists() && metrics.exists();
        self.note_missing_tables(&collected, &folders);
        let mut found = None;
        if is_collected && !any_newer(&folders, &metrics) && is_within(&known, &collected) {
            self.runs = collected;
            // The two large tables, side by side.
            let read_words = || words.exists().then(|| SampledWords::read([&words].into_iter()));
            let (strays, read) = rayon::join(|| add_curves(&metrics, &mut self.runs), read_words);
            found = read;
            let strays = strays?;
            if strays > 0 {
                self.notes.push(format!("{RUNS_TABLE} does not list {strays} of the runs in {METRICS_TABLE}."));
            }
        } else {
            if is_collected {
                self.notes.push("Runs have moved since the study was collected; this reads the run folders.".into());
            }
            let mut own = Vec::new();
            for run in cached_runs(&folders, cache) {
                match run {
                    Ok(run) => own.push(run),
                    Err(error) => self.leave_out(&error),
                }
            }
            self.runs = with_known(known, own);
            self.keep_planned();
            if !metrics.exists() {
                // Their languages and tokenizers were measured, and nothing was trained.
                let own: HashSet<String> = self.runs.iter().map(|run| run.id.clone()).collect();
                self.runs.extend(collected.iter().filter(|run| !own.contains(&run.id)).cloned());
            }
            merge_columns(&mut self.runs, collected);
        }
        if words.exists() {
            self.add_words(found.unwrap_or_else(|| SampledWords::read([&words].into_iter())), None);
        } else {
            // A run that is both known and has a folder has its words once.
            let is_known = |run: &&PathBuf| {
                run.file_name().and_then(|name| name.to_str()).is_some_and(|name| known_ids.contains(name))
            };
            let own = folders.iter().filter(|run| !is_known(run)).map(|run| run.join(WORDS)).filter(|p| p.exists());
            let tables: Vec<PathBuf> = Known::read(&self.folder)?.table(WORDS).into_iter().chain(own).collect();
            self.add_words(SampledWords::read(tables.iter()), None);
        }
        self.read_families(&folders)?;
        self.read_pairs(&folders)
    }

    /// Notes tables that a collected study should have and that no run folder makes up for.
    fn note_missing_tables(&mut self, collected: &[Run], folders: &[PathBuf]) {
        let has = |name: &str| self.folder.join(name).exists();
        let with_folder: HashSet<&str> = folders.iter().filter_map(|path| path.file_name()?.to_str()).collect();
        let finished = collected.iter().filter(|run| run.done() && !with_folder.contains(run.id.as_str())).count();
        let (runs, metrics, words) = (has(RUNS_TABLE), has(METRICS_TABLE), has(WORDS));
        let mut notes = Vec::new();
        if !runs && (metrics || words) && folders.is_empty() {
            let present = if metrics { METRICS_TABLE } else { WORDS };
            notes.push(format!("{RUNS_TABLE} is missing: {present} is here, but not the runs it is about."));
        }
        if finished > 0 && !metrics {
            notes.push(format!(
                "{METRICS_TABLE} is missing: what {finished} finished runs of {RUNS_TABLE} measured is not here. \
                 `invitro study collect` writes it where the runs are."
            ));
        }
        if finished > 0 && metrics && !words {
            notes.push(format!("{WORDS} is missing: nothing can be shown of single words."));
        }
        let is_done =
            |run: &&PathBuf| Status::read(run).is_ok_and(|status| status.is_some_and(|s| s.state == State::Done));
        let unwritten = |run: &&PathBuf| !words && !run.join(WORDS).exists() && is_done(run);
        if let Some(run) = folders.iter().find(unwritten) {
            notes.push(format!(
                "`{}` is missing: `invitro run {}` writes it again.",
                run.join(WORDS).display(),
                run.display()
            ));
        }
        self.notes.extend(notes);
    }

    /// Several studies may keep their runs in one store: a study's own are those its plan names, under the schema of
    /// this version or of the one that made them.
    fn keep_planned(&mut self) {
        let Some(planned) = self.plan.as_ref().and_then(|plan| planned_ids(plan, self.runs.iter())) else { return };
        self.runs.retain(|run| planned.contains(&run.id));
    }
}

/// The runs that a plan names, under the schema of this version or of those that made these runs; `None` where the plan cannot be
/// made out.
pub(crate) fn planned_ids<'a>(plan: &Plan, runs: impl Iterator<Item = &'a Run>) -> Option<HashSet<String>> {
    let mut schemas: Vec<u32> = runs.filter_map(Run::schema).chain([SCHEMA]).collect();
    schemas.sort_unstable();
    schemas.dedup();
    let under = |cell: PlannedRun| {
        let other = |schema: &&u32| **schema != SCHEMA;
        schemas.iter().filter(other).map(|&schema| identity_under(schema, &cell.config)).chain([cell.id]).collect()
    };
    let ids = plan.map_cells(|why| why, |cell| Ok::<Vec<String>, String>(under(cell))).ok()?;
    Some(ids.into_iter().flatten().collect())
}

/// The runs of a collected study's tables, with their curves; none where none of them is wanted.
pub(crate) fn read_tables(folder: &Path, wanted: impl Fn(&str) -> bool) -> Result<Vec<Run>> {
    let [runs, metrics] = [RUNS_TABLE, METRICS_TABLE].map(|file| folder.join(file));
    if !read_runs(&runs, |column| column == column::RUN)?.iter().any(|run| wanted(&run.id)) {
        return TableReader::open(&metrics).map(|_| Vec::new());
    }
    let mut runs = read_runs(&runs, |_| true)?;
    add_curves(&metrics, &mut runs)?;
    runs.retain(|run| wanted(&run.id));
    Ok(runs)
}

/// The rows of `runs.parquet` with the wanted columns, without their curves.
fn read_runs(path: &Path, wanted: fn(&str) -> bool) -> Result<Vec<Run>> {
    let mut names = HashSet::new();
    let mut run = |row: Columns| {
        let mut run = run_of(&row);
        run.columns.share_keys(&mut names);
        run
    };
    TableReader::open(path)?.each_row(wanted)?.map(|row| row.map(&mut run)).collect()
}

fn run_of(row: &Columns) -> Run {
    let columns = row.iter().filter(|(_, value)| !value.is_null());
    let columns = columns.map(|(name, value)| (shared(name), Value::from(value))).collect();
    let mut run = Run { columns, ..Run::default() };
    run.id = run.text(column::RUN).unwrap_or_default().to_owned();
    run
}

/// Gives each run its curves out of `metrics.parquet`; returns the number of other runs there.
fn add_curves(path: &Path, runs: &mut [Run]) -> Result<usize> {
    let mut curves = metrics::read(path)?;
    runs.iter_mut().for_each(|run| run.curves = curves.remove(&run.id).unwrap_or_default());
    Ok(curves.len())
}

fn cached_known(study: &Path, cache: Option<&mut ReadCache>) -> Result<Vec<Run>> {
    let mut hasher = DefaultHasher::new();
    length_and_time(&study.join(KNOWN).join(RUNS_TABLE)).hash(&mut hasher);
    let now = hasher.finish();
    if let Some(ReadCache { known: Some((then, runs)), .. }) = &cache
        && *then == now
    {
        return Ok(runs.clone());
    }
    let known = Known::read(study)?;
    let mut runs: Vec<Run> = known.runs.values().map(run_of).collect();
    runs.sort_by(|a, b| a.id.cmp(&b.id));
    if let Some(metrics) = known.table(METRICS_TABLE) {
        add_curves(&metrics, &mut runs)?;
    }
    if let Some(cache) = cache {
        cache.known = Some((now, runs.clone()));
    }
    Ok(runs)
}

/// Whether the collected table holds all of them.
fn is_within(known: &[Run], collected: &[Run]) -> bool {
    let done: HashSet<&str> = collected.iter().filter(|run| run.done()).map(|run| run.id.as_str()).collect();
    known.iter().all(|run| done.contains(run.id.as_str()))
}

/// The known runs and those with folders. Of a run that is both, the folder counts where the run is done there.
fn with_known(mut known: Vec<Run>, mut own: Vec<Run>) -> Vec<Run> {
    let done: HashSet<String> = own.iter().filter(|run| run.done()).map(|run| run.id.clone()).collect();
    known.retain(|run| !done.contains(&run.id));
    let taken: HashSet<String> = known.iter().map(|run| run.id.clone()).collect();
    own.retain(|run| !taken.contains(&run.id));
    known.extend(own);
    known
}

/// Adds to each run the columns that only the table has.
fn merge_columns(runs: &mut [Run], collected: Vec<Run>) {
    let mut known: HashMap<String, Run> = collected.into_iter().map(|run| (run.id.clone(), run)).collect();
    for run in runs {
        for (name, value) in known.remove(&run.id).unwrap_or_default().columns.iter() {
            if !run.columns.contains_key(name) {
                run.columns.insert(name, value.clone());
            }
        }
    }
}
