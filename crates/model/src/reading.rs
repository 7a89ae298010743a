//! Forward-only work: rows that read a cache of keys and values, and what is wanted of their logits.
//!
//! Decoding adds one row per sequence and step, each seeing its own sequence's slots. Scoring lets many short
//! continuations see the slots of one shared prompt, which is computed once.

use crate::ops::Ops;
use crate::{Result, Tensor};
use rayon::prelude::*;
use std::sync::Arc;

/// Consecutive rows of a member. Row i stands at position `prefix_len` + i. It sees the slots
/// `prefix .. prefix + prefix_len`, and of its own span `slot ..= slot + i`; its key and value go to `slot` + i.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct CachedSpan {
    pub start: u32,
    pub len: u32,
    pub prefix: u32,
    pub prefix_len: u32,
    pub slot: u32,
}

/// What all members of a population read in one forward-only pass.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    pub members: usize,
    /// Rows per member, filler included; filler belongs to no span, and anything may come out of it.
    pub rows: usize,
    /// `[members, rows]`
    pub tokens: Vec<u32>,
    /// Per member.
    pub spans: Vec<Vec<CachedSpan>>,
    /// Rows per member that are not filler.
    pub real: Vec<usize>,
    /// Rows per member whose logits are wanted, filler included.
    pub picks: usize,
    /// `[members, picks]`, 0 in filler.
    pub pick_rows: Vec<u32>,
    /// `[members, picks]`: the token whose score is wanted, 0 where none is.
    pub pick_targets: Vec<u32>,
    /// `[members, picks]`: the set of tokens that a pick's rank is taken among, from 1 on in the order of `sets`; 0 for
    /// all tokens.
    pub pick_sets: Vec<u32>,
    /// `[sets, ⌈vocab / 32⌉]`: a bit per token, the lowest first.
    pub sets: Vec<u32>,
    pub real_picks: Vec<usize>,
}

/// One member's part of a [`Reading`].
#[derive(Clone, Debug, Default)]
pub struct MemberReading {
    pub tokens: Vec<u32>,
    pub spans: Vec<CachedSpan>,
    /// Row and token.
    pub picks: Vec<(u32, u32)>,
    /// Per pick, of every token, whether its rank counts it; None where it counts all. Empty where all picks do.
    pub among: Vec<Option<Arc<[bool]>>>,
    /// For picks that are drawn at random: a number in [0, 1) each, or one below 0 for the largest logit.
    pub uniforms: Vec<f32>,
}

impl MemberReading {
    /// Adds a span that reads `tokens`; returns its first row.
    pub fn push(&mut self, tokens: &[u32], prefix: usize, prefix_len: usize, slot: usize) -> u32 {
        let start = self.tokens.len() as u32;
        self.tokens.extend_from_slice(tokens);
        self.spans.push(CachedSpan {
            start,
            len: tokens.len() as u32,
            prefix: prefix as u32,
            prefix_len: prefix_len as u32,
            slot: slot as u32,
        });
        start
    }
}

impl Reading {
    /// Members side by side, rows and picks rounded up to multiples of `round`.
    pub fn pack(parts: &[MemberReading], round: usize) -> Self {
        let most = |count: fn(&MemberReading) -> usize| {
            parts.iter().map(count).max().unwrap_or(0).max(1).next_multiple_of(round)
        };
        let (rows, picks) = (most(|part| part.tokens.len()), most(|part| part.picks.len()));
        let mut reading = Reading {
            members: parts.len(),
            rows,
            tokens: vec![0; parts.len() * rows],
            spans: parts.iter().map(|part| part.spans.clone()).collect(),
            real: parts.iter().map(|part| part.tokens.len()).collect(),
            picks,
            pick_rows: vec![0; parts.len() * picks],
            pick_targets: vec![0; parts.len() * picks],
            pick_sets: vec![0; parts.len() * picks],
            sets: Vec::new(),
            real_picks: parts.iter().map(|part| part.picks.len()).collect(),
        };
        for (member, part) in parts.iter().enumerate() {
            reading.tokens[member * rows..][..part.tokens.len()].copy_from_slice(&part.tokens);
            for (i, &(row, target)) in part.picks.iter().enumerate() {
                reading.pick_rows[member * picks + i] = row;
                reading.pick_targets[member * picks + i] = target;
            }
        }
        reading.pack_sets(parts);
        reading
    }

