//! The numbers of docs/findings.md and of the README's findings are those of the tables in results/.

mod page;
mod shipped;

use invitro_report::findings::by_word::COGNATE_BRIDGE;
use invitro_report::findings::design::{BRIDGE, COGNATE};
use invitro_report::findings::{Transfer, specifications};
use invitro_results::{
    Estimate, Fraction, Measure, Moment, Quantity, Scorer, Statistic, Targets, Verdict, decimals, grouped,
};
use page::{Page, with_interval};
use shipped::{At, DISTANCE, Shipped, VOCABULARY, contrast, reachable, sentences};
use std::sync::LazyLock;

const GRAMMATICAL: &str = "grammaticality";
const SAME_WORDS: &str = "same_words";
const SHARE: &str = "tokenizer.share";
const WITHHOLD: &str = "mixture.withhold";

static PAPER: LazyLock<Shipped> = LazyLock::new(|| Shipped::read("paper"));
static FACTS: LazyLock<Shipped> = LazyLock::new(|| Shipped::read("facts"));
static BUDGET: LazyLock<Shipped> = LazyLock::new(|| Shipped::read("budget"));
static CROSSING: LazyLock<Shipped> = LazyLock::new(|| Shipped::read("crossing"));
static SHARING: LazyLock<Shipped> = LazyLock::new(|| Shipped::read("sharing"));
static SHARING_PAPER: LazyLock<Shipped> = LazyLock::new(|| Shipped::read("sharing-paper"));
static WITHHELD: LazyLock<Shipped> = LazyLock::new(|| Shipped::read("withheld"));
static PIVOT: LazyLock<Shipped> = LazyLock::new(|| Shipped::read("pivot"));

/// `0.52`.
fn two(estimate: Estimate) -> String {
    decimals(estimate.value, 2)
}

/// `0.52 [0.51, 0.53]`.
fn est(estimate: Estimate) -> String {
    with_interval(estimate, 2)
}

/// A positive number of what is less.
fn less_by(estimate: Estimate) -> String {
    est(estimate.negated())
}

fn setting(study: &Shipped, key: &str) -> f64 {
    study.study.runs[0].number(key).unwrap_or_else(|| panic!("{key}"))
}

#[test]
fn every_number_of_the_findings_is_that_of_the_tables() {
    let mut page = Page::open("docs/findings.md");
    in_short(&mut page);
    what_was_done(&mut page);
    form(&mut page);
    knowledge(&mut page);
    pieces(&mut page);
    the_unseen_word(&mut page);
    a_third_language(&mut page);
    claims(&mut page);
    page.finish();
}

fn in_short(page: &mut Page) {
    let grammatical = BUDGET.trajectory(&sentences("B_masked", GRAMMATICAL));
    page.says(
        "models of the paper's world make {} of the sentences with unseen words grammatical at their peak and {} at the end",
        [two(grammatical.peak), est(grammatical.end)],
    );
    page.says(
        "they know {} nats of words that B never had, where they know {} of A's and {} of B's own",
        [
            est(FACTS.end(&contrast("B_masked"), &[])),
            two(FACTS.end(&contrast("A"), &[])),
            two(FACTS.end(&contrast("B"), &[])),
        ],
    );
    let arm = |arm| est(SHARING.end(&contrast("B_masked"), &[(SHARE, arm)]));
    page.says("it is {} nats where A and B share all pieces and {} where they share none", [arm("all"), arm("none")]);
    page.says("instead of words, {} nats less cross", [less_by(WITHHELD.arms("facts", "words"))]);
}

