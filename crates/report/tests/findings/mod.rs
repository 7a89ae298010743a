//! The numbers of docs/findings.md and of the README's findings are those of the tables in results/.

mod claims;
mod form;
mod learned;
mod page;
mod shipped;
mod withheld;

use invitro_report::data::Run;
use invitro_report::findings::Transfer;
use invitro_report::findings::by_word::Outcome;
use invitro_report::findings::design::{BRIDGE, COGNATE, LAMBDA};
use invitro_results::{Fraction, Moment, Quantity, Scorer, Targets};
use invitro_stats::{Estimate, decimals, grouped};
use invitro_stats::{Seed, seeds};
use page::{Page, with_interval};
use shipped::{
    ALL_RUNS, At, DISTANCE, Shipped, VOCABULARY, any_reachable, contrast, reachable, reachable_by, sentences,
};
use std::collections::BTreeSet;
use std::sync::LazyLock;

const GRAMMATICAL: &str = "grammaticality";
const SAME_WORDS: &str = "same_words";
const SHARE: &str = "tokenizer.share";
const WITHHOLD: &str = "mixture.withhold";

static PAPER: LazyLock<Shipped> = LazyLock::new(|| Shipped::read("paper"));
static READINGS: LazyLock<Shipped> = LazyLock::new(|| Shipped::read("readings"));
static FACTS: LazyLock<Shipped> = LazyLock::new(|| Shipped::read("facts"));
static BUDGET: LazyLock<Shipped> = LazyLock::new(|| Shipped::read("budget"));
static CONVERGED: LazyLock<Shipped> = LazyLock::new(|| Shipped::read("converged"));
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
    form::check(&mut page);
    learned::check(&mut page);
    knowledge(&mut page);
    pieces(&mut page);
    withheld::check(&mut page);
    a_third_language(&mut page);
    claims::check(&mut page);
    page.finish();
}

fn in_short(page: &mut Page) {
    let grammatical = BUDGET.trajectory(&sentences("B_masked", GRAMMATICAL), &[]);
    page.says(
        "trained {} times as much, at {} times the learning rate: in B† {} of the sentences are grammatical at the peak and {} at the end",
        [more_training(), faster(), two(grammatical.peak), est(grammatical.end)],
    );
    let larger = CONVERGED.trajectory(&sentences("B_masked", GRAMMATICAL), &[]);
    page.says("a larger model that learns facts ({} and {})", [two(larger.peak), est(larger.end)]);
    page.says(
        "the contrast (below) is {} nats for words that B never had, over all distances; it is {} in A and {} for B's own words",
        [
            est(FACTS.end(&contrast("B_masked"), &[])),
            two(FACTS.end(&contrast("A"), &[])),
            two(FACTS.end(&contrast("B"), &[])),
        ],
    );
    let arm = |arm| est(SHARING.end(&contrast("B_masked"), &[(SHARE, arm)]));
    page.says("is {} nats where A and B share all pieces and {} where they share none", [arm("all"), arm("none")]);
    withheld::share_of_a(page, "of A's contrast on what is asked,");
}

/// How often the training of `budget` is that of `paper`, in rows.
fn more_training() -> String {
    let ratio = |key| setting(&BUDGET, key) / setting(&PAPER, key);
    assert_eq!(ratio("train.steps") * ratio("train.batch"), 16.0);
    "sixteen".into()
}

/// How often its learning rate is.
fn faster() -> String {
    assert_eq!((setting(&PAPER, "train.lr"), setting(&BUDGET, "train.lr")), (1e-4, 1e-3));
    "ten".into()
}

/// What a sentence claims of its number.
fn above_zero(estimate: Estimate) -> Estimate {
    assert!(estimate.interval.unwrap().above(0.0), "{estimate}");
    estimate
}

fn below_zero(estimate: Estimate) -> Estimate {
    assert!(estimate.interval.unwrap().below(0.0), "{estimate}");
    estimate
}

fn not_told(estimate: Estimate) -> Estimate {
    assert!(estimate.interval.unwrap().contains(0.0), "{estimate}");
    estimate
}

