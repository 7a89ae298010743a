//! The lexicons: every symbol's word in every language.
//!
//! Within a language no two symbols share a form. A form that occurs in two languages belongs to the same symbol, which is
//! masked in neither: else one language would train the string that the other withholds.

pub(crate) mod borrowed;
pub(crate) mod builder;
pub(crate) mod calibration;
pub(crate) mod distances;
pub(crate) mod export;
pub(crate) mod history;
pub(crate) mod letters;
pub(crate) mod levenshtein;
pub(crate) mod phonology;
pub(crate) mod word;
pub mod wordlist;

use crate::error::{Error, Result};
use crate::family::Family;
use crate::lexicon::borrowed::Borrowed;
use crate::lexicon::builder::{Builder, DistinctForms, MovedStems, script_of};
use crate::lexicon::distances::Distances;
use crate::lexicon::history::affixes::Affixes;
use crate::lexicon::history::drift::DriftRate;
use crate::lexicon::history::script;
use crate::lexicon::letters::FamilyLetters;
use crate::lexicon::levenshtein::{normalised, normalised_letters};
use crate::lexicon::phonology::{Letters, Morphemes};
use crate::lexicon::word::Word;
use crate::world::World;
use crate::world::mask::Mask;
use crate::world::symbol::{Language, Symbol};
use invitro_base::settings::LanguageConfig;
use std::collections::{BTreeSet, HashMap};

/// The words of all languages.
#[derive(Clone, Debug)]
pub struct Lexicon {
    words: Vec<Vec<Word>>,
    symbols: Vec<HashMap<Box<str>, Symbol>>,
    letters: Vec<Letters>,
    affixes: Affixes,
    distances: Distances,
    borrowed: Option<Borrowed>,
}

impl Lexicon {
    pub(crate) fn new(
        world: &World,
        config: &LanguageConfig,
        family: &Family,
        masks: &[Mask],
        seed: u64,
    ) -> Result<Lexicon> {
        let letters = FamilyLetters::new(config, family, seed);
        let affixes =
            |rates: &[DriftRate]| Affixes::new(config.affixes, config.affix_rate, family, &letters, rates, seed);
        let nodes = family.nodes();
        let undrifted = affixes(&vec![DriftRate::at(0.0); nodes.len()]);
        let builder = Builder::new(world, config, family, &letters, &undrifted, seed)?;
        let mut stems = builder.stems()?;
        let affixes = affixes(&stems.rates);
        let distinct = DistinctForms::new(family, masks, config.affix_rate);
        let mut morphemes = builder.words(&stems, &affixes, &distinct)?;
        // With real words among them the distance is measured, not asked for.
        if config.lexicon.is_empty() && builder.moved_masked(&stems, &morphemes, &distinct).is_some() {
            builder.calibrate_masked(&mut stems, &distinct);
            morphemes = builder.words(&stems, &affixes, &distinct)?;
            if let Some(MovedStems { names, asked, measured }) = builder.moved_masked(&stems, &morphemes, &distinct) {
                return Err(Error::mismatch(format!(
                    "at `language.affix_rate` = {} the masked stems of {names} are {measured:.2} apart instead of {asked}, \
                     because a masked word must differ from the other language's by at least a letter: use more affixes, \
                     a distance of 0, or one of at least about {:.2}",
                    config.affix_rate,
                    (measured * 100.0).ceil() / 100.0
                )));
            }
        }
        let languages = || (0..nodes.len()).filter(|&node| nodes[node].language.is_some());
        let write = |node: usize| {
            let word = |(symbol, &morphemes): (Symbol, &Morphemes)| {
                Word::new(morphemes, script_of(world, symbol, &nodes[node]))
            };
            world.symbols().zip(&morphemes[node]).map(word).collect::<Vec<Word>>()
        };
        let mut words: Vec<Vec<Word>> = languages().map(write).collect();
        let names: Vec<&str> = languages().map(|node| &*nodes[node].name).collect();
        let spoken_masks: Vec<&Mask> = languages().map(|node| &masks[node]).collect();
        let borrowed = Borrowed::assign(world, config, &names, &spoken_masks, &mut words, seed)?;
        let stem = |node: usize, symbol: Symbol| {
            let language = nodes.get(node)?.language?;
            borrowed.as_ref()?.concept(symbol)?;
            Some(words[language.index()][symbol.index()].stem().to_owned())
        };
        let distances = Distances::new(world, family, &morphemes, borrowed.is_some().then_some(&stem as _));
        let symbols = words.iter().map(|words| words.iter().map(|w| w.form().into()).zip(world.symbols()).collect());
        let symbols = symbols.collect();
        let letters = languages().map(|node| letters.nodes[node].clone()).collect();
        Ok(Lexicon { words, symbols, letters, affixes, distances, borrowed })
    }

    /// A symbol's word in a language.
    #[inline]
    pub fn word(&self, symbol: Symbol, language: Language) -> &Word {
        &self.words[language.index()][symbol.index()]
    }

    /// The same as a string.
    #[inline]
    pub fn form(&self, symbol: Symbol, language: Language) -> &str {
        self.words[language.index()][symbol.index()].form()
    }

    /// The symbol of a word in a language.
    #[inline]
    pub fn symbol(&self, form: &str, language: Language) -> Option<Symbol> {
        self.symbols[language.index()].get(form).copied()
    }

    /// The letter distribution of a language, in the shared alphabet.
    pub fn letters(&self, language: Language) -> &Letters {
        &self.letters[language.index()]
    }

    /// The prefixes and suffixes of all languages.
    pub fn affixes(&self) -> &Affixes {
        &self.affixes
    }

    /// The real words, if there are any.
    pub fn borrowed(&self) -> Option<&Borrowed> {
        self.borrowed.as_ref()
    }

    /// The letters of a language's real words, in order.
    pub(crate) fn borrowed_letters(&self, language: Language) -> BTreeSet<char> {
        let words = (0..).map(Symbol).zip(&self.words[language.index()]);
        words.filter(|&(symbol, _)| self.is_borrowed(symbol)).flat_map(|(_, word)| word.stem().chars()).collect()
    }

    fn is_borrowed(&self, symbol: Symbol) -> bool {
        self.borrowed.as_ref().is_some_and(|borrowed| borrowed.concept(symbol).is_some())
    }

    /// The measured distances between languages.
    pub fn distances(&self) -> &Distances {
        &self.distances
    }

    /// The distance between a symbol's words in two languages: Levenshtein's, divided by the longer word's length, in the
    /// shared alphabet; real words as written.
    pub fn distance(&self, symbol: Symbol, one: Language, other: Language) -> f64 {
        if self.is_borrowed(symbol) {
            let letters = |at: Language| -> Vec<char> {
                let word = self.word(symbol, at);
                let [prefix, suffix] = [word.prefix(), word.suffix()].map(script::read);
                [&prefix, word.stem(), &suffix].concat().chars().collect()
            };
            return normalised_letters(&letters(one), &letters(other));
        }
        let [one, other] = [one, other].map(|at| script::read(self.form(symbol, at)).to_ascii_lowercase());
        normalised(one.as_bytes(), other.as_bytes())
    }

    /// The mean length of the open classes' words, in letters.
    pub fn mean_length(&self, world: &World, language: Language) -> f64 {
        let letters = |symbol| self.form(symbol, language).chars().count();
        let open: Vec<usize> = world.symbols().filter(|&s| world.category(s).is_open()).map(letters).collect();
        open.iter().sum::<usize>() as f64 / open.len() as f64
    }
}
