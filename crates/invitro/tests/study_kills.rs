//! Four processes on one study, killed over and over: nothing is lost, nothing runs twice at once, and the results are
//! those of one process that was left alone.

mod study_common;

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use study_common::{CELLS, Sampler, assert_equal, counts, kill, reference, results, study, write_study};

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
