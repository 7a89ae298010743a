//! Where sequences come from: the training mixture, or one condition, each row by its key.
//!
//! A training row draws its language by its share, λ / (1 + λ) for B; one with a word that is masked in its language is
//! redrawn whole, language and all, so masked forms never reach training; nor do sentences that are held out. B takes sentences without a masked
//! word, B† those with one, of the training's or of those held out as [`Source::from_pool`] says.
//!
//! ```
//! use invitro_language::{Condition, Languages, LanguageConfig, Source, Task};
//! let languages = Languages::new(&LanguageConfig::default(), 0).unwrap();
//! let mut masked = Source::condition(&languages, "eval", Condition::B_MASKED, Task::T1);
//! assert!(masked.draw(0, 7).unwrap().masked);
//! ```

use crate::condition::Condition;
use crate::config::{Corpus, MixtureConfig};
use crate::error::{Error, Result};
use crate::held_out::Pool;
use crate::languages::Languages;
use crate::sentence::Sampler;
use crate::stream::{Rng, Stream};
use crate::task::{Sequence, Task};

#[derive(Clone, Debug)]
enum Split {
    Training { shares: Vec<f64>, withhold: bool },
    Condition(Condition),
}

impl Split {
    fn training(languages: &Languages, mixture: &MixtureConfig) -> Split {
        Split::Training { shares: languages.family.shares(mixture), withhold: mixture.withhold }
    }
}

/// Draws before a row is given up.
const TRIES: usize = 100_000;

/// A supply of sequences, each a function of its key.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    sampler: Sampler<'a>,
    split: Split,
    pool: Pool,
    tasks: [f64; 3],
    stream: Stream,
    finite: Option<Finite>,
}

impl<'a> Source<'a> {
    /// The training mixture, `batch` rows to a step.
    pub fn training(languages: &'a Languages, mixture: &MixtureConfig, batch: u64) -> Source<'a> {
        let finite = (mixture.corpus == Corpus::Finite).then(|| Finite {
            sentences: mixture.sentences,
            batch,
            order: Stream::new(languages.seed, "train/order"),
        });
        Source::new(languages, Split::training(languages, mixture), mixture.tasks, "train", finite)
    }

    /// Fresh rows of the same distribution for another purpose, such as a tokenizer's sample; `set` names the stream.
    pub fn mixture(languages: &'a Languages, set: &str, mixture: &MixtureConfig) -> Source<'a> {
        Source::new(languages, Split::training(languages, mixture), mixture.tasks, &format!("{set}/mixture"), None)
    }

    /// Rows of one condition and task, held out or not; `set` names the stream.
    pub fn condition(languages: &'a Languages, set: &str, condition: Condition, task: Task) -> Source<'a> {
        let mut tasks = [0.0; 3];
        tasks[task as usize] = 1.0;
        let name = format!("{set}/{condition}/{}", task.name());
        Source::new(languages, Split::Condition(condition), tasks, &name, None)
    }

    /// Rows of one condition in a mix of tasks, held out or not.
    pub fn condition_mix(languages: &'a Languages, set: &str, condition: Condition, tasks: [f64; 3]) -> Source<'a> {
        let name = format!("{set}/{condition}/mix");
        Source::new(languages, Split::Condition(condition), tasks, &name, None)
    }

    fn new(languages: &'a Languages, split: Split, tasks: [f64; 3], name: &str, finite: Option<Finite>) -> Source<'a> {
        let pool = if let Split::Training { .. } = split { Pool::Training } else { Pool::Any };
        Source { sampler: languages.sampler(), split, pool, tasks, stream: Stream::new(languages.seed, name), finite }
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
        let mut rng = self.stream.at(step, row);
        for _ in 0..TRIES {
            if self.attempt(&mut rng, out) && accept(out) {
                return Ok(());
            }
        }
        let pool = match self.pool {
            Pool::Training => "training ",
            Pool::HeldOut => "held-out ",
            Pool::Any => "",
        };
        let of = match &self.split {
            Split::Training { .. } => String::new(),
            Split::Condition(condition) => format!(" of {condition}"),
        };
        let wanted = format!("{pool}sequence{of} that fits");
        Err(Error::NotFound { wanted, tries: TRIES })
    }

    fn attempt(&mut self, rng: &mut Rng, out: &mut Sequence) -> bool {
        let languages = self.sampler.languages();
        out.language = match &self.split {
            Split::Training { shares, .. } => languages.pick(shares, rng.unit()),
            Split::Condition(condition) => condition.language,
        };
        let u = rng.unit();
        let task = if u < self.tasks[0] {
            Task::T0
        } else if u < self.tasks[0] + self.tasks[1] {
            Task::T1
        } else {
            Task::T2
        };
        self.sampler.sample(out.language, rng, &mut out.sentence);
        out.masked = languages.mask(out.language).touches(&out.sentence.symbols);
        let wanted = match &self.split {
            &Split::Training { withhold, .. } => !(withhold && out.masked),
            Split::Condition(condition) => out.masked == condition.masked,
        };
        if !wanted || !self.pool.has(languages, &out.sentence.symbols) {
            return false;
        }
        out.prepare(task, rng);
        true
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
