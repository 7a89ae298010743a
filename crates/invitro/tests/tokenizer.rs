//! `invitro tokenizer`: the same bytes everywhere, tables that can be read, and refusals in a sentence.

use crate::common::*;
use serde_json::Value;

const VOCAB: &str = "tokenizer.vocab=150";

fn tokenizer<'a>(command: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["tokenizer", command, "--config", tiny(), VOCAB], more].concat()
}

#[test]
fn training_is_pinned_and_the_same_on_one_and_two_threads() {
    let dir = tempfile::tempdir().unwrap();
    for kind in ["bpe", "unigram", "wordpiece", "character", "byte"] {
        let setting = format!("tokenizer.kind={kind}");
        let bytes = ["1", "2"].map(|threads| {
            let out = dir.path().join(format!("{kind}{threads}"));
            // So small a world has few pieces that a unigram model would keep.
            let args =
                tokenizer("train", &[&setting, "tokenizer.allow_shortfall=true", "--out", out.to_str().unwrap()]);
            let output = invitro(&args).env("RAYON_NUM_THREADS", threads).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            assert_eq!(listing(&out), ["special_tokens_map.json", "tokenizer.json", "tokenizer_config.json"]);
            std::fs::read(out.join("tokenizer.json")).unwrap()
        });
        assert!(bytes[0] == bytes[1], "{kind} depends on the number of threads");
        if kind == "bpe" {
            is_golden("tokenizer.json", &bytes[0]);
        }
    }
}

