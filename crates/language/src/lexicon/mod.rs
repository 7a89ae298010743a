//! The lexicons: every symbol's word in every language.
//!
//! Within a language no two symbols share a form. A form that occurs in two languages belongs to the same symbol, which is
//! masked in neither: else one language would train the string that the other withholds.

pub(crate) mod borrowed;
pub(crate) mod builder;
pub(crate) mod calibration;
pub(crate) mod cldf;
pub(crate) mod contact;
pub(crate) mod derivation;
pub(crate) mod distances;
pub(crate) mod distinct;
pub(crate) mod export;
pub(crate) mod history;
pub(crate) mod letters;
pub(crate) mod levenshtein;
pub(crate) mod masked;
pub(crate) mod phonology;
pub(crate) mod regular;
pub(crate) mod regularity;
pub(crate) mod word;
pub mod wordlist;

use crate::error::{Error, Result};
use crate::family::Family;
use crate::lexicon::borrowed::Borrowed;
use crate::lexicon::builder::{Builder, Inventories, Stems, script_of};
use crate::lexicon::contact::Contact;
use crate::lexicon::distances::Distances;
use crate::lexicon::distinct::DistinctForms;
use crate::lexicon::history::affixes::Affixes;
use crate::lexicon::history::drift::DriftRate;
use crate::lexicon::history::laws::law::Laws;
use crate::lexicon::history::morphology::fusional::Endings;
use crate::lexicon::history::morphology::templatic::Patterns;
use crate::lexicon::history::script;
use crate::lexicon::letters::FamilyLetters;
use crate::lexicon::levenshtein::{normalised, normalised_letters};
use crate::lexicon::masked::{MovedStems, TOLERANCE};
use crate::lexicon::phonology::{Letters, Morphemes, Stem};
use crate::lexicon::regularity::Regularity;
use crate::lexicon::word::Word;
use crate::world::World;
use crate::world::mask::Mask;
use crate::world::symbol::{Language, Symbol};
use invitro_base::settings::{LanguageConfig, Morphology};
use std::collections::{BTreeSet, HashMap};

/// How often laws are drawn for a distance that words drawn anew have moved.
const TRIES_OF_LAWS: usize = 5;

