//! `compare`, `runs` and `report` over groups of runs, as a user calls them.

use crate::common::invitro;
use crate::run::{done, run};
use invitro_results::{State, Status};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::LazyLock;

/// Three data seeds at each of two distances, trained once for all tests: `near` and `far`.
static RUNS: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let place = tempfile::tempdir().unwrap();
    for (name, distance) in [("near", "language.distance=0.0"), ("far", "language.distance=0.5")] {
        let output = run(&place.path().join(name), &["train.steps=20", "seeds.data=0,1,2", distance]).output().unwrap();
        done(&output);
    }
    place
});

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() { copy(&path, &target) } else { assert!(std::fs::copy(&path, &target).is_ok()) }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn call(args: &[&str]) -> Output {
    let output = invitro(args).output().unwrap();
    done(&output);
    output
}

fn in_json(args: &[&str]) -> Value {
    serde_json::from_slice(&call(&[args, &["--json"]].concat()).stdout).unwrap()
}

fn listed(args: &[&str]) -> Vec<Value> {
    let output = call(&[&["runs"], args, &["--json"]].concat());
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn refused(args: &[&str], part: &str) {
    let output = invitro(args).output().unwrap();
    let error = text(&output.stderr);
    assert!(output.status.code() == Some(2) && error.lines().count() == 1 && error.contains(part), "{args:?}: {error}");
}

fn at(name: &str) -> String {
    RUNS.path().join(name).display().to_string()
}

fn shipped(study: &str) -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../results").join(study).display().to_string()
}

/// The values of a measure by data seed, out of the runs' own files.
fn by_seed(folder: &str, measure: &str) -> Vec<f64> {
    let mut rows = listed(&[folder]);
    rows.sort_by_key(|row| row["name"].as_str().unwrap().to_owned());
    rows.iter().map(|row| row["headline"]["B_masked"][measure].as_f64().unwrap()).collect()
}

/// Mean, and half of Student's interval with two degrees of freedom.
fn student(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / 3.0;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, 4.302_652_729_7 * (squares / 2.0 / 3.0).sqrt())
}

fn near(value: &Value, expected: f64) {
    let value = value.as_f64().unwrap();
    assert!((value - expected).abs() < 1e-6, "{value} and not {expected}");
}

