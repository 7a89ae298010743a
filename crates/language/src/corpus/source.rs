//! Sources of sequences: the training mixture or one condition, each row by its key.
//!
//! A training row draws its language by its share: λ / (1 + λ) for B, or the share of its stage under a schedule. A row
//! that its language withholds is redrawn whole, language included; so is a held-out sentence. A translation shows both
//! languages, so neither may withhold it; it is redrawn in its direction, so that translations and their directions are
//! as frequent as set. Exposures (`mixture.exposure`) replace some rows of a run. Condition B takes sentences without a masked word, B† sentences with one;
//! [`Source::from_pool`] selects training or held-out sentences.
//!
//! ```
//! use invitro_language::{LanguageCondition, Languages, LanguageConfig, Source, Task};
//! let languages = Languages::new(&LanguageConfig::default(), 0).unwrap();
//! let mut masked = Source::condition(&languages, "eval", LanguageCondition::B_MASKED, Task::T1);
//! assert!(masked.draw(0, 7).unwrap().masked);
//! ```

use crate::corpus::condition::LanguageCondition;
use crate::corpus::exposure::Exposures;
use crate::corpus::finite::FiniteCorpus;
use crate::corpus::held_out::Pool;
use crate::corpus::mixture::{TrainingMixture, random_other};
use crate::corpus::sampler::Sampler;
use crate::corpus::sentence::Sentence;
use crate::corpus::task::{Sequence, Task};
use crate::error::{Error, Result};
use crate::languages::Languages;
use crate::world::symbol::Language;
use invitro_base::random::{Rng, Stream};
use invitro_base::settings::{Corpus, MixtureConfig, Parallel};

#[derive(Clone, Debug)]
enum SourceSplit {
    Training(TrainingMixture),
    Condition(LanguageCondition),
    Translation { from: Language, to: Language, masked: bool },
}

/// What is kept of a training row that is redrawn because something in it is withheld.
#[derive(Clone, Copy, Debug)]
enum RowKind {
    WithinLanguage,
    Translation { from: Language, to: Language },
}

/// Draws before a row fails.
const TRIES: usize = 100_000;

/// The rows of one step, drawn together because each depends on the rows before it.
#[derive(Clone, Debug)]
struct RowBlock {
    rows: usize,
    step: Option<u64>,
    drawn: Vec<Sequence>,
}

/// A supply of sequences, each a function of its key.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    sampler: Sampler<'a>,
    split: SourceSplit,
    pool: Pool,
    tasks: [f64; 3],
    stream: Stream,
    finite: Option<FiniteCorpus>,
    exposures: Option<Exposures>,
    /// Rows drawn together, for texts that are translations of each other.
    block: Option<RowBlock>,
}

