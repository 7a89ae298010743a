//! Decoding and scoring with a model that is known by its logits alone. Queries and the choice of tokens are those of our
//! own models; every sequence is read from its beginning, without a cache.

use crate::error::Result;
use invitro_model::inference::decode::choose;
use invitro_model::{ContinuationScores, Decoded, Prompt, Score, ScoreQuery};
use invitro_tokenizer::special::{EOS, PAD};

/// A sequence, and the token after which the next token's logits are wanted.
pub struct Pick {
    pub sequence: u32,
    pub position: u32,
}

pub trait Logits {
    /// Tokens of the vocabulary.
    fn vocab(&self) -> usize;
    /// The logits of every pick, one after the other. `ids` are sequences of `length`, those that are shorter filled up
    /// behind their end.
    fn logits(&mut self, ids: &[u32], length: usize, picks: &[Pick]) -> Result<Vec<f32>>;
}

/// Tokens that are read at once, and logits that come back.
const TOKENS: usize = 1 << 14;
const VALUES: usize = 1 << 24;

/// A sequence, and from which of its tokens on the next ones' logits are wanted.
struct LogitQuery {
    tokens: Vec<u32>,
    from: usize,
}

/// Reads sequences, those of a length together, and hands over each one's rows of logits.
fn read(model: &mut impl Logits, reads: &[LogitQuery], mut take: impl FnMut(usize, &[f32])) -> Result<()> {
    let vocab = model.vocab();
    let mut order: Vec<usize> = (0..reads.len()).collect();
    order.sort_by_key(|&at| reads[at].tokens.len());
    let mut unread = &order[..];
    while !unread.is_empty() {
        let (mut count, mut values) = (0, 0);
        for &at in unread {
            values += (reads[at].tokens.len() - reads[at].from) * vocab;
            if count > 0 && (values > VALUES || (count + 1) * reads[at].tokens.len() > TOKENS) {
                break;
            }
            count += 1;
        }
        let (now, later) = unread.split_at(count);
        let length = reads[now[count - 1]].tokens.len();
        let (mut ids, mut picks) = (vec![PAD; count * length], Vec::new());
        for (sequence, &at) in now.iter().enumerate() {
            let LogitQuery { tokens, from } = &reads[at];
            ids[sequence * length..][..tokens.len()].copy_from_slice(tokens);
            let pick = |position: usize| Pick { sequence: sequence as u32, position: position as u32 };
            picks.extend((*from..tokens.len()).map(pick));
        }
        let logits = model.logits(&ids, length, &picks)?;
        let mut start = 0;
        for &at in now {
            let values = (reads[at].tokens.len() - reads[at].from) * vocab;
            take(at, &logits[start..start + values]);
            start += values;
        }
        unread = later;
    }
    Ok(())
}

/// Scores every token of every continuation.
pub fn score(model: &mut impl Logits, queries: &[ScoreQuery]) -> Result<Vec<ContinuationScores>> {
    let vocab = model.vocab();
    let (mut reads, mut places) = (Vec::new(), Vec::new());
    for (q, query) in queries.iter().enumerate() {
        for (c, continuation) in query.continuations.iter().enumerate().filter(|(_, tokens)| !tokens.is_empty()) {
            let but_last = &continuation[..continuation.len() - 1];
            reads.push(LogitQuery { tokens: [&query.prompt, but_last].concat(), from: query.prompt.len() - 1 });
            places.push((q, c));
        }
    }
    let mut scores: Vec<ContinuationScores> = queries.iter().map(|q| vec![Vec::new(); q.continuations.len()]).collect();
    read(model, &reads, |at, logits| {
        let (q, c) = places[at];
        let rows = logits.chunks(vocab).zip(&queries[q].continuations[c]);
        scores[q][c] = rows.map(|(row, &token)| score_of(row, token, queries[q].among.as_deref())).collect();
    })?;
    Ok(scores)
}

fn score_of(logits: &[f32], token: u32, among: Option<&[bool]>) -> Score {
    let own = logits[token as usize];
    let max = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = logits.iter().map(|&logit| f64::from(logit - max).exp()).sum();
    let counts = |id: usize| among.is_none_or(|among| among[id]);
    let rank = logits.iter().enumerate().filter(|&(id, &logit)| logit > own && counts(id)).count();
    Score { logprob: (f64::from(own - max) - sum.ln()) as f32, rank: rank as u32 }
}

/// Continues every prompt.
pub fn decode(model: &mut impl Logits, prompts: &[Prompt], context: usize, seed: u64) -> Result<Vec<Decoded>> {
    let mut decoded = vec![Decoded { tokens: Vec::new(), ended: false }; prompts.len()];
    // A sequence may grow to the context: its last token is decoded but never read.
    let limit = |prompt: &Prompt| prompt.most.min((context + 1).saturating_sub(prompt.tokens.len()));
    let mut active: Vec<usize> = (0..prompts.len()).filter(|&at| limit(&prompts[at]) > 0).collect();
    while !active.is_empty() {
        let read_of = |&at: &usize| {
            let tokens = [&prompts[at].tokens[..], &decoded[at].tokens].concat();
            LogitQuery { from: tokens.len() - 1, tokens }
        };
        let reads: Vec<LogitQuery> = active.iter().map(read_of).collect();
        read(model, &reads, |read, logits| {
            let at = active[read];
            let position = decoded[at].tokens.len() as u64;
            match choose(logits, &prompts[at].sampling, [seed, prompts[at].key, position]) {
                EOS => decoded[at].ended = true,
                token => decoded[at].tokens.push(token),
            }
        })?;
        active.retain(|&at| !decoded[at].ended && decoded[at].tokens.len() < limit(&prompts[at]));
    }
    Ok(decoded)
}
