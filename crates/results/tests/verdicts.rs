//! How often verdicts are wrong, and how often intervals hold the truth: a thousand simulated studies each, with three,
//! four and nine data seeds, whose runs share what a data seed brings.

use invitro_language::{Rng, Stream};
use invitro_results::claims::{Expectation, FADED, LEVEL, Verdict, holm};
use invitro_results::{Curve, CurvePoint, Trajectory};
use invitro_stats::Estimate;
use invitro_stats::seeds::{self, Scale, Seed};

const STUDIES: u64 = 1000;
const SEEDS: [usize; 3] = [3, 4, 9];
/// Runs of a data seed: the cells of a small grid.
const CELLS: usize = 8;

/// A normal number: a sum of twelve uniform ones is all but that.
fn normal(rng: &mut Rng) -> f64 {
    (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0
}

/// Of the studies, the share for which something holds.
fn share(name: &str, seeds: usize, holds: impl Fn(&mut Rng) -> bool) -> f64 {
    let stream = Stream::new(seeds as u64, name);
    (0..STUDIES).filter(|study| holds(&mut stream.at(0, *study))).count() as f64 / STUDIES as f64
}

/// The runs of a study: what the data seed brings, and what each run adds.
fn study(rng: &mut Rng, seeds: usize, mut run: impl FnMut(&mut Rng, f64) -> f64) -> Vec<(Seed, f64)> {
    let mut rows = Vec::new();
    for data in 0..seeds {
        let shared = normal(rng);
        rows.extend((0..CELLS).map(|_| (Seed { data, model: 0 }, run(rng, shared))));
    }
    rows
}

fn is_called(estimate: &Estimate, neutral: f64) -> bool {
    Verdict::new(estimate, Expectation::OtherThan(neutral), 0.0, LEVEL) == Verdict::Supported
}

fn logistic(value: f64) -> f64 {
    1.0 / (1.0 + (-value).exp())
}

/// All kinds of verdict together are wrong in at most 5 % of studies. An exact 5 % test of one kind is wrong in 5 % of all
/// studies, and of a thousand in up to 6.4 % (two standard errors more).
const AT_MOST: f64 = 0.064;

#[test]
fn of_studies_without_an_effect_few_are_called_one() {
    for seeds in SEEDS {
        let mean = share("null mean", seeds, |rng| {
            let rows = study(rng, seeds, |rng, shared| 0.05 * shared + 0.1 * normal(rng));
            is_called(&seeds::mean(Scale::Plain, rows).unwrap(), 0.0)
        });
        let half = share("null share", seeds, |rng| {
            let rows = study(rng, seeds, |rng, shared| logistic(0.3 * shared + 0.5 * normal(rng)));
            is_called(&seeds::mean(Scale::Share, rows).unwrap(), 0.5)
        });
        let order = share("null order", seeds, |rng| {
            let rows = study(rng, seeds, |rng, shared| f64::from(u8::from(rng.unit() < logistic(0.5 * shared))));
            is_called(&seeds::proportion(rows.into_iter().map(|(seed, first)| (seed, first > 0.5))).unwrap(), 0.5)
        });
        let correlation = share("null correlation", seeds, |rng| {
            let rows = study(rng, seeds, |rng, shared| 0.5 * shared + normal(rng));
            let rows: Vec<_> =
                rows.into_iter().enumerate().map(|(at, (seed, y))| (seed, (at % CELLS) as f64, y)).collect();
            is_called(&seeds::pearson(rows).unwrap(), 0.0)
        });
        // All runs of a seed agree: they are one.
        let shared = share("null order, shared", seeds, |rng| {
            let mut of_seeds: Vec<bool> = Vec::new();
            of_seeds.resize_with(seeds, || rng.unit() < 0.5);
            let rows = of_seeds.iter().enumerate().flat_map(|(data, first)| [(Seed { data, model: 0 }, *first); CELLS]);
            is_called(&seeds::proportion(rows).unwrap(), 0.5)
        });
        // With four, all agree in one study of eight, and that is called an order.
        assert!(shared <= if seeds == 4 { 0.15 } else { 0.05 }, "{seeds} seeds, an order that seeds share: {shared}");
        let fades = share("null fading", seeds, |rng| {
            let curves: Vec<(Seed, Curve)> = study(rng, seeds, |_, shared| shared)
                .into_iter()
                .map(|(seed, shared)| {
                    let value = |rng: &mut Rng| (0.7 + 0.03 * shared + 0.03 * normal(rng)).clamp(0.0, 1.0);
                    let points = (0..20).map(|at| CurvePoint::without_interval(at * 100, value(rng))).collect();
                    (seed, Curve::new(points))
                })
                .collect();
            let runs: Vec<_> = curves.iter().map(|(seed, curve)| (*seed, curve)).collect();
            let trajectory = Trajectory::new(Scale::Share, &runs).unwrap();
            let largest = runs.iter().map(|(_, curve)| curve.peak().unwrap().value).sum::<f64>() / runs.len() as f64;
            assert!(largest > trajectory.end.value + 0.03, "the largest of twenty is above the last");
            let [before, decline] = [trajectory.before, trajectory.decline].map(|it| it.unwrap().value);
            assert!(
                (before - trajectory.end.value - decline).abs() < 1e-12,
                "a decline is what was before less the end"
            );
            Verdict::new(&trajectory.decline.unwrap(), Expectation::Above(0.0), FADED, LEVEL) == Verdict::Supported
        });
        let all = [("mean", mean), ("share", half), ("order", order), ("correlation", correlation), ("fading", fades)];
        for (name, called) in all {
            println!("{seeds} seeds, {name}: {called}");
            assert!(called <= AT_MOST, "{seeds} seeds, {name}: {called}");
        }
        let together = all.iter().map(|(_, called)| called).sum::<f64>() / all.len() as f64;
        assert!(together <= 0.05, "{seeds} seeds, all kinds of verdict: {together}");
    }
}

#[test]
fn intervals_hold_a_known_effect() {
    let holds = |estimate: Option<Estimate>, truth: f64| estimate.unwrap().interval.unwrap().contains(truth);
    for seeds in SEEDS {
        let mean = share("known mean", seeds, |rng| {
            let rows = study(rng, seeds, |rng, shared| 0.3 + 0.05 * shared + 0.1 * normal(rng));
            holds(seeds::mean(Scale::Plain, rows), 0.3)
        });
        let by_logit = share("known share", seeds, |rng| {
            // Shares on both sides of 0.9, whose mean is 0.9 over all seeds.
            let rows = study(rng, seeds, |rng, shared| 0.9 + 0.02 * shared + 0.02 * normal(rng));
            holds(seeds::mean(Scale::Share, rows), 0.9)
        });
        let correlation = share("known correlation", seeds, |rng| {
            let mut rows = Vec::new();
            for (seed, _) in study(rng, seeds, |_, _| 0.0) {
                let x = normal(rng);
                rows.push((seed, x, 0.8 * x + 0.6 * normal(rng)));
            }
            holds(seeds::pearson(rows), 0.8)
        });
        let decline = share("known decline", seeds, |rng| {
            let curves: Vec<(Seed, Curve)> = study(rng, seeds, |_, shared| shared)
                .into_iter()
                .map(|(seed, shared)| {
                    // A peak in the middle that no noise hides, and 0.2 less at the end.
                    let course = [0.1, 0.5, 0.8, 0.65, 0.6];
                    let own = 0.02 * shared;
                    let value = |(at, value): (usize, f64)| {
                        CurvePoint::without_interval(
                            100 * at as u32,
                            value + own * at as f64 / 4.0 + 0.02 * normal(rng),
                        )
                    };
                    (seed, Curve::new(course.into_iter().enumerate().map(value).collect()))
                })
                .collect();
            let runs: Vec<_> = curves.iter().map(|(seed, curve)| (*seed, curve)).collect();
            holds(Trajectory::new(Scale::Share, &runs).unwrap().decline, 0.2)
        });
        let all = [("mean", mean), ("share", by_logit), ("correlation", correlation), ("decline", decline)];
        for (name, covered) in all {
            println!("{seeds} seeds, {name}: {covered}");
            assert!((0.93..=0.97).contains(&covered), "{seeds} seeds, {name}: {covered}");
        }
    }
}

#[test]
fn intervals_stay_inside_their_range() {
    let seed = |data| Seed { data, model: 0 };
    let inside = |estimate: Estimate, low: f64, high: f64| {
        let interval = estimate.interval.unwrap();
        assert!(interval.low >= low && interval.high <= high && interval.contains(estimate.value), "{estimate}");
    };
    inside(
        seeds::mean(Scale::Share, [0.99, 1.0, 0.92].into_iter().enumerate().map(|(s, v)| (seed(s), v))).unwrap(),
        0.0,
        1.0,
    );
    inside(
        seeds::mean(Scale::Share, [0.0, 0.01, 0.0].into_iter().enumerate().map(|(s, v)| (seed(s), v))).unwrap(),
        0.0,
        1.0,
    );
    let points = [(0, 0.0, 0.1), (0, 1.0, 0.9), (1, 0.0, 0.0), (1, 1.0, 1.2), (2, 0.5, 0.7), (2, 0.2, 0.1)];
    inside(seeds::pearson(points.map(|(s, x, y)| (seed(s), x, y))).unwrap(), -1.0, 1.0);
    // All of few seeds is less sure than all of many.
    let all = |runs: usize| seeds::proportion((0..3 * runs).map(|at| (seed(at % 3), true))).unwrap();
    assert_eq!(all(1).value, 1.0);
    let low = |runs| all(runs).interval.unwrap().low;
    assert!(
        low(1) < 0.5 && low(8) == low(1),
        "three seeds are three, however many runs each has: {} {}",
        low(1),
        low(8)
    );
    // Model seeds that agree change nothing; those that differ make it wider.
    let of_models = |named: usize, holds: fn(usize) -> bool| {
        let rows = (0..12).map(|at| (Seed { data: at % 4, model: at / 4 % named }, holds(at / 4)));
        seeds::proportion(rows).unwrap().interval.unwrap()
    };
    assert_eq!(of_models(3, |_| true), of_models(1, |_| true));
    assert!(of_models(3, |model| model > 0).low < of_models(1, |model| model > 0).low);
    let many = seeds::proportion((0..9).map(|data| (seed(data), true))).unwrap();
    assert!(many.interval.unwrap().low > 0.5 && many.interval.unwrap().low < 1.0, "{many}");
}

/// Of five claims without anything in them, at least one is decided in 5 % of studies; one by one it would be in 23 %.
#[test]
fn primary_claims_are_wrong_together_as_often_as_one_alone() {
    let wrong = |adjusted: bool| {
        share("null claims", 5, |rng| {
            let estimates: Vec<Estimate> = (0..5)
                .map(|_| seeds::mean(Scale::Plain, study(rng, 5, |rng, shared| shared + normal(rng))).unwrap())
                .collect();
            let verdict = |place: usize, alpha| Verdict::new(&estimates[place], Expectation::Above(0.0), 0.0, alpha);
            let levels = if adjusted { holm(5, verdict) } else { vec![LEVEL; 5] };
            (0..5).any(|place| verdict(place, levels[place]).is_decided())
        })
    };
    assert!(wrong(true) <= AT_MOST, "{}", wrong(true));
    assert!(wrong(false) > 0.15, "{}", wrong(false));
}

/// Of as many seeds and runs, the surest order is the one in which all agree.
#[test]
fn less_agreement_is_never_surer() {
    for seeds in [3, 4, 5, 9] {
        let lowest = |share: &dyn Fn(usize) -> usize| {
            let rows = (0..seeds * 20).map(|at| (Seed { data: at % seeds, model: 0 }, at / seeds < share(at % seeds)));
            seeds::proportion(rows).unwrap().interval.unwrap().low
        };
        let lows: Vec<f64> = (0..=20).map(|of| lowest(&|_| of)).collect();
        assert!(lows.is_sorted(), "{seeds} seeds: {lows:?}");
        assert_eq!(lows[20] > 0.5, seeds > 3, "of three seeds that agree, one study in four does by chance");
        let uneven = lowest(&|seed| if seed == 0 { 13 } else { 20 });
        assert!(uneven < lows[20], "{seeds} seeds, of which one agrees less: {uneven}");
    }
}

/// Leaving out a seed changes the means of its group.
#[test]
fn correlations_within_groups_are_those_of_the_runs_less_their_means() {
    let stream = Stream::new(7, "within groups");
    let mut rng = stream.at(0, 0);
    let mut rows: Vec<(Seed, usize, f64, f64)> = Vec::new();
    for at in 0..60 {
        let (data, group) = (at % 4, at / 4 % 3);
        let x = normal(&mut rng) + group as f64;
        rows.push((Seed { data, model: 0 }, group, x, x + 2.0 * group as f64 + normal(&mut rng)));
    }
    let centred = |rows: &[(Seed, usize, f64, f64)]| {
        let mean = |group, of: &dyn Fn(&(Seed, usize, f64, f64)) -> f64| {
            let own: Vec<f64> = rows.iter().filter(|row| row.1 == group).map(of).collect();
            own.iter().sum::<f64>() / own.len() as f64
        };
        let less = |row: &(Seed, usize, f64, f64)| {
            (row.0, row.2 - mean(row.1, &|row| row.2), row.3 - mean(row.1, &|row| row.3))
        };
        seeds::pearson(rows.iter().map(less)).unwrap().value
    };
    let found = seeds::pearson_within(3, rows.iter().copied()).unwrap();
    let value = centred(&rows);
    assert!((found.value - value).abs() < 1e-12, "{found}, {value}");
    let squares: f64 = (0..4)
        .map(|left| {
            let others: Vec<_> = rows.iter().copied().filter(|row| row.0.data != left).collect();
            (centred(&others).atanh() - value.atanh()).powi(2)
        })
        .sum();
    // Student's t with three degrees of freedom.
    let half = 3.182446305284263 * (0.75 * squares).sqrt();
    let low = (value.atanh() - half).tanh();
    assert!((found.interval.unwrap().low - low).abs() < 1e-9, "{found}, {low}");
}
