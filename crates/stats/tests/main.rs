//! The statistics, each against what is known of it.

mod alignment;
mod python;
mod seeds;
mod sequential;

mod correlation {
    use invitro_stats::correlation::*;

    #[test]
    fn perfect_and_absent() {
        let line = pearson(&[1.0, 2.0, 3.0, 4.0], &[2.0, 4.0, 6.0, 8.0]).unwrap();
        assert_eq!((line.r, line.p), (1.0, 0.0));
        assert_eq!(spearman(&[1.0, 2.0, 3.0, 4.0], &[1.0, 8.0, 27.0, 64.0]).unwrap().r, 1.0);
        assert!(pearson(&[1.0, 1.0, 1.0], &[1.0, 2.0, 3.0]).is_none());
        assert!(pearson(&[1.0, 2.0], &[1.0, 2.0]).is_none());
    }

    #[test]
    fn ties_share_their_rank() {
        assert_eq!(ranks(&[10.0, 30.0, 10.0]), [1.5, 3.0, 1.5]);
    }
}

mod discontinuity {
    use invitro_base::random::Stream;
    use invitro_stats::Seed;
    use invitro_stats::discontinuity::{Point, jump};
    use invitro_stats::linear::solve;

    /// Points of some runs, with a run's own lines and the same jump.
    fn points(runs: usize, each: usize, jump: f64, noise: f64) -> Vec<Point> {
        let mut rng = Stream::new(7, "jump").at(0, 0);
        let mut point = |run: usize| {
            let x = rng.unit() - 0.5;
            let (height, slope) = if x < 0.0 { (jump, 3.0) } else { (0.0, -2.0) };
            let y = run as f64 + height + (slope + run as f64) * x + noise * (rng.unit() - 0.5);
            Point { run, x, y }
        };
        (0..runs).flat_map(|run| (0..each).map(|_| point(run)).collect::<Vec<_>>()).collect()
    }

    fn of(points: &[Point]) -> f64 {
        jump(points, |run| Seed { data: run, model: 0 }).unwrap().value
    }

    /// One regression for all runs, each with two lines of its own, and one jump: all columns at once.
    fn slow(points: &[Point], runs: usize) -> f64 {
        let width = 3 * runs + 1;
        let row = |point: &Point| {
            let mut row = vec![0.0; width];
            let below = f64::from(u8::from(point.x < 0.0));
            row[3 * point.run..][..3].copy_from_slice(&[1.0, point.x, point.x * below]);
            row[width - 1] = below;
            row
        };
        let rows: Vec<Vec<f64>> = points.iter().map(row).collect();
        let sum = |a: usize, b: usize| rows.iter().map(|row| row[a] * row[b]).sum::<f64>();
        let gram: Vec<f64> = (0..width * width).map(|at| sum(at / width, at % width)).collect();
        let right: Vec<f64> =
            (0..width).map(|at| rows.iter().zip(points).map(|(row, point)| row[at] * point.y).sum()).collect();
        solve(&gram, &right).unwrap()[width - 1]
    }

    #[test]
    fn a_planted_jump_is_found_and_nothing_else() {
        for planted in [0.0, 0.8, -2.0] {
            let exact = points(4, 30, planted, 0.0);
            assert!((of(&exact) - planted).abs() < 1e-9);
            let noisy = points(4, 30, planted, 1.0);
            assert!((of(&noisy) - slow(&noisy, 4)).abs() < 1e-9, "{} {}", of(&noisy), slow(&noisy, 4));
            let shifted: Vec<Point> = noisy.iter().map(|point| Point { y: point.y + 50.0, ..*point }).collect();
            assert!((of(&shifted) - of(&noisy)).abs() < 1e-9);
            let interval = jump(&noisy, |run| Seed { data: run, model: 0 }).unwrap().interval.unwrap();
            assert!(interval.contains(planted) && !interval.contains(planted + 2.0), "{planted}: {interval:?}");
        }
    }

    #[test]
    fn runs_without_words_on_both_sides_are_left_out() {
        let mut all = points(3, 30, 1.0, 0.0);
        all.retain(|point| point.run != 1 || point.x < 0.0);
        let found = jump(&all, |run| Seed { data: run, model: 0 }).unwrap();
        assert!((found.value - 1.0).abs() < 1e-9 && found.runs == 2);
        all.retain(|point| point.run == 1);
        assert!(jump(&all, |_| Seed::default()).is_none());
    }
}

