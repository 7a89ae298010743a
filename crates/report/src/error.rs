//! What can go wrong while reading results or writing a report: one sentence each, with the file it concerns.

use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "{path} is neither a study nor a run: expected study.toml, runs.parquet, a runs folder, or config.toml in it"
    )]
    NotResults { path: PathBuf },

    #[error("{path} exists already; --force replaces it")]
    Exists { path: PathBuf },

    #[error("{path} cannot be read or written: {why}")]
    File { path: PathBuf, why: String },

    #[error("{path}, line {line}: {what}")]
    Line { path: PathBuf, line: usize, what: String },

    #[error("{path}: {what}")]
    Format { path: PathBuf, what: String },

    #[error("cannot listen on 127.0.0.1:{port}: {why}")]
    Listen { port: u16, why: String },
}

pub type Result<T> = std::result::Result<T, Error>;

/// Attaches the path to an error of the operating system or of the parquet reader.
pub(crate) trait At<T> {
    fn at(self, path: &Path) -> Result<T>;
}

impl<T> At<T> for std::io::Result<T> {
    fn at(self, path: &Path) -> Result<T> {
        self.map_err(|error| Error::File { path: path.to_owned(), why: error.to_string() })
    }
}

impl<T> At<T> for parquet::errors::Result<T> {
    fn at(self, path: &Path) -> Result<T> {
        self.map_err(|error| Error::File { path: path.to_owned(), why: error.to_string() })
    }
}
