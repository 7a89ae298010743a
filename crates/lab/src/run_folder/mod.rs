//! A run's folder: who may write to it, which config it is of, and its checkpoints. Its files are named in
//! [`invitro_results::folder`].

pub mod log;
pub mod more_steps;
pub(crate) mod record;

use crate::error::{At, Error, Result};
use crate::experiment::Experiment;
use invitro_model::Checkpoint;
use invitro_results::folder::{
    CHECKPOINTS, CONFIG, CONTRASTS, LANGUAGE, LOGS, METRICS, METRICS_TABLE, PAIRS, REPORT, SAMPLES, SEGMENTATION,
    STATUS, SUMMARY, TENSORBOARD, TOKENIZER, TRAINING, TRAINING_TABLE, WORDS, read_text, write_file,
};
use invitro_results::{SCHEMA, Seal, Status};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

/// Keys of a checkpoint's metadata: the run's identity, the seal of its tokenizer, the seals of its logs.
pub const RUN: &str = "run";
pub const TOKENIZER_SEAL: &str = "tokenizer";
pub const LOG_SEALS: &str = "logs";

const LOCK: &str = "lock";
/// The config of a folder whose run is being given more steps: see [`mod@crate::run_folder::more_steps`].
pub const MORE_STEPS: &str = "raise.toml";

/// Files and folders that a run owns, beside its tokenizer's; `--force` removes these and nothing else.
const OWN: [&str; 19] = [
    MORE_STEPS,
    CONFIG,
    STATUS,
    SUMMARY,
    METRICS,
    METRICS_TABLE,
    TRAINING,
    TRAINING_TABLE,
    SAMPLES,
    // Of older versions.
    "reached.jsonl",
    CONTRASTS,
    WORDS,
    PAIRS,
    REPORT,
    CHECKPOINTS,
    LANGUAGE,
    SEGMENTATION,
    TENSORBOARD,
    invitro_base::named_files::FILES,
];

/// A run folder that this process alone may write to, until this is dropped or the process dies.
#[derive(Debug)]
pub struct Folder {
    pub path: PathBuf,
    /// A config that was damaged and is written again: what was wrong with it.
    pub damaged: Option<String>,
    _lock: File,
}

impl Folder {
    /// Takes a folder for an experiment: a new one, one that the same config made before, or, with `force`, any run's,
    /// which is emptied first.
    pub fn take(path: &Path, experiment: &Experiment, force: bool) -> Result<Folder> {
        let empty = !path.exists() || std::fs::read_dir(path).writing(path)?.flatten().all(|entry| is_unborn(&entry));
        if !empty && !path.join(CONFIG).exists() && !path.join(STATUS).exists() {
            return Err(Error::NotARun { path: path.to_owned() });
        }
        std::fs::create_dir_all(path.join(CHECKPOINTS)).writing(path)?;
        let mut folder = Folder { path: path.to_owned(), damaged: None, _lock: lock(path)? };
        invitro_base::files::remove_partials(path);
        invitro_base::files::remove_partials(&path.join(CHECKPOINTS));
        if force {
            folder.empty()?;
        } else if let Err(error) = folder.is_of(experiment) {
            // A status that is whole says whose folder it is.
            let owner = Status::read(path).ok().flatten().map(|status| status.run);
            if owner != Some(experiment.id()) || path.join(MORE_STEPS).exists() {
                return Err(error);
            }
            folder.damaged = Some(error.to_string());
        }
        folder.save_files(experiment)?;
        let config = path.join(CONFIG);
        if folder.damaged.is_some() || !config.exists() {
            write_file(&config, experiment.to_toml().as_bytes())?;
        }
        Ok(folder)
    }

