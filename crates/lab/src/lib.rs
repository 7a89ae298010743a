//! Experiments on how knowledge crosses from one language to another.
//!
//! - [`experiment`]: the config of a run, from presets, files and overrides; [`identity`]: which run it stands for
//! - [`materials`]: languages, tokenizers and evaluation sets, made once for all who share them
//! - [`population`]: training experiments of one shape as one population; [`feed`]: its batches
//! - [`evaluation`]: tasks, reachability, losses; [`emergence`]: when they come
//! - [`study`]: grids of experiments that resume; [`executor`]: where they are run
//! - [`trained`]: a trained model out of its folder, to evaluate, prompt or export
//! - [`folder`], [`log`], [`table`], [`record`], [`summary`]: what a run leaves on disk

pub mod emergence;
pub mod error;
pub mod evaluation;
pub mod executor;
pub mod experiment;
pub mod feed;
pub mod files;
pub mod folder;
pub mod identity;
pub mod log;
pub mod materials;
pub mod metrics;
pub mod population;
pub mod progress;
mod record;
mod runner;
pub mod settings;
pub mod stop;
pub mod study;
mod summary;
pub mod table;
pub mod text;
pub mod trained;

pub use error::{Error, Result};
pub use experiment::{Experiment, Seeds, SeedsConfig};
pub use folder::{State, Status};
pub use progress::{Headline, Progress};
pub use settings::{CheckpointConfig, EvalConfig, ModelConfig};
pub use stop::Stop;
pub use trained::Trained;
