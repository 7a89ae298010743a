//! `invitro config`: a file to start from, and the reference of all keys in `docs/config.md`.

use crate::common::{refused, stdout};
use serde_json::Value;

#[test]
fn what_is_printed_is_the_experiment() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("my.toml");
    let file = file.to_str().unwrap();
    let arguments = ["config", "language.distance=0.5", "train.lr=2e-4", "--seed", "3"];
    let printed = stdout(&arguments);
    std::fs::write(file, &printed).unwrap();
    // Complete: it is the same experiment over any preset.
    assert_eq!(stdout(&["config", "--preset", "paper", "--config", file]), printed);
    let line = printed.lines().find(|line| line.starts_with("distance")).unwrap();
    assert!(line.starts_with("distance = 0.5          # [paper: 0.25; 0 to 1] lexical distance"), "{line}");
    assert!(printed.contains("\nlr = 0.0002             # [paper: 1e-4; from 0] "), "{printed}");

    let json: Value = serde_json::from_str(&stdout(&[&arguments[..], &["--json"]].concat())).unwrap();
    assert_eq!((&json["language"]["distance"], &json["seeds"]["data"]), (&0.5.into(), &3.into()));
    assert!(refused(&["config", "language.distnace=0.5"]).contains("language.distance"));
}

#[test]
fn a_family_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let list = "languages = [{ name = \"A\" }, { name = \"B\", mask_share = 0.25 }]";
    std::fs::write(at("family.toml"), list).unwrap();
    let printed = stdout(&["config", "--config", &at("family.toml"), "languages.B.distance=0.5"]);
    assert!(printed.contains("\ndistance = 0.5          # [ours: a sibling's; 0 to 1] lexical distance"), "{printed}");
    std::fs::write(at("again.toml"), &printed).unwrap();
    assert_eq!(stdout(&["config", "--preset", "paper", "--config", &at("again.toml")]), printed);
}

#[test]
fn the_paper_is_printed_as_it_stands() {
    assert_eq!(stdout(&["config", "--preset", "paper"]), include_str!("../../../experiments/paper.toml"));
}

#[test]
fn the_reference_is_current() {
    let page = stdout(&["config", "--reference"]);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/config.md");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let is_current = std::fs::read_to_string(path).unwrap_or_default() == page;
    assert!(is_current, "docs/config.md is not what `invitro config --reference` prints: run with UPDATE_GOLDEN=1");
    let json: Vec<Value> = serde_json::from_str(&stdout(&["config", "--reference", "--json"])).unwrap();
    for key in json {
        assert!(page.contains(&format!("| `{}` |", key["key"].as_str().unwrap())), "{key}");
    }
}
