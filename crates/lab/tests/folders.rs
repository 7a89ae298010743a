//! Whose folder it is: other configs, other processes, things that are no run; and its logs, cut back to a step.

mod common;

use common::{bytes, member, run, tiny, train};
use invitro_lab::folder::{self, Folder, locked};
use invitro_lab::log::Log;
use invitro_lab::population::Outcome;
use invitro_lab::{Error, Stop};
use invitro_results::folder::METRICS;
use serde_json::json;
use std::time::{Duration, Instant};

#[test]
fn another_config_is_refused_with_the_keys_that_differ() {
    let place = tempfile::tempdir().unwrap();
    run(&tiny(&["train.steps=5"]), place.path());
    let other = tiny(&["train.steps=5", "language.distance=0.5", "eval.sentences=7", "name=other"]);
    let Err(Error::OtherConfig { keys, .. }) = Folder::take(place.path(), &other, false) else { panic!() };
    assert_eq!(
        keys,
        "eval.sentences: 6 in the folder, 7 asked for; language.distance: 0.1 in the folder, 0.5 asked for"
    );
    let [Outcome::Failed { error }] = &train(&[member(&other, place.path())], &Stop::new())[..] else { panic!() };
    assert!(error.contains("made by another config") && error.contains("--force"), "{error}");
    let before = bytes(place.path(), METRICS);
    let taken = Folder::take(place.path(), &other, true).unwrap();
    assert!(taken.saved().is_empty() && !place.path().join(METRICS).exists());
    assert!(!before.is_empty());
}

#[test]
fn one_process_writes_at_a_time() {
    let place = tempfile::tempdir().unwrap();
    let experiment = tiny(&["train.steps=5"]);
    let held = Folder::take(place.path(), &experiment, false).unwrap();
    assert!(locked(place.path()));
    assert_eq!(train(&[member(&experiment, place.path())], &Stop::new()), [Outcome::Busy]);
    drop(held);
    assert!(!locked(place.path()));
    assert_eq!(train(&[member(&experiment, place.path())], &Stop::new()), [Outcome::Done]);
}

#[test]
fn a_folder_of_other_things_is_left_alone() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("thesis.tex"), "mine").unwrap();
    for force in [false, true] {
        let Err(error) = Folder::take(place.path(), &tiny(&[]), force) else { panic!() };
        assert!(error.to_string().contains("not empty and not a run folder"), "{error}");
    }
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
}

#[test]
fn what_a_killed_process_left_half_written_goes() {
    let place = tempfile::tempdir().unwrap();
    let experiment = tiny(&["train.steps=5"]);
    std::fs::write(place.path().join(".config.toml.123.part"), "na").unwrap();
    run(&experiment, place.path());
    assert!(!place.path().join(".config.toml.123.part").exists());
}

#[test]
fn a_damaged_checkpoint_is_passed_over() {
    let place = tempfile::tempdir().unwrap();
    let experiment = tiny(&["train.steps=40"]);
    let whole = place.path().join("whole");
    run(&experiment, &whole);
    let torn = place.path().join("torn");
    train(&[member(&experiment, &torn)], &Stop::new().at(std::time::Instant::now()));
    std::fs::write(folder::checkpoint(&torn, 30), "torn").unwrap();
    run(&experiment, &torn);
    assert_eq!(bytes(&whole, METRICS), bytes(&torn, METRICS));
}

#[test]
fn a_torn_line_and_later_steps_go() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let line = |step: u64| json!({"step": step, "value": 0.1});
    let mut log = Log::open(&path, None).unwrap();
    log.append(&[line(0), line(0)]).unwrap();
    log.append(&[line(10)]).unwrap();
    let after_ten = std::fs::read(&path).unwrap();
    log.append(&[line(20)]).unwrap();
    let whole = std::fs::read(&path).unwrap();
    for torn in after_ten.len()..whole.len() {
        std::fs::write(&path, &whole[..torn]).unwrap();
        drop(Log::open(&path, Some(20)).unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), after_ten, "torn after {torn} bytes");
    }
    for (step, kept) in [(20, &whole), (19, &after_ten)] {
        std::fs::write(&path, &whole).unwrap();
        drop(Log::open(&path, Some(step)).unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), *kept);
    }
    let mut log = Log::open(&path, Some(10)).unwrap();
    log.append(&[line(20)]).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), whole);
    drop(Log::open(&path, None).unwrap());
    assert!(std::fs::read(&path).unwrap().is_empty());
}

#[test]
fn clones_share_the_wish_to_stop_and_a_deadline_comes() {
    let stop = Stop::new();
    let other = stop.clone();
    assert!(!stop.requested());
    other.request();
    assert!(stop.requested());
    let now = Instant::now();
    assert!(Stop::new().at(now).requested());
    assert!(!Stop::new().at(now + Duration::from_secs(3600)).requested());
}
