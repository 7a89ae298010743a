//! Vowel harmony: the vowels of affixes agree with the nearest vowel of the stem, front (e, i) or back (o, u). The vowel a is
//! neutral.

use crate::lexicon::phonology::{Morphemes, Stem};

const PAIRS: [[u8; 2]; 2] = [*b"eo", *b"iu"];

/// Whether a vowel is back; `None` for a, and for consonants.
fn is_back(letter: &u8) -> Option<bool> {
    PAIRS.iter().flatten().position(|vowel| vowel == letter).map(|place| place % 2 == 1)
}

/// A word whose affixes agree with its stem.
pub(crate) fn harmonised([prefix, stem, suffix]: Morphemes) -> Morphemes {
    let first = stem.letters().iter().find_map(is_back);
    let last = stem.letters().iter().rev().find_map(is_back);
    [agree(prefix, first), stem, agree(suffix, last)]
}

fn agree(affix: Stem, with: Option<bool>) -> Stem {
    let Some(is_back) = with else { return affix };
    let vowel = |&letter: &u8| {
        let pair = PAIRS.iter().find(|pair| pair.contains(&letter));
        pair.map_or(letter, |pair| pair[usize::from(is_back)])
    };
    Stem::new(&affix.letters().iter().map(vowel).collect::<Vec<u8>>())
}
