//! What the page says of the paper's claims and hypotheses.

use super::page::Page;
use super::shipped::{Shipped, any_reachable};
use super::{BUDGET, CROSSING, FACTS, PAPER, READINGS, above_zero, est, not_told, two};
use invitro_report::findings::claims::{Reading, fertility_gap};
use invitro_report::findings::crossings::from_first;
use invitro_report::findings::specifications::{self, Specification, SpecificationCurve};
use invitro_results::{Fraction, MARGIN, SEEDS, Scorer, Verdict, decimals};

pub fn check(page: &mut Page) {
    readings(page);
    ways_to_make_runs(page);
    hypotheses(page);
}

fn readings(page: &mut Page) {
    page.says("for effects and correlations, within {} of nothing", [MARGIN.to_string()]);
    let met = |scorer| PAPER.end(&any_reachable(scorer, "B_masked"), &[]);
    page.says(
        "is met by {} of the subjects in B† at the end, and by {} under a *unigram* model",
        [decimals(met(Scorer::Network).value, 3), decimals(met(Scorer::Unigram).value, 2)],
    );
    page.says("any target within the top {} |V| is met", [Fraction::PAPER.value().to_string()]);
    let cell = |study: &Shipped, place: usize, reading: usize| {
        let read = &study.findings.claims[place].readings[reading];
        match (&read.estimate, read.verdict) {
            (None, _) => "not varied".to_owned(),
            (Some(estimate), _) if estimate.data_seeds < SEEDS => format!("{} runs: not judged", estimate.runs),
            (Some(estimate), verdict) => format!("{}: {}", est(*estimate), verdict.of_claim()),
        }
    };
    let mut rows = Vec::new();
    for (place, claim) in PAPER.findings.claims.iter().enumerate() {
        let paper = claim.paper.replace('*', "").replace('|', "\\|").replace(", r = 0.62 (p < 0.0001)", "");
        let paper = paper.replace("peak masked", "masked");
        if paper.starts_with("Grammar comes before types") {
            continue;
        }
        for (reading, read) in claim.readings.iter().enumerate().filter(|(_, read)| read.when != "lasting crossing") {
            let when = if read.when.starts_with("at the") { format!(", read {}", read.when) } else { String::new() };
            let cells = [&PAPER, &FACTS, &BUDGET, &CROSSING].map(|study| cell(study, place, reading));
            rows.push(format!(
                "| {}{when} | {} | {} |",
                paper.trim_end_matches('.'),
                computed(&read.measured),
                cells.join(" | ")
            ));
        }
    }
    let bridges = [&PAPER, &FACTS, &BUDGET].map(|study| &study.findings.claims[0].readings);
    let outside = |read: &Reading| !read.estimate.unwrap().interval.unwrap().contains(0.62);
    assert!(bridges.iter().all(|readings| readings.iter().all(outside)), "as the page says");
    assert!(PAPER.findings.claims[0].paper.contains("0.62"));
    page.says("the paper's r of {} lies outside every interval of `paper`, `facts` and `budget`", ["0.62".into()]);
    let any = |study: &Shipped| study.findings.claims[1].readings.iter().all(|read| read.measured.contains("Top-*K*"));
    assert_eq!([&PAPER, &FACTS, &BUDGET, &CROSSING].map(|study| any(study)), [false, true, false, true]);
    assert_eq!(CROSSING.study.end_seeds(), 4);
    let crossing = from_first(&PAPER.study).remove(0);
    let gap = |regime| PAPER.of_runs(&[("tokenizer.regime", regime)], fertility_gap(&crossing));
    page.says(
        "in `paper` by {} pieces a word, and not under balanced ones ({})",
        [est(above_zero(gap("vanilla"))), est(not_told(gap("balanced")))],
    );
    let threshold = PAPER.study.emergence_threshold().unwrap();
    page.says("at which it first exceeds {}, reachability", [threshold.to_string()]);
    page.table("| the paper says | computed | `paper` | `facts` | `budget` | `crossing` |", &rows);
    let curves = specifications::all(&PAPER.study);
    for (pattern, curve) in [
        (
            "In `paper`, of {} readings of the claim on β̂ {} agree, {} differ, {} cannot be told and {} give no estimate;",
            &curves[0],
        ),
        ("of {} of that on |V| {}, {}, {} and {}.", &curves[1]),
    ] {
        page.says(pattern, counts(curve).map(|count| count.to_string()));
    }
    assert!(agreeing(&curves[0]).all(is_the_papers_share), "as the page says");
    page.says("those that agree read the share of targets within {} |V|", [Fraction::PAPER.value().to_string()]);
}

