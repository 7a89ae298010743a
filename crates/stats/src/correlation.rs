//! Pearson's and Spearman's correlation, with p and a 95 % interval.
//!
//! These treat runs as independent, as the paper does; the report shows the interval over seeds beside them, because
//! runs that share a tokenizer or a seed are not.

use crate::Interval;
use crate::describe::mean;
use crate::student::{NORMAL_95, t_two_sided};

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Correlation {
    pub r: f64,
    /// Two-sided, from Student's t with n - 2 degrees of freedom.
    pub p: f64,
    /// From Fisher's z.
    pub interval: Option<Interval>,
    pub n: usize,
}

/// `None` with fewer than three pairs or where one side does not vary.
pub fn pearson(x: &[f64], y: &[f64]) -> Option<Correlation> {
    let r = moment(x, y)?;
    Some(finish(r, x.len(), 1.0))
}

/// Pearson's correlation of the ranks, ties sharing their mean rank.
pub fn spearman(x: &[f64], y: &[f64]) -> Option<Correlation> {
    let r = moment(&ranks(x), &ranks(y))?;
    // Bonett and Wright's variance of z for ranks.
    Some(finish(r, x.len(), 1.0 + r * r / 2.0))
}

/// Pearson's r alone.
pub fn moment(x: &[f64], y: &[f64]) -> Option<f64> {
    assert_eq!(x.len(), y.len());
    if x.len() < 3 {
        return None;
    }
    let (mx, my) = (mean(x), mean(y));
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (a, b) in x.iter().zip(y) {
        xx += (a - mx) * (a - mx);
        yy += (b - my) * (b - my);
        xy += (a - mx) * (b - my);
    }
    let constant = |squares: f64, centre: f64| squares <= 1e-24 * (1.0 + centre * centre) * x.len() as f64;
    if constant(xx, mx) || constant(yy, my) {
        return None;
    }
    Some((xy / (xx * yy).sqrt()).clamp(-1.0, 1.0))
}

fn finish(r: f64, n: usize, variance: f64) -> Correlation {
    let df = n as f64 - 2.0;
    let p = t_two_sided(r * (df / ((1.0 - r) * (1.0 + r))).sqrt(), df);
    let interval = (n > 3).then(|| {
        let half = NORMAL_95 * (variance / (n as f64 - 3.0)).sqrt();
        Interval { low: (r.atanh() - half).tanh(), high: (r.atanh() + half).tanh() }
    });
    Correlation { r, p, interval, n }
}

/// `ranks(&[10.0, 30.0, 10.0])` is `[1.5, 3.0, 1.5]`.
pub fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    while start < order.len() {
        let tied = order[start..].iter().take_while(|i| values[**i] == values[order[start]]).count();
        for &i in &order[start..start + tied] {
            ranks[i] = start as f64 + (tied as f64 + 1.0) / 2.0;
        }
        start += tied;
    }
    ranks
}
