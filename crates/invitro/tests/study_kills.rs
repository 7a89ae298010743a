//! Four processes on one study, killed over and over: nothing is lost, nothing runs twice at once, and the results are
//! those of one process that was left alone. And other faults: results that are gone or damaged, places that cannot be
//! written to, a worker that freezes.

use crate::study_common::{self, CELLS, Sampler, assert_equal, counts, kill, reference, results, study, write_study};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const PROCESSES: usize = 4;
const KILLS: usize = 20;
const STEPS: u64 = 120;

fn start(out: &Path) -> Child {
    study(&["run", out.to_str().unwrap(), "--device", "cpu", "--jobs", "1", "--lease", "30s"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap()
}

/// Kills the process and all it may have started.
fn kill_tree(child: &mut Child) {
    let status = std::process::Command::new("kill").args(["-9", "--", &format!("-{}", child.id())]).status().unwrap();
    assert!(status.success());
    child.wait().unwrap();
}

#[test]
fn twenty_kills_lose_nothing() {
    let place = tempfile::tempdir().unwrap();
    let file = write_study(place.path(), STEPS);
    let expected = reference(&file, &place.path().join("alone"));
    assert_eq!(expected.len(), CELLS);
    let out = place.path().join("killed");
    // The folder is made by the first; the others join.
    let limit = ["run", file.to_str().unwrap(), "--out", out.to_str().unwrap(), "--device", "cpu", "--limit", "0"];
    study_common::succeed(&mut study(&limit));
    let sampler = Sampler::start(&out);
    let mut processes: Vec<Child> = (0..PROCESSES).map(|_| start(&out)).collect();
    // A fixed sequence of odd moments: a test that fails should fail again.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    let mut while_working = 0;
    for round in 0..KILLS {
        // At an odd moment, or as soon as the study gets ahead of the kills: no machine is too fast for them.
        let moment = Instant::now() + Duration::from_millis(150 + draw(850));
        let done = || counts(&out)["done"].as_u64().unwrap() as usize;
        while Instant::now() < moment && done() * KILLS <= round * CELLS {
            std::thread::sleep(Duration::from_millis(50));
        }
        while_working += usize::from(done() != CELLS);
        if round % 4 == 3 {
            processes.iter_mut().for_each(kill_tree);
            processes = (0..PROCESSES).map(|_| start(&out)).collect();
        } else {
            let victim = draw(PROCESSES as u64) as usize;
            kill_tree(&mut processes[victim]);
            processes[victim] = start(&out);
        }
    }
    assert!(while_working > KILLS / 2, "the study was over too early to be disturbed: {while_working}");
    for mut process in processes {
        assert!(process.wait().unwrap().success());
    }
    assert_eq!(counts(&out)["done"], CELLS);
    assert_equal(&results(&out), &expected);
    sampler.assert_never_twice_at_once(&out);
}

#[test]
fn a_stopped_study_goes_on_where_it_was() {
    let place = tempfile::tempdir().unwrap();
    let file = write_study(place.path(), STEPS);
    let out = place.path().join("out");
    let arguments = ["run", file.to_str().unwrap(), "--out", out.to_str().unwrap(), "--device", "cpu", "--jobs", "2"];
    let mut child = study(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    study_common::wait_for("a cell to be done", 120, || out.join("study.toml").exists() && counts(&out)["done"] != 0);
    kill(child.id(), "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(75));
    let stopped = counts(&out);
    assert_eq!((&stopped["running"], &stopped["failed"]), (&0.into(), &0.into()));
    // In time: it ends by itself before the time is up, and well.
    let begun = std::time::Instant::now();
    study_common::succeed(study(&arguments).args(["--time", "4s"]));
    assert!(begun.elapsed() < Duration::from_secs(12), "{:?}", begun.elapsed());
    study_common::succeed(study(&arguments).env("RAYON_NUM_THREADS", "2"));
    assert_eq!(counts(&out)["done"], CELLS);
}

/// A study of four cells of 20 steps, run to its end; its folder, and its cells' runs.
pub fn four_cells(place: &Path) -> (std::path::PathBuf, Vec<std::path::PathBuf>) {
    let file = place.join("four.toml");
    let text = "[factors]\nmixture.lambda = [0.25, 0.5]\n[seeds]\ndata = [0, 1]\n";
    let base = study_common::TINY;
    std::fs::write(&file, format!("name = \"four\"\nbase = \"{base}\"\nexperiment = {{ train.steps = 20 }}\n{text}"))
        .unwrap();
    let out = place.join("out");
    let arguments = ["run", file.to_str().unwrap(), "--out", out.to_str().unwrap(), "--device", "cpu", "--jobs", "2"];
    study_common::succeed(&mut study(&arguments));
    let runs = results(&out).keys().map(|id| out.join("runs").join(id)).collect();
    (out, runs)
}

pub fn said(output: &std::process::Output) -> (String, String) {
    (String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_hole_is_named_by_collect_and_filled_by_the_next_run() {
    let place = tempfile::tempdir().unwrap();
    let (out, runs) = four_cells(place.path());
    let folder = out.to_str().unwrap();
    let whole = results(&out);
    assert!(study_common::succeed(&mut study(&["collect", folder])).contains("4 runs, 4 of them done"));
    let collected = || ["metrics.parquet", "words.parquet"].map(|name| std::fs::read(out.join(name)).unwrap());
    let before = collected();
    std::fs::remove_file(runs[0].join("metrics.parquet")).unwrap();
    let table = std::fs::read(runs[1].join("words.parquet")).unwrap();
    std::fs::write(runs[1].join("words.parquet"), &table[..table.len() / 2]).unwrap();
    let status = study_common::succeed(&mut study(&["status", folder]));
    assert!(status.contains("damaged       2") && status.contains("were written"), "{status}");
    let output = study(&["collect", folder]).output().unwrap();
    let (told, error) = said(&output);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(told.contains("4 runs, 2 of them done"), "{told}");
    for (run, file) in [(&runs[0], "metrics.parquet"), (&runs[1], "words.parquet")] {
        let id = run.file_name().unwrap().to_str().unwrap();
        let line = error.lines().find(|line| line.contains(&format!("not done: {id}"))).unwrap_or_default();
        assert!(line.contains(file), "{error}");
    }
    assert_eq!((&counts(&out)["done"], &counts(&out)["damaged"]), (&2.into(), &2.into()));
    study_common::succeed(&mut study(&["run", folder, "--device", "cpu"]));
    assert_equal(&results(&out), &whole);
    study_common::succeed(&mut study(&["collect", folder]));
    assert!(collected() == before, "as if nothing had happened");
}

#[test]
fn several_may_collect_at_once() {
    let place = tempfile::tempdir().unwrap();
    let (out, _) = four_cells(place.path());
    let folder = out.to_str().unwrap();
    study_common::succeed(&mut study(&["collect", folder, "--compact", "--csv"]));
    let tables = || ["metrics.csv", "words.csv", "runs.csv"].map(|name| std::fs::read(out.join(name)).unwrap());
    let before = tables();
    let start = |_| study(&["collect", folder, "--compact", "--csv"]).stdout(Stdio::null()).spawn().unwrap();
    let all: Vec<Child> = (0..4).map(start).collect();
    assert!(all.into_iter().all(|mut one| one.wait().unwrap().success()));
    assert!(tables() == before);
    let left: Vec<_> = std::fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with('.')), "{left:?}");
}

#[test]
fn a_cell_that_cannot_be_written_is_told_and_taken_again() {
    let place = tempfile::tempdir().unwrap();
    let (out, runs) = four_cells(place.path());
    let folder = out.to_str().unwrap();
    let whole = results(&out);
    // Of the first there is only a file; of the second the table cannot be put in its place.
    std::fs::remove_dir_all(&runs[0]).unwrap();
    std::fs::write(&runs[0], "in the way").unwrap();
    std::fs::remove_file(runs[1].join("metrics.parquet")).unwrap();
    std::fs::create_dir_all(runs[1].join("metrics.parquet/in-the-way")).unwrap();
    std::fs::remove_dir_all(&runs[2]).unwrap();
    let output = study(&["run", folder, "--device", "cpu", "--jobs", "1"]).output().unwrap();
    let (told, error) = said(&output);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(told.contains("1 cell done here, 2 failed; 2 left"), "{told}{error}");
    assert_eq!(error.matches("the training is finished, but its results could not be written").count(), 1, "{error}");
    assert_eq!(counts(&out)["done"], 2);
    std::fs::remove_file(&runs[0]).unwrap();
    std::fs::remove_dir_all(runs[1].join("metrics.parquet")).unwrap();
    study_common::succeed(&mut study(&["run", folder, "--device", "cpu", "--jobs", "1"]));
    assert_equal(&results(&out), &whole);
}

#[test]
fn a_worker_that_freezes_is_named() {
    let place = tempfile::tempdir().unwrap();
    let file = write_study(place.path(), STEPS);
    let out = place.path().join("out");
    let run = ["run", file.to_str().unwrap(), "--out", out.to_str().unwrap(), "--device", "cpu", "--jobs", "2"];
    let start = || {
        let mut command = study(&run);
        command.args(["--lease", "1s", "--limit", "2"]).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let mut frozen = start().spawn().unwrap();
    let began = || out.join("study.toml").exists() && counts(&out)["running"] == 2;
    study_common::wait_for("two cells at work", 120, began);
    kill(frozen.id(), "STOP");
    let status = || study_common::succeed(&mut study(&["status", out.to_str().unwrap(), "--lease", "1s"]));
    let named = format!("(process {})", frozen.id());
    let is_named = || status().lines().any(|line| line.starts_with("silent for ") && line.contains(&named));
    study_common::wait_for("its name", 60, is_named);
    kill(frozen.id(), "CONT");
    assert!(frozen.wait().unwrap().success());
    assert!(!status().contains("silent for "));
}
