//! The few special functions the tests need: Student's t and the normal distribution, to about 1e-12.

/// ln Γ(x) for x > 0, by Lanczos' series (g = 7, nine terms).
pub fn ln_gamma(x: f64) -> f64 {
    const TERMS: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        let pi = std::f64::consts::PI;
        return (pi / (pi * x).sin()).ln() - ln_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let base = x + 7.5;
    let sum: f64 = TERMS[0] + (1..9).map(|i| TERMS[i] / (x + i as f64)).sum::<f64>();
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * base.ln() - base + sum.ln()
}

/// The regularised incomplete beta function I_x(a, b), by Lentz' continued fraction.
pub fn beta_inc(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges fast only on this side of the mean.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta_inc(b, a, 1.0 - x);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp() / a;
    let tiny = 1e-300;
    let guard = |value: f64| if value.abs() < tiny { tiny } else { value };
    let mut d = 1.0 / guard(1.0 - (a + b) * x / (a + 1.0));
    let mut c = 1.0;
    let mut fraction = d;
    for m in 1..500 {
        let m = f64::from(m);
        for term in [
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        ] {
            d = 1.0 / guard(1.0 + term * d);
            c = guard(1.0 + term / c);
            fraction *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    front * fraction
}

/// Two-sided p of a t statistic with `df` degrees of freedom.
pub fn t_two_sided(t: f64, df: f64) -> f64 {
    if t.is_infinite() { 0.0 } else { beta_inc(df / 2.0, 0.5, df / (df + t * t)) }
}

/// The t value that leaves `tail` in both tails together: `t_quantile(0.05, 8.0)` is 2.306.
pub fn t_quantile(tail: f64, df: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while t_two_sided(high, df) > tail {
        high *= 2.0;
    }
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if t_two_sided(middle, df) > tail {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
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
        close(ln_gamma(5.0), 24f64.ln());
        close(ln_gamma(0.5), std::f64::consts::PI.sqrt().ln());
        close(beta_inc(2.0, 3.0, 0.4), 0.5248);
        close(t_two_sided(2.306_004_135_204_166, 8.0), 0.05);
        close(t_quantile(0.05, 2.0), 4.302_652_729_696_144);
        close(t_two_sided(1.0, 1.0), 0.5);
    }
}
