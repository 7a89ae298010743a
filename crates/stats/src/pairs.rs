//! The mean of values that each belong to a pair of subjects.

use crate::Interval;
use crate::student::t_quantile;
use std::collections::BTreeMap;

/// The 95 % interval of a mean of values that each belong to two subjects, and are independent where they share neither.
///
/// The variance is the sum of products of residuals over all values that share a subject (as for dyads, after Fafchamps
/// and Gubert): squared sums over subjects, less those over pairs, which both subjects count; never less than over
/// pairs alone. Student's t as if the subjects stood in one pair each, which is the usual interval where they do.
pub fn interval_over_pairs(values: &[f64], subjects: &[[usize; 2]]) -> Option<Interval> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let mut of_subjects: BTreeMap<usize, f64> = BTreeMap::new();
    let mut of_pairs: BTreeMap<[usize; 2], f64> = BTreeMap::new();
    for (value, &[one, other]) in values.iter().zip(subjects) {
        let residual = value - mean;
        for subject in [one, other] {
            *of_subjects.entry(subject).or_default() += residual;
        }
        *of_pairs.entry([one.min(other), one.max(other)]).or_default() += residual;
    }
    let squares = |sums: &mut dyn Iterator<Item = &f64>| sums.map(|sum| sum * sum).sum::<f64>();
    let over_pairs = squares(&mut of_pairs.values());
    let squares = (squares(&mut of_subjects.values()) - over_pairs).max(over_pairs);
    let pairs = of_subjects.len() as f64 / 2.0;
    if pairs <= 1.0 {
        return None;
    }
    let error = (pairs / (pairs - 1.0) * squares).sqrt() / values.len() as f64;
    let half = t_quantile(0.05, pairs - 1.0) * error;
    Some(Interval { low: mean - half, high: mean + half })
}
