//! When files last changed, by their lengths and times.

use crate::folder::{
    CONFIG, KNOWN, METRICS, METRICS_TABLE, PAIRS, RUNS, RUNS_TABLE, SAMPLES, STATUS, STUDY, SUMMARY, WORDS,
};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A number that changes when any file a report is made from does.
pub fn fingerprint(folder: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    for file in [STUDY, RUNS_TABLE, WORDS, PAIRS, SAMPLES] {
        length_and_time(&folder.join(file)).hash(&mut hasher);
    }
    for file in [RUNS_TABLE, METRICS_TABLE, WORDS] {
        length_and_time(&folder.join(KNOWN).join(file)).hash(&mut hasher);
    }
    run_stamp(folder).hash(&mut hasher);
    run_folders(folder).iter().for_each(|run| run_stamp(run).hash(&mut hasher));
    hasher.finish()
}

pub(super) fn length_and_time(path: &Path) -> Option<(u64, SystemTime)> {
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.len(), meta.modified().ok()?))
}

pub(super) fn run_stamp(folder: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    for file in [CONFIG, STATUS, SUMMARY, METRICS, METRICS_TABLE, WORDS] {
        length_and_time(&folder.join(file)).hash(&mut hasher);
    }
    hasher.finish()
}

/// The run folders of a study, in order of name. A run over several seeds has its runs' folders side by side.
pub(super) fn run_folders(study: &Path) -> Vec<PathBuf> {
    let runs = study.join(RUNS);
    let Ok(entries) = std::fs::read_dir(if runs.is_dir() { &runs } else { study }) else { return Vec::new() };
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    folders.retain(|path| path.join(CONFIG).exists() || path.join(STATUS).exists());
    folders.sort();
    folders
}

pub(super) fn any_newer(folders: &[PathBuf], than: &Path) -> bool {
    let Some((_, collected)) = length_and_time(than) else { return false };
    folders.iter().any(|run| length_and_time(&run.join(STATUS)).is_some_and(|(_, moved)| moved > collected))
}
