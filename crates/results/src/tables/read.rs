//! Reading a folder: a collected study, a study that is still running, or one run.
//!
//! A collected study has `runs.parquet` and `metrics.parquet`; a running one has a folder per run. Whichever is newer is
//! read. Beside the run folders count the runs that are known from tables alone. A [`ReadCache`] keeps what was parsed, so
//! that a page that is shown while a study runs rereads only the runs that moved.

use crate::error::{At, Error, Result};
use crate::folder::{
    CONFIG, FAMILY, METRICS, METRICS_TABLE, PAIRS, RUNS, RUNS_TABLE, SAMPLES, STATUS, STUDY, SUMMARY, WORDS, read_json,
    read_json_lines, read_text,
};
use crate::known::Known;
use crate::run::family::FamilyTree;
use crate::run::{Run, Value, column};
use crate::table::{Columns, TableReader};
use crate::words::{self, MaskedWord, MeasuredWord, Sample, SentencePair};
use crate::{Plan, PlannedRun, SCHEMA, State, Status, identity_under, metrics, outdated};
use invitro_base::dotted::leaves;
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// What a folder holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderKind {
    /// Many runs.
    Study,
    /// One run.
    Run,
}

/// The results in a folder.
#[derive(Debug, Clone)]
pub struct Results {
    /// The folder's name.
    pub name: String,
    /// Where it is.
    pub folder: PathBuf,
    /// What it is.
    pub kind: FolderKind,
    /// Every run that is planned or has begun.
    pub runs: Vec<Run>,
    /// The study's plan, where it has one that can be read.
    pub plan: Option<Plan>,
    /// The study's or the run's own file, as it is.
    pub config: Option<String>,
    /// An even sample of the masked words, each with its run's place in `runs`.
    pub words: Vec<(usize, MaskedWord)>,
    /// How many masked words the folder holds.
    pub words_in_all: usize,
    /// All masked words whose contrast was taken, each with its run's place in `runs`.
    pub scored: Vec<(usize, MeasuredWord)>,
    /// Sentences in all languages.
    pub pairs: Vec<SentencePair>,
    /// The trees of the runs' languages, each with its run's place in `runs`; none of the pair A and B.
    pub families: Vec<(usize, FamilyTree)>,
    /// Decoded sentences of a run.
    pub samples: Vec<Sample>,
    /// What the reader should know about the data.
    pub notes: Vec<String>,
}

