//! Queries and results of inference: scores of continuations, hidden states, patches.

use crate::{Error, Result};
use std::sync::Arc;

/// The probability and rank of one token.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// Natural logarithm of its probability.
    pub logprob: f32,
    /// The number of ranked tokens with a strictly larger logit.
    pub rank: u32,
}

/// A prompt and continuations to score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScoreQuery {
    pub prompt: Vec<u32>,
    pub continuations: Vec<Vec<u32>>,
    /// The mask of ranked tokens; `None` for all tokens.
    pub among: Option<Arc<[bool]>>,
}

/// A query whose prompt has some hidden states replaced.
#[derive(Clone, Debug, PartialEq)]
pub struct PatchedQuery {
    pub query: ScoreQuery,
    pub patches: Vec<Patch>,
}

/// The scores of every token of every continuation of a query.
pub type ContinuationScores = Vec<Vec<Score>>;

/// A sequence, and the positions and layers of the wanted hidden states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HiddenQuery {
    pub tokens: Vec<u32>,
    /// Positions in the sequence.
    pub positions: Vec<usize>,
    /// From 0, the embedding, to the number of layers.
    pub layers: Vec<usize>,
    /// Whether the norms are wanted too, which patches need.
    pub normed: bool,
}

/// The residual stream at one layer and position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HiddenState {
    pub residual: Vec<f32>,
    /// Its norm with the gain of the layer that reads it; empty where it was not wanted.
    pub normed: Vec<f32>,
}

/// The states of one query, `[layer][position]` in the query's order.
pub type LayerStates = Vec<Vec<HiddenState>>;

/// A state that replaces the computed one.
#[derive(Clone, Debug, PartialEq)]
pub struct Patch {
    pub layer: usize,
    /// Position in the prompt.
    pub position: usize,
    pub state: HiddenState,
}

/// Returns an error if a layer does not exist.
pub fn check_layers(mut queried: impl Iterator<Item = usize>, layers: usize) -> Result<()> {
    match queried.find(|&layer| layer > layers) {
        Some(layer) => Err(Error::Batch(format!("layer {layer}: layers are 0 (the embedding) to {layers}"))),
        None => Ok(()),
    }
}
