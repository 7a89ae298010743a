//! The two lexicons: Algorithm 1 of the paper. Every symbol has a proto-stem, a cognate of it in each language, and
//! there perhaps a prefix and a suffix. Names are capitalised and the same in both; function words are short.
//!
//! Within a language no two symbols share a form, and a form of A that is also one of B belongs to the same symbol, which
//! is then not masked: else A would train the very string that is said to be unseen in B.
//! Lengths and affixes are stratified within a category rather than drawn word by word, so that even a small world's
//! words have the length that was asked for.

use crate::affixes::Affixes;
use crate::calibration::{Distance, calibrate, measure};
use crate::config::LanguageConfig;
use crate::drift::{Rate, StemHistory};
use crate::error::{Error, Result, range};
use crate::mask::Mask;
use crate::phonology::{Letters, Stem, is_vowel};
use crate::stream::{Rng, Stream};
use crate::symbol::{Category, Language, Symbol};
use crate::world::World;
use std::collections::{HashMap, HashSet};

/// Draws of a proto-stem, or of a symbol's forms, before the lexicon is said to be exhausted.
const TRIES: u64 = 1000;
/// Of these, how many redraw only the affixes before the stem goes too.
const AFFIX_TRIES: u64 = 20;
/// Stems spread this many lengths, centred on the mean; an odd number.
const SPREAD: f64 = 5.0;
const SHORTEST: f64 = 3.0;

/// A symbol's word in one language, and where its stem lies between prefix and suffix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    form: Box<str>,
    stem: (u8, u8),
}

impl Word {
    fn new(prefix: Stem, stem: Stem, suffix: Stem) -> Word {
        let form = [prefix.as_str(), stem.as_str(), suffix.as_str()].concat();
        let start = prefix.letters().len();
        Word { form: form.into(), stem: (start as u8, (start + stem.letters().len()) as u8) }
    }

    /// The whole word.
    pub fn form(&self) -> &str {
        &self.form
    }

    /// Its prefix, perhaps empty.
    pub fn prefix(&self) -> &str {
        &self.form[..self.stem.0 as usize]
    }

    /// Its stem.
    pub fn stem(&self) -> &str {
        &self.form[self.stem.0 as usize..self.stem.1 as usize]
    }

    /// Its suffix, perhaps empty.
    pub fn suffix(&self) -> &str {
        &self.form[self.stem.1 as usize..]
    }

    /// The byte offsets between morphemes, inside the word.
    pub fn boundaries(&self) -> impl Iterator<Item = usize> + '_ {
        let inside = move |b: &usize| *b > 0 && *b < self.form.len();
        [self.stem.0 as usize, self.stem.1 as usize].into_iter().filter(inside)
    }
}

/// The words of both languages.
#[derive(Clone, Debug)]
pub struct Lexicon {
    words: [Vec<Word>; 2],
    symbols: [HashMap<Box<str>, Symbol>; 2],
    letters: [Letters; 2],
    affixes: Affixes,
    stem_distance: Distance,
    word_distance: Distance,
}

impl Lexicon {
    pub(crate) fn new(world: &World, config: &LanguageConfig, mask: &Mask, seed: u64) -> Result<Lexicon> {
        let letters = rankings(config, seed);
        let affixes = |rate| Affixes::new(config.affixes, config.affix_rate, &letters, rate, seed);
        let builder = Builder::new(world, config, &letters, &affixes(Rate::at(0.0)), seed)?;
        let histories = builder.histories()?;
        let measured = |s: &Symbol| is_measured(world.category(*s));
        let cognates: Vec<&StemHistory> = world.symbols().filter(measured).map(|s| &histories[s.index()]).collect();
        let rate = calibrate(&cognates, config.distance);
        let affixes = affixes(rate);
        let unlike = |symbol| mask.contains(symbol) && !config.are_clones();
        let words = builder.words(histories, rate, &affixes, unlike)?;

        let pairs = |part: fn(&Word) -> &str| -> Vec<(&[u8], &[u8])> {
            let of = |language: usize, s: Symbol| part(&words[language][s.index()]).as_bytes();
            world.symbols().filter(measured).map(|s| (of(0, s), of(1, s))).collect()
        };
        let (stem_distance, word_distance) = (measure(&pairs(Word::stem)), measure(&pairs(Word::form)));
        let symbols =
            [0, 1].map(|language| words[language].iter().map(|w| w.form.clone()).zip(world.symbols()).collect());
        let [_, a, b] = letters;
        Ok(Lexicon { words, symbols, letters: [a, b], affixes, stem_distance, word_distance })
    }