mod linear {
    use invitro_stats::linear::*;

    #[test]
    fn inverts_and_names_the_dependent_column() {
        let matrix = [4.0, 2.0, 2.0, 3.0];
        assert_eq!(solve(&matrix, &[10.0, 9.0]).unwrap().map_round(), vec![1.5, 2.0]);
        let inverse = inverse(&matrix, 2).unwrap();
        assert!((inverse[0] - 0.375).abs() < 1e-12 && (inverse[1] + 0.25).abs() < 1e-12);
        assert_eq!(solve(&[1.0, 2.0, 2.0, 4.0], &[1.0, 2.0]), Err(1));
    }

    trait MapRound {
        fn map_round(self) -> Vec<f64>;
    }

    impl MapRound for Vec<f64> {
        fn map_round(self) -> Vec<f64> {
            self.into_iter().map(|x| (x * 1e9).round() / 1e9).collect()
        }
    }
}

mod permutation {
    use invitro_stats::permutation::*;

    #[test]
    fn three_equal_differences_reach_only_the_two_extreme_patterns() {
        assert_eq!(sign_flip_p(&[1.0, 1.0, 1.0]), Some(0.25));
        assert_eq!(sign_flip_p(&[]), None);
    }

    #[test]
    fn a_correlation_between_strata_only_vanishes_within_them() {
        // Two far clusters, no relation inside either.
        let x = [0.0, 1.0, 2.0, 3.0, 10.0, 11.0, 12.0, 13.0];
        let y = [0.1, 0.0, 0.0, 0.1, 9.1, 9.0, 9.0, 9.1];
        assert!(correlation_p(&x, &y, &[0; 8]).unwrap() < 0.05);
        assert!(correlation_p(&x, &y, &[0, 0, 0, 0, 1, 1, 1, 1]).unwrap() > 0.5);
    }
}

mod regression {
    use invitro_stats::Seed;
    use invitro_stats::regression::*;

    fn column(name: &str, values: &[f64]) -> NamedColumn {
        NamedColumn::new(name, values.to_vec())
    }

