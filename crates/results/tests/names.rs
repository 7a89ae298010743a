//! Every name that is recorded can be read back, and no two things have the same one.

use invitro_language::Task;
use invitro_results::{
    Bridge, Condition, Form, Fraction, LanguageMetric, Loss, Measure, Quantity, Reach, Scorer, Similarity, Statistic,
    Targets, TaskMetric, TokenizerMetric, Words,
};
use proptest::prelude::*;
use std::collections::HashSet;

fn of<T: Copy + std::fmt::Debug + 'static>(all: &'static [T]) -> impl Strategy<Value = T> {
    prop::sample::select(all)
}

fn reach() -> impl Strategy<Value = Measure> {
    let fraction = (1u32..=10_000).prop_map(|parts| format!("{}", f64::from(parts) / 1e4).parse::<Fraction>().unwrap());
    let parts = (of(&Scorer::ALL), of(&Targets::ALL), any::<bool>(), of(&Statistic::ALL), prop::option::of(fraction));
    (parts, any::<bool>()).prop_map(|((scorer, targets, masked_elsewhere, statistic, top), boundary)| {
        Measure::Reach(Reach { scorer, targets, masked_elsewhere, statistic, top, boundary })
    })
}

fn measure() -> impl Strategy<Value = Measure> {
    prop_oneof![
        (prop::sample::select(Task::ALL.to_vec()), of(&TaskMetric::ALL)).prop_map(|(task, m)| Measure::Task(task, m)),
        reach(),
        (of(&Scorer::ALL), of(&Form::ALL)).prop_map(|(scorer, form)| Measure::Contrast(scorer, form)),
        of(&Scorer::ALL).prop_map(Measure::FriendContrast),
        of(&Loss::ALL).prop_map(Measure::Loss),
        (of(&Words::ALL), of(&TokenizerMetric::ALL)).prop_map(|(words, m)| Measure::Tokenizer(words, m)),
        (of(&Bridge::ALL), of(&Similarity::ALL)).prop_map(|(bridge, s)| Measure::Bridge(bridge, s)),
        of(&LanguageMetric::ALL).prop_map(Measure::Language),
    ]
}

fn condition() -> impl Strategy<Value = Condition> {
    ("[A-Z][A-Za-z0-9_]{0,8}", any::<bool>())
        .prop_filter("no name ends as a masked condition does", |(name, _)| !name.ends_with("_masked"))
        .prop_map(|(language, masked)| Condition::new(&language, masked))
}

proptest! {
    #[test]
    fn names_round_trip(measure in measure(), condition in prop::option::of(condition())) {
        prop_assert_eq!(measure.to_string().parse::<Measure>(), Ok(measure));
        if let Some(condition) = &condition {
            prop_assert_eq!(condition.to_string().parse::<Condition>(), Ok(condition.clone()));
        }
        let quantity = Quantity { measure, condition, pair: None };
        prop_assert_eq!(quantity.to_string().parse::<Quantity>(), Ok(quantity));
    }

    /// Of two languages; a name has letters and digits alone.
    #[test]
    fn names_of_pairs_round_trip(measure in measure(), pair in ("[A-Za-z][A-Za-z0-9]{0,8}", "[A-Za-z][A-Za-z0-9]{0,8}")) {
        let quantity = Quantity::between(measure, &pair.0, &pair.1);
        if !measure.is_curve() {
            prop_assert_eq!(quantity.to_string().parse::<Quantity>(), Ok(quantity));
        }
    }

    #[test]
    fn any_text_is_a_name_or_an_error(text in "\\PC{0,40}") {
        if let Ok(measure) = text.parse::<Measure>() {
            prop_assert_eq!(measure.to_string().parse::<Measure>(), Ok(measure));
        }
        let _ = text.parse::<Quantity>();
    }
}

#[test]
fn no_two_measures_share_a_name() {
    let all = Measure::all();
    let names: HashSet<String> = all.iter().map(Measure::to_string).collect();
    assert_eq!(names.len(), all.len());
    // A few by hand: these are on disk in published tables.
    for name in [
        "T1.grammaticality",
        "T2.conditions_met",
        "T0.failure.unfinished",
        "reach.network.allowed_masked.share_boundary@0.05",
        "reach.bigram.facts.logprob",
        "contrast.network.facts.alike",
        "loss.bits_per_char",
        "fertility",
        "lexicon.boundary_recall",
        "cognate_bridge.jaccard",
        "distance.stems",
        "lambda_left",
    ] {
        assert!(names.contains(name), "{name}");
    }
}
