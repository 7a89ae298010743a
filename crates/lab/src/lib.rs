//! Experiments on how knowledge crosses from one language to another.
//!
//! - [`experiment`]: the config of a run, from presets, files and overrides, and which run it stands for
//! - [`inputs`]: languages, tokenizers and evaluation sets, made once for all who share them
//! - [`population`]: training experiments of one shape as one population; [`data_loader`]: its batches; [`activity`]:
//!   where its time goes
//! - [`card`]: model cards and data cards
//! - [`corpus`]: rows as text, those of training among them
//! - [`probes`]: what a model is asked, and what is measured: tasks, reachability, contrast, losses, hidden states
//! - [`study`]: grids of experiments that resume; [`executor`]: where they are run
//! - [`trained`]: a trained model out of its folder, to evaluate, prompt or export
//! - [`mod@raise`]: more steps for a run that has a folder
//! - [`folder`], [`log`], `record`: what a run leaves on disk, through `invitro-results`

pub mod activity;
pub mod card;
pub mod corpus;
pub mod data_loader;
pub mod error;
pub mod executor;
pub mod experiment;
pub mod folder;
pub mod inputs;
pub mod log;
pub mod population;
pub mod probes;
pub mod progress;
pub mod raise;
mod record;
mod runner;
pub mod stop;
pub mod study;
pub mod tokenized;
pub mod trained;

pub use error::{Error, Result};
pub use experiment::Experiment;
pub use invitro_base::settings::{CheckpointConfig, EvalConfig, ModelConfig, Seeds, SeedsConfig};
pub use invitro_results::{State, Status};
pub use progress::{Headline, Progress};
pub use record::measures;
pub use stop::Stop;
pub use trained::Trained;
