//! What a sentence's categories say about its structure: the slot of each word and what it attaches to.
//!
//! The structure is a function of the categories alone: sampling fills the slots the analysis gives, and checking
//! reads them off the same analysis, so the two can never disagree. A phrase runs to the next separator. A descriptor
//! speaks of the last subject of its phrase (under the paper's word order, the nearest before it); a relation verb of
//! all of them; an object belongs to the relation verb of the smallest constituent that has one.

use crate::grammar::{BUILT_IN, Grammar};
use crate::normal::Normal;
use crate::order::Order;
use crate::symbol::{Part, Slot};

/// No head: the word attaches to nothing.
pub const NONE: u16 = u16::MAX;

/// The structure of one sentence, modifiers set aside. One entry per word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Analysis {
    pub slots: Vec<Slot>,
    /// The number of the phrase.
    pub phrase: Vec<u16>,
    /// A descriptor's subject, an object's relation verb; [`NONE`] otherwise.
    pub head: Vec<u16>,
}

impl Analysis {
    pub(crate) fn clear(&mut self) {
        self.slots.clear();
        self.phrase.clear();
        self.head.clear();
    }

    #[inline]
    pub(crate) fn push(&mut self, slot: Slot, phrase: u16, head: u16) {
        self.slots.push(slot);
        self.phrase.push(phrase);
        self.head.push(head);
    }

    /// Whether every descriptor has a subject, every object a verb, and every relation verb a subject in its phrase.
    pub fn is_complete(&self) -> bool {
        let phrases = self.phrase.last().map_or(0, |&p| p as usize + 1);
        let mut subjects = vec![false; phrases];
        for (slot, &phrase) in self.slots.iter().zip(&self.phrase) {
            subjects[phrase as usize] |= *slot == Slot::Subject;
        }
        (0..self.slots.len()).all(|i| match self.slots[i] {
            Slot::Descriptor | Slot::Object => self.head[i] != NONE,
            Slot::Relation => subjects[self.phrase[i] as usize],
            _ => true,
        })
    }
}

/// Finds the analysis of a category sequence, or that it has none.
#[derive(Clone, Debug)]
pub enum Analyser {
    /// One of the built-in grammars, whatever its probabilities: one pass from left to right.
    Order(Order),
    /// Any grammar: the most probable parse.
    General(Box<Normal>),
}

impl Analyser {
    pub fn new(grammar: &Grammar) -> Analyser {
        for (name, _) in BUILT_IN {
            let built_in = Grammar::load(name).expect("built-in grammars are valid");
            if same_shape(grammar, &built_in) {
                return Analyser::Order(Order::named(name, grammar.has_separator()));
            }
        }
        Analyser::General(Box::new(Normal::new(grammar)))
    }

    /// Fills `out` and returns `Ok`, or returns the position of the first word that cannot stand where it does; the
    /// sequence's length if it ends too early or no one word is to blame.
    #[inline]
    pub fn analyse(&self, parts: &[Part], out: &mut Analysis) -> Result<(), usize> {
        match self {
            Analyser::Order(order) => order.analyse(parts, out),
            Analyser::General(normal) => normal.analyse(parts, out),
        }
    }
}

/// The same rules, and the same of them possible, joining phrases aside.
fn same_shape(a: &Grammar, b: &Grammar) -> bool {
    let n = a.nonterminals().len();
    n == b.nonterminals().len()
        && (0..n).all(|i| {
            let (p, q) = (a.productions(i), b.productions(i));
            p.len() == q.len()
                && p.iter().zip(q).enumerate().all(|(k, (x, y))| {
                    let joins = i == 0 && k == 1;
                    x.items == y.items && (joins || (x.probability > 0.0) == (y.probability > 0.0))
                })
        })
}