    /// A symbol's word in a language.
    #[inline]
    pub fn word(&self, symbol: Symbol, language: Language) -> &Word {
        &self.words[language.index()][symbol.index()]
    }

    /// The same as a string.
    #[inline]
    pub fn form(&self, symbol: Symbol, language: Language) -> &str {
        &self.words[language.index()][symbol.index()].form
    }

    /// The symbol a word stands for in a language.
    #[inline]
    pub fn symbol(&self, form: &str, language: Language) -> Option<Symbol> {
        self.symbols[language.index()].get(form).copied()
    }

    /// How frequent the letters of a language are.
    pub fn letters(&self, language: Language) -> &Letters {
        &self.letters[language.index()]
    }

    /// The prefixes and suffixes of both languages.
    pub fn affixes(&self) -> &Affixes {
        &self.affixes
    }

    /// The measured distance of the stems, names and function words left out: what `language.distance` asks for.
    pub fn stem_distance(&self) -> Distance {
        self.stem_distance
    }

    /// The same of whole words, affixes included.
    pub fn word_distance(&self) -> Distance {
        self.word_distance
    }

    /// Mean letters of the open classes' words.
    pub fn mean_length(&self, world: &World, language: Language) -> f64 {
        let open: Vec<usize> =
            world.symbols().filter(|&s| world.category(s).is_open()).map(|s| self.form(s, language).len()).collect();
        open.iter().sum::<usize>() as f64 / open.len() as f64
    }
}

/// Names are the same by design and function words few and short: neither counts for the distance.
fn is_measured(category: Category) -> bool {
    category.is_open() && category != Category::Name
}

/// The letters of the proto-language, of A and of B.
fn rankings(config: &LanguageConfig, seed: u64) -> [Letters; 3] {
    let stream = Stream::new(seed, "lexicon/letters");
    let proto = Letters::proto(config.zipf, &mut stream.at(0, 0));
    let drift = config.letter_drift * config.distance;
    let [a, b] = [1, 2].map(|row| proto.descend(drift, &mut stream.at(0, row)));
    [proto, a, b]
}

/// A stratified draw: each symbol's number in [0, 1), one from each of as many equal steps as its category has symbols.
fn stratified(world: &World, seed: u64, purpose: &str) -> Vec<f64> {
    // The stream's name decides every word that is drawn: it must stay.
    let stream = Stream::new(seed, &format!("lexicon/deal/{purpose}"));
    let mut numbers = vec![0.0; world.len()];
    for category in Category::ALL {
        let mut rng = stream.at(0, category as u64);
        let mut symbols: Vec<Symbol> = world.of_category(category).collect();
        rng.shuffle(&mut symbols);
        let n = symbols.len() as f64;
        for (i, symbol) in symbols.into_iter().enumerate() {
            numbers[symbol.index()] = (i as f64 + rng.unit()) / n;
        }
    }
    numbers
}

struct Builder<'a> {
    world: &'a World,
    letters: &'a [Letters; 3],
    /// Mean stem length of each category.
    lengths: HashMap<Category, f64>,
    word_length: f64,
    /// What decides the lengths of proto-stems and of replacements, and per language the prefixes and suffixes.
    proto_lengths: Vec<f64>,
    replacement_lengths: Vec<f64>,
    affix_choices: [[Vec<f64>; 2]; 2],
    stems: Stream,
    affix_draws: Stream,
}

