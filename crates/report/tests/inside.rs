//! Figures of what is measured inside the models.

use crate::synthetic::{self, Plan, Progress};
use invitro_report::{ReportOptions, build};
use std::fs;
use std::path::Path;

fn page(folder: &Path) -> String {
    build(folder, &ReportOptions { force: true, ..ReportOptions::default() }).unwrap();
    fs::read_to_string(folder.join("report.html")).unwrap()
}

/// The cells of a figure's table, row by row.
fn table(folder: &Path, figure: &str) -> Vec<Vec<String>> {
    let csv = fs::read_to_string(folder.join(format!("figures/data/{figure}.csv"))).unwrap();
    csv.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn a_study_shows_layers_patches_and_alignments() {
    let folder = tempfile::tempdir().unwrap();
    let plan = Plan { inside: true, distances: vec![0.0, 0.25], data_seeds: 3, words: 30, ..Plan::arms() };
    synthetic::collected(folder.path(), &plan);
    let page = page(folder.path());
    for figure in ["inside", "patching", "word-alignment"] {
        assert!(page.contains(&format!("id=\"fig-{figure}\"")), "{figure}");
    }
    let rows = table(folder.path(), "patching");
    let column = |name: &str| rows[0].iter().position(|cell| cell == name).unwrap_or_else(|| panic!("{:?}", rows[0]));
    let [form, donor, position, layer, mean] = ["form", "donor", "position", "layer", "mean"].map(column);
    let value = |cells: [&str; 4]| -> f64 {
        let is_it = |row: &&Vec<String>| [form, donor, position, layer].map(|at| row[at].as_str()) == cells;
        rows.iter().find(is_it).unwrap_or_else(|| panic!("{cells:?}"))[mean].parse().unwrap()
    };
    let [one, two] = ["1", "2"].map(|layer| value(["own", "same", "subject", layer]));
    assert!(one > 0.0 && (two - 2.0 * one).abs() < 1e-9, "{one} {two}");
    assert!((value(["own", "other", "subject", "2"]) + 0.02).abs() < 1e-9, "the control carries nothing");
    // Layers have colours by how late they are; pieces alone are one line.
    let rows = table(folder.path(), "inside");
    let layer = rows[0].iter().position(|cell| cell == "layer").unwrap();
    for name in ["0", "2", "pieces alone", "chance"] {
        assert!(rows.iter().any(|row| row[layer] == name), "{name}");
    }
    // Nothing of it where it was not measured.
    let folder = tempfile::tempdir().unwrap();
    synthetic::collected(folder.path(), &Plan::one());
    build(folder.path(), &ReportOptions::default()).unwrap();
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(!page.contains("Inside the model"));
}

#[test]
fn maps_of_words_are_turned_to_each_other_and_have_a_slider() {
    let folder = tempfile::tempdir().unwrap();
    let plan = Plan { inside: true, ..Plan::one() };
    synthetic::run_folder(folder.path(), &plan.configs()[0], &plan, Progress::Done);
    let page = page(folder.path());
    assert!(page.contains("data-slides=\"word-map-step\""));
    let rows = table(folder.path(), "word-map");
    let (first, others) = rows[1..].split_at(10);
    assert!(others.len() >= 10, "more than one step");
    for (at, row) in others.iter().enumerate() {
        let expected = &first[at % 10];
        assert_eq!(row[1..4], expected[1..4]);
        for coordinate in [4, 5] {
            let [own, before] = [row, expected].map(|row| row[coordinate].parse::<f64>().unwrap());
            assert!((own - before).abs() < 2e-3, "{row:?} {expected:?}");
        }
    }
}