fn what_was_done(page: &mut Page) {
    let studies = [
        ("`paper` | do the paper's claims hold in its world?", "\\|V\\| × regime × λ × d", &PAPER),
        ("`budget` | what if it is trained sixteen times as much?", "\\|V\\| × d", &BUDGET),
        ("`facts` | and in a world small enough to be learned?", "\\|V\\| × d × λ", &FACTS),
        ("`crossing` | and in that of `invitro run`?", "\\|V\\| × d", &CROSSING),
        ("`sharing` | does it matter which pieces A and B share?", "shared pieces × \\|V\\| × d", &SHARING),
        ("`sharing-paper` | and in the paper's world, with a larger model?", "shared pieces", &SHARING_PAPER),
        ("`withheld` | is it the word or the fact?", "what is withheld × d", &WITHHELD),
        ("`pivot` | does a third language carry it?", "which third language × distances", &PIVOT),
    ];
    for (name, varied, study) in studies {
        page.says(&format!("| {name} | {{}} of {{}} | {varied} | {{}} |"), study.size());
    }
    let budget = |key| setting(&BUDGET, key) / setting(&PAPER, key);
    assert_eq!(budget("train.steps") * budget("train.batch"), 16.0, "as often as the page says");
    page.says("(the paper's: width {}, four layers)", [setting(&PAPER, "model.width").to_string()]);
    assert_eq!(setting(&PAPER, "model.layers"), 4.0);
    page.says("among the top {} |V| after", [Fraction::PAPER.value().to_string()]);
    page.says("on the other side or within {} of nothing", [invitro_results::MARGIN.to_string()]);
}

fn form(page: &mut Page) {
    let of = |key| setting(&PAPER, key);
    page.says(
        "after {} steps of {} sequences at a learning rate of `1e-4`",
        [grouped(of("train.steps")), of("train.batch").to_string()],
    );
    assert_eq!((of("train.lr"), setting(&BUDGET, "train.lr")), (1e-4, 1e-3));
    let of = |key| setting(&BUDGET, key);
    page.says("for {} steps of {} at `1e-3`", [grouped(of("train.steps")), of("train.batch").to_string()]);
    let masked = sentences("B_masked", GRAMMATICAL);
    let grammatical = BUDGET.trajectory(&masked);
    let [first, _, last] = grammatical.steps.map(|step| grouped(f64::from(step)));
    assert!(grammatical.is_early() && grammatical.steps[2] < grammatical.last, "it fades in every run");
    page.says(
        "In B† {} of the sentences are grammatical at the peak, which lies between steps {} and {}, and {} at the end, while A ends at {} and B at {}.",
        [
            two(grammatical.peak),
            first,
            last,
            est(grammatical.end),
            two(BUDGET.end(&sentences("A", GRAMMATICAL), &[])),
            two(BUDGET.end(&sentences("B", GRAMMATICAL), &[])),
        ],
    );
    page.says("so that noise alone makes none, the decline is {}", [est(grammatical.decline.unwrap())]);
    let reached = BUDGET.trajectory(&reachable("B_masked"));
    page.says(
        "Reachable words go the same way: {} at the peak, {} at the end, a decline of {}",
        [two(reached.peak), est(reached.end), est(reached.decline.unwrap())],
    );
    let mut rows = Vec::new();
    for (name, quantity) in [("grammatical", &masked), ("reachable", &reachable("B_masked"))] {
        for vocab in BUDGET.levels(VOCABULARY) {
            let cell = |d: &String| BUDGET.peak_to_end(quantity, &[(VOCABULARY, vocab), (DISTANCE, d)]);
            let cells: Vec<String> = BUDGET.levels(DISTANCE).iter().map(cell).collect();
            rows.push(format!("| {name} | {vocab} | {} |", cells.join(" | ")));
        }
    }
    page.table("| B†, from peak to end |", &rows);
    let [of_d, of_vocab] = BUDGET.effects(Transfer::Share(Moment::End));
    page.says("on reachable words at the end are {} of d and {} of |V|", [est(of_d), est(of_vocab)]);
    let unclear = BUDGET.effects(Transfer::Share(Moment::Peak));
    assert!(unclear.iter().all(|effect| effect.interval.unwrap().contains(0.0)));
    page.says("At the peak neither is clear: {} and {}.", unclear.map(est));
    let [_, cognate] = BUDGET.correlations(COGNATE, Transfer::Share(Moment::End));
    let [_, general] = BUDGET.correlations(BRIDGE, Transfer::Share(Moment::End));
    page.says("those of its own form in A (r = {} over runs)", [est(cognate)]);
    page.says("β̂ to any word ({})", [est(general)]);
    page.says(
        "after its {} steps {} are grammatical in B† and only {} in A",
        [
            grouped(setting(&PAPER, "train.steps")),
            est(PAPER.end(&masked, &[])),
            est(PAPER.end(&sentences("A", GRAMMATICAL), &[])),
        ],
    );
    page.says(
        "a model too small for its world's facts ({} nats in A at the end, {} in B†)",
        [est(BUDGET.end(&contrast("A"), &[])), est(BUDGET.end(&contrast("B_masked"), &[]))],
    );
}

