//! Experiments on how knowledge crosses from one language to another.
//!
//! - [`experiment`]: the config of a run, from presets, files and overrides, and the run it identifies
//! - [`inputs`]: languages, tokenizers and probes, made once and shared by the runs that have them in common
//! - [`training`]: experiments of one shape trained as one population, with its data loader and its activity
//! - [`probes`]: measurements of a model: tasks, reachability, contrast, losses, hidden states
//! - [`run_folder`]: the files of a run, and more steps for a run that has a folder
//! - [`trained`]: a trained model from its folder, to evaluate, prompt or export
//! - [`minimal_pairs`]: pairs of sentences, one with a fault
//! - [`patching`]: one question to a trained model whose hidden states are replaced
//! - [`corpus`]: rows as text; [`card`]: model cards and data cards
//! - [`study`]: grids of experiments that resume; [`executor`]: where they run

pub mod card;
pub mod corpus;
pub mod error;
pub mod executor;
pub mod experiment;
pub mod inputs;
pub mod minimal_pairs;
pub mod patching;
pub mod probes;
pub mod run_folder;
pub mod study;
pub mod trained;
pub mod training;

pub use error::{Error, Result};
pub use experiment::{Experiment, FIRST};
pub use invitro_base::settings::{CheckpointConfig, EvalConfig, ModelConfig, Seeds, SeedsConfig};
pub use invitro_results::{State, Status};
pub use run_folder::record::measures;
pub use trained::Trained;
pub use training::progress::{Headline, Progress};
pub use training::stop::Stop;
