//! Damaged run folders: whatever bit is flipped in whatever file, a run ends with the bytes of an undamaged one, or is
//! refused with the file's name.

use crate::common::{SAME, bytes, member, tiny, train};
use invitro_lab::training::MemberOutcome;
use invitro_lab::{Experiment, State, Status, Stop, Trained, run_folder};
use invitro_model::Checkpoint;
use invitro_results::folder::{METRICS, STATUS, SUMMARY, TABLES};
use std::path::{Path, PathBuf};

const INPUTS: [&str; 4] = ["config.toml", "language/grammar.txt", "language/lexicon.tsv", "pairs.jsonl"];

fn experiment() -> Experiment {
    tiny(&["train.steps=20", "eval.every=10", "checkpoint.every=5", "checkpoint.keep=all", "train.lr=1e-2"])
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// A finished run, and the same as a process leaves it that is killed before its checkpoint of step 15.
fn finished_and_killed(place: &Path) -> (PathBuf, PathBuf) {
    let (finished, killed) = (place.join("finished"), place.join("killed"));
    assert_eq!(train(&[member(&experiment(), &finished)], &Stop::new()), [MemberOutcome::Done]);
    copy(&finished, &killed);
    let mut status = Status::read(&killed).unwrap().unwrap();
    status.state = State::Running;
    for name in TABLES {
        status.files.remove(name);
        std::fs::remove_file(killed.join(name)).unwrap();
    }
    status.write(&killed).unwrap();
    [15, 20].iter().for_each(|&step| std::fs::remove_file(run_folder::checkpoint(&killed, step)).unwrap());
    (finished, killed)
}

/// What a run comes to, but for its times.
fn result(folder: &Path) -> Vec<(String, String)> {
    let text = |name: &str| (name.to_owned(), String::from_utf8_lossy(&bytes(folder, name)).into_owned());
    let mut all: Vec<_> = SAME.iter().chain(&INPUTS).map(|name| text(name)).collect();
    let (_, summary) = text(SUMMARY);
    all.extend(summary.lines().filter(|line| !line.contains("\"seconds.")).map(|line| (SUMMARY.into(), line.into())));
    all
}

fn flip(path: &Path, i: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    let at = (i * 7919 + 13) % bytes.len();
    bytes[at] ^= 1 << (i % 8);
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_flipped_bit_changes_no_result() {
    let place = tempfile::tempdir().unwrap();
    let (finished, killed) = finished_and_killed(place.path());
    let whole = result(&finished);
    let damaged = place.path().join("damaged");
    let goes_on = |from: &Path, file: &str, spoil: &dyn Fn(&Path)| {
        copy(from, &damaged);
        spoil(&damaged.join(file));
        match &train(&[member(&experiment(), &damaged)], &Stop::new())[..] {
            [MemberOutcome::Done] => assert!(result(&damaged) == whole, "{file} in {}", from.display()),
            [MemberOutcome::Failed { error }] => assert!(error.contains(file), "{file}: {error}"),
            other => panic!("{file}: {other:?}"),
        }
        std::fs::remove_dir_all(&damaged).unwrap();
    };
    let log = ["metrics.jsonl", "samples.jsonl", STATUS, "tokenizer.json", "tokenizer_config.json"];
    let while_running = ["checkpoints/step-00000010.safetensors", "checkpoints/step-00000005.safetensors"];
    for file in log.iter().chain(&INPUTS).chain(&while_running) {
        (0..2).for_each(|i| goes_on(&killed, file, &|path| flip(path, i)));
        goes_on(&killed, file, &|path| std::fs::remove_file(path).unwrap());
    }
    let once_done = ["checkpoints/step-00000020.safetensors", "contrasts.jsonl"];
    for file in log.iter().chain(&INPUTS).chain(&TABLES).chain(&once_done) {
        (0..2).for_each(|i| goes_on(&finished, file, &|path| flip(path, i)));
        goes_on(&finished, file, &|path| std::fs::remove_file(path).unwrap());
    }
    goes_on(&finished, METRICS, &|path| {
        std::fs::remove_file(path).unwrap();
        std::fs::remove_file(path.with_file_name(STATUS)).unwrap();
    });
}

/// Both of the checkpoints that stay must be sound, or the one before them is taken.
#[test]
fn members_meet_at_a_checkpoint_that_is_sound() {
    let place = tempfile::tempdir().unwrap();
    let (finished, killed) = finished_and_killed(place.path());
    let other = place.path().join("other");
    copy(&killed, &other);
    std::fs::remove_file(run_folder::checkpoint(&killed, 10)).unwrap();
    flip(&run_folder::checkpoint(&other, 5), 1);
    // One has step 5 alone, the other step 10 alone: each goes on from its own.
    let members = [member(&experiment(), &killed), member(&experiment(), &other)];
    assert_eq!(train(&members, &Stop::new()), [MemberOutcome::Done, MemberOutcome::Done]);
    assert!(result(&killed) == result(&finished) && result(&other) == result(&finished));
}

#[test]
fn a_checkpoint_is_of_its_run_and_step_and_has_numbers_for_weights() {
    let place = tempfile::tempdir().unwrap();
    let (finished, _) = finished_and_killed(place.path());
    let refused = |step: u64| Trained::load(&finished, Some(step)).err().unwrap().to_string();
    let path = |step: u64| run_folder::checkpoint(&finished, step);
    std::fs::copy(path(10), path(15)).unwrap();
    assert!(refused(15).contains("step-00000015.safetensors` is a checkpoint of step 10"));
    let mut checkpoint = Checkpoint::load(&path(5)).unwrap();
    checkpoint.weights[7] = f32::NAN;
    checkpoint.save(&path(5)).unwrap();
    assert!(refused(5).contains("step-00000005.safetensors` has weights that are NaN or infinite"));
    let mut checkpoint = Checkpoint::load(&path(10)).unwrap();
    checkpoint.metadata.insert("run".into(), "0123456789abcdef".into());
    checkpoint.save(&path(10)).unwrap();
    assert!(refused(10).contains("step-00000010.safetensors` is of run 0123456789abcdef, but the config beside it"));
    assert!(Trained::load(&finished, None).is_ok());
    flip(&finished.join("tokenizer.json"), 3);
    assert!(refused(20).contains("tokenizer.json` is not the tokenizer that the model was trained with"));
}
