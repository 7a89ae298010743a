//! Bootstrap over data seeds and model seeds as crossed groups.
//!
//! A run belongs to one data seed and one model seed, and runs that share either are not independent. So whole seeds
//! are drawn with replacement, data seeds and model seeds apart, and a run counts as often as its data seed was drawn
//! times its model seed (Owen's pigeonhole bootstrap). With 3 × 3 seeds there are only 27 × 27 such draws: all of them
//! are taken, so nothing is random. With more seeds, 2,000 draws come from a named stream.
//!
//! Few seeds say little about how seeds differ, and resampling them says it too surely. So the width between the draws'
//! 2.5 % and 97.5 % points is laid around the estimate and stretched to what Student's t with G - 1 degrees of freedom
//! asks for in place of the normal, and by √(G / (G - 1)), G being the pairs of seeds: by 9.2 for two pairs, 2.7 for
//! three, 1.25 for nine. The regression's errors are corrected alike.
//!
//! A statistic is a function of sums over runs (1, x, y, x², …), so each seed pair is summed once and a draw costs one
//! weighted sum over seed pairs, however many runs there are.

use super::special::t_quantile;
use super::stream::{below, stream};
use super::{Interval, quantile};

/// The seeds of a run, as places in the study's sorted lists of data seeds and of model seeds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seed {
    pub data: usize,
    pub model: usize,
}

/// A mean or other statistic, its 95 % interval over seeds where there are at least two, and the runs behind it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    pub value: f64,
    pub interval: Option<Interval>,
    pub runs: usize,
}

/// All draws over the seeds of one study.
#[derive(Debug, Clone)]
pub struct Crossed {
    data: usize,
    model: usize,
    /// Per draw the product of counts for each seed pair, data seed major.
    weights: Vec<f64>,
}

const MOST_EXACT: usize = 4096;
const DRAWS: usize = 2000;

impl Crossed {
    pub fn new(data: usize, model: usize) -> Self {
        let exact = data.checked_pow(data as u32).zip(model.checked_pow(model as u32));
        let exact = exact.and_then(|(data, model)| data.checked_mul(model)).filter(|all| *all <= MOST_EXACT);
        let mut weights = Vec::new();
        if exact.is_some() {
            let (of_data, of_model) = (every_draw(data), every_draw(model));
            for a in &of_data {
                for b in &of_model {
                    push_products(&mut weights, a, b);
                }
            }
        } else {
            let mut rng = stream("bootstrap over seeds");
            let mut counts = |seeds: usize| {
                let mut counts = vec![0.0; seeds];
                for _ in 0..seeds {
                    counts[below(&mut rng, seeds)] += 1.0;
                }
                counts
            };
            for _ in 0..DRAWS {
                let a = counts(data);
                let b = counts(model);
                push_products(&mut weights, &a, &b);
            }
        }
        Self { data, model, weights }
    }

    pub fn seeds(&self) -> (usize, usize) {
        (self.data, self.model)
    }

    /// The statistic of all runs and of every draw. `None` from the statistic on all runs gives `None`; a draw on
    /// which it is undefined (no run left, no variance) is passed over.
    pub fn estimate<const N: usize>(
        &self,
        rows: impl IntoIterator<Item = (Seed, [f64; N])>,
        statistic: impl Fn(&[f64; N]) -> Option<f64>,
    ) -> Option<Estimate> {
        let rows = rows.into_iter().map(|(seed, sums)| (seed, sums.to_vec()));
        self.estimate_wide(N, rows, |sums| statistic(sums.try_into().expect("N sums per row")))
    }

    /// The same with a number of sums known only at run time.
    pub fn estimate_wide(
        &self,
        width: usize,
        rows: impl IntoIterator<Item = (Seed, Vec<f64>)>,
        statistic: impl Fn(&[f64]) -> Option<f64>,
    ) -> Option<Estimate> {
        let pairs = self.data * self.model;
        let mut sums = vec![0.0; pairs * width];
        let mut counts = vec![0usize; pairs];
        for (seed, row) in rows {
            let pair = seed.data * self.model + seed.model;
            counts[pair] += 1;
            for (sum, value) in sums[pair * width..][..width].iter_mut().zip(&row) {
                *sum += value;
            }
        }
        let seen: Vec<usize> = (0..pairs).filter(|pair| counts[*pair] > 0).collect();
        let total = |weight: &dyn Fn(usize) -> f64, out: &mut [f64]| {
            out.fill(0.0);
            for &pair in &seen {
                let weight = weight(pair);
                if weight > 0.0 {
                    for (out, sum) in out.iter_mut().zip(&sums[pair * width..][..width]) {
                        *out += weight * sum;
                    }
                }
            }
        };
        let mut totals = vec![0.0; width];
        total(&|_| 1.0, &mut totals);
        let runs = counts.iter().sum();
        let value = (runs > 0).then(|| statistic(&totals)).flatten()?;
        // One seed pair says nothing about other seeds, however many configurations it was used in.
        let interval = (seen.len() > 1).then(|| {
            let mut values = Vec::with_capacity(self.weights.len() / pairs);
            for draw in self.weights.chunks_exact(pairs) {
                if seen.iter().any(|pair| draw[*pair] > 0.0) {
                    total(&|pair| draw[pair], &mut totals);
                    values.extend(statistic(&totals).filter(|value| value.is_finite()));
                }
            }
            percentiles(values).map(|it| {
                let half = stretch(seen.len()) * (it.high - it.low) / 2.0;
                Interval { low: value - half, high: value + half }
            })
        });
        Some(Estimate { value, interval: interval.flatten(), runs })
    }

