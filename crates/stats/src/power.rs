//! How many data seeds a study needs, by the spread that a pilot found.

use crate::Spread;
use crate::student::t_quantile;
use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};
use statrs::function::gamma::ln_gamma;

/// The probability that Student's interval at the level `alpha` over so many data seeds lies between two bounds (either may
/// be infinite), if the value and its deviation between data seeds are as found. `None` without a spread between data seeds.
///
/// With one infinite bound this is the power of a t test, by the noncentral t distribution.
pub fn power(spread: &Spread, data_seeds: usize, alpha: f64, bounds: [f64; 2]) -> Option<f64> {
    let (deviation, _) = spread.deviation_on_scale()?;
    let [low, high] = if spread.negated { [-bounds[1], -bounds[0]] } else { bounds };
    let [low, high] = [low, high].map(|end| if end.is_finite() { spread.scale.to(end) } else { end } - spread.centre);
    if deviation == 0.0 {
        return Some(f64::from(u8::from(low < 0.0 && 0.0 < high)));
    }
    let [low, high] = [low, high].map(|end| end / deviation * (data_seeds as f64).sqrt());
    let freedom = (data_seeds - 1) as f64;
    let t = t_quantile(alpha, freedom);
    // Over the deviation s that the study will find, in parts of the true one: s² is χ² over its degrees of freedom.
    let constant = 2f64.ln() + freedom / 2.0 * (freedom / 2.0).ln() - ln_gamma(freedom / 2.0);
    let density = |s: f64| (constant + (freedom - 1.0) * s.ln() - freedom / 2.0 * s * s).exp();
    let normal = Normal::standard();
    let inside = |s: f64| (normal.cdf(high - t * s) - normal.cdf(low + t * s)).max(0.0);
    let reach = 8.0 / freedom.sqrt();
    let from = (1.0 - reach).max(0.0);
    let width = (1.0 + reach - from) / f64::from(PARTS);
    let middles = (0..PARTS).map(|part| from + (f64::from(part) + 0.5) * width);
    Some((middles.map(|s| density(s) * inside(s)).sum::<f64>() * width).min(1.0))
}

/// Parts of the range of deviations that are summed.
const PARTS: u32 = 1000;

/// The fewest data seeds, of those in order, that are enough; `None` where none is. More must be enough where fewer are.
pub fn fewest(from: usize, to: usize, is_enough: impl Fn(usize) -> bool) -> Option<usize> {
    let (mut low, mut high) = (from, to + 1);
    while low < high {
        let middle = low.midpoint(high);
        if is_enough(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    (low <= to).then_some(low)
}

/// How many times smaller and larger than the deviation found between so many data seeds the true one may be, with
/// probability 95 %: 0.52 and 6.3 for three.
pub fn deviation_range(data_seeds: usize) -> [f64; 2] {
    let freedom = (data_seeds - 1) as f64;
    let squares = ChiSquared::new(freedom).expect("two data seeds or more");
    [0.975, 0.025].map(|tail| (freedom / squares.inverse_cdf(tail)).sqrt())
}
