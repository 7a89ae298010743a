//! Calibrates lexical distance: finds the drift rate at which the mean distance of stem pairs is d times the mean distance
//! of unrelated pairs.
//!
//! Distances are Levenshtein's, divided by the length of the longer stem. Unrelated pairs are stems of different symbols
//! in the two languages, which accounts for letter frequencies and lengths.

use crate::lexicon::history::drift::DriftRate;
use crate::lexicon::levenshtein::normalised;
use crate::lexicon::phonology::Stem;
use serde::Serialize;
use std::ops::Range;

/// The measured distance between two lists of words.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Distance {
    /// The mean over pairs of the same symbol.
    pub pairs: f64,
    /// The mean over unrelated words.
    pub unrelated: f64,
    /// `pairs` / `unrelated`: 0 for equal words, 1 for unrelated ones.
    pub relative: f64,
}

/// The number of unrelated pairs: enough for a standard error of about 0.001.
const UNRELATED: usize = 16_000;

/// Measures pairs of words.
pub fn measure<W: AsRef<[u8]>>(pairs: &[(W, W)]) -> Distance {
    measure_by(pairs.len(), |one, other| normalised(pairs[one].0.as_ref(), pairs[other].1.as_ref()))
}

/// Measures `n` words, given the distance between any two words of the two languages.
pub fn measure_by(n: usize, distance: impl Fn(usize, usize) -> f64) -> Distance {
    let total: f64 = (0..n).map(|i| distance(i, i)).sum();
    let mut unrelated = 0.0;
    let mut count = 0;
    // Compares every word with the one `shift` places later. Neighbours in a lexicon are independent.
    for shift in 1..n.min(UNRELATED.div_ceil(n.max(1)) + 1) {
        for i in 0..n {
            unrelated += distance(i, (i + shift) % n);
        }
        count += n;
    }
    let mean = |sum: f64, n: usize| if n == 0 { 0.0 } else { sum / n as f64 };
    let (pairs, unrelated) = (mean(total, n), mean(unrelated, count));
    Distance { pairs, unrelated, relative: if unrelated > 0.0 { pairs / unrelated } else { 0.0 } }
}

/// The rate at which the stems in two languages, given by `pair`, have this distance.
pub fn calibrate(symbols: usize, distance: f64, pair: impl Fn(usize, DriftRate) -> (Stem, Stem)) -> DriftRate {
    if distance == 0.0 { DriftRate::at(0.0) } else { calibrate_within(0.0..2.0, symbols, distance, pair) }
}

/// The same among the rates of a range, or the end of the range that comes closest; found by bisection.
pub fn calibrate_within(
    range: Range<f64>,
    symbols: usize,
    distance: f64,
    pair: impl Fn(usize, DriftRate) -> (Stem, Stem),
) -> DriftRate {
    if symbols == 0 {
        return DriftRate::at(range.start);
    }
    let mut pairs: Vec<(Stem, Stem)> = Vec::with_capacity(symbols);
    let mut relative = |t: f64| {
        pairs.clear();
        pairs.extend((0..symbols).map(|symbol| pair(symbol, DriftRate::at(t))));
        measure(&pairs).relative
    };
    let Range { start: mut low, end: mut high } = range;
    if relative(high) <= distance {
        return DriftRate::at(high);
    }
    for _ in 0..18 {
        let middle = 0.5 * (low + high);
        if relative(middle) < distance {
            low = middle;
        } else {
            high = middle;
        }
    }
    DriftRate::at(0.5 * (low + high))
}

impl AsRef<[u8]> for Stem {
    fn as_ref(&self) -> &[u8] {
        self.letters()
    }
}
