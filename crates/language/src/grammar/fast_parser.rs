//! Parses the built-in word orders in one pass: the fast twin of [`crate::grammar::cyk`], its oracle in tests.
//!
//! ```text
//! svo   E (conj E)*  V (conj V)*         V = cop D          | rel prep E (conj E)*
//! sov   E (conj E)*  V (conj V)*         V = D cop          | E (conj E)* prep rel
//! vos   V (conj V)*  E (conj E)*         V as in svo
//! vso   C (conj V)*                      C = cop E (conj E)* D | rel E (conj E)* prep E (conj E)*
//! ```
//!
//! One word of look-ahead past a conjunction decides every case, so there is no search.

use crate::grammar::analysis::{Analysis, NONE};
use crate::world::symbol::{Terminal, WordClass};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordOrder {
    Svo,
    Sov,
    Vso,
    Vos,
}

/// A parser for a built-in word order, with or without phrases joined by a separator.
#[derive(Clone, Copy, Debug)]
pub struct FastParser {
    order: WordOrder,
    separator: bool,
}

impl FastParser {
    pub(crate) fn named(name: &str, separator: bool) -> FastParser {
        let order = match name {
            "svo" => WordOrder::Svo,
            "sov" => WordOrder::Sov,
            "vso" => WordOrder::Vso,
            _ => WordOrder::Vos,
        };
        FastParser { order, separator }
    }

    pub(crate) fn order(&self) -> WordOrder {
        self.order
    }

    pub(crate) fn parse(&self, parts: &[WordClass], out: &mut Analysis) -> Result<(), usize> {
        out.clear();
        let mut scan = Scan { parts, at: 0, phrase: 0, out };
        loop {
            let start = scan.at;
            match self.order {
                WordOrder::Svo => {
                    scan.entities(Terminal::Subject, NONE)?;
                    scan.verbs(Scan::verb)?;
                }
                WordOrder::Sov => {
                    scan.entities(Terminal::Subject, NONE)?;
                    scan.verbs(Scan::verb_last)?;
                }
                WordOrder::Vos => {
                    scan.verbs(Scan::verb)?;
                    scan.entities(Terminal::Subject, NONE)?;
                }
                WordOrder::Vso => {
                    scan.clause()?;
                    while scan.peek() == Some(WordClass::Conjunction) {
                        scan.take(Terminal::Conjunction)?;
                        scan.verb()?;
                    }
                }
            }
            scan.attach_descriptors(start);
            if scan.at == parts.len() {
                return Ok(());
            }
            if !self.separator {
                return Err(scan.at);
            }
            scan.take(Terminal::Separator)?;
            scan.phrase += 1;
        }
    }
}

struct Scan<'a> {
    parts: &'a [WordClass],
    at: usize,
    phrase: u16,
    out: &'a mut Analysis,
}

impl Scan<'_> {
    #[inline]
    fn peek(&self) -> Option<WordClass> {
        self.parts.get(self.at).copied()
    }

    #[inline]
    fn take(&mut self, terminal: Terminal) -> Result<(), usize> {
        self.take_with(terminal, NONE)
    }

    #[inline]
    fn take_with(&mut self, terminal: Terminal, head: u16) -> Result<(), usize> {
        if self.peek() != Some(terminal.part()) {
            return Err(self.at);
        }
        self.out.push(terminal, self.phrase, head);
        self.at += 1;
        Ok(())
    }

    /// `E (conj E)*`
    fn entities(&mut self, terminal: Terminal, head: u16) -> Result<(), usize> {
        self.take_with(terminal, head)?;
        while self.peek() == Some(WordClass::Conjunction) && self.parts.get(self.at + 1) == Some(&WordClass::Entity) {
            self.take(Terminal::Conjunction)?;
            self.take_with(terminal, head)?;
        }
        Ok(())
    }

    /// `V (conj V)*`
    fn verbs(&mut self, verb: fn(&mut Self) -> Result<(), usize>) -> Result<(), usize> {
        verb(self)?;
        while self.peek() == Some(WordClass::Conjunction) {
            self.take(Terminal::Conjunction)?;
            verb(self)?;
        }
        Ok(())
    }

    /// `cop D | rel prep E (conj E)*`
    fn verb(&mut self) -> Result<(), usize> {
        if self.peek() == Some(WordClass::Copula) {
            self.take(Terminal::Copula)?;
            return self.take(Terminal::Descriptor);
        }
        let verb = self.at as u16;
        self.take(Terminal::Relation)?;
        self.take(Terminal::Preposition)?;
        self.entities(Terminal::Object, verb)
    }

    /// `D cop | E (conj E)* prep rel`
    fn verb_last(&mut self) -> Result<(), usize> {
        if self.peek() == Some(WordClass::Descriptor) {
            self.take(Terminal::Descriptor)?;
            return self.take(Terminal::Copula);
        }
        let first = self.at;
        self.entities(Terminal::Object, NONE)?;
        self.take(Terminal::Preposition)?;
        let verb = self.at as u16;
        for i in first..self.at {
            if self.out.terminals[i] == Terminal::Object {
                self.out.head[i] = verb;
            }
        }
        self.take(Terminal::Relation)
    }

    /// `cop E (conj E)* D | rel E (conj E)* prep E (conj E)*`
    fn clause(&mut self) -> Result<(), usize> {
        if self.peek() == Some(WordClass::Copula) {
            self.take(Terminal::Copula)?;
            self.entities(Terminal::Subject, NONE)?;
            return self.take(Terminal::Descriptor);
        }
        let verb = self.at as u16;
        self.take(Terminal::Relation)?;
        self.entities(Terminal::Subject, NONE)?;
        self.take(Terminal::Preposition)?;
        self.entities(Terminal::Object, verb)
    }

    /// Sets the head of every descriptor of the phrase from `start`: the phrase's last subject.
    fn attach_descriptors(&mut self, start: usize) {
        let terminals = &self.out.terminals[start..];
        let Some(last) = terminals.iter().rposition(|&s| s == Terminal::Subject) else { return };
        for (i, &terminal) in terminals.iter().enumerate() {
            if terminal == Terminal::Descriptor {
                self.out.head[start + i] = (start + last) as u16;
            }
        }
    }
}