impl<'a> Source<'a> {
    /// The training mixture, with `batch` rows per step.
    pub fn training(languages: &'a Languages, mixture: &MixtureConfig, batch: u64, steps: u64) -> Source<'a> {
        let finite = (mixture.corpus == Corpus::Finite).then(|| FiniteCorpus {
            sentences: mixture.sentences,
            batch,
            order: Stream::new(languages.seed, "train/order"),
        });
        let rows = finite.map_or(batch, |finite| finite.sentences) as usize;
        Source {
            block: (mixture.parallel == Parallel::Symbols).then(|| RowBlock { rows, step: None, drawn: Vec::new() }),
            finite,
            exposures: Exposures::new(languages, mixture, batch, steps),
            ..Source::of_mixture(languages, mixture, "train", steps)
        }
    }

    /// Fresh rows of the same distribution for another purpose, such as a tokenizer's sample; `set` names the stream.
    pub fn mixture(languages: &'a Languages, set: &str, mixture: &MixtureConfig) -> Source<'a> {
        // The mean over all stages.
        let stages = MixtureConfig { schedule: Vec::new(), ..mixture.clone() };
        let mut source = Source::of_mixture(languages, &stages, &format!("{set}/mixture"), 1);
        if let SourceSplit::Training(training) = &mut source.split {
            training.stages = vec![languages.family.shares(mixture)];
        }
        source
    }

    fn of_mixture(languages: &'a Languages, mixture: &MixtureConfig, name: &str, steps: u64) -> Source<'a> {
        let split = SourceSplit::Training(TrainingMixture::new(languages, mixture, steps));
        Source::new(languages, split, mixture.tasks, name)
    }

    /// Rows of one condition and one task within its language; `set` names the stream.
    pub fn condition(languages: &'a Languages, set: &str, condition: LanguageCondition, task: Task) -> Source<'a> {
        let tasks = Task::WITHIN.map(|one| f64::from(u8::from(one == task)));
        let name = format!("{set}/{condition}/{}", task.name());
        Source::new(languages, SourceSplit::Condition(condition), tasks, &name)
    }

    /// Rows of one condition in a mix of tasks.
    pub fn condition_mix(
        languages: &'a Languages,
        set: &str,
        condition: LanguageCondition,
        tasks: [f64; 3],
    ) -> Source<'a> {
        let name = format!("{set}/{condition}/mix");
        Source::new(languages, SourceSplit::Condition(condition), tasks, &name)
    }

    /// Translations of sentences that one of the two languages withholds (`masked`), or that neither does.
    pub fn translations(languages: &'a Languages, set: &str, from: Language, to: Language, masked: bool) -> Source<'a> {
        let which = if masked { "_masked" } else { "" };
        let name = format!("{set}/T3/{}>{}{which}", from.name(), to.name());
        Source::new(languages, SourceSplit::Translation { from, to, masked }, [0.0; 3], &name)
    }

    fn new(languages: &'a Languages, split: SourceSplit, tasks: [f64; 3], name: &str) -> Source<'a> {
        let pool = if let SourceSplit::Training(_) = split { Pool::Training } else { Pool::Any };
        let stream = Stream::new(languages.seed, name);
        Source { sampler: languages.sampler(), split, pool, tasks, stream, finite: None, exposures: None, block: None }
    }

    /// Restricts the source to the sentences of a pool.
    pub fn from_pool(self, pool: Pool) -> Source<'a> {
        Source { pool, ..self }
    }

    /// Draws the sequence of a step and row.
    pub fn draw(&mut self, step: u64, row: u64) -> Result<Sequence> {
        self.draw_where(step, row, |_| true)
    }

    /// The same, redrawn until `accept` returns true: long sequences are redrawn rather than truncated.
    pub fn draw_where(&mut self, step: u64, row: u64, accept: impl FnMut(&Sequence) -> bool) -> Result<Sequence> {
        let mut out = Sequence::default();
        self.draw_into(step, row, accept, &mut out)?;
        Ok(out)
    }

    /// The same, into reused memory.
    pub fn draw_into(
        &mut self,
        step: u64,
        row: u64,
        mut accept: impl FnMut(&Sequence) -> bool,
        out: &mut Sequence,
    ) -> Result<()> {
        if let Some(exposures) = &self.exposures
            && exposures.draw_into(self.sampler.languages(), step, row, out)
        {
            return if accept(out) { Ok(()) } else { Err(self.exhausted()) };
        }
        let (step, row) = match &self.finite {
            None => (step, row),
            Some(finite) => finite.key(step, row),
        };
        if let Some(mut block) = self.block.take() {
            let filled = if block.step == Some(step) { Ok(()) } else { self.fill(&mut block, step, accept) };
            block.step = filled.is_ok().then_some(step);
            if filled.is_ok() {
                out.clone_from(&block.drawn[row as usize]);
            }
            self.block = Some(block);
            return filled;
        }
        let mut rng = self.stream.at(step, row);
        let mut kept = None;
        for _ in 0..TRIES {
            if self.attempt(step, &mut rng, &mut kept, out) && accept(out) {
                return Ok(());
            }
        }
        Err(self.exhausted())
    }

    /// The error after too many draws.
    fn exhausted(&self) -> Error {
        let pool = match self.pool {
            Pool::Training => "training ",
            Pool::HeldOut => "held-out ",
            Pool::Any => "",
        };
        let origin = match &self.split {
            SourceSplit::Training(_) => String::new(),
            SourceSplit::Condition(condition) => format!(" of {condition}"),
            SourceSplit::Translation { from, to, masked } => {
                let withheld = if *masked { " with something withheld" } else { "" };
                format!(" from {} into {}{withheld}", from.name(), to.name())
            }
        };
        Error::NotFound { wanted: format!("{pool}sequence{origin} that fits"), tries: TRIES }
    }

    /// Draws the rows of a step whose texts are translations of each other. Each sentence is drawn once, and each
    /// language includes it with the probability of its share over the largest share, unless it withholds the sentence.
    /// A sentence that is too long in a language of the largest share is in none.
    fn fill(&self, block: &mut RowBlock, step: u64, mut accept: impl FnMut(&Sequence) -> bool) -> Result<()> {
        let SourceSplit::Training(training) = &self.split else { return Ok(()) };
        let mut sampler = self.sampler.clone();
        let languages = sampler.languages();
        let shares = training.shares(step);
        let largest = shares.iter().copied().fold(0.0, f64::max);
        block.drawn.clear();
        let mut sentence = Sentence::default();
        'sentences: for number in 0..(TRIES + 100 * block.rows) as u64 {
            let mut rng = self.stream.at(step, number);
            sampler.sample(languages.all()[0], &mut rng, &mut sentence);
            if !self.pool.has(languages, &sentence.symbols) {
                continue;
            }
            let mut rows = Vec::with_capacity(shares.len());
            for (&language, &share) in languages.all().iter().zip(shares) {
                if !rng.chance(share / largest) {
                    continue;
                }
                let mut out = Sequence { language, sentence: sentence.clone(), ..Default::default() };
                out.masked = languages.withholds(language, &sentence);
                out.prepare(self.task(&mut rng), languages.given, &mut rng);
                training.switch(languages, &mut rng, &mut out);
                if !training.allows(&out) {
                    continue;
                }
                if accept(&out) {
                    rows.push((share, out));
                } else if share == largest {
                    continue 'sentences;
                }
            }
            let free = block.rows - block.drawn.len();
            if rows.len() > free {
                rows.sort_by(|one, other| other.0.total_cmp(&one.0));
            }
            block.drawn.extend(rows.into_iter().take(free).map(|(_, out)| out));
            if block.drawn.len() == block.rows {
                return Ok(());
            }
        }
        Err(self.exhausted())
    }

    fn attempt(&mut self, step: u64, rng: &mut Rng, kept: &mut Option<RowKind>, out: &mut Sequence) -> bool {
        let languages = self.sampler.languages();
        let from = match &self.split {
            SourceSplit::Training(training) => {
                let translates = match kept {
                    Some(kind) => matches!(kind, RowKind::Translation { .. }),
                    None => training.translation > 0.0 && languages.all().len() > 1 && rng.chance(training.translation),
                };
                out.language = languages.pick(training.shares(step), rng.unit());
                // All directions are equally frequent.
                translates.then(|| match *kept {
                    Some(RowKind::Translation { from, to }) => {
                        out.language = to;
                        from
                    }
                    _ => {
                        out.language = languages.all()[rng.index(languages.all().len())];
                        random_other(languages, out.language, rng)
                    }
                })
            }
            SourceSplit::Condition(condition) => {
                out.language = condition.language;
                None
            }
            SourceSplit::Translation { from, to, .. } => {
                out.language = *to;
                Some(*from)
            }
        };
        let task = self.task(rng);
        self.sampler.sample(out.language, rng, &mut out.sentence);
        out.masked = languages.withholds(out.language, &out.sentence)
            || from.is_some_and(|from| languages.withholds(from, &out.sentence));
        let wanted = match &self.split {
            SourceSplit::Training(training) => {
                let allowed = training.allows(out);
                if !allowed {
                    let translation = |from| RowKind::Translation { from, to: out.language };
                    *kept = Some(from.map_or(RowKind::WithinLanguage, translation));
                }
                allowed
            }
            SourceSplit::Condition(LanguageCondition { masked, .. }) | SourceSplit::Translation { masked, .. } => {
                out.masked == *masked
            }
        };
        if !wanted || !self.pool.has(languages, &out.sentence.symbols) {
            return false;
        }
        match from {
            Some(from) => out.translate(from, languages),
            None => out.prepare(task, languages.given, rng),
        }
        out.switched.clear();
        if let SourceSplit::Training(training) = &self.split {
            training.switch(languages, rng, out);
        }
        true
    }

    /// Draws a task within a language by the shares.
    fn task(&self, rng: &mut Rng) -> Task {
        let u = rng.unit();
        if u < self.tasks[0] {
            Task::T0
        } else if u < self.tasks[0] + self.tasks[1] {
            Task::T1
        } else {
            Task::T2
        }
    }
}
