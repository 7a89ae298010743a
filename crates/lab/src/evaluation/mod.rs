//! Evaluation: what a population knows at a step.
//!
//! - [`generation`]: tasks T0, T1 and T2 in the conditions A, B and B†
//! - [`reach`]: top-K reachability, its target sets and contrasts; [`ngrams`]: its nulls
//! - [`held_out`]: the loss on held-out sequences, and the entropy floor under it
//!
//! The sets are fixed for a data seed, and the members of a population that share it share them.

pub mod generation;
pub mod held_out;
pub mod ngrams;
pub mod reach;

use crate::error::Result;
use crate::experiment::Experiment;
use crate::metrics::{Row, Rows};
use crate::text::Text;
use generation::{Judged, Prompted, Sample};
use held_out::HeldOut;
use invitro_language::{Condition, Languages, Symbol, Task};
use invitro_model::decode::{Decoded, Prompt, Sampling};
use invitro_model::score::Answer;
use invitro_model::{Population, ops::Loss};
use ngrams::{Ngrams, Order};
use rayon::prelude::*;
use reach::{ReachSet, Reached};
use std::collections::HashSet;

/// Everything a model of one data seed and tokenizer is asked.
pub struct Sets {
    /// Of T1, decoded greedily, then of T0 and T2, sampled.
    prompts: Vec<Prompted>,
    reach: ReachSet,
    held_out: HeldOut,
    /// The n-gram models' answers, which do not change as a network trains.
    nulls: Vec<(Order, Vec<Answer>)>,
    temperature: f64,
    kept: usize,
}

/// What came of one member's evaluation.
pub struct Evaluated {
    pub rows: Vec<Row>,
    pub samples: Vec<Sample>,
    pub reached: Vec<Reached>,
}

/// One member to be evaluated.
pub struct Examinee<'a> {
    pub run: &'a str,
    pub languages: &'a Languages,
    pub text: &'a Text,
    pub sets: &'a Sets,
    /// Whether to write the n-gram models' rows, which are the same at every step.
    pub with_nulls: bool,
}

impl Sets {
    pub fn new(experiment: &Experiment, languages: &Languages, text: &Text) -> Result<Sets> {
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
        let nulls = orders.map(|order| (order, counted.answer(order, &questions))).into();
        let held_out = HeldOut::new(languages, text, &experiment.mixture, eval.losses, context)?;
        Ok(Sets { prompts, reach, held_out, nulls, temperature: eval.temperature, kept: eval.kept })
    }

    /// The masked words that reachability asks for.
    pub fn asked(&self) -> HashSet<Symbol> {
        self.reach.asked()
    }

    /// What to decode: T1 greedily, T0 and T2 at random, anew at every step. An unscrambled sentence has the words of
    /// its prompt, so one that is much longer is none; a free one may be as long as any.
    fn ask(&self, step: u64) -> Vec<Prompt> {
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

/// Rows of a batch of held-out sequences, which a population must have room for. The same for every population, however
/// its members are made up: sums are taken batch by batch, and a member's must not depend on who is evaluated beside it.
pub fn batch_rows(context: usize) -> usize {
    4 * context
}

/// Evaluates every member that there is someone to examine for.
pub fn evaluate(
    population: &mut Population,
    examinees: &[Option<Examinee>],
    step: u64,
) -> Result<Vec<Option<Evaluated>>> {
    let decoded = decode(population, examinees, step)?;
    let questions: Vec<_> = examinees
        .iter()
        .map(|examinee| examinee.as_ref().map(|e| e.sets.reach.questions()).unwrap_or_default())
        .collect();
    let answers = population.score(&questions)?;
    let losses = losses(population, examinees)?;
    Ok(examinees
        .par_iter()
        .enumerate()
        .map(|(m, examinee)| {
            let examinee = examinee.as_ref()?;
            Some(examinee.measure(step, &decoded[m], &answers[m], &losses[m]))
        })
        .collect())
}

/// Decodes every member's prompts, all tasks at once: what a step of decoding costs hardly depends on how many rows it has.
fn decode(population: &mut Population, examinees: &[Option<Examinee>], step: u64) -> Result<Vec<Vec<Decoded>>> {
    let asked = |examinee: &Option<Examinee>| examinee.as_ref().map_or(Vec::new(), |examinee| examinee.sets.ask(step));
    let prompts: Vec<Vec<Prompt>> = examinees.iter().map(asked).collect();
    Ok(population.decode(&prompts, invitro_tokenizer::special::EOS)?)
}

/// Every member's losses on its held-out batches, each with the batch's part.
fn losses(population: &mut Population, examinees: &[Option<Examinee>]) -> Result<Vec<Vec<(usize, Loss)>>> {
    let rows = batch_rows(population.shape().context);
    let mut batches: Vec<Vec<held_out::Batch>> =
        examinees.iter().map(|e| e.as_ref().map_or(Vec::new(), |e| e.sets.held_out.batches(rows))).collect();
    let mut losses = vec![Vec::new(); examinees.len()];
    while batches.iter().any(|own| !own.is_empty()) {
        let next: Vec<Option<held_out::Batch>> = batches.iter_mut().map(Vec::pop).collect();
        // Members with fewer batches idle on a sequence that is not counted.
        let idle = || vec![invitro_model::Sequence { tokens: vec![0, 0], group: 0 }];
        let batch: Vec<_> = next.iter().map(|own| own.as_ref().map_or_else(idle, |(_, own)| own.clone())).collect();
        for ((loss, own), losses) in population.evaluate(&batch)?.into_iter().zip(&next).zip(&mut losses) {
            losses.extend(own.as_ref().map(|&(part, _)| (part, loss)));
        }
    }
    Ok(losses)
}

impl Examinee<'_> {
    fn measure(&self, step: u64, decoded: &[Decoded], answers: &[Answer], losses: &[(usize, Loss)]) -> Evaluated {
        let mut rows = Rows::new(self.run, step);
        let mut samples = Vec::new();
        let mut checker = self.languages.checker();
        let prompted = self.sets.prompts.iter().zip(decoded);
        let all: Vec<(&Prompted, Judged)> = prompted
            .map(|(prompted, decoded)| {
                (prompted, generation::judge(prompted, decoded, self.text, &mut checker, self.languages))
            })
            .collect();
        for task in Task::ALL {
            for condition in Condition::ALL {
                let of_these = |p: &Prompted| p.sequence.task == task && p.condition == condition;
                let part: Vec<(&Prompted, &Judged)> =
                    all.iter().filter(|(p, _)| of_these(p)).map(|(p, j)| (*p, j)).collect();
                if part.is_empty() {
                    continue;
                }
                let judged: Vec<&Judged> = part.iter().map(|(_, j)| *j).collect();
                generation::rows(task, condition, &judged, &mut rows);
                samples.extend(generation::samples(step, self.sets.kept, self.languages, &part));
            }
        }
        self.sets.reach.rows("network", answers, &mut rows);
        if self.with_nulls {
            for (order, answers) in &self.sets.nulls {
                self.sets.reach.rows(order.name(), answers, &mut rows);
            }
        }
        self.sets.held_out.rows(losses, &mut rows);
        let reached = self.sets.reach.reached(answers);
        let reached = reached.into_iter().map(|symbol| Reached { step, symbol: symbol.0 }).collect();
        Evaluated { rows: rows.list, samples, reached }
    }
}
