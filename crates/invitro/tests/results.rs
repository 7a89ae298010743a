//! The shipped results rebuild their reports, on a machine without a GPU.

use std::path::Path;
use std::process::Command;

/// They were measured before contrasts were taken over pairs of subjects.
#[test]
fn new_runs_are_not_put_beside_results_of_another_schema() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("out");
    let mut command = Command::new(env!("CARGO_BIN_EXE_invitro"));
    command.args(["study", "run", "--device", "cpu", "--limit", "0", "--out"]).arg(&out);
    command.arg(root.join("experiments/studies/facts.toml")).arg("--with").arg(root.join("results/facts"));
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let told = concat!("0.1.0, schema 1; this is ", env!("CARGO_PKG_VERSION"), ", schema 4");
    assert!(!output.status.success() && said.contains(told), "{said}");
    assert!(!out.join("known").exists());
}

/// The same experiments have the same names as when these were run, by an older version.
#[test]
fn new_runs_are_put_beside_results_of_this_schema() {
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
fn reports_of_the_shipped_studies_are_rebuilt() {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results");
    let place = tempfile::tempdir().unwrap();
    for (study, said) in [
        ("paper", "192 runs of 864 planned"),
        ("facts", "120 runs of 540 planned"),
        ("crossing", "48 runs over 4 data seeds and 1 model seed; 48 ended"),
        ("budget", "24 runs over 3 data seeds and 1 model seed; 24 ended"),
        ("sharing", "150 runs over 5 data seeds and 1 model seed; 150 ended"),
        ("sharing-paper", "6 runs over 3 data seeds and 1 model seed; 6 ended"),
        ("withheld", "60 runs over 5 data seeds and 1 model seed; 60 ended"),
    ] {
        let out = place.path().join(study);
        let mut command = Command::new(env!("CARGO_BIN_EXE_invitro"));
        let output = command.arg("report").arg(results.join(study)).arg("--out").arg(&out).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let page = std::fs::read_to_string(out.join("report.html")).unwrap();
        assert!(page.contains(said) && page.contains("H4") && page.len() < 15_000_000, "{study}");
        assert!(out.join("figures").join("captions.md").exists());
        // Only since schema 2 are a run's seconds its own.
        assert_eq!(page.contains("seconds of training, of all runs"), !["paper", "facts"].contains(&study));
    }
}
