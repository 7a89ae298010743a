//! Sentences, as symbols.
//!
//! A sentence carries what each word is and what it belongs to: which subject a descriptor speaks of, which verb an
//! object follows, which word a modifier modifies. Nothing has to be guessed from its text later.

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

/// What is known of one word besides its symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordPlace {
    /// What it is.
    pub role: Role,
    /// The number of the phrase it stands in.
    pub phrase: u16,
    /// The position of the word it belongs to: a descriptor's subject, an object's relation verb, the word a modifier
    /// modifies.
    pub head: Option<u16>,
}

/// A sentence as symbols. `symbols` and `places` run in parallel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sentence {
    /// What is said.
    pub symbols: Vec<Symbol>,
    /// What each word is and what it belongs to.
    pub places: Vec<WordPlace>,
}

impl Sentence {
    /// The positions of the words in a terminal.
    pub fn positions(&self, terminal: Terminal) -> impl Iterator<Item = usize> + '_ {
        self.places.iter().enumerate().filter(move |(_, p)| p.role == Role::Terminal(terminal)).map(|(i, _)| i)
    }
}
