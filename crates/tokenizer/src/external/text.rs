//! Parallel texts: line i of each has the same meaning.

pub use super::tally::{TextFragmentation, gini, jensen_shannon};

use super::External;
use super::tally::{TextCounts, overlap, share};
use crate::error::{Error, Result};
use invitro_base::limits;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;

/// A text in one language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The language.
    pub name: String,
    /// Its lines, parallel to those of the other texts.
    pub lines: Vec<String>,
}

/// The measures of parallel texts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TextMeasures {
    /// Lines of each text.
    pub lines: usize,
    /// By language, in the order given.
    #[serde(serialize_with = "super::by_name")]
    pub languages: Vec<(String, TextFragmentation)>,
    /// All texts together.
    pub all: TextFragmentation,
    /// Every two languages.
    pub pairs: Vec<TextPair>,
    /// The Gini coefficient of the languages' piece counts: 0 if all need the same number.
    pub gini: f64,
    /// The languages whose texts have no spaces between words, so that nothing is measured by word.
    pub without_spaces: Vec<String>,
}

/// The comparison of two texts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TextPair {
    /// Their languages.
    pub languages: [String; 2],
    /// Pieces used by both over pieces used by either.
    pub overlap: f64,
    /// Pieces of the first over pieces of the second.
    pub parity: f64,
    /// The divergence of their distributions of pieces, in bits.
    pub jensen_shannon: f64,
}

/// Measures a tokenizer on parallel texts.
pub fn measure(tokenizer: &External, texts: &[Text]) -> Result<TextMeasures> {
    check(texts)?;
    let tallies: Vec<TextCounts> = texts.iter().map(|text| tally(tokenizer, &text.lines)).collect::<Result<_>>()?;
    let all = tallies.iter().fold(TextCounts::new(tokenizer), TextCounts::join);
    let pairs = pairs_of(texts.len()).map(|[i, j]| TextPair {
        languages: [texts[i].name.clone(), texts[j].name.clone()],
        overlap: overlap(&tallies[i], &tallies[j]),
        parity: share(tallies[i].pieces, tallies[j].pieces),
        jensen_shannon: jensen_shannon(&tallies[i].used, &tallies[j].used),
    });
    Ok(TextMeasures {
        lines: texts.first().map_or(0, |text| text.lines.len()),
        pairs: pairs.collect(),
        gini: gini(&tallies.iter().map(|tally| tally.pieces).collect::<Vec<_>>()),
        without_spaces: texts
            .iter()
            .zip(&tallies)
            .filter(|(_, tally)| tally.has_no_spaces)
            .map(|(text, _)| text.name.clone())
            .collect(),
        all: all.measure(tokenizer),
        languages: texts.iter().zip(&tallies).map(|(t, tally)| (t.name.clone(), tally.measure(tokenizer))).collect(),
    })
}

/// Every pair of indices below `count`.
pub(super) fn pairs_of(count: usize) -> impl Iterator<Item = [usize; 2]> {
    (0..count).flat_map(move |i| (i + 1..count).map(move |j| [i, j]))
}

fn tally(tokenizer: &External, lines: &[String]) -> Result<TextCounts> {
    // One tally per thread: it has a count for every id.
    let none = || TextCounts::new(tokenizer);
    let add = |mut tally: TextCounts, line: &String| -> Result<TextCounts> {
        let (words, alone) = tokenizer.words(line)?;
        words.iter().for_each(|word| tally.add(tokenizer, word));
        tally.pieces += alone;
        Ok(tally)
    };
    let parts = lines.par_iter().with_min_len(1024).try_fold(none, add);
    let mut tally = parts.try_reduce(none, |one, other| Ok(one.join(&other)))?;
    let unspaced = lines.iter().flat_map(|line| line.chars()).filter(|&c| is_unspaced(c)).count() as u64;
    tally.has_no_spaces = 2 * unspaced > tally.letters || tally.letters > LONGEST_MEAN * tally.words;
    Ok(tally)
}

/// Words that are longer than this on average, in letters, are no words.
const LONGEST_MEAN: u64 = 25;

/// Whether a letter is of a script that is written without spaces between words: Thai, Lao, Burmese, Khmer, kana, Han.
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c), 0xE00..=0xEFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x3040..=0x30FF | 0x3400..=0x4DBF
        | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

fn check(texts: &[Text]) -> Result<()> {
    let refuse = |why: String| Err(Error::mismatch(why));
    let mut seen = BTreeMap::new();
    for text in texts {
        if seen.insert(&text.name, ()).is_some() {
            return refuse(format!("two texts are called {}: each language has one", text.name));
        }
        if let Some(at) = text.lines.iter().position(|line| line.len() > limits::LINE_BYTES) {
            let (bytes, most) = (text.lines[at].len(), limits::LINE_BYTES);
            return refuse(format!(
                "line {} of the text of {} has {bytes} bytes; at most {most} are allowed",
                at + 1,
                text.name
            ));
        }
        if !text.lines.iter().any(|line| !line.trim().is_empty()) {
            return refuse(format!("the text of {} has no words", text.name));
        }
    }
    let counts: Vec<String> = texts.iter().map(|text| format!("{} has {}", text.name, text.lines.len())).collect();
    if texts.iter().any(|text| text.lines.len() != texts[0].lines.len()) {
        return refuse(format!(
            "texts must have the same number of lines, each line saying the same in all: {}",
            counts.join(", ")
        ));
    }
    Ok(())
}
