//! `invitro run` and what works on its folders, as a user calls them.

use crate::common::python;
use invitro_results::{State, Status};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

const TINY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab/tests/common/tiny.toml");

fn invitro(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_invitro"));
    command.args(arguments);
    command
}

pub fn run(folder: &Path, more: &[&str]) -> Command {
    let mut command = invitro(&["run", "--config", TINY, "--device", "cpu", "--no-report", "--out"]);
    command.arg(folder).args(more).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub fn done(output: &Output) {
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
        ["metrics.jsonl", "metrics.parquet", "samples.jsonl", "contrasts.jsonl", "words.parquet", "tokenizer.json"]
    {
        let [one, two] = [one, two].map(|folder| std::fs::read(folder.join(name)).unwrap());
        assert!(one == two, "{name} differs");
    }
    // All but the last column, which is wall time.
    let [one, two] = [one, two].map(|folder| {
        let text = std::fs::read_to_string(folder.join("training.jsonl")).unwrap();
        text.lines().map(|line| line.split_once(",\"tokens_per_second\"").unwrap().0.to_owned()).collect::<Vec<_>>()
    });
    assert!(!one.is_empty() && one == two, "training.jsonl differs");
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

/// Starts a run and stops it in the midst.
pub fn interrupted(mut command: Command, folder: &Path) {
    let mut child = command.spawn().unwrap();
    training(folder, &mut child);
    signal(&child);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
}

#[test]
fn a_folder_is_gone_on_with_by_its_name() {
    let place = tempfile::tempdir().unwrap();
    let (whole, parts) = (place.path().join("whole"), place.path().join("parts"));
    let settings = ["train.steps=200", "train.warmup=5000", "eval.sentences=4"];
    done(&run(&whole, &settings).output().unwrap());
    interrupted(run(&parts, &settings), &parts);
    let on = |more: &[&str]| {
        let mut command = invitro(&["run", parts.to_str().unwrap(), "--device", "cpu", "--no-report"]);
        command.args(more).output().unwrap()
    };
    refused(&on(&["eval.sentences=5"]), "(eval.sentences: 4 in the folder, 5 asked for)");
    refused(&on(&["--config", TINY]), "has its own config: --preset, --config and --out cannot be given with it");
    refused(&on(&["nowhere"]), "`nowhere` is neither a run's folder nor a setting");
    refused(&on(&["--resume", "elsewhere"]), "are two folders: give one of them");
    refused(&on(&[whole.to_str().unwrap()]), "are two folders: give one of them");
    refused(&on(&["seeds.model=0,1"]), "is a run of one seed");
    let empty = place.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    refused(&invitro(&["run", empty.to_str().unwrap()]).output().unwrap(), "is not a run folder");
    let output = on(&["eval.sentences=4"]);
    done(&output);
    assert!(!text(&output.stderr).contains("finished before"), "{}", text(&output.stderr));
    same(&whole, &parts);

    // Once more, and then with more steps.
    let output = invitro(&["run", "--resume", parts.to_str().unwrap(), "--device", "cpu"]).output().unwrap();
    done(&output);
    let said = text(&output.stderr);
    assert!(said.contains("finished before, at step 200: nothing was left to do; `invitro run "), "{said}");
    let extended = place.path().join("extended");
    done(&run(&extended, &["train.steps=230", "train.warmup=5000", "eval.sentences=4"]).output().unwrap());
    done(&on(&["train.steps=230"]));
    same(&extended, &parts);
    assert_eq!(
        text(&std::fs::read(extended.join("config.toml")).unwrap()),
        text(&std::fs::read(parts.join("config.toml")).unwrap())
    );
}

#[test]
fn the_runs_of_several_seeds_are_gone_on_with_together() {
    let place = tempfile::tempdir().unwrap();
    let (whole, parts) = (place.path().join("whole"), place.path().join("parts"));
    let settings = ["train.steps=150", "seeds.model=3,4"];
    done(&run(&whole, &settings).output().unwrap());
    interrupted(run(&parts, &settings), &parts.join("data0-model4"));
    let path = parts.to_str().unwrap();
    let output = invitro(&["run", "--device", "cpu", "--no-report", path]).output().unwrap();
    done(&output);
    assert!(text(&output.stdout).contains("data 0, model 4"), "{}", text(&output.stdout));
    for name in ["data0-model3", "data0-model4"] {
        same(&whole.join(name), &parts.join(name));
    }
    // The learning rate of these falls to 0 at their end: neither is touched.
    let before = std::fs::read(parts.join("data0-model3/metrics.jsonl")).unwrap();
    refused(
        &invitro(&["run", path, "train.steps=300"]).output().unwrap(),
        "the learning rate falls to 0 at the last step",
    );
    assert!(before == std::fs::read(parts.join("data0-model3/metrics.jsonl")).unwrap());
    let said = text(&invitro(&["run", path, "--device", "cpu", "--no-report"]).output().unwrap().stderr);
    assert_eq!(said.matches("finished before, at step 150: nothing was left to do\n").count(), 2, "{said}");
    done(&run(&parts.join("another"), &["train.steps=1"]).output().unwrap());
    refused(&invitro(&["run", path]).output().unwrap(), "holds runs that differ in more than their seeds");
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
    assert!(text(&output.stderr).contains("the same command resumes it"), "{}", text(&output.stderr));
}

/// Waits until a run trains, which it says in its status.
fn training(folder: &Path, child: &mut Child) {
    let is_running = || std::fs::read_to_string(folder.join("status.json")).is_ok_and(|s| s.contains("\"running\""));
    while !is_running() {
        std::thread::sleep(Duration::from_millis(5));
        assert!(child.try_wait().unwrap().is_none(), "it goes on");
    }
}

fn signal(child: &Child) {
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
}

/// As `timeout` does, which asks its child to end and then the child's group.
#[test]
fn two_signals_at_once_are_one_and_the_run_is_saved() {
    let place = tempfile::tempdir().unwrap();
    let (whole, parts) = (place.path().join("whole"), place.path().join("parts"));
    let settings = ["train.steps=400", "checkpoint.every=1000"];
    done(&run(&whole, &settings).output().unwrap());
    let mut last = 0;
    for gap in [0, 1, 3, 10, 30, 90] {
        let mut child = run(&parts, &settings).spawn().unwrap();
        training(&parts, &mut child);
        signal(&child);
        std::thread::sleep(Duration::from_millis(gap));
        // The second may find it gone.
        let second = Command::new("kill").args(["-TERM", &child.id().to_string()]).stderr(Stdio::null()).status();
        assert!(second.is_ok());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{gap} ms apart: {}", text(&output.stderr));
        let saved: Vec<u64> = invitro_lab::run_folder::saved(&parts);
        assert!(saved.last() > Some(&last), "{gap} ms apart: {saved:?}");
        last = saved[saved.len() - 1];
    }
    done(&run(&parts, &settings).output().unwrap());
    same(&whole, &parts);
}

#[test]
fn a_second_signal_after_more_than_a_second_ends_it_at_once() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("run");
    // Its first evaluation takes many seconds; more samples would be made before it for as long again.
    let mut child = run(&folder, &["eval.samples=10000"]).spawn().unwrap();
    training(&folder, &mut child);
    signal(&child);
    std::thread::sleep(Duration::from_millis(1100));
    signal(&child);
    let output = child.wait_with_output().unwrap();
    let killed = std::os::unix::process::ExitStatusExt::signal(&output.status);
    assert_eq!(killed, Some(15), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("asked again to stop: ending at once"), "{}", text(&output.stderr));
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
    let several = unknown.map(|argument| if argument == "gpu" { "cuda:all" } else { argument });
    refused(&invitro(&several).output().unwrap(), "which only `study run` and `study plan` take");
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
    assert!(
        table.contains("grammatical") && table.contains("B†") && table.contains("contrast of facts, nats"),
        "{table}"
    );
    let path = folder.to_str().unwrap();

    let again = invitro(&["evaluate", path, "--device", "cpu", "--json"]).output().unwrap();
    done(&again);
    let last = |text: &str| text.lines().filter(|l| l.contains("\"step\":60")).map(str::to_owned).collect::<Vec<_>>();
    let [logged, again] =
        [text(&std::fs::read(folder.join("metrics.jsonl")).unwrap()), text(&again.stdout)].map(|t| last(&t));
    // The log has the training's own rows beside the evaluation's.
    assert!(!again.is_empty() && again.iter().all(|row| logged.contains(row)), "an evaluation again is the same");
    let once = invitro(&["evaluate", path, "--device", "cpu", "--step", "30", "eval.sentences=3"]).output().unwrap();
    done(&once);
    assert!(!text(&once.stdout).contains("emerged"), "{}", text(&once.stdout));
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
    // The model card and the status say which program made them.
    let version = text(&invitro(&["--version"]).output().unwrap().stdout);
    let commit = version.trim().split_once(" (").unwrap().1.trim_end_matches(')');
    let card = std::fs::read_to_string(out.join("README.md")).unwrap();
    assert!(card.contains(&format!("| trained by | {}", version.trim())) && card.contains("step | 60 of 60"), "{card}");
    for part in ["@software{invitro,", "license: other", "invitro itself, MIT or Apache-2.0", "| T1 grammatical | "] {
        assert!(card.contains(part), "{part} in\n{card}");
    }
    let status: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.join("status.json")).unwrap()).unwrap();
    assert_eq!(status["commit"], commit);
    // An evaluation alone does not show when something emerged.
    assert!(!text(&invitro(&["evaluate", path, "--device", "cpu"]).output().unwrap().stdout).contains("emerged"));
    likelihoods(path, &lexicon);

    let Some(python) = python() else { return };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/python/load_run.py");
    let figure = place.path().join("curves.png");
    let output = Command::new(python).arg(script).args([&folder, &out, &figure]).output().unwrap();
    done(&output);
    let said = text(&output.stdout);
    assert!(said.contains("same as invitro") && !said.contains("differs from invitro"), "{said}");
    assert!(figure.exists());
}

