//! Intervals over data seeds and model seeds.

use invitro_base::random::Rng;
use invitro_stats::seeds::*;
use invitro_stats::{Estimate, Interval};
use proptest::prelude::*;
fn seed(data: usize, model: usize) -> Seed {
    Seed { data, model }
}

fn crossed(data: usize, model: usize) -> Vec<Seed> {
    (0..data * model).map(|place| seed(place / model, place % model)).collect()
}

fn half(rows: impl IntoIterator<Item = (Seed, f64)>) -> f64 {
    let interval = mean(Scale::Plain, rows).unwrap().interval.unwrap();
    (interval.high - interval.low) / 2.0
}

#[test]
fn one_seed_has_no_interval() {
    let one = mean(Scale::Plain, [(seed(1, 1), 0.5), (seed(1, 1), 0.7)]).unwrap();
    assert_eq!((one.interval, one.runs, one.data_seeds), (None, 2, 1));
    assert!((one.value - 0.6).abs() < 1e-12);
    assert!(mean(Scale::Plain, []).is_none());
}

#[test]
fn one_data_seed_with_equal_model_seeds_has_no_interval() {
    assert_eq!(mean(Scale::Plain, [(seed(0, 0), 0.3), (seed(0, 1), 0.3), (seed(0, 2), 0.3)]).unwrap().interval, None);
    assert!(mean(Scale::Plain, [(seed(0, 0), 0.3), (seed(0, 1), 0.4)]).unwrap().interval.is_some());
}

#[test]
fn seeds_that_agree_by_chance_have_no_interval() {
    let interval = |runs: &[(usize, f64)]| {
        mean(Scale::Plain, runs.iter().map(|(place, value)| (seed(*place, *place), *value))).unwrap().interval
    };
    assert_eq!(interval(&[(0, 0.0), (0, 1.0), (1, 1.0), (1, 0.0)]), None);
    // Nor where they differ by rounding alone: 0.1 + 0.2 − 0.3 is not quite nothing.
    assert_eq!(interval(&[(0, 0.1), (0, 0.2), (0, -0.3), (1, -0.3), (1, 0.3), (2, 0.0)]), None);
    // Where all runs agree, so do the seeds.
    assert_eq!(interval(&[(0, 1.0), (0, 1.0), (1, 1.0), (1, 1.0)]), Some(Interval { low: 1.0, high: 1.0 }));
}

#[test]
fn copies_under_further_model_seeds_are_no_evidence() {
    // Student's t with two degrees of freedom: 4.303 · 0.1 / √3.
    let gap = |seed: Seed| (seed, 0.1 * (seed.data + 1) as f64);
    for model in 1..4 {
        let got = half(crossed(3, model).into_iter().map(gap));
        assert!((got - 0.248_414).abs() < 1e-6, "{got} with {model} model seeds");
    }
}

#[test]
fn pairs_that_were_never_crossed_are_as_many_seeds() {
    // Student's t with one degree of freedom: 12.706 · 0.5.
    let got = half([(seed(0, 0), 0.0), (seed(1, 1), 1.0)]);
    assert!((got - 6.353_102).abs() < 1e-6, "{got}");
}

#[test]
fn a_statistic_that_one_seed_alone_defines_has_no_interval() {
    // Without data seed 0 nothing varies.
    let rows = [(0, 0.0, 0.0), (0, 1.0, 1.0), (1, 2.0, 5.0), (1, 2.0, 5.0)];
    let r = pearson(rows.map(|(data, x, y)| (seed(data, 0), x, y))).unwrap();
    assert_eq!(r.interval, None);
}

#[test]
fn groups_are_data_seeds_where_there_are_two() {
    assert_eq!(groups(&[seed(0, 0), seed(0, 1), seed(2, 0)]), [0, 0, 2]);
    assert_eq!(groups(&[seed(1, 0), seed(1, 1)]), [0, 1]);
}

/// About normal: the sum of twelve uniform numbers.
fn normal(rng: &mut Rng) -> f64 {
    (0..12).map(|_| rng.index(1_000_000) as f64 / 1e6).sum::<f64>() - 6.0
}