/// The readings of a claim: all, and those that agree, differ, cannot be told and give no estimate.
fn counts(curve: &SpecificationCurve) -> [usize; 5] {
    let count = |is_meant: fn(Verdict) -> bool| {
        curve.specifications.iter().filter(|specification| is_meant(specification.verdict)).count()
    };
    let agree = count(|verdict| verdict == Verdict::Supported);
    let differ = count(|verdict| matches!(verdict, Verdict::Contradicted | Verdict::Negligible));
    let all = curve.specifications.len();
    [all + curve.without, agree, differ, all - agree - differ, curve.without]
}

fn agreeing(curve: &SpecificationCurve) -> impl Iterator<Item = &Specification> {
    curve.specifications.iter().filter(|specification| specification.verdict == Verdict::Supported)
}

/// Whether this is how an open question was answered.
fn chose(specification: &Specification, what: &str, how: &str) -> bool {
    specification.choices.iter().any(|choice| choice.0 == what && choice.1 == how)
}

/// Whether it reads the share of targets within the paper's K.
fn is_the_papers_share(specification: &Specification) -> bool {
    chose(specification, "*K*", &format!("{} |*V*|", Fraction::PAPER)) && chose(specification, "counted", "share")
}

/// The claims in `readings`: verdicts of all readings, and by K from the lowest to the highest of the ways to make its runs.
fn ways_to_make_runs(page: &mut Page) {
    let curves = specifications::all(&READINGS.study);
    let verdicts = |curve: &SpecificationCurve| {
        let claim = curve.paper.replace('*', "").replace('|', "\\|").replace("That gap", "The gap");
        format!("| {} | {} |", claim.trim_end_matches('.'), counts(curve).map(|count| count.to_string()).join(" | "))
    };
    page.table(
        "| the paper says | readings | agree | differ | cannot be told | no estimate |",
        &curves.iter().map(verdicts).collect::<Vec<_>>(),
    );
    assert_eq!(curves.len(), 9);
    assert!(curves[3..6].iter().all(|curve| counts(curve)[..2] == [7, 7]), "as the page says of tokenizers");
    let has_estimate = |one: &&Specification| {
        let is_small = Fraction::ALL[..2].iter().any(|top| chose(one, "*K*", &format!("{top} |*V*|")));
        chose(one, "counted", "share") || is_small
    };
    let told = |curve: &SpecificationCurve| curve.specifications.iter().filter(has_estimate).count();
    assert!(curves[..3].iter().all(|curve| told(curve) == 7 * 12), "as the page says of large K");
    assert!(READINGS.study.runs.iter().all(|run| run.columns["tokenizer.regime"].to_string() == "vanilla"));
    let [bridge, vocab] = [&curves[0], &curves[1]];
    let of_bridge = agreeing(bridge).filter(|one| is_the_papers_share(one)).count();
    let [of_bridge, all] = [of_bridge, counts(bridge)[1]].map(|count| count.to_string());
    page.says(
        "{} of the {} that agree on β̂ read the share of targets within {} |V|",
        [of_bridge, all, Fraction::PAPER.to_string()],
    );
    let on_first = |one: &Specification| chose(one, "tokenizer.boundary", "first");
    assert!(agreeing(vocab).all(|one| is_the_papers_share(one) && on_first(one)), "as the page says");
    page.says("all {} that agree on |V|", [counts(vocab)[1].to_string()]);
    let range = |curve: &SpecificationCurve, choices: &[&str]| {
        let is_of = |one: &&Specification| choices.iter().all(|how| one.choices.iter().any(|own| own.1 == *how));
        let values: Vec<f64> = curve.specifications.iter().filter(is_of).map(|one| one.estimate.value).collect();
        assert_eq!(values.len(), 7, "{}", curve.paper);
        [values[0], values[6]]
    };
    let by_top: Vec<[[f64; 2]; 4]> = curves[..3]
        .iter()
        .map(|curve| Fraction::ALL.map(|top| range(curve, &[&format!("{top} |*V*|"), "share", "at the end"])))
        .collect();
    let row = |(name, ranges): (&str, &[[f64; 2]; 4])| {
        let cells = ranges.map(|[low, high]| format!("{} to {}", decimals(low, 2), decimals(high, 2)));
        format!("| {name} | {} |", cells.join(" | "))
    };
    let names = ["r of β̂", "effect of \\|V\\|", "size of λ's effect − of d's"];
    let tops = Fraction::ALL.map(|top| format!("K {top} \\|V\\|")).join(" | ");
    page.table(
        &format!("| share of targets reachable in B† at the end | {tops} |"),
        &names.into_iter().zip(&by_top).map(row).collect::<Vec<_>>(),
    );
    let (above, below) = (|[low, _]: [f64; 2]| low > 0.0, |[_, high]: [f64; 2]| high < 0.0);
    let [bridge, vocab] = [by_top[0], by_top[1]];
    assert!(below(bridge[0]) && below(bridge[1]) && above(bridge[3]) && vocab[..3].iter().all(|it| above(*it)));
    let [first, second, third, last] = Fraction::ALL.map(|top| top.to_string());
    page.says(
        "In all seven ways r is below zero at K {} and {} |V| and above zero at {} |V|, and the effect of |V| is above zero up to {} |V|.",
        [first, second, last, third],
    );
    let [fragmented, gap, overlap] = [3, 4, 5].map(|place| range(&curves[place], &[]));
    assert!(above(fragmented) && below(gap) && below(overlap), "as the paper says");
}

