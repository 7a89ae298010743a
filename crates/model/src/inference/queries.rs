//! What a model is asked forward only, and what it answers: scores of continuations, hidden states, patches.

use crate::{Error, Result};
use std::sync::Arc;

/// What a model thinks of one token.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// Natural logarithm of its probability.
    pub logprob: f32,
    /// How many tokens' logits are strictly above its own, of those that the rank is taken among.
    pub rank: u32,
}

/// A prompt and what might follow it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScoreQuery {
    pub prompt: Vec<u32>,
    pub continuations: Vec<Vec<u32>>,
    /// Of every token, whether ranks count it. None where they count all.
    pub among: Option<Arc<[bool]>>,
}

/// A query whose prompt is read with some hidden states replaced.
#[derive(Clone, Debug, PartialEq)]
pub struct PatchedQuery {
    pub query: ScoreQuery,
    pub patches: Vec<Patch>,
}

/// The scores of every token of every continuation of a query.
pub type ContinuationScores = Vec<Vec<Score>>;

/// A sequence, and where its hidden states are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HiddenQuery {
    pub tokens: Vec<u32>,
    /// Positions in the sequence.
    pub positions: Vec<usize>,
    /// From 0, the embedding, to the number of layers.
    pub layers: Vec<usize>,
}

/// The residual stream at one layer and position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HiddenState {
    pub residual: Vec<f32>,
    /// Its norm with the gain of the layer that reads it.
    pub normed: Vec<f32>,
}

/// The states of one query, `[layer][position]` in the query's order.
pub type LayerStates = Vec<Vec<HiddenState>>;

/// A state to put in the place of the one computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Patch {
    pub layer: usize,
    /// Position in the prompt.
    pub position: usize,
    pub state: HiddenState,
}

/// An error where a layer is not one of the model's.
pub fn check_layers(mut asked: impl Iterator<Item = usize>, layers: usize) -> Result<()> {
    match asked.find(|&layer| layer > layers) {
        Some(layer) => Err(Error::Batch(format!("layer {layer}: layers are 0 (the embedding) to {layers}"))),
        None => Ok(()),
    }
}
