//! Populations of small transformers (Llama or GPT-2), trained on a CPU or one CUDA GPU.
//!
//! Models map token ids to logits; this crate knows no words. A population of N models of one [`Shape`] trains at once,
//! each on its own data, with a leading N on every buffer. N = 1 is not a special case.
//!
//! - [`shape`]: the kind and sizes of a model; [`layout`]: its tensors in one flat vector
//! - [`batch`]: sequences packed without padding
//! - [`ops`]: the operations of a device, forward and backward
//! - [`transformer`]: the model, written over these operations
//! - [`cpu`], [`cuda`]: the operations on a device
//! - [`shard`], [`population`]: N models over the shards of a device
//! - [`init`]: the initial weights
//! - [`inference`]: decoding, scoring, hidden states and patches
//! - [`memory`]: memory requirements
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
pub use invitro_base::settings::{Decay, ModelKind, TrainConfig};
pub use layout::{Layout, Tensor};
pub use ops::{Loss, Ops, Update, Vector};
pub use population::Population;
pub use shape::Shape;
pub use transformer::Transformer;