fn knowledge(page: &mut Page) {
    let of = |study: &Shipped, condition| study.end(&contrast(condition), &[]);
    page.says("with its training A has {} nats: next to nothing", [est(of(&PAPER, "A"))]);
    let [a, b, masked] = ["A", "B", "B_masked"].map(|condition| of(&FACTS, condition));
    page.says("There A has {} nats, B has {} of the words it saw, and B† {}:", [a, b, masked].map(est));
    assert_eq!((a.value / masked.value).round(), 7.0, "a seventh, as the page says");
    page.says("smaller still, it is {} of {}.", [est(of(&CROSSING, "B_masked")), two(of(&CROSSING, "A"))]);
    let row = |vocab: &String| {
        let cells: Vec<Vec<_>> =
            FACTS.levels(DISTANCE).iter().map(|d| vec![(VOCABULARY, &**vocab), (DISTANCE, &**d)]).collect();
        FACTS.row(&format!("\\|V\\| {vocab}"), &contrast("B_masked"), &cells)
    };
    page.table("| B† in `facts`, nats |", &FACTS.levels(VOCABULARY).iter().map(row).collect::<Vec<_>>());
    let [of_d, of_vocab] = FACTS.effects(Transfer::Nats);
    page.says("falls with distance (standardised effect {}) and with |V| ({})", [est(of_d), est(of_vocab)]);
    let [_, cognate] = FACTS.correlations(COGNATE, Transfer::Nats);
    let [_, general] = FACTS.correlations(BRIDGE, Transfer::Nats);
    assert!(general.interval.unwrap().low < 0.0, "no relation to β̂");
    page.says("it goes with the cognate bridge (r = {}) and not with β̂ ({})", [est(cognate), est(general)]);
    let by_word = |study: &'static Shipped| &study.findings.by_word[0];
    let words = |study| *by_word(study).estimate(COGNATE_BRIDGE).unwrap();
    let (count, runs) = (by_word(&FACTS).clustered.rows, by_word(&FACTS).runs);
    page.says(
        "the one that shares none by {} nats ({} words in {} runs; {} in `crossing`)",
        [est(words(&FACTS)), grouped(count as f64), runs.to_string(), est(words(&CROSSING))],
    );
    let share =
        |study: &Shipped, metric, places| decimals(study.end(&sentences("B_masked", metric), &[]).value, places);
    page.says(
        "In `facts` {} of the answers with unseen words are grammatical, but only {} have the very words",
        [share(&FACTS, GRAMMATICAL, 2), share(&FACTS, SAME_WORDS, 3)],
    );
    page.says(
        "In `crossing` it is {} and {}, in `paper` {} and {}.",
        [
            share(&CROSSING, GRAMMATICAL, 2),
            share(&CROSSING, SAME_WORDS, 4),
            share(&PAPER, GRAMMATICAL, 2),
            share(&PAPER, SAME_WORDS, 2),
        ],
    );
}

