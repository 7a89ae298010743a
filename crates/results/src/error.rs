//! What can go wrong with results on disk: one sentence each, with the file it concerns.

use std::path::{Path, PathBuf};

/// A name that no measure, condition or other recorded thing has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the name of anything that is recorded")]
pub struct UnknownName(pub String);

/// A fault of a file or folder.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum Error {
    #[error(
        "`{path}` is neither a study nor a run: expected study.toml, runs.parquet, a runs folder, or config.toml in it"
    )]
    NotResults { path: PathBuf },

    #[error("there is no run in `{path}`, nor up to three folders below it")]
    NoRuns { path: PathBuf },

    #[error("{why}")]
    Filter { why: String },

    #[error("`{path}` cannot be read: {why}")]
    Read { path: PathBuf, why: String },

    #[error("`{path}` cannot be written: {why}")]
    Write { path: PathBuf, why: String },

    #[error("`{path}` is damaged: {why}")]
    Damaged { path: PathBuf, why: String },

    #[error("`{path}` is missing")]
    Missing { path: PathBuf },

    #[error("`{path}`, line {line}: {why}")]
    Line { path: PathBuf, line: usize, why: String },

    #[error("the study `{path}`: {why}")]
    Study { path: PathBuf, why: String },

    #[error(
        "the results in `{path}` were made by {made_by}; this is {version}, schema {here}: what they measured cannot be put \
         beside new results",
        version = env!("CARGO_PKG_VERSION")
    )]
    OldResults { path: PathBuf, made_by: String, here: u32 },
}

/// The result of what touches files.
pub type Result<T> = std::result::Result<T, Error>;

/// Attaches the path to an error, as one of reading or of writing.
pub trait At<T> {
    /// What went wrong while the file was read.
    fn reading(self, path: &Path) -> Result<T>;
    /// What went wrong while it was written.
    fn writing(self, path: &Path) -> Result<T>;
}

impl<T, E: std::fmt::Display> At<T> for std::result::Result<T, E> {
    fn reading(self, path: &Path) -> Result<T> {
        self.map_err(|error| Error::Read { path: path.to_owned(), why: error.to_string() })
    }

    fn writing(self, path: &Path) -> Result<T> {
        self.map_err(|error| Error::Write { path: path.to_owned(), why: error.to_string() })
    }
}
