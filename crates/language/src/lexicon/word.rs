//! One word: its form, and the stem between prefix and suffix.

use super::history::script;
use super::phonology::{Morphemes, is_vowel};

/// A symbol's word in one language: its form, and the byte range of its stem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    form: Box<str>,
    stem: (u8, u8),
    /// The byte ranges of a root inside the stem, where the word is a root in a pattern.
    root: Option<Box<[(u8, u8)]>>,
}

impl Word {
    pub(crate) fn new([prefix, stem, suffix]: Morphemes, script: usize) -> Word {
        let [prefix, stem, suffix] = [prefix, stem, suffix].map(|part| script::write(part.as_str(), script));
        let end = prefix.len() + stem.len();
        Word { stem: (prefix.len() as u8, end as u8), form: [prefix, stem, suffix].concat().into(), root: None }
    }

    /// A word that is a root in a vowel pattern.
    pub(crate) fn templatic(morphemes: Morphemes, script: usize) -> Word {
        let word = Word::new(morphemes, script);
        let [_, stem, _] = morphemes;
        let spans = stem.letters().iter().zip(word.stem().char_indices());
        let spans = spans.filter(|(letter, _)| !is_vowel(**letter));
        let root =
            spans.map(|(_, (at, c))| (word.stem.0 + at as u8, word.stem.0 + (at + c.len_utf8()) as u8)).collect();
        Word { root: Some(root), ..word }
    }

    /// Whether it is a root in a vowel pattern, so that no morphemes are concatenated.
    pub fn is_templatic(&self) -> bool {
        self.root.is_some()
    }

    /// The byte ranges of its stem: several where it is a root in a pattern.
    pub fn stem_spans(&self) -> Vec<std::ops::Range<usize>> {
        let range = |&(start, end): &(u8, u8)| start as usize..end as usize;
        self.root.as_ref().map_or_else(|| vec![range(&self.stem)], |root| root.iter().map(range).collect())
    }

    /// The letters of these ranges: the stem, or the root.
    pub fn stem_letters(&self) -> String {
        self.stem_spans().into_iter().map(|span| &self.form[span]).collect()
    }

    /// The word with another stem, which must be short enough for byte offsets.
    pub(crate) fn with_stem(&self, stem: &str) -> Word {
        let end = self.stem.0 as usize + stem.len();
        Word { stem: (self.stem.0, end as u8), form: [self.prefix(), stem, self.suffix()].concat().into(), root: None }
    }

    /// The whole word.
    pub fn form(&self) -> &str {
        &self.form
    }

    /// Its prefix, perhaps empty.
    pub fn prefix(&self) -> &str {
        &self.form[..self.stem.0 as usize]
    }

    /// Its stem; the whole word where it is a root in a pattern.
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