fn pieces(page: &mut Page) {
    let arm =
        |study: &Shipped, quantity: &Quantity, arm, more: At| study.end(quantity, &[&[(SHARE, arm)], more].concat());
    let masked = contrast("B_masked");
    let row = |name: &'static str| {
        let cells = ["A", "B", "B_masked"].map(|condition| est(arm(&SHARING, &contrast(condition), name, &[])));
        let less = if name == "all" { String::new() } else { est(SHARING.arms(name, "all")) };
        format!("| {} | {} | {less} |", name.trim_end_matches(" 0.5"), cells.join(" | "))
    };
    page.table("| shared pieces | A |", &["all", "none", "cognate", "other", "random 0.5"].map(row));
    for (pattern, vocab) in [
        ("At d 0, |V| 256, B† has {} with all pieces shared and {} with none;", "256"),
        ("at |V| 512, {} and {}.", "512"),
    ] {
        page.says(
            pattern,
            ["all", "none"].map(|name| est(arm(&SHARING, &masked, name, &[(VOCABULARY, vocab), (DISTANCE, "0")]))),
        );
    }
    page.says(
        "carry more than others do by {}, and others carry some: {} more than none",
        [est(SHARING.arms("cognate", "other")), est(SHARING.less(&masked, &[(SHARE, "other")], &[(SHARE, "none")]))],
    );
    let grammatical = |name| est(arm(&SHARING, &sentences("B_masked", GRAMMATICAL), name, &[]));
    page.says(
        "Form goes the other way: {} of the answers in B† are grammatical with all pieces shared and {} with none",
        ["all", "none"].map(grammatical),
    );
    let same = |name| decimals(arm(&SHARING, &sentences("B_masked", SAME_WORDS), name, &[]).value, 3);
    page.says("it leaves the word out ({} and {} have the words that were asked)", ["all", "none"].map(same));
    page.says(
        "{} of the masked words are reachable with all pieces shared and {} with none. Of the contrast,",
        ["all", "none"].map(|name| est(arm(&SHARING_PAPER, &reachable("B_masked"), name, &[]))),
    );
    let [all, none] = ["all", "none"].map(|name| est(arm(&SHARING_PAPER, &masked, name, &[])));
    let difference = SHARING_PAPER.less(&masked, &[(SHARE, "all")], &[(SHARE, "none")]);
    assert!(difference.interval.unwrap().contains(0.0));
    page.says("Of the contrast, {} and {}, the difference of {} cannot be told", [all, none, est(difference)]);
}

fn the_unseen_word(page: &mut Page) {
    let row = |(name, arm): (&str, &str)| {
        let cells: Vec<Vec<_>> =
            WITHHELD.levels(DISTANCE).iter().map(|d| vec![(WITHHOLD, arm), (DISTANCE, &**d)]).collect();
        WITHHELD.row(&format!("{name} withheld"), &contrast("B_masked"), &cells)
    };
    page.table("| B†, nats |", &[("words", "words"), ("facts", "facts"), ("nothing", "nothing")].map(row));
    let less = WITHHELD.arms("facts", "words");
    assert!(less.interval.unwrap().below(0.0));
    page.says("*less* crosses, by {} nats over all d", [less_by(less)]);
}

fn a_third_language(page: &mut Page) {
    const NEITHER: At = &[("languages.B.spoken", "false"), ("languages.D.spoken", "false")];
    const B: At = &[("languages.B.spoken", "true")];
    const D: At = &[("languages.D.spoken", "true")];
    let masked = contrast("C_masked");
    let distances = |a, c| [("languages.A.distance", a), ("languages.C.distance", c)];
    let at = |third: At<'static>, a, c| [third, &distances(a, c)].concat();
    let gain = |a, c| PIVOT.less(&masked, &at(B, a, c), &at(D, a, c));
    let mut rows = Vec::new();
    for (name, a) in [("A 0.25 from B", "0.25"), ("A related to nobody", "1")] {
        for c in ["0.1", "0.25"] {
            let cells = [NEITHER, D, B].map(|third| est(PIVOT.end(&masked, &at(third, a, c))));
            rows.push(format!("| {name}, C {c} | {} | {} |", cells.join(" | "), est(gain(a, c))));
        }
    }
    page.table("| C†, nats |", &rows);
    page.says(
        "Where C is {} from B and A {}, B gives {} nats more than D; where A is related to nobody, {}.",
        ["0.1".into(), "0.25".into(), est(gain("0.25", "0.1")), est(gain("1", "0.1"))],
    );
    let parts = [(1.0, B, "0.25"), (-1.0, D, "0.25"), (-1.0, B, "1"), (1.0, D, "1")];
    let parts: Vec<_> = parts.iter().map(|(weight, third, a)| (*weight, at(third, a, "0.1"))).collect();
    let parts: Vec<(f64, At)> = parts.iter().map(|(weight, at)| (*weight, &at[..])).collect();
    let through = PIVOT.combined(&masked, &parts);
    assert!(through.interval.unwrap().contains(0.0));
    page.says("is the difference, {}: none that can be seen", [est(through)]);
}

