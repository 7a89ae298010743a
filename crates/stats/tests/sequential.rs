//! Intervals at every look, and the number of data seeds that a study needs.

use invitro_base::random::Rng;
use invitro_stats::power::{deviation_range, fewest, power};
use invitro_stats::seeds::{mean, proportion};
use invitro_stats::sequential::{LOOKS, level, over_data_seeds};
use invitro_stats::student::t_quantile;
use invitro_stats::{Estimate, Interval, Scale, Seed, Spread};
use std::f64::consts::TAU;

/// Studies of each kind.
const STUDIES: usize = 20_000;

/// The interval of an estimate at its look.
fn interval(estimate: &Estimate, alpha: f64) -> Option<Interval> {
    over_data_seeds(estimate)?.interval_at(level(alpha, estimate.data_seeds)?)
}

fn unit(rng: &mut Rng) -> f64 {
    (f64::from(rng.bits()) + 0.5) / (f64::from(u32::MAX) + 1.0)
}

fn normal(rng: &mut Rng) -> f64 {
    (-2.0 * unit(rng).ln()).sqrt() * (TAU * unit(rng)).cos()
}

/// Student's t with three degrees of freedom.
fn heavy(rng: &mut Rng) -> f64 {
    let squares: f64 = (0..3).map(|_| normal(rng).powi(2)).sum();
    normal(rng) / (squares / 3.0).sqrt()
}

/// Gumbel's distribution about its mean: a skewness of 1.14.
fn skewed(rng: &mut Rng) -> f64 {
    -(-unit(rng).ln()).ln() - 0.577_215_664_901_532_9
}

/// The share of studies whose mean every interval from the first to the last look holds, each so many standard errors wide
/// on either side.
fn held(name: &str, truth: f64, draw: impl Fn(&mut Rng) -> f64, errors: impl Fn(usize) -> f64) -> f64 {
    let widths: Vec<f64> = LOOKS.map(errors).collect();
    let mut rng = Rng::keyed(name, [0; 3]);
    let held = (0..STUDIES).filter(|_| {
        let values: Vec<f64> = (0..*LOOKS.end()).map(|_| truth + draw(&mut rng)).collect();
        LOOKS.zip(&widths).all(|(seeds, width)| {
            let error = invitro_stats::deviation(&values[..seeds]) / (seeds as f64).sqrt();
            (invitro_stats::mean(&values[..seeds]) - truth).abs() <= width * error
        })
    });
    held.count() as f64 / STUDIES as f64
}

#[test]
fn intervals_at_every_look_hold_the_mean_together() {
    let errors = |seeds: usize| t_quantile(level(0.05, seeds).unwrap(), (seeds - 1) as f64);
    for truth in [0.0, 0.7] {
        for (name, draw) in [("normal", normal as fn(&mut Rng) -> f64), ("heavy tails", heavy), ("skewed", skewed)] {
            let held = held(&format!("looks, {name}, {truth}"), truth, draw, errors);
            println!("{name} about {truth}: {:.1} %", 100.0 * held);
            assert!(held >= 0.95, "{name} about {truth}: {held}");
        }
    }
    // What ordinary intervals would do.
    let ordinary = held("ordinary looks", 0.0, normal, |seeds| t_quantile(0.05, (seeds - 1) as f64));
    assert!(ordinary < 0.85, "{ordinary}");
}

fn rows(values: &[f64]) -> Vec<(Seed, f64)> {
    values.iter().enumerate().map(|(data, value)| (Seed { data, model: 0 }, *value)).collect()
}

