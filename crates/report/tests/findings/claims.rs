//! What the page says of the paper's claims and hypotheses.

use super::page::Page;
use super::shipped::{Shipped, VOCABULARY, any_reachable};
use super::{BUDGET, CROSSING, FACTS, PAPER, READINGS, above_zero, below_zero, est, not_told, two};
use invitro_report::data::Run;
use invitro_report::findings::Transfer;
use invitro_report::findings::claims::{Reading, fertility_gap};
use invitro_report::findings::crossings::from_first;
use invitro_report::findings::design::{BRIDGE, COGNATE, bridge_of};
use invitro_report::findings::specifications::{self, Specification, SpecificationCurve};
use invitro_results::{Fraction, MARGIN, Moment, SEEDS, Scorer, Verdict};
use invitro_stats::seeds;
use invitro_stats::{Estimate, decimals};

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
    page.says(
        "the paper's r of {} lies outside every interval over all runs of `paper`, `facts` and `budget`",
        ["0.62".into()],
    );
    let any = |study: &Shipped| study.findings.claims[1].readings.iter().all(|read| read.measured.contains("Top-*K*"));
    assert_eq!([&PAPER, &FACTS, &BUDGET, &CROSSING].map(|study| any(study)), [false, true, false, true]);
    assert_eq!(CROSSING.study.end_seeds(), 4);
    let crossing = from_first(&PAPER.study).remove(0);
    let gap = |regime| PAPER.of_runs(&[("tokenizer.regime", regime)], fertility_gap(&crossing));
    page.says(
        "in `paper` by {} pieces a word, and not under balanced ones ({}), whose sample is the same at every λ.",
        [est(above_zero(gap("vanilla"))), est(not_told(gap("balanced")))],
    );
    let lambdas = PAPER.levels("mixture.lambda").iter();
    let balanced = |lambda: &String| {
        let at = [("tokenizer.regime", "balanced"), ("mixture.lambda", lambda)];
        PAPER.of_runs(&at, fertility_gap(&crossing)).value
    };
    let gaps: Vec<f64> = lambdas.map(balanced).collect();
    assert!(gaps.iter().all(|gap| (gap - gaps[0]).abs() < 1e-12), "as the page says: {gaps:?}");
    let [cognate, general] = [COGNATE, BRIDGE].map(|of| PAPER.correlation(of, Transfer::Share(Moment::End)));
    page.says(
        "among runs of one |V| no relation can be told ({}), while the cognate bridge has one (r = {}),",
        [est(not_told(general)), est(above_zero(cognate))],
    );
    let at = |level| PAPER.correlated(COGNATE, Transfer::Share(Moment::End), Some(level)).over_seeds.unwrap();
    let [first, _, last] = PAPER.levels(VOCABULARY) else { panic!("three |V|") };
    page.says(
        "clearly at |V| {} ({}) and not at {} ({}).",
        [first.clone(), est(above_zero(at(0))), last.clone(), est(not_told(at(2)))],
    );
    bridges_of_facts(page);
    let ordered = PAPER.findings.claims.iter().find(|claim| claim.paper.starts_with("B comes before")).unwrap();
    let runs = ordered.readings[0].estimate.unwrap().runs.to_string();
    page.says("of those with one (of B and B† {} of {} in `paper`)", [runs, PAPER.size()[0].clone()]);
    let threshold = PAPER.study.emergence_threshold().unwrap();
    page.says("at which it first exceeds {}, reachability", [threshold.to_string()]);
    page.table("| the paper says | computed | `paper` | `facts` | `budget` | `crossing` |", &rows);
}

