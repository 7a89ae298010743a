//! What can go wrong while reading results or writing a report: one sentence each, with the file it concerns.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Results(#[from] invitro_results::Error),

    #[error("the claims in `{}` cannot be read: {why}", path.display())]
    Claims { path: PathBuf, why: String },

    #[error("the pages of `{}` cannot be filled: {why}", path.display())]
    Template { path: PathBuf, why: String },

    #[error("no run in `{}` has begun: there is nothing to report{why}", path.display())]
    NoRuns { path: PathBuf, why: String },

    #[error("{path} exists already; --force replaces it")]
    Exists { path: PathBuf },

    #[error(
        "{path} exists already and is not as this version wrote it: it was changed, or is older; --force replaces it"
    )]
    Changed { path: PathBuf },

    #[error("{path} was not written by invitro and is left as it is")]
    Foreign { path: PathBuf },

    #[error("no folder below {path} holds a run or a study")]
    NoneBelow { path: PathBuf },

    #[error("{path}: nothing to show: {why}")]
    NoneShown { path: PathBuf, why: String },

    #[error("{path} cannot be written: {why}")]
    Write { path: PathBuf, why: std::io::Error },

    #[error("the results in `{}` cannot be shown: something in them is damaged", path.display())]
    Broke { path: PathBuf },

    #[error("cannot listen on 127.0.0.1:{port}: {why}")]
    Listen { port: u16, why: std::io::Error },
}

pub type Result<T> = std::result::Result<T, Error>;
