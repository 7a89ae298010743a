//! Counts of a text, and measures of the counts.

use super::{External, LineWord};
use crate::measure::{ALPHA, renyi};
use serde::Serialize;
use std::collections::HashMap;

/// How a tokenizer splits the words of one language. A share of nothing is NaN, which JSON writes as `null`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TextFragmentation {
    /// Words of the text.
    pub words: u64,
    /// Their pieces.
    pub pieces: u64,
    /// Pieces per word. This and the next two are NaN if the text has no spaces between words.
    pub fertility: f64,
    /// The share of words with more than one piece.
    pub continuation: f64,
    /// The share of words that are one piece.
    pub one_piece: f64,
    /// Letters of words per piece.
    pub letters_per_piece: f64,
    /// Rényi efficiency.
    pub renyi: f64,
    /// The share of the vocabulary's pieces that are used.
    pub utilisation: f64,
    /// The mean rank of a piece among the text's pieces by frequency, from 1 (Limisiewicz et al. 2023).
    pub average_rank: f64,
    /// The share of letters that no piece covers: of unknown tokens, or omitted.
    pub unknown: f64,
}

/// The counts of a text.
#[derive(Clone, Debug, Default)]
pub(super) struct TextCounts {
    pub words: u64,
    pub pieces: u64,
    continued: u64,
    single: u64,
    pub letters: u64,
    /// Whether words cannot be told apart.
    pub has_no_spaces: bool,
    unknown: u64,
    /// The count of each piece with letters.
    pub used: Vec<u64>,
}

impl TextCounts {
    pub fn new(tokenizer: &External) -> TextCounts {
        TextCounts { used: vec![0; tokenizer.ids()], ..TextCounts::default() }
    }

    pub fn add(&mut self, tokenizer: &External, word: &LineWord) {
        let pieces = word.pieces.len() as u64 + word.marks;
        self.words += 1;
        self.pieces += pieces;
        self.continued += u64::from(pieces > 1);
        self.single += u64::from(pieces == 1);
        self.letters += word.letters;
        self.unknown += word.unknown;
        for &piece in word.pieces.iter().filter(|&&piece| tokenizer.is_known(piece)) {
            self.used[piece as usize] += 1;
        }
    }

    /// Adds another text's counts.
    pub fn join(mut self, other: &TextCounts) -> TextCounts {
        self.words += other.words;
        self.pieces += other.pieces;
        self.continued += other.continued;
        self.single += other.single;
        self.has_no_spaces |= other.has_no_spaces;
        self.letters += other.letters;
        self.unknown += other.unknown;
        self.used.iter_mut().zip(&other.used).for_each(|(own, other)| *own += other);
        self
    }

    pub fn measure(&self, tokenizer: &External) -> TextFragmentation {
        let available = tokenizer.available();
        let of_words = |count: u64| if self.has_no_spaces { f64::NAN } else { share(count, self.words) };
        TextFragmentation {
            words: self.words,
            pieces: self.pieces,
            fertility: of_words(self.pieces),
            continuation: of_words(self.continued),
            one_piece: of_words(self.single),
            letters_per_piece: share(self.letters, self.pieces),
            renyi: renyi(&self.used, ALPHA) / (available as f64).ln(),
            utilisation: share(self.types(), available),
            average_rank: average_rank(&self.used),
            unknown: share(self.unknown, self.letters),
        }
    }

    fn types(&self) -> u64 {
        self.used.iter().filter(|&&n| n > 0).count() as u64
    }
}

/// Pieces used by both over pieces used by either.
pub(super) fn overlap(one: &TextCounts, other: &TextCounts) -> f64 {
    let both = one.used.iter().zip(&other.used).filter(|(a, b)| **a > 0 && **b > 0).count() as u64;
    share(both, one.types() + other.types() - both)
}

/// The Jensen-Shannon divergence of two distributions given by counts, in bits: 0 for the same, 1 without a common piece.
///
/// ```
/// use invitro_tokenizer::external::text::jensen_shannon;
/// assert_eq!(jensen_shannon(&[2, 2, 0], &[1, 1, 0]), 0.0);
/// assert_eq!(jensen_shannon(&[2, 2, 0], &[0, 0, 7]), 1.0);
/// ```
pub fn jensen_shannon(one: &[u64], other: &[u64]) -> f64 {
    let (m, n) = (one.iter().sum(), other.iter().sum());
    let term = |p: f64, mean: f64| if p > 0.0 { p * (p / mean).log2() } else { 0.0 };
    let divergence = |(&a, &b): (&u64, &u64)| {
        let (p, q) = (share(a, m), share(b, n));
        let mean = (p + q) / 2.0;
        (term(p, mean) + term(q, mean)) / 2.0
    };
    one.iter().zip(other).map(divergence).sum()
}

/// The Gini coefficient of costs: the mean difference of two costs over twice their mean. 0 if all are equal.
///
/// ```
/// use invitro_tokenizer::external::text::gini;
/// assert_eq!(gini(&[3, 3, 3]), 0.0);
/// assert_eq!(gini(&[0, 4]), 0.5);
/// ```
pub fn gini(costs: &[u64]) -> f64 {
    let sum: u64 = costs.iter().sum();
    let apart: u64 = costs.iter().flat_map(|a| costs.iter().map(|b| a.abs_diff(*b))).sum();
    apart as f64 / (2 * costs.len() as u64 * sum) as f64
}

/// The mean rank of a piece by its count; pieces with equal counts share their mean rank.
fn average_rank(used: &[u64]) -> f64 {
    let mut by_count: HashMap<u64, u64> = HashMap::new();
    used.iter().filter(|&&n| n > 0).for_each(|&n| *by_count.entry(n).or_default() += 1);
    let mut counts: Vec<(u64, u64)> = by_count.into_iter().collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let (mut above, mut sum, mut total) = (0, 0.0, 0);
    for (count, types) in counts {
        let rank = above as f64 + (types + 1) as f64 / 2.0;
        sum += rank * (count * types) as f64;
        total += count * types;
        above += types;
    }
    sum / total as f64
}

pub(super) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { f64::NAN } else { part as f64 / whole as f64 }
}