impl Results {
    /// With nothing in them yet.
    pub fn new(name: String, folder: &Path, kind: FolderKind) -> Results {
        Results {
            name,
            folder: folder.to_owned(),
            kind,
            runs: Vec::new(),
            plan: None,
            config: None,
            words: Vec::new(),
            words_in_all: 0,
            scored: Vec::new(),
            pairs: Vec::new(),
            families: Vec::new(),
            samples: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// Runs parsed before, by folder, with the files' state they were parsed from.
#[derive(Default)]
pub struct ReadCache {
    runs: HashMap<PathBuf, (u64, Run)>,
    known: Option<(u64, Vec<Run>)>,
}

/// Reads the study or run in the folder.
pub fn read(folder: &Path) -> Result<Results> {
    read_cached(folder, &mut ReadCache::default())
}

/// The run in a folder: its columns and curves, without its words and sentences.
pub fn read_run(folder: &Path) -> Result<Run> {
    std::fs::metadata(folder).reading(folder)?;
    run_folder(folder)
}

/// The runs of a collected study's tables, with their curves.
pub(crate) fn read_tables(folder: &Path) -> Result<Vec<Run>> {
    let mut runs = read_runs(&folder.join(RUNS_TABLE))?;
    add_curves(&folder.join(METRICS_TABLE), &mut runs)?;
    Ok(runs)
}

/// What the folder holds, by the names in it.
pub fn kind(folder: &Path) -> Result<FolderKind> {
    std::fs::metadata(folder).reading(folder)?;
    let has = |file: &str| folder.join(file).exists();
    let is_run = has(CONFIG) || has(STATUS);
    let is_study = has(STUDY) || has(RUNS_TABLE) || has(RUNS) || (!is_run && !run_folders(folder).is_empty());
    match (is_study, is_run) {
        (true, _) => Ok(FolderKind::Study),
        (false, true) => Ok(FolderKind::Run),
        (false, false) => Err(Error::NotResults { path: folder.to_owned() }),
    }
}

/// The same, with what was read before.
pub fn read_cached(folder: &Path, cache: &mut ReadCache) -> Result<Results> {
    let shown = folder.canonicalize().reading(folder)?;
    let name = shown.file_name().map_or("study".into(), |name| name.to_string_lossy().into_owned());
    let kind = kind(folder)?;
    let mut results = Results::new(name, folder, kind);
    match kind {
        FolderKind::Study => results.read_study(cache)?,
        FolderKind::Run => results.read_run(cache)?,
    }
    // First: it is about all that follows.
    if let Some(banner) = results.runs.iter().filter_map(Run::schema).min().and_then(outdated) {
        results.notes.insert(0, banner);
    }
    Ok(results)
}

/// Masked words that a page can carry: about 4 MB.
const MOST_WORDS: usize = 60_000;

impl Results {
    fn read_run(&mut self, cache: &mut ReadCache) -> Result<()> {
        self.runs = cached_runs(std::slice::from_ref(&self.folder), cache).into_iter().collect::<Result<_>>()?;
        self.config = read_text(&self.folder.join(CONFIG))?;
        if let Some(status) = Status::read(&self.folder)? {
            [SAMPLES, WORDS, PAIRS].iter().try_for_each(|name| status.check(&self.folder, name))?;
        }
        self.samples = read_json_lines(&self.folder.join(SAMPLES))?;
        let words = [self.folder.join(WORDS)];
        self.add_words(SampledWords::read(words.iter().filter(|path| path.exists())), Some(0));
        self.read_families(&[])?;
        self.read_pairs(&[])
    }

    fn read_study(&mut self, cache: &mut ReadCache) -> Result<()> {
        let [runs, metrics, words] = [RUNS_TABLE, METRICS_TABLE, WORDS].map(|file| self.folder.join(file));
        let folders = run_folders(&self.folder);
        let known = cached_known(&self.folder, cache)?;
        self.config = read_text(&self.folder.join(STUDY))?;
        match Plan::open(&self.folder) {
            Ok(plan) => self.plan = plan,
            Err(error) => self.notes.push(format!("The study's plan cannot be read: {error}.")),
        }
        let known_ids: HashSet<String> = known.iter().map(|run| run.id.clone()).collect();
        let collected = if runs.exists() { read_runs(&runs)? } else { Vec::new() };
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

    /// A file that cannot be read is reported, and the others are read.
    fn leave_out(&mut self, error: &Error) {
        self.notes.push(format!("{error}: it is left out here."));
    }

    /// Takes the words of these runs; with `only`, all are of the run at that place.
    fn add_words(&mut self, found: SampledWords, only: Option<usize>) {
        let places: HashMap<&str, usize> = self.runs.iter().enumerate().map(|(i, run)| (run.id.as_str(), i)).collect();
        let placed =
            |(run, word): (String, MaskedWord)| Some((only.or_else(|| places.get(run.as_str()).copied())?, word));
        self.words = found.words.into_iter().filter_map(placed).collect();
        let placed = |(run, word): (Arc<str>, MeasuredWord)| Some((only.or_else(|| places.get(&*run).copied())?, word));
        self.scored = found.scored.into_iter().filter_map(placed).collect();
        self.words_in_all = found.in_all;
        found.errors.iter().for_each(|error| self.leave_out(error));
    }

    /// The trees of the runs that have their folders, as they were written; the only run's, where there are none.
    fn read_families(&mut self, folders: &[PathBuf]) -> Result<()> {
        let places: HashMap<&str, usize> = self.runs.iter().enumerate().map(|(i, run)| (run.id.as_str(), i)).collect();
        let place = |folder: &PathBuf| places.get(folder.file_name()?.to_str()?).copied();
        let folders: Vec<(usize, &PathBuf)> = match folders {
            [] if self.kind == FolderKind::Run => vec![(0, &self.folder)],
            folders => folders.iter().filter_map(|folder| Some((place(folder)?, folder))).collect(),
        };
        let mut families = Vec::new();
        for (place, folder) in folders {
            if !folder.join(FAMILY).exists() {
                continue;
            }
            if let Ok(Some(status)) = Status::read(folder) {
                status.check(folder, FAMILY)?;
            }
            families.extend(read_json(&folder.join(FAMILY))?.map(|tree: FamilyTree| (place, tree)));
        }
        self.families = families;
        Ok(())
    }

    /// The folder's own pairs, or those of the first run that has any and has them as they were written.
    fn read_pairs(&mut self, runs: &[PathBuf]) -> Result<()> {
        let is_whole = |place: &Path| match Status::read(place) {
            Ok(Some(status)) => status.check(place, PAIRS).is_ok(),
            status => status.is_ok(),
        };
        let mut places = std::iter::once(&self.folder).chain(runs);
        if let Some(place) = places.find(|place| place.join(PAIRS).exists() && is_whole(place)) {
            self.pairs = read_json_lines(&place.join(PAIRS))?;
        }
        Ok(())
    }
}

/// The runs that a plan names, under the schema of this version or of those that made these runs; `None` where the plan cannot be
/// made out.
pub(crate) fn planned_ids<'a>(plan: &Plan, runs: impl Iterator<Item = &'a Run>) -> Option<HashSet<String>> {
    let mut schemas: Vec<u32> = runs.filter_map(Run::schema).chain([SCHEMA]).collect();
    schemas.sort_unstable();
    schemas.dedup();
    let under = |cell: PlannedRun| schemas.iter().map(|&schema| identity_under(schema, &cell.config)).collect();
    let ids = plan.map_cells(|why| why, |cell| Ok::<Vec<String>, String>(under(cell))).ok()?;
    Some(ids.into_iter().flatten().collect())
}

/// Masked words out of tables: an even sample that a page can carry, each with its run.
struct SampledWords {
    words: Vec<(String, MaskedWord)>,
    scored: Vec<(Arc<str>, MeasuredWord)>,
    in_all: usize,
    /// Tables that could not be read.
    errors: Vec<Error>,
}

impl SampledWords {
    fn read<'a>(files: impl Iterator<Item = &'a PathBuf>) -> SampledWords {
        let files: Vec<&PathBuf> = files.collect();
        let in_all = files.par_iter().filter_map(|path| words::count(path).ok()).sum::<usize>();
        let stride = in_all.div_ceil(MOST_WORDS).max(1);
        let read = |path: &&PathBuf| -> Result<(Vec<_>, Vec<_>)> {
            let (mut read, mut scored) = (Vec::new(), Vec::new());
            let mut last: Arc<str> = "".into();
            words::read(path, stride, |run, word| read.push((run.to_owned(), word)))?;
            words::read_scored(path, |run, word| {
                if *last != *run {
                    last = run.into();
                }
                scored.push((last.clone(), word));
            })?;
            Ok((read, scored))
        };
        let mut found = SampledWords { words: Vec::new(), scored: Vec::new(), in_all, errors: Vec::new() };
        for all in files.par_iter().map(read).collect::<Vec<_>>() {
            match all {
                Ok((mut read, mut scored)) => {
                    found.words.append(&mut read);
                    found.scored.append(&mut scored);
                }
                Err(error) => found.errors.push(error),
            }
        }
        found
    }
}

/// A number that changes when any file a report is made from does.
pub fn fingerprint(folder: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    for file in [STUDY, RUNS_TABLE, WORDS, PAIRS, SAMPLES] {
        length_and_time(&folder.join(file)).hash(&mut hasher);
    }
    for file in [RUNS_TABLE, METRICS_TABLE, WORDS] {
        length_and_time(&folder.join(crate::folder::KNOWN).join(file)).hash(&mut hasher);
    }
    run_stamp(folder).hash(&mut hasher);
    run_folders(folder).iter().for_each(|run| run_stamp(run).hash(&mut hasher));
    hasher.finish()
}

fn length_and_time(path: &Path) -> Option<(u64, SystemTime)> {
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.len(), meta.modified().ok()?))
}

