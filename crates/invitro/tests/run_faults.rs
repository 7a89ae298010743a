//! Faults of `invitro run`: each is told once, in a sentence, and none passes in silence.

use invitro_model::cpu::simd::{self, Level};
use std::path::Path;
use std::process::{Command, Output};

const TINY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab/tests/common/tiny.toml");

fn run(folder: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_invitro"));
    command.args(["run", "--config", TINY, "--device", "cpu", "--no-report", "--out"]).arg(folder).args(more);
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn done(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    output
}

/// One line about it, exit status 2.
fn told_once(command: &mut Command, part: &str) -> String {
    let output = command.output().unwrap();
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert_eq!(error.matches(part).count(), 1, "{error}");
    assert!(!error.contains("failed"), "{error}");
    error
}

#[test]
fn faults_of_the_folder_are_told_once() {
    let place = tempfile::tempdir().unwrap();
    let (folder, file) = (place.path().join("run"), place.path().join("file"));
    done(&mut run(&folder, &["train.steps=5"]));
    let other = told_once(&mut run(&folder, &["train.steps=6"]), "was made by another config");
    assert!(other.contains("(train.steps: 5 in the folder, 6 asked for)"), "{other}");

    let lock = std::fs::OpenOptions::new().write(true).open(folder.join("lock")).unwrap();
    lock.lock().unwrap();
    told_once(&mut run(&folder, &["train.steps=5"]), "another process is writing");

    std::fs::write(&file, "").unwrap();
    told_once(&mut run(&file, &[]), "Not a directory");
    told_once(&mut run(&file.join("below"), &[]), "Not a directory");
}

#[test]
fn of_several_runs_each_failure_is_told_once_and_the_table_says_whose_values_it_has() {
    let place = tempfile::tempdir().unwrap();
    let settings = ["train.steps=5", "seeds.data=0,1", "seeds.model=3"];
    std::fs::create_dir(place.path().join("data1-model3")).unwrap();
    std::fs::write(place.path().join("data1-model3/thesis.tex"), "years").unwrap();
    let output = run(place.path(), &settings).output().unwrap();
    let (said, error) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert_eq!(error.matches("not a run folder").count(), 1, "{error}");
    assert!(error.contains("error: data 1 model 3 failed at step 0: "), "{error}");
    assert!(said.starts_with("mean of 1 run, at the end ") && said.contains("\n  data 0, model 3 "), "{said}");
    assert!(!said.contains("data 1"), "{said}");
}

#[test]
fn the_environment_picks_the_level_of_instructions() {
    for level in Level::ALL {
        let study = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/studies/quick.toml");
        let mut plan = Command::new(env!("CARGO_BIN_EXE_invitro"));
        plan.args(["study", "plan", study, "--device", "cpu"]).env("INVITRO_SIMD", level.name());
        let said = text(&plan.output().unwrap().stdout);
        let expected = format!(", {}", level.min(simd::detect()).name());
        let line = said.lines().find(|line| line.contains("populations on CPU, ")).unwrap();
        assert!(line.ends_with(&expected), "{line}");
    }
    // An unknown one is noticed before the folder is made.
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("run");
    for value in ["amx", "avx", ""] {
        let expected = format!("INVITRO_SIMD={value}: there are base, avx2, avx512");
        told_once(run(&folder, &[]).env("INVITRO_SIMD", value), &expected);
        assert!(!folder.exists());
    }
}

#[test]
fn checkpoints_that_cannot_be_read_are_told_and_the_step_it_goes_on_from() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("run");
    let settings = ["train.steps=30", "checkpoint.every=10", "checkpoint.keep=all"];
    done(&mut run(&folder, &settings));
    let checkpoint = |step: u64| folder.join(format!("checkpoints/step-{step:08}.safetensors"));
    let cut = |steps: &[u64]| {
        for &step in steps {
            let bytes = std::fs::read(checkpoint(step)).unwrap();
            std::fs::write(checkpoint(step), &bytes[..bytes.len() / 2]).unwrap();
        }
        // So that the checkpoints are looked at.
        std::fs::remove_file(folder.join("status.json")).unwrap();
    };
    let again = || text(&done(&mut run(&folder, &settings)).stderr);
    let line = |said: &str, step: u64| {
        let name = format!("step-{step:08}.safetensors");
        let lines: Vec<&str> = said.lines().filter(|line| line.contains(&name)).collect();
        assert_eq!(lines.len(), 1, "{said}");
        assert!(lines[0].contains("truncated"), "{said}");
        lines[0].to_owned()
    };
    cut(&[30]);
    assert!(line(&again(), 30).contains("resuming after step 20"));
    cut(&[10, 20, 30]);
    let said = again();
    assert!([10, 20, 30].iter().all(|&step| line(&said, step).contains("starting over from step 0")), "{said}");
    cut(&[]);
    assert!(!again().contains("step-000000"));
}

#[test]
fn what_is_damaged_in_a_finished_run_is_told_and_written_again() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("run");
    let settings = ["train.steps=10", "checkpoint.keep=none"];
    done(&mut run(&folder, &settings));
    let table = std::fs::read(folder.join("metrics.parquet")).unwrap();
    std::fs::write(folder.join("metrics.parquet"), &table[..table.len() / 2]).unwrap();
    std::fs::remove_file(folder.join("summary.json")).unwrap();
    let said = text(&done(&mut run(&folder, &settings)).stderr);
    assert!(said.contains("metrics.parquet` is damaged: it has"), "{said}");
    assert!(said.contains("summary.json` is missing; written again") && !said.contains("parameters"), "{said}");
    assert_eq!(std::fs::read(folder.join("metrics.parquet")).unwrap(), table);
    // Without its logs it is trained again.
    for name in ["metrics.jsonl", "status.json"] {
        std::fs::remove_file(folder.join(name)).unwrap();
    }
    let said = text(&done(&mut run(&folder, &settings)).stderr);
    assert!(said.contains("parameters"), "{said}");
    assert_eq!(std::fs::read(folder.join("metrics.parquet")).unwrap(), table);
}

#[test]
fn a_report_that_cannot_be_written_does_not_hide_that_the_run_is_finished() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("run");
    done(&mut run(&folder, &["train.steps=5"]));
    std::fs::create_dir_all(folder.join("report.html/in-the-way")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_invitro"));
    command.args(["run", "--config", TINY, "train.steps=5", "--device", "cpu", "--out"]).arg(&folder);
    let output = command.output().unwrap();
    let (said, error) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(said.starts_with("step 5 "), "{said}");
    assert!(error.contains("the run is finished, but its report could not be written: "), "{error}");
    assert!(error.contains("report.html") && error.contains("`invitro report "), "{error}");
}
