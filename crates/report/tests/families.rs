//! Families of languages on the page: the tree, the distances, and pages of several runs.

use crate::report::{force, whole};
use crate::synthetic::{self, Plan, Progress};
use invitro_report::data::FactorWords;
use invitro_report::{Error, ImageFormat, ReportOptions, build, data, gallery};
use invitro_results::{DistanceFrom, FamilyNode, FamilyTree};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A run's folder with the tree of three languages, C masked, and an ancestor.
fn with_family(folder: &Path) {
    let plan = Plan { languages: vec!["A", "B", "C"], ..Plan::one() };
    synthetic::run_folder(folder, &plan.configs()[0], &plan, Progress::Done);
    let node = |name: &str, parent: Option<&str>, measured: f64, spoken: bool| FamilyNode {
        name: name.into(),
        parent: parent.map(str::to_owned),
        spoken,
        asked: measured,
        from: DistanceFrom::Parent,
        measured,
        share: spoken.then_some(0.5),
        grammar: "svo".into(),
        script: 0,
        mask_share: 0.0,
        masked: if name == "C" { 8 } else { 0 },
    };
    let nodes = vec![
        node("A", None, 0.0, true),
        node("Old", None, 0.25, false),
        node("C", Some("Old"), 0.125, true),
        node("B", Some("Old"), 0.5, true),
    ];
    let matrix = vec![vec![0.0, 0.3, 0.6], vec![0.3, 0.0, 0.7], vec![0.6, 0.7, 0.0]];
    let tree = FamilyTree { nodes, stems: matrix.clone(), words: matrix, is_pair: false };
    fs::create_dir_all(folder.join("language")).unwrap();
    fs::write(folder.join("language/family.json"), tree.json()).unwrap();
}

#[test]
fn a_family_is_drawn_with_its_tree_and_its_distances() {
    let folder = tempfile::tempdir().unwrap();
    with_family(folder.path());
    let formats = ImageFormat::ALL.to_vec();
    build(folder.path(), &ReportOptions { formats, all_figures: true, ..force() }).unwrap();
    let place = folder.path().join("figures");
    let entries = fs::read_dir(&place).unwrap().flatten().map(|entry| entry.file_name().into_string().unwrap());
    let names: BTreeSet<String> = entries.filter(|name| name.starts_with("family")).collect();
    assert_eq!(names.len(), 6, "both widths, three formats: {names:?}");
    for (name, width) in [("family.page.svg", "160mm"), ("family.column.svg", "77mm")] {
        let svg = fs::read_to_string(place.join(name)).unwrap();
        whole(name, &svg, width);
        for part in [">C†<", ">Old<", ">0.70<", "50 %"] {
            assert!(svg.contains(part), "{part} in {name}: {svg}");
        }
        assert!(svg.contains("B is 0.50 from Old"), "told to those who cannot see: {svg}");
    }
    let csv = fs::read_to_string(place.join("data/family.csv")).unwrap();
    assert!(csv.contains(",A,B,pair,,0.6,0.6,"), "the matrix is in the order of the list: {csv}");
    assert!(csv.contains(",C,Old,parent,0.125,0.125,,0.5,svo,0,8"), "{csv}");
    let html = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(html.contains("The family of languages"));
    let study = data::Study::open(folder.path()).unwrap();
    let labels: Vec<String> = study.conditions().iter().map(|condition| condition.label()).collect();
    assert_eq!(labels, ["A", "C", "B", "C†", "B†"], "in the order of the list");
}

#[test]
fn the_pair_needs_no_family() {
    let folder = tempfile::tempdir().unwrap();
    let plan = Plan::one();
    synthetic::run_folder(folder.path(), &plan.configs()[0], &plan, Progress::Done);
    build(folder.path(), &force()).unwrap();
    assert!(!folder.path().join("figures/family.svg").exists());
}

