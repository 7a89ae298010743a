//! What can go wrong in this crate, each with what was given and what was expected.

/// Every failure of the engine.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A shape no model can have.
    #[error("model shape: {0}")]
    Shape(String),
    /// A batch the population cannot take.
    #[error("batch: {0}")]
    Batch(String),
    /// Training settings that make no sense.
    #[error("training: {0}")]
    Train(String),
    /// A file that cannot be read, or is not what it should be.
    #[error("{0}")]
    File(String),
    /// A file that cannot be written.
    #[error("{0}")]
    Write(String),
    /// The device failed or cannot be used; the sentence names what to change.
    #[error("{0}")]
    Device(String),
    /// The device's memory does not hold the population.
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
