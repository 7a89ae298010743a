//! A run's folder: who may write to it, which config it is of, and what is in it.
//!
//! ```text
//! config.toml       the complete experiment        tokenizer.json    and what transformers wants beside it
//! language/         world, lexicon, grammar        checkpoints/      step-00001000.safetensors, …
//! metrics.jsonl     while running, then also       metrics.parquet   tidy rows
//! samples.jsonl     decoded sentences              reached.jsonl     masked words as they become reachable
//! words.parquet     the masked words               pairs.jsonl       sentences in A and B, in pieces
//! summary.json      one flat row about the run     status.json       state, step, device, versions, seconds
//! ```

use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::files;
use crate::identity::SCHEMA;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

pub const CONFIG: &str = "config.toml";
pub const STATUS: &str = "status.json";
pub const SUMMARY: &str = "summary.json";
pub const METRICS: &str = "metrics.jsonl";
pub const METRICS_TABLE: &str = "metrics.parquet";
pub const SAMPLES: &str = "samples.jsonl";
pub const REACHED: &str = "reached.jsonl";
pub const WORDS: &str = "words.parquet";
pub const PAIRS: &str = "pairs.jsonl";
pub const CHECKPOINTS: &str = "checkpoints";
pub const LANGUAGE: &str = "language";
const LOCK: &str = "lock";

/// Files and folders that a run owns; `--force` removes these and nothing else.
const OWN: [&str; 15] = [
    CONFIG,
    STATUS,
    SUMMARY,
    METRICS,
    METRICS_TABLE,
    SAMPLES,
    REACHED,
    WORDS,
    PAIRS,
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "report.html",
    CHECKPOINTS,
    LANGUAGE,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// If nobody holds the folder's lock, the process was killed.
    Running,
    Stopped,
    Done,
    Failed,
}

/// `status.json`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    pub run: String,
    pub state: State,
    pub step: u64,
    pub steps: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub device: String,
    pub version: String,
    pub schema: u32,
    pub seconds: Seconds,
    /// When this was written, in seconds since 1970.
    pub updated: u64,
}

/// Where a run's time went, over all its sittings: its share, where others trained beside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seconds {
    pub prepare: f64,
    pub train: f64,
    pub eval: f64,
    #[serde(default)]
    pub save: f64,
}

impl Status {
    pub fn new(experiment: &Experiment) -> Status {
        Status {
            run: experiment.id(),
            state: State::Running,
            step: 0,
            steps: experiment.train.steps,
            error: None,
            device: String::new(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            schema: SCHEMA,
            seconds: Seconds::default(),
            updated: 0,
        }
    }

    /// The status of a folder, `None` where it has none.
    pub fn read(folder: &Path) -> Result<Option<Status>> {
        let path = folder.join(STATUS);
        let Some(text) = files::read_text(&path)? else { return Ok(None) };
        let status = serde_json::from_str(&text).map_err(|error| Error::Read { path, why: error.to_string() })?;
        Ok(Some(status))
    }

    pub fn write(&mut self, folder: &Path) -> Result<()> {
        self.updated = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        files::write_json(&folder.join(STATUS), self)
    }
}

/// A run folder that this process alone may write to, until this is dropped or the process dies.
#[derive(Debug)]
pub struct Folder {
    pub path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Takes a folder for an experiment: a new one, one that the same config made before, or, with `force`, any run's,
    /// which is emptied first.
    pub fn take(path: &Path, experiment: &Experiment, force: bool) -> Result<Folder> {
        let wrong = |error: std::io::Error| Error::Write { path: path.to_owned(), why: error.to_string() };
        let config = path.join(CONFIG);
        let empty = !path.exists() || std::fs::read_dir(path).map_err(wrong)?.flatten().all(|entry| is_unborn(&entry));
        if !empty && !config.exists() && Status::read(path)?.is_none() {
            return Err(Error::NotARun { path: path.to_owned() });
        }
        std::fs::create_dir_all(path.join(CHECKPOINTS)).map_err(wrong)?;
        let folder = Folder { path: path.to_owned(), _lock: lock(path)? };
        sweep(path);
        sweep(&path.join(CHECKPOINTS));
        if force {
            folder.empty()?;
        } else if let Some(text) = files::read_text(&config)? {
            let made_by = Experiment::from_toml(&text, &format!("`{}`", config.display()))?;
            let keys = made_by.differing(experiment, ["in the folder", "asked for"]);
            if !keys.is_empty() {
                return Err(Error::OtherConfig { path: path.to_owned(), keys: keys.join("; ") });
            }
            if let Some(status) = Status::read(path)?.filter(|status| status.schema != SCHEMA) {
                return Err(Error::OtherSchema { path: path.to_owned(), found: status.schema, wanted: SCHEMA });
            }
            return Ok(folder);
        }
        files::write_whole(&config, experiment.to_toml().as_bytes())?;
        Ok(folder)
    }

