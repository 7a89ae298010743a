//! How many data seeds claims need, by the spread between those of a pilot.

use invitro_results::claims::planning::{NoForecast, Question, SeedNeeds, seed_needs};
use invitro_results::claims::{Claims, Expectation, Reason, Verdict};
use invitro_results::claims::{Look, Looks, NextStep, answer};
use invitro_results::{
    Curve, CurvePoint, FolderKind, Measure, Plan, Quantity, Results, Run, Study, TaskMetric, Value, column,
};
use invitro_stats::Estimate;
use invitro_stats::seeds::{Scale, Seed, mean};
use proptest::prelude::*;
use std::path::Path;

/// What data seeds bring: a mean of 0.5 and a deviation of 0.1.
const OWN: [f64; 3] = [0.4, 0.5, 0.6];

/// A study in which B† has a contrast of its data seed's own at d 0 and none at d 1, with two model seeds that change nothing.
fn pilot(seeds: usize) -> Study {
    let curve =
        |value: f64| Curve::new(vec![CurvePoint::without_interval(0, 0.0), CurvePoint::without_interval(1000, value)]);
    let mut runs = Vec::new();
    for (data, own) in OWN.into_iter().enumerate().take(seeds) {
        for (distance, model) in [(0.0, 0), (0.0, 1), (1.0, 0), (1.0, 1)] {
            let number = |key: &str, value: f64| (key.to_owned(), Value::Number(value));
            let columns = [
                number("language.distance", distance),
                number(column::DATA_SEED, data as f64),
                number(column::MODEL_SEED, f64::from(model)),
                (column::STATE.to_owned(), Value::Text("done".into())),
            ];
            let grammatical = Measure::unscrambling(TaskMetric::Grammaticality);
            let at = |measure: Measure, condition: &str| Quantity::in_condition(measure, &condition.parse().unwrap());
            let [early, late] = [0.9, 0.0].map(|middle| {
                [(0, 0.0), (500, middle), (1000, 0.9)]
                    .map(|(step, value)| CurvePoint::without_interval(step, value))
                    .to_vec()
            });
            let crossed = own * (1.0 - distance);
            let curves = [
                (at(Measure::KNOWLEDGE, "A"), curve(3.0 + 0.1 * own)),
                (at(Measure::KNOWLEDGE, "B_masked"), curve(crossed)),
                (at(grammatical, "A"), Curve::new(early)),
                (at(Measure::unscrambling(TaskMetric::Types), "B"), Curve::new(late)),
            ];
            runs.push(Run {
                id: runs.len().to_string(),
                columns: columns.into_iter().collect(),
                curves: curves.into_iter().collect(),
                ..Run::default()
            });
        }
    }
    Study::new(Results { runs, ..Results::new("pilot".into(), Path::new(""), FolderKind::Study) })
}

fn needs(study: &Study, claims: &str, looks: Looks, half_width: Option<f64>) -> Vec<SeedNeeds> {
    let claims = Claims::parse(claims).unwrap();
    seed_needs(study, &claims, &Question { planned: 3, half_width, looks, only: None })
}

fn claim(id: &str, estimate: &str, expect: &str) -> String {
    format!(
        "[[claims]]\nid = \"{id}\"\nsays = \"\"\nprimary = true\nestimate = {{ {estimate} }}\nexpect = \"{expect}\"\n"
    )
}

const FALLS: &str = "difference = \"contrast.facts\", of = { language.distance = [0.0, 1.0] }";

#[test]
fn a_difference_needs_the_seeds_that_its_spread_asks_for() {
    let one = &needs(&pilot(3), &claim("falls", FALLS, "above 0"), Looks::Once, None)[0];
    let forecast = one.forecast.as_ref().unwrap();
    assert!((forecast.deviation - 0.1).abs() < 1e-12, "{forecast:?}");
    // 4.303 · 0.1 / √3, as the interval of these three is.
    assert!((forecast.half_width.unwrap() - 0.248_414).abs() < 1e-6, "{forecast:?}");
    let interval = one.interval.unwrap();
    assert!(((interval.high - interval.low) / 2.0 - forecast.half_width.unwrap()).abs() < 1e-12);
    // Half of 0.5: three are just enough. SciPy: nct.sf(4.303, 2, 5 √3) = 0.9755, the power of three.
    assert_eq!(forecast.wanted, Some((0.25, Some(3))));
    assert!((forecast.power.unwrap() - 0.975_462).abs() < 1e-3 && forecast.needed == Some(3), "{forecast:?}");
    assert_eq!(one.verdict, Verdict::Supported);
    // t(0.975, 17) · 0.1 / √18 = 0.0497, and with one fewer 0.0514.
    let narrow = &needs(&pilot(3), &claim("falls", FALLS, "above 0"), Looks::Once, Some(0.05))[0];
    assert_eq!(narrow.forecast.as_ref().unwrap().wanted, Some((0.05, Some(18))));
}

