//! What the page says of words withheld and of facts withheld.

use super::page::Page;
use super::shipped::{At, DISTANCE, contrast, contrast_of_masked};
use super::{WITHHELD, WITHHOLD, above_zero, at_distances, below_zero, est, less_by, not_told, setting};
use invitro_report::data::Run;
use invitro_stats::Estimate;

const WORDS: At = &[(WITHHOLD, "words")];
const FACTS: At = &[(WITHHOLD, "facts")];

/// The contrast at the end in B†.
fn masked(run: &Run) -> Option<f64> {
    run.curve(&contrast("B_masked")).end()
}

/// That in A of what is asked in B†.
fn asked_of_a(run: &Run) -> Option<f64> {
    run.curve(&contrast_of_masked("A")).end()
}

/// A mean with facts withheld, less that with words withheld.
fn facts_less_words(value: impl Fn(&Run) -> Option<f64>) -> Estimate {
    WITHHELD.combined(&[(1.0, FACTS), (-1.0, WORDS)], value)
}

/// How much of A's contrast B† has, after this beginning of a sentence.
pub fn share_of_a(page: &mut Page, beginning: &str) {
    let of_a = |run: &Run| Some(masked(run)? / asked_of_a(run)?);
    below_zero(facts_less_words(of_a));
    page.says(
        &format!("{beginning} B† has {{}} with facts withheld and {{}} with words."),
        [FACTS, WORDS].map(|arm| est(WITHHELD.of_runs(arm, of_a))),
    );
}

pub fn check(page: &mut Page) {
    let row = |arm: &str| {
        let cell = |d: &str| est(WITHHELD.end(&contrast("B_masked"), &[(WITHHOLD, arm), (DISTANCE, d)]));
        format!("| {arm} withheld | {} |", WITHHELD.by_distance(cell))
    };
    page.table(&format!("| B†, nats | {} |", at_distances(&WITHHELD)), &["words", "facts", "nothing"].map(row));
    let is_clear = |d: &&String| {
        let [facts, words] = [FACTS, WORDS].map(|arm| [arm, &[(DISTANCE, d.as_str())]].concat());
        WITHHELD.less(&contrast("B_masked"), &facts, &words).interval.unwrap().below(0.0)
    };
    let clear: Vec<&String> = WITHHELD.levels(DISTANCE).iter().filter(is_clear).collect();
    let [first, second] = clear[..] else { panic!("as the page says: {clear:?}") };
    page.says(
        "lower than with words withheld, by {} nats over all d, clearly at d {} and {} alone; with nothing withheld it is higher by {}.",
        [
            less_by(below_zero(WITHHELD.arms("facts", "words"))),
            first.clone(),
            second.clone(),
            est(above_zero(WITHHELD.arms("nothing", "words"))),
        ],
    );
    page.says(
        "But A, too, has less of what is asked then, by {} nats: of B† less A no difference can be told ({}),",
        [
            less_by(below_zero(facts_less_words(asked_of_a))),
            est(not_told(facts_less_words(|run| Some(masked(run)? - asked_of_a(run)?)))),
        ],
    );
    share_of_a(page, "over A's contrast, run by run,");
    assert_eq!(setting(&WITHHELD, "language.mask_share"), 0.25);
    page.says("a {} of the facts is never stated", ["quarter".into()]);
}