#[test]
fn seeds_are_groups_with_means_intervals_and_paired_differences() {
    let (one, other) = (at("near"), at("far"));
    let told = in_json(&["compare", &one, &other]);
    let groups = told["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 2);
    assert_eq!(
        [&groups[0]["settings"], &groups[1]["settings"]].map(|it| it["language.distance"].as_f64()),
        [Some(0.0), Some(0.5)]
    );
    assert!(groups.iter().all(|group| group["data_seeds"] == 3 && group["runs"].as_array().unwrap().len() == 3));
    assert_eq!(told["differing"], json!(["language.distance"]));
    assert_eq!((&told["paired_data_seeds"], told["runs"].as_array().unwrap().len()), (&json!([3]), 6));
    // Nats have a plain scale: Student's interval over the seeds' values, and over their differences.
    let quantity = "reach.B_masked.network.facts.logprob";
    let values = [&one, &other].map(|folder| by_seed(folder, "contrast_nats"));
    for (values, mean) in values.iter().zip(told["measures"][quantity]["end"].as_array().unwrap()) {
        let (value, half) = student(values);
        near(&mean["value"], value);
        near(&mean["low"], value - half);
        near(&mean["high"], value + half);
    }
    let less: Vec<f64> = values[1].iter().zip(&values[0]).map(|(far, near)| far - near).collect();
    let (value, half) = student(&less);
    let difference = &told["differences"][quantity]["end"][0];
    near(&difference["value"], value);
    near(&difference["low"], value - half);
    near(&difference["high"], value + half);
    // The other way round, its sign is the other.
    let turned = in_json(&["compare", &other, &one]);
    near(&turned["differences"][quantity]["end"][0]["value"], -value);

    let said = text(&call(&["compare", &one, &other]).stdout);
    assert!(said.contains("group 2  3 runs, 3 data seeds  distance 0.5\n"), "{said}");
    assert_eq!(said.matches("\nfacts, nats B†").count(), 1, "{said}");
    assert!(said.contains("  difference\n") && said.contains("within the same seeds"), "{said}");
    let (table, _) = said.split_once("\n\ngrammatical to same words").unwrap();
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{said}");
    let peaks = text(&call(&["compare", &one, &other, "--at", "peak"]).stdout);
    assert!(peaks.contains("at the peak") && !peaks.contains("bits/character"), "{peaks}");
    // A folder of folders is the same.
    let whole = in_json(&["compare", RUNS.path().to_str().unwrap()]);
    assert_eq!(whole["differences"], told["differences"]);
}

#[test]
fn runs_that_differ_in_seeds_alone_are_one_group_and_too_few_have_no_interval() {
    let run = |name: &str, seed: usize| at(&format!("{name}/data{seed}-model0"));
    let told = in_json(&["compare", &run("near", 0), &run("near", 1), &run("near", 2)]);
    assert_eq!((told["groups"].as_array().unwrap().len(), &told["groups"][0]["data_seeds"]), (1, &json!(3)));
    assert_eq!(told["measures"], in_json(&["compare", &at("near")])["measures"]);
    let pair = ["compare", &run("near", 0), &run("far", 0)];
    let told = in_json(&pair);
    let difference = &told["differences"]["T1.B_masked.grammaticality"]["end"][0];
    assert!(difference["value"].is_number() && difference["low"].is_null(), "{difference}");
    let said = text(&call(&pair).stdout);
    assert_eq!(said.matches("fewer than 3 data seeds").count(), 1, "{said}");
    assert!(!said.contains('['), "{said}");
    // Other seeds: two samples, whose difference is that of their means.
    let told = in_json(&["compare", &run("near", 0), &run("far", 1), &run("far", 2)]);
    assert_eq!(told["paired_data_seeds"], json!([null]));
    let end = |group: usize| told["measures"]["loss.A.bits_per_char"]["end"][group]["value"].as_f64().unwrap();
    near(&told["differences"]["loss.A.bits_per_char"]["end"][0]["value"], end(1) - end(0));
    // The same run in two folders: two groups of the same settings, by their folders.
    let place = tempfile::tempdir().unwrap();
    copy(&RUNS.path().join("near"), &place.path().join("again"));
    let again = place.path().join("again").display().to_string();
    let told = in_json(&["compare", &at("near"), &again]);
    let names: Vec<&str> = told["groups"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["near", "again"]);
    near(&told["differences"]["loss.A.bits_per_char"]["end"][0]["value"], 0.0);
    // Runs of a folder that are not done are left out, and named.
    let stopped = place.path().join("again/data2-model0");
    let mut status = Status::read(&stopped).unwrap().unwrap();
    status.state = State::Stopped;
    status.files.clear();
    std::fs::remove_file(stopped.join("summary.json")).unwrap();
    status.write(&stopped).unwrap();
    let told = in_json(&["compare", &at("far"), &again]);
    assert_eq!(told["groups"][1]["data_seeds"], 2);
    assert!(told["notes"][0].as_str().unwrap().contains("not done"), "{}", told["notes"]);
    let empty = tempfile::tempdir().unwrap();
    refused(&["compare", &at("far"), empty.path().to_str().unwrap()], "there is no run in");
}

#[test]
fn studies_of_tables_alone_are_compared_and_filtered() {
    let facts = shipped("facts");
    let filter = "tokenizer.vocab = 512, mixture.lambda = 0.25, language.distance = [0, 0.5]";
    let told = in_json(&["compare", &facts, "--where", filter]);
    let groups = told["groups"].as_array().unwrap();
    assert_eq!(
        groups.iter().map(|it| (&it["name"], &it["data_seeds"])).collect::<Vec<_>>(),
        [(&json!("distance 0"), &json!(8)), (&json!("distance 0.5"), &json!(8))]
    );
    assert!(told["differences"]["reach.B_masked.network.facts.logprob"]["end"][0]["high"].is_number());
    // Beside runs in folders, which are other groups.
    let mixed = in_json(&[
        "compare",
        &at("near"),
        &facts,
        "--where",
        "language.distance = 0, tokenizer.vocab = { below = 300 }",
    ]);
    assert!(mixed["groups"].as_array().unwrap().len() > 1 && mixed["groups"][0]["data_seeds"] == 3);
    refused(&["compare", &facts, "--where", "tokenizer.size=3"], "no run has a setting `tokenizer.size`");
    refused(&["compare", &facts, "--where", "tokenizer.vocab=3"], "holds for none of");
    refused(&["compare", &facts, "--where", "512"], "KEY=VALUE");
    assert_eq!(listed(&[&facts, "--where", filter]).len(), 16);
}

#[test]
fn one_page_has_several_folders() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("both");
    let (one, other) = (at("near"), at("far"));
    let report = |more: &[&str]| {
        let args = [&["report", &one, &other, "--out", out.to_str().unwrap()][..], more].concat();
        invitro(&args).output().unwrap()
    };
    done(&report(&[]));
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    let table = page.find("contrast of facts, nats, B†").unwrap();
    let (settings, figure, glossary) = ["<code>language.distance</code> 0.5", "fig-compare", "id=\"glossary\""]
        .map(|part| page.find(part).unwrap())
        .into();
    assert!(settings < table && table < figure && figure < glossary);
    let csv = std::fs::read_to_string(out.join("figures/data/compare.csv")).unwrap();
    let row = csv.lines().find(|line| line.contains("T1 grammatical,B†,distance 0.5,20,")).unwrap();
    // The mean with its interval, of three runs.
    assert!(row.ends_with(",3") && row.split(',').count() >= 8, "{row}");
    // Again into its own folder: only its own files are there.
    done(&report(&[]));
    std::fs::write(out.join("figures/mine.svg"), "mine").unwrap();
    let kept = report(&[]);
    assert!(kept.status.code() == Some(2) && text(&kept.stderr).contains("--force"), "{kept:?}");
    assert!(out.join("figures/mine.svg").exists());
    refused(&["report", &at("near"), &at("far")], "--out DIR");
    refused(&["report", &at("near"), &at("far"), "--live"], "--live shows one folder");
}

