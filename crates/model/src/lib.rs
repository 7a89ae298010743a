//! Populations of small Llama-shaped transformers, trained on a CPU or one CUDA GPU.
//!
//! Token ids in, logits out: this crate knows no words. The population is the unit: N models of one [`Shape`] train at
//! once, each on its own data, with a leading N on every buffer. N = 1 is not a special case.
//!
//! - [`shape`]: what a model looks like; [`layout`]: where its tensors lie in one flat vector
//! - [`batch`]: sequences packed end to end, no padding between them
//! - [`ops`]: the dozen operations a device must offer, forward and backward
//! - [`transformer`]: the model, written once over them

pub mod batch;
pub mod error;
pub mod layout;
pub mod ops;
pub mod shape;
pub mod transformer;

pub use batch::{Batch, Sequence, Span};
pub use error::{Error, Result};
pub use layout::{Layout, Tensor};
pub use ops::Ops;
pub use shape::Shape;
pub use transformer::Transformer;
