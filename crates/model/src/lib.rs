//! Populations of small Llama-shaped transformers, trained on a CPU or one CUDA GPU.
//!
//! Token ids in, logits out: this crate knows no words. The population is the unit: N models of one [`Shape`] train at
//! once, each on its own data, with a leading N on every buffer. N = 1 is not a special case.
//!
//! - [`shape`]: what a model looks like; [`layout`]: where its tensors lie in one flat vector
//! - [`batch`]: sequences packed end to end, no padding between them
//! - [`ops`]: the dozen operations a device must offer, forward and backward
//! - [`transformer`]: the model, written once over them
//! - [`cpu`], [`cuda`]: the operations on a device
//! - [`shard`], [`population`]: N models over the shards of a device, which is what a study trains
//! - [`init`]: the initial weights
//! - [`inference`]: decoding, scoring, hidden states and patches
//! - [`memory`]: what all this takes
//! - [`checkpoint`], [`export`]: models on disk

#![warn(clippy::undocumented_unsafe_blocks)]

pub mod batch;
mod by_token;
pub mod checkpoint;
pub mod cpu;
pub mod cuda;
pub mod device;
pub mod error;
pub mod export;
mod history;
pub mod inference;
pub mod init;
pub mod layout;
pub mod memory;
pub mod ops;
pub mod population;
pub mod selftest;
pub mod shape;
pub mod shard;
mod tensor_file;
pub mod transformer;

pub use batch::{Batch, Span, TokenSequence};
pub use checkpoint::Checkpoint;
pub use device::Device;
pub use error::{Error, Result};
pub use history::HISTORY;
pub use inference::{ContinuationScores, Decoded, InferOps, Prompt, Sampling, Score, ScoreQuery};
pub use invitro_base::settings::{Decay, TrainConfig};
pub use layout::{Layout, Tensor};
pub use ops::{Loss, Ops, Update, Vector};
pub use population::Population;
pub use shape::Shape;
pub use transformer::Transformer;
