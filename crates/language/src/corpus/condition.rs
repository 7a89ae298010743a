//! Evaluation conditions: sentences of one language, with or without a word that is withheld from its training.

use crate::languages::Languages;
use crate::world::symbol::Language;
use serde::{Serialize, Serializer};
use std::fmt;

/// A language, and whether its sentences have a masked word. B† of the paper is B, masked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LanguageCondition {
    /// The language of the sentences.
    pub language: Language,
    /// Whether every sentence has a masked word; otherwise none has one.
    pub masked: bool,
}

impl LanguageCondition {
    /// Sentences of A.
    pub const A: LanguageCondition = LanguageCondition { language: Language::A, masked: false };
    /// Sentences of B without a masked word.
    pub const B: LanguageCondition = LanguageCondition { language: Language::B, masked: false };
    /// Sentences of B with a masked word.
    pub const B_MASKED: LanguageCondition = LanguageCondition { language: Language::B, masked: true };
}

/// `A`, `B` or `B_masked`: part of the name of its random stream.
impl fmt::Display for LanguageCondition {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.language.name())?;
        f.write_str(if self.masked { "_masked" } else { "" })
    }
}

impl Serialize for LanguageCondition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Languages {
    /// Each language without masked words, then with one where it has a mask: A, B, B_masked.
    pub fn conditions(&self) -> Vec<LanguageCondition> {
        let condition = |masked| move |language| LanguageCondition { language, masked };
        self.all().iter().copied().map(condition(false)).chain(self.masked().map(condition(true))).collect()
    }
}
