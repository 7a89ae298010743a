//! What the page says of `budget`, where form with unseen words fades, and of form elsewhere.

use super::page::Page;
use super::shipped::{ALL_RUNS, At, DISTANCE, Shipped, VOCABULARY, contrast, reachable, reachable_by, sentences};
use super::{
    BUDGET, CROSSING, FACTS, GRAMMATICAL, PAPER, PIVOT, READINGS, SHARE, SHARING, SHARING_PAPER, WITHHELD, WITHHOLD,
};
use super::{above_zero, at_distances, below_zero, est, not_told, setting, two};
use invitro_report::data::Run;
use invitro_report::findings::Transfer;
use invitro_report::findings::by_word::Outcome;
use invitro_report::findings::design::{BRIDGE, COGNATE};
use invitro_results::{Moment, Quantity, Scorer, Targets};
use invitro_stats::grouped;

pub fn check(page: &mut Page) {
    let of = |key| setting(&PAPER, key);
    page.says(
        "after {} steps of {} sequences at a learning rate of `1e-4`",
        [grouped(of("train.steps")), of("train.batch").to_string()],
    );
    let of = |key| setting(&BUDGET, key);
    page.says("for {} steps of {} at `1e-3`", [grouped(of("train.steps")), of("train.batch").to_string()]);
    let masked = sentences("B_masked", GRAMMATICAL);
    let grammatical = BUDGET.trajectory(&masked, &[]);
    let [first, _, last] = grammatical.steps.map(|step| grouped(f64::from(step)));
    assert!(BUDGET.fades_in_every_run(&masked, 0.1));
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
    page.says("so that noise alone makes none, the decline is {}", [est(above_zero(grammatical.decline.unwrap()))]);
    let reached = BUDGET.trajectory(&reachable("B_masked"), &[]);
    page.says(
        "Reachable words decline as well: {} at the peak, {} at the end, by {}.",
        [two(reached.peak), est(reached.end), est(above_zero(reached.decline.unwrap()))],
    );
    let by_unigram = reachable_by(Scorer::Unigram, Targets::Allowed, "B_masked");
    let fading = |quantity| move |at: At| BUDGET.peak_to_end(quantity, at);
    let rows = |name: &str, cell: &dyn Fn(At) -> String| {
        let row = |vocab| {
            let cells = BUDGET.by_distance(|d| cell(&[(VOCABULARY, vocab), (DISTANCE, d)]));
            format!("| {name} | {vocab} | {cells} |")
        };
        BUDGET.levels(VOCABULARY).iter().map(|vocab| row(vocab)).collect::<Vec<_>>()
    };
    let rows = [
        rows("grammatical", &fading(&masked)),
        rows("reachable", &fading(&reachable("B_masked"))),
        rows("reachable under a unigram model", &|at| two(BUDGET.end(&by_unigram, at))),
    ]
    .concat();
    page.table(&format!("| B†, from peak to end | \\|V\\| | {} |", at_distances(&BUDGET)), &rows);
    let [is_true, is_false] = BUDGET.true_and_false(&[]);
    assert!((is_false.value - is_true.value).abs() < 0.01, "as many false as true ones");
    page.says("words that are false of the subject are as reachable ({}", [est(is_false)]);
    let above_unigram = |d| {
        let end = |run: &Run, quantity: &Quantity| run.curve(quantity).end();
        BUDGET.of_runs(&[(DISTANCE, d)], |run| Some(end(run, &reachable("B_masked"))? - end(run, &by_unigram)?))
    };
    let [at_25, _, _] = ["0.25", "0.5", "0.75"].map(|d| not_told(above_unigram(d)));
    page.says(
        "the network reaches {} more of the words at d 0 than a unigram model, which ignores the subject; at larger distances no difference can be told ({} at d 0.25).",
        [above_zero(above_unigram("0")), at_25].map(est),
    );
    let effects = BUDGET.effects(Transfer::Share(Moment::End)).map(below_zero);
    page.says("effects are {} of d and {} of |V|. At the peak", effects.map(est));
    let [of_distance, of_vocab] = BUDGET.effects(Transfer::Share(Moment::Peak));
    page.says(
        "At the peak it falls with distance and rises with |V| ({} and {})",
        [below_zero(of_distance), above_zero(of_vocab)].map(est),
    );
    for effect in [Moment::Peak, Moment::End].map(|moment| BUDGET.effects(Transfer::Grammar(moment))).concat() {
        not_told(effect);
    }
    let cognate = BUDGET.correlation(COGNATE, Transfer::Share(Moment::End));
    page.says("correlates with the cognate bridge, r = {} over runs", [est(above_zero(cognate))]);
    let [at_end, at_peak] =
        [Moment::End, Moment::Peak].map(|moment| BUDGET.correlation(BRIDGE, Transfer::Share(moment)));
    page.says(
        "with β̂ no relation can be told ({}), though one can at the peak ({})",
        [est(not_told(at_end)), est(above_zero(at_peak))],
    );
    let bridged = |is_meant: fn(f64) -> bool| {
        let at = [(DISTANCE, "0"), (VOCABULARY, "2048")];
        est(BUDGET.of_words(Outcome::Reachable, &at, |word| word.cognate_bridge.is_some_and(is_meant)))
    };
    page.says(
        "at d 0 and |V| 2048, {} of the masked words that share no piece with their own form in A are reachable at the end, and {} of those with a cognate bridge above {}.",
        [bridged(|bridge| bridge == 0.0), bridged(|bridge| bridge > 0.5), "0.5".into()],
    );
    let slope = above_zero(BUDGET.cognate_slope(ALL_RUNS, Outcome::Reachable));
    page.says("the share reachable is higher by {} per unit of cognate bridge (zero", [est(slope)]);
    elsewhere(page);
    page.says(
        "In `paper` training ends with {} grammatical in A, and {} in B†",
        [est(PAPER.end(&sentences("A", GRAMMATICAL), &[])), est(PAPER.end(&masked, &[]))],
    );
    page.says(
        "The model learns little of its world's facts ({} nats in A at the end, {} in B†)",
        [est(BUDGET.end(&contrast("A"), &[])), est(BUDGET.end(&contrast("B_masked"), &[]))],
    );
}