#[test]
fn looks_after_each_seed_need_more() {
    let one = &needs(&pilot(3), &claim("falls", FALLS, "above 0"), Looks::AfterEachSeed, Some(0.01))[0];
    let forecast = one.forecast.as_ref().unwrap();
    // 18.934 · 0.1 / √3 includes 0.
    assert!((forecast.half_width.unwrap() - 1.093_162).abs() < 1e-5, "{forecast:?}");
    assert_eq!((&one.verdict, forecast.wanted), (&Verdict::Inconclusive, Some((0.01, None))));
    // SciPy's power at the level of a look: 0.68 of four, 0.97 of five.
    assert_eq!(forecast.needed, Some(5), "{forecast:?}");
}

#[test]
fn primary_claims_are_planned_together() {
    let crosses = claim("crosses", "mean = \"contrast.facts\", at = { language.distance = 0.0 }", "above 0");
    let alone = &needs(&pilot(3), &crosses, Looks::Once, None)[0];
    let both = needs(&pilot(3), &format!("{crosses}{}", claim("falls", FALLS, "above 0")), Looks::Once, None);
    let power = |one: &SeedNeeds| one.forecast.as_ref().unwrap().power.unwrap();
    assert!(power(&both[0]) < power(alone), "{} {}", power(&both[0]), power(alone));
    let all = format!(
        "{}{}[[claims]]\nid = \"both\"\nsays = \"\"\nall = [\"crosses\", \"falls\"]\nprimary = true\n",
        crosses.replace("primary = true\n", ""),
        claim("falls", FALLS, "above 0").replace("primary = true\n", "")
    );
    let parts = needs(&pilot(3), &all, Looks::Once, None);
    assert_eq!(parts.iter().map(|one| one.claim.id.as_str()).collect::<Vec<_>>(), ["crosses", "falls"]);
    assert_eq!(power(&parts[0]), power(alone), "the two are one claim");
}

#[test]
fn what_gives_no_forecast_says_why() {
    let why = |study: &Study, estimate: &str| {
        needs(study, &claim("x", estimate, "above 0"), Looks::Once, None).remove(0).forecast.unwrap_err()
    };
    assert_eq!(why(&pilot(1), FALLS), NoForecast::TooFewSeeds(1));
    assert_eq!(
        why(&pilot(3), &FALLS.replace("language.distance", "mixture.lambda")),
        NoForecast::NotTested(Reason::NotVaried)
    );
    let order = "order = [\"grammatical\", \"types\"], in = [\"A\", \"B\"]";
    assert_eq!(why(&pilot(3), order), NoForecast::ShareOfRuns);
}

proptest! {
    #[test]
    fn an_interval_decides_where_it_lies_in_a_range_that_does(
        centre in -1.0f64..1.0, spread in 0.01f64..0.5, margin in prop_oneof![Just(0.0), 0.05f64..0.5], kind in 0..5,
    ) {
        let expect = match kind {
            0 => Expectation::Above(0.1),
            1 => Expectation::Below(0.1),
            2 => Expectation::OtherThan(0.1),
            3 => Expectation::Within(0.2),
            _ => Expectation::Value(0.1),
        };
        let rows = [-spread, 0.0, spread].into_iter().enumerate();
        let rows = rows.map(|(data, part)| (Seed { data, model: 0 }, centre + part));
        let estimate: Estimate = mean(Scale::Plain, rows).unwrap();
        let interval = estimate.interval.unwrap();
        let in_one = expect.deciding(margin).iter().any(|[low, high]| interval.within(*low, *high));
        prop_assert_eq!(Verdict::new(&estimate, expect, margin, 0.05).is_decided(), in_one);
    }
}

