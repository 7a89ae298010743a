//! The statistics, each against what is known of it.

mod correlation {
    use invitro_report::stats::correlation::*;

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

mod linear {
    use invitro_report::stats::linear::*;

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
    use invitro_report::stats::permutation::*;

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
    use invitro_report::stats::Seed;
    use invitro_report::stats::regression::*;

    fn column(name: &str, values: &[f64]) -> Column {
        Column::new(name, values.to_vec())
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
    use invitro_report::stats::Seed;
    use invitro_report::stats::regression::*;
    use invitro_report::stats::stream::{below, stream};
    use invitro_results::{MARGIN, Verdict};
    use rand_chacha::ChaCha8Rng;

    fn normal(rng: &mut ChaCha8Rng) -> f64 {
        (0..12).map(|_| below(rng, 1 << 20) as f64 / f64::from(1 << 20)).sum::<f64>() - 6.0
    }

    #[test]
    fn are_called_rarely_where_there_are_none_and_found_where_there_are() {
        let mut all = 0;
        for seeds in [3, 4, 9] {
            let (mut called, mut found, mut studies) = (0, 0, 0);
            let mut rng = stream(&format!("simulated effects, {seeds} seeds"));
            while studies < 1000 {
                let mut columns = ["x", "y", "z"].map(|name| Column::new(name, Vec::new()));
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
                let verdict = |y: &[f64]| Verdict::of(Some(&slope(y)), 0.0, MARGIN);
                called += usize::from(matches!(verdict(&null), Verdict::Supported | Verdict::Contradicted));
                found += usize::from(verdict(&known) == Verdict::Contradicted);
                studies += 1;
            }
            println!("{seeds} seeds: {called} called of no effect, {found} found of an effect");
            // Two standard errors more than 5 % of a thousand; all together no more than 5 %.
            assert!(called <= 64, "{seeds} seeds: {called}");
            assert!(found >= 900, "{seeds} seeds: {found}");
            all += called;
        }
        assert!(all <= 150, "{all} of 3,000");
    }
}

mod seeds {
    use invitro_report::stats::seeds::*;
    use invitro_report::stats::stream::{below, stream};
    use invitro_results::Interval;
    use proptest::prelude::*;
    use rand_chacha::ChaCha8Rng;

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
        assert_eq!(
            mean(Scale::Plain, [(seed(0, 0), 0.3), (seed(0, 1), 0.3), (seed(0, 2), 0.3)]).unwrap().interval,
            None
        );
        assert!(mean(Scale::Plain, [(seed(0, 0), 0.3), (seed(0, 1), 0.4)]).unwrap().interval.is_some());
    }

    #[test]
    fn two_seeds_that_agree_by_chance_have_no_interval() {
        let runs = [(0, 0.0), (0, 1.0), (1, 1.0), (1, 0.0)];
        assert_eq!(mean(Scale::Plain, runs.map(|(place, value)| (seed(place, place), value))).unwrap().interval, None);
        // Where all runs agree, so do the seeds.
        let interval = mean(Scale::Plain, runs.map(|(place, _)| (seed(place, place), 1.0))).unwrap().interval;
        assert_eq!(interval, Some(Interval { low: 1.0, high: 1.0 }));
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
    fn normal(rng: &mut ChaCha8Rng) -> f64 {
        (0..12).map(|_| below(rng, 1_000_000) as f64 / 1e6).sum::<f64>() - 6.0
    }

    /// How often the interval of a mean holds 0, where 0 is the truth and data seeds, model seeds and runs differ with
    /// these standard deviations.
    fn coverage(design: &[Seed], [of_data, of_model, of_run]: [f64; 3]) -> f64 {
        const TIMES: usize = 4000;
        let mut rng = stream("coverage");
        let mut held = 0;
        for _ in 0..TIMES {
            let mut draw = || (0..20).map(|_| normal(&mut rng)).collect::<Vec<f64>>();
            let (data, model) = (draw(), draw());
            let value =
                |seed: &Seed| of_data * data[seed.data] + of_model * model[seed.model] + of_run * normal(&mut rng);
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
}

mod special {
    use invitro_report::stats::special::*;

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
    use invitro_report::stats::stream::*;

    #[test]
    fn names_separate_streams_and_repeat() {
        let first: Vec<usize> = (0..8)
            .map({
                let mut rng = stream("a");
                move |_| below(&mut rng, 1000)
            })
            .collect();
        let again: Vec<usize> = (0..8)
            .map({
                let mut rng = stream("a");
                move |_| below(&mut rng, 1000)
            })
            .collect();
        let other: Vec<usize> = (0..8)
            .map({
                let mut rng = stream("b");
                move |_| below(&mut rng, 1000)
            })
            .collect();
        assert_eq!(first, again);
        assert_ne!(first, other);
    }

    #[test]
    fn a_shuffle_keeps_the_items() {
        let mut items: Vec<u32> = (0..50).collect();
        shuffle(&mut stream("shuffle"), &mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}
