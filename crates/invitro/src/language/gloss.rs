//! Interlinear text: a sentence in every language and as symbols, word under word, as linguists print it.
//!
//! ```text
//! A      Labzvae  fekoc   xucbopzhbyiw
//! B      Labzvae  foc     enuxxucbopzhiviwbig
//! gloss  name.3.1 copula  desc.120.7*
//! ```
//!
//! A star marks a word that is masked: in the gloss where one of two languages is, else at the form in the language in which
//! it is. Languages of other word orders stand apart, with a gloss of their own.

use crate::terminal::{self, To};
use invitro_language::{Language, Languages, Sentence, Symbol};

/// Where there is no terminal.
const WIDTH: usize = 110;

/// The width that glosses are broken at.
pub fn width() -> usize {
    terminal::width(To::Out).unwrap_or(WIDTH)
}

/// Of two languages, the one that is masked: a star at a symbol says enough.
fn only_masked(languages: &Languages) -> Option<Language> {
    let mut masked = languages.masked();
    let first = masked.next().filter(|_| languages.all().len() == 2);
    first.filter(|_| masked.next().is_none())
}

/// What a star means: `* masked in B`.
pub fn star(languages: &Languages) -> String {
    match only_masked(languages) {
        Some(only) if languages.facts(only).is_some() => "no word is masked".to_owned(),
        Some(only) => format!("* masked in {}", only.name()),
        None => "* masked in that language".to_owned(),
    }
}

/// A symbol's label, with its star.
pub fn label(languages: &Languages, symbol: Symbol) -> String {
    let star = if only_masked(languages).is_some() && languages.is_masked(symbol) { "*" } else { "" };
    format!("{}{star}", languages.world.label(symbol))
}

/// The star of a form, where symbols have none.
pub fn star_of(languages: &Languages, symbol: Symbol, language: Language) -> &'static str {
    if only_masked(languages).is_none() && languages.mask(language).contains(symbol) { "*" } else { "" }
}

/// A sentence of the first language in all of them. Those of one word order are word under word, above a gloss.
pub fn interlinear(languages: &Languages, sentence: &Sentence, width: usize) -> String {
    let first = languages.all()[0];
    let mut orders: Vec<(Vec<Symbol>, Vec<Language>)> = Vec::new();
    for &language in languages.all() {
        let symbols = languages.reordered(sentence, first, language);
        match orders.iter_mut().find(|(known, _)| *known == symbols) {
            Some((_, together)) => together.push(language),
            None => orders.push((symbols, vec![language])),
        }
    }
    let names = languages.all().iter().map(|language| language.name().len());
    let head = names.chain(["gloss".len()]).max().unwrap_or(0) + 2;
    let all = orders.iter().map(|(symbols, together)| lines(languages, symbols, together, head, width));
    all.collect()
}

/// The lines of languages of one word order, broken together where they would be wider than `width`. The parts follow each other
/// without an empty line, which stands between sentences.
fn lines(languages: &Languages, symbols: &[Symbol], together: &[Language], head: usize, width: usize) -> String {
    let column = |&symbol: &Symbol| {
        let form = |&language| format!("{}{}", languages.form(symbol, language), star_of(languages, symbol, language));
        let forms = together.iter().map(form);
        forms.chain([label(languages, symbol)]).collect::<Vec<String>>()
    };
    let columns: Vec<Vec<String>> = symbols.iter().map(column).collect();
    let names = together.iter().map(|language| language.name()).chain(["gloss"]);
    let heads: Vec<String> = names.map(|name| format!("{name:head$}")).collect();
    let mut out = String::new();
    let mut start = 0;
    while start < columns.len() {
        let wide = |column: &[String]| column.iter().map(|cell| terminal::columns(cell)).max().unwrap_or(0) + 2;
        let mut used = head + wide(&columns[start]);
        let mut end = start + 1;
        while end < columns.len() && used + wide(&columns[end]) <= width {
            used += wide(&columns[end]);
            end += 1;
        }
        for (line, head) in heads.iter().enumerate() {
            let mut text = head.clone();
            for column in &columns[start..end] {
                let fill = wide(column).saturating_sub(terminal::columns(&column[line]));
                text.push_str(&column[line]);
                text.push_str(&" ".repeat(fill));
            }
            out.push_str(text.trim_end());
            out.push('\n');
        }
        start = end;
    }
    out
}