#[test]
fn measures_for_people_and_for_programs() {
    let text = stdout(&tokenizer("measure", &[]));
    assert!(text.starts_with("bpe vanilla, |V| 150, boundary token"), "{text}");
    assert!(text.contains("fertility") && text.contains("parity, A over B"), "{text}");
    let json: Value = serde_json::from_str(&stdout(&tokenizer("measure", &["--json"]))).unwrap();
    let fertility = json["text"]["B_masked"]["fertility"].as_f64().unwrap();
    assert!(text.contains(&format!("{fertility:.3}")), "{fertility} in {text}");
    assert_eq!(json["vocab"], 150);
    assert!(json["lexicon"]["overlap"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_trained_tokenizer_measures_like_one_trained_on_the_spot() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("t");
    let out = out.to_str().unwrap();
    stdout(&tokenizer("train", &["--out", out]));
    let there = stdout(&tokenizer("measure", &["--tokenizer", out, "--json"]));
    assert_eq!(there, stdout(&tokenizer("measure", &["--json"])));

    let file = format!("tokenizer.file={out}/tokenizer.json");
    let own =
        |command, more: &[&'static str]| stdout(&[&["tokenizer", command, "--config", tiny(), &file], more].concat());
    let text = own("measure", &[]);
    assert!(text.starts_with("files/tokenizer-") && text.contains(".json, |V| 150, boundary token"), "{text}");
    let numbers = |text: &str| -> Value {
        let mut json: Value = serde_json::from_str(text).unwrap();
        json["tokenizer"] = Value::Null;
        json
    };
    assert_eq!(numbers(&own("measure", &["--json"])), numbers(&there));
    assert!(own("bridges", &[]).contains(".json, |V| 150"));
    let nothing = refused(&["tokenizer", "train", "--config", tiny(), &file, "--out", "none"]);
    assert!(nothing.contains("`tokenizer.file` is a tokenizer that is there"), "{nothing}");

    assert!(refused(&tokenizer("train", &["--out", out])).contains("exists already; --force replaces it"));
    stdout(&tokenizer("train", &["--out", out, "--force"]));
    let other = refused(&tokenizer("measure", &["--tokenizer", out, "--seed", "9"]));
    assert!(other.contains("the tokenizer was trained on another language"), "{other}");
    let boundary = refused(&tokenizer("bridges", &["--tokenizer", out, "tokenizer.boundary=last"]));
    assert!(boundary.contains("word boundary as `token`, but `tokenizer.boundary` is last"), "{boundary}");
    std::fs::write(dir.path().join("t/tokenizer.json"), "{\"version\": \"1.0\"").unwrap();
    let damaged = refused(&tokenizer("measure", &["--tokenizer", out]));
    assert!(damaged.contains("is not a tokenizer of invitro"), "{damaged}");
}

#[test]
fn an_arm_is_written_as_a_table_and_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let [plain, arm] = ["plain", "arm"].map(|name| dir.path().join(name).to_str().unwrap().to_owned());
    let none = ["tokenizer.share=none", "tokenizer.cut=apart"];
    stdout(&tokenizer("train", &["--out", &plain]));
    stdout(&tokenizer("train", &[&none[..], &["--out", &arm]].concat()));
    let [one, other] = [&plain, &arm].map(|folder| std::fs::read(format!("{folder}/tokenizer.json")).unwrap());
    assert_eq!(one, other, "the tokenizer itself is the one before the intervention");
    let table = std::fs::read_to_string(format!("{arm}/segmentation.tsv")).unwrap();
    assert!(table.starts_with("language\tsymbol\tform\tids\tpieces\n") && table.contains(":B"), "{table}");
    let there = stdout(&tokenizer("measure", &["--tokenizer", &arm]));
    assert!(there.contains(", share none, cut apart,"), "{there}");
    assert_eq!(there, stdout(&tokenizer("measure", &none)));
    let [before, after] = [&plain, &arm].map(|folder| -> Value {
        serde_json::from_str(&stdout(&tokenizer("measure", &["--tokenizer", folder, "--json"]))).unwrap()
    });
    assert_eq!(after["text"]["overlap"].as_f64(), Some(0.0));
    assert_eq!(after["text"]["B"]["fertility"], before["text"]["B"]["fertility"]);
    stdout(&tokenizer("train", &["--out", &arm, "--force"]));
    assert!(!std::path::Path::new(&format!("{arm}/segmentation.tsv")).exists(), "what is replaced is gone");
}

#[test]
fn bridges_have_a_row_per_masked_word() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).display().to_string();
    let (tsv, parquet) = (at("b.tsv"), at("b.parquet"));
    let text = stdout(&tokenizer("bridges", &["--out", &tsv]));
    assert!(text.contains("Jaccard") && text.contains("0.9 to 1.0"), "{text}");
    let means: Value = serde_json::from_str(&stdout(&tokenizer("bridges", &["--json", "--out", &parquet]))).unwrap();
    let rows = std::fs::read_to_string(&tsv).unwrap();
    let mut lines = rows.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let place = |name: &str| head.iter().position(|h| *h == name).unwrap();
    let rows: Vec<Vec<&str>> = lines.collect();
    assert_eq!(rows.len() as u64, means["masked"].as_u64().unwrap());
    let number = |row: &Vec<&str>, name| row[place(name)].parse::<f64>().unwrap();
    for row in &rows {
        assert_eq!(row[place("pieces_B")].replace(' ', ""), row[place("form_B")]);
        assert_eq!(row[place("bridge_pieces")].replace(' ', ""), row[place("bridge_form")]);
        assert_ne!(row[place("bridge_form")], row[place("form_B")]);
        assert!(number(row, "bridge") <= number(row, "bridge_dice"));
    }
    let mean = rows.iter().map(|row| number(row, "bridge")).sum::<f64>() / rows.len() as f64;
    assert!((mean - means["bridge"]["jaccard"].as_f64().unwrap()).abs() < 1e-9);
    assert!(std::fs::read(parquet).unwrap().starts_with(b"PAR1"));
    assert!(refused(&tokenizer("bridges", &["--out", "x.csv"])).contains("`x.csv` must end in .tsv or .parquet"));
}

