//! A run's folder: who may write to it, which config it is of, and its checkpoints. Its files are named in
//! [`invitro_results::folder`].

use crate::error::{At, Error, Result};
use crate::experiment::Experiment;
use invitro_results::folder::{
    CHECKPOINTS, CONFIG, LANGUAGE, METRICS, METRICS_TABLE, PAIRS, REACHED, REPORT, SAMPLES, STATUS, SUMMARY, TOKENIZER,
    WORDS, read_text, write_file,
};
use invitro_results::{SCHEMA, Status};
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

const LOCK: &str = "lock";

/// Files and folders that a run owns, beside its tokenizer's; `--force` removes these and nothing else.
const OWN: [&str; 12] =
    [CONFIG, STATUS, SUMMARY, METRICS, METRICS_TABLE, SAMPLES, REACHED, WORDS, PAIRS, REPORT, CHECKPOINTS, LANGUAGE];

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
        let config = path.join(CONFIG);
        let empty = !path.exists() || std::fs::read_dir(path).writing(path)?.flatten().all(|entry| is_unborn(&entry));
        if !empty && !config.exists() && Status::read(path)?.is_none() {
            return Err(Error::NotARun { path: path.to_owned() });
        }
        std::fs::create_dir_all(path.join(CHECKPOINTS)).writing(path)?;
        let folder = Folder { path: path.to_owned(), _lock: lock(path)? };
        invitro_files::remove_partials(path);
        invitro_files::remove_partials(&path.join(CHECKPOINTS));
        if force {
            folder.empty()?;
        } else if let Some(text) = read_text(&config)? {
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
        write_file(&config, experiment.to_toml().as_bytes())?;
        Ok(folder)
    }

    /// Removes what a run makes.
    fn empty(&self) -> Result<()> {
        for name in OWN.into_iter().chain(TOKENIZER) {
            let path = self.path.join(name);
            let removed = if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
            if !removed.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
                removed.writing(&path)?;
            }
        }
        let checkpoints = self.path.join(CHECKPOINTS);
        Ok(std::fs::create_dir_all(&checkpoints).writing(&checkpoints)?)
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
            std::fs::remove_file(&path).writing(&path)?;
        }
        Ok(())
    }
}

/// Whether this may be found in a folder whose first process was killed before the config was written.
fn is_unborn(entry: &std::fs::DirEntry) -> bool {
    entry.file_name() == LOCK || entry.file_name() == CHECKPOINTS || invitro_files::is_partial(entry.file_name())
}

fn lock(path: &Path) -> Result<File> {
    let file = path.join(LOCK);
    let open = OpenOptions::new().create(true).truncate(false).write(true).open(&file).writing(&file)?;
    match open.try_lock() {
        Ok(()) => Ok(open),
        Err(TryLockError::WouldBlock) => Err(Error::Busy { path: path.to_owned() }),
        Err(TryLockError::Error(error)) => Ok(Err(error).writing(&file)?),
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
