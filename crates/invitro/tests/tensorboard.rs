//! `invitro run --tensorboard`: what TensorBoard's own reader finds in the event files.

use crate::common::python;
use crate::run::{done, interrupted, run};
use std::process::Command;

/// Event files hold the rows of `metrics.jsonl`, whether the run was stopped, or done before they were asked for.
#[test]
fn tensorboard_reads_the_event_files() {
    let Some(python) = python() else { return };
    let place = tempfile::tempdir().unwrap();
    let (watched, after) = (place.path().join("watched"), place.path().join("after"));
    let settings = ["train.steps=60", "eval.every=20", "checkpoint.every=20"];
    interrupted(run(&watched, &[&settings[..], &["--tensorboard"]].concat()), &watched);
    done(&run(&watched, &[&settings[..], &["--tensorboard"]].concat()).output().unwrap());
    done(&run(&after, &settings).output().unwrap());
    assert!(!after.join("tensorboard").exists());
    done(&run(&after, &[&settings[..], &["--tensorboard"]].concat()).output().unwrap());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/read_events.py");
    done(&Command::new(python).arg(script).args([&watched, &after]).output().unwrap());
    done(&run(&after, &[&settings[..], &["--force"]].concat()).output().unwrap());
    assert!(!after.join("tensorboard").exists());
}
