//! Decoding and scoring with a model that is known by its logits alone. Queries and the choice of tokens are those of our
//! own models. Prompts are continued through the model's key-value cache where it has one; else every sequence is read from
//! its beginning.

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
    /// Reads prompts into a new cache; the logits after each. Nothing where the model has no cache.
    fn prefill(&mut self, _prompts: Vec<&[u32]>) -> Result<Option<Vec<f32>>> {
        Ok(None)
    }
    /// Keeps these of the cache's rows, appends a token to each, and returns the logits after it.
    fn extend(&mut self, _rows: Vec<usize>, _tokens: Vec<u32>) -> Result<Vec<f32>> {
        Ok(Vec::new())
    }
}

/// Tokens that are read at once, and logits that come back.
const TOKENS: usize = 1 << 14;
const VALUES: usize = 1 << 24;
/// Tokens that a cache holds.
const CACHED: usize = 1 << 15;

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

struct Decoding<'a> {
    prompts: &'a [Prompt],
    context: usize,
    seed: u64,
    vocab: usize,
    decoded: Vec<Decoded>,
}

/// Continues every prompt.
pub fn decode(model: &mut impl Logits, prompts: &[Prompt], context: usize, seed: u64) -> Result<Vec<Decoded>> {
    let decoded = vec![Decoded { tokens: Vec::new(), ended: false }; prompts.len()];
    let mut decoding = Decoding { prompts, context, seed, vocab: model.vocab(), decoded };
    let mut order: Vec<usize> = (0..prompts.len()).filter(|&at| decoding.limit(at) > 0).collect();
    order.sort_by_key(|&at| decoding.longest(at));
    let mut waiting = &order[..];
    while !waiting.is_empty() {
        let fits = |&rows: &usize| rows * decoding.longest(waiting[rows - 1]) <= CACHED;
        let (now, later) = waiting.split_at((1..=waiting.len()).take_while(fits).last().unwrap_or(1));
        decoding.decode(model, now.to_vec())?;
        waiting = later;
    }
    Ok(decoding.decoded)
}

impl Decoding<'_> {
    /// Tokens that a prompt may be continued by. A sequence may grow to the context: its last token is never read.
    fn limit(&self, at: usize) -> usize {
        let Prompt { most, tokens, .. } = &self.prompts[at];
        (*most).min((self.context + 1).saturating_sub(tokens.len()))
    }

    fn longest(&self, at: usize) -> usize {
        self.prompts[at].tokens.len() + self.limit(at)
    }

    fn decode(&mut self, model: &mut impl Logits, mut rows: Vec<usize>) -> Result<()> {
        let prompts = rows.iter().map(|&at| &self.prompts[at].tokens[..]).collect();
        let Some(mut logits) = model.prefill(prompts)? else { return self.decode_without_cache(model, rows) };
        loop {
            for (&at, logits) in rows.iter().zip(logits.chunks(self.vocab)) {
                self.take(at, logits);
            }
            let active: Vec<usize> = (0..rows.len()).filter(|&row| self.is_active(rows[row])).collect();
            if active.is_empty() {
                return Ok(());
            }
            rows = active.iter().map(|&row| rows[row]).collect();
            let last = |&at: &usize| self.decoded[at].tokens.last().copied().unwrap_or(PAD);
            logits = model.extend(active, rows.iter().map(last).collect())?;
        }
    }

    fn decode_without_cache(&mut self, model: &mut impl Logits, mut rows: Vec<usize>) -> Result<()> {
        while !rows.is_empty() {
            let read_of = |&at: &usize| {
                let tokens = [&self.prompts[at].tokens[..], &self.decoded[at].tokens].concat();
                LogitQuery { from: tokens.len() - 1, tokens }
            };
            let reads: Vec<LogitQuery> = rows.iter().map(read_of).collect();
            read(model, &reads, |read, logits| self.take(rows[read], logits))?;
            rows.retain(|&at| self.is_active(at));
        }
        Ok(())
    }

    /// Chooses the next token.
    fn take(&mut self, at: usize, logits: &[f32]) {
        let Decoded { tokens, ended } = &mut self.decoded[at];
        match choose(logits, &self.prompts[at].sampling, [self.seed, self.prompts[at].key, tokens.len() as u64]) {
            EOS => *ended = true,
            token => tokens.push(token),
        }
    }

    fn is_active(&self, at: usize) -> bool {
        !self.decoded[at].ended && self.decoded[at].tokens.len() < self.limit(at)
    }
}
