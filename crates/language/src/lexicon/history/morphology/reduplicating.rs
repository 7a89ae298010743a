//! Reduplicating words: instead of a prefix, some begin with a copy of how their stem begins.

use crate::lexicon::phonology::{Stem, is_vowel};

/// The copy for a number in [0, 1): up to the first vowel (`ba-balto`) or one letter more (`bal-balto`), below `rate`; else
/// none.
pub(crate) fn copy(stem: Stem, rate: f64, number: f64) -> Stem {
    let letters = stem.letters();
    let Some(vowel) = letters.iter().position(|&letter| is_vowel(letter)).filter(|_| number < rate) else {
        return Stem::new(b"");
    };
    let is_closed = number * 2.0 >= rate && letters.len() > vowel + 2;
    Stem::new(&letters[..=vowel + usize::from(is_closed)])
}
