//! Exports as other programs read them: the same ids and the same log-probabilities in every language.

use crate::common::{listing, python, refused, stdout, with_input};
use crate::run::{done, run};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A trained model with these settings, and its export.
fn exported(place: &Path, settings: &[&str], more: &[&str]) -> (String, PathBuf, String) {
    let (folder, out) = (place.join("run"), place.join("exported"));
    done(&run(&folder, settings).output().unwrap());
    let folder = folder.to_str().unwrap().to_owned();
    let said = stdout(&[&["export", &folder, "--out", out.to_str().unwrap()], more].concat());
    (folder, out, said)
}

/// Sentences of a language with their log-probabilities by `invitro score`.
fn scores(run: &str, place: &Path, language: &str) -> Value {
    let file = place.join(format!("{language}.jsonl"));
    let config = format!("{run}/config.toml");
    let split = ["--split", language, "--held-out", "--task", "T0", "-n", "20"];
    stdout(&[&["corpus", "--config", &config, "--out", file.to_str().unwrap()], &split[..]].concat());
    let rows = std::fs::read_to_string(&file).unwrap();
    let text = |row: &str| serde_json::from_str::<Value>(row).unwrap()["text"].as_str().unwrap().to_owned();
    let texts: Vec<String> = rows.lines().map(text).collect();
    let plain = place.join(format!("{language}.txt"));
    std::fs::write(&plain, texts.join("\n")).unwrap();
    let scored = stdout(&["score", run, plain.to_str().unwrap(), "--language", language, "--json"]);
    let logprob = |line: &str| serde_json::from_str::<Value>(line).unwrap()["logprob"].clone();
    let rows = texts.iter().zip(scored.lines().map(logprob));
    rows.map(|(text, logprob)| json!({ "text": text.split_once(' ').unwrap().1, "logprob": logprob })).collect()
}

