//! Symbols: the abstract vocabulary both languages share. A symbol is a number with a type, never a string to be
//! matched; [`crate::World`] knows its class, property and value.

use serde::{Deserialize, Serialize};

/// One abstract word. Numbers run from 0 to [`crate::World::len`], grouped by category.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Symbol(pub u32);

impl Symbol {
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

/// The grammatical category of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    Noun,
    Name,
    Descriptor,
    Relation,
    Adjective,
    Adverb,
    Copula,
    Preposition,
    Conjunction,
    Separator,
}

impl Category {
    pub const ALL: [Category; 10] = [
        Category::Noun,
        Category::Name,
        Category::Descriptor,
        Category::Relation,
        Category::Adjective,
        Category::Adverb,
        Category::Copula,
        Category::Preposition,
        Category::Conjunction,
        Category::Separator,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Category::Noun => "noun",
            Category::Name => "name",
            Category::Descriptor => "descriptor",
            Category::Relation => "relation",
            Category::Adjective => "adjective",
            Category::Adverb => "adverb",
            Category::Copula => "copula",
            Category::Preposition => "preposition",
            Category::Conjunction => "conjunction",
            Category::Separator => "separator",
        }
    }

    /// Nouns and names.
    #[inline]
    pub fn is_entity(self) -> bool {
        matches!(self, Category::Noun | Category::Name)
    }

    /// Adjectives and adverbs: set aside when a sentence is parsed.
    #[inline]
    pub fn is_modifier(self) -> bool {
        matches!(self, Category::Adjective | Category::Adverb)
    }

    /// Everything but the function words.
    #[inline]
    pub fn is_open(self) -> bool {
        (self as u8) <= Category::Adverb as u8
    }

    /// What the recogniser sees of a word: `None` for a modifier.
    #[inline]
    pub fn part(self) -> Option<Part> {
        Some(match self {
            Category::Noun | Category::Name => Part::Entity,
            Category::Descriptor => Part::Descriptor,
            Category::Relation => Part::Relation,
            Category::Adjective | Category::Adverb => return None,
            Category::Copula => Part::Copula,
            Category::Preposition => Part::Preposition,
            Category::Conjunction => Part::Conjunction,
            Category::Separator => Part::Separator,
        })
    }
}

/// A category as the grammar tells them apart: whether an entity is subject or object follows from the parse, and
/// whether it may be is a question of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Part {
    Entity,
    Relation,
    Descriptor,
    Copula,
    Preposition,
    Conjunction,
    Separator,
}

impl Part {
    pub const ALL: [Part; 7] = [
        Part::Entity,
        Part::Relation,
        Part::Descriptor,
        Part::Copula,
        Part::Preposition,
        Part::Conjunction,
        Part::Separator,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Part::Entity => "entity",
            Part::Relation => "relation",
            Part::Descriptor => "descriptor",
            Part::Copula => "copula",
            Part::Preposition => "preposition",
            Part::Conjunction => "conjunction",
            Part::Separator => "separator",
        }
    }
}

/// A terminal of the grammar that becomes a word: the role the word plays in its sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Slot {
    Subject,
    Object,
    Relation,
    Descriptor,
    Copula,
    Preposition,
    Conjunction,
    Separator,
}

impl Slot {
    #[inline]
    pub fn part(self) -> Part {
        match self {
            Slot::Subject | Slot::Object => Part::Entity,
            Slot::Relation => Part::Relation,
            Slot::Descriptor => Part::Descriptor,
            Slot::Copula => Part::Copula,
            Slot::Preposition => Part::Preposition,
            Slot::Conjunction => Part::Conjunction,
            Slot::Separator => Part::Separator,
        }
    }
}

/// The majority language A and the minority language B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum Language {
    A,
    B,
}

impl Language {
    pub const BOTH: [Language; 2] = [Language::A, Language::B];

    pub fn name(self) -> &'static str {
        match self {
            Language::A => "A",
            Language::B => "B",
        }
    }
}
