//! Statistics that know no experiment, small enough to read and checked against SciPy and statsmodels.
//!
//! Every interval is a 95 % interval.
//!
//! - [`seeds`]: means, shares and correlations with intervals over data seeds and model seeds
//! - [`alignment`]: how alike two sets of vectors are
//! - [`correlation`], [`regression`]: the textbook estimates, with their p-values
//! - [`clusters`]: regression over words with a fixed effect for every run; [`strata`]: words of two arms compared
//! - [`discontinuity`]: the jump at a cut-off
//! - [`pairs`]: the mean of values that each belong to two subjects
//! - [`sequential`]: intervals that are valid at every look; [`power`]: how many data seeds are needed
//! - [`permutation`]: tests that assume no distribution
//! - [`mod@format`]: numbers as texts write them
//!
//! Random draws come from named streams, so the same runs give the same numbers.

pub mod alignment;
pub mod clusters;
pub mod correlation;
mod describe;
pub mod discontinuity;
pub mod format;
mod interval;
pub mod linear;
pub mod pairs;
pub mod permutation;
pub mod power;
pub mod regression;
pub mod seeds;
pub mod sequential;
mod spread;
pub mod strata;
pub mod student;

pub use describe::{deviation, mean, quantile};
pub use format::{decimals, digits, grouped, p_value, places, with_interval};
pub use interval::{Estimate, Interval};
pub use seeds::Seed;
pub use spread::{Scale, Spread};
