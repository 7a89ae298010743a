//! `invitro corpus`: three formats with the same rows, in bounded pieces, whole or not at all.

mod common;

use common::*;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

fn corpus(out: &Path, n: &str, more: &[&str]) -> Vec<u8> {
    let args = [&["corpus", "-n", n, "--config", tiny(), "--out", out.to_str().unwrap()], more].concat();
    stdout(&args);
    std::fs::read(out).unwrap()
}

fn rows(out: &Path, n: &str, more: &[&str]) -> Vec<Value> {
    let text = String::from_utf8(corpus(out, n, more)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn rows_are_pinned_and_the_same_on_one_and_two_threads() {
    let dir = tempfile::tempdir().unwrap();
    is_golden("corpus.jsonl", &corpus(&dir.path().join("x.jsonl"), "12", &[]));
    for name in ["a.txt", "a.jsonl", "a.parquet"] {
        let bytes = ["1", "2"].map(|threads| {
            let out = dir.path().join(format!("{threads}{name}"));
            let args = ["corpus", "-n", "20000", "--config", tiny(), "--out", out.to_str().unwrap()];
            assert!(invitro(&args).env("RAYON_NUM_THREADS", threads).output().unwrap().status.success());
            std::fs::read(out).unwrap()
        });
        assert!(bytes[0] == bytes[1], "{name} depends on the number of threads");
    }
}

#[test]
fn splits_and_tasks_are_what_they_say() {
    let dir = tempfile::tempdir().unwrap();
    for (split, langs, masked) in [
        ("train", vec!["A", "B"], false),
        ("A", vec!["A"], false),
        ("B", vec!["B"], false),
        ("masked", vec!["B"], true),
    ] {
        for task in ["T0", "T1", "T2", "mix"] {
            let out = dir.path().join(format!("{split}{task}.jsonl"));
            for row in rows(&out, "200", &["--split", split, "--task", task]) {
                assert!(langs.contains(&row["language"].as_str().unwrap()));
                assert_eq!(row["masked"], masked);
                let (text, own) = (row["text"].as_str().unwrap(), row["task"].as_str().unwrap());
                assert!(task == "mix" || task == own);
                assert!(text.starts_with(&format!("<{own}:{}> ", row["language"].as_str().unwrap())));
                assert!(text.ends_with(" <eos>"));
                assert_eq!(text.split(' ').count(), row["symbols"].as_array().unwrap().len());
            }
        }
    }
    let text = corpus(&dir.path().join("x.txt"), "200", &[]);
    let json = rows(&dir.path().join("x.jsonl"), "200", &[]);
    let lines: Vec<&str> = json.iter().map(|row| row["text"].as_str().unwrap()).collect();
    assert_eq!(String::from_utf8(text).unwrap(), lines.join("\n") + "\n");
}

#[test]
fn parquet_loads_in_pandas_polars_and_datasets() {
    let Some(python) = std::env::var_os("INVITRO_PYTHON") else {
        assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "INVITRO_PYTHON must be set in CI");
        println!("skipped: INVITRO_PYTHON is not set");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    // More rows than a row group holds.
    corpus(&dir.path().join("x.parquet"), "70000", &[]);
    corpus(&dir.path().join("x.jsonl"), "70000", &[]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/load_corpus.py");
    let output = Command::new(python)
        .arg(script)
        .arg(dir.path())
        .env("HF_HOME", dir.path().join("hf"))
        .env("HF_HUB_OFFLINE", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "pandas polars datasets");
}

#[test]
fn what_exists_is_left_alone_unless_forced() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("x.txt");
    let path = out.to_str().unwrap();
    std::fs::write(&out, "precious").unwrap();
    let args = ["corpus", "-n", "3", "--config", tiny(), "--out", path];
    assert_eq!(refused(&args), format!("error: `{path}` exists already; --force replaces it"));
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "precious");
    corpus(&out, "3", &["--force"]);
    assert_eq!(std::fs::read_to_string(&out).unwrap().lines().count(), 3);
    assert_eq!(listing(dir.path()), ["x.txt"]);

    let folder = dir.path().join("folder");
    let export = ["language", "export", "--config", tiny(), "--out", folder.to_str().unwrap()];
    stdout(&export);
    assert!(refused(&export).contains("exists already; --force replaces it"));
    std::fs::write(folder.join("mine"), "precious").unwrap();
    for force in [&[][..], &["--force"]] {
        assert!(refused(&[&export[..], force].concat()).contains("holds `mine`, which this command does not write"));
    }
    assert_eq!(std::fs::read_to_string(folder.join("mine")).unwrap(), "precious");
    std::fs::remove_file(folder.join("mine")).unwrap();
    std::fs::write(folder.join("world.json"), "damaged").unwrap();
    stdout(&[&export[..], &["--force"]].concat());
    assert_eq!(listing(&folder), ["README.md", "grammar.txt", "lexicon.tsv", "world.json"]);
    assert!(std::fs::read_to_string(folder.join("world.json")).unwrap().starts_with('{'));
    assert_eq!(listing(dir.path()), ["folder", "x.txt"]);
}

#[test]
fn a_disk_that_takes_no_more_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["x.txt", "x.jsonl", "x.parquet"] {
        // A limit on file size stands in for a full disk: writes fail half way.
        let out = dir.path().join(name);
        let script = format!(
            "trap '' XFSZ; ulimit -f 8; exec {} corpus -n 20000 --config {} --out {}",
            env!("CARGO_BIN_EXE_invitro"),
            tiny(),
            out.display()
        );
        let output = Command::new("bash").args(["-c", &script]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{name}");
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.starts_with(&format!("error: `{}` cannot be written: ", out.display())), "{error}");
        assert_eq!(error.trim_end().lines().count(), 1, "{error}");
        assert!(listing(dir.path()).is_empty(), "{:?}", listing(dir.path()));
    }
}
