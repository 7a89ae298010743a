//! The numbers of docs/findings.md, of the README's findings and of the guide are those of the tables in results/, and the
//! studies there have the claims of their study files.

use invitro_report::claims::template::fill;
use invitro_results::Plan;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn every_number_of_the_findings_is_that_of_the_tables() {
    for page in fill(&root().join("docs/findings.toml")).unwrap_or_else(|why| panic!("{why}")) {
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&page.path, &page.text).unwrap();
        }
        let there = std::fs::read_to_string(&page.path).unwrap();
        assert!(there == page.text, "{}: UPDATE_GOLDEN=1 or `invitro findings` writes it", page.path.display());
    }
}

/// Numbers are in places: what a template says by itself are settings, years of papers and such.
#[test]
fn templates_type_no_results() {
    let settings = [
        "0", "0.05", "0.1", "0.25", "0.5", "0.75", "1", "256", "512", "1024", "2048", "4096", "8192", "0.01", "0.02",
        "0.62", "0.4", "95", "2", "3", "4", "5",
    ];
    for template in ["docs/findings.md.in", "docs/readme-findings.md.in"] {
        let text = std::fs::read_to_string(root().join(template)).unwrap();
        let outside: String =
            text.split("{{").map(|part| part.split_once("}}").map_or(part, |(_, after)| after)).collect();
        let outside = outside.split('`').step_by(2).collect::<Vec<_>>().join(" ");
        // What a tag says is no text.
        let outside: String =
            outside.split('<').map(|part| part.split_once('>').map_or(part, |(_, after)| after)).collect();
        let words = outside.split(|letter: char| letter.is_whitespace() || "()|,;:[]→".contains(letter));
        for word in words.map(|word| word.trim_matches(|letter: char| !letter.is_ascii_alphanumeric())) {
            let is_number = word.starts_with(|letter: char| letter.is_ascii_digit());
            assert!(!is_number || settings.contains(&word), "{template}: {word}");
        }
    }
}

/// A place that names nothing, or an estimate that nobody uses, is an error that names it.
#[test]
fn templates_say_what_is_wrong_with_them() {
    let folder = tempfile::tempdir().unwrap();
    let results = root().join("results").canonicalize().unwrap();
    let wrong = |template: &str, estimates: &str| {
        let file = folder.path().join("pages.toml");
        let pages = "[[pages]]\ntemplate = \"in.md\"\npage = \"out.md\"";
        std::fs::write(&file, format!("results = {results:?}\n{pages}\n[crossing]\n{estimates}")).unwrap();
        std::fs::write(folder.path().join("in.md"), template).unwrap();
        fill(&file).map(|pages| pages[0].text.clone()).map_err(|why| why.to_string())
    };
    let known = "a = { mean = \"contrast.facts\", in = \"A\", by = [\"tokenizer.vocab\"] }";
    assert_eq!(wrong("{{crossing.a:value}} of {{crossing:ended}}", known).unwrap(), "3.29 of 48");
    for (template, estimates, why) in [
        ("{{crossing.b}}", known, "{{crossing.b}}: no estimate or claim is called `b`"),
        ("{{budget.a}}", known, "{{budget.a}}: there is no study `budget`"),
        ("{{crossing.a@3}}", known, "{{crossing.a@3}}: it has no levels 3"),
        ("{{crossing.a:size}}", known, "{{crossing.a:size}}: `size` is no format"),
        ("", known, "crossing.a is on no page and has no verdict to check"),
        (
            "",
            "a = { mean = \"contrast.facts\", expect = \"below 0\", verdict = \"supported\" }",
            "crossing.a is contradicted, and the text takes it to be supported: 0.21",
        ),
        ("", "a = { maen = \"contrast.facts\" }", "the claim `a`: `estimate`: has the keys maen"),
    ] {
        let got = wrong(template, estimates).unwrap_err();
        assert!(got.contains(why), "{got}");
    }
}

/// Tables that are shipped carry the claims of the study files they were made from.
#[test]
fn shipped_studies_have_the_claims_of_their_files() {
    for entry in std::fs::read_dir(root().join("results")).unwrap().flatten().filter(|entry| entry.path().is_dir()) {
        let shipped = Plan::open(&entry.path()).unwrap().unwrap();
        let own = root().join("experiments/studies").join(entry.file_name()).with_extension("toml");
        let replication = root().join("experiments/replications").join(entry.file_name()).join("study.toml");
        let file = if own.exists() { own } else { replication };
        let text = std::fs::read_to_string(&file).unwrap();
        let own = invitro_results::claims::Claims::parse(&text).unwrap();
        assert!(own.question.is_some() && !own.claims.is_empty(), "{}", file.display());
        assert_eq!(shipped.claims(), Some(own), "{}", file.display());
    }
}
