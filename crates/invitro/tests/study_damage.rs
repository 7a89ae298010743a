//! Damage to a finished study: every changed or missing file is named, good tables are left alone, and the next run makes
//! the same results again.

use crate::study_common::{self, assert_equal, counts, results, study};
use crate::study_kills::{four_cells, said};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn invitro(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_invitro"));
    command.args(arguments);
    command
}

/// Changes one byte in the middle of a file; its length stays.
fn flip(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

fn tables(out: &Path) -> Vec<Vec<u8>> {
    ["runs.parquet", "metrics.parquet", "words.parquet"].map(|name| std::fs::read(out.join(name)).unwrap()).into()
}

fn refused(output: &Output, part: &str) {
    let (told, error) = said(output);
    assert!(!output.status.success() && error.contains(part), "{told}{error}");
}

#[test]
fn an_edited_study_is_refused_and_its_tables_stay() {
    let place = tempfile::tempdir().unwrap();
    let (out, _) = four_cells(place.path());
    let folder = out.to_str().unwrap();
    study_common::succeed(&mut study(&["collect", folder]));
    let (before, file) = (tables(&out), out.join("study.toml"));
    let text = std::fs::read_to_string(&file).unwrap();
    let edited = text.replacen("= [0.25, 0.5]", "= [0.26, 0.5]", 1);
    assert_ne!(text, edited);
    std::fs::write(&file, &edited).unwrap();
    for command in [&["status", folder][..], &["collect", folder], &["run", folder, "--device", "cpu"]] {
        refused(&study(command).output().unwrap(), "study.toml` is damaged: it was changed after invitro wrote it");
    }
    refused(
        &invitro(&["study", "run", "four.toml", "--out", folder]).current_dir(place.path()).output().unwrap(),
        "damaged",
    );
    // Cut off.
    std::fs::write(&file, &text[..text.len() / 2]).unwrap();
    refused(&study(&["collect", folder]).output().unwrap(), "damaged");
    // Without its seal, as older versions wrote it: the runs say that it is another study.
    std::fs::write(&file, edited.split_once('\n').unwrap().1).unwrap();
    let output = study(&["collect", folder]).output().unwrap();
    refused(&output, "2 finished runs in");
    refused(&output, "no table was touched");
    let status = study_common::succeed(&mut study(&["status", folder]));
    assert!(status.contains("2 finished runs in its folder are no cells of this study"), "{status}");
    assert!(tables(&out) == before);
    // The way back that the message names.
    let again = ["study", "run", "four.toml", "--out", folder, "--update", "--device", "cpu"];
    study_common::succeed(invitro(&again).current_dir(place.path()));
    study_common::succeed(&mut study(&["collect", folder]));
    assert!(tables(&out) == before);
}

#[test]
fn any_sealed_file_that_was_changed_is_named_and_made_again() {
    let place = tempfile::tempdir().unwrap();
    let (out, runs) = four_cells(place.path());
    let folder = out.to_str().unwrap();
    let whole = results(&out);
    let files = ["samples.jsonl", "language/lexicon.tsv", "tokenizer.json", "contrasts.jsonl"];
    for (run, file) in runs.iter().zip(files) {
        flip(&run.join(file));
    }
    // Newer than what sealed them: found without reading the others.
    assert_eq!(counts(&out)["damaged"], 4);
    let (_, error) = said(&study(&["collect", folder]).output().unwrap());
    files.iter().for_each(|file| assert!(error.contains(file), "{file}: {error}"));
    study_common::succeed(&mut study(&["run", folder, "--device", "cpu"]));
    assert_equal(&results(&out), &whole);
    // Damage that no time betrays is found by reading everything.
    let lexicon = runs[0].join("language/lexicon.tsv");
    let time = std::fs::metadata(&lexicon).unwrap().modified().unwrap();
    flip(&lexicon);
    std::fs::File::options().write(true).open(&lexicon).unwrap().set_modified(time).unwrap();
    assert_eq!(counts(&out)["damaged"], 0);
    let output = study(&["collect", folder, "--verify"]).output().unwrap();
    refused(&output, "lexicon.tsv` is damaged");
    let output = study(&["run", folder, "--device", "cpu", "--verify"]).output().unwrap();
    assert!(output.status.success(), "{:?}", said(&output));
    assert_equal(&results(&out), &whole);
}

#[test]
fn a_checkpoint_that_is_gone_is_named() {
    let place = tempfile::tempdir().unwrap();
    let (out, runs) = four_cells(place.path());
    let checkpoint = |run: &PathBuf| run.join("checkpoints/step-00000020.safetensors");
    std::fs::remove_file(checkpoint(&runs[0])).unwrap();
    flip(&checkpoint(&runs[1]));
    for command in [&["run", "--device", "cpu"][..], &["collect"]] {
        let output = study(&[&command[..1], &[out.to_str().unwrap()], &command[1..]].concat()).output().unwrap();
        let (_, error) = said(&output);
        assert!(
            output.status.success() && error.contains("and those of 1 more") && error.contains("--force"),
            "{error}"
        );
    }
    for (run, what) in [(&runs[0], "is missing"), (&runs[1], "its checksum is another")] {
        let (_, error) = said(&invitro(&["run", run.to_str().unwrap(), "--device", "cpu"]).output().unwrap());
        assert!(error.contains(what) && !error.contains("nothing was left"), "{error}");
    }
    assert_eq!(counts(&out)["done"], 4, "the results are intact");
}

#[test]
fn a_table_that_is_gone_is_named_on_the_page_and_on_the_terminal() {
    let place = tempfile::tempdir().unwrap();
    let (out, _) = four_cells(place.path());
    study_common::succeed(&mut study(&["collect", out.to_str().unwrap()]));
    for name in ["runs.parquet", "metrics.parquet", "words.parquet"] {
        let shipped = place.path().join(format!("without-{name}"));
        std::fs::create_dir(&shipped).unwrap();
        for file in
            ["study.toml", "runs.parquet", "metrics.parquet", "words.parquet"].iter().filter(|file| **file != name)
        {
            std::fs::copy(out.join(file), shipped.join(file)).unwrap();
        }
        let (told, error) = said(&invitro(&["report", shipped.to_str().unwrap(), "--page-only"]).output().unwrap());
        let missing = format!("{name} is missing");
        assert!(error.contains(&missing), "{told}{error}");
        // Without the table of runs there is nothing to report.
        if name == "runs.parquet" {
            assert!(error.contains("there is nothing to report") && !shipped.join("report.html").exists(), "{error}");
            continue;
        }
        let page = std::fs::read_to_string(shipped.join("report.html")).unwrap();
        assert!(page.contains(&missing) && !page.contains("No run has started yet"), "{name}");
    }
}

#[test]
fn nobody_has_to_read_standard_error() {
    let place = tempfile::tempdir().unwrap();
    for (name, to) in [("full", "2>/dev/full"), ("closed", "2>&-"), ("left", "2>&1 | head -1")] {
        let out = place.path().join(name);
        let run = format!(
            "{} run --config {} --device cpu --out {}",
            env!("CARGO_BIN_EXE_invitro"),
            study_common::TINY,
            out.display()
        );
        let mut shell = Command::new("bash");
        shell.args(["-c", &format!("{run} {to}")]).stdout(Stdio::null());
        assert!(shell.status().unwrap().success(), "{name}");
        let status = std::fs::read_to_string(out.join("status.json")).unwrap();
        assert!(status.contains("\"state\": \"done\""), "{name}: {status}");
    }
}

#[test]
fn a_closed_terminal_stops_a_run_that_can_be_resumed_and_nohup_outlives_it() {
    let place = tempfile::tempdir().unwrap();
    for (name, nohup) in [("stopped", false), ("outlives", true)] {
        // The tests themselves may run under nohup, which is inherited.
        let mut command = Command::new(if nohup { "nohup" } else { "env" });
        command.args((!nohup).then_some("--default-signal=HUP"));
        command.args([
            env!("CARGO_BIN_EXE_invitro"),
            "run",
            "--config",
            study_common::TINY,
            "train.steps=1000000",
            "--device",
            "cpu",
            "--out",
        ]);
        let out = place.path().join(name);
        let mut child = command.arg(&out).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let trains = || std::fs::read_dir(out.join("checkpoints")).is_ok_and(|mut saved| saved.next().is_some());
        study_common::wait_for("a run that trains", 120, trains);
        study_common::kill(child.id(), "HUP");
        if nohup {
            std::thread::sleep(std::time::Duration::from_secs(2));
            assert!(child.try_wait().unwrap().is_none(), "nohup outlives its terminal");
            study_common::kill(child.id(), "TERM");
        }
        assert_eq!(child.wait().unwrap().code(), Some(130), "{name}");
        let status = std::fs::read_to_string(out.join("status.json")).unwrap();
        assert!(status.contains("\"state\": \"stopped\""), "{name}: {status}");
    }
}

#[test]
fn a_report_is_whole_or_not_there() {
    let place = tempfile::tempdir().unwrap();
    let (out, _) = four_cells(place.path());
    // A page that cannot be put in its place.
    let there = place.path().join("there");
    std::fs::create_dir_all(there.join("report.html/in-the-way")).unwrap();
    let report = |force: bool| {
        let mut command = invitro(&["report", out.to_str().unwrap(), "--out", there.to_str().unwrap()]);
        command.args(force.then_some("--force")).output().unwrap()
    };
    refused(&report(true), "report.html");
    assert!(!there.join("figures").exists());
    std::fs::remove_dir_all(there.join("report.html")).unwrap();
    assert!(report(false).status.success());
}

#[test]
fn a_measured_study_is_whole_or_not_there() {
    let place = tempfile::tempdir().unwrap();
    let file = study_common::write_study(place.path(), 20);
    let there = place.path().join("there");
    std::fs::create_dir_all(there.join("study.toml/in-the-way")).unwrap();
    let arguments = ["measure", file.to_str().unwrap(), "--out", there.to_str().unwrap()];
    refused(&study(&arguments).output().unwrap(), "cannot be written");
    assert!(!there.join("runs.parquet").exists());
    std::fs::remove_dir_all(there.join("study.toml")).unwrap();
    study_common::succeed(&mut study(&arguments));
}

#[test]
fn a_pipe_in_a_folder_and_a_strange_path_get_a_sentence() {
    use std::os::unix::ffi::OsStrExt;
    let place = tempfile::tempdir().unwrap();
    let (out, runs) = four_cells(place.path());
    let strange = place.path().join(std::ffi::OsStr::from_bytes(b"na\xffme"));
    std::fs::rename(&out, &strange).unwrap();
    for command in ["report", "runs"] {
        let mut command = invitro(&[command]);
        let output = command.arg(&strange).arg("--json").output().unwrap();
        let (told, error) = said(&output);
        let is_json = told.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok());
        assert!(output.status.success() && is_json, "{told}{error}");
    }
    std::fs::rename(&strange, &out).unwrap();
    let samples = runs[0].join("samples.jsonl");
    std::fs::remove_file(&samples).unwrap();
    assert!(Command::new("mkfifo").arg(&samples).status().unwrap().success());
    let output =
        Command::new("timeout").args(["60", env!("CARGO_BIN_EXE_invitro"), "report"]).arg(&runs[0]).output().unwrap();
    refused(&output, "samples.jsonl` cannot be read: it is not a regular file");
    let licence =
        invitro(&["export", runs[1].to_str().unwrap(), "--out", "x", "--license", "mit\nname: x"]).output().unwrap();
    refused(&licence, "a licence is letters, digits");
}
