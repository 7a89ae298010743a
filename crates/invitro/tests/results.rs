//! The shipped results rebuild their reports, on a machine without a GPU.

use std::path::Path;
use std::process::Command;

/// They were measured before contrasts were taken over pairs of subjects.
#[test]
fn results_of_another_schema_are_refused() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("out");
    let mut command = Command::new(env!("CARGO_BIN_EXE_invitro"));
    command.args(["study", "run", "--device", "cpu", "--limit", "0", "--out"]).arg(&out);
    command.arg(root.join("experiments/studies/facts.toml"));
    command.arg("--with").arg(root.join("crates/report/tests/schema-1"));
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let told = concat!("0.1.0, schema 1; this is ", env!("CARGO_PKG_VERSION"), ", schema 4");
    assert!(!output.status.success() && said.contains(told), "{said}");
    assert!(!out.join("known").exists());
}

/// The same experiments have the same names as when these were run, by an older version.
#[test]
fn results_of_this_schema_are_continued() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let place = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_invitro"));
    command.args(["study", "run", "--device", "cpu", "--out"]).arg(place.path().join("out"));
    command.arg(root.join("experiments/studies/crossing.toml")).arg("--with").arg(root.join("results/crossing"));
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("0 cells done here; nothing is left to run"), "{output:?}");
}

#[test]
fn the_status_of_tables_alone_says_that_there_are_no_runs() {
    let tables = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/mix");
    let output = Command::new(env!("CARGO_BIN_EXE_invitro")).args(["study", "status"]).arg(tables).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("  done         18  ") && said.contains("only tables are here"),
        "{output:?}"
    );
}

#[test]
fn tables_alone_are_neither_collected_nor_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let place = tempfile::tempdir().unwrap();
    let files = ["study.toml", "runs.parquet", "metrics.parquet", "words.parquet"];
    for file in files {
        std::fs::copy(root.join("results/mix").join(file), place.path().join(file)).unwrap();
    }
    let (study, tables) = (root.join("experiments/studies/mix.toml"), place.path());
    let commands = [
        vec!["collect".as_ref(), tables.as_os_str()],
        vec!["run".as_ref(), tables.as_os_str()],
        vec!["run".as_ref(), study.as_os_str(), "--out".as_ref(), tables.as_os_str()],
    ];
    for command in commands {
        let output = Command::new(env!("CARGO_BIN_EXE_invitro")).arg("study").args(&command).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains("tables without the runs"), "{command:?}: {said}");
    }
    assert_eq!(std::fs::read_dir(tables).unwrap().count(), files.len());
    for file in files {
        assert_eq!(
            std::fs::read(tables.join(file)).unwrap(),
            std::fs::read(root.join("results/mix").join(file)).unwrap()
        );
    }
}

/// Figures in the pages: the study, its figure (a variant of it, `.page`), the file.
const FIGURES: [(&str, &str, &str); 10] = [
    ("budget", "trajectory", "figures/trajectory.svg"),
    ("converged", "trajectory", "figures/trajectory-converged.svg"),
    ("sharing", "arms", "figures/contrast-by-arm.svg"),
    ("facts", "contrast", "figures/contrast.svg"),
    ("forms", "forms", "figures/forms.svg"),
    ("inside", "patching", "figures/patching.svg"),
    ("cuts", "arms", "figures/contrast-by-cut.svg"),
    ("court", "methods", "figures/methods.svg"),
    ("readings", "specifications-all-claims.page", "figures/specifications.svg"),
    ("readings", "specifications-Masked-reachability-falls-as-V-grows.page", "figures/specifications-readings.svg"),
];

/// Those of the guide are of `crossing`.
const OF_CROSSING: [&str; 17] = [
    "answers",
    "bridge",
    "cascade",
    "contrast",
    "contrast-bridge",
    "dynamics",
    "effects",
    "emergence-by-language",
    "emergence-by-level",
    "fertility",
    "loss",
    "maxima",
    "nulls",
    "overlap",
    "reachability",
    "sentences",
    "specifications",
];

/// Those in the order of the paper's figures are of `paper`, at page width.
const OF_PAPER: [&str; 18] = [
    "bridge-share-of-targets-peak-any-unmasked-word.page",
    "continuation-vanilla.page",
    "dynamics-V-Bm-steps.page",
    "dynamics-regime-Bm-steps.page",
    "emergence-by-language-0.02-balanced.page",
    "emergence-by-language-0.02-vanilla.page",
    "emergence-by-level-0.02-V.page",
    "fertility-vanilla.page",
    "maxima-grammaticality-peak-2048-balanced.page",
    "maxima-grammaticality-peak-2048-vanilla.page",
    "maxima-reachability-share-of-targets-peak-2048-balanced.page",
    "maxima-reachability-share-of-targets-peak-2048-vanilla.page",
    "maxima-type-constraints-peak-2048-balanced.page",
    "maxima-type-constraints-peak-2048-vanilla.page",
    "overlap.page",
    "reachability-d-share-of-targets-steps.page",
    "reachability-lambda-any-target-steps.page",
    "reachability-lambda-share-of-targets-steps.page",
];