#[test]
fn an_estimate_has_the_interval_of_its_look() {
    // SciPy: t.ppf(1 − 0.05/36, 2) = 18.934 for 0.1, 0.2 and 0.3.
    let three = mean(Scale::Plain, rows(&[0.1, 0.2, 0.3])).unwrap();
    let found = interval(&three, 0.05).unwrap();
    let half = 18.934_114_592_721_08 * 0.1 / 3f64.sqrt();
    assert!((found.low - (0.2 - half)).abs() < 1e-9 && (found.high - (0.2 + half)).abs() < 1e-9, "{found:?}");
    let twenty: Vec<f64> = (0..20).map(|place| f64::from(place % 2)).collect();
    let found = interval(&mean(Scale::Plain, rows(&twenty)).unwrap(), 0.05).unwrap();
    let half = 3.434_661_992_458_944_5 * (0.25 * 20.0 / 19.0f64).sqrt() / 20f64.sqrt();
    assert!((found.high - 0.5 - half).abs() < 1e-9, "{found:?}");
    // Before the first look, and after the last.
    let flat: Vec<f64> = (0..21).map(f64::from).collect();
    assert_eq!(interval(&mean(Scale::Plain, rows(&flat[..2])).unwrap(), 0.05), None);
    assert_eq!(interval(&mean(Scale::Plain, rows(&flat)).unwrap(), 0.05), None);
}

#[test]
fn model_seeds_are_no_more_worlds() {
    // A model seed brings the same to every data seed.
    let crossed = |model: usize| {
        let row = move |data: usize, model: usize| {
            (Seed { data, model }, 0.1 * data as f64 + [0.0, 5.0, -5.0][model] * f64::from(u8::from(model > 0)))
        };
        mean(Scale::Plain, (0..4).flat_map(move |data| (0..model).map(move |model| row(data, model)))).unwrap()
    };
    let (one, three) = (interval(&crossed(1), 0.05).unwrap(), interval(&crossed(3), 0.05).unwrap());
    assert!((one.low - three.low).abs() < 1e-9 && (one.high - three.high).abs() < 1e-9, "{one:?} {three:?}");
    assert!(crossed(3).interval.unwrap().high > 3.0 * crossed(1).interval.unwrap().high, "over both kinds of seeds");
}

/// Of five values about 0.2 with a deviation of 0.1.
fn pilot() -> Spread {
    let values = [-1.0, -0.5, 0.0, 0.5, 1.0].map(|z| 0.2 + 0.1 * z / 0.625f64.sqrt());
    mean(Scale::Plain, rows(&values)).unwrap().spread.unwrap()
}

#[test]
fn power_is_that_of_the_noncentral_t() {
    let above = [0.0, f64::INFINITY];
    assert!((pilot().deviation().unwrap() - 0.1).abs() < 1e-12);
    // SciPy's nct.
    let known = [(3, 0.470_748), (4, 0.754_984), (5, 0.908_885), (10, 0.999_842)];
    for (seeds, expected) in known {
        let found = power(&pilot(), seeds, 0.05, above).unwrap();
        assert!((found - expected).abs() < 2e-4, "{seeds} seeds: {found} against {expected}");
    }
    let strict = power(&pilot(), 5, 0.05 / 3.0, above).unwrap();
    assert!((strict - 0.681_601).abs() < 2e-4, "{strict}");
    // A million simulated studies of eight seeds: the interval lies within 0.18 ± 0.12 in this share of them.
    let within = power(&pilot(), 8, 0.05, [0.06, 0.30]).unwrap();
    assert!((within - 0.6126).abs() < 2e-3, "{within}");
    assert_eq!(fewest(3, 100, |seeds| power(&pilot(), seeds, 0.05, above).unwrap() >= 0.8), Some(5));
    assert_eq!((fewest(3, 9, |seeds| seeds > 9), fewest(3, 9, |_| true)), (None, Some(3)));
    let [low, high] = deviation_range(3);
    assert!((low - 0.5207).abs() < 1e-4 && (high - 6.2847).abs() < 1e-3, "{low} {high}");
}

#[test]
fn a_spread_is_projected_to_more_seeds() {
    let half = |spread: Spread| spread.interval(0.2, 0.05).half_width();
    // As found, with as many.
    assert!((half(pilot().projected(5).unwrap()) - half(pilot())).abs() < 1e-12);
    // 2.093 · 0.1 / √20.
    assert!((half(pilot().projected(20).unwrap()) - 0.046_801).abs() < 1e-6);
    // The error of a share of runs has another rule.
    let order = proportion(rows(&[1.0, 0.0, 1.0]).into_iter().map(|(seed, one)| (seed, one > 0.5))).unwrap();
    assert!(order.spread.unwrap().projected(5).is_none() && interval(&order, 0.05).is_some());
}
