//! Lexical distance means what it says: the rate of drift is searched until the mean distance of the stem pairs is d
//! times that of unrelated pairs.
//!
//! Distances are Levenshtein's over the longer stem. Unrelated is the stem of one symbol in one language against that
//! of another symbol in the other, in the same lexicon, so that the letters' frequencies and the lengths are accounted for.

use crate::lexicon::history::drift::DriftRate;
use crate::lexicon::levenshtein::normalised;
use crate::lexicon::phonology::Stem;
use serde::Serialize;

/// The measured distance of two lists of words, pair by pair.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Distance {
    /// Mean over the pairs.
    pub pairs: f64,
    /// Mean over unrelated words.
    pub unrelated: f64,
    /// One over the other: 0 for the same words, 1 for unrelated ones.
    pub relative: f64,
}

/// How many unrelated pairs are measured: enough for a standard error of about 0.001.
const UNRELATED: usize = 16_000;

/// Measures pairs of words, one of each language.
pub fn measure<W: AsRef<[u8]>>(pairs: &[(W, W)]) -> Distance {
    measure_by(pairs.len(), |one, other| normalised(pairs[one].0.as_ref(), pairs[other].1.as_ref()))
}

/// The same of `n` words, by the distance of any word of one language from any of the other.
pub fn measure_by(n: usize, distance: impl Fn(usize, usize) -> f64) -> Distance {
    let total: f64 = (0..n).map(|i| distance(i, i)).sum();
    let mut unrelated = 0.0;
    let mut count = 0;
    // Every word against the one `shift` places on, for as many shifts as give enough pairs; neighbours in a lexicon
    // are drawn independently.
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

/// The rate at which `pair`, which gives a symbol's stem in two languages, leads `distance` apart, by bisection.
pub fn calibrate(symbols: usize, distance: f64, pair: impl Fn(usize, DriftRate) -> (Stem, Stem)) -> DriftRate {
    if distance == 0.0 || symbols == 0 {
        return DriftRate::at(0.0);
    }
    let mut pairs: Vec<(Stem, Stem)> = Vec::with_capacity(symbols);
    let mut relative = |t: f64| {
        pairs.clear();
        pairs.extend((0..symbols).map(|symbol| pair(symbol, DriftRate::at(t))));
        measure(&pairs).relative
    };
    let (mut low, mut high) = (0.0, 2.0);
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