    /// Each set once, however many picks name it.
    fn pack_sets(&mut self, parts: &[MemberReading]) {
        let mut known: Vec<&Arc<[bool]>> = Vec::new();
        for (member, part) in parts.iter().enumerate() {
            for (i, among) in part.among.iter().enumerate() {
                let Some(among) = among else { continue };
                let same = |other: &&Arc<[bool]>| Arc::ptr_eq(other, among);
                let set = known.iter().position(same).unwrap_or_else(|| {
                    let word = |tokens: &[bool]| tokens.iter().rev().fold(0, |word, &counts| word << 1 | counts as u32);
                    self.sets.extend(among.chunks(32).map(word));
                    known.push(among);
                    known.len() - 1
                });
                self.pick_sets[member * self.picks + i] = set as u32 + 1;
            }
        }
    }
}

/// The tokens that a pick's rank is taken among, if not all: its number in [`Reading::pick_sets`], and [`Reading::sets`].
pub fn set_of(pick_set: u32, sets: &[u32], vocab: usize) -> Option<&[u32]> {
    let words = vocab.div_ceil(32);
    (pick_set as usize).checked_sub(1).map(|set| &sets[set * words..][..words])
}

/// What a model thinks of one token.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// Natural logarithm of its probability.
    pub logprob: f32,
    /// How many tokens' logits are strictly above its own, of those that the rank is taken among.
    pub rank: u32,
}

/// The token at which the probabilities of `logits` at a temperature add up to more than `uniform`; the first of the
/// largest if that is below 0.
pub fn drawn(logits: &[f32], temperature: f64, uniform: f32) -> u32 {
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

/// The operations that forward-only work needs beyond [`Ops`].
pub trait InferOps: Ops {
    /// The logits of picks; a device may keep these finer than its activations, so that close ones do not tie.
    type Logits;

    /// Makes `reading` the batch that the operations work on.
    fn load_reading(&mut self, reading: &Reading) -> Result<()>;

    /// Stores every row's rotated key and its value in `cache`, `[members, slots, 2 · width]`, then lets every row
    /// attend. So a span's prefix may be computed in the same pass.
    fn attention_cached(
        &mut self,
        qkv: &Self::Buf,
        cache: &mut Self::Buf,
        slots: usize,
        out: &mut Self::Buf,
    ) -> Result<()>;

    /// out = the picked rows of `x`. From here to the next load, rows are the picks.
    fn select(&mut self, x: &Self::Buf, out: &mut Self::Buf) -> Result<()>;

    fn logits_buf(&mut self, elements: usize) -> Result<Self::Logits>;

    /// logits = x · weightᵀ
    fn head(&mut self, x: &Self::Buf, weight: Tensor, logits: &mut Self::Logits) -> Result<()>;

    /// The first of the largest logits of every pick, `[members, picks]`.
    fn argmax(&mut self, logits: &Self::Logits) -> Result<Vec<u32>>;

    /// The score of every pick's target, `[members, picks]`.
    fn scores(&mut self, logits: &Self::Logits) -> Result<Vec<Score>>;

    /// A token of every pick, drawn with the probabilities that its logits have at a temperature: the first at which
    /// they add up to more than its number in `uniforms`, `[members, picks]`. A number below 0 takes the first of the
    /// largest logits instead.
    fn draw(&mut self, logits: &Self::Logits, temperature: f64, uniforms: &[f32]) -> Result<Vec<u32>> {
        let vocab = self.shape().vocab;
        let logits = self.fetch_logits(logits)?;
        Ok(logits.par_chunks(vocab).zip(uniforms).map(|(row, &uniform)| drawn(row, temperature, uniform)).collect())
    }

    /// The logits themselves, `[members, picks, vocab]`.
    fn fetch_logits(&mut self, logits: &Self::Logits) -> Result<Vec<f32>>;
}