    #[test]
    fn an_exact_line_is_found_and_constant_columns_are_named() {
        let x = column("x", &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        let y: Vec<f64> = x.values.iter().map(|x| 3.0 * x + 1.0).collect();
        let fitted = least_squares(std::slice::from_ref(&x), &y, &[0, 0, 1, 1, 2, 2]).unwrap();
        assert!((fitted.effects[0].value - 3.0).abs() < 1e-12 && fitted.r_squared > 1.0 - 1e-12);

        let twice = column("twice", &[0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        let flat = column("flat", &[1.0; 6]);
        let fitted = standardised(&[x, twice, flat], &y, &[0, 0, 1, 1, 2, 2]).unwrap();
        assert_eq!(fitted.dropped, ["twice", "flat"]);
        assert!((fitted.effects[0].value - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_centre_over_seeds_is_the_fit() {
        let a = column("a", &[0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0]);
        let b = column("b", &[0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0]);
        let y = [0.0, 1.1, 0.4, 1.6, 0.1, 0.9, 0.5, 1.3];
        let groups = [0, 0, 0, 0, 1, 1, 1, 1];
        let of_rows: Vec<Seed> = groups.iter().map(|g| Seed { data: *g, model: 0 }).collect();
        let columns = [a, b];
        let fitted = standardised(&columns, &y, &groups).unwrap();
        let found = over_seeds(&of_rows, &columns, &y, |c| c[0] - c[1]).unwrap();
        assert!((found.value - (fitted.effects[0].value - fitted.effects[1].value)).abs() < 1e-12);
        assert!(found.interval.unwrap().contains(found.value));
    }
}

/// Standardised effects over seeds: a thousand studies of a grid of three factors, with what a data seed brings to all
/// its runs and to the effect itself.
mod effects {
    use invitro_base::random::Rng;
    use invitro_stats::Seed;
    use invitro_stats::regression::*;
    fn normal(rng: &mut Rng) -> f64 {
        (0..12).map(|_| rng.index(1 << 20) as f64 / f64::from(1 << 20)).sum::<f64>() - 6.0
    }

    #[test]
    fn are_called_rarely_where_there_are_none_and_found_where_there_are() {
        let mut all = 0;
        for seeds in [3, 4, 9] {
            let (mut called, mut found, mut studies) = (0, 0, 0);
            let mut rng = Rng::keyed(&format!("simulated effects, {seeds} seeds"), [0; 3]);
            while studies < 1000 {
                let mut columns = ["x", "y", "z"].map(|name| NamedColumn::new(name, Vec::new()));
                let (mut of_rows, mut null, mut known) = (Vec::new(), Vec::new(), Vec::new());
                for data in 0..seeds {
                    let (shared, tilt) = (normal(&mut rng), 0.3 * normal(&mut rng));
                    for cell in 0..12 {
                        let levels = [(cell % 2) as f64, (cell / 2 % 2) as f64, (cell / 4) as f64];
                        columns.iter_mut().zip(levels).for_each(|(column, level)| column.values.push(level));
                        let noise = shared + tilt * levels[2] + normal(&mut rng);
                        of_rows.push(Seed { data, model: 0 });
                        null.push(levels[0] + noise);
                        known.push(levels[0] - 3.0 * levels[2] + noise);
                    }
                }
                let slope = |y: &[f64]| over_seeds(&of_rows, &columns, y, |effects| effects[2]).unwrap();
                let interval = |y: &[f64]| slope(y).interval.unwrap();
                called += usize::from(!interval(&null).contains(0.0) && !interval(&null).within(-0.1, 0.1));
                found += usize::from(interval(&known).below(0.0));
                studies += 1;
            }
            println!("{seeds} seeds: {called} called of no effect, {found} found of an effect");
            // At most two standard errors more than 5 %, for each number of seeds and for all together.
            assert!(called <= 64, "{seeds} seeds: {called}");
            assert!(found >= 900, "{seeds} seeds: {found}");
            all += called;
        }
        assert!(all <= 174, "{all} of 3,000");
    }
}

mod student {
    use invitro_stats::student::*;

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

mod stream {
    use invitro_base::random::Rng;

    #[test]
    fn names_separate_streams_and_repeat() {
        let first: Vec<usize> = (0..8)
            .map({
                let mut rng = Rng::keyed("a", [0; 3]);
                move |_| rng.index(1000)
            })
            .collect();
        let again: Vec<usize> = (0..8)
            .map({
                let mut rng = Rng::keyed("a", [0; 3]);
                move |_| rng.index(1000)
            })
            .collect();
        let other: Vec<usize> = (0..8)
            .map({
                let mut rng = Rng::keyed("b", [0; 3]);
                move |_| rng.index(1000)
            })
            .collect();
        assert_eq!(first, again);
        assert_ne!(first, other);
    }

    #[test]
    fn a_shuffle_keeps_the_items() {
        let mut items: Vec<u32> = (0..50).collect();
        Rng::keyed("shuffle", [0; 3]).shuffle(&mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}

/// Words one by one: two arms of the same words, and what a word's contrast correlates with.
mod words {
    use invitro_base::random::Rng;
    use invitro_stats::Seed;
    use invitro_stats::clusters::{WordRows, over_seeds, two_way};
    use invitro_stats::regression::NamedColumn;
    use invitro_stats::strata::{ArmValue, difference};
    fn value(second: bool, data: usize, kind: usize, word: usize, value: f64) -> ArmValue {
        ArmValue { second, seed: Seed { data, model: 0 }, settings: 0, kind, word, value }
    }

    #[test]
    fn a_word_is_compared_with_itself() {
        let pairs: Vec<ArmValue> = [(0, 5.0), (1, -3.0), (2, 1.0)]
            .into_iter()
            .flat_map(|(word, level)| [value(false, 0, 0, word, level + 1.0), value(true, 0, 0, word, level)])
            .collect();
        let found = difference("pairs", &pairs).unwrap();
        assert!((found.estimate.value - 1.0).abs() < 1e-12);
        assert_eq!((found.values, found.estimate.runs, found.estimate.interval), (6, 2, None));
        // Two of the eight arrangements are as large.
        assert!((found.p - 0.25).abs() < 0.05, "{}", found.p);
        assert_eq!(difference("pairs", &pairs).unwrap().p, found.p, "the same stream");
        assert!(difference("one arm", &pairs[..1]).is_none());
    }

    #[test]
    fn words_of_another_kind_or_seed_are_not_compared() {
        // Long words are known better, and one arm has more of them; within each kind the arms agree.
        let rows = [(false, 0, 0.0), (false, 1, 9.0), (false, 1, 9.0), (true, 0, 0.0), (true, 0, 0.0), (true, 1, 9.0)];
        let rows: Vec<ArmValue> =
            rows.into_iter().enumerate().map(|(at, (second, kind, c))| value(second, 0, kind, at, c)).collect();
        let found = difference("kinds", &rows).unwrap();
        assert_eq!((found.estimate.value, found.p), (0.0, 1.0));
        let apart: Vec<ArmValue> =
            rows.iter().map(|it| value(it.second, usize::from(it.second), it.kind, it.word, it.value)).collect();
        assert!(difference("seeds", &apart).is_none(), "two data seeds, one for each arm");
    }

    #[test]
    fn words_that_one_arm_has_alone_change_places_within_their_kind() {
        let row = |second: bool, word: usize| value(second, 0, 0, word, if second { 0.0 } else { 1.0 });
        let rows: Vec<ArmValue> =
            (0..4).map(|word| row(false, word)).chain((4..8).map(|word| row(true, word))).collect();
        let found = difference("alone", &rows).unwrap();
        // 2 of the 70 ways to choose four of eight.
        assert_eq!(found.estimate.value, 1.0);
        assert!((found.p - 2.0 / 70.0).abs() < 0.015, "{}", found.p);
    }

    fn normal(rng: &mut Rng) -> f64 {
        (0..12).map(|_| rng.index(1 << 20) as f64 / f64::from(1 << 20)).sum::<f64>() - 6.0
    }

    /// Two arms of four settings and 40 words, of which the first is better by 0.3 on average: more in some data seeds than in
    /// others, and in some runs than in others.
    fn arms(rng: &mut Rng, seeds: usize, of_seed: f64, of_run: f64) -> Vec<ArmValue> {
        let mut rows = Vec::new();
        for data in 0..seeds {
            let own: Vec<f64> = (0..40).map(|_| 2.0 * normal(rng)).collect();
            let more = 0.3 + of_seed * normal(rng);
            for settings in 0..4 {
                for second in [false, true] {
                    let run = of_run * normal(rng) + if second { 0.0 } else { more };
                    rows.extend(own.iter().enumerate().map(|(word, level)| ArmValue {
                        settings,
                        ..value(second, data, word % 5, word, level + run + normal(rng))
                    }));
                }
            }
        }
        rows
    }

    #[test]
    fn intervals_of_a_difference_hold_it_as_often_as_they_say() {
        for (seeds, of_seed, of_run) in [(3, 0.2, 0.1), (5, 0.2, 0.1), (5, 0.0, 0.2), (3, 0.0, 0.0)] {
            let mut rng = Rng::keyed(&format!("coverage of arms, {seeds} seeds, {of_seed}, {of_run}"), [0; 3]);
            let (mut held, mut small, times) = (0, 0, 300);
            for _ in 0..times {
                let rows = arms(&mut rng, seeds, of_seed, of_run);
                held += usize::from(difference("coverage", &rows).unwrap().estimate.interval.unwrap().contains(0.3));
                let level =
                    rows.into_iter().map(|it| ArmValue { value: it.value - if it.second { 0.0 } else { 0.3 }, ..it });
                small += usize::from(difference("level", &level.collect::<Vec<_>>()).unwrap().p <= 0.05);
            }
            let share = |count: usize| 100.0 * count as f64 / f64::from(times);
            println!(
                "{seeds} seeds, {of_seed} and {of_run}: {:.1} % held, {:.1} % of p below 0.05",
                share(held),
                share(small)
            );
            assert!(share(held) > 92.5, "{seeds} seeds: {held}");
            // Where models differ in nothing but noise of words, p keeps its level; else it tells models apart, as it says.
            assert!(of_seed > 0.0 || of_run > 0.0 || share(small) < 8.0, "{small}");
        }
    }

    /// Words of several runs of each data seed: bridges that go with distance, and slopes that differ between data seeds.
    fn regressed(rng: &mut Rng, seeds: usize, of_slope: f64) -> (WordRows, Vec<usize>, Vec<usize>) {
        let mut columns = ["bridge", "distance", "letters", "pieces"].map(|name| NamedColumn::new(name, Vec::new()));
        let (mut y, mut runs, mut symbols, mut data_seeds) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for data in 0..seeds {
            let slope = 1.0 + of_slope * normal(rng);
            let own: Vec<[f64; 3]> = (0..30).map(|_| [normal(rng), (2.0 * normal(rng)).round(), normal(rng)]).collect();
            for run in 0..4 {
                let level = normal(rng);
                for (word, [distance, letters, of_word]) in own.iter().enumerate() {
                    let bridge = 0.2 * normal(rng) - 0.3 * distance + 0.1 * run as f64;
                    let pieces = (letters / 2.0 + normal(rng)).round();
                    let row = [bridge, *distance, *letters, pieces];
                    columns.iter_mut().zip(row).for_each(|(column, value)| column.values.push(value));
                    y.push(slope * bridge - 0.4 * distance + 0.1 * pieces + level + of_word + normal(rng));
                    runs.push(4 * data + run);
                    symbols.push(30 * data + word);
                    data_seeds.push(data);
                }
            }
        }
        (WordRows { columns: columns.into(), y, runs }, symbols, data_seeds)
    }

    #[test]
    fn intervals_of_a_regression_hold_the_slope_as_often_as_they_say() {
        for (seeds, of_slope) in [(3, 0.0), (3, 0.5), (5, 0.0), (5, 0.5)] {
            let mut rng = Rng::keyed(&format!("coverage of a regression, {seeds} seeds, {of_slope}"), [0; 3]);
            let (times, mut held) = (500, [0; 4]);
            for _ in 0..times {
                let (rows, symbols, data) = regressed(&mut rng, seeds, of_slope);
                let of_runs = |run: usize| Seed { data: run / 4, model: 0 };
                let left_out = over_seeds(&rows, of_runs)[0].1.unwrap().interval.unwrap();
                let fitted = two_way(&rows, [&symbols, &data]).unwrap();
                let clustered = fitted.effects[0].interval;
                let one_way = |way: &[usize]| two_way(&rows, [way, way]).unwrap().effects[0].interval;
                let [by_data, by_symbol] = [&data, &symbols].map(|way| one_way(way));
                let all = [left_out, clustered, by_data, by_symbol].map(|interval| interval.contains(1.0));
                held.iter_mut().zip(all).for_each(|(held, it)| *held += usize::from(it));
            }
            let [left_out, clustered, by_data, by_symbol] = held.map(|held| 100.0 * held as f64 / times as f64);
            println!(
                "{seeds} seeds, slopes differ by {of_slope}: held by seeds left out {left_out:.1} %, two ways {clustered:.1} %, data seeds \
                 alone {by_data:.1} %, symbols alone {by_symbol:.1} %"
            );
            assert!(left_out > 93.0 && clustered > 93.0, "{seeds} seeds: {held:?}");
            assert!(of_slope == 0.0 || by_symbol < 93.0, "what symbols alone would claim: {held:?}");
        }
    }

    #[test]
    fn what_does_not_vary_within_runs_is_named() {
        let (mut rows, symbols, data) = regressed(&mut Rng::keyed("dropped", [0; 3]), 3, 0.0);
        let of_run = rows.runs.iter().map(|run| 1e3 * *run as f64).collect();
        rows.columns.push(NamedColumn::new("of the run", of_run));
        rows.columns.push(NamedColumn::new("twice", rows.columns[1].values.iter().map(|x| 2.0 * x).collect()));
        let fitted = two_way(&rows, [&symbols, &data]).unwrap();
        assert_eq!(fitted.dropped, ["of the run", "twice"]);
        assert_eq!((fitted.effects.len(), fitted.groups), (4, 3));
        let names: Vec<String> =
            over_seeds(&rows, |run| Seed { data: run / 4, model: 0 }).into_iter().map(|it| it.0).collect();
        assert_eq!(names, ["bridge", "distance", "letters", "pieces"]);
    }
}
