//! The model forward only: decoding, scoring, hidden states and patches, over a cache of keys and values.
//!
//! - [`queries`]: what is asked, and what is answered
//! - [`pass`]: what all members of a population read in one forward-only pass
//! - [`ops`]: the operations this needs beyond those of training
//! - [`forward`]: the pass itself
//! - [`mod@decode`], [`mod@score`], [`mod@hidden`]: prompts continued, continuations scored, hidden states read

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
