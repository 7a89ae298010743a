//! What a sentence's categories say about its structure: the terminal of each word and the word it attaches to.
//!
//! The structure is a function of the categories alone: sampling fills the terminals the analysis gives, and checking
//! reads them off the same analysis, so the two can never disagree. A phrase runs to the next separator. A descriptor
//! speaks of the last subject of its phrase (under the paper's word order, the nearest before it); a relation verb of
//! all of them; an object belongs to the relation verb of the smallest constituent that has one.

use crate::world::symbol::Terminal;

/// No head: the word attaches to nothing.
pub const NONE: u16 = u16::MAX;

/// The structure of one sentence, modifiers set aside. One entry per word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Analysis {
    /// The terminal each word came from.
    pub terminals: Vec<Terminal>,
    /// The number of the phrase.
    pub phrase: Vec<u16>,
    /// A descriptor's subject, an object's relation verb; [`NONE`] otherwise.
    pub head: Vec<u16>,
}

impl Analysis {
    pub(crate) fn clear(&mut self) {
        self.terminals.clear();
        self.phrase.clear();
        self.head.clear();
    }

    #[inline]
    pub(crate) fn push(&mut self, terminal: Terminal, phrase: u16, head: u16) {
        self.terminals.push(terminal);
        self.phrase.push(phrase);
        self.head.push(head);
    }

    /// Whether every descriptor has a subject, every object a verb, and every relation verb a subject in its phrase.
    pub(crate) fn is_complete(&self) -> bool {
        let phrases = self.phrase.last().map_or(0, |&p| p as usize + 1);
        let mut subjects = vec![false; phrases];
        for (terminal, &phrase) in self.terminals.iter().zip(&self.phrase) {
            subjects[phrase as usize] |= *terminal == Terminal::Subject;
        }
        (0..self.terminals.len()).all(|i| match self.terminals[i] {
            Terminal::Descriptor | Terminal::Object => self.head[i] != NONE,
            Terminal::Relation => subjects[self.phrase[i] as usize],
            _ => true,
        })
    }
}
