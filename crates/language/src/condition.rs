//! Conditions: what a model is judged on. A language, with or without a word that is withheld from its training.

use crate::languages::Languages;
use crate::symbol::Language;
use serde::{Serialize, Serializer};
use std::fmt;

/// A language, and whether its sentences have a masked word. B† of the paper is B, masked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Condition {
    /// Sentences in this language,
    pub language: Language,
    /// with a masked word if `true`, without one if not.
    pub masked: bool,
}

impl Condition {
    /// Sentences of A.
    pub const A: Condition = Condition { language: Language::A, masked: false };
    /// Sentences of B without a masked word.
    pub const B: Condition = Condition { language: Language::B, masked: false };
    /// Sentences of B with a masked word.
    pub const B_MASKED: Condition = Condition { language: Language::B, masked: true };
}

/// `A`, `B` or `B_masked`: part of the name of its random stream.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.language.name())?;
        f.write_str(if self.masked { "_masked" } else { "" })
    }
}

impl Serialize for Condition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Languages {
    /// Each language without masked words, then with one where it has a mask: A, B, B_masked.
    pub fn conditions(&self) -> Vec<Condition> {
        let of = |masked| move |language| Condition { language, masked };
        self.all().iter().copied().map(of(false)).chain(self.masked().map(of(true))).collect()
    }
}
