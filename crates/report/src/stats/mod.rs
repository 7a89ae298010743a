//! The statistics of the report, small enough to read and checked against SciPy and statsmodels.
//!
//! Every interval is a 95 % interval. Means carry an interval over data seeds and model seeds ([`seeds`]);
//! correlations and regressions add the textbook intervals; [`permutation`] needs no distribution at all. Random draws come from named ChaCha streams, so the same runs give the same report, byte for byte.

pub mod correlation;
pub mod linear;
pub mod permutation;
pub mod regression;
pub mod seeds;
pub mod special;
pub mod stream;

pub use seeds::{Estimate, Seed};

/// A 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    pub fn above(&self, bound: f64) -> bool {
        self.low > bound
    }

    pub fn below(&self, bound: f64) -> bool {
        self.high < bound
    }

    pub fn within(&self, low: f64, high: f64) -> bool {
        self.low >= low && self.high <= high
    }

    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The sample standard deviation (n - 1).
pub fn deviation(values: &[f64]) -> f64 {
    let centre = mean(values);
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    (squares / (values.len() as f64 - 1.0)).sqrt()
}

/// Linear interpolation between order statistics, as NumPy's default; `sorted` must be sorted and not empty.
///
/// `quantile(&[1.0, 2.0, 3.0, 4.0], 0.5)` is 2.5.
pub fn quantile(sorted: &[f64], at: f64) -> f64 {
    let place = at * (sorted.len() - 1) as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (place - below as f64) * (sorted[above] - sorted[below])
}