/// `invitro score`: words add up to sentences, pairs to preferences.
fn likelihoods(path: &str, lexicon: &str) {
    let score = |input: &str, more: &[&str]| {
        let mut command = invitro(&[&["score", path], more].concat());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // A command that refuses its arguments reads nothing.
        let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes());
        child.wait_with_output().unwrap()
    };
    let rows = |output: &Output| -> Vec<serde_json::Value> {
        done(output);
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let word = |label: &str| {
        let line = lexicon.lines().find(|line| line.starts_with(&format!("{label}\t"))).unwrap();
        line.split('\t').nth(6).unwrap().to_owned()
    };
    let sentence = ["name.0.0", "copula", "desc.0.0"].map(word).join(" ");
    let one = rows(&score(&format!("{sentence}\n<T0:B> {sentence} <eos>\n"), &["--json"]));
    let words = one[0]["words"].as_array().unwrap();
    assert_eq!(words.len(), 4);
    assert!(words.iter().all(|word| word["logprob"].as_f64().unwrap() < 0.0 && word["known"] == true));
    let sum: f64 = words.iter().map(|word| word["logprob"].as_f64().unwrap()).sum();
    assert!((one[0]["logprob"].as_f64().unwrap() - sum).abs() < 1e-9);
    assert_eq!(one[0]["logprob"], one[1]["logprob"], "a row of a corpus is a sentence");
    // Words that are none of the language's are told, and scored by their letters.
    let strange = score(&format!("{sentence} {}\n", "tnatna"), &["--json"]);
    assert!(text(&strange.stderr).contains("1 word is not of the language"), "{}", text(&strange.stderr));
    assert_eq!(rows(&strange)[0]["words"][3]["known"], false);
    refused(&score("Ä\n", &[]), "line 1 of standard input: `Ä` is no word of B, and the tokenizer cannot spell it");
    refused(&score(&format!("{sentence}\n"), &["--task", "T1"]), "T1 needs the given words and <out>");
    refused(&score("\n", &[]), "there is no sentence to score");
    // An empty line is left out, and the others keep their numbers.
    let gap = score(&format!("{sentence}\n\n{sentence}\n"), &["--json"]);
    assert!(text(&gap.stderr).contains("1 line without a sentence is left out"), "{}", text(&gap.stderr));
    let gap = rows(&gap);
    assert_eq!((gap.len(), &gap[1]["line"], &gap[1]["words"]), (2, &3.into(), &one[0]["words"]));
    refused(&score(&format!("{}\n", "a ".repeat(600_000)), &[]), "more than 1 MB, which is the most of a line");
    let given = format!("{sentence} <out> {sentence}\n");
    assert_eq!(rows(&score(&given, &["--task", "T1", "--json"]))[0]["words"].as_array().unwrap().len(), 4);
    // A sentence against itself with another word behind it.
    let pair = score(&format!("{sentence}\t{sentence} {sentence}\n"), &[]);
    done(&pair);
    let said = text(&pair.stdout);
    assert!(said.contains("1  the first is likelier by ") && said.ends_with("in 1 of 1 pair (100.0 %)\n"), "{said}");
    let pair = rows(&score(&format!("{sentence}\t{sentence} {sentence}\n"), &["--json"]));
    let [first, second] = ["first", "second"].map(|side| pair[0][side]["logprob"].as_f64().unwrap());
    assert_eq!((&pair[0]["prefers"], &pair[0]["difference"]), (&"first".into(), &(first - second).into()));
}

