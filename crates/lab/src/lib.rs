//! Experiments on how knowledge crosses from one language to another.
//!
//! - [`experiment`]: the config of a run, from presets, files and overrides

pub mod error;
pub mod experiment;

pub use error::{Error, Result};
pub use experiment::{Experiment, Seeds, SeedsConfig};
