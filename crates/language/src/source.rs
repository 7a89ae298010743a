//! Where sequences come from: the training mixture, or one condition, each row by its key.
//!
//! A training row draws its language by its share, λ / (1 + λ) for B, or by the share of its stage where there is a
//! schedule; one with a word that is masked in its language, or a fact that is withheld there, is redrawn whole, language
//! and all, so that it never reaches training; nor do sentences that are held out. A translation shows both of its
//! languages, so that neither may withhold it. B takes sentences without a masked word, B† those with one, of the
//! training's or of those held out as [`Source::from_pool`] says.
//!
//! ```
//! use invitro_language::{Condition, Languages, LanguageConfig, Source, Task};
//! let languages = Languages::new(&LanguageConfig::default(), 0).unwrap();
//! let mut masked = Source::condition(&languages, "eval", Condition::B_MASKED, Task::T1);
//! assert!(masked.draw(0, 7).unwrap().masked);
//! ```

use crate::condition::Condition;
use crate::error::{Error, Result};
use crate::held_out::Pool;
use crate::languages::Languages;
use crate::parallel::Block;
use crate::sentence::Sampler;
use crate::symbol::{Language, Symbol};
use crate::task::{Sequence, Task};
use invitro_base::random::{Rng, Stream};
use invitro_base::settings::{Corpus, MixtureConfig, Parallel};

#[derive(Clone, Debug)]
enum Split {
    Training(Training),
    Condition(Condition),
    Translation { from: Language, to: Language, masked: bool },
}

/// What a mixture says of a row.
#[derive(Clone, Debug)]
pub(crate) struct Training {
    /// The languages' shares in every stage.
    stages: Vec<Vec<f64>>,
    /// Steps of all stages.
    steps: u64,
    withhold: bool,
    translation: f64,
    code_switch: f64,
}

impl Training {
    fn new(languages: &Languages, mixture: &MixtureConfig, steps: u64) -> Training {
        Training {
            stages: languages.family.stages(mixture),
            steps,
            withhold: mixture.withholds(),
            translation: mixture.translation,
            code_switch: mixture.code_switch,
        }
    }

    /// The shares at a step, the first of which is 0.
    pub fn shares(&self, step: u64) -> &[f64] {
        let stages = self.stages.len() as u64;
        let stage = if stages == 1 { 0 } else { (step * stages / self.steps.max(1)).min(stages - 1) };
        &self.stages[stage as usize]
    }

    /// Whether training may show a sequence.
    pub fn allows(&self, sequence: &Sequence) -> bool {
        !(self.withhold && sequence.masked)
    }

    /// Says some words of a sequence in other languages, never one that is masked there, and none of a sentence that states a
    /// fact which is withheld there.
    pub fn switch(&self, languages: &Languages, rng: &mut Rng, out: &mut Sequence) {
        out.switched.clear();
        if self.code_switch == 0.0 || out.task == Task::T3 || languages.all().len() == 1 {
            return;
        }
        let mut seen: Vec<Symbol> = Vec::with_capacity(out.sentence.symbols.len());
        for &symbol in &out.sentence.symbols {
            if seen.contains(&symbol) {
                continue;
            }
            seen.push(symbol);
            if !rng.chance(self.code_switch) {
                continue;
            }
            let other = other_than(languages, out.language, rng);
            if !(self.withhold && languages.withholds_word(other, symbol, &out.sentence)) {
                out.switched.push((symbol, other));
            }
        }
    }
}

/// One of the other languages.
fn other_than(languages: &Languages, language: Language, rng: &mut Rng) -> Language {
    let at = rng.index(languages.all().len() - 1);
    languages.all()[at + usize::from(at >= language.index())]
}

/// Draws before a row is given up.
pub(crate) const TRIES: usize = 100_000;

/// A supply of sequences, each a function of its key.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    pub(crate) sampler: Sampler<'a>,
    split: Split,
    pub(crate) pool: Pool,
    tasks: [f64; 3],
    pub(crate) stream: Stream,
    finite: Option<Finite>,
    /// The rows that are drawn together where texts are translations of each other.
    block: Option<Block>,
}

