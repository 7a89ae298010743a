//! Sentences as symbols, with the role and the head of every word, so that no later stage has to parse text.

use crate::world::symbol::{Symbol, Terminal};

/// The role of a word in its sentence: a terminal of the grammar, or a modifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// A terminal of the grammar.
    Terminal(Terminal),
    /// An adjective.
    Adjective,
    /// An adverb.
    Adverb,
}

/// The role, phrase and head of one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordPlace {
    /// Its role.
    pub role: Role,
    /// The number of its phrase.
    pub phrase: u16,
    /// The position of its head: a descriptor's subject, an object's relation verb, or the word that a modifier modifies.
    pub head: Option<u16>,
}

/// A sentence as symbols. `symbols` and `places` run in parallel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sentence {
    /// The words.
    pub symbols: Vec<Symbol>,
    /// The role, phrase and head of each word.
    pub places: Vec<WordPlace>,
}

impl Sentence {
    /// The positions of the words with this terminal.
    pub fn positions(&self, terminal: Terminal) -> impl Iterator<Item = usize> + '_ {
        self.places.iter().enumerate().filter(move |(_, p)| p.role == Role::Terminal(terminal)).map(|(i, _)| i)
    }
}
