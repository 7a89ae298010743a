//! Claims: each kind of estimate beside a slow and obvious computation, and what may not be tested.

use invitro_results::claims::{
    Answer, Claims, Estimated, Expectation, LEVEL, Reason, Scope, Test, Verdict, answer, holm,
};
use invitro_results::words::{MeasuredWord, Traits};
use invitro_results::{
    Condition, Curve, CurvePoint, FolderKind, Measure, Quantity, Results, Run, Study, TaskMetric, Value, column,
};
use invitro_stats::{Estimate, Interval};
use std::path::Path;

const GRAMMATICAL: Measure = Measure::unscrambling(TaskMetric::Grammaticality);
const TYPES: Measure = Measure::unscrambling(TaskMetric::Types);

fn claims(text: &str) -> Claims {
    Claims::parse(text).unwrap_or_else(|why| panic!("{why}"))
}

/// One claim with this estimate and expectation.
fn claim(estimate: &str, expect: &str) -> Claims {
    claims(&format!("[[claims]]\nid = \"x\"\nsays = \"\"\nestimate = {{ {estimate} }}\nexpect = \"{expect}\"\n"))
}

/// The share of the first column's variance that the two others explain, where those are orthogonal.
fn explained(rows: &[[f64; 3]]) -> f64 {
    let mean = |column: usize| rows.iter().map(|row| row[column]).sum::<f64>() / rows.len() as f64;
    let means = [0, 1, 2].map(mean);
    let dot = |a: usize, b: usize| rows.iter().map(|row| (row[a] - means[a]) * (row[b] - means[b])).sum::<f64>();
    [1, 2].map(|column| dot(0, column).powi(2) / dot(column, column)).iter().sum::<f64>() / dot(0, 0)
}

