//! Unigram and bigram models of the training text: what reachability comes to without any knowledge of the subject.
//!
//! Counted exactly over a fixed number of training rows. The unigram adds one to every count; the bigram adds one
//! pseudo-count spread as the unigram, so that of two tokens never seen after a third the commoner ranks first.

use super::{Answers, Probe, Queries, Record, Setup};
use crate::error::Result;
use invitro_model::{ContinuationScores, Score, ScoreQuery};
use invitro_results::{Row, Scorer};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The rows that n-gram models give the probes before this one. They do not change as a network trains.
struct NgramProbe {
    rows: Vec<Row>,
}

pub(super) fn probe(setup: &Setup) -> Result<Option<Arc<dyn Probe>>> {
    let Setup { experiment, languages, text, probes, .. } = setup;
    let training = text.training_rows(experiment, languages, experiment.eval.ngram_rows)?;
    let ngrams = Ngrams::count(text.rows(), training.iter().map(Vec::as_slice));
    let scored: Vec<(&Arc<dyn Probe>, Vec<ScoreQuery>)> = probes
        .iter()
        .map(|probe| (probe, probe.queries(0).scores))
        .filter(|(_, queries)| !queries.is_empty())
        .collect();
    let mut rows = Vec::new();
    for order in [NgramOrder::Unigram, NgramOrder::Bigram] {
        let mut record = Record { scorer: order.scorer(), ..Record::new(0, languages, text, true) };
        for (probe, queries) in &scored {
            let answers = Answers { scores: ngrams.score(order, queries), ..Answers::default() };
            probe.record(&answers, &mut record);
        }
        rows.extend(record.rows.list);
    }
    Ok(Some(Arc::new(NgramProbe { rows })))
}

impl Probe for NgramProbe {
    fn queries(&self, _step: u64) -> Queries {
        Queries::default()
    }

    fn record(&self, _answers: &Answers, record: &mut Record) {
        if record.with_baselines {
            let step = record.step;
            record.rows.list.extend(self.rows.iter().map(|row| Row { step, ..row.clone() }));
        }
    }
}

pub struct Ngrams {
    /// The unigram's probabilities.
    unigram: Vec<f64>,
    /// Per token, how often each other followed it.
    followers: Vec<HashMap<u32, u32>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NgramOrder {
    Unigram,
    Bigram,
}

impl NgramOrder {
    pub fn scorer(self) -> Scorer {
        match self {
            NgramOrder::Unigram => Scorer::Unigram,
            NgramOrder::Bigram => Scorer::Bigram,
        }
    }
}

impl Ngrams {
    /// Counts the tokens that a model of `vocab` tokens has to predict.
    pub fn count<'a>(vocab: usize, sequences: impl Iterator<Item = &'a [u32]>) -> Ngrams {
        let mut counts = vec![0u64; vocab];
        let mut followers = vec![HashMap::new(); vocab];
        for sequence in sequences {
            for pair in sequence.windows(2) {
                counts[pair[1] as usize] += 1;
                *followers[pair[0] as usize].entry(pair[1]).or_default() += 1;
            }
        }
        let total = counts.iter().sum::<u64>() + vocab as u64;
        let unigram = counts.iter().map(|&count| (count + 1) as f64 / total as f64).collect();
        Ngrams { unigram, followers }
    }

    /// Scores every token of every continuation, as a model would.
    pub fn score(&self, order: NgramOrder, queries: &[ScoreQuery]) -> Vec<ContinuationScores> {
        // The tokens that ranks are taken among: few, since they are a language's.
        let mut all_among: Vec<&Option<Arc<[bool]>>> = Vec::new();
        let mut place = |among| {
            all_among.iter().position(|known| *known == among).unwrap_or_else(|| {
                all_among.push(among);
                all_among.len() - 1
            })
        };
        let places: Vec<usize> = queries.iter().map(|query| place(&query.among)).collect();
        // All pairs first, so that each token's followers are ranked once.
        let mut wanted: BTreeMap<(usize, Option<u32>), BTreeMap<u32, Score>> = BTreeMap::new();
        let context = |before: u32| (order == NgramOrder::Bigram).then_some(before);
        for (query, &place) in queries.iter().zip(&places) {
            for continuation in &query.continuations {
                for (before, token) in pairs(query, continuation) {
                    wanted.entry((place, context(before))).or_default().insert(token, Score::default());
                }
            }
        }
        for (&(place, before), tokens) in &mut wanted {
            self.score_after(before, all_among[place].as_deref(), tokens);
        }
        let scores_of = |(query, &place): (&ScoreQuery, &usize)| {
            let scores = |continuation: &Vec<u32>| {
                pairs(query, continuation).map(|(before, token)| wanted[&(place, context(before))][&token]).collect()
            };
            query.continuations.iter().map(scores).collect()
        };
        queries.iter().zip(&places).map(scores_of).collect()
    }

    fn score_after(&self, before: Option<u32>, among: Option<&[bool]>, tokens: &mut BTreeMap<u32, Score>) {
        let mut row = self.unigram.clone();
        if let Some(followers) = before.map(|before| &self.followers[before as usize]) {
            let total = 1.0 + followers.values().map(|&count| f64::from(count)).sum::<f64>();
            for (&token, &count) in followers {
                row[token as usize] += f64::from(count);
            }
            row.iter_mut().for_each(|weight| *weight /= total);
        }
        let mut falling = match among {
            None => row.clone(),
            Some(among) => row.iter().zip(among).filter(|(_, counts)| **counts).map(|(weight, _)| *weight).collect(),
        };
        falling.sort_unstable_by(|a, b| b.total_cmp(a));
        for (&token, score) in tokens {
            let own = row[token as usize];
            *score = Score { logprob: own.ln() as f32, rank: falling.partition_point(|&other| other > own) as u32 };
        }
    }
}

/// Every token of a continuation with the one before it.
fn pairs<'a>(query: &'a ScoreQuery, continuation: &'a [u32]) -> impl Iterator<Item = (u32, u32)> + 'a {
    let last = query.prompt.last().copied().unwrap_or(0);
    std::iter::once(last).chain(continuation.iter().copied()).zip(continuation.iter().copied())
}
