//! What can go wrong in an experiment: one sentence each, with what was given, what is allowed, and where.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("there is no preset `{given}`; the presets are {known}")]
    Preset { given: String, known: String },

    #[error("the experiment file `{}` cannot be read: {why}", path.display())]
    Read { path: PathBuf, why: String },

    #[error("{origin} is not an experiment: {why}")]
    Parse { origin: String, why: String },

    #[error("{origin} sets the unknown key `{key}`{}", hint(nearest))]
    UnknownKey { origin: String, key: String, nearest: Option<String> },

    #[error("`{given}` is not an override: expected key=value, as in language.distance=0.5")]
    Override { given: String },

    #[error("`{key}` is {given}, but must be {allowed}")]
    Range { key: &'static str, given: String, allowed: String },

    #[error(transparent)]
    Language(#[from] invitro_language::Error),
}

pub type Result<T> = std::result::Result<T, Error>;

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |key| format!("; the nearest known key is `{key}`"))
}
