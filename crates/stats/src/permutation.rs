//! Permutation tests: how often would chance alone give as much?
//!
//! p counts the observed arrangement itself, so it is never 0 and the test keeps its level.

use crate::correlation::moment;
use invitro_base::random::Rng;

/// Permutations drawn where there are too many to take all.
pub const DRAWS: usize = 9999;

/// Two-sided p of Pearson's r when y is shuffled within each stratum. Shuffling within |V| asks whether a bridge says
/// more than which vocabulary it came from.
pub fn correlation_p(x: &[f64], y: &[f64], strata: &[usize]) -> Option<f64> {
    moment(x, y)?;
    // Shuffling changes neither mean nor variance, so r depends on the sum of products alone.
    let centre = x.iter().sum::<f64>() / x.len() as f64;
    let product = |y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - centre) * y).sum::<f64>().abs();
    let mean = y.iter().sum::<f64>() / y.len() as f64;
    let centred: Vec<f64> = y.iter().map(|y| y - mean).collect();
    let observed = product(&centred);
    let mut groups = vec![Vec::new(); strata.iter().max()? + 1];
    for (row, stratum) in strata.iter().enumerate() {
        groups[*stratum].push(row);
    }
    let mut rng = Rng::keyed("permutation of a correlation", [0; 3]);
    let mut shuffled = centred.clone();
    let mut values = Vec::new();
    let mut as_large = 0;
    for _ in 0..DRAWS {
        for group in &groups {
            values.clear();
            values.extend(group.iter().map(|row| centred[*row]));
            rng.shuffle(&mut values);
            for (row, value) in group.iter().zip(&values) {
                shuffled[*row] = *value;
            }
        }
        // The tolerance lets an arrangement equal to the observed one count, whatever order its sum was taken in.
        if product(&shuffled) >= observed * (1.0 - 1e-9) {
            as_large += 1;
        }
    }
    Some(f64::from(as_large + 1) / (DRAWS + 1) as f64)
}

/// Two-sided p that paired differences are centred on 0: each pair (or whole group of pairs) could as well have come
/// with the opposite sign. All sign patterns are taken for up to 13 groups.
pub fn sign_flip_p(differences: &[f64]) -> Option<f64> {
    if differences.is_empty() {
        return None;
    }
    let observed = differences.iter().sum::<f64>().abs();
    let reached = |sum: f64| sum.abs() >= observed * (1.0 - 1e-9);
    let groups = differences.len();
    if groups <= 13 {
        let patterns = 1usize << groups;
        let signed = |pattern: usize| -> f64 {
            differences.iter().enumerate().map(|(i, d)| if pattern >> i & 1 == 1 { -d } else { *d }).sum()
        };
        return Some((0..patterns).filter(|pattern| reached(signed(*pattern))).count() as f64 / patterns as f64);
    }
    let mut rng = Rng::keyed("sign flips", [0; 3]);
    let mut as_large = 0;
    for _ in 0..DRAWS {
        let sum: f64 = differences.iter().map(|d| if rng.bits() & 1 == 1 { -d } else { *d }).sum();
        if reached(sum) {
            as_large += 1;
        }
    }
    Some(f64::from(as_large + 1) / (DRAWS + 1) as f64)
}
