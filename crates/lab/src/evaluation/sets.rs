//! Everything a model is asked, made once per data seed and tokenizer.

use super::generation::{self, Prompted};
use super::held_out::HeldOut;
use super::ngrams::{Ngrams, Order};
use super::reach::ReachSet;
use crate::error::Result;
use crate::experiment::Experiment;
use crate::tokenized::TokenizedText;
use invitro_language::{Languages, Symbol, Task};
use invitro_model::decode::{Prompt, Sampling};
use invitro_model::score::Answer;
use std::collections::HashSet;

/// Everything a model of one data seed and tokenizer is asked.
pub struct EvaluationSets {
    /// Of T1, decoded greedily, then of T0 and T2, sampled.
    pub(super) prompts: Vec<Prompted>,
    pub(super) reach: ReachSet,
    pub(super) held_out: HeldOut,
    /// The n-gram models' answers, which do not change as a network trains.
    pub(super) baselines: Vec<(Order, Vec<Answer>)>,
    temperature: f64,
    pub(super) kept: usize,
}

impl EvaluationSets {
    pub fn new(experiment: &Experiment, languages: &Languages, text: &TokenizedText) -> Result<EvaluationSets> {
        let (eval, context) = (&experiment.eval, experiment.model.context);
        let mut prompts = generation::prompts(languages, text, Task::T1, eval.sentences, context)?;
        for task in [Task::T0, Task::T2] {
            prompts.extend(generation::prompts(languages, text, task, eval.samples, context)?);
        }
        let reach = ReachSet::new(languages, text, eval, text.vocab());
        let rows = text.training_rows(experiment, languages, eval.ngram_rows)?;
        let counted = Ngrams::count(text.vocab(), rows.iter().map(Vec::as_slice));
        let questions = reach.questions();
        let orders = [Order::Unigram, Order::Bigram];
        let baselines = orders.map(|order| (order, counted.answer(order, &questions))).into();
        let held_out = HeldOut::new(languages, text, &experiment.mixture, eval.losses, context)?;
        Ok(EvaluationSets { prompts, reach, held_out, baselines, temperature: eval.temperature, kept: eval.kept })
    }

    /// The masked words that reachability asks for.
    pub fn asked(&self) -> HashSet<Symbol> {
        self.reach.asked()
    }

    /// What to decode: T1 greedily, T0 and T2 at random, anew at every step. An unscrambled sentence has the words of
    /// its prompt, so one that is much longer is none; a free one may be as long as any.
    pub(super) fn ask(&self, step: u64) -> Vec<Prompt> {
        let random = Sampling::Random { seed: step, temperature: self.temperature, top_k: None, top_p: None };
        let longest = self.prompts.iter().map(|prompted| prompted.answer).max().unwrap_or(0);
        let ask = |prompted: &Prompted| {
            let (sampling, length) = match prompted.sequence.task {
                Task::T1 => (Sampling::Greedy, prompted.answer + SLACK),
                Task::T0 | Task::T2 => (random, longest),
            };
            Prompt { tokens: prompted.tokens.clone(), sampling, most: length + length / 4 }
        };
        self.prompts.iter().map(ask).collect()
    }
}

/// Tokens that an unscrambled sentence may be longer than it should, beside a quarter.
const SLACK: usize = 8;
