//! Word counts of texts: training text by language, measured text by condition.

use crate::error::Result;
use invitro_base::settings::{Regime, TokenizerConfig};
use invitro_language::{
    Language, LanguageCondition, Languages, MixtureConfig, Pool, Sentence, Sequence, Source, Stream, Symbol, Task,
    Withhold,
};
use std::collections::BTreeMap;

/// The default number of measured sentences per condition.
pub const MEASURED_SENTENCES: u64 = 2000;

/// Free generation only: sentences without prompts.
const SENTENCES: [f64; 3] = [1.0, 0.0, 0.0];

/// The counts of symbols, by [`Language`] or by [`LanguageCondition`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordCounts<K: Ord>(BTreeMap<K, Vec<u64>>);

impl<K: Ord + Copy> WordCounts<K> {
    fn add(&mut self, key: K, symbols: &[Symbol], languages: &Languages) {
        let counts = self.0.entry(key).or_insert_with(|| vec![0; languages.world.len()]);
        symbols.iter().for_each(|symbol| counts[symbol.index()] += 1);
    }

    /// The symbols that occur, with their counts, in order.
    pub(crate) fn words(&self, key: K) -> impl Iterator<Item = (Symbol, u64)> + '_ {
        let counts = self.0.get(&key).into_iter().flatten().zip(0..);
        counts.filter(|&(&count, _)| count > 0).map(|(&count, i)| (Symbol(i), count))
    }

    /// The counted languages or conditions.
    pub(crate) fn keys(&self) -> impl Iterator<Item = K> + '_ {
        self.0.keys().copied()
    }
}

impl WordCounts<Language> {
    /// The training sentences of a regime.
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

    /// The same sentences in all languages, for the parity regime; without masked words unless `sees_masked`.
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
    /// Running text, the same for every tokenizer: `sentences` with a masked word per masked language, and `sentences`
    /// without, the same in all languages.
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

    /// Every word of the lexicon once, by language and whether it is masked.
    pub(crate) fn lexicon(languages: &Languages) -> Self {
        let once = |condition: LanguageCondition| {
            let masked = |symbol| languages.mask(condition.language).contains(symbol);
            languages.world.symbols().map(move |symbol| u64::from(masked(symbol) == condition.masked)).collect()
        };
        // If facts are withheld, no word is masked.
        let has_words = |c: &LanguageCondition| !c.masked || !languages.mask(c.language).symbols().is_empty();
        WordCounts(languages.conditions().into_iter().filter(has_words).map(|c| (c, once(c))).collect())
    }
}

/// The unmasked sentences of [`WordCounts::text`] as text: line i is the same sentence in every language, in its word order.
pub fn measured_text(languages: &Languages, sentences: u64) -> Result<Vec<(Language, Vec<String>)>> {
    let drawn = unmasked(languages);
    let all: Vec<Sentence> = measured(languages, drawn, sentences).collect::<Result<_>>()?;
    let line = |sentence: &Sentence, language: Language| {
        languages.text(&languages.reordered(sentence, drawn.language, language), language)
    };
    let lines = |language| all.iter().map(|sentence| line(sentence, language)).collect();
    Ok(languages.all().iter().map(|&language| (language, lines(language))).collect())
}

/// The measured sentences of a condition.
fn measured(languages: &Languages, drawn: LanguageCondition, sentences: u64) -> impl Iterator<Item = Result<Sentence>> {
    let mut source = Source::condition(languages, "tokenizer/measure", drawn, Task::T0);
    (0..sentences).map(move |row| {
        let fits = |sequence: &Sequence| drawn.masked || is_unmasked(languages, sequence);
        Ok(source.draw_where(0, row, fits)?.sentence)
    })
}

/// Unmasked sentences of the first masked language. The choice of language determines the sample.
fn unmasked(languages: &Languages) -> LanguageCondition {
    let language = languages.masked().next().unwrap_or(languages.all()[0]);
    LanguageCondition { language, masked: false }
}

/// Whether no language withholds a sentence.
fn is_unmasked(languages: &Languages, sequence: &Sequence) -> bool {
    !languages.all().iter().any(|&language| languages.withholds(language, &sequence.sentence))
}
