//! `invitro check`: a verdict a line, and an exit status a script can use.

use crate::common::*;
use serde_json::Value;

/// Good sentences of A, and each with a word gone wrong.
fn sentences() -> Vec<String> {
    let text = stdout(&["language", "sample", "-n", "20", "--config", tiny()]);
    text.lines().filter_map(|l| l.strip_prefix("A  ")).map(str::to_owned).collect()
}

fn check(input: &str, more: &[&str]) -> (Option<i32>, String) {
    let args = [&["check", "--language", "A", "--config", tiny()], more].concat();
    let output = with_input(&args, input.as_bytes());
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn good_sentences_pass_and_bad_ones_are_explained() {
    let good = sentences();
    let (code, out) = check(&good.join("\n"), &[]);
    assert_eq!(code, Some(0));
    assert!(out.lines().enumerate().all(|(i, line)| line == format!("{}\tok", i + 1)), "{out}");

    // A byte order mark is not text.
    assert_eq!(check(&format!("\u{feff}{}", good.join("\n")), &[]), (code, out));

    let bad = format!("{}\nnonsense {}\n\n{}\n", good[0], good[1], good[2].split_once(' ').unwrap().0);
    let (code, out) = check(&bad, &[]);
    assert_eq!(code, Some(1));
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "1\tok");
    assert_eq!(lines[1], "2\tnot valid: word 1 `nonsense` is not a word of A");
    assert_eq!(lines[2], "3\tnot valid: there are no words");
    assert!(lines[3].starts_with("4\tnot grammatical: "), "{out}");
}

#[test]
fn json_has_every_field() {
    let good = sentences();
    let (code, out) = check(&format!("{}\nnonsense", good[0]), &["--json"]);
    assert_eq!(code, Some(1));
    let rows: Vec<Value> = out.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let fields = ["line", "text", "valid", "grammatical", "types", "facts", "relation", "descriptor", "adjective"];
    for field in [&fields[..], &["adverb", "gamma", "words", "unknown", "failure", "symbols", "reason"]].concat() {
        assert!(rows.iter().all(|row| row.get(field).is_some()), "{field}");
    }
    assert_eq!(
        (&rows[0]["facts"], &rows[0]["failure"], &rows[0]["reason"]),
        (&true.into(), &Value::Null, &Value::Null)
    );
    assert_eq!(rows[1]["failure"]["kind"], "unknown_word");
    assert_eq!(rows[1]["symbols"], Value::Array(vec![Value::Null]));
    assert_eq!(rows[1]["unknown"], Value::Array(vec![0.into()]));
}

#[test]
fn text_that_is_not_utf8_is_refused() {
    let mut input = sentences()[0].clone().into_bytes();
    input.extend(b"\n\xff\xfe\n");
    let output = with_input(&["check", "--language", "A", "--config", tiny()], &input);
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.starts_with("error: line 2 of standard input is not UTF-8: "), "{error}");
}

#[test]
fn windows_line_ends_and_a_missing_last_one_do_not_matter() {
    let good = sentences();
    let (code, _) = check(&good.join("\r\n"), &[]);
    assert_eq!(code, Some(0));
    assert_eq!(check("", &[]), (Some(0), String::new()));
}

/// Under one's own grammar a sentence that is too long to be parsed is not called ungrammatical.
#[test]
fn a_sentence_that_is_too_long_is_not_checked() {
    let dir = tempfile::tempdir().unwrap();
    let grammar = dir.path().join("own.txt");
    std::fs::write(&grammar, "S -> NP 'descPreP' 'descV' [1.0]\nNP -> 'subjectID' [0.8] | NP 'conj' NP [0.2]\n")
        .unwrap();
    let grammar = format!("language.grammar={}", grammar.to_str().unwrap());
    let text = stdout(&["language", "sample", "-n", "20", "--config", tiny(), &grammar]);
    let sentence = text.lines().find_map(|line| line.strip_prefix("A  ")).unwrap();
    let (code, out) = check(&format!("{sentence}\n{}", format!("{sentence} ").repeat(2000)), &[&grammar]);
    assert_eq!(code, Some(1));
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "1\tok");
    assert!(lines[1].starts_with("2\tnot checked: the sentence has ") && lines[1].contains("at most 300"), "{out}");
}

#[test]
fn rows_that_expose_a_masked_word_are_legal() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("language");
    stdout(&["language", "export", "--out", out.to_str().unwrap(), "--config", tiny()]);
    let lexicon = std::fs::read_to_string(out.join("lexicon.tsv")).unwrap();
    let rows: Vec<Vec<&str>> = lexicon.lines().skip(1).map(|line| line.split('\t').collect()).collect();
    // Its form in A, in B, and whether B's is masked.
    let word = |masked: &str| rows.iter().find(|row| row[1] == "descriptor" && row[9] == masked).unwrap();
    let (masked, other) = (word("true"), word("false"));
    let check = |language: &str, word: &str, exposure: &str| {
        let exposure = format!("mixture.exposure={exposure}");
        let args = ["check", "--language", language, "--config", tiny(), &exposure, "mixture.exposures=4"];
        let output = with_input(&args, word.as_bytes());
        (output.status.code() == Some(0)).then(|| String::from_utf8(output.stdout).unwrap())
    };
    let legal = "1\tok: a masked word, shown without any fact (`mixture.exposure`)\n";
    assert_eq!(check("B", masked[6], "bare").as_deref(), Some(legal));
    assert_eq!(check("B", masked[6], "dictionary").as_deref(), Some(legal));
    assert_eq!(check("A", masked[5], "dictionary").as_deref(), Some(legal), "its translation");
    for (language, word, exposure) in
        [("B", masked[6], "none"), ("A", masked[5], "bare"), ("B", other[6], "bare"), ("B", other[6], "dictionary")]
    {
        assert_eq!(check(language, word, exposure), None, "{word} of {language} with {exposure}");
    }
}
