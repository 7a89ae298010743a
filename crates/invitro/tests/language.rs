//! `invitro language`: pinned bytes, stable columns, and what a person sees.

use crate::common::*;
use std::collections::HashMap;

fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}

#[test]
fn the_export_is_pinned_byte_for_byte() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    stdout(&["language", "export", "--config", tiny(), "--out", out.to_str().unwrap()]);
    assert_eq!(listing(&out), ["README.md", "grammar.txt", "lexicon.tsv", "world.json"]);
    for name in ["lexicon.tsv", "world.json"] {
        is_golden(name, &std::fs::read(out.join(name)).unwrap());
    }
    assert_eq!(listing(dir.path()), ["out"], "nothing is left beside it");
}

#[test]
fn the_papers_export_is_pinned_and_the_same_on_one_and_two_threads() {
    let dir = tempfile::tempdir().unwrap();
    let hashes = ["1", "2"].map(|threads| {
        let out = dir.path().join(threads);
        let args = ["language", "export", "--preset", "paper", "--seed", "0", "--out", out.to_str().unwrap()];
        // The presets' own values are pinned here: a change to them is a change of every result.
        assert!(invitro(&args).env("RAYON_NUM_THREADS", threads).output().unwrap().status.success());
        ["lexicon.tsv", "world.json"].map(|name| format!("{:016x}", fnv(&std::fs::read(out.join(name)).unwrap())))
    });
    assert_eq!(hashes[0], hashes[1]);
    is_golden("paper.txt", (hashes[0].join("\n") + "\n").as_bytes());
}

#[test]
fn the_lexicon_has_the_columns_programs_read() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    stdout(&["language", "export", "--config", tiny(), "--out", out.to_str().unwrap()]);
    let text = std::fs::read_to_string(out.join("lexicon.tsv")).unwrap();
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let columns =
        ["symbol", "category", "class", "property", "value", "form_A", "form_B", "stem_A", "stem_B", "masked"];
    assert_eq!(head, columns);
    let mut count: HashMap<&str, usize> = HashMap::new();
    let mut masked = 0;
    for line in lines {
        let row: HashMap<&str, &str> = head.iter().copied().zip(line.split('\t')).collect();
        assert_eq!(row.len(), columns.len());
        *count.entry(row["category"]).or_default() += 1;
        assert_eq!(row["property"].is_empty(), row["category"] != "descriptor");
        assert!(row["form_A"].contains(row["stem_A"]) && row["form_B"].contains(row["stem_B"]));
        masked += usize::from(row["masked"] == "true");
    }
    assert_eq!((count["noun"], count["name"], count["descriptor"]), (6, 2, 30));
    assert_eq!(masked, 8);
    let world: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(out.join("world.json")).unwrap()).unwrap();
    assert_eq!(world["masked"].as_array().unwrap().len(), 8);
    assert_eq!(world["properties"][0]["valid"].as_array().unwrap().len(), 2);
}

#[test]
fn samples_are_pinned_and_pass_the_check() {
    let plain = stdout(&["language", "sample", "-n", "6", "--config", tiny()]);
    let gloss = stdout(&["language", "sample", "-n", "3", "--gloss", "--config", tiny()]);
    is_golden("sample.txt", format!("{plain}\n{gloss}").as_bytes());
    for language in ["A", "B"] {
        let head = format!("{language}  ");
        let lines: Vec<&str> = plain.lines().filter_map(|l| l.strip_prefix(&head)).collect();
        assert_eq!(lines.len(), 6);
        let output = with_input(&["check", "--language", language, "--config", tiny()], lines.join("\n").as_bytes());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    let json = stdout(&["language", "sample", "-n", "6", "--json", "--config", tiny()]);
    for (line, text) in json.lines().zip(plain.lines().filter(|l| l.starts_with("A  "))) {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(format!("A  {}", row["A"].as_str().unwrap()), text);
        assert_eq!(row["symbols"].as_array().unwrap().len(), text.split(' ').count() - 2);
    }
}

#[test]
fn show_has_everything_a_researcher_looks_for() {
    let page = stdout(&["language", "show", "--preset", "paper"]);
    for part in [
        "18843: 800 nouns, 100 names, 17800 descriptors (445 properties × 40 values)",
        "distance   0.25 asked; stems 0.250",
        "4450 of 17800 descriptors withheld from B",
        "Letters, most frequent first",
        "Affixes",
        "Dictionary",
        "Sentences",
        "gloss",
    ] {
        assert!(page.contains(part), "{part} is missing:\n{page}");
    }
    let figures: serde_json::Value =
        serde_json::from_str(&stdout(&["language", "show", "--json", "language.distance=0.5"])).unwrap();
    assert!((figures["stem_distance"]["relative"].as_f64().unwrap() - 0.5).abs() < 0.02);
}

#[test]
fn seeds_and_overrides_reach_the_language() {
    let sample = |args: &[&str]| stdout(&[&["language", "sample", "-n", "2", "--config", tiny()], args].concat());
    assert_eq!(sample(&["--seed", "3"]), sample(&["seeds.data=3"]));
    assert_ne!(sample(&["--seed", "3"]), sample(&["--seed", "4"]));
    assert_ne!(sample(&["language.grammar=sov"]), sample(&[]));
}

#[test]
fn a_family_is_shown_with_its_tree_and_all_its_words() {
    let dir = tempfile::tempdir().unwrap();
    let (family, svg) = (tiny_family(dir.path()), dir.path().join("family.svg"));
    let page = stdout(&["language", "show", "--config", &family, "--svg", svg.to_str().unwrap()]);
    let line =
        |start: &str| page.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start}: {page}"));
    assert!(page.starts_with("Three languages over one world"), "{page}");
    assert!(line("  ├─ A").split_whitespace().eq(["├─", "A", "0.000", "0", "0.500", "svo", "0"]), "{page}");
    assert!(line("  └─ (Old)").ends_with("  0.3"), "{page}");
    let of_c: Vec<&str> = line("     └─ C").split_whitespace().collect();
    assert_eq!((of_c[1], &of_c[3..]), ("C", &["0.3", "0.250", "sov", "1", "8"][..]), "{page}");
    assert!((of_c[2].parse::<f64>().unwrap() - 0.3).abs() < 0.02, "as it was asked: {page}");
    for part in ["In brackets: without text.", "sov (C),", "Distances of stems, measured", "withheld from C"] {
        assert!(page.contains(part), "{part} is missing:\n{page}");
    }
    let head = page.lines().position(|line| line.starts_with("Dictionary")).unwrap() + 1;
    assert!(page.lines().nth(head).unwrap().split_whitespace().eq(["A", "B", "C"]), "{page}");
    // The sentence of C has a gloss of its own, in its own order.
    let glosses = |line: &&str| line.starts_with("gloss");
    assert!(page.lines().filter(glosses).count() >= 8, "{page}");
    let picture = std::fs::read_to_string(&svg).unwrap();
    assert!(picture.contains(">C†<") && picture.contains(">Old<") && picture.contains("script 1"), "{picture}");
    assert!(refused(&["language", "show", "--config", &family, "--svg", "x.png"]).contains("must end in .svg"));

    let json: serde_json::Value =
        serde_json::from_str(&stdout(&["language", "show", "--json", "--config", &family])).unwrap();
    let stems = |one: usize, other: usize| json["family"]["stems"][one][other].as_f64().unwrap();
    assert!(page.contains(&format!("{:.3}", stems(0, 2))), "{page}");
    assert_eq!(stems(0, 2), stems(2, 0));
    assert_eq!(json["family"]["nodes"][1]["spoken"], false);
    assert_eq!(json["languages"]["C"]["grammar"], "sov");
    assert_eq!(json["languages"]["C"]["masked"], 8);
    assert!(json.get("stem_distance").is_none(), "there is more than one");
}

