//! The built-in word orders, analysed in one pass: the fast twin of [`crate::normal`], which is its test's oracle.
//!
//! ```text
//! svo   E (conj E)*  V (conj V)*         V = cop D          | rel prep E (conj E)*
//! sov   E (conj E)*  V (conj V)*         V = D cop          | E (conj E)* prep rel
//! vos   V (conj V)*  E (conj E)*         V as in svo
//! vso   C (conj V)*                      C = cop E (conj E)* D | rel E (conj E)* prep E (conj E)*
//! ```
//!
//! One word of look-ahead past a conjunction tells every case apart, so there is nothing to search.

use crate::analysis::{Analysis, NONE};
use crate::symbol::{Part, Slot};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Svo,
    Sov,
    Vso,
    Vos,
}

/// A built-in word order, with or without phrases joined by a separator.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    kind: Kind,
    separator: bool,
}

impl Order {
    pub(crate) fn named(name: &str, separator: bool) -> Order {
        let kind = match name {
            "svo" => Kind::Svo,
            "sov" => Kind::Sov,
            "vso" => Kind::Vso,
            _ => Kind::Vos,
        };
        Order { kind, separator }
    }

    pub(crate) fn analyse(&self, parts: &[Part], out: &mut Analysis) -> Result<(), usize> {
        out.clear();
        let mut scan = Scan { parts, at: 0, phrase: 0, out };
        loop {
            let start = scan.at;
            match self.kind {
                Kind::Svo => {
                    scan.entities(Slot::Subject, NONE)?;
                    scan.verbs(Scan::verb)?;
                }
                Kind::Sov => {
                    scan.entities(Slot::Subject, NONE)?;
                    scan.verbs(Scan::verb_last)?;
                }
                Kind::Vos => {
                    scan.verbs(Scan::verb)?;
                    scan.entities(Slot::Subject, NONE)?;
                }
                Kind::Vso => {
                    scan.clause()?;
                    while scan.peek() == Some(Part::Conjunction) {
                        scan.take(Part::Conjunction, Slot::Conjunction)?;
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
            scan.take(Part::Separator, Slot::Separator)?;
            scan.phrase += 1;
        }
    }
}

struct Scan<'a> {
    parts: &'a [Part],
    at: usize,
    phrase: u16,
    out: &'a mut Analysis,
}

impl Scan<'_> {
    #[inline]
    fn peek(&self) -> Option<Part> {
        self.parts.get(self.at).copied()
    }

    #[inline]
    fn take(&mut self, part: Part, slot: Slot) -> Result<(), usize> {
        self.take_with(part, slot, NONE)
    }

    #[inline]
    fn take_with(&mut self, part: Part, slot: Slot, head: u16) -> Result<(), usize> {
        if self.peek() != Some(part) {
            return Err(self.at);
        }
        self.out.push(slot, self.phrase, head);
        self.at += 1;
        Ok(())
    }

    /// `E (conj E)*`
    fn entities(&mut self, slot: Slot, head: u16) -> Result<(), usize> {
        self.take_with(Part::Entity, slot, head)?;
        while self.peek() == Some(Part::Conjunction) && self.parts.get(self.at + 1) == Some(&Part::Entity) {
            self.take(Part::Conjunction, Slot::Conjunction)?;
            self.take_with(Part::Entity, slot, head)?;
        }
        Ok(())
    }

    /// `V (conj V)*`
    fn verbs(&mut self, verb: fn(&mut Self) -> Result<(), usize>) -> Result<(), usize> {
        verb(self)?;
        while self.peek() == Some(Part::Conjunction) {
            self.take(Part::Conjunction, Slot::Conjunction)?;
            verb(self)?;
        }
        Ok(())
    }

    /// `cop D | rel prep E (conj E)*`
    fn verb(&mut self) -> Result<(), usize> {
        if self.peek() == Some(Part::Copula) {
            self.take(Part::Copula, Slot::Copula)?;
            return self.take(Part::Descriptor, Slot::Descriptor);
        }
        let verb = self.at as u16;
        self.take(Part::Relation, Slot::Relation)?;
        self.take(Part::Preposition, Slot::Preposition)?;
        self.entities(Slot::Object, verb)
    }

    /// `D cop | E (conj E)* prep rel`
    fn verb_last(&mut self) -> Result<(), usize> {
        if self.peek() == Some(Part::Descriptor) {
            self.take(Part::Descriptor, Slot::Descriptor)?;
            return self.take(Part::Copula, Slot::Copula);
        }
        let first = self.at;
        self.entities(Slot::Object, NONE)?;
        self.take(Part::Preposition, Slot::Preposition)?;
        let verb = self.at as u16;
        for i in first..self.at {
            if self.out.slots[i] == Slot::Object {
                self.out.head[i] = verb;
            }
        }
        self.take(Part::Relation, Slot::Relation)
    }

    /// `cop E (conj E)* D | rel E (conj E)* prep E (conj E)*`
    fn clause(&mut self) -> Result<(), usize> {
        if self.peek() == Some(Part::Copula) {
            self.take(Part::Copula, Slot::Copula)?;
            self.entities(Slot::Subject, NONE)?;
            return self.take(Part::Descriptor, Slot::Descriptor);
        }
        let verb = self.at as u16;
        self.take(Part::Relation, Slot::Relation)?;
        self.entities(Slot::Subject, NONE)?;
        self.take(Part::Preposition, Slot::Preposition)?;
        self.entities(Slot::Object, verb)
    }

    /// Every descriptor of the phrase that began at `start` speaks of its last subject.
    fn attach_descriptors(&mut self, start: usize) {
        let slots = &self.out.slots[start..];
        let Some(last) = slots.iter().rposition(|&s| s == Slot::Subject) else { return };
        for (i, &slot) in slots.iter().enumerate() {
            if slot == Slot::Descriptor {
                self.out.head[start + i] = (start + last) as u16;
            }
        }
    }
}