#[test]
fn runs_over_seeds_end_with_one_table_and_one_verdict() {
    let place = tempfile::tempdir().unwrap();
    let pooled = |name: &str, seeds: &str| {
        let folder = place.path().join(name);
        let output = run(&folder, &["train.steps=20", seeds]).output().unwrap();
        done(&output);
        (text(&output.stdout), text(&output.stderr), folder)
    };
    let (said, logged, folder) = pooled("models", "seeds.model=0,1,2");
    assert_eq!(said.matches("mean of 3 runs, at the end").count(), 1, "{said}");
    // One data seed: values per run, no interval, no test.
    assert!(said.contains("\n  data 0, model 2 ") && !said.contains("95 %"), "{said}");
    let untested = "Whether facts cross is not tested (fewer than 3 data seeds): of unseen words of B";
    assert_eq!(said.matches(untested).count(), 1, "{said}");
    assert!(said.contains(&format!("`invitro report {}` pools them", folder.display())), "{said}");
    // The log tells step, loss, rate and the time left.
    let line = logged.lines().find(|line| line.starts_with("step 1/20 · loss ")).unwrap_or_else(|| panic!("{logged}"));
    assert!(line.contains(" tokens/s · ") && line.ends_with(" left"), "{line}");
    let (said, ..) = pooled("data", "seeds.data=0,1,2");
    assert!(said.contains("\n  95 % over seeds ") && !said.contains("fewer than 3 data seeds"), "{said}");
    // Twenty steps teach nothing, so nothing about transfer is tested.
    assert!(said.contains("not tested (facts were not clearly learned in A)"), "{said}");

    let at = |name: &str| folder.join(name).display().to_string();
    let (one, two) = (at("data0-model0"), at("data0-model1"));
    let listed = invitro(&["runs", folder.to_str().unwrap(), "--json"]).output().unwrap();
    done(&listed);
    let rows: Vec<serde_json::Value> =
        text(&listed.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 3);
    assert_eq!(
        (&rows[1]["name"], &rows[1]["state"], &rows[1]["step"]),
        (&"data0-model1".into(), &"done".into(), &20.into())
    );
    assert!(rows[1]["headline"]["A"]["grammatical"].is_number(), "{}", rows[1]);
    // A run that was killed is not running; one that cannot be read is told of.
    let killed = folder.join("data0-model1");
    let mut status = Status::read(&killed).unwrap().unwrap();
    status.state = State::Running;
    status.write(&killed).unwrap();
    std::fs::write(folder.join("data0-model2/status.json"), "{").unwrap();
    let said = text(&invitro(&["runs", folder.to_str().unwrap()]).output().unwrap().stdout);
    assert!(said.contains("interrupted") && said.contains("data0-model2: `"), "{said}");
    // Older versions told neither their commit nor checksums.
    status.state = State::Done;
    let mut older = serde_json::to_value(&status).unwrap();
    for key in ["commit", "files"] {
        assert!(older.as_object_mut().unwrap().remove(key).is_some());
    }
    std::fs::write(killed.join("status.json"), older.to_string()).unwrap();
    let said = text(&invitro(&["runs", &two]).output().unwrap().stdout);
    assert!(said.contains("done    20 "), "{said}");

    let page = place.path().join("page.html");
    let compared = invitro(&["compare", &one, &two, "--json", "--out", page.to_str().unwrap()]).output().unwrap();
    done(&compared);
    let told: serde_json::Value = serde_json::from_slice(&compared.stdout).unwrap();
    // They differ in their seeds alone, and so are one group.
    assert_eq!(told["differing"], serde_json::json!([]));
    assert_eq!(told["measures"]["T1.A.grammaticality"]["end"][0]["runs"], 2);
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.contains("<td>2 runs, 1 data seed</td>"));
    let said = text(&invitro(&["compare", &one, &two]).output().unwrap().stdout);
    assert!(said.contains("one group and no difference") && said.contains("\ngrammatical B†"), "{said}");
}