    /// Whether the folder is an experiment's, or nobody's yet.
    fn is_of(&self, experiment: &Experiment) -> Result<()> {
        let path = &self.path;
        let status = Status::read(path).ok().flatten();
        let config = config(path);
        if let Some(text) = read_text(&config)? {
            let made_by = Experiment::from_toml(&text, &format!("`{}`", config.display()))?;
            let keys = made_by.differing(experiment, ["in the folder", "asked for"]);
            if !keys.is_empty() {
                return Err(Error::OtherConfig { path: path.clone(), keys: keys.join("; ") });
            }
        }
        match status {
            Some(status) if status.schema != SCHEMA => {
                Err(Error::OtherSchema { path: path.clone(), found: status.schema, wanted: SCHEMA })
            }
            // A run that is being given more steps has its old name until all is done.
            Some(status) if status.run != experiment.id() && !path.join(MORE_STEPS).exists() => {
                Err(Error::OtherRun { path: path.join(STATUS), found: status.run, wanted: experiment.id() })
            }
            _ => Ok(()),
        }
    }

    /// Its own copies of the files that the experiment names.
    fn save_files(&self, experiment: &Experiment) -> Result<()> {
        for name in experiment.files() {
            invitro_base::named_files::save(&name, &self.path).writing(&self.path.join(&name))?;
        }
        Ok(())
    }

    /// Removes what a run makes.
    fn empty(&self) -> Result<()> {
        for name in OWN.into_iter().chain(TOKENIZER) {
            remove(&self.path.join(name))?;
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
        let kept = self.kept(stays, last);
        let removed = self.saved().into_iter().filter(|step| !kept.contains(step));
        removed.map(|step| checkpoint(&self.path, step)).try_for_each(|path| remove(&path))
    }

    /// The steps whose checkpoints [`Folder::prune`] keeps.
    pub fn kept(&self, stays: impl Fn(u64) -> bool, last: usize) -> Vec<u64> {
        let saved = self.saved();
        let newest = saved.len().saturating_sub(last);
        saved.iter().enumerate().filter(|(at, step)| *at >= newest || stays(**step)).map(|(_, &step)| step).collect()
    }
}

/// Removes a file or a folder, if it is there.
pub(crate) fn remove(path: &Path) -> Result<()> {
    let removed = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        removed => Ok(removed.writing(path)?),
    }
}

/// Whether this may be found in a folder whose first process was killed before the config was written.
fn is_unborn(entry: &std::fs::DirEntry) -> bool {
    let name = entry.file_name();
    [LOCK, CHECKPOINTS, invitro_base::named_files::FILES].iter().any(|own| name == *own)
        || invitro_base::files::is_partial(name)
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

/// The config file of a run's folder.
pub fn config(folder: &Path) -> PathBuf {
    let more_steps = folder.join(MORE_STEPS);
    if more_steps.exists() { more_steps } else { folder.join(CONFIG) }
}

/// The checkpoint of a step.
pub fn checkpoint(folder: &Path, step: u64) -> PathBuf {
    folder.join(checkpoint_name(step))
}

/// Its path in the folder.
pub fn checkpoint_name(step: u64) -> String {
    format!("{CHECKPOINTS}/step-{step:08}.safetensors")
}

/// The checkpoint of a step, which must be of this run and of that step.
pub fn load_checkpoint(folder: &Path, run: &str, step: u64) -> Result<Checkpoint> {
    let path = checkpoint(folder, step);
    // A file system that does not answer is no damage.
    invitro_base::files::read(&path).reading(&path)?;
    let loaded = Checkpoint::load(&path)?;
    let found = loaded.metadata.get(RUN).cloned().unwrap_or_default();
    if found != run {
        return Err(Error::OtherRun { path, found, wanted: run.to_owned() });
    }
    if loaded.step != step {
        return Err(Error::OtherStep { path, found: loaded.step });
    }
    Ok(loaded)
}

/// What the logs were at a checkpoint, if both it and they are still what they were.
pub fn intact_logs(folder: &Path, run: &str, step: u64) -> Result<BTreeMap<String, Seal>> {
    let saved = load_checkpoint(folder, run, step)?;
    let path = checkpoint(folder, step);
    let damaged = |why: String| invitro_results::Error::Damaged { path: path.clone(), why };
    let seals = saved.metadata.get(LOG_SEALS).map_or("{}", String::as_str);
    let seals: BTreeMap<String, Seal> = serde_json::from_str(seals).map_err(|error| damaged(error.to_string()))?;
    for name in LOGS {
        let seal = seals.get(name).ok_or_else(|| damaged(format!("it has no checksum of {name}")))?;
        seal.read_start(&folder.join(name))?;
    }
    Ok(seals)
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