fn agree_with_score(python: &Path, settings: &[&str]) {
    let place = tempfile::tempdir().unwrap();
    let (run, out, said) = exported(place.path(), settings, &[]);
    assert!(!said.contains("no tokenizer.json"), "{said}");
    let languages = ["A", "B"].map(|language| (language.to_owned(), scores(&run, place.path(), language)));
    let file = place.path().join("scores.json");
    std::fs::write(&file, Value::Object(languages.into_iter().collect::<Map<_, _>>()).to_string()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/score_export.py");
    let arguments = [script.as_path(), &out, &file];
    let output = Command::new(python).args(arguments).env("HF_HUB_OFFLINE", "1").output().unwrap();
    assert!(output.status.success(), "{settings:?}: {}", String::from_utf8_lossy(&output.stderr));
    println!("{settings:?}: {}", String::from_utf8_lossy(&output.stdout).trim());
}

#[test]
fn other_programs_give_the_log_probabilities_of_score_in_every_language() {
    let Some(python) = python() else { return };
    for settings in [
        &[][..],
        &["tokenizer.share=none"],
        &["tokenizer.share=cognate", "tokenizer.boundary=first"],
        &["tokenizer.share=random", "tokenizer.kind=unigram", "tokenizer.share_boundary=true", "tokenizer.vocab=70"],
        &["tokenizer.share=none", "tokenizer.kind=wordpiece", "tokenizer.boundary=last"],
        &["tokenizer.share=none", "tokenizer.kind=byte", "model.context=320"],
    ] {
        agree_with_score(&python, settings);
    }
}

/// Both sentences of a pair are of the language; the second has one fault, and neither is trained on.
#[test]
fn minimal_pairs_are_tasks_of_lm_eval() {
    let place = tempfile::tempdir().unwrap();
    let (run, out, said) = exported(place.path(), &[], &["--lm-eval"]);
    assert!(said.contains("invitro_order_A,invitro_facts_A,invitro_order_B"), "{said}");
    let trained = invitro_lab::Trained::load(Path::new(&run), None).unwrap();
    let mut checker = trained.languages.checker();
    for condition in trained.languages.conditions() {
        for fault in ["order", "facts"] {
            let name = format!("invitro_{fault}_{condition}");
            let task = std::fs::read_to_string(out.join(format!("lm-eval/{name}.yaml"))).unwrap();
            let context = format!("doc_to_text: \"<T0:{}>\"", condition.language.name());
            assert!(task.contains(&context) && task.contains(&format!("data_files: lm-eval/{name}.jsonl")), "{task}");
            let pairs = std::fs::read_to_string(out.join(format!("lm-eval/{name}.jsonl"))).unwrap();
            let distinct: std::collections::HashSet<&str> = pairs.lines().collect();
            assert!(distinct.len() == pairs.lines().count() && distinct.len() > 20, "{name}: {}", distinct.len());
            for pair in pairs.lines() {
                let pair: Value = serde_json::from_str(pair).unwrap();
                let [good, bad] =
                    ["good", "bad"].map(|side| pair[side].as_str().unwrap().strip_suffix(" <eos>").unwrap());
                let verdict = checker.text(good, condition.language);
                assert!(verdict.grammatical && verdict.types && verdict.facts, "{good}");
                let verdict = checker.text(bad, condition.language);
                assert_eq!(verdict.grammatical, fault == "facts", "{bad}");
                assert!(fault == "order" || (verdict.types && !verdict.facts), "{bad}");
                let differing = good.split(' ').zip(bad.split(' ')).filter(|(one, other)| one != other).count();
                assert_eq!(differing, if fault == "facts" { 1 } else { 2 }, "{good} / {bad}");
            }
        }
    }
    // A byte order mark is not text.
    let score = |text: &str| {
        let output = with_input(&["score", &run, "--language", "B", "--json"], text.as_bytes());
        String::from_utf8(output.stdout).unwrap()
    };
    let sentence = scores(&run, place.path(), "B")[0]["text"].as_str().unwrap().to_owned();
    assert!(score(&sentence).contains("logprob"));
    assert_eq!(score(&format!("\u{feff}{sentence}")), score(&sentence));

    // The same command replaces its folders, and nothing else in them.
    let export = ["export", &run, "--force", "--out", out.to_str().unwrap()];
    stdout(&export);
    assert!(!listing(&out).contains(&"lm-eval".into()));
    std::fs::write(out.join("tokenizer-B/mine"), "").unwrap();
    assert!(refused(&export).contains("holds `tokenizer-B/mine`, which this command does not write"));
}

#[test]
fn an_export_has_no_tokenizer_that_gives_other_ids() {
    let place = tempfile::tempdir().unwrap();
    let (_, out, said) = exported(place.path(), &["tokenizer.share=none"], &[]);
    assert!(said.contains("a tokenizer per language"), "{said}");
    let card = std::fs::read_to_string(out.join("README.md")).unwrap();
    let names = listing(&out);
    assert!(names.contains(&"tokenizer-B".into()) && !names.contains(&"tokenizer.json".into()), "{names:?}");
    assert!(card.contains("from_pretrained(\"exported\", subfolder=\"tokenizer-A\")"), "{card}");
    assert!(!card.contains("from_pretrained(\"exported\")\ntokenizer"), "{card}");

    // Pieces that depend on the word.
    for (arm, settings) in [
        ("cut alike", &["tokenizer.cut=alike"][..]),
        ("share none", &["tokenizer.share=none", "tokenizer.share_names=true"]),
    ] {
        let place = tempfile::tempdir().unwrap();
        let (_, out, said) = exported(place.path(), settings, &[]);
        let names = listing(&out);
        assert!(names.contains(&"tokenizer-A".into()), "{names:?}");
        assert!(!names.contains(&"tokenizer-B".into()) && !names.contains(&"tokenizer.json".into()), "{names:?}");
        let sentence = format!("no tokenizer.json can give the ids of B under {arm}");
        assert!(said.split_whitespace().collect::<Vec<_>>().join(" ").contains(&sentence), "{said}");
        let card = std::fs::read_to_string(out.join("README.md")).unwrap();
        assert!(card.contains("No `tokenizer.json` can give the ids of B"), "{card}");
    }
}
