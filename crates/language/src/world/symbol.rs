//! Symbols: the abstract vocabulary that all languages share. A symbol is a typed number, never a string to match;
//! [`crate::World`] knows its class, property and value.

use invitro_base::named;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// One abstract word. Numbers run from 0 to [`crate::World::len`], grouped by category.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Symbol(pub u32);

impl Symbol {
    /// The symbol as an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A class of entities. The first half of the classes holds the subjects of relations, the second half the objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Class(pub u16);

/// A descriptive property, owned by one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Property(pub u16);

named! {
    /// The grammatical category of a symbol.
    Category {
        /// A common noun: an entity.
        Noun = "noun",
        /// A proper name: an entity of a subject class.
        Name = "name",
        /// A property with a value.
        Descriptor = "descriptor",
        /// A relation verb, between subjects and objects.
        Relation = "relation",
        /// Modifies a noun or descriptor.
        Adjective = "adjective",
        /// Modifies a relation verb.
        Adverb = "adverb",
        /// Joins a subject and a descriptor.
        Copula = "copula",
        /// Marks the objects of a relation verb.
        Preposition = "preposition",
        /// Joins entities, or verbs.
        Conjunction = "conjunction",
        /// Joins phrases.
        Separator = "separator",
    }
}

impl Category {
    /// Nouns and names.
    #[inline]
    pub(crate) fn is_entity(self) -> bool {
        matches!(self, Category::Noun | Category::Name)
    }

    /// Adjectives and adverbs, which the parser skips.
    #[inline]
    pub fn is_modifier(self) -> bool {
        matches!(self, Category::Adjective | Category::Adverb)
    }

    /// All but the function words.
    #[inline]
    pub fn is_open(self) -> bool {
        (self as u8) <= Category::Adverb as u8
    }

    /// Whether its words count for lexical distance: names are equal by design, function words few and short.
    #[inline]
    pub(crate) fn is_compared(self) -> bool {
        self.is_open() && self != Category::Name
    }

    /// The word class for the parser; `None` for a modifier.
    #[inline]
    pub fn part(self) -> Option<WordClass> {
        Some(match self {
            Category::Noun | Category::Name => WordClass::Entity,
            Category::Descriptor => WordClass::Descriptor,
            Category::Relation => WordClass::Relation,
            Category::Adjective | Category::Adverb => return None,
            Category::Copula => WordClass::Copula,
            Category::Preposition => WordClass::Preposition,
            Category::Conjunction => WordClass::Conjunction,
            Category::Separator => WordClass::Separator,
        })
    }
}

/// A category as the parser sees it: an entity (noun or name) becomes subject or object only by the parse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum WordClass {
    Entity,
    Relation,
    Descriptor,
    Copula,
    Preposition,
    Conjunction,
    Separator,
}

/// A terminal of the grammar that becomes a word: the word's role in its sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Terminal {
    Subject,
    Object,
    Relation,
    Descriptor,
    Copula,
    Preposition,
    Conjunction,
    Separator,
}

impl Terminal {
    /// Its word class.
    #[inline]
    pub fn part(self) -> WordClass {
        match self {
            Terminal::Subject | Terminal::Object => WordClass::Entity,
            Terminal::Relation => WordClass::Relation,
            Terminal::Descriptor => WordClass::Descriptor,
            Terminal::Copula => WordClass::Copula,
            Terminal::Preposition => WordClass::Preposition,
            Terminal::Conjunction => WordClass::Conjunction,
            Terminal::Separator => WordClass::Separator,
        }
    }
}

/// One of an experiment's spoken languages: its index and its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Language {
    index: u8,
    name: &'static str,
}

impl Language {
    /// The first language of the paper's pair, the majority language.
    pub const A: Language = Language { index: 0, name: "A" };
    /// The second, the minority language.
    pub const B: Language = Language { index: 1, name: "B" };

    /// A language by index and name. Names are leaked once each, so that a language is `Copy`; experiments have few.
    pub(crate) fn new(index: usize, name: &str) -> Language {
        static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        let known = names.get(name).copied().unwrap_or_else(|| Box::leak(name.to_owned().into_boxed_str()));
        names.insert(known);
        Language { index: index as u8, name: known }
    }

    /// Every unordered pair of these languages.
    pub fn pairs(languages: &[Language]) -> impl Iterator<Item = [Language; 2]> + '_ {
        let after = |at: usize| languages[at + 1..].iter().copied();
        languages.iter().enumerate().flat_map(move |(at, &one)| after(at).map(move |other| [one, other]))
    }

    /// Its index in [`crate::Languages::all`].
    #[inline]
    pub fn index(self) -> usize {
        self.index as usize
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.name
    }
}

/// Serialises the name.
impl Serialize for Language {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}
