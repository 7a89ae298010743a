//! Segments every word of every language, with common ids.

use crate::error::{Error, Result};
use crate::intervene::cut::Pieces;
use crate::tokenizer::Tokenizer;
use invitro_base::settings::{Boundary, Cut};
use invitro_language::{Language, Languages, Symbol};
use rayon::prelude::*;

/// The pieces of every word, by language and symbol, with the boundary's token if words have one.
pub type Words = Vec<Vec<Vec<u32>>>;

/// Segments words, or their morphemes, by the tokenizer; or recuts them out of `pieces` by their forms in the first language.
pub fn cut(tokenizer: &Tokenizer, languages: &Languages, cut: Cut, pieces: impl FnOnce() -> Pieces) -> Result<Words> {
    let symbols: Vec<Symbol> = languages.world.symbols().collect();
    let segment = |&language: &Language| {
        let word = |&symbol: &Symbol| {
            let word = languages.lexicon.word(symbol, language);
            match cut {
                Cut::Morpheme => tokenizer.morphemes([word.prefix(), word.stem(), word.suffix()]),
                _ => tokenizer.morphemes([word.form()]),
            }
        };
        symbols.par_iter().map(word).collect()
    };
    let mut words: Words = languages.all().iter().map(segment).collect::<Result<_>>()?;
    let vocab = tokenizer.vocab_size();
    if let Some(id) = words.iter().flatten().flatten().find(|&&id| id as usize >= vocab) {
        return Err(Error::mismatch(format!(
            "the tokenizer is damaged: a word has the piece {id}, but |V| is {vocab}"
        )));
    }
    let (Cut::Alike | Cut::Apart, Some((first, later))) = (cut, words.split_first_mut()) else { return Ok(words) };
    let recut = Recut { pieces: &pieces(), mark: tokenizer.boundary(), boundary: tokenizer.special().boundary(), cut };
    for (&language, words) in languages.all()[1..].iter().zip(later) {
        let anew = |((word, other), &symbol): ((&mut Vec<u32>, &Vec<u32>), &Symbol)| {
            *word = recut.word(languages.form(symbol, language), word, other);
        };
        words.par_iter_mut().zip(&*first).zip(&symbols).for_each(anew);
    }
    Ok(words)
}

/// The settings to recut words.
pub struct Recut<'a> {
    pub pieces: &'a Pieces,
    /// The tokenizer's boundary.
    pub mark: Boundary,
    /// The boundary's token.
    pub boundary: u32,
    pub cut: Cut,
}

impl Recut<'_> {
    /// Recuts a word by its form in the first language. A separate boundary token keeps its place.
    pub fn word(&self, form: &str, word: &[u32], other: &[u32]) -> Vec<u32> {
        let [learned, other] = [word, other].map(|word| core(word, |id| id == self.boundary));
        let mark = if learned.len() == word.len() { self.mark } else { Boundary::Token };
        let anew = self.pieces.recut(form, mark, learned, other, self.cut);
        let start = word.iter().take_while(|&&id| id == self.boundary).count();
        [&word[..start], &anew, &word[start + learned.len()..]].concat()
    }
}

/// Pieces without a separate boundary token.
pub fn core(pieces: &[u32], is_boundary: impl Fn(u32) -> bool) -> &[u32] {
    match pieces {
        [core @ .., last] if is_boundary(*last) => core,
        [first, core @ ..] if is_boundary(*first) => core,
        core => core,
    }
}
