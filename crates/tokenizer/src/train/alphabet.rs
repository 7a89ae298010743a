//! The letters of all languages, and letters that carry a word boundary.
//!
//! If a word's first or last piece carries the boundary mark, training replaces the marked letter by a private character:
//! `fekoc` becomes `Fekoc`, where F is the marked f. The trained pieces write it as `▁f`. So the mark always has an id.

use crate::special::MARK;
use invitro_base::settings::Boundary;
use invitro_language::Languages;
use std::collections::BTreeSet;

/// The first private character.
const PRIVATE: u32 = 0xF_0000;

/// The sorted letters of all languages, capitals of names included.
pub fn letters(languages: &Languages) -> Vec<char> {
    let mut all = BTreeSet::new();
    for &language in languages.all() {
        all.extend(languages.alphabet(language).chars());
        all.extend(languages.world.symbols().flat_map(|s| languages.form(s, language).chars()));
    }
    all.into_iter().collect()
}

/// The private character of a letter with a boundary mark.
pub fn marked(letter: char) -> char {
    char::from_u32(PRIVATE + letter as u32).expect("letters are of the basic plane")
}

/// A word as the trainer sees it: its first or last letter marked.
pub fn spell(word: &str, boundary: Boundary) -> String {
    let last = word.chars().count().saturating_sub(1);
    let letter = |(i, c)| match boundary {
        Boundary::First if i == 0 => marked(c),
        Boundary::Last if i == last => marked(c),
        _ => c,
    };
    word.chars().enumerate().map(letter).collect()
}

/// A piece as the tokenizer writes it: marked letters as letter and mark.
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
