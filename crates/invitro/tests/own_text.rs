//! `invitro tokenizer measure` on texts and wordlists that are nobody's experiment.

use crate::common::*;
use serde_json::Value;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/own-text");

fn measure<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["tokenizer", "measure"], more].concat()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// What the commands write of our own languages measures the same when it is read back.
#[test]
fn our_own_languages_written_and_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    let (saved, written) = (path("tokenizer"), path("written"));
    let of = ["--config", tiny(), "tokenizer.vocab=150"];
    stdout(&[&["tokenizer", "train"], &of[..], &["--out", &saved]].concat());
    let whole = [&of[..], &["--sentences", "300", "--json"]].concat();
    let ours = json(&stdout(&measure(&[&whole[..], &["--write", &written]].concat())));
    assert!(refused(&measure(&[&whole[..], &["--write", &written]].concat())).contains("exists already; --force"));
    assert_eq!(listing(dir.path().join("written").as_path()), ["A.txt", "B.txt", "cognates.csv", "forms.csv"]);
    let texts = [format!("A={written}/A.txt"), format!("B={written}/B.txt")];
    let theirs = ["--tokenizer", &saved, "--text", &texts[0], "--text", &texts[1], "--wordlist", &written, "--json"];
    let counted = json(&stdout(&measure(&theirs)));
    let theirs = json(&stdout(&measure(&[&theirs[..], &["--without-marks"]].concat())));
    // By default every word has its boundary, a piece of its own.
    for language in ["A", "B"] {
        let [counted, theirs] = [&counted, &theirs].map(|all| all["text"]["languages"][language].clone());
        let pieces = |of: &Value| of["pieces"].as_u64().unwrap();
        assert_eq!(pieces(&counted), pieces(&theirs) + theirs["words"].as_u64().unwrap());
    }
    let same = |ours: &Value, theirs: &Value| {
        let (ours, theirs) = (ours.as_f64().unwrap(), theirs.as_f64().unwrap());
        assert!((ours - theirs).abs() < 1e-9, "{ours} {theirs}");
    };
    for name in ["words", "pieces", "fertility", "continuation", "one_piece", "renyi", "utilisation"] {
        for language in ["A", "B"] {
            same(&ours["text"][language][name], &theirs["text"]["languages"][language][name]);
        }
        for language in ["A", "B", "B_masked"] {
            same(&ours["lexicon"][language][name], &theirs["wordlist"]["languages"][language][name]);
        }
    }
    for name in ["overlap", "parity"] {
        same(&ours["text"][name], &theirs["text"]["pairs"][0][name]);
        same(&ours["lexicon"][name], &theirs["wordlist"]["pairs"][0][name]);
    }
}

/// A byte order mark, as Windows' editors write it, is not text.
#[test]
fn a_byte_order_mark_is_not_text() {
    let dir = tempfile::tempdir().unwrap();
    let saved = dir.path().join("tokenizer").display().to_string();
    stdout(&["tokenizer", "train", "--config", tiny(), "tokenizer.kind=byte", "--out", &saved]);
    let measured = |start: &str| {
        let file = dir.path().join("text.txt");
        std::fs::write(&file, format!("{start}a house\n")).unwrap();
        stdout(&measure(&["--tokenizer", &saved, "--text", &format!("en={}", file.display()), "--json"]))
    };
    assert_eq!(measured("\u{feff}"), measured(""));
}

#[test]
fn the_example_is_measured_for_people_and_for_programs() {
    let dir = tempfile::tempdir().unwrap();
    let saved = dir.path().join("tokenizer").display().to_string();
    // Bytes can say all of it.
    stdout(&["tokenizer", "train", "--config", tiny(), "tokenizer.kind=byte", "--out", &saved]);
    let texts = ["en", "de", "es", "tr"].map(|name| format!("{name}={EXAMPLE}/{name}.txt"));
    let mut given = vec!["--tokenizer", &saved, "--wordlist", EXAMPLE, "--fit"];
    texts.iter().for_each(|text| given.extend(["--text", text]));
    let said = stdout(&measure(&given));
    for part in
        ["Text, 20 parallel lines", "Gini coefficient", "Wordlist, 50 meanings", "lift", "eng and deu", "How far"]
    {
        assert!(said.contains(part), "{part} in {said}");
    }
    let said = json(&stdout(&measure(&["--wordlist", EXAMPLE, "--languages", "deu,nld,spa", "--fit", "--json"])));
    let d: Vec<f64> = (0..3).map(|i| said["distances"][i]["distance"].as_f64().unwrap()).collect();
    assert!(d[0] < d[1] && d[0] < d[2], "Dutch is nearer to German than Spanish is: {d:?}");
    assert!(said.get("vocab").is_none());
}

#[test]
fn what_cannot_be_measured_is_told() {
    let list = format!("{EXAMPLE}/forms.csv");
    let said = |more: &[&str]| refused(&measure(more));
    assert!(said(&["--wordlist", &list]).contains("name the tokenizer to be measured with --tokenizer"));
    assert!(
        said(&["--wordlist", &list, "--fit", "--preset", "paper"]).contains("of no experiment: leave out --preset")
    );
    assert!(said(&["--text", "en", "--tokenizer", "x"]).contains("--text is en, but must be NAME=FILE"));
    assert!(said(&["--text", "en=/none", "--tokenizer", "x"]).contains("`/none` cannot be read"));
    let no_tokenizer = said(&["--wordlist", &list, "--tokenizer", &list]);
    assert!(no_tokenizer.contains("no tokenizer.json of the tokenizers library"), "{no_tokenizer}");
}
