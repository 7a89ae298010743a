//! The paper's table of paired sentences: the same symbols in A and in B, side by side, their pieces coloured. A piece
//! that stands on both sides of a row is shared; the others are of A alone or of B alone.
//!
//! ```text
//! A  Labzvae ␣ fekoc ␣ x uc bo p z h by iw ␣          Labzvae, x, uc, bo, p, z, iw shared
//! B  Labzvae ␣ foc ␣ enux x uc bo p z hi v iw big ␣
//! ```

mod html;
mod latex;
mod svg;

use crate::error::{Error, Result};
use crate::segmentation::Segmentation;
use invitro_language::{Condition, Language, Languages, Source, Symbol, Task};
use std::collections::HashSet;
use std::path::Path;

/// Sentences with more words are passed over: two of them do not fit side by side.
const LONGEST: usize = 12;
/// When the rows with the most in common are wanted, they are looked for among so many times as many.
const AMONG: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shade {
    Shared,
    Own,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub text: String,
    pub shade: Shade,
}

/// Words, each of its pieces; by language.
pub type Row = [Vec<Vec<Piece>>; 2];

pub struct Table {
    pub rows: Vec<Row>,
    /// |V|
    pub vocab: usize,
}

/// What is said above the table.
const LEGEND: [&str; 3] = ["shared", "A only", "B only"];

impl Table {
    /// `n` sentences of a fixed sample, as they come, or those whose pieces have the most in common (as the paper's
    /// table has them).
    pub fn new(segmentation: &Segmentation, languages: &Languages, n: usize, most_shared: bool) -> Result<Table> {
        let mut source = Source::condition(languages, "tokenizer/table", Condition::A, Task::T0);
        let wanted = if most_shared { n * AMONG } else { n };
        let mut sentences: Vec<Vec<Symbol>> = Vec::with_capacity(wanted);
        for row in 0..wanted as u64 {
            let short = source.draw_where(0, row, |s| s.sentence.symbols.len() <= LONGEST)?;
            sentences.push(short.sentence.symbols);
        }
        let mut rows: Vec<Row> = sentences.iter().map(|s| row(segmentation, s)).collect();
        if most_shared {
            let order = |row: &Row| std::cmp::Reverse((shared_share(row) * 1e6) as u64);
            rows.sort_by_key(order);
            rows.truncate(n);
        }
        Ok(Table { rows, vocab: segmentation.vocab_size() })
    }

    /// Refuses a file name that asks for a format there is not.
    pub fn check(path: &Path) -> Result<()> {
        match path.extension().and_then(|e| e.to_str()) {
            Some("svg" | "html" | "tex") => Ok(()),
            _ => Err(Error::Mismatch(format!("`{}` must end in .svg, .html or .tex", path.display()))),
        }
    }

    /// The table in the format that a file's name asks for: `.svg`, `.html` or `.tex`.
    pub fn render(&self, path: &Path) -> Result<String> {
        Table::check(path)?;
        Ok(match path.extension().and_then(|e| e.to_str()) {
            Some("svg") => svg::render(self),
            Some("html") => html::render(self),
            _ => latex::render(self),
        })
    }

    /// One sentence on what is to be seen.
    fn caption(&self) -> String {
        format!(
            "The same sentences in A and in B under one tokenizer of {} tokens. A piece that stands on both sides of its row \
             is shared.",
            self.vocab
        )
    }
}

fn row(segmentation: &Segmentation, symbols: &[Symbol]) -> Row {
    let used =
        |language| symbols.iter().flat_map(|&s| segmentation.core(s, language)).copied().collect::<HashSet<u32>>();
    let by: [HashSet<u32>; 2] = Language::BOTH.map(used);
    let piece = |&id: &u32| Piece {
        text: String::from_utf8_lossy(segmentation.letters(id)).into_owned(),
        shade: if by.iter().all(|used| used.contains(&id)) { Shade::Shared } else { Shade::Own },
    };
    Language::BOTH
        .map(|language| symbols.iter().map(|&s| segmentation.core(s, language).iter().map(piece).collect()).collect())
}

/// The share of a row's pieces that are shared.
fn shared_share(row: &Row) -> f64 {
    let pieces = || row.iter().flatten().flatten();
    pieces().filter(|p| p.shade == Shade::Shared).count() as f64 / pieces().count() as f64
}

/// The colours of the paper's table: shared, of A alone, of B alone.
const COLOURS: [&str; 3] = ["F4D35E", "8BB9E5", "ED979E"];

/// Which of the three a piece of a language has.
fn colour(shade: Shade, side: usize) -> usize {
    if shade == Shade::Shared { 0 } else { 1 + side }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Table {
        let words = |words: &[&[(&str, Shade)]]| -> Vec<Vec<Piece>> {
            let piece = |&(text, shade): &(&str, Shade)| Piece { text: text.into(), shade };
            words.iter().map(|word| word.iter().map(piece).collect()).collect()
        };
        use Shade::{Own, Shared};
        let a = words(&[&[("Lab", Shared)], &[("fe", Own), ("koc", Shared)]]);
        let b = words(&[&[("Lab", Shared)], &[("koc", Shared)]]);
        Table { rows: vec![[a, b]], vocab: 2048 }
    }

    #[test]
    fn the_three_formats_say_the_same() {
        let table = example();
        assert_eq!(shared_share(&table.rows[0]), 4.0 / 5.0);
        let tex = table.render(Path::new("x.tex")).unwrap();
        assert!(tex.contains(r"\tokbox{tokAOnly}{fe}\tokbox{tokShared}{koc}\wordend"), "{tex}");
        let html = table.render(Path::new("x.html")).unwrap();
        assert!(html.contains("<i class=\"a\">fe</i><i class=\"s\">koc</i>"), "{html}");
        let svg = table.render(Path::new("x.svg")).unwrap();
        assert_eq!(svg.matches(">koc<").count(), 2);
        assert_eq!(svg.matches("fill=\"#8BB9E5\"").count(), 2, "one piece of A alone, and the legend");
        let error = table.render(Path::new("x.pdf")).err().unwrap().to_string();
        assert_eq!(error, "`x.pdf` must end in .svg, .html or .tex");
    }
}
