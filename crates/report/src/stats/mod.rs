//! The statistics of the report, small enough to read and checked against SciPy and statsmodels.
//!
//! Every interval is a 95 % interval. Means carry an interval over data seeds and model seeds ([`seeds`]);
//! correlations and regressions add the textbook intervals; [`permutation`] needs no distribution at all. [`arms`] and
//! [`clusters`] take words one by one. Random draws
//! come from named ChaCha streams, so the same runs give the same report, byte for byte.

pub mod arms;
pub mod clusters;
pub mod correlation;
mod describe;
pub mod linear;
pub mod permutation;
pub mod regression;
pub mod stream;

pub use describe::{deviation, mean, quantile};
pub use invitro_results::seeds::{self, Scale, Seed};
pub use invitro_results::special;
pub use invitro_results::{Estimate, Interval};
