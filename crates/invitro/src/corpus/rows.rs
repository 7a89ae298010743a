//! The rows of a corpus, many at a time: those of training as the data loader draws them, or those of a condition.

use super::row::Row;
use super::{Split, TaskArg};
use anyhow::{Result, bail};
use invitro_lab::Experiment;
use invitro_lab::tokenized::TokenizedText;
use invitro_language::{Languages, Pool, Sequence, Source, Task};
use rayon::prelude::*;

/// Rows made in one go by one thread; a round is one chunk for each, so memory does not grow with the corpus.
const CHUNK: u64 = 4096;

pub struct Rows<'a> {
    experiment: &'a Experiment,
    languages: &'a Languages,
    source: Source<'a>,
    /// Of training: what decides whether a row fits the context, and the task that rows are kept of.
    training: Option<(TokenizedText, Option<Task>)>,
}

impl<'a> Rows<'a> {
    pub fn new(
        experiment: &'a Experiment,
        languages: &'a Languages,
        split: Split,
        task: TaskArg,
        pool: Pool,
    ) -> Result<Rows<'a>> {
        let only = match task {
            TaskArg::T0 => Some(Task::T0),
            TaskArg::T1 => Some(Task::T1),
            TaskArg::T2 => Some(Task::T2),
            TaskArg::T3 => Some(Task::T3),
            TaskArg::Mix => None,
        };
        let mixture = &experiment.mixture;
        let condition = match split {
            Split::Train => {
                match only {
                    Some(Task::T3) if mixture.translation == 0.0 => {
                        bail!("`mixture.translation` is 0: training sees no translations")
                    }
                    Some(task) if task != Task::T3 && mixture.tasks[task as usize] == 0.0 => {
                        bail!("`mixture.tasks` gives {} no share: training sees none of it", task.name())
                    }
                    _ => {}
                }
                let train = &experiment.train;
                let source = Source::training(languages, mixture, train.batch as u64, train.steps);
                let training = Some((TokenizedText::new(experiment, languages)?, only));
                return Ok(Rows { experiment, languages, source, training });
            }
            Split::Condition(condition) => condition,
        };
        let source = match only {
            Some(Task::T3) => {
                let to = condition.language;
                let Some(&from) = languages.all().iter().find(|&&other| other != to) else {
                    bail!("there is no language to translate from: {} is the only one", to.name());
                };
                Source::translations(languages, "corpus", from, to, condition.masked)
            }
            only => {
                let shares =
                    only.map_or(mixture.tasks, |only| Task::WITHIN.map(|task| f64::from(u8::from(task == only))));
                Source::condition_mix(languages, "corpus", condition, shares)
            }
        };
        Ok(Rows { experiment, languages, source: source.from_pool(pool), training: None })
    }

    /// How many rows a training sees.
    pub fn seen(&self) -> u64 {
        self.experiment.train.steps.saturating_mul(self.experiment.train.batch as u64)
    }

    /// Hands on the first `n` rows, a round at a time, with how many have been so far.
    pub fn each_round(&self, n: u64, mut take: impl FnMut(Vec<Row>, u64) -> Result<()>) -> Result<()> {
        let round = CHUNK * rayon::current_num_threads() as u64;
        let (mut start, mut written) = (0, 0);
        while written < n {
            // A part of the rows may be of other tasks.
            let end = start + round.min((n - written).max(CHUNK.min(n)));
            let chunks: Vec<u64> = (start..end).step_by(CHUNK as usize).collect();
            let made: Vec<Vec<Row>> =
                chunks.into_par_iter().map(|first| self.chunk(first..end.min(first + CHUNK))).collect::<Result<_>>()?;
            let mut rows: Vec<Row> = made.into_iter().flatten().collect();
            rows.truncate((n - written) as usize);
            written += rows.len() as u64;
            take(rows, written)?;
            start = end;
        }
        Ok(())
    }

    fn chunk(&self, places: std::ops::Range<u64>) -> Result<Vec<Row>> {
        let mut source = self.source.clone();
        let mut rows = Vec::with_capacity((places.end - places.start) as usize);
        let mut sequence = Sequence::default();
        for place in places {
            match &self.training {
                None => source.draw_into(0, place, |_| true, &mut sequence)?,
                Some((text, only)) => {
                    let (batch, context) = (self.experiment.train.batch as u64, self.experiment.model.context);
                    sequence = text.training_row(&mut source, place / batch, place % batch, context)?;
                    if only.is_some_and(|only| only != sequence.task) {
                        continue;
                    }
                }
            }
            rows.push(Row::new(self.languages, &sequence));
        }
        Ok(rows)
    }
}