#[test]
fn runs_are_listed_with_what_differs_and_sorted() {
    let root = RUNS.path().display().to_string();
    let rows = listed(&[&root]);
    assert_eq!(rows.len(), 6);
    assert_eq!(rows[0]["settings"], json!({ "language.distance": 0.5, "seeds.data": 0.0 }));
    assert!(["facts", "control", "grammar"].iter().all(|name| rows[0]["measures"][name].is_number()), "{}", rows[0]);
    assert_eq!(rows[0]["measures"]["facts"], rows[0]["headline"]["B_masked"]["contrast_nats"]);
    assert_eq!(rows[0]["measures"]["control"], rows[0]["headline"]["A"]["contrast_nats"]);
    let facts = |rows: &[Value]| rows.iter().map(|row| row["measures"]["facts"].as_f64().unwrap()).collect::<Vec<_>>();
    assert!(facts(&listed(&[&root, "--sort", "facts"])).is_sorted());
    assert!(facts(&listed(&[&root, "--sort", "-facts"])).iter().rev().is_sorted());
    let by_distance = listed(&[&root, "--sort", "language.distance"]);
    assert_eq!(by_distance[0]["settings"]["language.distance"], 0.0);
    assert_eq!(listed(&[&root, "--sort", "distance"]), by_distance, "a short name will do");
    assert_eq!(listed(&[&root, "--where", "language.distance = { above = 0.1 }"]).len(), 3);
    refused(
        &["runs", &root, "--sort", "size"],
        "the columns are run, state, step, distance, data, facts, control, grammar",
    );
    let said = text(&call(&["runs", &root]).stdout);
    let head = said.lines().next().unwrap();
    let heads: Vec<&str> = head.split_whitespace().collect();
    assert_eq!(heads, ["run", "state", "step", "distance", "data", "facts", "B†", "control", "A", "grammar", "B†"]);
    assert!(said.lines().nth(1).unwrap().contains("far/data0-model0    done    20       0.5     0"), "{said}");
}

