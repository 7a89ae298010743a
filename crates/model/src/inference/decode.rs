//! Decoding: greedy or sampled, many prompts at once, each row stopping at its `eos`.
//!
//! Sequences share a fixed number of cache regions: when one ends, the next prompt starts in its region. The result does
//! not depend on this: a row's logits depend on its own sequence, and its random number on the seed, the member's model
//! seed, the prompt's key and the position.

use super::forward::{Output, Outputs};
use super::ops::sample_token;
use super::pass::MemberPass;
use crate::shard::Shard;
use crate::{Error, Result};
use invitro_base::random::Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// How a token is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Sampling {
    /// The largest logit, the first of equals.
    Greedy,
    Random {
        seed: u64,
        /// Divides the logits.
        temperature: f64,
        /// Restricts the choice to the k largest logits.
        top_k: Option<usize>,
        /// Restricts the choice to the fewest tokens with this total probability.
        top_p: Option<f64>,
    },
}

/// A prompt and the way to continue it.
#[derive(Clone, Debug, PartialEq)]
pub struct Prompt {
    pub tokens: Vec<u32>,
    pub sampling: Sampling,
    /// The maximum number of new tokens; the context also ends a sequence.
    pub most: usize,
    /// Part of the key of its random numbers; prompts with different keys are independent.
    pub key: u64,
}

/// The continuation of a prompt, without the `eos`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    pub tokens: Vec<u32>,
    /// Whether it ended with `eos`.
    pub ended: bool,
}

/// The most rows of a pass that read prompts.
pub const PROMPT_ROWS: usize = 512;

/// A sequence in progress in a region of the cache.
struct Active {
    prompt: usize,
    /// Tokens in the cache.
    cached: usize,
    decoded: Vec<u32>,
    limit: usize,
}

/// The sequences of one member.
struct DecodingMember<'a> {
    prompts: &'a [Prompt],
    next: usize,
    regions: Vec<Option<Active>>,
    done: Vec<Option<Decoded>>,
}

/// Decodes every prompt of every member of a shard; `seeds` are the members' model seeds.
pub fn decode(shard: &mut dyn Shard, prompts: &[Vec<Prompt>], seeds: &[u64], eos: u32) -> Result<Vec<Vec<Decoded>>> {
    let (context, vocab) = (shard.shape().context, shard.shape().vocab);
    prompts.iter().flatten().try_for_each(|prompt| check(prompt, context))?;
    let longest = prompts.iter().flatten().map(|prompt| prompt.tokens.len()).max().unwrap_or(0);
    let most = prompts.iter().flatten().map(|prompt| prompt.most).max().unwrap_or(0);
    let region = context.min(longest.saturating_add(most));
    let regions = prompts.iter().map(Vec::len).max().unwrap_or(0).min(shard.regions());
    if regions == 0 {
        return Ok(prompts.iter().map(|_| Vec::new()).collect());
    }
    shard.make_room(regions + longest.max(PROMPT_ROWS), regions * region, regions)?;
    let mut members: Vec<DecodingMember> = prompts
        .iter()
        .map(|prompts| DecodingMember {
            prompts,
            next: 0,
            regions: (0..regions).map(|_| None).collect(),
            done: vec![None; prompts.len()],
        })
        .collect();
    let output = output(prompts);
    loop {
        let (parts, order): (Vec<MemberPass>, Vec<Vec<usize>>) = members
            .par_iter_mut()
            .zip(seeds)
            .map(|(member, &seed)| {
                let (mut part, picked) = member.read(region, longest, context);
                if let Output::Sample(_) = output {
                    part.uniforms = picked.iter().map(|&region| member.uniform(region, seed)).collect();
                }
                (part, picked)
            })
            .unzip();
        if parts.iter().all(|part| part.tokens.is_empty()) {
            break;
        }
        let outputs = shard.run(&parts, output)?;
        let taken = members.par_iter_mut().zip(order).zip(outputs).zip(seeds);
        taken.for_each(|(((member, picked), outputs), &seed)| {
            for (pick, region) in picked.into_iter().enumerate() {
                let token = match &outputs {
                    Outputs::Tokens(tokens) => tokens[pick],
                    Outputs::Logits(logits) => {
                        let (prompt, position) = member.place(region);
                        let row = &logits[pick * vocab..][..vocab];
                        let prompt = &member.prompts[prompt];
                        choose(row, &prompt.sampling, [seed, prompt.key, position as u64])
                    }
                    Outputs::Scores(_) => unreachable!("scores were not requested"),
                };
                member.take(region, token, eos);
            }
        });
    }
    Ok(members
        .into_iter()
        .map(|member| {
            // A prompt that fills the context has no room for a new token.
            let none = Decoded { tokens: Vec::new(), ended: false };
            member.done.into_iter().map(|decoded| decoded.unwrap_or_else(|| none.clone())).collect()
        })
        .collect())
}

/// The output to request from the device: tokens if it can choose for all prompts, else logits.
fn output(prompts: &[Vec<Prompt>]) -> Output {
    let mut output = Output::Argmax;
    for prompt in prompts.iter().flatten() {
        let Sampling::Random { temperature, top_k, top_p, .. } = prompt.sampling else { continue };
        let other = output != Output::Argmax && output != Output::Sample(temperature);
        if other || top_k.is_some() || top_p.is_some() {
            return Output::Logits;
        }
        output = Output::Sample(temperature);
    }
    output
}