/// Why β̂ and reachability move apart over the runs of `facts`.
fn bridges_of_facts(page: &mut Page) {
    let reached = any_reachable(Scorer::Network, "B_masked");
    let steps = FACTS.levels(VOCABULARY).windows(2);
    let risen = steps.map(|pair| FACTS.less(&reached, &[(VOCABULARY, &pair[1])], &[(VOCABULARY, &pair[0])]));
    let risen: Vec<Estimate> = risen.collect();
    let [rises @ .., falls] = &risen[..] else { panic!("several |V|") };
    assert!(rises.iter().all(|step| step.interval.unwrap().above(0.0)), "as the page says");
    let [.., turn, last] = FACTS.levels(VOCABULARY) else { panic!("several |V|") };
    page.says("In `facts` β̂ falls as |V| grows (r = {})", [est(below_zero(bridge_and_vocabulary(&FACTS)))]);
    page.says(
        "any target at the end, rises up to |V| {} and falls at {}, by {};",
        [turn.clone(), last.clone(), est(below_zero(*falls).negated())],
    );
    let within = FACTS.correlation(BRIDGE, Transfer::Any(Moment::End));
    page.says("among runs of one |V| no relation of the two can be told ({}).", [est(not_told(within))]);
}

/// Pearson's r of β̂ and log₂ |V|.
fn bridge_and_vocabulary(study: &Shipped) -> Estimate {
    let row = |run: &Run| Some((run.seed, run.number(VOCABULARY)?.log2(), bridge_of(&study.study, run, BRIDGE)?));
    seeds::pearson(study.ended(&[]).filter_map(row)).unwrap()
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

/// Whether it reads the share of targets within this K, at the end.
fn is_share_at_end(specification: &Specification, top: Fraction) -> bool {
    [("*K*", &*format!("{top} |*V*|")), ("counted", "share"), ("read", "at the end")]
        .iter()
        .all(|(what, how)| chose(specification, what, how))
}

/// The claims in `readings`: verdicts of all readings.
fn ways_to_make_runs(page: &mut Page) {
    let curves = specifications::all(&READINGS.study);
    let verdicts = |curve: &SpecificationCurve| {
        let claim = curve.paper.replace('*', "").replace('|', "\\|").replace("That gap", "The gap");
        let [agree, differ, untold] = curve.counts();
        let all = curve.specifications.len() + curve.without;
        format!("| {claim} | {all} | {agree} | {differ} | {untold} | {} |", curve.without)
    };
    page.table(
        "| the paper says | readings | agree | differ | cannot be told | no estimate |",
        &curves.iter().map(verdicts).collect::<Vec<_>>(),
    );
    let [bridge, vocab, lambda, tokenizers @ ..] = &curves[..] else { panic!("nine claims") };
    assert!(tokenizers[..3].iter().all(|curve| curve.counts() == [7, 0, 0]), "as the page says of tokenizers");
    assert!(READINGS.study.runs.iter().all(|run| run.columns["tokenizer.regime"].to_string() == "vanilla"));
    let [.., large, papers] = Fraction::ALL.map(|top| format!("{top} |*V*|"));
    let is_any = |one: &&Specification, top: &str| chose(one, "counted", "any target") && chose(one, "*K*", top);
    let any = |top: &str| bridge.specifications.iter().filter(|one| is_any(one, top)).count();
    // Without an estimate are all readings of any target within 0.1 |V|, some within 0.05 |V|, and no others.
    assert!(any(&papers) == 0 && any(&large) < 14 && bridge.without == 14 + 14 - any(&large), "as the page says");
    page.says(
        "any target with K {} or {} |V|, and so the paper's own reading in all seven ways.",
        [Fraction::ALL[2], Fraction::PAPER].map(|top| top.to_string()),
    );
    let negligible = lambda.specifications.iter().filter(|one| one.verdict == Verdict::Negligible).count();
    assert_eq!((negligible, lambda.counts()[1]), (2, 2), "as the page says");
    page.says("both that differ lie within {} of nothing", [MARGIN.to_string()]);
    let of_bridge = agreeing(bridge).filter(|one| is_the_papers_share(one)).count();
    let [of_bridge, all] = [of_bridge, bridge.counts()[0]].map(|count| count.to_string());
    page.says(
        "{} of the {} that agree on β̂ read the share of targets within {} |V|",
        [of_bridge, all, Fraction::PAPER.to_string()],
    );
    let on_first = |one: &Specification| chose(one, "tokenizer.boundary", "first");
    assert!(agreeing(vocab).all(|one| is_the_papers_share(one) && on_first(one)), "as the page says");
    page.says("so do all {} that agree on |V|, and these", [vocab.counts()[0].to_string()]);
    by_top(page, &curves);
}

/// The share of targets at the end, by K: from the lowest to the highest of the ways to make runs.
fn by_top(page: &mut Page, curves: &[SpecificationCurve]) {
    let ways = |curve: &SpecificationCurve, top: Fraction| -> [Estimate; 7] {
        let meant = curve.specifications.iter().filter(|one| is_share_at_end(one, top));
        let ways: Vec<Estimate> = meant.map(|one| one.estimate).collect();
        ways.try_into().unwrap()
    };
    let clear = |ways: &[Estimate]| ways.iter().filter(|it| !it.interval.unwrap().contains(0.0)).count();
    let names = ["r of β̂", "effect of \\|V\\|", "size of λ's effect − of d's"];
    let row = |(name, curve): (&str, &SpecificationCurve)| {
        let cells = Fraction::ALL.map(|top| {
            let ways = ways(curve, top);
            format!("{} to {} ({})", two(ways[0]), two(ways[6]), clear(&ways))
        });
        format!("| {name} | {} |", cells.join(" | "))
    };
    let tops = Fraction::ALL.map(|top| format!("K {top} \\|V\\|")).join(" | ");
    page.table(
        &format!("| share of targets reachable in B† at the end | {tops} |"),
        &names.into_iter().zip(curves).map(row).collect::<Vec<_>>(),
    );
    let [bridge, vocab] = [0, 1].map(|place| Fraction::ALL.map(|top| ways(&curves[place], top)));
    let above = |ways: &[Estimate; 7]| ways[0].value > 0.0;
    let below = |ways: &[Estimate; 7]| ways[6].value < 0.0;
    assert!(below(&bridge[0]) && below(&bridge[1]) && above(&bridge[3]), "as the page says");
    assert!(vocab[..3].iter().all(|ways| above(ways) && clear(ways) == 7), "as the page says");
    assert!(vocab[3].iter().all(|it| it.interval.unwrap().contains(0.0) || it.value < 0.0), "as the page says");
    let [first, second, third, last] = Fraction::ALL.map(|top| top.to_string());
    page.says(
        "in all seven it is above zero up to K {} |V|, at {} |V| it can be told in {},",
        [third, last.clone(), clear(&vocab[3]).to_string()],
    );
    page.says("is below zero at K {} and {} |V| and above zero at {} |V|", [first, second, last]);
    page.says("β̂ itself falls as |V| grows (r = {})", [est(below_zero(bridge_and_vocabulary(&READINGS)))]);
    let of_paper = specifications::all(&PAPER.study);
    let [bridge, vocab] = [0, 1].map(|place| {
        let mut all = of_paper[place].specifications.iter();
        all.find(|one| is_share_at_end(one, Fraction::ALL[0])).unwrap().estimate
    });
    page.says(
        "It is the same in `paper`: at K {} |V| the r of β̂ is {} and the effect of |V| {}.",
        [Fraction::ALL[0].to_string(), est(below_zero(bridge)), est(above_zero(vocab))],
    );
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
    assert_eq!(hypothesis(1, "contrast of facts in B†, in nats").1, Verdict::CannotTell);
    let [is_true, is_false] = PAPER.true_and_false(&[]);
    assert!((is_true.value - is_false.value).abs() < 0.001, "as the page says");
    page.says(
        "(effect of similarity on reachability at the end, {}; but false words are as reachable as true ones, {} and {},",
        [supported(1, reach), two(is_false), two(is_true)],
    );
    page.says(
        "and H3, more of B helps B (effect of λ on types in B, {}), are supported",
        [supported(2, "on type constraints in B, at the end")],
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
