//! Student's t and the normal distribution, as the tests ask for them.

use statrs::distribution::{ContinuousCDF, StudentsT};

fn student(df: f64) -> StudentsT {
    StudentsT::new(0.0, 1.0, df).expect("degrees of freedom are above zero")
}

/// Two-sided p of a t statistic with `df` degrees of freedom.
pub fn t_two_sided(t: f64, df: f64) -> f64 {
    2.0 * student(df).cdf(-t.abs())
}

/// The t value that leaves `tail` in both tails together: `t_quantile(0.05, 8.0)` is 2.306.
pub fn t_quantile(tail: f64, df: f64) -> f64 {
    student(df).inverse_cdf(1.0 - tail / 2.0)
}

/// The 97.5 % point of the normal distribution.
pub const NORMAL_95: f64 = 1.959_963_984_540_054;
