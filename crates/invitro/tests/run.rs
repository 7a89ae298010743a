//! `invitro run` and what works on its folders, as a user calls them.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

const TINY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab/tests/common/tiny.toml");

fn invitro(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_invitro"));
    command.args(arguments);
    command
}

fn run(folder: &Path, more: &[&str]) -> Command {
    let mut command = invitro(&["run", "--config", TINY, "--device", "cpu", "--no-report", "--out"]);
    command.arg(folder).args(more).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn done(output: &Output) {
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
}

/// Bad input: one sentence on standard error, exit status 2.
fn refused(output: &Output, part: &str) {
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    let line = error.lines().last().unwrap_or_default();
    assert!(line.starts_with("error: ") && line.contains(part), "{error}");
}

fn same(one: &Path, two: &Path) {
    for name in
        ["metrics.jsonl", "metrics.parquet", "samples.jsonl", "reached.jsonl", "words.parquet", "tokenizer.json"]
    {
        let [one, two] = [one, two].map(|folder| std::fs::read(folder.join(name)).unwrap());
        assert!(one == two, "{name} differs");
    }
}

/// A number from 0 to 1, the same in every run of the tests.
fn random(i: u64) -> f64 {
    let mut draw = invitro_language::Stream::new(1, "kill").at(0, i);
    draw.unit()
}

#[test]
fn killed_at_random_moments_it_ends_with_the_same_bytes() {
    let place = tempfile::tempdir().unwrap();
    let (whole, killed) = (place.path().join("whole"), place.path().join("killed"));
    let settings = ["train.steps=120", "checkpoint.every=7"];
    let begun = std::time::Instant::now();
    done(&run(&whole, &settings).output().unwrap());
    let long = begun.elapsed();
    let mut kills = 0;
    for i in 0..200 {
        let mut child: Child = run(&killed, &settings).spawn().unwrap();
        // Most runs die early or in the middle, so that progress is made and lost.
        std::thread::sleep(Duration::from_secs_f64(long.as_secs_f64() * 0.6 * random(i)));
        if child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            child.wait().unwrap();
            kills += 1;
        } else {
            // It came to its end: begin again, so that there are twenty kills.
            std::fs::remove_dir_all(&killed).unwrap();
        }
        if kills == 20 {
            break;
        }
    }
    assert_eq!(kills, 20);
    done(&run(&killed, &settings).output().unwrap());
    same(&whole, &killed);
    let left: Vec<_> = std::fs::read_dir(&killed).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().ends_with(".part")), "{left:?}");
}

#[test]
fn a_finished_run_is_told_again() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("run");
    let twice = [(), ()].map(|()| {
        let mut command = invitro(&["run", "--config", TINY, "--device", "cpu", "--out"]);
        let output = command.arg(&folder).args(["train.steps=20"]).output().unwrap();
        done(&output);
        text(&output.stdout)
    });
    assert!(twice[0].contains("report: ") && folder.join("report.html").exists(), "{}", twice[0]);
    assert_eq!(twice[0], twice[1]);
}

#[test]
fn of_two_processes_on_one_folder_one_refuses() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("run");
    let mut first = run(&folder, &["train.steps=100000"]).spawn().unwrap();
    while !folder.join("metrics.jsonl").exists() {
        std::thread::sleep(Duration::from_millis(20));
        assert!(first.try_wait().unwrap().is_none(), "the first goes on");
    }
    refused(&run(&folder, &["train.steps=100000"]).output().unwrap(), "another process is writing to the run folder");
    // The first is asked to stop: it saves, and says so.
    let pid = first.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let output = first.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("the same command goes on from there"), "{}", text(&output.stderr));
}

#[test]
fn bad_input_gets_one_sentence() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    refused(&run(&at("a"), &["tokenizer.vocab=5000"]).output().unwrap(), "`tokenizer.vocab` is 5000");
    refused(&run(&at("b"), &["model.context=12"]).output().unwrap(), "raise it to about");
    refused(&run(&at("c"), &["model.heads=3"]).output().unwrap(), "multiple of twice the heads");
    refused(&run(&at("d"), &["eval.evry=3"]).output().unwrap(), "the nearest known key is `eval.every`");
    let elsewhere = at("e");
    let unknown = ["run", "--config", TINY, "--device", "gpu", "--out", elsewhere.to_str().unwrap()];
    refused(&invitro(&unknown).output().unwrap(), "no device \"gpu\": there are auto, cpu, cuda and cuda:NUMBER");
    let missing = invitro(&["evaluate", "nowhere"]).output().unwrap();
    refused(&missing, "`nowhere` is not a run folder");
}

