//! What the page says of `converged`, a model that learns the facts of the paper's world.

use super::page::Page;
use super::shipped::{ALL_RUNS, At, DISTANCE, contrast, reachable, reachable_by, sentences};
use super::{BUDGET, CONVERGED, GRAMMATICAL, above_zero, at_distances, est, not_told, setting, two};
use invitro_report::findings::Transfer;
use invitro_report::findings::by_word::Outcome;
use invitro_report::findings::design::COGNATE;
use invitro_report::findings::stages::{Crossed, Stage};
use invitro_results::words::Asked;
use invitro_results::{Moment, Scorer, Targets};
use invitro_stats::grouped;

/// The distance of a word from its own form in A up to which it is close.
const CLOSE: f64 = 0.4;

pub fn check(page: &mut Page) {
    training(page);
    facts(page);
    form(page);
    left(page);
}

fn training(page: &mut Page) {
    let of = |key| setting(&CONVERGED, key);
    assert_eq!((of("model.layers"), of("train.lr"), of("tokenizer.vocab")), (8.0, 6e-4, 2048.0));
    assert_eq!(setting(&BUDGET, "mixture.lambda"), 0.25);
    page.says(
        "In `converged` the model is larger (width {}, {} layers), and learns many of its world's facts. It is trained for {} steps of {} as in `budget`, at |V| 2048; λ is {} instead of {} and the learning rate `6e-4`.",
        [
            of("model.width").to_string(),
            "eight".into(),
            grouped(of("train.steps")),
            of("train.batch").to_string(),
            of("mixture.lambda").to_string(),
            "0.25".into(),
        ],
    );
}

/// When facts are learned, and how well.
fn facts(page: &mut Page) {
    let [a, b, masked] = ["A", "B", "B_masked"].map(|condition| CONVERGED.end(&contrast(condition), &[]));
    page.says("At the end A has {} nats, B has {} and B† {}.", [a, b, above_zero(masked)].map(est));
    let threshold = CONVERGED.study.emergence_threshold().unwrap();
    let steps = |condition: &str, at: At| {
        let lasting = |run| Stage::Contrast.crossing(run, &condition.parse().unwrap(), threshold, Crossed::Lasting);
        let mut steps: Vec<u32> = CONVERGED.ended(at).filter_map(|run| lasting(run)?.step()).collect();
        steps.sort_unstable();
        steps
    };
    let all = CONVERGED.ended(&[]).count();
    let ends = |steps: &[u32]| [steps[0], steps[steps.len() - 1]].map(|step| grouped(f64::from(step)));
    let [in_a, in_b, in_masked] = ["A", "B", "B_masked"].map(|condition| steps(condition, &[]));
    assert_eq!((in_a.len(), in_b.len()), (all, all), "as the page says, in every run");
    let [[first_a, last_a], [first_b, last_b], [first, last]] = [&in_a, &in_b, &in_masked].map(|steps| ends(steps));
    page.says(
        "above zero to stay from a step between {} and {} in A, and between {} and {} in B, in all runs;",
        [first_a, last_a, first_b, last_b],
    );
    let crossed = |d| steps("B_masked", &[(DISTANCE, d)]).len();
    assert_eq!(["0", "0.1", "0.25", "0.5"].map(crossed), [3, 2, 0, 0]);
    page.says(
        "in B† it is so in {} of {} runs, from a step between {} and {}: {} at d 0 and {} at d 0.1.",
        [in_masked.len().to_string(), all.to_string(), first, last, "three".into(), "two".into()],
    );
    let asked = CONVERGED.study.asked.iter().filter(|(_, word)| word.contrast.is_some()).count();
    page.says("{} words of a run have a contrast", [(asked / all).to_string()]);
}

/// That grammaticality and reachability fade here too.
fn form(page: &mut Page) {
    for (pattern, quantity) in [
        (
            "{} of the sentences in B† are grammatical at the peak (steps {} to {}) and {} at the end, a decline of {};",
            sentences("B_masked", GRAMMATICAL),
        ),
        (
            "{} of the words are reachable at the peak (steps {} to {}) and {} at the end, a decline of {}.",
            reachable("B_masked"),
        ),
    ] {
        assert!(CONVERGED.fades_in_every_run(&quantity, 0.05));
        let over = CONVERGED.trajectory(&quantity, &[]);
        let [first, _, last] = over.steps.map(|step| grouped(f64::from(step)));
        page.says(pattern, [two(over.peak), first, last, est(over.end), est(above_zero(over.decline.unwrap()))]);
    }
    page.says(
        "A ends at {} and B at {} grammatical",
        ["A", "B"].map(|condition| two(CONVERGED.end(&sentences(condition, GRAMMATICAL), &[]))),
    );
}

/// What decides what is left, over runs and over words.
fn left(page: &mut Page) {
    let is_close = |word: &Asked| word.traits.distance.is_some_and(|distance| distance <= CLOSE);
    let row = |name: &str, cell: &dyn Fn(At) -> String| {
        format!("| {name} | {} |", CONVERGED.by_distance(|d| cell(&[(DISTANCE, d)])))
    };
    let fading = |quantity| move |at: At| CONVERGED.peak_to_end(&quantity, at);
    let by_unigram = reachable_by(Scorer::Unigram, Targets::Allowed, "B_masked");
    let words = |outcome, close| move |at: At| est(CONVERGED.of_words(outcome, at, |word| is_close(word) == close));
    let rows = [
        row("grammatical, from peak to end", &fading(sentences("B_masked", GRAMMATICAL))),
        row("reachable, from peak to end", &fading(reachable("B_masked"))),
        row("reachable under a unigram model", &|at| two(CONVERGED.end(&by_unigram, at))),
        row("reachable at the end: close words", &words(Outcome::Reachable, true)),
        row("reachable at the end: others", &words(Outcome::Reachable, false)),
        row("contrast, nats", &|at| est(CONVERGED.end(&contrast("B_masked"), at))),
        row("contrast, nats: close words", &words(Outcome::Contrast, true)),
        row("contrast, nats: others", &words(Outcome::Contrast, false)),
    ];
    page.table(&format!("| B† in `converged` | {} |", at_distances(&CONVERGED)), &rows);
    page.says("*Close* words are at most {} from their own form in A", [CLOSE.to_string()]);
    let far_at_0 = CONVERGED.of_words(Outcome::Reachable, &[(DISTANCE, "0")], |word| !is_close(word));
    let close_further = CONVERGED.of_words(Outcome::Reachable, &[(DISTANCE, "0.25")], is_close);
    assert!(far_at_0.interval.unwrap().above(close_further.interval.unwrap().high));
    page.says(
        "more often at d 0 ({}), where their stems are those of A, than close ones at d 0.25 ({})",
        [far_at_0, close_further].map(two),
    );
    let transfers = [Transfer::Nats, Transfer::Share(Moment::End), Transfer::Grammar(Moment::End)];
    page.says(
        "Over runs r of the cognate bridge is {} with the contrast, {} with reachability and {} with grammaticality at the end.",
        transfers.map(|transfer| est(above_zero(CONVERGED.correlation(COGNATE, transfer)))),
    );
    page.says(
        "the share reachable is higher by {} per unit of cognate bridge, with the same controls;",
        [est(above_zero(CONVERGED.cognate_slope(ALL_RUNS, Outcome::Reachable)))],
    );
    page.says(
        "whether more is known cannot be told ({} nats)",
        [est(not_told(CONVERGED.cognate_slope(ALL_RUNS, Outcome::Contrast)))],
    );
}
