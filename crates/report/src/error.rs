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

    #[error("{path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },

    #[error("{path}: {source}")]
    Parquet { path: PathBuf, source: parquet::errors::ParquetError },

    #[error("{path}, line {line}: {what}")]
    Line { path: PathBuf, line: usize, what: String },

    #[error("{path}: {what}")]
    Format { path: PathBuf, what: String },

    #[error("cannot listen on 127.0.0.1:{port}: {source}")]
    Listen { port: u16, source: std::io::Error },
}

pub type Result<T> = std::result::Result<T, Error>;

/// Attaches the path to an error of the operating system.
pub(crate) trait At<T> {
    fn at(self, path: &Path) -> Result<T>;
}

impl<T> At<T> for std::io::Result<T> {
    fn at(self, path: &Path) -> Result<T> {
        self.map_err(|source| Error::Io { path: path.to_owned(), source })
    }
}

impl<T> At<T> for parquet::errors::Result<T> {
    fn at(self, path: &Path) -> Result<T> {
        self.map_err(|source| Error::Parquet { path: path.to_owned(), source })
    }
}