fn claims(page: &mut Page) {
    let any = |scorer| Measure::reach(scorer, Targets::Allowed, Statistic::Any);
    let met = |scorer| PAPER.end(&Quantity::of(any(scorer), &"B_masked".parse().unwrap()), &[]);
    page.says(
        "is met by {} of the subjects in B† at the end, and by {} under a *unigram* model",
        [decimals(met(Scorer::Network).value, 3), decimals(met(Scorer::Unigram).value, 2)],
    );
    page.says("within the top {} |V|, is met", [Fraction::PAPER.value().to_string()]);
    let cell = |study: &Shipped, place: usize, reading: usize| {
        let read = &study.findings.claims[place].readings[reading];
        match (&read.estimate, read.verdict) {
            (None, _) => "not varied".to_owned(),
            (Some(estimate), Verdict::NotJudged) => format!("{}: not judged", est(*estimate)),
            (Some(estimate), verdict) => format!("{}: {}", est(*estimate), verdict.of_claim()),
        }
    };
    let mut rows = Vec::new();
    for (place, claim) in PAPER.findings.claims.iter().enumerate() {
        let paper = claim.paper.replace('*', "").replace('|', "\\|").replace("(p < 0.0001)", "in the paper");
        if paper.starts_with("Grammar comes before types") {
            continue;
        }
        for (reading, read) in claim.readings.iter().enumerate().filter(|(_, read)| read.when != "lasting crossing") {
            let when = if read.when.starts_with("at the") { format!(", {}", read.when) } else { String::new() };
            let cells = [&PAPER, &FACTS, &BUDGET, &CROSSING].map(|study| cell(study, place, reading));
            rows.push(format!("| {}{when} | {} |", paper.trim_end_matches('.'), cells.join(" | ")));
        }
    }
    page.table("| the paper says |", &rows);
    let curves = specifications::all(&PAPER.study);
    for (pattern, curve) in [
        ("\"β̂ correlates with masked reachability\" {} agree, {} differ and {} cannot be told;", &curves[0]),
        ("\"masked reachability falls as |V| grows\" {}, {} and {}.", &curves[1]),
    ] {
        let count = |verdicts: &[Verdict]| {
            curve.specifications.iter().filter(|one| verdicts.contains(&one.verdict)).count().to_string()
        };
        let counts = [
            &[Verdict::Supported][..],
            &[Verdict::Contradicted, Verdict::Negligible],
            &[Verdict::CannotTell, Verdict::NotJudged],
        ];
        page.says(pattern, counts.map(count));
    }
    let agrees = |place: usize| curves[place].specifications.iter().filter(|one| one.verdict == Verdict::Supported);
    let is_said = |(what, how): &(String, String)| {
        [("K", "0.1 |V|"), ("counted", "share")].contains(&(&*what.replace('*', ""), &*how.replace('*', "")))
    };
    assert!(agrees(0).all(|one| one.choices.iter().filter(|choice| is_said(choice)).count() == 2), "as the page says");
    assert_eq!(agrees(1).count(), 0);
    page.says("where the share of targets within {} |V| is read", [Fraction::PAPER.value().to_string()]);
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
    page.says(
        "is supported at the end ({}); so are H2, similar languages transfer more easily ({}), and H3, more of B helps B ({})",
        [
            supported(0, "on share of targets reachable in B† at the end"),
            supported(1, "on share of targets reachable in B† at the end"),
            supported(2, "on type constraints in B, at the end"),
        ],
    );
    let order = |what| hypothesis(3, what).0;
    page.says(
        "in {} of the runs A's types come before B's, but in {} of them do B†'s types come before its words are reachable",
        [two(order("in A before")), two(order("reachable, above unigram"))],
    );
}

