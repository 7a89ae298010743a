//! What can go wrong in an experiment: one sentence each, with what was given, what is allowed, and where.

use invitro_base::settings::SettingError;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("there is no preset `{given}`; the presets are {known}")]
    Preset { given: String, known: String },

    #[error("the experiment file `{}` cannot be read: {why}", path.display())]
    NoExperiment { path: PathBuf, why: String },

    #[error("`{key}` is `{}`, which is {}: {why}", path.display(), no_file(key))]
    NamedFile { key: String, path: PathBuf, why: String },

    #[error("`{}` cannot be read: {why}", path.display())]
    Read { path: PathBuf, why: String },

    #[error("{origin} is not an experiment: {why}")]
    Parse { origin: String, why: String },

    #[error("{origin} sets the unknown key `{key}`{}", hint(nearest))]
    UnknownKey { origin: String, key: String, nearest: Option<String> },

    /// A key of a list that leads nowhere.
    #[error("{origin}: {why}")]
    Address { origin: String, why: String },

    #[error("`{given}` is not an override: expected key=value, as in language.distance=0.5")]
    Override { given: String },

    /// A setting that is changed though it decides nothing.
    #[error("changing `{key}` would change nothing: {why}")]
    Unused { key: String, why: String },

    #[error(transparent)]
    Setting(#[from] SettingError),

    #[error("`{}` cannot be written: {why}", path.display())]
    Write { path: PathBuf, why: String },

    #[error("another process has taken it over")]
    TakenOver,

    #[error("the training is finished, but its results could not be written: {0}")]
    Finished(Box<Error>),

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

    #[error("`train.steps` of the run `{}` cannot be raised from {from} to {to}: {why}", path.display())]
    Raise { path: PathBuf, from: u64, to: u64, why: String },

    #[error("`{}` is of run {found}, but the config beside it is of run {wanted}", path.display())]
    OtherRun { path: PathBuf, found: String, wanted: String },

    #[error("`{}` is a checkpoint of step {found}", path.display())]
    OtherStep { path: PathBuf, found: u64 },

    #[error("`{}` has weights that are NaN or infinite: the training diverged before it was saved", path.display())]
    NotFinite { path: PathBuf },

    #[error(
        "`{}` is not the tokenizer that the model was trained with: it is damaged, and `invitro run` with the same \
         settings writes it again",
        path.display()
    )]
    OtherTokenizer { path: PathBuf },

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

    #[error("{0}")]
    Corpus(String),

    #[error("`{word}` is no word of {language}, and the tokenizer cannot spell it")]
    Spelling { word: String, language: &'static str },

    /// What a model that is not ours did instead of answering.
    #[error("{0}")]
    Foreign(String),

    #[error("this model gives no hidden states: leave `eval.inside` false")]
    NoHiddenStates,

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

impl Error {
    /// Whether a file's content has changed since it was written. A file that cannot be read just now has not.
    pub fn is_damage(&self) -> bool {
        use invitro_results::Error as Results;
        matches!(
            self,
            Error::Results(Results::Damaged { .. } | Results::Missing { .. })
                | Error::OtherRun { .. }
                | Error::OtherStep { .. }
                | Error::Model(invitro_model::Error::File(_))
        )
    }

    /// Whether it is the place that could not be written to, as on a full disk: no fault of the run, which may be gone on
    /// with once there is room.
    pub fn is_unwritten(&self) -> bool {
        match self {
            Error::Write { .. }
            | Error::Results(invitro_results::Error::Write { .. })
            | Error::Model(invitro_model::Error::Write(_)) => true,
            Error::Tokenizer(invitro_tokenizer::Error::File { verb, .. }) => *verb == "written",
            Error::Finished(why) => why.is_unwritten(),
            _ => false,
        }
    }
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

/// What a file is not.
fn no_file(key: &str) -> &'static str {
    match key.rsplit('.').next() {
        Some("grammar") => "neither svo, sov, vso or vos nor a file that can be read",
        Some("change") => "neither edits nor rules nor a file that can be read",
        _ => "no file that can be read",
    }
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |key| format!("; the nearest known key is `{key}`"))
}
