//! `--force` replaces what the same command wrote, and nothing else; what is in the making leaves nothing behind.

use crate::common::*;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const TINY_RUN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab/tests/common/tiny.toml");

/// Every file below a folder with its bytes.
fn bytes(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for name in listing(dir) {
        let path = dir.join(&name);
        if path.is_dir() {
            all.extend(bytes(&path).into_iter().map(|(inner, bytes)| (format!("{name}/{inner}"), bytes)));
        } else {
            all.insert(name, std::fs::read(path).unwrap());
        }
    }
    all
}

#[test]
fn runs_studies_and_what_others_wrote_are_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).display().to_string();
    let (run, study, precious, readme) = (at("run"), at("study"), at("precious"), at("readme"));
    stdout(&["run", "--config", TINY_RUN, "--device", "cpu", "--no-report", "train.steps=5", "--out", &run]);
    let file = at("study.toml");
    std::fs::write(&file, format!("name = \"s\"\nbase = \"{TINY_RUN}\"\nexperiment = {{ train.steps = 5 }}\n"))
        .unwrap();
    stdout(&["study", "run", &file, "--device", "cpu", "--limit", "0", "--out", &study]);
    std::fs::create_dir(&precious).unwrap();
    std::fs::write(Path::new(&precious).join("thesis.tex"), "years").unwrap();
    std::fs::create_dir(&readme).unwrap();
    std::fs::write(Path::new(&readme).join("README.md"), "notes").unwrap();
    let before = bytes(dir.path());

    let languages = ["language", "export", "--config", tiny(), "--force", "--out"];
    let train = ["tokenizer", "train", "--config", tiny(), "tokenizer.vocab=150", "--force", "--out"];
    let export = ["export", &run, "--force", "--out"];
    for command in [&languages[..], &train, &export] {
        for out in [&run, &study, &precious, &readme] {
            let error = refused(&[command, &[out.as_str()]].concat());
            assert!(error.contains("choose another folder with --out"), "{command:?} {out}: {error}");
        }
    }
    let thesis = refused(&[&languages[..], &[precious.as_str()]].concat());
    assert!(thesis.contains("holds `thesis.tex`, which this command does not write"), "{thesis}");
    let notes = refused(&[&languages[..], &[readme.as_str()]].concat());
    assert!(notes.contains("holds `README.md` but no `world.json`"), "{notes}");
    let itself = refused(&[&export[..], &[run.as_str()]].concat());
    assert!(itself.contains("is the source"), "{itself}");
    let above = refused(&[&export[..], &[dir.path().to_str().unwrap()]].concat());
    assert!(above.contains("holds the source"), "{above}");
    assert!(bytes(dir.path()) == before, "something was touched");
}

#[test]
fn what_a_command_wrote_it_replaces() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).display().to_string();
    let (languages, tokenizer, empty) = (at("language"), at("tokenizer"), at("empty"));
    std::fs::create_dir(&empty).unwrap();
    for _ in 0..2 {
        stdout(&["language", "export", "--config", tiny(), "--force", "--out", &languages]);
        stdout(&["language", "export", "--config", tiny(), "--force", "--out", &empty]);
        stdout(&["tokenizer", "train", "--config", tiny(), "tokenizer.vocab=150", "--force", "--out", &tokenizer]);
    }
    assert_eq!(listing(dir.path()), ["empty", "language", "tokenizer"]);
    assert_eq!(listing(Path::new(&empty)), listing(Path::new(&languages)));
}

#[test]
fn the_folder_one_stands_in_is_refused_in_a_sentence() {
    let dir = tempfile::tempdir().unwrap();
    let args = ["language", "export", "--config", tiny(), "--force", "--out", "."];
    let output = invitro(&args).current_dir(dir.path()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert_eq!(error, "error: `.` cannot be written: give the folder by its own name\n");
}

#[test]
fn an_interrupt_leaves_nothing_in_the_making() {
    for signal in ["-INT", "-TERM"] {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("big.parquet");
        let args = ["corpus", "-n", "100000000", "--config", tiny(), "--out", out.to_str().unwrap()];
        let mut child = invitro(&args).stderr(Stdio::null()).spawn().unwrap();
        while listing(dir.path()).is_empty() {
            std::thread::sleep(Duration::from_millis(10));
            assert!(child.try_wait().unwrap().is_none(), "it goes on");
        }
        // The handler is set right after the file is made.
        std::thread::sleep(Duration::from_millis(200));
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        assert!(!child.wait().unwrap().success());
        assert!(listing(dir.path()).is_empty(), "{:?}", listing(dir.path()));
    }
}