/// What fades in the other studies.
fn elsewhere(page: &mut Page) {
    let studies: [(&str, &Shipped, At); 10] = [
        ("`paper`", &PAPER, &[]),
        ("`readings`", &READINGS, &[]),
        ("`facts`", &FACTS, &[]),
        ("`facts`, \\|V\\| 2048", &FACTS, &[(VOCABULARY, "2048")]),
        ("`crossing`", &CROSSING, &[]),
        ("`withheld`, words withheld", &WITHHELD, &[(WITHHOLD, "words")]),
        ("`pivot`, C†", &PIVOT, &[]),
        ("`sharing`, all shared", &SHARING, &[(SHARE, "all")]),
        ("`sharing-paper`, all shared", &SHARING_PAPER, &[(SHARE, "all")]),
        ("`sharing-paper`, none shared", &SHARING_PAPER, &[(SHARE, "none")]),
    ];
    let rows = studies.map(|(name, study, at)| {
        let condition = if name.ends_with("C†") { "C_masked" } else { "B_masked" };
        let declines = [sentences(condition, GRAMMATICAL), reachable(condition)]
            .map(|quantity| study.trajectory(&quantity, at).decline.unwrap());
        let fades = declines[0].interval.unwrap().above(0.0);
        assert_eq!(fades, name.starts_with("`sharing-paper`"), "as the page says: {name}");
        let cells = declines.map(|decline| if decline.value == 0.0 { "none".to_owned() } else { est(decline) });
        format!("| {name} | {} |", cells.join(" | "))
    });
    page.table("| decline in B† elsewhere | grammatical | reachable |", &rows);
}