/// A number between -1 and 1 that looks random.
fn noise(seed: usize) -> f64 {
    let mixed = (seed as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (mixed >> 40) as f64 / f64::from(1 << 23) - 1.0
}

/// A run of a study of |V| × d, with its data seed.
struct Made {
    vocab: u32,
    distance: f64,
    data: usize,
}

fn grid(seeds: usize) -> Vec<Made> {
    let mut all = Vec::new();
    for vocab in [256, 512, 1024] {
        for distance in [0.0, 0.5] {
            all.extend((0..seeds).map(|data| Made { vocab, distance, data }));
        }
    }
    all
}

fn curve(points: &[(u32, f64)]) -> Curve {
    Curve::new(points.iter().map(|(step, value)| CurvePoint::without_interval(*step, *value)).collect())
}

fn quantity(measure: Measure, condition: &str) -> Quantity {
    Quantity::in_condition(measure, &condition.parse().unwrap())
}

/// The study of these runs; `curves` has what each measured.
fn study<T>(
    made: &[T],
    settings: impl Fn(&T) -> Vec<(&'static str, Value)>,
    curves: impl Fn(&T) -> Vec<(Quantity, Curve)>,
) -> Study {
    let run = |(place, it): (usize, &T)| {
        let state = (column::STATE, Value::Text("done".into()));
        let columns = settings(it).into_iter().chain([state]).map(|(key, value)| (key.to_owned(), value));
        Run {
            id: place.to_string(),
            columns: columns.collect(),
            curves: curves(it).into_iter().collect(),
            ..Run::default()
        }
    };
    let results = Results::new("study".into(), Path::new(""), FolderKind::Study);
    Study::new(Results { runs: made.iter().enumerate().map(run).collect(), ..results })
}

fn number(value: f64) -> Value {
    Value::Number(value)
}

fn of_grid(made: &Made) -> Vec<(&'static str, Value)> {
    vec![
        ("tokenizer.vocab", number(made.vocab.into())),
        ("language.distance", number(made.distance)),
        (column::DATA_SEED, number(made.data as f64)),
        (column::MODEL_SEED, number(0.0)),
        ("bridge.jaccard", number(0.5 + 0.1 * noise(made.data + made.vocab as usize) - 0.3 * made.distance)),
        ("fertility.A", number(3.0)),
        ("fertility.B", number(3.5 + 0.1 * noise(made.data))),
    ]
}

/// The share of grammatical sentences in B† at the end.
fn end(made: &Made) -> f64 {
    let size = f64::from(made.vocab).log2() - 8.0;
    0.6 - 0.3 * made.distance
        + 0.1 * size * (2.0 - size)
        + 0.02 * noise(made.data + 10 * made.vocab as usize + (100.0 * made.distance) as usize)
}

/// A study whose languages were learned: A and B are grammatical, A knows facts, B† as `end` says.
fn learned(seeds: usize) -> Study {
    study(&grid(seeds), of_grid, |made| {
        let own = noise(made.data + 77);
        let (types, facts) = (curve(&[(0, 0.0), (100, 0.5), (1000, 0.9)]), 2.0 + 0.2 * own);
        vec![
            (quantity(GRAMMATICAL, "A"), curve(&[(0, 0.0), (1000, 0.99)])),
            (quantity(GRAMMATICAL, "B"), curve(&[(0, 0.0), (1000, 0.95)])),
            (quantity(GRAMMATICAL, "B_masked"), curve(&[(0, 0.0), (100, 0.9), (1000, end(made))])),
            (quantity(TYPES, "A"), types.clone()),
            (quantity(TYPES, "B"), curve(&[(0, 0.0), (100, 0.0), (1000, 0.9)])),
            (
                quantity(TYPES, "B_masked"),
                if made.data == 0 { types } else { curve(&[(0, 0.0), (100, 0.0), (1000, 0.5)]) },
            ),
            (quantity(Measure::KNOWLEDGE, "A"), curve(&[(0, 0.0), (1000, facts)])),
            (
                quantity(Measure::KNOWLEDGE, "B_masked"),
                curve(&[(0, 0.0), (1000, 0.5 * facts - made.distance + 0.1 * own)]),
            ),
        ]
    })
}

fn estimated(study: &Study, estimate: &str) -> Estimated {
    let claims = claim(estimate, "above 0");
    let Test::Estimand(estimand) = &claims.claims[0].test else { panic!("an estimate") };
    Scope::new(study).estimate(estimand)
}

fn value(study: &Study, estimate: &str) -> f64 {
    estimated(study, estimate).estimate.unwrap_or_else(|| panic!("{estimate}")).value
}

fn verdict(study: &Study, estimate: &str, expect: &str) -> Verdict {
    answer(study, &claim(estimate, expect)).remove(0).verdict
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    values.iter().sum::<f64>() / values.len() as f64
}

fn near(got: f64, expected: f64) {
    assert!((got - expected).abs() < 1e-9, "{got} against {expected}");
}

/// Pearson's r from its definition.
fn pearson(pairs: &[(f64, f64)]) -> f64 {
    let (mx, my) = (mean(pairs.iter().map(|pair| pair.0)), mean(pairs.iter().map(|pair| pair.1)));
    let sum = |f: &dyn Fn(f64, f64) -> f64| pairs.iter().map(|(x, y)| f(x - mx, y - my)).sum::<f64>();
    sum(&|x, y| x * y) / (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt()
}

#[test]
fn means_at_moments() {
    let (study, made) = (learned(4), grid(4));
    near(value(&study, "mean = \"grammatical\", in = \"B†\""), mean(made.iter().map(end)));
    near(value(&study, "mean = \"grammatical\", in = \"masked\", moment = \"peak\""), 0.9);
    near(value(&study, "mean = \"grammatical\", in = \"target\", moment = 1000"), 0.95);
    near(value(&study, "mean = \"grammatical\", in = \"source\""), 0.99);
    // All runs peak at step 100, and so do those of other seeds.
    let decline = estimated(&study, "mean = \"grammatical\", moment = \"decline\"");
    near(decline.estimate.unwrap().value, mean(made.iter().map(|made| 0.9 - end(made))));
    assert_eq!(decline.detail.steps, Some([100; 3]));
    near(
        value(&study, "mean = \"grammatical\", moment = \"own decline\""),
        mean(made.iter().map(|made| 0.9 - end(made))),
    );
    near(value(&study, "mean = \"types\", in = \"A\", moment = \"emergence\""), 100.0);
    let at = value(&study, "mean = \"grammatical\", at = { tokenizer.vocab = [256, 512], language.distance = 0.5 }");
    let is_in = |made: &&Made| made.vocab < 1024 && made.distance == 0.5;
    near(at, mean(made.iter().filter(is_in).map(end)));
}

#[test]
fn differences_and_ratios() {
    let (study, made) = (learned(4), grid(4));
    let at = |vocab: u32, distance: f64| {
        mean(made.iter().filter(move |made| made.vocab == vocab && made.distance == distance).map(end))
    };
    let both = |distance| mean([256, 512, 1024].into_iter().map(|vocab| at(vocab, distance)));
    near(value(&study, "difference = \"grammatical\", of = { language.distance = [0.5, 0.0] }"), both(0.5) - both(0.0));
    // Two settings: the difference of the differences.
    let interaction =
        "difference = \"grammatical\", of = { language.distance = [0.5, 0.0], tokenizer.vocab = [512, 256] }";
    near(value(&study, interaction), at(512, 0.5) - at(512, 0.0) - at(256, 0.5) + at(256, 0.0));
    near(
        value(&study, "bend = \"grammatical\", of = \"tokenizer.vocab\""),
        mean([0.0, 0.5].into_iter().map(|d| at(512, d) - (at(256, d) + at(1024, d)) / 2.0)),
    );
    // Conditions, moments and measures, run by run.
    near(
        value(&study, "difference = \"fertility\", in = [\"target\", \"majority\"]"),
        mean(made.iter().map(|made| 0.5 + 0.1 * noise(made.data))),
    );
    near(
        value(&study, "difference = \"grammatical\", moment = [\"peak\", \"end\"]"),
        mean(made.iter().map(|made| 0.9 - end(made))),
    );
    near(value(&study, "difference = [\"grammatical\", \"types\"], in = \"A\""), 0.09);
    let ratio = |made: &Made| {
        let own = noise(made.data + 77);
        (0.5 * (2.0 + 0.2 * own) - made.distance + 0.1 * own) / (2.0 + 0.2 * own)
    };
    near(value(&study, "ratio = \"contrast.facts\", in = [\"masked\", \"source\"]"), mean(made.iter().map(ratio)));
}

/// With one predictor that varies, the standardised effect is Pearson's r.
#[test]
fn effects_and_correlations() {
    let made: Vec<Made> = grid(4).into_iter().filter(|made| made.vocab == 512).collect();
    let one =
        study(&made, of_grid, |made| vec![(quantity(GRAMMATICAL, "B_masked"), curve(&[(0, 0.0), (9, end(made))]))]);
    let by_distance: Vec<(f64, f64)> = made.iter().map(|made| (made.distance, end(made))).collect();
    near(value(&one, "effect = \"grammatical\", of = \"language.distance\""), pearson(&by_distance));
    near(value(&one, "effect = \"grammatical\", of = \"similarity\""), -pearson(&by_distance));
    // |V| and d are crossed, so that the effect of each is its r.
    let (study, made) = (learned(4), grid(4));
    let r = |x: &dyn Fn(&Made) -> f64| pearson(&made.iter().map(|made| (x(made), end(made))).collect::<Vec<_>>());
    let (of_vocab, of_distance) = (r(&|made| f64::from(made.vocab).log2()), r(&|made| made.distance));
    near(value(&study, "effect = \"grammatical\", of = \"tokenizer.vocab\""), of_vocab);
    near(
        value(&study, "effect = \"grammatical\", of = [\"language.distance\", \"tokenizer.vocab\"]"),
        of_distance.abs() - of_vocab.abs(),
    );
    let bridge = |made: &Made| 0.5 + 0.1 * noise(made.data + made.vocab as usize) - 0.3 * made.distance;
    near(value(&study, "correlation = \"grammatical\", with = \"bridge\""), r(&bridge));
    let centred: Vec<(f64, f64)> = made
        .iter()
        .map(|own| {
            let group = || made.iter().filter(|other| other.vocab == own.vocab);
            (bridge(own) - mean(group().map(&bridge)), end(own) - mean(group().map(end)))
        })
        .collect();
    near(
        value(&study, "correlation = \"grammatical\", with = \"bridge\", within = [\"tokenizer.vocab\"]"),
        pearson(&centred),
    );
    let slope = |pairs: &[(f64, f64)]| {
        let deviation =
            |side: fn(&(f64, f64)) -> f64| invitro_stats::deviation(&pairs.iter().map(side).collect::<Vec<_>>());
        pearson(pairs) * deviation(|pair| pair.1) / deviation(|pair| pair.0)
    };
    let pairs: Vec<(f64, f64)> = made.iter().map(|made| (bridge(made), end(made))).collect();
    near(value(&study, "slope = \"grammatical\", with = \"bridge\""), slope(&pairs));
    near(value(&study, "slope = \"grammatical\", with = \"bridge\", within = [\"tokenizer.vocab\"]"), slope(&centred));
    near(
        value(&study, "correlation = \"grammatical\", with = [\"language.distance\", \"bridge\"]"),
        of_distance.abs() - r(&bridge).abs(),
    );
}

/// A method's prediction, and its error against the truth: with the interval of leaving out each data seed.
#[test]
fn what_a_method_predicts_stands_beside_the_truth() {
    let of = "of = { language.distance = [0.0, 0.5] }";
    let slope = "slope = \"grammatical\", with = \"bridge\", within = [\"tokenizer.vocab\"]";
    let (change, truth) = (format!("difference = \"bridge\", {of}"), format!("difference = \"grammatical\", {of}"));
    let prediction = format!("{slope}, times = {{ {change} }}");
    let (study, made) = (learned(5), grid(5));
    let parts = |study: &Study| [slope, &change, &truth].map(|part| value(study, part));
    let error = |study: &Study| {
        let [slope, change, truth] = parts(study);
        slope * change - truth
    };
    let without = |data: usize| {
        let runs = study.runs.iter().zip(&made).filter(|(_, made)| made.data != data).map(|(run, _)| run.clone());
        let results = Results::new("study".into(), Path::new(""), FolderKind::Study);
        error(&Study::new(Results { runs: runs.collect(), ..results }))
    };
    let spread: f64 = (0..5).map(|data| (without(data) - error(&study)).powi(2)).sum();
    let half = invitro_stats::student::t_quantile(0.05, 4.0) * (spread * 4.0 / 5.0).sqrt();
    let text = |expect: &str| {
        format!(
            "[[claims]]\nid = \"method\"\nsays = \"\"\nestimate = {{ {prediction} }}\nagainst = \"truth\"\nexpect = \"{expect}\"\n\
             [[claims]]\nid = \"truth\"\nsays = \"\"\nestimate = {{ {truth} }}\n"
        )
    };
    let answers = answer(&study, &claims(&text("within ±1")));
    let (found, beside) = (answers[0].estimated.estimate.unwrap(), &answers[0].beside);
    near(found.value, error(&study));
    near(found.interval.unwrap().low, error(&study) - half);
    near(found.interval.unwrap().high, error(&study) + half);
    assert_eq!((found.runs, found.data_seeds, &answers[0].verdict), (30, 5, &Verdict::Supported));
    let values = parts(&study);
    near(beside[0].1.estimate.unwrap().value, values[0] * values[1]);
    near(beside[1].1.estimate.unwrap().value, values[2]);
    assert_eq!(answer(&study, &claims(&text("above 1")))[0].verdict, Verdict::Contradicted);
    // What does not vary at a level predicts nothing there.
    let at = format!(
        "slope = \"grammatical\", with = \"language.distance\", at = {{ language.distance = 0.5 }}, less = {{ {change} }}"
    );
    assert_eq!(estimated(&study, &at).reason, Some(Reason::NotVaried));
}

/// A share of pieces drawn at random is a level that claims can name.
#[test]
fn doses_are_arms() {
    let doses = [None, Some(0.25), Some(0.75), Some(1.0)];
    let made: Vec<(Option<f64>, usize)> = doses.iter().flat_map(|dose| (0..4).map(|data| (*dose, data))).collect();
    let settings = |(dose, data): &(Option<f64>, usize)| {
        vec![
            ("tokenizer.share", Value::Text(dose.map_or("none", |_| "random").into())),
            ("tokenizer.share_p", number(dose.unwrap_or(0.5))),
            (column::DATA_SEED, number(*data as f64)),
            (column::MODEL_SEED, number(0.0)),
        ]
    };
    let known = |(dose, data): &(Option<f64>, usize)| dose.unwrap_or(0.0) + 0.1 * noise(*data);
    let study = study(&made, settings, |it| {
        vec![
            (quantity(Measure::KNOWLEDGE, "A"), curve(&[(0, 0.0), (9, 2.0)])),
            (quantity(Measure::KNOWLEDGE, "B_masked"), curve(&[(0, 0.0), (9, known(it))])),
        ]
    });
    near(value(&study, "difference = \"contrast.facts\", of = { tokenizer.share_p = [0.75, 0.25] }"), 0.5);
    near(value(&study, "difference = \"contrast.facts\", of = { tokenizer.share_p = [1, 0.25] }"), 0.75);
    near(
        value(&study, "difference = \"contrast.facts\", of = { tokenizer.share = [\"random 0.75\", \"none\"] }"),
        0.75,
    );
    let of_noise = mean((0..4).map(|data| 0.1 * noise(data)));
    near(value(&study, "mean = \"contrast.facts\", at = { tokenizer.share_p = 0.25 }"), 0.25 + of_noise);
    near(
        value(&study, "mean = \"contrast.facts\", at = { tokenizer.share = \"random\", tokenizer.share_p = \"*\" }"),
        2.0 / 3.0 + of_noise,
    );
}

/// Of translations a condition is a direction, into or from sentences with masked words.
#[test]
fn directions_of_translation_are_conditions() {
    let made: Vec<Made> = grid(3).into_iter().filter(|made| made.vocab == 512).collect();
    let study = study(&made, of_grid, |made| {
        let value = |share: f64| curve(&[(0, 0.0), (9, share - 0.01 * made.data as f64)]);
        [("T3.A>B_masked.exact", 0.5), ("T3.B_masked>A.exact", 0.75)]
            .map(|(name, share)| (name.parse().unwrap(), value(share)))
            .into()
    });
    near(value(&study, "mean = \"T3.exact\", in = \"A>B†\""), 0.49);
    near(value(&study, "difference = \"T3.exact\", in = [\"B†>A\", \"A>B†\"]"), 0.25);
}

#[test]
fn orders_count_runs_that_have_one() {
    let study = learned(4);
    let order = estimated(&study, "order = \"types\", in = [\"A\", \"B\"]");
    assert_eq!((order.estimate.unwrap().value, order.detail.ties), (1.0, 0));
    // B† comes before B in the runs of data seed 0, and at the same evaluation in all others.
    let order = estimated(&study, "order = \"types\", in = [\"B\", \"masked\"]");
    assert_eq!((order.estimate.unwrap().value, order.estimate.unwrap().runs, order.detail.ties), (0.0, 6, 18));
    let nested = verdict(&study, "order = [\"grammatical\", \"types\"], in = \"masked\"", "above 0.5");
    assert_eq!(nested, Verdict::NotTested(Reason::Nested));
    let falling = study_of_types([(0, 0.9), (1000, 0.2)]);
    let reason = |estimate: &str| estimated(&falling, estimate).reason;
    assert_eq!(reason("order = \"types\", in = [\"A\", \"B\"], crossing = \"half\""), Some(Reason::NeverBoth));
    assert_eq!(reason("order = [\"types\", \"valid\"], in = \"A\", crossing = \"half\""), Some(Reason::NotMeasured));
}

/// A study in which types go this way in A, and rise in B.
fn study_of_types(in_first: [(u32, f64); 2]) -> Study {
    study(&grid(3), of_grid, |_| {
        vec![(quantity(TYPES, "A"), curve(&in_first)), (quantity(TYPES, "B"), curve(&[(0, 0.0), (1000, 0.9)]))]
    })
}

/// Two arms of three data seeds, with twenty words each; a word's contrast rises by 2 with its bridge.
fn with_words() -> Study {
    let made: Vec<(bool, usize)> = (0..6).map(|place| (place % 2 == 0, place / 2)).collect();
    let mut study = study(
        &made,
        |(all, data)| {
            let share = Value::Text(if *all { "all" } else { "none" }.into());
            vec![
                ("tokenizer.share", share),
                (column::DATA_SEED, number(*data as f64)),
                (column::MODEL_SEED, number(0.0)),
            ]
        },
        |_| {
            vec![
                (quantity(GRAMMATICAL, "A"), curve(&[(0, 0.0), (1000, 0.99)])),
                (quantity(Measure::KNOWLEDGE, "A"), curve(&[(0, 0.0), (1000, 2.0)])),
                (quantity(Measure::KNOWLEDGE, "B_masked"), curve(&[(0, 0.0), (1000, 0.5)])),
            ]
        },
    );
    for (run, (all, data)) in made.iter().enumerate() {
        for word in 0..20 {
            let bridge = if *all { word as f64 / 20.0 } else { 0.0 };
            study.scored.push((run, scored(word, *data, bridge, 2.0 * bridge + 0.1 * noise(20 * data + word))));
        }
    }
    study
}

fn scored(word: usize, data: usize, bridge: f64, contrast: f64) -> MeasuredWord {
    MeasuredWord {
        alignment: None,
        logprob: None,
        symbol: format!("desc.{word}").into(),
        masked_in: "B".into(),
        contrast: Some(contrast),
        reachable: Some(bridge > 0.5),
        cognate_bridge: Some(bridge),
        bridge: Some(0.5),
        traits: Traits {
            pairs: Some(1),
            distance: Some(noise(word + 100 * data).abs()),
            letters: Some(8 + (word % 3) as u32),
            pieces: Some(3),
            frequency: Some(0.001 * (1 + word % 4) as f64),
            rank: None,
        },
    }
}

#[test]
fn words_are_compared_and_regressed() {
    let study = with_words();
    let of = |all: bool| study.scored.iter().filter(move |(run, _)| (run % 2 == 0) == all);
    let slope = estimated(&study, "words = \"contrast\", of = \"cognate_bridge\", at = { tokenizer.share = \"all\" }");
    let found = slope.estimate.unwrap();
    assert!((found.value - 2.0).abs() < 0.1 && found.interval.unwrap().contains(2.0), "{found}");
    assert_eq!(slope.detail.words, 60);
    let dropped = &slope.detail.regression.as_ref().unwrap().clustered.dropped;
    assert_eq!(dropped, &["pieces"], "what does not vary within runs");
    let some =
        "words = \"reachable\", at = { tokenizer.share = \"all\" }, where = { cognate_bridge = { above = 0.25 } }";
    near(value(&study, some), 9.0 / 14.0);
    // The mean difference of a word with itself.
    let difference =
        estimated(&study, "difference = \"contrast.facts\", of = { tokenizer.share = [\"none\", \"all\"] }");
    let contrast = |all| mean(of(all).filter_map(|(_, word)| word.contrast));
    near(difference.estimate.unwrap().value, contrast(false) - contrast(true));
    assert!(difference.detail.p.unwrap() < 0.01 && difference.detail.words == 120);
    let by_runs = "difference = \"contrast.facts\", of = { tokenizer.share = [\"none\", \"all\"] }, unit = \"runs\"";
    near(value(&study, by_runs), 0.0);
    // Arms that nothing names are held at the first.
    near(value(&study, "words = \"contrast\", at = { tokenizer.share = \"none\" }"), contrast(false));
}

#[test]
fn a_jump_at_the_cutoff_is_read_among_the_words_of_a_run() {
    let mut study = with_words();
    for run in &mut study.runs {
        run.columns.insert("tokenizer.vocab", number(400.0));
    }
    // Words on ranks 200, 220, … 580; those below 400 are likelier by 0.7, and outside of the window by 9.
    for (place, (run, word)) in study.scored.iter_mut().enumerate() {
        let rank = 200 + 20 * (place % 20) as u32;
        word.traits.rank = Some(rank);
        let far = if rank.abs_diff(400) > 100 { 9.0 } else { 0.0 };
        let jump = if rank < 400 { 0.7 } else { 0.0 };
        word.logprob = Some(-5.0 + *run as f64 - 0.003 * f64::from(rank) + jump + far + 0.01 * noise(place));
    }
    let jump = "words = \"logprob\", cutoff = \"rank\"";
    let found = estimated(&study, jump);
    let estimate = found.estimate.unwrap();
    assert!((estimate.value - 0.7).abs() < 0.02 && estimate.interval.unwrap().contains(0.7), "{estimate}");
    // Arms are held at the first: three runs with ranks 300 to 480.
    assert_eq!((found.detail.words, estimate.runs, found.reason), (30, 3, None));
    assert!((value(&study, &format!("{jump}, width = 0.5")) - 0.7).abs() > 0.5, "the window is what was asked for");
    assert_eq!(
        estimated(&study, "words = \"logprob\", cutoff = \"rank\", width = 0.05").reason,
        Some(Reason::NotVaried)
    );
    study.scored.iter_mut().for_each(|(_, word)| word.logprob = word.logprob.map(|nats| nats + 100.0));
    near(value(&study, jump), estimate.value);
    study.scored.iter_mut().for_each(|(_, word)| word.traits.rank = None);
    assert_eq!(estimated(&study, jump).reason, Some(Reason::NotMeasured));
}

fn estimate(low: f64, high: f64) -> Estimate {
    let value = (low + high) / 2.0;
    Estimate { runs: 9, data_seeds: 3, ..Estimate::of_run(value, Some(Interval { low, high })) }
}

#[test]
fn one_rule_of_verdicts() {
    use Expectation::{Above, Below, OtherThan, Within};
    let verdict = |low, high, expect, margin| Verdict::new(&estimate(low, high), expect, margin, LEVEL);
    for (low, high, expect, margin, expected) in [
        (0.1, 0.3, Above(0.0), 0.0, Verdict::Supported),
        (0.1, 0.3, Above(0.2), 0.0, Verdict::Inconclusive),
        (-0.3, -0.1, Above(0.0), 0.0, Verdict::Contradicted),
        (-0.3, -0.1, Below(0.0), 0.0, Verdict::Supported),
        (-0.05, 0.05, Above(0.0), 0.1, Verdict::Equivalent),
        // Small, and clearly there.
        (0.01, 0.05, Above(0.0), 0.1, Verdict::Supported),
        (0.01, 0.05, Below(0.0), 0.1, Verdict::Equivalent),
        (0.01, 0.05, OtherThan(0.0), 0.1, Verdict::Supported),
        (0.01, 0.15, Above(0.0), 0.1, Verdict::Supported),
        (-0.05, 0.05, Above(0.0), 0.0, Verdict::Inconclusive),
        (-0.3, -0.1, OtherThan(0.0), 0.0, Verdict::Supported),
        (-0.3, 0.1, OtherThan(0.0), 0.0, Verdict::Inconclusive),
        (-0.1, 0.15, Within(0.2), 0.0, Verdict::Supported),
        (-0.1, 0.25, Within(0.2), 0.0, Verdict::Inconclusive),
        (0.21, 0.25, Within(0.2), 0.0, Verdict::Contradicted),
        (0.6, 0.65, Expectation::Value(0.62), 0.1, Verdict::Supported),
        (0.3, 0.65, Expectation::Value(0.62), 0.1, Verdict::Inconclusive),
        (0.3, 0.5, Expectation::Value(0.62), 0.1, Verdict::Contradicted),
    ] {
        assert_eq!(verdict(low, high, expect, margin), expected, "[{low}, {high}] {expect:?} {margin}");
    }
    let two = Estimate { data_seeds: 2, ..estimate(0.1, 0.3) };
    let too_few = Verdict::NotTested(Reason::TooFewSeeds(2));
    assert_eq!(Verdict::new(&two, Above(0.0), 0.0, LEVEL), too_few);
    let all = [Verdict::Supported, Verdict::Inconclusive, Verdict::Equivalent, too_few, Verdict::Contradicted];
    assert_eq!(Verdict::all(&all), Verdict::Contradicted);
    assert_eq!(Verdict::all(&all[..3]), Verdict::Equivalent);
    assert_eq!(Verdict::all(&all[..2]), Verdict::Inconclusive);
    assert_eq!(Verdict::all(&all[..1]), Verdict::Supported);
    // What is not tested does not count among the others.
    let verdicts = [Verdict::Inconclusive, Verdict::NotTested(Reason::NotVaried)];
    assert_eq!(holm(2, |place, _| verdicts[place].clone()), [LEVEL; 2]);
}

#[test]
fn what_may_not_be_tested() {
    let study = learned(4);
    let mean_of = "mean = \"grammatical\", in = \"masked\", moment = \"decline\"";
    assert_eq!(verdict(&study, mean_of, "above 0"), Verdict::Supported);
    let reason = |study: &Study, estimate: &str| match verdict(study, estimate, "above 0") {
        Verdict::NotTested(reason) => reason,
        other => panic!("{estimate}: {other:?}"),
    };
    assert_eq!(reason(&learned(2), mean_of), Reason::TooFewSeeds(2));
    assert_eq!(reason(&study, "mean = \"valid\""), Reason::NotMeasured);
    assert_eq!(reason(&study, "effect = \"grammatical\", of = \"mixture.lambda\""), Reason::NotVaried);
    assert_eq!(
        reason(&study, "difference = \"grammatical\", of = { tokenizer.share = [\"none\", \"all\"] }"),
        Reason::NotVaried
    );
    assert_eq!(reason(&study, "effect = \"grammatical\", in = \"A\", of = \"language.distance\""), Reason::Saturated);
    // The other settings all but determine β̂.
    let of_vocab = |made: &Made| f64::from(made.vocab).log2() + 0.05 * noise(made.data + made.vocab as usize);
    let settings = |made: &Made| {
        let all = of_grid(made).into_iter();
        all.map(|(key, value)| if key == "bridge.jaccard" { (key, number(of_vocab(made))) } else { (key, value) })
            .collect()
    };
    let bridges = self::study(&grid(4), settings, |made| {
        let grammatical = 0.02 * of_vocab(made) + 0.1 * noise(made.data);
        vec![
            (quantity(GRAMMATICAL, "A"), curve(&[(0, 0.0), (9, 0.9)])),
            (quantity(GRAMMATICAL, "B_masked"), curve(&[(0, 0.0), (9, grammatical)])),
        ]
    });
    let collinear = reason(&bridges, "effect = \"grammatical\", of = \"bridge\"");
    let Reason::Collinear(inflation) = collinear else { panic!("{collinear:?}") };
    let rows: Vec<[f64; 3]> =
        grid(4).iter().map(|it| [of_vocab(it), f64::from(it.vocab).log2(), it.distance]).collect();
    assert!((inflation - 1.0 / (1.0 - explained(&rows))).abs() < 1e-9 * inflation, "{inflation}");
    let of_others = verdict(&bridges, "effect = \"grammatical\", of = \"similarity\"", "above 0");
    assert!(!matches!(of_others, Verdict::NotTested(_)), "{of_others:?}");
    // Where A has as much text, nobody is the majority.
    let alike = |made: &Made| of_grid(made).into_iter().chain([("mixture.sampling", number(0.0))]).collect();
    let alike = self::study(&grid(3), alike, |_| vec![(quantity(TYPES, "B_masked"), curve(&[(0, 0.0), (9, 0.5)]))]);
    assert_eq!(reason(&alike, "order = \"types\", in = [\"majority\", \"target\"]"), Reason::NoMajority);
    // Neither grammar nor facts were learned in A, and hardly any sentence is ever grammatical in B†.
    let poor = |share: f64, facts: f64, peak: f64| {
        self::study(&grid(3), of_grid, move |made| {
            let facts = facts + 0.1 * noise(made.data);
            vec![
                (quantity(GRAMMATICAL, "A"), curve(&[(0, 0.0), (1000, share)])),
                (quantity(GRAMMATICAL, "B_masked"), curve(&[(0, 0.0), (100, peak), (1000, 0.01 * made.distance)])),
                (quantity(Measure::KNOWLEDGE, "A"), curve(&[(0, 0.0), (1000, facts)])),
                (quantity(Measure::KNOWLEDGE, "B_masked"), curve(&[(0, 0.0), (1000, 0.1 + facts)])),
            ]
        })
    };
    let condition = Condition::new("A", false);
    let grammatical = Reason::NotLearned { condition: condition.clone(), grammatical: Some(0.25) };
    assert_eq!(reason(&poor(0.25, 1.0, 0.5), mean_of), grammatical);
    assert_eq!(reason(&poor(0.9, 1.0, 0.03), mean_of), Reason::Absent);
    let knowledge = "mean = \"contrast.facts\", in = \"masked\"";
    assert_eq!(reason(&poor(0.9, 0.0, 0.5), knowledge), Reason::NotLearned { condition, grammatical: None });
    assert_eq!(verdict(&poor(0.9, 1.0, 0.5), knowledge, "above 0"), Verdict::Supported);
}

#[test]
fn claims_are_answered_in_parts_cells_and_readings() {
    let text = r#"
        question = "Does form fade?"
        primary = ["both"]
        [[claims]]
        id = "fades"
        says = "It fades."
        estimate = { mean = "grammatical", moment = "decline" }
        expect = "above 0"
        by = ["tokenizer.vocab", "mixture.lambda"]
        beside = [{ moment = "peak" }, { moment = "end", in = "A" }]
        readings = { moment = ["decline", "own decline"], settings = true }
        [[claims]]
        id = "falls"
        says = "It falls."
        estimate = { effect = "grammatical", of = "language.distance" }
        expect = "below 0"
        [[claims]]
        id = "both"
        says = "Both."
        all = ["fades", "falls"]
    "#;
    let all = claims(text);
    assert_eq!(all.question.as_deref(), Some("Does form fade?"));
    let answers: Vec<Answer> = answer(&learned(4), &all);
    let [fades, falls, both] = &answers[..] else { panic!("three claims") };
    assert_eq!(fades.cells.len(), 3, "λ does not vary");
    fades.beside.iter().zip([0.9, 0.99]).for_each(|((_, it), value)| near(it.estimate.unwrap().value, value));
    assert_eq!((fades.specifications.len(), fades.without), (2, 0));
    assert_eq!((&falls.verdict, falls.claim.margin), (&Verdict::Supported, 0.1), "of standardised effects");
    assert_eq!((&both.verdict, both.parts.len(), both.claim.primary), (&Verdict::Supported, 2, true));
}