    /// The mean of the values.
    pub fn mean(&self, rows: impl IntoIterator<Item = (Seed, f64)>) -> Option<Estimate> {
        self.estimate(rows.into_iter().map(|(seed, value)| (seed, [1.0, value])), |[n, sum]| Some(sum / n))
    }

    /// Pearson's r of the pairs.
    pub fn pearson(&self, rows: impl IntoIterator<Item = (Seed, f64, f64)>) -> Option<Estimate> {
        let rows: Vec<_> = rows.into_iter().collect();
        let n = rows.len() as f64;
        // Sums of squares about the mean lose nothing to cancellation; about zero they would.
        let mx = rows.iter().map(|row| row.1).sum::<f64>() / n;
        let my = rows.iter().map(|row| row.2).sum::<f64>() / n;
        let rows = rows.iter().map(|&(seed, x, y)| {
            let (x, y) = (x - mx, y - my);
            (seed, [1.0, x, y, x * x, y * y, x * y])
        });
        let mut estimate = self.estimate(rows, |&[n, x, y, xx, yy, xy]| {
            let (vx, vy) = (xx - x * x / n, yy - y * y / n);
            (vx > 1e-14 * n && vy > 1e-14 * n).then(|| (xy - x * y / n) / (vx * vy).sqrt())
        })?;
        estimate.interval = estimate.interval.map(|it| Interval { low: it.low.max(-1.0), high: it.high.min(1.0) });
        Some(estimate)
    }
}

/// How much wider an interval over `pairs` pairs of seeds is than the draws alone say.
fn stretch(pairs: usize) -> f64 {
    let g = pairs as f64;
    t_quantile(0.05, g - 1.0) / 1.959_963_985 * (g / (g - 1.0)).sqrt()
}

fn percentiles(mut values: Vec<f64>) -> Option<Interval> {
    if values.is_empty() {
        return None;
    }
    values.sort_by(f64::total_cmp);
    Some(Interval { low: quantile(&values, 0.025), high: quantile(&values, 0.975) })
}

/// How often each seed is drawn, for every one of the n^n equally likely draws.
fn every_draw(seeds: usize) -> Vec<Vec<f64>> {
    let draws = seeds.pow(seeds as u32);
    let draw = |code: usize| {
        let mut counts = vec![0.0; seeds];
        let mut code = code;
        for _ in 0..seeds {
            counts[code % seeds] += 1.0;
            code /= seeds;
        }
        counts
    };
    (0..draws).map(draw).collect()
}

fn push_products(weights: &mut Vec<f64>, data: &[f64], model: &[f64]) {
    for a in data {
        weights.extend(model.iter().map(|b| a * b));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn seed(data: usize, model: usize) -> Seed {
        Seed { data, model }
    }

    #[test]
    fn one_seed_has_no_interval() {
        let crossed = Crossed::new(3, 3);
        let one = crossed.mean([(seed(1, 1), 0.5), (seed(1, 1), 0.7)]).unwrap();
        assert_eq!((one.interval, one.runs), (None, 2));
        assert!((one.value - 0.6).abs() < 1e-12);
        assert!(crossed.mean([]).is_none());
    }

    #[test]
    fn two_by_one_seeds_by_hand() {
        // Draws over {0, 1}: 00, 01, 10, 11, so means 0, 0.5, 0.5, 1; their 2.5 % point is 0.0375, 0.4625 from the mean.
        // Student's t with one degree of freedom is 12.706.
        let crossed = Crossed::new(2, 1);
        let got = crossed.mean([(seed(0, 0), 0.0), (seed(1, 0), 1.0)]).unwrap().interval.unwrap();
        let half = 0.4625 * 12.706_204_74 / 1.959_963_985 * 2f64.sqrt();
        assert!((got.low - (0.5 - half)).abs() < 1e-6 && (got.high - (0.5 + half)).abs() < 1e-6, "{got:?}");
    }

    #[test]
    fn data_seeds_that_differ_widen_the_interval_more_than_runs_that_do() {
        let crossed = Crossed::new(3, 3);
        let by_data = |value: fn(usize, usize) -> f64| {
            let rows = (0..9).map(|i| (seed(i / 3, i % 3), value(i / 3, i % 3)));
            let interval = crossed.mean(rows).unwrap().interval.unwrap();
            interval.high - interval.low
        };
        // The same nine numbers, once sorted by data seed, once spread as a Latin square.
        assert!(by_data(|d, _| d as f64) > 1.4 * by_data(|d, m| ((d + m) % 3) as f64));
    }

    proptest! {
        #[test]
        fn the_interval_holds_the_mean_and_is_no_wider_than_the_range_allows(values in prop::collection::vec(0.0..1.0f64, 9)) {
            let crossed = Crossed::new(3, 3);
            let rows = values.iter().enumerate().map(|(i, v)| (seed(i / 3, i % 3), *v));
            let got = crossed.mean(rows).unwrap();
            let interval = got.interval.unwrap();
            let least = values.iter().copied().fold(1.0, f64::min);
            let most = values.iter().copied().fold(0.0, f64::max);
            prop_assert!(interval.low <= got.value + 1e-12 && got.value <= interval.high + 1e-12);
            prop_assert!(interval.high - interval.low <= stretch(9) * (most - least) + 1e-12);
        }
    }
}
