//! Interlinear text: a sentence in A, in B, and as symbols, word under word, as linguists print it.
//!
//! ```text
//! A      Labzvae  fekoc   xucbopzhbyiw
//! B      Labzvae  foc     enuxxucbopzhiviwbig
//! gloss  name.3.1 copula  desc.120.7*
//! ```
//!
//! A star marks a word that is masked in B.

use crate::terminal::{self, To};
use invitro_language::{Language, Languages, Symbol};

/// Where there is no terminal.
const WIDTH: usize = 110;

/// The width that glosses are broken at.
pub fn width() -> usize {
    terminal::width(To::Out).unwrap_or(WIDTH)
}

/// A symbol's label, starred if it is masked.
pub fn label(languages: &Languages, symbol: Symbol) -> String {
    let star = if languages.mask.contains(symbol) { "*" } else { "" };
    format!("{}{star}", languages.world.label(symbol))
}

/// The three lines, broken together where they would be wider than `width`.
pub fn interlinear(languages: &Languages, symbols: &[Symbol], width: usize) -> String {
    let columns: Vec<[String; 3]> = symbols
        .iter()
        .map(|&s| {
            [languages.form(s, Language::A).to_owned(), languages.form(s, Language::B).to_owned(), label(languages, s)]
        })
        .collect();
    let heads = ["A      ", "B      ", "gloss  "];
    let mut out = String::new();
    let mut start = 0;
    while start < columns.len() {
        let wide = |column: &[String; 3]| column.iter().map(|cell| cell.chars().count()).max().unwrap_or(0) + 2;
        let mut used = heads[0].len() + wide(&columns[start]);
        let mut end = start + 1;
        while end < columns.len() && used + wide(&columns[end]) <= width {
            used += wide(&columns[end]);
            end += 1;
        }
        if start > 0 {
            out.push('\n');
        }
        for (line, head) in heads.iter().enumerate() {
            let mut text = String::from(*head);
            for column in &columns[start..end] {
                text.push_str(&format!("{:1$}", column[line], wide(column)));
            }
            out.push_str(text.trim_end());
            out.push('\n');
        }
        start = end;
    }
    out
}
