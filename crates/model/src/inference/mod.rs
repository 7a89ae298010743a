//! Inference: decoding, scoring, hidden states and patches, over a cache of keys and values.
//!
//! - [`queries`]: queries and results
//! - [`pass`]: the input of all members in one forward-only pass
//! - [`ops`]: the operations of inference
//! - [`forward`]: the pass itself
//! - [`mod@decode`], [`mod@score`], [`mod@hidden`]: decoding, scoring, hidden states

pub mod decode;
pub mod forward;
pub mod hidden;
pub mod ops;
pub mod pass;
pub mod queries;
pub mod score;

pub use decode::{Decoded, Prompt, Sampling};
pub use forward::{Inference, Output, Outputs};
pub use ops::InferOps;
pub use pass::{CachedSpan, MemberPass, Pass};
pub use queries::{ContinuationScores, HiddenQuery, HiddenState, LayerStates, Patch, PatchedQuery, Score, ScoreQuery};
