//! The cells of a study: their order, and which of them a filter keeps.

use crate::diagonal::diagonal;
use invitro_results::Filter;
use proptest::prelude::*;
use serde::Deserialize;
use std::collections::HashSet;
use toml::Table;

#[test]
fn worked_example() {
    let text: Vec<String> = diagonal(&[3, 3]).iter().map(|pair| format!("{}{}", pair[0], pair[1])).collect();
    assert_eq!(text.join(" "), "00 11 22 01 12 20 02 10 21");
}

proptest! {
    /// Every combination once, and in every prefix the levels of every factor are about equally frequent.
    #[test]
    fn every_prefix_is_balanced(sizes in prop::collection::vec(1usize..6, 1..5)) {
        let order = diagonal(&sizes);
        let distinct: HashSet<&Vec<usize>> = order.iter().collect();
        prop_assert_eq!(distinct.len(), sizes.iter().product::<usize>());
        for (factor, &size) in sizes.iter().enumerate() {
            let mut counts = vec![0usize; size];
            for (at, levels) in order.iter().enumerate() {
                counts[levels[factor]] += 1;
                let (low, high) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
                // A lead grows by at most one with each digit of the counter, never with the length.
                let slack = 1 + sizes.iter().sum::<usize>();
                prop_assert!(high - low <= slack, "after {at}: {counts:?} of {sizes:?}");
            }
        }
    }
}

fn holds(filter: &str) -> Result<bool, String> {
    #[derive(Deserialize)]
    struct File {
        r#where: Filter,
    }
    let config: Table = "
        [tokenizer]\nvocab = 2048\nregime = \"balanced\"\nsees_masked = false
        [mixture]\nlambda = 0.25\ntasks = [0.2, 0.4, 0.4]"
        .parse()
        .unwrap();
    toml::from_str::<File>(filter).unwrap().r#where.holds(&config)
}

#[test]
fn comparisons() {
    for (filter, expected) in [
        ("tokenizer.vocab = 2048", true),
        ("tokenizer.vocab.below = 2048.5", true),
        ("tokenizer.vocab = { not = 2048 }", false),
        ("tokenizer.vocab = { at_least = 2048, at_most = 2048 }", true),
        ("tokenizer.vocab.at_least = 4096\n[[where]]\nmixture.lambda.above = 0.1", true),
        ("tokenizer.vocab.at_least = 4096\nmixture.lambda.above = 0.1", false),
        ("mixture.lambda = [0.05, 0.25]", true),
        ("mixture.lambda = { not = [0.05, 0.25] }", false),
        ("tokenizer.regime = [\"vanilla\", \"other\"]", false),
        ("tokenizer.sees_masked = false", true),
        ("mixture.tasks = [0.2, 0.4, 0.4]", true),
    ] {
        assert_eq!(holds(&format!("[[where]]\n{filter}")), Ok(expected), "{filter}");
    }
}

#[test]
fn faults_say_what_was_found() {
    let fault = holds("[[where]]\ntokenizer.vokab = 1").unwrap_err();
    assert_eq!(fault, "`where` has tokenizer.vokab = 1, but there is no setting `tokenizer.vokab`");
    let fault = holds("[[where]]\ntokenizer.vocab.below = \"many\"").unwrap_err();
    assert!(fault.ends_with("but `tokenizer.vocab` is 2048, of another kind"), "{fault}");
}