#[test]
fn settings_of_languages_are_said_in_words() {
    let label = |key: &str, level: &str| data::Factor::new(key).with_level(level);
    assert_eq!(label("languages.B.distance", "0.3"), "distance of B = 0.3");
    assert_eq!(label("languages.C.share", "0.3"), "share of C = 0.3");
    assert_eq!(label("languages.C.script", "1"), "script of C = 1");
    assert_eq!(label("languages.C.grammar", "sov"), "word order of C = sov");
    assert_eq!(label("languages.L.copies", "4"), "copies of L = 4");
    assert_eq!(label("languages.B.spoken", "true"), "B spoken");
    assert_eq!(label("languages.B.spoken", "false"), "B not spoken");
    assert_eq!(label("tokenizer.vocab", "256"), "|*V*| = 256");
}

#[test]
fn a_gallery_shows_studies_and_runs_newest_first() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    synthetic::collected(&at("old & bold"), &Plan::small());
    synthetic::run_folder(&at("deep/er/run"), &Plan::one().configs()[0], &Plan::one(), Progress::Done);
    synthetic::run_folder(&at("runs/one"), &Plan::one().configs()[0], &Plan::one(), Progress::Running(3));
    fs::create_dir_all(at("deep/notes")).unwrap();
    fs::create_dir_all(at("broken")).unwrap();
    fs::write(at("broken/study.toml"), "").unwrap();
    fs::write(at("broken/runs.parquet"), "no table").unwrap();
    for file in ["runs.parquet", "metrics.parquet", "study.toml"] {
        let file = fs::File::options().append(true).open(at("old & bold").join(file)).unwrap();
        file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000)).unwrap();
    }
    let elsewhere = tempfile::tempdir().unwrap();
    let other = elsewhere.path().join("other");
    synthetic::collected(&other, &Plan::one());

    let shown = gallery(place.path(), &[], false).unwrap();
    assert_eq!((shown.studies, shown.runs, shown.reports), (1, 2, 3), "{shown:?}");
    assert!(shown.left_out.len() == 1 && shown.left_out[0].contains("runs.parquet"), "{:?}", shown.left_out);
    let html = fs::read_to_string(place.path().join("index.html")).unwrap();
    let cards: Vec<&str> = html.split("<article ").skip(1).collect();
    let runs = cards[..2].concat();
    assert!(runs.contains("<a href=\"deep/er/run/report.html\">run</a>") && runs.contains("Run · done"));
    assert!(runs.contains("<a href=\"runs/one/report.html\">one</a>") && runs.contains("Run · running"));
    let cards = &cards[1..];
    assert!(cards[1].contains("<a href=\"old%20%26%20bold/report.html\">old &amp; bold</a>"), "{}", cards[1]);
    assert!(cards[1].contains("Study · 64 runs · <time>2001-09-09</time>") && cards[1].contains("2 data seeds"));
    assert!(cards.iter().all(|card| card.contains("<svg ") && card.contains("class=\"said\"")));
    assert!(at("old & bold/report.html").exists() && at("deep/er/run/report.html").exists());
    assert!(!html.contains("http://") && !html.contains("https://") && !html.contains("src="));

    // What is there is kept without force; a folder from elsewhere brings its report along.
    assert!(matches!(gallery(place.path(), &[], false), Err(Error::Exists { .. })));
    let named = [at("deep/er/run"), other.clone(), other.clone()];
    let shown = gallery(place.path(), &named, true).unwrap();
    assert_eq!((shown.studies, shown.runs, shown.reports), (1, 1, 2), "{shown:?}");
    let html = fs::read_to_string(place.path().join("index.html")).unwrap();
    assert!(html.contains("<a href=\"reports/other.html\">other</a>") && at("reports/other.html").exists());
    assert!(!other.join("report.html").exists(), "nothing is written elsewhere");

    fs::write(place.path().join("index.html"), "my own page").unwrap();
    let error = gallery(place.path(), &[], true).unwrap_err();
    assert!(error.to_string().contains("was not written by invitro"), "{error}");
    let empty = tempfile::tempdir().unwrap();
    let error = gallery(empty.path(), &[], false).unwrap_err();
    assert!(error.to_string().contains("no folder below"), "{error}");
}
