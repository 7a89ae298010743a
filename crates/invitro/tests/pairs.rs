//! `invitro pairs`: every pair is minimal, and its second sentence breaks what its kind says and nothing before that.

use crate::common::{invitro, refused, stdout, tiny, with_input};
use crate::run::{done, run};
use serde_json::Value;
use std::collections::HashSet;

const CONDITIONS: [&str; 3] = ["A", "B", "B_masked"];

fn made(kind: &str, condition: &str, more: &[&str]) -> Vec<(String, String)> {
    let text = stdout(&[&["pairs", "--config", tiny(), "--kind", kind, "--condition", condition], more].concat());
    text.lines().map(|line| line.split_once('\t').unwrap()).map(|(a, b)| (a.into(), b.into())).collect()
}

/// What `invitro check` says of sentences: known words, grammar, types, facts.
fn verdicts(sentences: &[&String], language: &str) -> Vec<[bool; 4]> {
    let text = sentences.iter().map(|text| format!("{text}\n")).collect::<String>();
    let output = with_input(&["check", "--json", "--config", tiny(), "--language", language], text.as_bytes());
    let verdict = |line: &str| {
        let checked: Value = serde_json::from_str(line).unwrap();
        ["valid", "grammatical", "types", "facts"].map(|name| checked[name].as_bool().unwrap())
    };
    String::from_utf8(output.stdout).unwrap().lines().map(verdict).collect()
}

#[test]
fn pairs_are_minimal_and_break_what_their_kind_says() {
    for condition in CONDITIONS {
        let language = &condition[..1];
        let masked: HashSet<String> = masked_words(language);
        for (kind, broken) in [
            ("types", [true, true, false, false]),
            ("facts", [true, true, true, false]),
            ("order", [true, false, false, false]),
            ("spelling", [false, false, false, false]),
        ] {
            let pairs = made(kind, condition, &["-n", "40"]);
            assert!(
                pairs.len() >= 20 && pairs.iter().collect::<HashSet<_>>().len() == pairs.len(),
                "{kind} {condition}: {}",
                pairs.len()
            );
            let (good, bad): (Vec<&String>, Vec<&String>) = pairs.iter().map(|(good, bad)| (good, bad)).unzip();
            assert!(verdicts(&good, language).iter().all(|it| *it == [true; 4]), "{kind} {condition}");
            assert!(verdicts(&bad, language).iter().all(|it| *it == broken), "{kind} {condition}");
            for (good, bad) in &pairs {
                let words = |text: &String| text.split(' ').map(str::to_owned).collect::<Vec<String>>();
                let (mut one, mut other) = (words(good), words(bad));
                assert_eq!(one.len(), other.len());
                let differing: Vec<usize> = (0..one.len()).filter(|&at| one[at] != other[at]).collect();
                if kind == "order" {
                    assert!(matches!(differing[..], [first, second] if second == first + 1), "{good} / {bad}");
                    one.sort();
                    other.sort();
                    assert_eq!(one, other);
                    continue;
                }
                let &[at] = &differing[..] else { panic!("{good} / {bad}") };
                if condition == "B_masked" {
                    assert!(
                        masked.contains(&one[at]) && (kind == "spelling" || masked.contains(&other[at])),
                        "{good} / {bad}"
                    );
                }
                if kind == "spelling" {
                    let letters = one[at].chars().zip(other[at].chars()).filter(|(a, b)| a != b).count();
                    assert!(letters == 1 && one[at].chars().count() == other[at].chars().count(), "{good} / {bad}");
                }
            }
        }
    }
    assert_eq!(made("types", "B", &["-n", "9"]), made("types", "B", &["-n", "9"]), "the same each time");
    assert_ne!(made("types", "B", &["-n", "9"]), made("types", "B", &["-n", "9", "--seed", "12"]));
}

/// The words that a language keeps from training, as `invitro language export` says.
fn masked_words(language: &str) -> HashSet<String> {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("languages");
    stdout(&["language", "export", "--config", tiny(), "--out", out.to_str().unwrap()]);
    let lexicon = std::fs::read_to_string(out.join("lexicon.tsv")).unwrap();
    let mut lines = lexicon.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let heads = lines.next().unwrap();
    let place = |name: &str| heads.iter().position(|head| *head == name).unwrap_or_else(|| panic!("{heads:?}"));
    let (form, masked) = (place(&format!("form_{language}")), place("masked"));
    lines.filter(|line| line[masked] == "true").map(|line| line[form].to_owned()).collect()
}

#[test]
fn pairs_are_read_by_score_minicons_and_lm_eval() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name).display().to_string();
    let folder = at("run");
    done(&run(folder.as_ref(), &["train.steps=10"]).output().unwrap());
    let pairs = |program: &str, out: &str, more: &[&str]| {
        let args = [&["pairs", &folder, "--kind", "facts", "-n", "30", "--for", program, "--out", out], more].concat();
        done(&invitro(&args).output().unwrap());
    };
    pairs("score", &at("facts.tsv"), &[]);
    let scored = stdout(&["score", &folder, &at("facts.tsv"), "--language", "B"]);
    assert!(scored.trim_end().lines().last().unwrap().contains(" of 30 pairs ("), "{scored}");
    let lines = |name: &str| std::fs::read_to_string(at(name)).unwrap().lines().map(str::to_owned).collect::<Vec<_>>();
    pairs("minicons", &at("facts.jsonl"), &[]);
    pairs("lm-eval", &at("task"), &[]);
    let first = lines("facts.tsv")[0].clone();
    let (good, bad) = first.split_once('\t').unwrap();
    let json = |line: &str| serde_json::from_str::<Value>(line).unwrap();
    let blimp = json(&lines("facts.jsonl")[0]);
    assert_eq!(blimp["sentence_good"], format!("{good} <eos>"));
    assert_eq!(
        (&blimp["sentence_bad"], &blimp["UID"]),
        (&format!("{bad} <eos>").into(), &"invitro_facts_B_masked".into())
    );
    let task = std::fs::read_to_string(at("task/invitro_facts_B_masked.yaml")).unwrap();
    assert!(
        task.contains("data_files: invitro_facts_B_masked.jsonl") && task.contains("doc_to_text: \"<T0:B>\""),
        "{task}"
    );
    assert_eq!(json(&lines("task/invitro_facts_B_masked.jsonl")[0])["good"], format!("{good} <eos>"));
    // An export has the same pairs.
    stdout(&["export", &folder, "--lm-eval", "--out", &at("exported")]);
    let exported = lines("exported/lm-eval/invitro_facts_B_masked.jsonl");
    assert_eq!(exported[..30], lines("task/invitro_facts_B_masked.jsonl")[..]);
    // The same command replaces its own, and nothing else.
    pairs("lm-eval", &at("task"), &["--force"]);
    std::fs::write(at("task/mine"), "").unwrap();
    let again = ["pairs", &folder, "--kind", "facts", "--for", "lm-eval", "--force", "--out", &at("task")];
    assert!(refused(&again).contains("which this command does not write"));
    for (args, part) in [
        (&["pairs", &folder, "--kind", "facts", "--for", "lm-eval"][..], "--out DIR"),
        (&["pairs", &folder, "--kind", "facts", "--condition", "C"], "must be one of A, B, B_masked"),
        (&["pairs", &folder, "--kind", "facts", "language.distance=0.5"], "not both"),
    ] {
        assert!(refused(args).contains(part), "{args:?}: {}", refused(args));
    }
}
