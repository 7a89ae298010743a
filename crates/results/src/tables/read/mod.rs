//! Reading a folder: a collected study, a study that is still running, or one run.
//!
//! A collected study has `runs.parquet` and `metrics.parquet`; a running one has a folder per run. Whichever is newer is
//! read. Beside the run folders count the runs that are known from tables alone. A [`ReadCache`] keeps what was parsed, so
//! that a page that is shown while a study runs rereads only the runs that moved.

mod run_folder;
mod stamp;
mod study;
mod words;

pub use run_folder::ReadCache;
pub use stamp::fingerprint;
pub(crate) use study::{planned_ids, read_tables};

use crate::error::{At, Error, Result};
use crate::folder::{
    CONFIG, CONTRASTS, FAMILY, PAIRS, RUNS, RUNS_TABLE, SAMPLES, STATUS, STUDY, WORDS, read_json, read_json_lines,
    read_text,
};
use crate::run::Run;
use crate::run::family::FamilyTree;
use crate::words::{Contrasts, MaskedWord, MeasuredWord, Sample, SentencePair, WordMap};
use crate::{Plan, Status, outdated};
use run_folder::{cached_runs, run_folder, run_with_ends};
use stamp::run_folders;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use words::SampledWords;

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
    /// Of a run, the maps of one property's words, by step.
    pub maps: Vec<(u64, WordMap)>,
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
            maps: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// Reads the study or run in the folder.
pub fn read(folder: &Path) -> Result<Results> {
    read_with(folder, None)
}

/// The run in a folder: its columns and curves, without its words and sentences.
pub fn read_run(folder: &Path) -> Result<Run> {
    std::fs::metadata(folder).reading(folder)?;
    run_folder(folder, |_| true)
}

/// The run in a folder, for lists of many: of a finished one the curves have their ends alone, out of its summary.
pub fn read_ends(folder: &Path) -> Result<Run> {
    std::fs::metadata(folder).reading(folder)?;
    run_with_ends(folder)
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
    read_with(folder, Some(cache))
}

fn read_with(folder: &Path, cache: Option<&mut ReadCache>) -> Result<Results> {
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

impl Results {
    fn read_run(&mut self, cache: Option<&mut ReadCache>) -> Result<()> {
        self.runs = cached_runs(std::slice::from_ref(&self.folder), cache).into_iter().collect::<Result<_>>()?;
        self.config = read_text(&self.folder.join(CONFIG))?;
        if let Some(status) = Status::read(&self.folder)? {
            [SAMPLES, WORDS, PAIRS, CONTRASTS].iter().try_for_each(|name| status.check(&self.folder, name))?;
        }
        self.samples = read_json_lines(&self.folder.join(SAMPLES))?;
        let lines: Vec<Contrasts> = read_json_lines(&self.folder.join(CONTRASTS))?;
        self.maps = lines.into_iter().filter_map(|line| Some((line.step, line.map?))).collect();
        let words = [self.folder.join(WORDS)];
        self.add_words(SampledWords::read(words.iter().filter(|path| path.exists())), Some(0));
        self.read_families(&[])?;
        self.read_pairs(&[])
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