/// The words of all languages.
#[derive(Clone, Debug)]
pub struct Lexicon {
    words: Vec<Vec<Word>>,
    symbols: Vec<HashMap<Box<str>, Symbol>>,
    letters: Vec<Letters>,
    affixes: Affixes,
    /// The stems of every node, in the shared alphabet, with the proto-language last.
    stems: Vec<Vec<Stem>>,
    /// The same before loans and false friends.
    inherited: Vec<Vec<Stem>>,
    /// The sound laws of each node that changed by laws.
    laws: Vec<Option<Laws>>,
    contact: Contact,
    /// Whether unrelated stems have replaced some.
    has_replaced_stems: bool,
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
        let nodes = family.nodes();
        let has = |morphology: Morphology| nodes.iter().any(|node| node.morphology == morphology);
        let affixes = |rates: &[DriftRate], laws: &[Option<Laws>]| {
            Affixes::new(config.affixes, config.affix_rate, family, &letters, rates, laws, seed)
        };
        let inventories = |Stems { rates, laws, .. }: &Stems| -> Result<Inventories> {
            let endings = || Endings::new(config.classes, family, &letters, rates, laws, seed);
            let patterns = || Patterns::new(config.affixes, family, &letters, rates, seed);
            Ok(Inventories {
                affixes: affixes(rates, laws)?,
                endings: has(Morphology::Fusional).then(endings).transpose()?,
                patterns: has(Morphology::Templatic).then(patterns),
            })
        };
        let undrifted = affixes(&vec![DriftRate::at(0.0); nodes.len()], &vec![None; nodes.len()])?;
        let builder = Builder::new(world, config, family, &letters, &undrifted, seed)?;
        let distinct = DistinctForms::new(family, masks, config);
        let make_words = |stems: &Stems, inventories: &Inventories| match stems.laws.iter().any(Option::is_some) {
            true => builder.regular_words(stems, inventories, &distinct),
            false => builder.words(stems, inventories, &distinct),
        };
        let mut shifts = vec![0.0; family.branches().len()];
        let mut tries = 0;
        let (mut stems, inventories, mut made) = loop {
            let stems = builder.stems(&shifts)?;
            let inventories = inventories(&stems)?;
            let made = make_words(&stems, &inventories)?;
            let shortfalls = builder.shortfalls(&made.stems);
            let largest = shortfalls.iter().map(|shortfall| shortfall.abs()).fold(0.0, f64::max);
            if largest <= TOLERANCE {
                break (stems, inventories, made);
            }
            tries += 1;
            if tries == TRIES_OF_LAWS {
                return Err(Error::mismatch(format!(
                    "sound laws miss the distance that was asked for by {:.2}, because too many words become homophones: ask \
                     for another distance or data seed, for longer words or a larger world",
                    largest
                )));
            }
            shifts.iter_mut().zip(shortfalls).for_each(|(shift, shortfall)| *shift += shortfall);
        };
        // With real words among them the distance is measured, not asked for.
        if config.lexicon.is_empty() && builder.moved_masked(&stems, &made.stems, &distinct).is_some() {
            if stems.laws.iter().all(Option::is_none) {
                builder.calibrate_masked(&mut stems, &inventories, &distinct);
                made = make_words(&stems, &inventories)?;
            }
            if let Some(MovedStems { names, asked, measured, is_regular }) =
                builder.moved_masked(&stems, &made.stems, &distinct)
            {
                let (at, more) = match has(Morphology::Fusional) {
                    true => ("with fusional words".to_owned(), "another `language.morphology`"),
                    false => (format!("at `language.affix_rate` = {}", config.affix_rate), "more affixes"),
                };
                let asked = (asked * 100.0).round() / 100.0;
                let instead = match is_regular {
                    true => "or other laws".to_owned(),
                    false => {
                        format!("a distance of 0, or one of at least about {:.2}", (measured * 100.0).ceil() / 100.0)
                    }
                };
                return Err(Error::mismatch(format!(
                    "{at} the masked stems of {names} are {measured:.2} apart instead of {asked}, because a masked word \
                     must differ from the other language's by at least a letter: use {more}, {instead}"
                )));
            }
        }
        if !config.lexicon.is_empty() && nodes.iter().any(|node| node.loans > 0.0 || node.false_friends > 0.0) {
            return Err(Error::mismatch(
                "`language.lexicon` gives symbols real words, of which none are loans or false friends: leave `loans` and \
                 `false_friends` at 0",
            ));
        }
        let inherited = made.stems.clone();
        let contact = Contact::apply(world, family, masks, &builder, &inventories, &mut made, seed)?;
        let languages = || (0..nodes.len()).filter(|&node| nodes[node].language.is_some());
        let write = |node: usize| {
            let word = |(symbol, &morphemes): (Symbol, &Morphemes)| {
                let script = script_of(world, symbol, &nodes[node]);
                // A false friend is the first language's word as it is.
                let maker = contact.friend(symbol, node).and_then(|_| languages().next()).unwrap_or(node);
                match nodes[maker].morphology == Morphology::Templatic && world.category(symbol).is_compared() {
                    true => Word::templatic(morphemes, script),
                    false => Word::new(morphemes, script),
                }
            };
            world.symbols().zip(&made.morphemes[node]).map(word).collect::<Vec<Word>>()
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
        let distances = Distances::new(world, family, &made, &inherited, borrowed.is_some().then_some(&stem as _));
        let symbols = words.iter().map(|words| words.iter().map(|w| w.form().into()).zip(world.symbols()).collect());
        let symbols = symbols.collect();
        let letters_of = |node: usize| match &stems.laws[node] {
            // Laws give a language other letters than it would draw.
            Some(_) => letters.nodes[node].by_count(made.stems[node].iter()),
            None => letters.nodes[node].clone(),
        };
        let letters = languages().map(letters_of).collect();
        let Inventories { affixes, .. } = inventories;
        let has_replaced_stems = stems.rates.iter().any(|rate| rate.replaced > 0.0);
        Ok(Lexicon {
            words,
            symbols,
            letters,
            affixes,
            stems: made.stems,
            inherited,
            laws: stems.laws,
            contact,
            has_replaced_stems,
            distances,
            borrowed,
        })
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

    /// Whether unrelated stems have replaced some of the proto-language's.
    pub(crate) fn has_replaced_stems(&self) -> bool {
        self.has_replaced_stems
    }

    /// The loans and false friends of all languages.
    pub(crate) fn contact(&self) -> &Contact {
        &self.contact
    }

    /// A symbol's stem in the proto-language.
    pub fn proto_stem(&self, symbol: Symbol) -> &Stem {
        &self.stems[self.stems.len() - 1][symbol.index()]
    }

    /// Its stem in a node of the family, in the shared alphabet.
    pub(crate) fn stem(&self, symbol: Symbol, node: usize) -> &Stem {
        &self.stems[node][symbol.index()]
    }

    /// The same before loans and false friends: what its descendants inherit.
    pub(crate) fn inherited_stem(&self, symbol: Symbol, node: usize) -> &Stem {
        &self.inherited[node][symbol.index()]
    }

    /// The regularity of a node's stems, given another's, over the generated words that count for distances.
    pub fn regularity(&self, world: &World, given: usize, node: usize) -> Regularity {
        let counts = |&symbol: &Symbol| world.category(symbol).is_compared() && !self.is_borrowed(symbol);
        let pair = |symbol: Symbol| (self.stems[given][symbol.index()], self.stems[node][symbol.index()]);
        Regularity::new(world.symbols().filter(counts).map(pair))
    }

    /// The sound laws that made a node of the family, if laws did.
    pub fn laws(&self, node: usize) -> Option<&Laws> {
        self.laws[node].as_ref()
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

    /// Whether it is a real word.
    pub(crate) fn is_borrowed(&self, symbol: Symbol) -> bool {
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
