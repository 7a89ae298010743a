//! What the page says of words withheld and of facts withheld.

use super::page::Page;
use super::shipped::{At, DISTANCE, contrast, contrast_of_masked};
use super::{WITHHELD, WITHHOLD, above_zero, at_distances, below_zero, est, less_by, not_told, setting};
use invitro_report::data::Run;

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

/// How much of A's contrast B† has, after this beginning of a sentence.
pub fn of_what_a_has(page: &mut Page, beginning: &str) {
    let of_a = |run: &Run| Some(masked(run)? / asked_of_a(run)?);
    below_zero(WITHHELD.combined(&[(1.0, FACTS), (-1.0, WORDS)], of_a));
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
    let parts = [(1.0, FACTS), (-1.0, WORDS)];
    page.says(
        "But A, too, has less of what is asked then, by {} nats: of B† less A no difference can be told ({}),",
        [
            less_by(below_zero(WITHHELD.combined(&parts, asked_of_a))),
            est(not_told(WITHHELD.combined(&parts, |run| Some(masked(run)? - asked_of_a(run)?)))),
        ],
    );
    of_what_a_has(page, "over A's contrast, run by run,");
    assert_eq!(setting(&WITHHELD, "language.mask_share"), 0.25);
    page.says("a {} of the facts is never stated", ["quarter".into()]);
}