#[test]
fn tables_of_paired_sentences_are_written() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["t.svg", "t.html", "t.tex"] {
        let path = dir.path().join(name);
        stdout(&tokenizer("table", &["-n", "5", "--out", path.to_str().unwrap()]));
        assert!(std::fs::read_to_string(path).unwrap().len() > 1000, "{name}");
    }
    assert!(refused(&tokenizer("table", &["--out", "t.pdf"])).contains("`t.pdf` must end in .svg, .html or .tex"));
}

#[test]
fn vocabularies_that_cannot_be() {
    for (setting, says) in [
        ("tokenizer.vocab=20", "`tokenizer.vocab` is 20, but must be at least"),
        ("tokenizer.vocab=100000", "sentences fill only"),
        ("tokenizer.kind=bpd", "bpd"),
        ("tokenizer.regime=fair", "fair"),
    ] {
        let error = refused(&["tokenizer", "measure", "--config", tiny(), setting]);
        assert!(error.contains(says), "{setting}: {error}");
    }
    let text = stdout(&[
        "tokenizer",
        "measure",
        "--config",
        tiny(),
        "tokenizer.vocab=100000",
        "tokenizer.allow_shortfall=true",
    ]);
    assert!(text.contains("fewer than asked"), "{text}");
}

#[test]
fn families_have_bridges_measures_and_tables_between_all_languages() {
    let dir = tempfile::tempdir().unwrap();
    let family = tiny_family(dir.path());
    let command = |command: &'static str, more: &[&str]| -> Vec<String> {
        let all = [&["tokenizer", command, "--config", family.as_str(), VOCAB], more].concat();
        all.into_iter().map(str::to_owned).collect()
    };
    let refused = |args: Vec<String>| refused(&args.iter().map(String::as_str).collect::<Vec<_>>());
    let stdout = |args: Vec<String>| stdout(&args.iter().map(String::as_str).collect::<Vec<_>>());
    let several = refused(command("bridges", &[]));
    assert!(several.contains("several languages have masked words: choose one of B, C with --language"), "{several}");
    let none = refused(command("bridges", &["--language", "A"]));
    assert!(none.contains("A has no masked words: --language must be one of B, C"), "{none}");

    let tsv = dir.path().join("b.tsv");
    let text = stdout(command("bridges", &["--language", "C", "--out", tsv.to_str().unwrap()]));
    assert!(text.contains("8 masked words of C") && text.contains("nearest cognate"), "{text}");
    let means: Value = serde_json::from_str(&stdout(command("bridges", &["--language", "C", "--json"]))).unwrap();
    // Another script has no piece in common.
    assert_eq!(means["with"]["A"]["cognate_bridge"]["jaccard"], 0.0);
    assert!(means["with"]["C"]["bridge"]["jaccard"].as_f64().unwrap() > 0.0);
    assert!(means["with"]["C"].get("cognate_bridge").is_none());
    let rows = std::fs::read_to_string(&tsv).unwrap();
    let head: Vec<&str> = rows.lines().next().unwrap().split('\t').collect();
    for name in ["form_C", "pieces_A", "bridge", "bridge_A", "cognate_bridge_B"] {
        assert!(head.contains(&name), "{name}: {head:?}");
    }
    assert_eq!(rows.lines().count(), 9);
    assert!(rows.lines().all(|line| line.split('\t').count() == head.len()));

    let measured = stdout(command("measure", &["--sentences", "100"]));
    assert!(measured.contains("  overlap      A      B      C"), "{measured}");
    assert!(measured.contains("parity, row over column") && measured.contains("C†"), "{measured}");

    let svg = dir.path().join("t.svg");
    for name in ["t.svg", "t.html", "t.tex"] {
        stdout(command("table", &["-n", "3", "--out", dir.path().join(name).to_str().unwrap()]));
    }
    let picture = std::fs::read_to_string(svg).unwrap();
    assert!(picture.contains(">in several<") && picture.contains(">C only<"), "{picture}");
}
