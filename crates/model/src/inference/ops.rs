//! The operations of forward-only passes.

use super::pass::Pass;
use super::queries::Score;
use crate::ops::Ops;
use crate::{Result, Tensor};
use rayon::prelude::*;

/// The first token at which the cumulative probability of `logits` at a temperature exceeds `uniform`; the argmax if
/// `uniform` is below 0.
pub fn sample_token(logits: &[f32], temperature: f64, uniform: f32) -> u32 {
    let max = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    if uniform < 0.0 {
        return logits.iter().position(|&logit| logit == max).unwrap_or(0) as u32;
    }
    let max = max as f64;
    let weight = |&logit: &f32| libm::exp((logit as f64 - max) / temperature);
    let mut left = uniform as f64 * logits.iter().map(weight).sum::<f64>();
    let found = logits.iter().position(|logit| {
        left -= weight(logit);
        left < 0.0
    });
    found.unwrap_or(logits.len() - 1) as u32
}

/// The operations of inference beyond [`Ops`].
pub trait InferOps: Ops {
    /// The logits of picks; a device may store these with more precision than activations, to avoid ties.
    type Logits;

    /// Loads a pass for the following operations.
    fn load_pass(&mut self, pass: &Pass) -> Result<()>;

    /// Stores every row's rotated key and its value in `cache`, `[members, slots, 2 · width]`, then computes attention. So
    /// a span's prefix may be computed in the same pass.
    fn attention_cached(
        &mut self,
        qkv: &Self::Buf,
        cache: &mut Self::Buf,
        slots: usize,
        out: &mut Self::Buf,
    ) -> Result<()>;

    /// out = the picked rows of `x`. Until the next load, the rows are the picks.
    fn select(&mut self, x: &Self::Buf, out: &mut Self::Buf) -> Result<()>;

    fn logits_buf(&mut self, elements: usize) -> Result<Self::Logits>;

    /// logits = x · weightᵀ
    fn head(&mut self, x: &Self::Buf, weight: Tensor, logits: &mut Self::Logits) -> Result<()>;

    /// The argmax of every pick, `[members, picks]`.
    fn argmax(&mut self, logits: &Self::Logits) -> Result<Vec<u32>>;

    /// The score of every pick's target, `[members, picks]`.
    fn scores(&mut self, logits: &Self::Logits) -> Result<Vec<Score>>;

    /// Samples a token of every pick at a temperature, as [`sample_token`], by `uniforms`, `[members, picks]`.
    fn draw(&mut self, logits: &Self::Logits, temperature: f64, uniforms: &[f32]) -> Result<Vec<u32>> {
        let vocab = self.shape().vocab;
        let logits = self.fetch_logits(logits)?;
        Ok(logits
            .par_chunks(vocab)
            .zip(uniforms)
            .map(|(row, &uniform)| sample_token(row, temperature, uniform))
            .collect())
    }

    /// Copies the logits to the host, `[members, picks, vocab]`.
    fn fetch_logits(&mut self, logits: &Self::Logits) -> Result<Vec<f32>>;

    /// The given rows of `x`, of `width` numbers each; rows are numbered over all members.
    fn read_rows(&mut self, x: &Self::Buf, rows: &[usize]) -> Result<Vec<f32>>;

    /// Overwrites the given rows of `x`.
    fn write_rows(&mut self, x: &mut Self::Buf, rows: &[usize], values: &[f32]) -> Result<()>;
}