    /// Removes what a run makes.
    fn empty(&self) -> Result<()> {
        for name in OWN {
            let path = self.path.join(name);
            let removed = if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
            match removed {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::Write { path, why: error.to_string() });
                }
                _ => {}
            }
        }
        let checkpoints = self.path.join(CHECKPOINTS);
        std::fs::create_dir_all(&checkpoints)
            .map_err(|error| Error::Write { path: checkpoints, why: error.to_string() })
    }

    /// The steps there are checkpoints of, rising.
    pub fn saved(&self) -> Vec<u64> {
        saved(&self.path)
    }

    /// Removes checkpoints by policy: all that do not stay, but for the latest `last`.
    pub fn prune(&self, stays: impl Fn(u64) -> bool, last: usize) -> Result<()> {
        let saved = self.saved();
        let older = &saved[..saved.len().saturating_sub(last)];
        for &step in older.iter().filter(|&&step| !stays(step)) {
            let path = checkpoint(&self.path, step);
            std::fs::remove_file(&path).map_err(|error| Error::Write { path, why: error.to_string() })?;
        }
        Ok(())
    }
}

/// Whether this may be found in a folder whose first process was killed before the config was written.
fn is_unborn(entry: &std::fs::DirEntry) -> bool {
    entry.file_name() == LOCK || entry.file_name() == CHECKPOINTS || is_half_written(entry)
}

/// Whether this is what [`files::write_whole`] was writing.
pub(crate) fn is_half_written(entry: &std::fs::DirEntry) -> bool {
    let name = entry.file_name();
    let name = name.to_string_lossy();
    name.starts_with('.') && name.ends_with(".part")
}

/// Removes what a killed process left half written.
fn sweep(path: &Path) {
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten().filter(is_half_written) {
        // One that cannot be removed does no harm.
        let _ = std::fs::remove_file(entry.path());
    }
}

fn lock(path: &Path) -> Result<File> {
    let file = path.join(LOCK);
    let open = OpenOptions::new().create(true).truncate(false).write(true).open(&file);
    let open = open.map_err(|error| Error::Write { path: file.clone(), why: error.to_string() })?;
    match open.try_lock() {
        Ok(()) => Ok(open),
        Err(TryLockError::WouldBlock) => Err(Error::Busy { path: path.to_owned() }),
        Err(TryLockError::Error(error)) => Err(Error::Write { path: file, why: error.to_string() }),
    }
}

/// Whether a process is writing to the run folder.
pub fn locked(folder: &Path) -> bool {
    let open = OpenOptions::new().write(true).open(folder.join(LOCK));
    open.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

/// The checkpoint of a step.
pub fn checkpoint(folder: &Path, step: u64) -> PathBuf {
    folder.join(CHECKPOINTS).join(format!("step-{step:08}.safetensors"))
}

/// The steps a run folder has checkpoints of, rising.
pub fn saved(folder: &Path) -> Vec<u64> {
    let Ok(entries) = std::fs::read_dir(folder.join(CHECKPOINTS)) else { return Vec::new() };
    let step = |name: String| name.strip_prefix("step-")?.strip_suffix(".safetensors")?.parse().ok();
    let mut steps: Vec<u64> =
        entries.flatten().filter_map(|entry| step(entry.file_name().to_string_lossy().into_owned())).collect();
    steps.sort_unstable();
    steps
}
