//! How regular the correspondences between two languages are, over the aligned stems of all words that are compared.
//!
//! A site is a column of an alignment: two letters, or a letter and a gap.

use crate::lexicon::phonology::{Stem, is_vowel};
use serde::Serialize;
use std::collections::HashMap;

/// The sites that make a correspondence pattern regular, as in LingRex.
const REGULAR: usize = 3;
/// What stands in place of a letter.
const GAP: u8 = b'-';
const EDGE: u8 = b'#';

/// The regularity of the stems of one language, given another's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Regularity {
    /// The entropy of a letter, given the other language's letter at the site and the letters before and after that, in bits,
    /// with Miller and Madow's correction. 0 where letters and their neighbours decide everything.
    pub entropy: f64,
    /// The share of sites in patterns, pairs of letters, that have at least three sites.
    pub regular_sites: f64,
}

impl Regularity {
    /// The regularity of the second of each pair, given the first.
    pub(crate) fn new(pairs: impl Iterator<Item = (Stem, Stem)>) -> Regularity {
        let mut contexts: HashMap<[u8; 3], HashMap<u8, usize>> = HashMap::new();
        let mut patterns: HashMap<[u8; 2], usize> = HashMap::new();
        let mut sites = 0;
        for (one, other) in pairs {
            let mut before = EDGE;
            let columns = align(one.letters(), other.letters());
            for (at, &[from, to]) in columns.iter().enumerate() {
                let after = columns[at + 1..].iter().map(|column| column[0]).find(|&letter| letter != GAP);
                *contexts.entry([before, from, after.unwrap_or(EDGE)]).or_default().entry(to).or_default() += 1;
                *patterns.entry([from, to]).or_default() += 1;
                sites += 1;
                before = if from == GAP { before } else { from };
            }
        }
        let mut of_contexts: Vec<f64> = contexts.values().map(nats).collect();
        // In an order that does not depend on that of the map.
        of_contexts.sort_unstable_by(f64::total_cmp);
        let nats: f64 = of_contexts.iter().sum();
        let regular: usize = patterns.values().filter(|&&sites| sites >= REGULAR).sum();
        let share = |part: f64| if sites == 0 { f64::NAN } else { part / sites as f64 };
        Regularity { entropy: share(nats / std::f64::consts::LN_2), regular_sites: share(regular as f64) }
    }
}

/// The entropy of counts in nats, times their sum. The terms are sorted, so that the sum does not depend on the order of a map.
fn nats(counts: &HashMap<u8, usize>) -> f64 {
    let mut counts: Vec<usize> = counts.values().copied().collect();
    counts.sort_unstable();
    let all = counts.iter().sum::<usize>() as f64;
    let plain: f64 = counts.iter().map(|&n| n as f64 * (all / n as f64).ln()).sum();
    plain + (counts.len() - 1) as f64 / 2.0
}

/// Two words as columns of an alignment with the fewest edits, where vowels stand beside vowels. Of several the one whose gaps
/// come first.
pub(crate) fn align(one: &[u8], other: &[u8]) -> Vec<[u8; 2]> {
    let cost = |a: u8, b: u8| match (a == b, is_vowel(a) == is_vowel(b)) {
        (true, _) => 0,
        (false, true) => 2,
        (false, false) => 5,
    };
    let (n, m) = (one.len(), other.len());
    let mut table = vec![vec![0; m + 1]; n + 1];
    for i in 0..=n {
        for j in 0..=m {
            let options = [
                (i > 0 && j > 0).then(|| table[i - 1][j - 1] + cost(one[i - 1], other[j - 1])),
                (i > 0).then(|| table[i - 1][j] + 2),
                (j > 0).then(|| table[i][j - 1] + 2),
            ];
            table[i][j] = options.into_iter().flatten().min().unwrap_or(0);
        }
    }
    let (mut i, mut j) = (n, m);
    let mut columns = Vec::with_capacity(n.max(m));
    while i > 0 || j > 0 {
        if i > 0 && j > 0 && table[i][j] == table[i - 1][j - 1] + cost(one[i - 1], other[j - 1]) {
            (i, j) = (i - 1, j - 1);
            columns.push([one[i], other[j]]);
        } else if i > 0 && table[i][j] == table[i - 1][j] + 2 {
            i -= 1;
            columns.push([one[i], GAP]);
        } else {
            j -= 1;
            columns.push([GAP, other[j]]);
        }
    }
    columns.reverse();
    columns
}
