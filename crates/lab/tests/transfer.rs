//! What the measures must show where the answer is known.

use crate::common::{family, find, mixed, run, tiny};
use invitro_results::Row;

/// A world whose facts the tiny model learns in a few seconds.
fn facts(more: &[&str]) -> invitro_lab::Experiment {
    let mut settings = vec![
        "language.distance=0",
        "language.entities=10",
        "language.names=3",
        "language.properties=16",
        "language.adjective_rate=0.1",
        "language.mask_share=0.5",
        "tokenizer.vocab=90",
        "model.layers=2",
        "train.steps=2000",
        "train.batch=16",
        "eval.every=0",
        "eval.sentences=40",
        "eval.subjects=26",
        "eval.targets=20",
        "checkpoint.every=2000",
    ];
    settings.extend(more);
    tiny(&settings)
}

fn contrast<'a>(rows: &'a [Row], who: &str, condition: &str, stat: &str) -> &'a Row {
    let step = rows.iter().map(|row| row.step).max().unwrap();
    find(rows, step, &format!("reach.{condition}.{who}.facts.{stat}"))
}

/// Whoever ignores the subject has a contrast of exactly zero; an untrained network hardly regards it.
#[test]
fn an_untrained_model_and_the_ngrams_know_no_facts() {
    let place = tempfile::tempdir().unwrap();
    let rows = run(&facts(&["train.steps=0", "eval.sentences=1"]), place.path());
    for (who, nats) in [("network", 0.05), ("unigram", 1e-9), ("bigram", 1e-9)] {
        for condition in ["A", "B", "B_masked"] {
            for stat in ["share@0.1", "logprob"] {
                let row = contrast(&rows, who, condition, stat);
                assert!(row.value.abs() < nats, "{row:?}");
            }
        }
    }
}

/// The same in every language of a family, whatever its word order: the boundary stands between a subject and what is said.
#[test]
fn the_ngrams_know_no_facts_in_any_word_order() {
    let place = tempfile::tempdir().unwrap();
    let experiment = family(&["train.steps=0", "eval.sentences=1", "tokenizer.vocab=120"], mixed());
    let rows = run(&experiment, place.path());
    for who in ["unigram", "bigram"] {
        for condition in ["A", "B", "C", "B_masked", "C_masked"] {
            for stat in ["share@0.1", "logprob"] {
                assert!(contrast(&rows, who, condition, stat).value.abs() < 1e-9, "{who} {condition} {stat}");
            }
        }
        assert!(find(&rows, 0, &format!("reach.A.{who}.facts_masked.logprob")).value.abs() < 1e-9);
    }
}

#[test]
fn with_nothing_withheld_masked_words_are_words_like_others() {
    let place = tempfile::tempdir().unwrap();
    let (open, closed) = (place.path().join("open"), place.path().join("closed"));
    // B is a third of the text: its facts take longer than A's.
    let settings =
        ["mixture.withhold=false", "tokenizer.sees_masked=true", "train.steps=6000", "checkpoint.every=6000"];
    let open = run(&facts(&settings), &open);
    let closed = run(&facts(&["tokenizer.sees_masked=true"]), &closed);
    for rows in [&open, &closed] {
        let known = contrast(rows, "network", "A", "logprob");
        assert!(known.interval.unwrap().low > 0.0, "the facts are learned in A: {known:?}");
    }
    let [b, masked] = ["B", "B_masked"].map(|condition| contrast(&open, "network", condition, "logprob"));
    assert!(masked.interval.unwrap().low > 0.0, "{masked:?}");
    assert!((b.value - masked.value).abs() < 0.35, "the same contrast in B† as in B: {b:?} {masked:?}");
    let withheld = contrast(&closed, "network", "B_masked", "logprob");
    assert!(withheld.value < 0.5 * masked.value, "withheld, less is known: {withheld:?} {masked:?}");
    let grammatical = |condition| find(&open, 6000, &format!("T1.{condition}.grammaticality")).value;
    let gap = grammatical("B") - grammatical("B_masked");
    assert!(gap < 0.2, "B† is like B: {gap}");
}

/// At d = 0 and without affixes every word is the same in both languages, so a sentence of B differs from the same
/// sentence in A in its first token alone. A masked word is then seen in training, in A; and since one set of words
/// serves both languages, what is known of it in A is known in B†: form, types and facts.
#[test]
fn languages_that_differ_in_their_task_token_alone_share_everything() {
    let experiment = facts(&["language.affix_rate=0", "train.steps=4000"]);
    let place = tempfile::tempdir().unwrap();
    let languages = invitro_language::Languages::new(&experiment.language, 0).unwrap();
    for symbol in languages.world.symbols() {
        let [a, b] = [invitro_language::Language::A, invitro_language::Language::B]
            .map(|language| languages.form(symbol, language));
        assert_eq!(a, b, "{}", languages.world.label(symbol));
    }
    let rows = run(&experiment, place.path());
    let same_symbols_in_a = find(&rows, 4000, "reach.A.network.facts_masked.logprob");
    let masked = contrast(&rows, "network", "B_masked", "logprob");
    assert!(masked.interval.unwrap().low > 0.0, "knowledge crosses: {masked:?}");
    let ratio = masked.value / same_symbols_in_a.value;
    assert!((0.8..1.25).contains(&ratio), "as much as in A: {masked:?} {same_symbols_in_a:?}");
}