fn run_stamp(folder: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    for file in [CONFIG, STATUS, SUMMARY, METRICS, METRICS_TABLE, WORDS] {
        length_and_time(&folder.join(file)).hash(&mut hasher);
    }
    hasher.finish()
}

/// The run folders of a study, in order of name. A run over several seeds has its runs' folders side by side.
fn run_folders(study: &Path) -> Vec<PathBuf> {
    let runs = study.join(RUNS);
    let Ok(entries) = std::fs::read_dir(if runs.is_dir() { &runs } else { study }) else { return Vec::new() };
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    folders.retain(|path| path.join(CONFIG).exists() || path.join(STATUS).exists());
    folders.sort();
    folders
}

fn any_newer(folders: &[PathBuf], than: &Path) -> bool {
    let Some((_, collected)) = length_and_time(than) else { return false };
    folders.iter().any(|run| length_and_time(&run.join(STATUS)).is_some_and(|(_, moved)| moved > collected))
}

/// The rows of `runs.parquet`, without their curves.
fn read_runs(path: &Path) -> Result<Vec<Run>> {
    Ok(TableReader::open(path)?.rows()?.iter().map(run_of).collect())
}

fn run_of(row: &Columns) -> Run {
    let columns = row.iter().filter(|(_, value)| !value.is_null());
    let columns = columns.map(|(name, value)| (name.clone(), Value::from(value))).collect();
    let mut run = Run { columns, ..Run::default() };
    run.id = run.text(column::RUN).unwrap_or_default().to_owned();
    run
}

