//! The letters of all languages, and letters that carry a word boundary.
//!
//! With a boundary mark on a word's first or last piece, the letter that stands there is a letter of its own while the
//! tokenizer is trained: `fekoc` is spelled `Fekoc`, with a private character (here F) for the marked f. Afterwards that character
//! is written out as `▁f`. So the mark is never learned, lost, or assigned an id by chance.

use crate::special::MARK;
use invitro_base::settings::Boundary;
use invitro_language::Languages;
use std::collections::BTreeSet;

/// Where the private characters begin.
const PRIVATE: u32 = 0xF_0000;

/// Every letter of any language, in order: those its words are made of, and the capitals of names.
pub fn letters(languages: &Languages) -> Vec<char> {
    let mut all = BTreeSet::new();
    for &language in languages.all() {
        all.extend(languages.alphabet(language).chars());
        all.extend(languages.world.symbols().flat_map(|s| languages.form(s, language).chars()));
    }
    all.into_iter().collect()
}

/// A letter with a boundary on it.
pub fn marked(letter: char) -> char {
    char::from_u32(PRIVATE + letter as u32).expect("letters are of the basic plane")
}

/// A word as the trainer sees it.
///
/// `fekoc` with the boundary first: its first letter marked.
pub fn spell(word: &str, boundary: Boundary) -> String {
    let last = word.chars().count().saturating_sub(1);
    let letter = |(i, c)| match boundary {
        Boundary::First if i == 0 => marked(c),
        Boundary::Last if i == last => marked(c),
        _ => c,
    };
    word.chars().enumerate().map(letter).collect()
}

/// A piece as the tokenizer writes it: a marked letter as the letter and its mark.
pub fn write_out(piece: &str, boundary: Boundary) -> String {
    let mut out = String::with_capacity(piece.len() + 3);
    for c in piece.chars() {
        match (c as u32).checked_sub(PRIVATE).and_then(char::from_u32) {
            None => out.push(c),
            Some(letter) if boundary == Boundary::Last => out.extend([letter, MARK]),
            Some(letter) => out.extend([MARK, letter]),
        }
    }
    out
}