#[test]
fn folders_without_runs_have_no_report_and_no_card() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    let base = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab/tests/common/tiny.toml");
    std::fs::create_dir(at("planned")).unwrap();
    let study = format!("name = \"planned\"\nbase = \"{base}\"\n[factors]\ntrain.lr = [1e-3, 2e-3]\n");
    std::fs::write(at("planned/study.toml"), study).unwrap();
    std::fs::create_dir_all(at("nothing/runs")).unwrap();
    for name in ["planned", "nothing"] {
        refused(&["report", at(name).to_str().unwrap()], "has begun: there is nothing to report");
        assert!(!at(name).join("report.html").exists() && !at(name).join("figures").exists());
    }
    // A gallery of these alone is none, and leaves nothing behind; beside others they are named.
    let (planned, gallery) = (at("planned").display().to_string(), at("gallery").display().to_string());
    refused(&["report", "--gallery", &gallery, &planned], "has no run that has begun");
    assert!(!at("gallery").exists());
    let run = RUNS.path().join("near/data0-model0").display().to_string();
    let shown = call(&["-q", "report", "--gallery", &gallery, &planned, &run]);
    assert!(text(&shown.stdout).contains("1 run; 1 report written"), "{shown:?}");
    assert!(text(&shown.stderr).contains("planned` has no run that has begun: it is left out"), "{shown:?}");
    assert!(!std::fs::read_to_string(at("gallery/index.html")).unwrap().contains("planned"));
    assert_eq!(std::fs::read_dir(at("gallery/reports")).unwrap().count(), 1);
}

#[test]
fn strange_words_are_named_before_their_scores() {
    let run = at("far/data0-model0");
    let sample = |language: &str| {
        let config = format!("{run}/config.toml");
        let lines = text(&call(&["language", "sample", "-n", "3", "--json", "--config", &config]).stdout);
        let one =
            |line: &str| serde_json::from_str::<Value>(line).unwrap()[language].as_str().unwrap().to_owned() + "\n";
        lines.lines().map(one).collect::<String>()
    };
    let score = |language: &str, given: &str| {
        let output = crate::common::with_input(&["score", &run, "--language", language, "--json"], given.as_bytes());
        done(&output);
        text(&output.stderr)
    };
    assert_eq!(score("B", &sample("B")), "");
    let warned = score("B", &sample("A"));
    let first = warned.lines().next().unwrap();
    assert!(first.starts_with("most words of the first lines, ") && first.contains("--language A has "), "{warned}");
    let warned = score("B", "the cat sat on the mat\n");
    assert!(warned.starts_with("most words of the first lines, 6 of 6, are not of B"), "{warned}");
}

#[test]
fn nothing_trained_is_said() {
    let place = tempfile::tempdir().unwrap();
    let output = run(&place.path().join("run"), &["train.steps=0"]).output().unwrap();
    done(&output);
    let said = text(&output.stderr);
    assert_eq!(said.matches("`train.steps` is 0: nothing is trained").count(), 1, "{said}");
}

#[test]
fn studies_that_share_a_store_keep_their_own_runs() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name).display().to_string();
    let base = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab/tests/common/tiny.toml");
    for (name, rates) in [("one", "[1e-3]"), ("two", "[1e-3, 2e-3]")] {
        let study = format!("name = \"{name}\"\nbase = \"{base}\"\n[factors]\ntrain.lr = {rates}\n");
        let file = at(&format!("{name}.toml"));
        std::fs::write(&file, study).unwrap();
        call(&["study", "run", &file, "--out", &at(name), "--runs", &at("store"), "--device", "cpu", "train.steps=10"]);
    }
    assert_eq!([listed(&[&at("one")]).len(), listed(&[&at("two")]).len(), listed(&[&at("store")]).len()], [1, 2, 2]);
    assert_eq!(in_json(&["compare", &at("one")])["groups"].as_array().unwrap().len(), 1);
    let told = in_json(&["compare", &at("two")]);
    assert_eq!(told["groups"][1]["settings"]["train.lr"], 2e-3);
}
