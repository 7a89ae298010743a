//! Masked words with their pieces and bridges, and paired sentences.
//!
//! A study holds millions of (run, word) rows; the explorer needs only so many, so every k-th word of each run is
//! kept. Runs of one data seed mask the same symbols in the same order, so they keep the same words.

use super::columns::{Column, SEPARATOR, Table};
use crate::error::{At, Error, Result};
use serde_json::Value as Json;
use std::collections::HashMap;
use std::path::Path;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Word {
    /// The run, as a place in the study's list.
    pub run: usize,
    pub symbol: String,
    pub forms: [String; 2],
    /// Pieces in A and in B, in order.
    pub pieces: [Vec<String>; 2],
    pub bridge: Option<f64>,
    pub bridge_form: String,
    pub bridge_language: String,
    pub cognate_bridge: Option<f64>,
    /// The first step at which it was reachable for any subject; nothing where it was not, or was never asked for.
    pub reachable_from: Option<u32>,
}

/// The same symbolic sentence in A and in B: per word, its pieces.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    pub sides: [Vec<Vec<String>>; 2],
}

/// Rows the page can carry: about 4 MB.
const MOST_ROWS: usize = 60_000;

const COLUMNS: [&str; 11] = [
    "run",
    "symbol",
    "form_A",
    "form_B",
    "pieces_A",
    "pieces_B",
    "bridge",
    "bridge_form",
    "bridge_language",
    "cognate_bridge",
    "reachable_from",
];

/// How many words to pass over per word kept, for `rows` rows in all.
pub(super) fn stride(rows: usize) -> usize {
    rows.div_ceil(MOST_ROWS).max(1)
}

/// Appends every `stride`-th word of each run in the file. A file without a run column belongs to `only`.
pub(super) fn read(
    path: &Path,
    runs: &HashMap<&str, usize>,
    only: Option<usize>,
    stride: usize,
    into: &mut Vec<Word>,
) -> Result<usize> {
    let table = Table::open(path)?;
    let mut seen: HashMap<usize, usize> = HashMap::new();
    table.batches(&COLUMNS, |columns, rows| {
        for row in 0..rows {
            let Some(run) = only.or_else(|| columns[0].text(row).and_then(|run| runs.get(run).copied())) else {
                continue;
            };
            let place = seen.entry(run).or_default();
            *place += 1;
            if (*place - 1).is_multiple_of(stride) {
                into.push(word(run, columns, row));
            }
        }
    })?;
    Ok(table.rows())
}

/// The number of rows without reading them.
pub(super) fn rows(path: &Path) -> Result<usize> {
    Ok(Table::open(path)?.rows())
}

fn word(run: usize, columns: &[Column], row: usize) -> Word {
    let text = |column: usize| columns[column].text(row).unwrap_or_default().to_owned();
    let symbol = columns[1].number(row).map_or_else(|| text(1), |number| format!("{number}"));
    Word {
        run,
        symbol,
        forms: [text(2), text(3)],
        pieces: [split_pieces(&text(4)), split_pieces(&text(5))],
        bridge: columns[6].number(row),
        bridge_form: text(7),
        bridge_language: text(8),
        cognate_bridge: columns[9].number(row),
        reachable_from: columns[10].number(row).map(|step| step as u32),
    }
}

/// Pieces come as a list column or as one text with spaces between them.
fn split_pieces(text: &str) -> Vec<String> {
    text.split([SEPARATOR, ' ']).filter(|piece| !piece.is_empty()).map(str::to_owned).collect()
}

/// `pairs.jsonl`: one object per line with the words of a sentence, each a list of pieces, under `A` and under `B`.
pub(super) fn read_pairs(path: &Path) -> Result<Vec<Pair>> {
    let text = std::fs::read_to_string(path).at(path)?;
    let sentence = |value: Option<&Json>| -> Option<Vec<Vec<String>>> {
        let word = |word: &Json| word.as_array()?.iter().map(|piece| piece.as_str().map(str::to_owned)).collect();
        value?.as_array()?.iter().map(word).collect()
    };
    let pair = |(line, text): (usize, &str)| {
        let wrong = |what: String| Error::Line { path: path.to_owned(), line: line + 1, what };
        let value: Json = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        sentence(value.get("A")).zip(sentence(value.get("B"))).map(|(a, b)| Pair { sides: [a, b] }).ok_or_else(|| {
            wrong("expected {\"A\": [[piece, …], …], \"B\": […]}, the pieces of each word in both languages".into())
        })
    };
    text.lines().filter(|line| !line.trim().is_empty()).enumerate().map(pair).collect()
}