/// Gives each run its curves out of `metrics.parquet`; the number of runs there that are none of these.
fn add_curves(path: &Path, runs: &mut [Run]) -> Result<usize> {
    let mut curves = metrics::read(path)?;
    runs.iter_mut().for_each(|run| run.curves = curves.remove(&run.id).unwrap_or_default());
    Ok(curves.len())
}

fn cached_known(study: &Path, cache: &mut ReadCache) -> Result<Vec<Run>> {
    let mut hasher = DefaultHasher::new();
    length_and_time(&study.join(crate::folder::KNOWN).join(RUNS_TABLE)).hash(&mut hasher);
    let now = hasher.finish();
    if let Some((then, runs)) = &cache.known
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
    cache.known = Some((now, runs.clone()));
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
        for (name, value) in known.remove(&run.id).map(|run| run.columns).unwrap_or_default() {
            run.columns.entry(name).or_insert(value);
        }
    }
}

/// The runs in these folders; only those whose files have changed are read.
fn cached_runs(folders: &[PathBuf], cache: &mut ReadCache) -> Vec<Result<Run>> {
    let known = &cache.runs;
    let read = |folder: &PathBuf| {
        let now = run_stamp(folder);
        match known.get(folder) {
            Some((then, run)) if *then == now => Ok((now, run.clone())),
            _ => run_folder(folder).map(|run| (now, run)),
        }
    };
    let found: Vec<Result<(u64, Run)>> = folders.par_iter().map(read).collect();
    let mut keep = |(folder, found): (&PathBuf, Result<(u64, Run)>)| {
        let (now, run) = found?;
        cache.runs.insert(folder.clone(), (now, run.clone()));
        Ok(run)
    };
    folders.iter().zip(found).map(&mut keep).collect()
}

fn run_folder(folder: &Path) -> Result<Run> {
    let id = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut run = Run { id, ..Run::default() };
    let config = folder.join(CONFIG);
    if let Some(text) = read_text(&config)? {
        let table: toml::Table = text
            .parse()
            .map_err(|error: toml::de::Error| Error::Read { path: config.clone(), why: error.message().to_owned() })?;
        run.columns.extend(leaves(&table).iter().map(|(key, value)| (key.clone(), Value::from(value))));
    }
    let table = folder.join(METRICS_TABLE);
    let metrics = if table.exists() { METRICS_TABLE } else { METRICS };
    if let Some(mut status) = Status::read(folder)? {
        [CONFIG, SUMMARY, metrics].iter().try_for_each(|name| status.check(folder, name))?;
        status.files.clear();
        flatten("", &serde_json::to_value(&status).reading(folder)?, &mut run);
    }
    if let Some(summary) = read_json(&folder.join(SUMMARY))? {
        flatten("", &summary, &mut run);
    }
    if let Some(id) = run.text(column::RUN) {
        run.id = id.to_owned();
    }
    run.curves = if table.exists() {
        metrics::read(&table)?.remove(&run.id).unwrap_or_default()
    } else {
        metrics::curves(&metrics::read_lines(&folder.join(METRICS))?)
    };
    Ok(run)
}

/// Nested objects as dotted columns.
fn flatten(prefix: &str, value: &serde_json::Value, run: &mut Run) {
    match value {
        serde_json::Value::Object(fields) => {
            for (name, value) in fields {
                let name = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
                flatten(&name, value, run);
            }
        }
        serde_json::Value::Null => {}
        value => drop(run.columns.insert(prefix.to_owned(), Value::from(value))),
    }
}
