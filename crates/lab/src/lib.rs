//! Experiments on how knowledge crosses from one language to another.
//!
//! - [`experiment`]: the config of a run, from presets, files and overrides; [`identity`]: which run it stands for;
//!   [`keys`]: what every key means and may be
//! - [`inputs`]: languages, tokenizers and evaluation sets, made once for all who share them
//! - [`population`]: training experiments of one shape as one population; [`data_loader`]: its batches; [`activity`]:
//!   where its time goes
//! - [`card`]: model cards and data cards
//! - [`corpus`]: rows as text, those of training among them
//! - [`probes`]: what a model is asked, and what is measured: tasks, reachability, contrast, losses, hidden states
//! - [`study`]: grids of experiments that resume; [`executor`]: where they are run
//! - [`trained`]: a trained model out of its folder, to evaluate, prompt or export
//! - [`mod@raise`]: more steps for a run that has a folder
//! - [`wording`]: what is wrong with a setting, in words
//! - [`folder`], [`log`], `record`: what a run leaves on disk, through `invitro-results`

pub mod activity;
pub mod card;
pub mod corpus;
pub mod data_loader;
pub mod error;
pub mod executor;
pub mod experiment;
pub mod folder;
pub mod identity;
pub mod inputs;
pub mod keys;
pub mod log;
pub mod population;
pub mod probes;
pub mod progress;
pub mod raise;
mod record;
mod runner;
pub mod settings;
pub mod stop;
pub mod study;
pub mod tokenized;
pub mod trained;
pub mod wording;

pub use error::{Error, Result};
pub use experiment::{Experiment, SeedsConfig};
pub use invitro_results::{Seeds, State, Status};
pub use progress::{Headline, Progress};
pub use record::measures;
pub use settings::{CheckpointConfig, EvalConfig, ModelConfig};
pub use stop::Stop;
pub use trained::Trained;
