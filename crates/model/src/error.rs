//! Errors of this crate, with the given and the expected value.

/// An error of the engine.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An invalid shape.
    #[error("model shape: {0}")]
    Shape(String),
    /// A batch the population cannot take.
    #[error("batch: {0}")]
    Batch(String),
    /// Invalid training settings.
    #[error("training: {0}")]
    Train(String),
    /// A file that cannot be read, or is not what it should be.
    #[error("{0}")]
    File(String),
    /// A file that cannot be written.
    #[error("{0}")]
    Write(String),
    /// The device failed or cannot be used; the message says what to change.
    #[error("{0}")]
    Device(String),
    /// The device's memory is too small for the population.
    #[error("{0}")]
    OutOfMemory(String),
}

impl Error {
    /// A file that cannot be written.
    pub(crate) fn writing(path: &std::path::Path, error: impl std::fmt::Display) -> Self {
        Error::Write(format!("{}: cannot write: {error}", path.display()))
    }
}

/// A result whose error is [`enum@Error`].
pub type Result<T> = std::result::Result<T, Error>;
