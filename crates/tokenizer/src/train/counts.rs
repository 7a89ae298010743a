//! Texts as counts of words: what a tokenizer is trained on, counted by language, and what it is measured on, counted by
//! condition.

use crate::error::Result;
use invitro_base::settings::{Regime, TokenizerConfig};
use invitro_language::{
    Language, LanguageCondition, Languages, MixtureConfig, Pool, Sentence, Sequence, Source, Stream, Symbol, Task,
    Withhold,
};
use std::collections::BTreeMap;

/// Sentences of each condition that a tokenizer is measured on, unless asked otherwise.
pub const MEASURED_SENTENCES: u64 = 2000;

/// Plain sentences: no text here has prompts.
const SENTENCES: [f64; 3] = [1.0, 0.0, 0.0];

/// How often each symbol occurs, by [`Language`] or by [`LanguageCondition`].
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
        let turn = |row: u64| languages.all()[row as usize % languages.all().len()];
        if config.sees_masked {
            let stream = Stream::new(languages.seed, "tokenizer/unmasked");
            let shares = languages.family.shares(mixture);
            let mut sampler = languages.sampler();
            for row in 0..rows {
                let mut rng = stream.at(0, row);
                let language = match config.regime {
                    Regime::Balanced => turn(row),
                    _ => languages.pick(&shares, rng.unit()),
                };
                counts.add(language, &sampler.sentence(language, &mut rng).symbols, languages);
            }
            return Ok(counts);
        }
        let withhold = if mixture.withholds() { mixture.withhold } else { Withhold::Words };
        let unmasked =
            MixtureConfig { tasks: SENTENCES, withhold, translation: 0.0, code_switch: 0.0, ..mixture.clone() };
        let mut mixture = Source::mixture(languages, "tokenizer", &unmasked);
        let unmasked = |&language: &Language| {
            let unmasked = LanguageCondition { language, masked: false };
            Source::condition(languages, "tokenizer", unmasked, Task::T0).from_pool(Pool::Training)
        };
        let mut balanced: Vec<Source> = languages.all().iter().map(unmasked).collect();
        for row in 0..rows {
            let sequence = match config.regime {
                Regime::Vanilla | Regime::Parity => mixture.draw(0, row)?,
                Regime::Balanced => balanced[turn(row).index()].draw(0, row)?,
            };
            counts.add(sequence.language, &sequence.sentence.symbols, languages);
        }
        Ok(counts)
    }

    /// The same sentences in all languages, by which parity is judged; without masked words unless they are seen.
    pub(crate) fn parallel(languages: &Languages, config: &TokenizerConfig) -> Result<Self> {
        let mut counts = WordCounts(BTreeMap::new());
        let mut source = Source::condition(languages, "tokenizer/parallel", unmasked(languages), Task::T0);
        let stream = Stream::new(languages.seed, "tokenizer/parallel/unmasked");
        let mut sampler = languages.sampler();
        for row in 0..(config.sentences as u64).div_ceil(10) {
            let sentence = match config.sees_masked {
                false => source.draw_where(0, row, |sequence| is_unmasked(languages, sequence))?.sentence,
                true => sampler.sentence(languages.all()[0], &mut stream.at(0, row)),
            };
            for &language in languages.all() {
                counts.add(language, &sentence.symbols, languages);
            }
        }
        Ok(counts)
    }
}

impl WordCounts<LanguageCondition> {
    /// Running text: so many sentences with a masked word, and so many without any, which are the same in all languages;
    /// and the same for every tokenizer of the languages.
    pub fn text(languages: &Languages, sentences: u64) -> Result<Self> {
        let mut counts = WordCounts(BTreeMap::new());
        let masked = languages.masked().map(|language| LanguageCondition { language, masked: true });
        for drawn in [unmasked(languages)].into_iter().chain(masked) {
            for sentence in measured(languages, drawn, sentences) {
                let sentence = sentence?;
                let read = |c: &LanguageCondition| if drawn.masked { *c == drawn } else { !c.masked };
                for condition in languages.conditions().into_iter().filter(read) {
                    counts.add(condition, &sentence.symbols, languages);
                }
            }
        }
        Ok(counts)
    }

    /// Every word of the lexicon once: a language's that are not masked and, apart, those that are.
    pub(crate) fn lexicon(languages: &Languages) -> Self {
        let once = |condition: LanguageCondition| {
            let masked = |symbol| languages.mask(condition.language).contains(symbol);
            languages.world.symbols().map(move |symbol| u64::from(masked(symbol) == condition.masked)).collect()
        };
        // Where facts are withheld, no word is masked.
        let has_words = |c: &LanguageCondition| !c.masked || !languages.mask(c.language).symbols().is_empty();
        WordCounts(languages.conditions().into_iter().filter(has_words).map(|c| (c, once(c))).collect())
    }
}

/// The unmasked sentences of [`WordCounts::text`] as text: line i says the same in every language.
pub fn measured_text(languages: &Languages, sentences: u64) -> Result<Vec<(Language, Vec<String>)>> {
    let all: Vec<Sentence> = measured(languages, unmasked(languages), sentences).collect::<Result<_>>()?;
    let lines = |language| all.iter().map(|sentence| languages.text(&sentence.symbols, language)).collect();
    Ok(languages.all().iter().map(|&language| (language, lines(language))).collect())
}

/// The sentences of a condition that tokenizers are measured on.
fn measured(languages: &Languages, drawn: LanguageCondition, sentences: u64) -> impl Iterator<Item = Result<Sentence>> {
    let mut source = Source::condition(languages, "tokenizer/measure", drawn, Task::T0);
    (0..sentences).map(move |row| {
        let fits = |sequence: &Sequence| drawn.masked || is_unmasked(languages, sequence);
        Ok(source.draw_where(0, row, fits)?.sentence)
    })
}

/// Sentences of the first masked language without a word that is masked there. Which one it is decides what is drawn.
fn unmasked(languages: &Languages) -> LanguageCondition {
    let language = languages.masked().next().unwrap_or(languages.all()[0]);
    LanguageCondition { language, masked: false }
}

/// Whether no language withholds a sentence.
fn is_unmasked(languages: &Languages, sequence: &Sequence) -> bool {
    !languages.all().iter().any(|&language| languages.withholds(language, &sequence.sentence))
}
