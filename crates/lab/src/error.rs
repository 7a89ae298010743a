//! What can go wrong in an experiment: one sentence each, with what was given, what is allowed, and where.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("there is no preset `{given}`; the presets are {known}")]
    Preset { given: String, known: String },

    #[error("the experiment file `{}` cannot be read: {why}", path.display())]
    NoExperiment { path: PathBuf, why: String },

    #[error("`{}` cannot be read: {why}", path.display())]
    Read { path: PathBuf, why: String },

    #[error("{origin} is not an experiment: {why}")]
    Parse { origin: String, why: String },

    #[error("{origin} sets the unknown key `{key}`{}", hint(nearest))]
    UnknownKey { origin: String, key: String, nearest: Option<String> },

    #[error("`{given}` is not an override: expected key=value, as in language.distance=0.5")]
    Override { given: String },

    #[error("`{key}` is {given}, but must be {allowed}")]
    Range { key: &'static str, given: String, allowed: String },

    #[error("`{}` cannot be written: {why}", path.display())]
    Write { path: PathBuf, why: String },

    #[error("another process is writing to the run folder `{}`", path.display())]
    Busy { path: PathBuf },

    #[error("`{}` is not empty and not a run folder: choose another with --out", path.display())]
    NotARun { path: PathBuf },

    #[error("the run folder `{}` was made by another config ({keys}): choose another folder, or start over with --force", path.display())]
    OtherConfig { path: PathBuf, keys: String },

    #[error(
        "the run folder `{}` has schema {found}, but this version writes schema {wanted}: choose another folder, or \
         start over with --force",
        path.display()
    )]
    OtherSchema { path: PathBuf, found: u32, wanted: u32 },

    #[error("`{}` is not a run folder: it has no config.toml", path.display())]
    NoRun { path: PathBuf },

    #[error("an evaluation can change settings of `eval` alone, not {keys}")]
    NotEvaluation { keys: String },

    #[error("the run folder `{}` has no checkpoint{}", path.display(), available(*step, steps))]
    NoCheckpoint { path: PathBuf, step: Option<u64>, steps: Vec<u64> },

    #[error(
        "`model.context` is {context}, but {share:.0} % of the training sequences are longer (half of them have {half} \
         tokens or more): raise it to about {enough}"
    )]
    Context { context: usize, share: f64, half: usize, enough: usize },

    #[error("the loss was NaN or infinite at step {step}: the training diverged; a lower `train.lr` may help")]
    Diverged { step: u64 },

    #[error("experiments of one population must have the same model, training and evaluation, but {0}")]
    Population(String),

    #[error("{0}")]
    Inputs(String),

    #[error("the study `{}`: {why}", path.display())]
    Study { path: PathBuf, why: String },

    #[error("Slurm: {why}")]
    Slurm { why: String },

    #[error("signals cannot be watched: {why}")]
    Signals { why: String },

    #[error(transparent)]
    Tokenizer(#[from] invitro_tokenizer::Error),

    #[error(transparent)]
    Model(#[from] invitro_model::Error),

    #[error(transparent)]
    Language(#[from] invitro_language::Error),

    #[error(transparent)]
    Results(#[from] invitro_results::Error),
}

pub type Result<T> = std::result::Result<T, Error>;

pub(crate) use invitro_results::At;

fn available(step: Option<u64>, steps: &[u64]) -> String {
    match (step, steps) {
        (None, _) | (_, []) => String::new(),
        (Some(step), steps) => {
            let list: Vec<String> = steps.iter().map(u64::to_string).collect();
            format!(" of step {step}; it has {}", list.join(", "))
        }
    }
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |key| format!("; the nearest known key is `{key}`"))
}
