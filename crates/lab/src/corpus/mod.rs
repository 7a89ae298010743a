//! The rows of a corpus, many at a time: those of training as the data loader draws them, or those of a condition.

mod row;

pub use row::CorpusRow;

use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::inputs::tokenized::TokenizedText;
use invitro_language::{Exposure, LanguageCondition, Languages, Pool, Sequence, Source, Task};
use rayon::prelude::*;
use std::sync::Arc;

/// Rows made in one go by one thread; a round is one chunk for each, so memory does not grow with the corpus.
const CHUNK: u64 = 4096;

/// What rows are of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CorpusSplit {
    Train,
    Condition(LanguageCondition),
}

impl CorpusSplit {
    pub fn name(self) -> String {
        match self {
            CorpusSplit::Train => "train".into(),
            CorpusSplit::Condition(condition) => condition.to_string(),
        }
    }
}

pub struct CorpusRows<'a> {
    experiment: &'a Experiment,
    languages: &'a Languages,
    source: Source<'a>,
    /// Of training: what decides whether a row fits the context, and the task that rows are kept of.
    training: Option<(Arc<TokenizedText>, Option<Task>)>,
    seed: u64,
    start: u64,
}

impl<'a> CorpusRows<'a> {
    /// Of one task, or of all in the mixture's shares. The experiment's tokenized text, which rows of training need, is made here
    /// unless given.
    pub fn new(
        experiment: &'a Experiment,
        languages: &'a Languages,
        split: CorpusSplit,
        only: Option<Task>,
        pool: Pool,
        text: Option<Arc<TokenizedText>>,
    ) -> Result<CorpusRows<'a>> {
        let wrong = |why: String| Err(Error::Corpus(why));
        let mixture = &experiment.mixture;
        let condition = match split {
            CorpusSplit::Train => {
                let is_bare = |task| task == Task::T0 && mixture.exposure == Exposure::Bare;
                let is_trained = |task| task == Task::T3 || mixture.tasks[task as usize] > 0.0 || is_bare(task);
                match only {
                    Some(Task::T3) if !mixture.translates() => {
                        return wrong("`mixture.translation` is 0: training sees no translations".into());
                    }
                    Some(task) if !is_trained(task) => {
                        let name = task.name();
                        return wrong(format!("`mixture.tasks` gives {name} no share: training sees none of it"));
                    }
                    _ => {}
                }
                let train = &experiment.train;
                let source = Source::training(languages, mixture, train.batch as u64, train.steps);
                let text = text.map_or_else(|| TokenizedText::new(experiment, languages).map(Arc::new), Ok)?;
                let training = Some((text, only));
                return Ok(CorpusRows { experiment, languages, source, training, seed: 0, start: 0 });
            }
            CorpusSplit::Condition(condition) => condition,
        };
        let source = match only {
            Some(Task::T3) => {
                let to = condition.language;
                let Some(&from) = languages.all().iter().find(|&&other| other != to) else {
                    let name = to.name();
                    return wrong(format!("there is no language to translate from: {name} is the only one"));
                };
                Source::translations(languages, "corpus", from, to, condition.masked)
            }
            only => {
                let shares =
                    only.map_or(mixture.tasks, |only| Task::WITHIN.map(|task| f64::from(u8::from(task == only))));
                Source::condition_mix(languages, "corpus", condition, shares)
            }
        };
        let source = source.from_pool(pool);
        Ok(CorpusRows { experiment, languages, source, training: None, seed: 0, start: 0 })
    }

    /// The same rows from another on, or others: those of a seed. Rows of training have no seed but the experiment's, and those
    /// of one task among them are not numbered.
    pub fn starting(self, seed: u64, start: u64) -> Result<CorpusRows<'a>> {
        match &self.training {
            Some(_) if seed != 0 => Err(Error::Corpus(format!(
                "the rows of training are those of the experiment's seeds, but `seed` is {seed}: name a language"
            ))),
            Some((_, Some(task))) if start > 0 => Err(Error::Corpus(format!(
                "rows of training are numbered over all tasks, but `start` is {start} and the task {}: name a language",
                task.name()
            ))),
            _ => Ok(CorpusRows { seed, start, ..self }),
        }
    }

    /// How many rows a training sees.
    pub fn seen(&self) -> u64 {
        self.experiment.train.steps.saturating_mul(self.experiment.train.batch as u64)
    }

    /// Hands on `n` rows, a round at a time, with how many have been so far.
    pub fn each_round<E: From<Error>>(
        &self,
        n: u64,
        mut take: impl FnMut(Vec<CorpusRow>, u64) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let round = CHUNK * rayon::current_num_threads() as u64;
        let (mut start, mut written) = (self.start, 0);
        while written < n {
            // A part of the rows may be of other tasks.
            let end = start + round.min((n - written).max(CHUNK.min(n)));
            let chunks: Vec<u64> = (start..end).step_by(CHUNK as usize).collect();
            let made: Vec<Vec<CorpusRow>> =
                chunks.into_par_iter().map(|first| self.chunk(first..end.min(first + CHUNK))).collect::<Result<_>>()?;
            let mut rows: Vec<CorpusRow> = made.into_iter().flatten().collect();
            rows.truncate((n - written) as usize);
            written += rows.len() as u64;
            take(rows, written)?;
            start = end;
        }
        Ok(())
    }

    fn chunk(&self, places: std::ops::Range<u64>) -> Result<Vec<CorpusRow>> {
        let mut source = self.source.clone();
        let mut rows = Vec::with_capacity((places.end - places.start) as usize);
        let mut sequence = Sequence::default();
        for place in places {
            match &self.training {
                None => source.draw_into(self.seed, place, |_| true, &mut sequence)?,
                Some((text, only)) => {
                    let (batch, context) = (self.experiment.train.batch as u64, self.experiment.model.context);
                    sequence = text.training_row(&mut source, place / batch, place % batch, context)?;
                    if only.is_some_and(|only| only != sequence.task) {
                        continue;
                    }
                }
            }
            rows.push(CorpusRow::new(self.languages, &sequence));
        }
        Ok(rows)
    }
}