#[test]
fn a_masked_word_is_starred_where_it_is_masked() {
    let dir = tempfile::tempdir().unwrap();
    let family = tiny_family(dir.path());
    let out = dir.path().join("out");
    stdout(&["language", "export", "--config", &family, "--out", out.to_str().unwrap()]);
    let world: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(out.join("world.json")).unwrap()).unwrap();
    let masks = |language: &str| world["masks"][language].as_array().unwrap().clone();
    let page = stdout(&["language", "show", "--config", &family]);
    let rows = page.lines().skip_while(|line| !line.starts_with("Dictionary")).skip(2);
    let mut seen = 0;
    for row in rows.take_while(|line| !line.is_empty()) {
        let cells: Vec<&str> = row.split_whitespace().collect();
        let [.., symbol, a, b, c] = cells[..] else { panic!("{row}") };
        assert!(!a.ends_with('*'));
        for (form, language) in [(b, "B"), (c, "C")] {
            assert_eq!(form.ends_with('*'), masks(language).contains(&symbol.into()), "{row}");
            seen += usize::from(form.ends_with('*'));
        }
    }
    assert!(seen > 0, "{page}");
}

#[test]
fn a_family_is_exported_and_sampled_whole() {
    let dir = tempfile::tempdir().unwrap();
    let family = tiny_family(dir.path());
    let out = dir.path().join("out");
    let export = ["language", "export", "--config", &family, "--force", "--out", out.to_str().unwrap()];
    stdout(&export);
    stdout(&export);
    assert_eq!(listing(&out), ["README.md", "grammar.C.txt", "grammar.txt", "lexicon.tsv", "world.json"]);
    let readme = std::fs::read_to_string(out.join("README.md")).unwrap();
    for part in ["# A family of 3 languages", "form_A, form_B, form_C", "masked_B, masked_C", "grammar.C.txt"] {
        assert!(readme.contains(part), "{part} is missing:\n{readme}");
    }
    assert!(!readme.contains('{'), "{readme}");
    let plain = stdout(&["language", "sample", "-n", "6", "--config", &family]);
    for language in ["A", "B", "C"] {
        let head = format!("{language}  ");
        let lines: Vec<&str> = plain.lines().filter_map(|line| line.strip_prefix(&head)).collect();
        assert_eq!(lines.len(), 6);
        let output = with_input(&["check", "--language", language, "--config", &family], lines.join("\n").as_bytes());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    let gloss = stdout(&["language", "sample", "-n", "3", "--gloss", "--config", &family]);
    assert!(gloss.lines().filter(|line| line.starts_with("gloss")).count() >= 6, "{gloss}");
    let json = stdout(&["language", "sample", "-n", "40", "--json", "--config", &family]);
    let rows: Vec<serde_json::Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(rows.iter().all(|row| row["masked"] == !row["masked_in"].as_array().unwrap().is_empty()));
    assert!(rows.iter().any(|row| row["masked_in"] == serde_json::json!(["C"])), "{json}");
}
