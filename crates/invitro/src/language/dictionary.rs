//! The words of the languages side by side: their affixes, and some words of every category.

use super::gloss;
use crate::table;
use crate::terminal::{self, To};
use anyhow::Result;
use invitro_language::{AFFIXED, Category, Language, Languages, Morphology, Stem, Symbol};
use std::io::Write;

/// Words of each category that are shown.
const WORDS: usize = 4;

pub fn affixes(languages: &Languages, out: &mut impl Write) -> Result<()> {
    let join = |list: &[Stem], language: Language, before: &str, after: &str| {
        let affix = |affix: &Stem| format!("{before}{}{after}", languages.written(affix.as_str(), language));
        list.iter().map(affix).collect::<Vec<_>>().join(" ")
    };
    let of = |language: Language| languages.family.node(language).morphology;
    let has_affixes = |language: &&Language| !matches!(of(**language), Morphology::Fusional | Morphology::Templatic);
    let with_affixes: Vec<Language> = languages.all().iter().filter(has_affixes).copied().collect();
    if with_affixes.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nAffixes")?;
    let mut rows = Vec::new();
    for category in AFFIXED {
        for (at, &language) in with_affixes.iter().enumerate() {
            let Some(inventory) = languages.lexicon.affixes().inventory(category, language) else { continue };
            let name = if at == 0 { category.name() } else { "" };
            rows.push(vec![
                format!("  {name}"),
                language.name().to_owned(),
                join(&inventory.prefixes, language, "", "-"),
                join(&inventory.suffixes, language, "-", ""),
            ]);
        }
    }
    Ok(writeln!(out, "{}", table::texts(&rows, terminal::width(To::Out)))?)
}

/// Some words in all languages; as many languages side by side as the terminal takes.
pub fn dictionary(languages: &Languages, out: &mut impl Write) -> Result<()> {
    let star = gloss::star(languages);
    writeln!(out, "\n{}", terminal::fit(&format!("Dictionary (prefix·stem·suffix, {star})")))?;
    let words = words(languages);
    let heads = |category: &str, label: &str| vec![format!("  {category}"), label.to_owned()];
    let before: Vec<Vec<String>> = std::iter::once(vec![String::new(), String::new()])
        .chain(words.iter().map(|(category, symbol)| heads(category, &gloss::label(languages, *symbol))))
        .collect();
    let column = |&language: &Language| {
        let word = |(_, symbol): &(&str, Symbol)| parts(languages, *symbol, language);
        std::iter::once(language.name().to_owned()).chain(words.iter().map(word)).collect::<Vec<String>>()
    };
    let columns: Vec<Vec<String>> = languages.all().iter().map(column).collect();
    let width = terminal::width(To::Out);
    for (block, columns) in blocks(&before, &columns, width).into_iter().enumerate() {
        let row = |(at, before): (usize, &Vec<String>)| {
            before.iter().cloned().chain(columns.iter().map(|column| column[at].clone())).collect()
        };
        let rows: Vec<Vec<String>> = before.iter().enumerate().map(row).collect();
        writeln!(out, "{}{}", if block > 0 { "\n" } else { "" }, table::texts(&rows, width))?;
    }
    Ok(())
}

/// A few words from all over each category, with its name beside the first.
fn words(languages: &Languages) -> Vec<(&'static str, Symbol)> {
    let world = &languages.world;
    let of_category = |category: Category| {
        let all: Vec<Symbol> = world.of_category(category).collect();
        let step = all.len().div_ceil(WORDS).max(1);
        let named = move |(at, symbol)| (if at == 0 { category.name() } else { "" }, symbol);
        all.into_iter().step_by(step).enumerate().map(named).collect::<Vec<_>>()
    };
    Category::ALL.into_iter().flat_map(of_category).collect()
}

/// A word in its parts.
fn parts(languages: &Languages, symbol: Symbol, language: Language) -> String {
    let word = languages.lexicon.word(symbol, language);
    if word.is_templatic() {
        return format!("{} ({}){}", word.form(), word.stem_letters(), gloss::star_of(languages, symbol, language));
    }
    let parts = [word.prefix(), word.stem(), word.suffix()];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    format!("{}{}", parts.join("·"), gloss::star_of(languages, symbol, language))
}

/// The columns in blocks that fit the width beside what stands before them.
fn blocks<'a>(before: &[Vec<String>], columns: &'a [Vec<String>], width: Option<usize>) -> Vec<&'a [Vec<String>]> {
    let Some(width) = width.filter(|_| columns.len() > 2) else { return vec![columns] };
    let wide = |cells: &[String]| cells.iter().map(|cell| terminal::columns(cell)).max().unwrap_or(0) + 2;
    let first: usize = (0..2).map(|at| wide(&before.iter().map(|row| row[at].clone()).collect::<Vec<_>>())).sum();
    let mut blocks = Vec::new();
    let mut start = 0;
    while start < columns.len() {
        let mut end = start + 1;
        let mut used = first + wide(&columns[start]);
        while end < columns.len() && used + wide(&columns[end]) - 2 <= width {
            used += wide(&columns[end]);
            end += 1;
        }
        blocks.push(&columns[start..end]);
        start = end;
    }
    blocks
}