impl<'a> Builder<'a> {
    fn new(
        world: &'a World,
        config: &LanguageConfig,
        letters: &'a [Letters; 3],
        affixes: &Affixes,
        seed: u64,
    ) -> Result<Builder<'a>> {
        let mut lengths = HashMap::new();
        for category in Category::ALL {
            let added = affixes.mean_length(category);
            let mean = if category.is_open() { config.word_length - added } else { SHORTEST };
            range(
                mean >= SHORTEST,
                "language.word_length",
                config.word_length,
                format!("at least {:.1}: {added:.1} letters of affixes and {SHORTEST} of stem", SHORTEST + added),
            )?;
            lengths.insert(category, mean);
        }
        let stratified = |purpose: &str| stratified(world, seed, purpose);
        Ok(Builder {
            world,
            letters,
            lengths,
            word_length: config.word_length,
            proto_lengths: stratified("proto"),
            replacement_lengths: stratified("replacement"),
            affix_choices: Language::ALL
                .map(|language| ["prefix", "suffix"].map(|kind| stratified(&format!("{kind} {}", language.name())))),
            stems: Stream::new(seed, "lexicon/stems"),
            affix_draws: Stream::new(seed, "lexicon/forms"),
        })
    }

    /// A stem history for every symbol, no two with the same proto-stem.
    fn histories(&self) -> Result<Vec<StemHistory>> {
        let mut taken: HashSet<Stem> = HashSet::with_capacity(self.world.len());
        self.world
            .symbols()
            .map(|symbol| {
                for attempt in 0..TRIES {
                    let mut rng = self.stems.at(attempt, symbol.0.into());
                    let proto = self.proto(symbol, &mut rng);
                    if taken.insert(proto) {
                        return Ok(self.history(symbol, proto, &mut rng));
                    }
                }
                Err(self.exhausted(symbol))
            })
            .collect()
    }

    fn proto(&self, symbol: Symbol, rng: &mut Rng) -> Stem {
        let length = self.length(symbol, &self.proto_lengths);
        loop {
            let stem = self.letters[0].stem(length, rng);
            // Function words have a consonant, or they would all sound alike.
            if self.world.category(symbol).is_open() || !stem.letters().iter().all(|&l| is_vowel(l)) {
                return stem;
            }
        }
    }

    fn history(&self, symbol: Symbol, proto: Stem, rng: &mut Rng) -> StemHistory {
        let length = self.length(symbol, &self.replacement_lengths);
        StemHistory::new(proto, [&self.letters[1], &self.letters[2]], length, rng)
    }

    /// A stem's length, evenly spread about its category's mean.
    fn length(&self, symbol: Symbol, numbers: &[f64]) -> usize {
        let category = self.world.category(symbol);
        let number = numbers[symbol.index()];
        if !category.is_open() {
            return 2 + (number * 3.0) as usize;
        }
        let mean = self.lengths[&category];
        let spread = SPREAD.min(1.0 + 2.0 * (mean - SHORTEST).floor());
        (mean - (spread - 1.0) / 2.0 + number * spread).floor() as usize
    }

    /// Both languages' words. A form that is taken, or is the same in both though it has to be `unlike`, redraws the
    /// affixes first, then the stem, at the same rate.
    fn words(
        &self,
        histories: Vec<StemHistory>,
        rate: Rate,
        affixes: &Affixes,
        unlike: impl Fn(Symbol) -> bool,
    ) -> Result<[Vec<Word>; 2]> {
        let mut owner: HashMap<Box<str>, Symbol> = HashMap::with_capacity(2 * histories.len());
        let mut words = [Vec::with_capacity(histories.len()), Vec::with_capacity(histories.len())];
        for (symbol, mut history) in self.world.symbols().zip(histories) {
            let mut attempt = 0;
            let pair = loop {
                let pair = self.pair(symbol, &history, rate, affixes, attempt);
                let free = |w: &Word| owner.get(&w.form).is_none_or(|&s| s == symbol);
                if pair.iter().all(free) && !(unlike(symbol) && pair[0].form == pair[1].form) {
                    break pair;
                }
                attempt += 1;
                if attempt == TRIES {
                    return Err(self.exhausted(symbol));
                }
                if attempt >= AFFIX_TRIES {
                    // Beyond the attempts that `histories` can have used.
                    let mut rng = self.stems.at(TRIES + attempt, symbol.0.into());
                    let proto = self.proto(symbol, &mut rng);
                    history = self.history(symbol, proto, &mut rng);
                }
            };
            for (list, word) in words.iter_mut().zip(pair) {
                owner.insert(word.form.clone(), symbol);
                list.push(word);
            }
        }
        Ok(words)
    }

    fn pair(&self, symbol: Symbol, history: &StemHistory, rate: Rate, affixes: &Affixes, attempt: u64) -> [Word; 2] {
        let category = self.world.category(symbol);
        let empty = Stem::new(b"");
        if category == Category::Name {
            let [stem, _] = history.cognates(Rate::at(0.0));
            let mut letters = stem.letters().to_vec();
            letters[0].make_ascii_uppercase();
            return [0, 1].map(|_| Word::new(empty, Stem::new(&letters), empty));
        }
        let stems = history.cognates(rate);
        let mut rng = self.affix_draws.at(attempt, symbol.0.into());
        Language::ALL.map(|language| {
            // Stratified, and after a collision whatever is drawn.
            let numbers = self.affix_choices[language.index()]
                .each_ref()
                .map(|choice| if attempt == 0 { choice[symbol.index()] } else { rng.unit() });
            let [prefix, suffix] = affixes.pick(category, language, numbers);
            Word::new(prefix, stems[language.index()], suffix)
        })
    }

    fn exhausted(&self, symbol: Symbol) -> Error {
        Error::Exhausted { asked: self.world.len(), found: symbol.index(), length: self.word_length }
    }
}
