//! One word: its form, and the stem between prefix and suffix.

use super::history::script;
use super::phonology::Morphemes;

/// A symbol's word in one language: its form, and the byte range of its stem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    form: Box<str>,
    stem: (u8, u8),
}

impl Word {
    pub(crate) fn new([prefix, stem, suffix]: Morphemes, script: usize) -> Word {
        let [prefix, stem, suffix] = [prefix, stem, suffix].map(|part| script::write(part.as_str(), script));
        let end = prefix.len() + stem.len();
        Word { stem: (prefix.len() as u8, end as u8), form: [prefix, stem, suffix].concat().into() }
    }

    /// The word with another stem, which must be short enough for byte offsets.
    pub(crate) fn with_stem(&self, stem: &str) -> Word {
        let end = self.stem.0 as usize + stem.len();
        Word { stem: (self.stem.0, end as u8), form: [self.prefix(), stem, self.suffix()].concat().into() }
    }

    /// The whole word.
    pub fn form(&self) -> &str {
        &self.form
    }

    /// Its prefix, perhaps empty.
    pub fn prefix(&self) -> &str {
        &self.form[..self.stem.0 as usize]
    }

    /// Its stem.
    pub fn stem(&self) -> &str {
        &self.form[self.stem.0 as usize..self.stem.1 as usize]
    }

    /// Its suffix, perhaps empty.
    pub fn suffix(&self) -> &str {
        &self.form[self.stem.1 as usize..]
    }

    /// The byte offsets between morphemes, inside the word.
    pub fn boundaries(&self) -> impl Iterator<Item = usize> + '_ {
        let inside = move |b: &usize| *b > 0 && *b < self.form.len();
        [self.stem.0 as usize, self.stem.1 as usize].into_iter().filter(inside)
    }
}