/// A disk that is full: a file-size limit makes every write past it fail, as a full disk does.
#[test]
fn a_full_disk_fails_with_the_file_named_and_resumes() {
    let place = tempfile::tempdir().unwrap();
    let (whole, full) = (place.path().join("whole"), place.path().join("full"));
    done(&run(&whole, &[]).output().unwrap());
    let size = std::fs::metadata(whole.join("metrics.jsonl")).unwrap().len();
    let blocks = size / 1024 / 2;
    let limited = format!(
        "trap '' XFSZ; ulimit -f {blocks}; exec '{}' run --config '{TINY}' --device cpu --no-report --out '{}'",
        env!("CARGO_BIN_EXE_invitro"),
        full.display()
    );
    let output = Command::new("bash").args(["-c", &limited]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("cannot be written") || text(&output.stderr).contains("cannot write"));
    done(&run(&full, &[]).output().unwrap());
    same(&whole, &full);
}

#[test]
fn a_trained_model_is_evaluated_prompted_and_exported() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("run");
    let output = run(&folder, &["checkpoint.keep=all"]).output().unwrap();
    done(&output);
    let table = text(&output.stdout);
    assert!(table.contains("grammatical") && table.contains("B†") && table.contains("contrast, facts"), "{table}");
    let path = folder.to_str().unwrap();

    let again = invitro(&["evaluate", path, "--device", "cpu", "--json"]).output().unwrap();
    done(&again);
    let last = |text: &str| text.lines().filter(|l| l.contains("\"step\":60")).map(str::to_owned).collect::<Vec<_>>();
    let [logged, again] =
        [text(&std::fs::read(folder.join("metrics.jsonl")).unwrap()), text(&again.stdout)].map(|t| last(&t));
    // The log has the training's own rows beside the evaluation's.
    assert!(!again.is_empty() && again.iter().all(|row| logged.contains(row)), "an evaluation again is the same");
    done(&invitro(&["evaluate", path, "--device", "cpu", "--step", "30", "eval.sentences=3"]).output().unwrap());
    refused(&invitro(&["evaluate", path, "--step", "31"]).output().unwrap(), "of step 31; it has 15, 30, 45, 60");
    refused(&invitro(&["evaluate", path, "language.distance=0.5"]).output().unwrap(), "settings of `eval` alone");

    let lexicon = std::fs::read_to_string(folder.join("language/lexicon.tsv")).unwrap();
    let word = |label: &str| {
        let line = lexicon.lines().find(|line| line.starts_with(&format!("{label}\t"))).unwrap();
        line.split('\t').nth(6).unwrap().to_owned()
    };
    let prompt = format!("{} {} {}", word("copula"), word("name.0.0"), word("desc.0.0"));
    let generated = invitro(&["generate", path, "--task", "T1", "--language", "B", &prompt]).output().unwrap();
    done(&generated);
    assert!(text(&generated.stdout).contains("grammatical"), "{}", text(&generated.stdout));
    // Two words in no order that a model of a few steps would find: it must be said whether they are there.
    let words = [word("name.0.0"), word("desc.0.0")];
    for task in ["T1", "T2"] {
        let arguments = ["generate", path, "--task", task, "--language", "B", &words[0], &words[1]];
        let shown = text(&invitro(&arguments).output().unwrap().stdout);
        let json = invitro(&arguments).arg("--json").output().unwrap();
        let row: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
        let output: Vec<&str> = row["output"].as_str().unwrap().split(' ').collect();
        let among = words.iter().all(|word| output.iter().any(|other| other.eq_ignore_ascii_case(word)));
        let asked = among && (task == "T2" || output.len() == words.len());
        assert_eq!(row["asked_words"], asked, "{row}");
        let mark = if asked && row["ended"] == true { "✓ asked words" } else { "✗ asked words" };
        assert!(shown.contains(mark), "{shown}");
    }
    let sampled =
        invitro(&["generate", path, "--task", "T0", "--language", "A", "-n", "3", "--json"]).output().unwrap();
    done(&sampled);
    assert_eq!(text(&sampled.stdout).lines().filter(|line| line.contains("\"verdict\"")).count(), 3);
    refused(&invitro(&["generate", path, "nonsense"]).output().unwrap(), "`nonsense` is not a word of B");

    let out: PathBuf = place.path().join("export");
    done(&invitro(&["export", path, "--out", out.to_str().unwrap()]).output().unwrap());
    for name in
        ["config.json", "model.safetensors", "generation_config.json", "tokenizer.json", "tokenizer_config.json"]
    {
        assert!(out.join(name).exists(), "{name}");
    }
    refused(&invitro(&["export", path, "--out", out.to_str().unwrap()]).output().unwrap(), "exists already");

    let Some(python) = std::env::var_os("INVITRO_PYTHON") else {
        assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "INVITRO_PYTHON must be set in CI");
        println!("skipped: INVITRO_PYTHON is not set");
        return;
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/python/load_run.py");
    let figure = place.path().join("curves.png");
    let output = Command::new(python).arg(script).args([&folder, &out, &figure]).output().unwrap();
    done(&output);
    let said = text(&output.stdout);
    assert!(said.contains("same as invitro") && !said.contains("differs from invitro"), "{said}");
    assert!(figure.exists());
}