impl<'a> Source<'a> {
    /// The training mixture, `batch` rows to a step and so many steps.
    pub fn training(languages: &'a Languages, mixture: &MixtureConfig, batch: u64, steps: u64) -> Source<'a> {
        let finite = (mixture.corpus == Corpus::Finite).then(|| Finite {
            sentences: mixture.sentences,
            batch,
            order: Stream::new(languages.seed, "train/order"),
        });
        let block = || Block::of(finite.map_or(batch, |finite| finite.sentences));
        Source {
            block: (mixture.parallel == Parallel::Symbols).then(block),
            finite,
            ..Source::drawn(languages, mixture, "train", steps)
        }
    }

    /// Fresh rows of the same distribution for another purpose, such as a tokenizer's sample; `set` names the stream.
    pub fn mixture(languages: &'a Languages, set: &str, mixture: &MixtureConfig) -> Source<'a> {
        // Over all stages.
        let stages = MixtureConfig { schedule: Vec::new(), ..mixture.clone() };
        let mut source = Source::drawn(languages, &stages, &format!("{set}/mixture"), 1);
        if let Split::Training(training) = &mut source.split {
            training.stages = vec![languages.family.shares(mixture)];
        }
        source
    }

    fn drawn(languages: &'a Languages, mixture: &MixtureConfig, name: &str, steps: u64) -> Source<'a> {
        Source::new(languages, Split::Training(Training::new(languages, mixture, steps)), mixture.tasks, name)
    }

    /// Rows of one condition and task within its language, held out or not; `set` names the stream.
    pub fn condition(languages: &'a Languages, set: &str, condition: Condition, task: Task) -> Source<'a> {
        let tasks = Task::WITHIN.map(|one| f64::from(u8::from(one == task)));
        let name = format!("{set}/{condition}/{}", task.name());
        Source::new(languages, Split::Condition(condition), tasks, &name)
    }

    /// Rows of one condition in a mix of tasks, held out or not.
    pub fn condition_mix(languages: &'a Languages, set: &str, condition: Condition, tasks: [f64; 3]) -> Source<'a> {
        let name = format!("{set}/{condition}/mix");
        Source::new(languages, Split::Condition(condition), tasks, &name)
    }

    /// Translations from one language into another, of sentences that one of the two withholds, or of those that neither does.
    pub fn translations(languages: &'a Languages, set: &str, from: Language, to: Language, masked: bool) -> Source<'a> {
        let which = if masked { "_masked" } else { "" };
        let name = format!("{set}/T3/{}>{}{which}", from.name(), to.name());
        Source::new(languages, Split::Translation { from, to, masked }, [0.0; 3], &name)
    }

    fn new(languages: &'a Languages, split: Split, tasks: [f64; 3], name: &str) -> Source<'a> {
        let pool = if let Split::Training(_) = split { Pool::Training } else { Pool::Any };
        let stream = Stream::new(languages.seed, name);
        Source { sampler: languages.sampler(), split, pool, tasks, stream, finite: None, block: None }
    }

    /// The same with sentences of this pool alone.
    pub fn from_pool(self, pool: Pool) -> Source<'a> {
        Source { pool, ..self }
    }

    /// The sequence of a step and row.
    pub fn draw(&mut self, step: u64, row: u64) -> Result<Sequence> {
        self.draw_where(step, row, |_| true)
    }

    /// The same, redrawn until `accept` takes it: a sequence too long for its reader is never cut.
    pub fn draw_where(&mut self, step: u64, row: u64, accept: impl FnMut(&Sequence) -> bool) -> Result<Sequence> {
        let mut out = Sequence::default();
        self.draw_into(step, row, accept, &mut out)?;
        Ok(out)
    }

    /// The same into memory that is reused.
    pub fn draw_into(
        &mut self,
        step: u64,
        row: u64,
        mut accept: impl FnMut(&Sequence) -> bool,
        out: &mut Sequence,
    ) -> Result<()> {
        let (step, row) = match &self.finite {
            None => (step, row),
            Some(finite) => finite.place(step, row),
        };
        if let (Some(mut block), Split::Training(training)) = (self.block.take(), &self.split) {
            let training = training.clone();
            let drawn = block.draw(self, &training, step, row, accept, out);
            self.block = Some(block);
            return drawn;
        }
        let mut rng = self.stream.at(step, row);
        for _ in 0..TRIES {
            if self.attempt(step, &mut rng, out) && accept(out) {
                return Ok(());
            }
        }
        Err(self.exhausted())
    }

    /// Nothing was found that fits.
    pub(crate) fn exhausted(&self) -> Error {
        let pool = match self.pool {
            Pool::Training => "training ",
            Pool::HeldOut => "held-out ",
            Pool::Any => "",
        };
        let of = match &self.split {
            Split::Training(_) => String::new(),
            Split::Condition(condition) => format!(" of {condition}"),
            Split::Translation { from, to, masked } => {
                let withheld = if *masked { " with something withheld" } else { "" };
                format!(" from {} into {}{withheld}", from.name(), to.name())
            }
        };
        Error::NotFound { wanted: format!("{pool}sequence{of} that fits"), tries: TRIES }
    }

    fn attempt(&mut self, step: u64, rng: &mut Rng, out: &mut Sequence) -> bool {
        let languages = self.sampler.languages();
        let from = match &self.split {
            Split::Training(training) => {
                let translates =
                    training.translation > 0.0 && languages.all().len() > 1 && rng.chance(training.translation);
                out.language = languages.pick(training.shares(step), rng.unit());
                // Both languages are read, whichever is wanted: all directions are as frequent.
                translates.then(|| {
                    out.language = languages.all()[rng.index(languages.all().len())];
                    other_than(languages, out.language, rng)
                })
            }
            Split::Condition(condition) => {
                out.language = condition.language;
                None
            }
            Split::Translation { from, to, .. } => {
                out.language = *to;
                Some(*from)
            }
        };
        let task = self.task(rng);
        self.sampler.sample(out.language, rng, &mut out.sentence);
        out.masked = languages.withholds(out.language, &out.sentence)
            || from.is_some_and(|from| languages.withholds(from, &out.sentence));
        let wanted = match &self.split {
            Split::Training(training) => training.allows(out),
            Split::Condition(Condition { masked, .. }) | Split::Translation { masked, .. } => out.masked == *masked,
        };
        if !wanted || !self.pool.has(languages, &out.sentence.symbols) {
            return false;
        }
        match from {
            Some(from) => out.translate(from, languages),
            None => out.prepare(task, rng),
        }
        out.switched.clear();
        if let Split::Training(training) = &self.split {
            training.switch(languages, rng, out);
        }
        true
    }

    /// One of the tasks within a language, by their shares.
    pub(crate) fn task(&self, rng: &mut Rng) -> Task {
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

/// A finite corpus: row i of an epoch is one of `sentences` fixed rows, in an order of the epoch's own.
#[derive(Clone, Copy, Debug)]
struct Finite {
    sentences: u64,
    batch: u64,
    order: Stream,
}

impl Finite {
    /// The key of the row to take.
    fn place(&self, step: u64, row: u64) -> (u64, u64) {
        let index = step * self.batch + row;
        let (epoch, i) = (index / self.sentences, index % self.sentences);
        (0, permute(i, self.sentences, &self.order, epoch))
    }
}

/// The i-th element of a permutation of `0..n` that depends on `epoch`, without storing it: a Feistel network on the
/// next even number of bits, walked until it lands inside.
fn permute(i: u64, n: u64, stream: &Stream, epoch: u64) -> u64 {
    let half = (64 - (n.max(2) - 1).leading_zeros()).div_ceil(2);
    let mask = (1u64 << half) - 1;
    let mut at = i;
    loop {
        let (mut left, mut right) = (at >> half, at & mask);
        for round in 0..4u64 {
            let noise = u64::from(stream.at(epoch * 4 + round, right).bits());
            (left, right) = (right, left ^ (noise & mask));
        }
        at = (left << half) | right;
        if at < n {
            return at;
        }
    }
}