#[test]
fn every_number_of_the_readmes_findings_is_that_of_the_tables() {
    let mut page = Page::section("README.md", "## Findings\n");
    let runs: usize = [&*PAPER, &FACTS, &BUDGET, &CROSSING, &SHARING, &SHARING_PAPER, &WITHHELD, &PIVOT]
        .iter()
        .map(|study| study.size()[0].parse::<usize>().unwrap())
        .sum();
    page.says("From {} runs", [grouped(runs as f64)]);
    let grammatical = BUDGET.trajectory(&sentences("B_masked", GRAMMATICAL));
    page.says(
        "{} of the sentences with words never seen in B are grammatical at the peak, {} at the end",
        [two(grammatical.peak), est(grammatical.end)],
    );
    page.says(
        "the contrast is {} nats in B† where A has {}",
        [est(FACTS.end(&contrast("B_masked"), &[])), two(FACTS.end(&contrast("A"), &[]))],
    );
    let arm = |arm| est(SHARING.end(&contrast("B_masked"), &[(SHARE, arm)]));
    page.says("it is {} nats where A and B share all pieces, and {} where they share none", [arm("all"), arm("none")]);
    page.says("instead of words {} nats less cross", [less_by(WITHHELD.arms("facts", "words"))]);
    let any = Measure::reach(Scorer::Unigram, Targets::Allowed, Statistic::Any);
    page.says(
        "a unigram model, which knows nothing, reaches {} of its subjects",
        [two(PAPER.end(&Quantity::of(any, &"B_masked".parse().unwrap()), &[]))],
    );
    page.finish();
}

#[test]
fn what_the_guide_says_of_a_figure_is_so() {
    let mut page = Page::open("docs/guide/figures-study.md");
    let bridge = |vocab| {
        let all = CROSSING.findings.correlations.iter();
        let mut all = all.filter(|one| one.transfer == Transfer::Any(Moment::Peak) && one.bridge == BRIDGE);
        all.find(|one| one.vocab == vocab).unwrap().over_seeds.unwrap()
    };
    let within = [0, 1, 2].map(|level| bridge(Some(level)));
    assert!(within.iter().all(|r| r.interval.unwrap().contains(0.0)));
    let [small, middle, large] = within.map(two);
    page.says("here r is {} over all runs, and {}, {}, {} within |V|", [est(bridge(None)), small, middle, large]);
    page.said();
}

/// What the tests above rest on.
#[test]
fn numbers_that_nobody_checks_are_found() {
    let unchecked = |text: &str| Page::of_text(text).unchecked().len();
    for text in [
        "|V| 256, 512 and 1024",
        "d 0 to 0.5",
        "T1 and `0.3`",
        "see [x](a-3.md)",
        "1. First\n2. Second",
        "95 % intervals",
        "λ 0.25",
    ] {
        assert_eq!(unchecked(text), 0, "{text}");
    }
    for text in ["it is 0.3", "in 3 of 4", "d falls by 0.3", "r = 0.9 [0.8, 1.0]", "word 5"] {
        assert!(unchecked(text) > 0, "{text}");
    }
    let mut page = Page::of_text("It is 0.31\n[0.20, 0.42] nats, not 5.");
    page.says("It is {} nats", ["0.31 [0.20, 0.42]".into()]);
    assert_eq!(page.unchecked().len(), 1);
}
