//! The structure of a sentence: the terminal of each word and its head.
//!
//! The structure is a function of the categories alone. Sampling and checking use the same analysis, so they cannot
//! disagree. A phrase ends at the next separator. A descriptor's head is the last subject of its phrase (in the paper's
//! word order, the nearest before it). A relation verb applies to all subjects of its phrase. An object's head is the
//! relation verb of the smallest constituent that contains one.

use crate::world::symbol::Terminal;

/// The head of a word that has none.
pub const NONE: u16 = u16::MAX;

/// The structure of one sentence without its modifiers. One entry per word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Analysis {
    /// The terminal of each word.
    pub terminals: Vec<Terminal>,
    /// The phrase of each word, from 0.
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
