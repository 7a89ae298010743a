//! Unigram and bigram models of the training text: what reachability comes to without any knowledge of the subject.
//!
//! Counted exactly over a fixed number of training rows. The unigram adds one to every count; the bigram adds one
//! pseudo-count spread as the unigram, so that of two tokens never seen after a third the commoner ranks first.

use invitro_model::reading::Score;
use invitro_model::score::{Answer, Question};
use invitro_results::Scorer;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

pub struct Ngrams {
    /// The unigram's probabilities.
    unigram: Vec<f64>,
    /// Per token, how often each other followed it.
    followers: Vec<HashMap<u32, u32>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Unigram,
    Bigram,
}

impl Order {
    pub fn scorer(self) -> Scorer {
        match self {
            Order::Unigram => Scorer::Unigram,
            Order::Bigram => Scorer::Bigram,
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

    /// Answers questions as a model would: a score for every token of every continuation.
    pub fn answer(&self, order: Order, questions: &[Question]) -> Vec<Answer> {
        // The tokens that ranks are taken among: few, since they are a language's.
        let mut all_among: Vec<&Option<Arc<[bool]>>> = Vec::new();
        let mut place = |among| {
            all_among.iter().position(|known| *known == among).unwrap_or_else(|| {
                all_among.push(among);
                all_among.len() - 1
            })
        };
        let places: Vec<usize> = questions.iter().map(|question| place(&question.among)).collect();
        // All pairs first, so that each token's followers are ranked once.
        let mut wanted: BTreeMap<(usize, Option<u32>), BTreeMap<u32, Score>> = BTreeMap::new();
        let context = |before: u32| (order == Order::Bigram).then_some(before);
        for (question, &place) in questions.iter().zip(&places) {
            for continuation in &question.continuations {
                for (before, token) in pairs(question, continuation) {
                    wanted.entry((place, context(before))).or_default().insert(token, Score::default());
                }
            }
        }
        for (&(place, before), tokens) in &mut wanted {
            self.score(before, all_among[place].as_deref(), tokens);
        }
        let of = |(question, &place): (&Question, &usize)| {
            let scores = |continuation: &Vec<u32>| {
                pairs(question, continuation).map(|(before, token)| wanted[&(place, context(before))][&token]).collect()
            };
            question.continuations.iter().map(scores).collect()
        };
        questions.iter().zip(&places).map(of).collect()
    }

    fn score(&self, before: Option<u32>, among: Option<&[bool]>, tokens: &mut BTreeMap<u32, Score>) {
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
fn pairs<'a>(question: &'a Question, continuation: &'a [u32]) -> impl Iterator<Item = (u32, u32)> + 'a {
    let last = question.prompt.last().copied().unwrap_or(0);
    std::iter::once(last).chain(continuation.iter().copied()).zip(continuation.iter().copied())
}
