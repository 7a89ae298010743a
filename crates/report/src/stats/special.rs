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

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f64, expected: f64) {
        assert!((got - expected).abs() < 1e-10 * expected.abs().max(1.0), "{got} against {expected}");
    }

    #[test]
    fn known_values() {
        close(t_two_sided(2.306_004_135_204_166, 8.0), 0.05);
        close(t_two_sided(-1.0, 1.0), 0.5);
        close(t_two_sided(f64::INFINITY, 3.0), 0.0);
        close(t_quantile(0.05, 1.0), 12.706_204_736_174_7);
        close(t_quantile(0.05, 2.0), 4.302_652_729_696_144);
        close(t_quantile(0.05, 30.0), 2.042_272_456_301_238);
    }
}
