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
    /// The device failed or cannot be used; the sentence names what to change.
    #[error("{0}")]
    Device(String),
}

pub type Result<T> = std::result::Result<T, Error>;