/// How often the interval of a mean holds 0, where 0 is the truth and data seeds, model seeds and runs differ with
/// these standard deviations.
fn coverage(design: &[Seed], [of_data, of_model, of_run]: [f64; 3]) -> f64 {
    const TIMES: usize = 4000;
    let mut rng = Rng::keyed("coverage", [0; 3]);
    let mut held = 0;
    for _ in 0..TIMES {
        let mut draw = || (0..20).map(|_| normal(&mut rng)).collect::<Vec<f64>>();
        let (data, model) = (draw(), draw());
        let value = |seed: &Seed| of_data * data[seed.data] + of_model * model[seed.model] + of_run * normal(&mut rng);
        let values: Vec<f64> = design.iter().map(value).collect();
        let interval = mean(Scale::Plain, design.iter().copied().zip(values)).unwrap().interval.unwrap();
        held += usize::from(interval.contains(0.0));
    }
    held as f64 / TIMES as f64
}

#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    let diagonal: Vec<Seed> = (0..3).map(|place| seed(place, place)).collect();
    let designs = [
        ("3 × 3, data seeds alone", crossed(3, 3), [1.0, 0.0, 0.0]),
        ("3 × 3, data seeds and half as much noise", crossed(3, 3), [1.0, 0.0, 0.5]),
        ("2 × 2, data seeds alone", crossed(2, 2), [1.0, 0.0, 0.0]),
        ("3 × 3, noise alone", crossed(3, 3), [0.0, 0.0, 1.0]),
        ("3 × 3, both kinds of seed", crossed(3, 3), [1.0, 1.0, 0.0]),
        ("3 pairs, all", diagonal.clone(), [1.0, 1.0, 1.0]),
        ("4 pairs of 9, data seeds alone", [diagonal, vec![seed(0, 1)]].concat(), [1.0, 0.0, 0.0]),
        ("20 × 1, data seeds and noise", crossed(20, 1), [1.0, 0.0, 1.0]),
        ("20 × 2, both kinds of seed", crossed(20, 2), [1.0, 1.0, 0.5]),
    ];
    for (name, design, spread) in designs {
        let held = coverage(&design, spread);
        println!("{name}: {:.1} %", 100.0 * held);
        assert!(held > 0.93, "{name}: {held}");
    }
}

proptest! {
    #[test]
    fn neither_kind_of_seed_is_forgotten(values in prop::collection::vec(0.0..1.0f64, 9)) {
        let rows: Vec<_> = crossed(3, 3).into_iter().zip(values).collect();
        let by = |kept: fn(Seed) -> Seed| half(rows.iter().map(|(seed, value)| (kept(*seed), *value)));
        let whole = half(rows.iter().copied());
        prop_assert!(whole >= by(|it| seed(it.data, 0)) - 1e-12);
        // Model seeds in the place of data seeds, as a single data seed may have no interval.
        prop_assert!(whole >= by(|it| seed(it.model, 0)) - 1e-12);
    }
}

/// Welch's interval, as `scipy.stats.ttest_ind(b, a, equal_var=False).confidence_interval()` has it.
#[test]
fn samples_without_common_seeds_have_welchs_interval() {
    let rows = |from: usize, values: &[f64]| -> Vec<(Seed, f64)> {
        let seed = |place: usize| Seed { data: from + place, model: 0 };
        values.iter().enumerate().map(|(place, value)| (seed(place), *value)).collect()
    };
    let (a, b) = (rows(0, &[0.1, 0.2, 0.3]), rows(3, &[0.5, 0.6, 0.7]));
    let Estimate { value, interval, data_seeds, .. } = unpaired(Scale::Plain, &a, &b).unwrap();
    let Interval { low, high } = interval.unwrap();
    assert!((value - 0.4).abs() < 1e-12 && data_seeds == 6);
    assert!((low - 0.173_304_206).abs() < 1e-8 && (high - 0.626_695_794).abs() < 1e-6, "{low} {high}");
    // Many seeds of one side do not make up for few of the other: degrees of freedom stay near those of the few.
    let many = rows(3, &[0.5; 30].iter().enumerate().map(|(place, v)| v + 0.001 * place as f64).collect::<Vec<_>>());
    let Interval { low, high } = unpaired(Scale::Plain, &a, &many).unwrap().interval.unwrap();
    assert!((high - low) / 2.0 > 0.24, "{low} {high}");
    // Differences of shares stay between −1 and 1; a single seed has no interval.
    let (low, high) = (rows(0, &[0.0, 0.9]), rows(2, &[1.0, 0.2]));
    let Interval { low, high } = unpaired(Scale::Signed, &low, &high).unwrap().interval.unwrap();
    assert_eq!((low, high), (-1.0, 1.0));
    assert!(unpaired(Scale::Plain, &a[..1], &b).unwrap().interval.is_none());
}