fn what_was_done(page: &mut Page) {
    let studies = [
        ("`paper` | do the paper's claims hold in its world?", "\\|V\\| × regime × λ × d", &PAPER),
        ("`readings` | and if it is read in other ways?", "boundary, sample and text × \\|V\\| × λ × d", &READINGS),
        ("`budget` | what if it is trained sixteen times as much?", "\\|V\\| × d", &BUDGET),
        ("`converged` | and with a model that learns its facts?", "d", &CONVERGED),
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
    page.says("trained {} times as much? |", [more_training()]);
    let model_seeds = |study: &Shipped, data| {
        let seeds = study.study.ended(&[]).filter(|run| run.seed.data == data).map(|run| run.seed.model);
        seeds.collect::<BTreeSet<usize>>().len()
    };
    let of_each = |study: &Shipped| [0, 1, 2].map(|data| model_seeds(study, data));
    assert_eq!([of_each(&PAPER), of_each(&FACTS)], [[3, 3, 3]; 2], "as the page says");
    let means = |group: fn(Seed) -> usize| {
        let end = |run: &Run| run.curve(&sentences("B_masked", GRAMMATICAL)).end().unwrap();
        let ends = PAPER.ended(&[]).map(|run| (Seed { data: group(run.seed), model: 0 }, end(run)));
        let mut means = seeds::by_data_seed(ends);
        means.sort_by(f64::total_cmp);
        [means[0], means[2]].map(|mean| decimals(mean, 3))
    };
    page.says("means of its model seeds lie between {} and {} (", means(|seed| seed.model));
    page.says("at the end), of its data seeds between {} and {}.", means(|seed| seed.data));
    let [width, layers] = ["model.width", "model.layers"].map(|key| setting(&PAPER, key));
    assert_eq!(layers, 4.0);
    page.says("(the paper's: width {}, {} layers)", [width.to_string(), "four".into()]);
    page.says("among the top {} |V| after", [Fraction::PAPER.value().to_string()]);
}

fn knowledge(page: &mut Page) {
    let of = |study: &Shipped, condition| study.end(&contrast(condition), &[]);
    page.says("with its training A has {} nats: next to nothing", [est(of(&PAPER, "A"))]);
    let [a, b, masked] = ["A", "B", "B_masked"].map(|condition| of(&FACTS, condition));
    page.says("There A has {} nats, B has {} for the words it saw, and B† {}:", [a, b, above_zero(masked)].map(est));
    assert_eq!((a.value / masked.value).round(), 7.0);
    page.says("some knowledge crosses, a {} of what A has", ["seventh".into()]);
    page.says(
        "a smaller world and model, it is {} of {}.",
        [est(above_zero(of(&CROSSING, "B_masked"))), two(of(&CROSSING, "A"))],
    );
    let row = |vocab: &String| {
        let cell = |d: &str| est(FACTS.end(&contrast("B_masked"), &[(VOCABULARY, vocab), (DISTANCE, d)]));
        format!("| \\|V\\| {vocab} | {} |", FACTS.by_distance(cell))
    };
    page.table(
        &format!("| B† in `facts`, nats | {} |", at_distances(&FACTS)),
        &FACTS.levels(VOCABULARY).iter().map(row).collect::<Vec<_>>(),
    );
    let effects = FACTS.effects(Transfer::Nats).map(below_zero);
    page.says("falls with distance (effect {}) and with |V| ({}), as does what A has (", effects.map(est));
    let [least, .., most] = FACTS.levels(VOCABULARY) else { panic!("several |V|") };
    let of_a = |vocab| two(FACTS.end(&contrast("A"), &[(VOCABULARY, vocab)]));
    below_zero(FACTS.less(&contrast("A"), &[(VOCABULARY, most)], &[(VOCABULARY, least)]));
    page.says("({} nats at |V| {}, {} at {})", [of_a(least), least.clone(), of_a(most), most.clone()]);
    page.says("of λ no effect can be told ({}).", [est(not_told(FACTS.effect(LAMBDA, Transfer::Nats)))]);
    let [cognate, general] = [COGNATE, BRIDGE].map(|bridge| FACTS.correlation(bridge, Transfer::Nats));
    page.says(
        "it correlates with the cognate bridge (r = {}); with β̂ no relation can be told ({})",
        [est(above_zero(cognate)), est(not_told(general))],
    );
    let words = |study: &Shipped| est(above_zero(study.cognate_slope(ALL_RUNS, Outcome::Contrast)));
    let by_word = FACTS.by_word(ALL_RUNS, Outcome::Contrast);
    let (fitted, runs) = (&by_word.clustered, by_word.runs);
    page.says("a word's contrast is higher by {} nats", [words(&FACTS)]);
    page.says(
        "({} words of {} runs; {} in `crossing`). Single words scatter: R² within runs is {}.",
        [grouped(fitted.rows as f64), runs.to_string(), words(&CROSSING), decimals(fitted.r_squared, 3)],
    );
    let share =
        |study: &Shipped, metric, places| decimals(study.end(&sentences("B_masked", metric), &[]).value, places);
    let [by_distance, _] = FACTS.effects(Transfer::Grammar(Moment::End));
    page.says(
        "In `facts` {} of the answers with unseen words are grammatical, more at larger distances (effect {}), but only {} have the very words",
        [share(&FACTS, GRAMMATICAL, 2), est(above_zero(by_distance)), share(&FACTS, SAME_WORDS, 3)],
    );
    page.says(
        "in `facts` {} of the words that are true of a subject are reachable and {} of those that are false.",
        FACTS.true_and_false(&[]).map(two),
    );
    page.says(
        "in `crossing` it is {} and {}, in `paper` {} and {}.",
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
    page.table(
        "| shared pieces | A | B | B† | B†, less `all` |",
        &["all", "none", "cognate", "other", "random 0.5"].map(row),
    );
    let changed = |condition| SHARING.less(&contrast(condition), &[(SHARE, "none")], &[(SHARE, "all")]);
    page.says(
        "the contrast is higher in A, by {}, and not clearly lower for B's own words ({})",
        [est(above_zero(changed("A"))), est(not_told(changed("B")))],
    );
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
        [
            est(above_zero(SHARING.arms("cognate", "other"))),
            est(above_zero(SHARING.less(&masked, &[(SHARE, "other")], &[(SHARE, "none")]))),
        ],
    );
    let by_word = |arm| est(above_zero(SHARING.cognate_slope(arm, Outcome::Contrast)));
    page.says(
        "the contrast of a word rises by {} nats per unit of cognate bridge, with the same controls; with all pieces shared, by {}.",
        [by_word("share = random 0.5"), by_word("share = all")],
    );
    let grammatical = |name| est(arm(&SHARING, &sentences("B_masked", GRAMMATICAL), name, &[]));
    page.says(
        "Grammaticality goes the other way: {} of the answers in B† are grammatical with all pieces shared and {} with none",
        ["all", "none"].map(grammatical),
    );
    let same = |name| decimals(arm(&SHARING, &sentences("B_masked", SAME_WORDS), name, &[]).value, 3);
    page.says("Hardly any have the words that were asked ({} and {})", ["all", "none"].map(same));
    page.says(
        "{} of the masked words are reachable with all pieces shared and {} with none;",
        ["all", "none"].map(|name| est(arm(&SHARING_PAPER, &reachable("B_masked"), name, &[]))),
    );
    let by_unigram = reachable_by(Scorer::Unigram, Targets::Allowed, "B_masked");
    page.says(
        "under a unigram model {} and {},",
        ["all", "none"].map(|name| two(arm(&SHARING_PAPER, &by_unigram, name, &[]))),
    );
    page.says(
        "words that are false of the subject are as reachable, {} and {}",
        ["all", "none"].map(|name| two(SHARING_PAPER.true_and_false(&[(SHARE, name)])[1])),
    );
    let slope = above_zero(SHARING_PAPER.cognate_slope("share = all", Outcome::Reachable));
    page.says(
        "the share reachable is higher, among the words of one run, by {} per unit of cognate bridge,",
        [est(slope)],
    );
    let [all, none] = ["all", "none"].map(|name| est(arm(&SHARING_PAPER, &masked, name, &[])));
    let difference = not_told(SHARING_PAPER.less(&masked, &[(SHARE, "all")], &[(SHARE, "none")]));
    page.says("The contrasts, {} and {}, differ by {}, which cannot be told", [all, none, est(difference)]);
    let [width, layers] = ["model.width", "model.layers"].map(|key| setting(&SHARING_PAPER, key));
    assert_eq!(layers, 8.0);
    page.says("(`sharing-paper`: width {}, {} layers, d 0)", [width.to_string(), "eight".into()]);
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
    for (name, a) in [("A 0.25", "0.25"), ("A unrelated", "1")] {
        for c in ["0.1", "0.25"] {
            let cells = [NEITHER, D, B].map(|third| est(PIVOT.end(&masked, &at(third, a, c))));
            rows.push(format!("| {name}, C {c} from B | {} | {} |", cells.join(" | "), est(gain(a, c))));
        }
    }
    page.table("| C†, nats | neither | with D | with B | B less D |", &rows);
    let over_both = |c| {
        let at = [("languages.C.distance", c)];
        PIVOT.less(&masked, &[B, &at].concat(), &[D, &at].concat())
    };
    page.says(
        "where C is {} from B, B gives {} nats more than D, {} where A is {} from B and {} where A is unrelated to all;",
        [
            "0.1".into(),
            est(above_zero(over_both("0.1"))),
            est(above_zero(gain("0.25", "0.1"))),
            "0.25".into(),
            est(gain("1", "0.1")),
        ],
    );
    page.says("where C is {} from B none can be told ({}).", ["0.25".into(), est(not_told(over_both("0.25")))]);
    let parts = [(1.0, B, "0.25"), (-1.0, D, "0.25"), (-1.0, B, "1"), (1.0, D, "1")];
    let parts: Vec<_> = parts.iter().map(|(weight, third, a)| (*weight, at(third, a, "0.1"))).collect();
    let parts: Vec<(f64, At)> = parts.iter().map(|(weight, at)| (*weight, &at[..])).collect();
    let through = not_told(PIVOT.combined(&parts, |run| run.curve(&masked).end()));
    page.says("is the difference, {}: none that can be seen", [est(through)]);
}

/// `d 0 | d 0.25`.
fn at_distances(study: &Shipped) -> String {
    study.by_distance(|d| format!("d {d}"))
}

#[test]
fn every_number_of_the_readmes_findings_is_that_of_the_tables() {
    let mut page = Page::section("README.md", "## Findings\n");
    let runs: usize =
        [&*PAPER, &READINGS, &FACTS, &BUDGET, &CONVERGED, &CROSSING, &SHARING, &SHARING_PAPER, &WITHHELD, &PIVOT]
            .iter()
            .map(|study| study.size()[0].parse::<usize>().unwrap())
            .sum();
    page.says("From {} runs", [grouped(runs as f64)]);
    let grammatical = BUDGET.trajectory(&sentences("B_masked", GRAMMATICAL), &[]);
    page.says(
        "trained {} times as much, at {} times the learning rate: {} at the peak, {} at the end",
        [more_training(), faster(), two(grammatical.peak), est(grammatical.end)],
    );
    page.says(
        "the contrast is {} nats in B† where A has {}",
        [est(FACTS.end(&contrast("B_masked"), &[])), two(FACTS.end(&contrast("A"), &[]))],
    );
    let arm = |arm| est(SHARING.end(&contrast("B_masked"), &[(SHARE, arm)]));
    page.says("it is {} nats where A and B share all pieces, and {} where they share none", [arm("all"), arm("none")]);
    withheld::share_of_a(&mut page, "of A's contrast on what is asked,");
    page.says(
        "a unigram model, which ignores the subject, reaches {} of its subjects",
        [two(PAPER.end(&any_reachable(Scorer::Unigram, "B_masked"), &[]))],
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
    for text in [
        "it is 0.3",
        "in 3 of 4",
        "d falls by 0.3",
        "r = 0.9 [0.8, 1.0]",
        "word 5",
        "At d 0.25, 0.99 nats",
        "95 % of them",
    ] {
        assert!(unchecked(text) > 0, "{text}");
    }
    let mut page = Page::of_text("It is 0.31\n[0.20, 0.42] nats, not 5.");
    page.says("It is {} nats", ["0.31 [0.20, 0.42]".into()]);
    assert_eq!(page.unchecked().len(), 1);
}