#[test]
fn reports_of_the_shipped_studies_are_rebuilt() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let place = tempfile::tempdir().unwrap();
    for (study, said) in [
        ("paper", "576 runs over 6 data seeds and 1 model seed; 576 ended"),
        ("readings", "252 runs over 3 data seeds and 1 model seed; 252 ended"),
        ("facts", "480 runs over 8 data seeds and 1 model seed; 480 ended"),
        ("crossing", "48 runs over 4 data seeds and 1 model seed; 48 ended"),
        ("budget", "24 runs over 3 data seeds and 1 model seed; 24 ended"),
        ("converged", "12 runs over 3 data seeds and 1 model seed; 12 ended"),
        ("sharing", "240 runs over 8 data seeds and 1 model seed; 240 ended"),
        ("sharing-paper", "6 runs over 3 data seeds and 1 model seed; 6 ended"),
        ("withheld", "96 runs over 8 data seeds and 1 model seed; 96 ended"),
        ("pivot", "96 runs over 8 data seeds and 1 model seed; 96 ended"),
        ("spelling", "24 runs over 3 data seeds and 1 model seed; 24 ended"),
        ("why", "15 runs of 18 planned over 3 data seeds and 1 model seed; 15 ended"),
        ("mix", "18 runs over 3 data seeds and 1 model seed; 18 ended"),
        ("forms", "64 runs over 8 data seeds and 1 model seed; 64 ended"),
        ("inside", "96 runs over 8 data seeds and 1 model seed; 96 ended"),
        ("exposure", "96 runs over 4 data seeds and 1 model seed; 96 ended"),
        ("cuts", "80 runs over 5 data seeds and 1 model seed; 80 ended"),
        ("dropout", "60 runs over 5 data seeds and 1 model seed; 60 ended"),
        ("laws", "64 runs over 8 data seeds and 1 model seed; 64 ended"),
        ("friends", "64 runs over 8 data seeds and 1 model seed; 64 ended"),
        ("kinds", "54 runs over 6 data seeds and 1 model seed; 54 ended"),
        ("transliteration", "64 runs over 4 data seeds and 1 model seed; 64 ended"),
        ("inside-long", "6 runs over 3 data seeds and 1 model seed; 6 ended"),
        ("overlap", "64 runs over 8 data seeds and 1 model seed; 64 ended"),
        ("clones", "32 runs over 8 data seeds and 1 model seed; 32 ended"),
        ("anchors", "56 runs over 8 data seeds and 1 model seed; 56 ended"),
        ("cutoff", "32 runs over 8 data seeds and 1 model seed; 32 ended"),
        ("bpe-dropout", "64 runs over 8 data seeds and 1 model seed; 64 ended"),
        ("swaps", "48 runs over 8 data seeds and 1 model seed; 48 ended"),
        ("early-transfer", "48 runs over 8 data seeds and 1 model seed; 48 ended"),
        ("court", "56 runs over 8 data seeds and 1 model seed; 56 ended"),
        ("morphology", "64 runs over 8 data seeds and 1 model seed; 64 ended"),
    ] {
        let out = place.path().join(study);
        let mut command = Command::new(env!("CARGO_BIN_EXE_invitro"));
        command.arg("report").arg(root.join("results").join(study)).arg("--out").arg(&out);
        let mut shown: Vec<(&str, String)> =
            FIGURES.iter().filter(|one| one.0 == study).map(|one| (one.1, one.2.to_owned())).collect();
        if study == "paper" {
            let file = |name: &str| format!("guide/figures/paper/{}.svg", name.trim_end_matches(".page"));
            shown.extend(OF_PAPER.iter().map(|name| (*name, file(name))));
        }
        if shown.iter().any(|(name, _)| name.ends_with(".page")) {
            command.arg("--all-figures");
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let page = std::fs::read_to_string(out.join("report.html")).unwrap();
        assert!(page.contains(said) && page.contains("H4") && page.len() < 15_000_000, "{study}");
        assert!(page.contains("seconds of training, of all runs"), "{study}");
        let figures = out.join("figures");
        assert!(figures.join("captions.md").exists());
        // Each of its claims has a panel by the cells that the claim names, and no claim hides another.
        if study == "cutoff" {
            let data = std::fs::read_to_string(figures.join("data/answers.csv")).unwrap();
            let panels = ["log-probability of a word", "share of words reachable", "contrast of a word"];
            assert!(panels.iter().all(|of| data.matches(&format!("\njump of the {of},")).count() == 4), "{data}");
        }
        if study == "crossing" {
            shown.extend(OF_CROSSING.iter().map(|name| (*name, format!("guide/figures/study-{name}.svg"))));
        }
        for (name, file) in shown {
            let drawn = std::fs::read(figures.join(format!("{name}.svg"))).unwrap();
            let file = root.join("docs").join(file);
            if std::env::var_os("UPDATE_GOLDEN").is_some() {
                std::fs::write(&file, &drawn).unwrap();
            }
            let shown = std::fs::read(&file).unwrap_or_default();
            assert!(shown == drawn, "{} is not what the report draws (UPDATE_GOLDEN=1 writes it anew)", file.display());
        }
    }
}
