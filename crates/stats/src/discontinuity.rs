//! Regression discontinuity: the jump of a value where another one crosses a cut-off.
//!
//! What lies just below the cut-off and just above it is alike but for the side it is on, so that a jump there is an effect of the
//! side. Within each run a line is fitted on either side, and the jump is the difference of the two at the cut-off (local
//! linear regression with a uniform kernel: Imbens and Lemieux, *J. Econometrics* 142 (2008)). Runs count by the precision of
//! their jumps: the inverse of the variance that equal errors of all points would give.

use crate::seeds::{self, Scale, Seed};
use crate::{Estimate, mean};
use std::collections::BTreeMap;

/// A point of a run.
#[derive(Debug, Clone, Copy)]
pub struct Point {
    /// The run's place.
    pub run: usize,
    /// How far it is above the cut-off, which no point is at.
    pub x: f64,
    /// Its value.
    pub y: f64,
}

/// The value just below the cut-off less that just above it, with its interval over seeds. Runs whose points on either side
/// are fewer than three, or all at one place, are left out; `None` where that is all of them.
///
/// Points at -2, -1, 1, 2 and others between them on y = x + 3 · \[x < 0\] jump by 3.
pub fn jump(points: &[Point], of_run: impl Fn(usize) -> Seed) -> Option<Estimate> {
    let mut by_run: BTreeMap<usize, [Vec<(f64, f64)>; 2]> = BTreeMap::new();
    for point in points {
        by_run.entry(point.run).or_default()[usize::from(point.x > 0.0)].push((point.x, point.y));
    }
    let jumps = by_run.iter().filter_map(|(run, [below, above])| {
        let (below, above) = (at_cutoff(below)?, at_cutoff(above)?);
        let weight = 1.0 / (below.1 + above.1);
        Some((of_run(*run), [weight, weight * (below.0 - above.0)]))
    });
    seeds::estimate(Scale::Plain, jumps, |[weight, sum]| Some(sum / weight))
}

/// The least-squares line through these points at x = 0: its height, and the variance of that, in units of a point's.
fn at_cutoff(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let (x, y): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    let (mx, my) = (mean(&x), mean(&y));
    let square: f64 = x.iter().map(|x| (x - mx).powi(2)).sum();
    let product: f64 = points.iter().map(|(x, y)| (x - mx) * (y - my)).sum();
    let is_line = points.len() > 2 && square > 1e-12 * mx * mx;
    is_line.then(|| (my - mx * product / square, 1.0 / points.len() as f64 + mx * mx / square))
}
