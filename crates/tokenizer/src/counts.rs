//! Texts as counts of words: what a tokenizer is trained on, counted by language, and what it is measured on, counted by
//! condition.

use crate::config::{Regime, TokenizerConfig};
use crate::error::Result;
use invitro_language::{Condition, Language, Languages, MixtureConfig, Pool, Source, Stream, Symbol, Task};
use std::collections::BTreeMap;

/// Sentences of each condition that a tokenizer is measured on, unless asked otherwise.
pub const MEASURED_SENTENCES: u64 = 2000;

/// Plain sentences: no text here has prompts.
const SENTENCES: [f64; 3] = [1.0, 0.0, 0.0];

/// How often each symbol occurs, by [`Language`] or by [`Condition`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordCounts<K: Ord>(BTreeMap<K, Vec<u64>>);

impl<K: Ord + Copy> WordCounts<K> {
    fn add(&mut self, key: K, symbols: &[Symbol], languages: &Languages) {
        let counts = self.0.entry(key).or_insert_with(|| vec![0; languages.world.len()]);
        symbols.iter().for_each(|symbol| counts[symbol.index()] += 1);
    }

    /// The symbols that occur, with their counts, in the order of the symbols.
    pub(crate) fn words(&self, key: K) -> impl Iterator<Item = (Symbol, u64)> + '_ {
        let counts = self.0.get(&key).into_iter().flatten().zip(0..);
        counts.filter(|&(&count, _)| count > 0).map(|(&count, i)| (Symbol(i), count))
    }

    /// The languages or conditions that were counted.
    pub(crate) fn keys(&self) -> impl Iterator<Item = K> + '_ {
        self.0.keys().copied()
    }
}

impl WordCounts<Language> {
    /// The sentences that a tokenizer of a regime is trained on.
    pub(crate) fn training(languages: &Languages, config: &TokenizerConfig, mixture: &MixtureConfig) -> Result<Self> {
        let mut counts = WordCounts(BTreeMap::new());
        let rows = config.sentences as u64;
        let turn = |row: u64| Language::ALL[row as usize % Language::ALL.len()];
        if config.sees_masked {
            let stream = Stream::new(languages.seed, "tokenizer/unmasked");
            let mut sampler = languages.sampler();
            for row in 0..rows {
                let mut rng = stream.at(0, row);
                let language = match config.regime {
                    Regime::Balanced => turn(row),
                    _ if rng.chance(mixture.share_of_b()) => Language::B,
                    _ => Language::A,
                };
                counts.add(language, &sampler.sentence(&mut rng).symbols, languages);
            }
            return Ok(counts);
        }
        let unmasked = MixtureConfig { tasks: SENTENCES, withhold: true, ..mixture.clone() };
        let mut mixture = Source::mixture(languages, "tokenizer", &unmasked);
        let mut balanced = Language::ALL.map(|language| {
            let unmasked = Condition { language, masked: false };
            Source::condition(languages, "tokenizer", unmasked, Task::T0).from_pool(Pool::Training)
        });
        for row in 0..rows {
            let sequence = match config.regime {
                Regime::Vanilla | Regime::Parity => mixture.draw(0, row)?,
                Regime::Balanced => balanced[turn(row).index()].draw(0, row)?,
            };
            counts.add(sequence.language, &sequence.sentence.symbols, languages);
        }
        Ok(counts)
    }

    /// The same sentences in both languages, by which parity is judged; without masked words unless they are seen.
    pub(crate) fn parallel(languages: &Languages, config: &TokenizerConfig) -> Result<Self> {
        let mut counts = WordCounts(BTreeMap::new());
        let mut source = Source::condition(languages, "tokenizer/parallel", Condition::B, Task::T0);
        let stream = Stream::new(languages.seed, "tokenizer/parallel/unmasked");
        let mut sampler = languages.sampler();
        for row in 0..(config.sentences as u64).div_ceil(10) {
            let sentence = match config.sees_masked {
                false => source.draw(0, row)?.sentence,
                true => sampler.sentence(&mut stream.at(0, row)),
            };
            for language in Language::ALL {
                counts.add(language, &sentence.symbols, languages);
            }
        }
        Ok(counts)
    }
}

impl WordCounts<Condition> {
    /// Running text: so many sentences with a masked word, and so many without one, which are the same in all languages;
    /// and the same for every tokenizer of the languages.
    pub fn text(languages: &Languages, sentences: u64) -> Result<Self> {
        let mut counts = WordCounts(BTreeMap::new());
        for drawn in [Condition::B, Condition::B_MASKED] {
            let mut source = Source::condition(languages, "tokenizer/measure", drawn, Task::T0);
            for row in 0..sentences {
                let sentence = source.draw(0, row)?.sentence;
                for condition in languages.conditions().into_iter().filter(|c| c.masked == drawn.masked) {
                    counts.add(condition, &sentence.symbols, languages);
                }
            }
        }
        Ok(counts)
    }

    /// Every word of the lexicon once: all of A's; B's that are not masked and, apart, those that are.
    pub(crate) fn lexicon(languages: &Languages) -> Self {
        let once = |condition: Condition| {
            let masked = |symbol| languages.has_mask(condition.language) && languages.mask.contains(symbol);
            languages.world.symbols().map(move |symbol| u64::from(masked(symbol) == condition.masked)).collect()
        };
        WordCounts(languages.conditions().into_iter().map(|condition| (condition, once(condition))).collect())
    }
}