/// What kind of number a reading is.
fn computed(measured: &str) -> &'static str {
    let kinds = [
        ("Pearson's", "r"),
        ("|effect", "size of λ's effect − of d's"),
        ("standardised effect", "effect"),
        ("fertility", "pieces a word"),
        ("share of runs", "share of runs"),
    ];
    kinds.iter().find(|(start, _)| measured.starts_with(start)).unwrap_or_else(|| panic!("{measured}")).1
}

/// H1 to H4.
fn hypotheses(page: &mut Page) {
    let hypothesis = |place: usize, what: &str| {
        let tests = &PAPER.findings.hypotheses[place].tests;
        let test = tests.iter().find(|test| test.what.contains(what)).unwrap_or_else(|| panic!("{what}"));
        (test.estimate.unwrap(), test.verdict)
    };
    let supported = |place, what| {
        let (estimate, verdict) = hypothesis(place, what);
        assert_eq!(verdict, Verdict::Supported, "{what}");
        est(estimate)
    };
    for what in ["share of grammatical sentences in B† at the end", "contrast of facts in B†, in nats"] {
        assert_eq!(hypothesis(0, what).1, Verdict::CannotTell, "{what}");
    }
    let reach = "share of targets reachable in B† at the end";
    page.says("is supported on reachability at the end ({}, in a regression", [supported(0, reach)]);
    page.says(
        "(effect of similarity on reachability at the end, {}), and H3, more of B helps B (effect of λ on types in B, {}), are supported",
        [supported(1, reach), supported(2, "on type constraints in B, at the end")],
    );
    let order = |what| {
        let (share, verdict) = hypothesis(3, what);
        (two(share), verdict)
    };
    let (first, _) = order("type constraints in A before type constraints in B (first crossing)");
    let (second, verdict) = order("type constraints in B before reachable, above unigram in B† (first crossing)");
    assert_eq!(verdict, Verdict::CannotTell);
    page.says(
        "A's types come before B's in {}, but B's types come before masked words are reachable in {}.",
        [first, second],
    );
}