impl DecodingMember<'_> {
    /// The random number for the next token of a region; below 0 for greedy decoding.
    fn uniform(&self, region: usize, member: u64) -> f32 {
        let (prompt, position) = self.place(region);
        match self.prompts[prompt].sampling {
            Sampling::Greedy => -1.0,
            Sampling::Random { seed, .. } => uniform([seed, member, self.prompts[prompt].key], position as u64),
        }
    }

    /// The next input, and the region of each pick.
    fn read(&mut self, region: usize, longest: usize, context: usize) -> (MemberPass, Vec<usize>) {
        let (mut part, mut picked) = (MemberPass::default(), Vec::new());
        let mut prompt_rows = longest.max(PROMPT_ROWS);
        for (r, slot) in self.regions.iter_mut().enumerate() {
            let base = r * region;
            if slot.is_none() {
                // A sequence may exceed the context by one: its last token is decoded but never read.
                let fits = |p: &Prompt| p.most.min((context + 1).saturating_sub(p.tokens.len()));
                while self.next < self.prompts.len() && fits(&self.prompts[self.next]) == 0 {
                    self.next += 1;
                }
                let next = self.prompts.get(self.next).filter(|p| p.tokens.len() <= prompt_rows);
                let Some(prompt) = next else { continue };
                let cached = prompt.tokens.len();
                prompt_rows -= cached;
                let start = part.push(&prompt.tokens, base, 0, base);
                part.picks.push((start + cached as u32 - 1, 0));
                let limit = fits(prompt);
                *slot = Some(Active { prompt: self.next, cached, decoded: Vec::new(), limit });
                self.next += 1;
                picked.push(r);
            } else if let Some(active) = slot {
                let last = active.decoded[active.decoded.len() - 1];
                let row = part.push(&[last], base, active.cached, base + active.cached);
                part.picks.push((row, 0));
                active.cached += 1;
                picked.push(r);
            }
        }
        (part, picked)
    }

    /// The prompt and position of a region's next token.
    fn place(&self, region: usize) -> (usize, usize) {
        self.regions[region].as_ref().map_or((0, 0), |active| (active.prompt, active.decoded.len()))
    }

    /// Appends a decoded token, and frees the region if it was the last.
    fn take(&mut self, region: usize, token: u32, eos: u32) {
        let slot = &mut self.regions[region];
        let Some(active) = slot else { return };
        if token != eos {
            active.decoded.push(token);
        }
        if token == eos || active.decoded.len() == active.limit {
            let tokens = std::mem::take(&mut active.decoded);
            self.done[active.prompt] = Some(Decoded { tokens, ended: token == eos });
            *slot = None;
        }
    }
}

fn check(prompt: &Prompt, context: usize) -> Result<()> {
    let length = prompt.tokens.len();
    if length == 0 || length > context {
        return Err(Error::Batch(format!("a prompt of {length} tokens: this model takes 1 to {context}")));
    }
    let Sampling::Random { temperature, top_k, top_p, .. } = prompt.sampling else { return Ok(()) };
    if !(temperature > 0.0 && temperature.is_finite()) {
        return Err(Error::Batch(format!("temperature {temperature}: it must be above 0")));
    }
    if top_k == Some(0) {
        return Err(Error::Batch("top_k 0: it must be at least 1".into()));
    }
    match top_p {
        Some(p) if !(p > 0.0 && p <= 1.0) => Err(Error::Batch(format!("top_p {p}: it must be above 0 and at most 1"))),
        _ => Ok(()),
    }
}

/// The random number of a position.
fn uniform(keys: [u64; 3], position: u64) -> f32 {
    // Rounded down, so that the result is below 1.
    let number = Rng::keyed("decode", keys).starting_at(position).uniform();
    (number * f64::from(1 << 24)).floor() as f32 / (1 << 24) as f32
}

/// Chooses a token from a row of logits, by the random number of a member's seed, a prompt's key and a position.
pub fn choose(logits: &[f32], sampling: &Sampling, [member, prompt, position]: [u64; 3]) -> u32 {
    // Ties go to the smaller id, so that "the k largest" is unique.
    let before = |a: &u32, b: &u32| logits[*b as usize].total_cmp(&logits[*a as usize]).then(a.cmp(b));
    let &Sampling::Random { seed, temperature, top_k, top_p } = sampling else {
        return (0..logits.len() as u32).min_by(before).unwrap_or(0);
    };
    let mut candidates: Vec<u32> = (0..logits.len() as u32).collect();
    if let Some(k) = top_k.filter(|&k| k < candidates.len()) {
        candidates.select_nth_unstable_by(k - 1, before);
        candidates.truncate(k);
    }
    if top_p.is_some() {
        candidates.sort_unstable_by(before);
    } else {
        // By id: the selection leaves an arbitrary order.
        candidates.sort_unstable();
    }
    let mut logits: Vec<f32> = candidates.iter().map(|&token| logits[token as usize]).collect();
    if let Some(p) = top_p {
        // The first is the largest.
        let weights: Vec<f64> =
            logits.iter().map(|&l| libm::exp((l as f64 - logits[0] as f64) / temperature)).collect();
        let (mut sum, total) = (0.0, weights.iter().sum::<f64>());
        let enough = weights.iter().position(|w| {
            sum += w;
            sum >= p * total
        });
        logits.truncate(enough.map_or(candidates.len(), |last| last + 1));
    }
    candidates[sample_token(&logits, temperature, uniform([seed, member, prompt], position)) as usize]
}
