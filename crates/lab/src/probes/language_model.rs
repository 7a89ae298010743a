//! The models that probes ask: a population of ours, or anyone's model.

use super::by_logits::{self, Logits};
use crate::error::{Error, Result};
use invitro_model::inference::{HiddenQuery, LayerStates, PatchedQuery};
use invitro_model::{
    ContinuationScores, Decoded, Layout, Loss, Population, Prompt, ScoreQuery, Shape, Tensor, TokenSequence, Vector,
};
use invitro_results::Measure;
use invitro_tokenizer::special::EOS;
use rayon::prelude::*;

/// One or more models. Queries come with an entry for each, and so do answers.
pub trait LanguageModel {
    /// Tokens that a sequence may have.
    fn context(&self) -> usize;
    /// Continues every prompt.
    fn decode(&mut self, prompts: &[Vec<Prompt>]) -> Result<Vec<Vec<Decoded>>>;
    /// Scores every token of every continuation.
    fn score(&mut self, queries: &[Vec<ScoreQuery>]) -> Result<Vec<Vec<ContinuationScores>>>;
    /// The loss of a batch of sequences.
    fn losses(&mut self, sequences: &[Vec<TokenSequence>]) -> Result<Vec<Loss>>;
    /// The hidden states at layers and positions; an error where the model gives none.
    fn hidden(&mut self, _queries: &[Vec<HiddenQuery>]) -> Result<Vec<Vec<LayerStates>>> {
        Err(Error::NoHiddenStates)
    }
    /// Scores as [`LanguageModel::score`] does, with hidden states replaced.
    fn score_patched(&mut self, _queries: &[Vec<PatchedQuery>]) -> Result<Vec<Vec<ContinuationScores>>> {
        Err(Error::NoHiddenStates)
    }
    /// The gradients of a batch of sequences, layer by layer, without those of embedding and head.
    fn gradients(&mut self, _sequences: &[Vec<TokenSequence>]) -> Result<Vec<LayerGradients>> {
        Err(Error::NoHiddenStates)
    }
    /// The weights of one model.
    fn weights(&mut self, _member: usize) -> Result<ModelWeights> {
        Err(Error::NoHiddenStates)
    }
    /// Whether its answers are enough for a measure. Rows of other measures are left out.
    fn measures(&self, _measure: Measure) -> bool {
        true
    }
}

impl LanguageModel for Population {
    fn context(&self) -> usize {
        self.shape().context
    }

    fn decode(&mut self, prompts: &[Vec<Prompt>]) -> Result<Vec<Vec<Decoded>>> {
        Ok(Population::decode(self, prompts, EOS)?)
    }

    fn score(&mut self, queries: &[Vec<ScoreQuery>]) -> Result<Vec<Vec<ContinuationScores>>> {
        Ok(Population::score(self, queries)?)
    }

    fn losses(&mut self, sequences: &[Vec<TokenSequence>]) -> Result<Vec<Loss>> {
        Ok(self.evaluate(sequences)?)
    }

    fn hidden(&mut self, queries: &[Vec<HiddenQuery>]) -> Result<Vec<Vec<LayerStates>>> {
        Ok(Population::hidden(self, queries)?)
    }

    fn score_patched(&mut self, queries: &[Vec<PatchedQuery>]) -> Result<Vec<Vec<ContinuationScores>>> {
        Ok(Population::score_patched(self, queries)?)
    }

    fn gradients(&mut self, sequences: &[Vec<TokenSequence>]) -> Result<Vec<LayerGradients>> {
        let layout = Layout::new(self.shape());
        let of_layer = |gradient: &[f32], layer: usize| -> Vec<f32> {
            layout.of_layer(layer).into_iter().flat_map(|(_, tensor)| &gradient[tensor.range()]).copied().collect()
        };
        let by_layer = |gradient: &Vec<f32>| (0..layout.layers.len()).map(|layer| of_layer(gradient, layer)).collect();
        Ok(Population::gradients(self, sequences)?.par_iter().map(by_layer).collect())
    }

    fn weights(&mut self, member: usize) -> Result<ModelWeights> {
        let (shape, layout) = (self.shape().clone(), Layout::new(self.shape()));
        Ok(ModelWeights { shape, layout, values: self.read(member, Vector::Weights)? })
    }
}

/// The gradients of a model's parameters, layer by layer.
pub type LayerGradients = Vec<Vec<f32>>;

/// The weights of a model.
pub struct ModelWeights {
    pub shape: Shape,
    layout: Layout,
    values: Vec<f32>,
}

impl ModelWeights {
    /// The input row of a piece.
    pub fn input(&self, piece: usize) -> &[f32] {
        self.row(self.layout.embed, piece)
    }

    /// The output row of a piece.
    pub fn output(&self, piece: usize) -> &[f32] {
        self.row(self.layout.head.weight, piece)
    }

    /// The gain of the last norm.
    pub fn last_gain(&self) -> &[f32] {
        self.row(self.layout.norm.gain, 0)
    }

    /// The bias of the last norm, if that is a LayerNorm.
    pub fn last_bias(&self) -> Option<&[f32]> {
        self.layout.norm.bias.map(|bias| self.row(bias, 0))
    }

    fn row(&self, matrix: Tensor, row: usize) -> &[f32] {
        &self.values[matrix.range()][row * matrix.cols..][..matrix.cols]
    }
}

/// A model known by its logits.
pub struct ByLogits<L> {
    pub logits: L,
    pub context: usize,
    /// Keys its random numbers, as a model seed does.
    pub seed: u64,
}

impl<L: Logits> LanguageModel for ByLogits<L> {
    fn context(&self) -> usize {
        self.context
    }

    fn decode(&mut self, prompts: &[Vec<Prompt>]) -> Result<Vec<Vec<Decoded>>> {
        prompts.iter().map(|own| by_logits::decode(&mut self.logits, own, self.context, self.seed)).collect()
    }

    fn score(&mut self, queries: &[Vec<ScoreQuery>]) -> Result<Vec<Vec<ContinuationScores>>> {
        queries.iter().map(|own| by_logits::score(&mut self.logits, own)).collect()
    }

    fn losses(&mut self, sequences: &[Vec<TokenSequence>]) -> Result<Vec<Loss>> {
        let score = |logits: &mut L, own| losses_by_scores(own, |queries| by_logits::score(logits, queries));
        sequences.iter().map(|own| score(&mut self.logits, own)).collect()
    }
}

/// The loss of sequences from the log-probabilities of their tokens, by their groups. The first token is given.
pub fn losses_by_scores(
    sequences: &[TokenSequence],
    score: impl FnOnce(&[ScoreQuery]) -> Result<Vec<ContinuationScores>>,
) -> Result<Loss> {
    let query = |sequence: &TokenSequence| ScoreQuery {
        prompt: sequence.tokens[..1].to_vec(),
        continuations: vec![sequence.tokens[1..].to_vec()],
        among: None,
    };
    let scores = score(&sequences.iter().map(query).collect::<Vec<_>>())?;
    let groups = sequences.iter().map(|sequence| usize::from(sequence.group) + 1).max().unwrap_or(0);
    let mut loss = Loss { sum: vec![0.0; groups], count: vec![0; groups], grad_norm: 0.0 };
    for (sequence, scores) in sequences.iter().zip(scores) {
        let (group, scores) = (usize::from(sequence.group), &scores[0]);
        loss.sum[group] -= scores.iter().map(|score| f64::from(score.logprob)).sum::<f64>();
        loss.count[group] += scores.len() as u64;
    }
    Ok(loss)
}
