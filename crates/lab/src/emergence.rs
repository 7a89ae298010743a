//! Emergence: the first evaluated step at which a metric exceeds a threshold, or exceeds its null by it; and the first
//! from which on it always does.

use crate::metrics::Row;
use std::collections::BTreeMap;

/// A metric over the steps at which its task was evaluated, rising: no number where there was nothing to count.
pub fn curve(rows: &[Row], condition: &str, task: &str, metric: &str) -> Vec<(u64, f64)> {
    let mut curve = BTreeMap::new();
    for row in rows.iter().filter(|row| row.condition == condition && row.task == task) {
        let value = curve.entry(row.step).or_insert(f64::NAN);
        if row.metric == metric {
            *value = row.value;
        }
    }
    curve.into_iter().collect()
}

/// The first step at which the curve is above `threshold` over `null`, which is 0 where there is none.
///
/// ```
/// use invitro_lab::emergence::step;
/// assert_eq!(step(&[(0, 0.0), (50, 0.02), (100, 0.3)], 0.0, 0.02), Some(100));
/// assert_eq!(step(&[(0, 0.0), (50, 0.25), (100, 0.3)], 0.25, 0.02), Some(100));
/// ```
pub fn step(curve: &[(u64, f64)], null: f64, threshold: f64) -> Option<u64> {
    curve.iter().find(|(_, value)| *value > null + threshold).map(|&(step, _)| step)
}

/// The first step from which on the curve is above the threshold at every evaluation: a model that says one sentence
/// whatever it is asked can be above it for a moment before it has learned anything.
///
/// ```
/// use invitro_lab::emergence::lasting;
/// assert_eq!(lasting(&[(0, 0.0), (50, 0.3), (100, 0.0), (150, 0.4), (200, 0.5)], 0.02), Some(150));
/// assert_eq!(lasting(&[(0, 0.0), (50, 0.3), (100, 0.0)], 0.02), None);
/// assert_eq!(lasting(&[(0, 0.0), (50, 0.3), (100, f64::NAN)], 0.02), None);
/// ```
pub fn lasting(curve: &[(u64, f64)], threshold: f64) -> Option<u64> {
    curve.iter().rev().take_while(|(_, value)| *value > threshold).last().map(|&(step, _)| step)
}