/// The pilot as a study that plans itself, `taken` data seeds of up to `most`.
fn itself(complete: usize, taken: usize, most: usize, expect: &str, half_width: Option<f64>) -> (Study, Plan) {
    let list = |seeds: usize| (0..seeds).map(|seed| seed.to_string()).collect::<Vec<_>>().join(", ");
    let half_width = half_width.map_or(String::new(), |half_width| format!("half_width = {half_width}\n"));
    let text = format!(
        "name = \"itself\"\nprimary = [\"falls\"]\n[factors]\nlanguage.distance = [0.0, 1.0]\n[seeds]\ndata = [{}]\n\
         model = [0, 1]\n[until]\nseeds = [{}]\n{half_width}\n{}",
        list(taken),
        list(most),
        claim("falls", FALLS, expect).replace("primary = true\n", "")
    );
    let plan = Plan::parse::<invitro_results::Error>(&text, Path::new("itself.toml"), |_, experiment| Ok(experiment));
    let plan = plan.unwrap();
    let runs = pilot(complete).runs;
    let results = Results::new("itself".into(), Path::new(""), FolderKind::Study);
    (Study::new(Results { runs, plan: Some(plan.clone()), ..results }), plan)
}

#[test]
fn a_study_that_plans_itself_takes_data_seeds_until_it_knows() {
    let decide = |complete, taken, most, expect, half_width| {
        let (study, plan) = itself(complete, taken, most, expect, half_width);
        Look::at(&study).map(|look| look.decide(&plan))
    };
    // 0.5 ± 18.9 · 0.1 / √3 = 0.5 ± 1.09.
    assert_eq!(decide(3, 3, 4, "above 0", None), Some(NextStep::Continue));
    assert_eq!(decide(3, 3, 3, "above 0", None), Some(NextStep::MostSeeds));
    assert_eq!(decide(3, 3, 4, "above -0.5", None), Some(NextStep::Continue));
    assert_eq!(decide(3, 3, 4, "above -0.6", None), Some(NextStep::Settled));
    assert_eq!(decide(3, 3, 4, "below -0.6", None), Some(NextStep::Settled));
    assert_eq!(decide(3, 3, 4, "above 0", Some(1.1)), Some(NextStep::Settled));
    assert_eq!(decide(3, 3, 4, "above 0", Some(1.0)), Some(NextStep::Continue));
    // Nothing is decided before all runs of its data seeds are done, and none before the third.
    assert_eq!(decide(3, 4, 5, "above -9", None), Some(NextStep::Wait));
    assert_eq!(decide(2, 3, 5, "above -9", None), Some(NextStep::Wait));
    assert_eq!(decide(0, 3, 5, "above -9", None), None);
    assert_eq!(decide(2, 2, 5, "above -9", None), Some(NextStep::Continue));
    // Its page has the interval of the look, not that of one who looks once.
    let (study, plan) = itself(3, 3, 4, "above 0", None);
    let answer = &answer(&study, &plan.claims().unwrap())[0];
    let interval = answer.estimated.estimate.unwrap().interval.unwrap();
    assert!((interval.high - 0.5 - 18.9 * 0.1 / 3f64.sqrt()).abs() < 0.01, "{interval:?}");
    assert_eq!(answer.verdict, Verdict::Inconclusive);
    let once = needs(&pilot(3), &claim("falls", FALLS, "above 0"), Looks::Once, None);
    assert_eq!(once[0].verdict, Verdict::Supported);
}

#[test]
fn a_study_that_plans_itself_grows_by_one_data_seed() {
    let (_, plan) = itself(3, 3, 5, "above 0", None);
    let further = plan.with_next_seed().unwrap();
    assert_eq!((further.data_seeds.len(), further.cells().unwrap().len()), (4, 16));
    assert!(further.continues(&plan) && plan.continues(&plan) && !plan.continues(&further));
    let fifth = further.with_next_seed().unwrap();
    assert_eq!(fifth.with_next_seed(), None);
    let other = Plan { name: "other".into(), ..fifth.clone() };
    assert!(!other.continues(&plan));
    // As it is written and read again.
    let read = Plan::parse::<invitro_results::Error>(&fifth.to_toml(), Path::new(""), |_, experiment| Ok(experiment));
    assert_eq!(read.unwrap(), fifth);
    assert_eq!(Claims::parse(&fifth.to_toml()).unwrap(), fifth.claims().unwrap());
    // The file's seeds come first, then others.
    let given = Plan { data_seeds: vec![7, 3], until: None, ..plan.clone() };
    let planned = given.planning_itself(5, None).unwrap();
    assert_eq!(planned.data_seeds, [7, 3, 8]);
    assert_eq!(planned.until.unwrap().seeds, [7, 3, 8, 9, 10]);
    let wrong = |most| Plan { until: None, ..plan.clone() }.planning_itself(most, None).unwrap_err();
    assert_eq!(wrong(2), "a study that plans itself may take 3 to 20 data seeds, but `until` has 2");
}
