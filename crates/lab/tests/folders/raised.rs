//! More steps for a run whose folder is not as it should be.

use super::lengths;
use crate::common::{SAME, bytes, member, run, tiny, train};
use invitro_lab::run_folder::more_steps::extend;
use invitro_lab::run_folder::{self, MORE_STEPS};
use invitro_lab::training::MemberOutcome;
use invitro_lab::{Status, Stop};

/// Killed before anything but `raise.toml` was written, and then called by its old settings.
#[test]
fn a_raise_that_is_half_done_belongs_to_the_longer_run_alone() {
    let place = tempfile::tempdir().unwrap();
    let (whole, parts) = (place.path().join("whole"), place.path().join("parts"));
    let [short, long] = lengths(40, 70, &[]);
    run(&long, &whole);
    run(&short, &parts);
    std::fs::write(parts.join(MORE_STEPS), long.to_toml()).unwrap();
    let saved = run_folder::saved(&parts);
    let outcomes = train(&[member(&short, &parts)], &Stop::new());
    let [MemberOutcome::Failed { error }] = &outcomes[..] else { panic!("{outcomes:?}") };
    assert!(error.contains("made by another config"), "{error}");
    assert_eq!(run_folder::saved(&parts), saved);
    assert_eq!(train(&[member(&long, &parts)], &Stop::new()), [MemberOutcome::Done]);
    for name in SAME {
        assert!(bytes(&parts, name) == bytes(&whole, name), "{name}");
    }
}

/// The logs are written anew: damage would be sealed with them.
#[test]
fn a_damaged_run_is_not_given_more_steps() {
    let [short, long] = lengths(40, 70, &[]);
    let refused = |spoil: &dyn Fn(&std::path::Path)| {
        let place = tempfile::tempdir().unwrap();
        run(&short, place.path());
        spoil(place.path());
        extend(place.path(), &short, &long).unwrap_err().to_string()
    };
    let without_status = refused(&|path| std::fs::remove_file(path.join("status.json")).unwrap());
    assert!(without_status.contains("status.json"), "{without_status}");
    let bad_line = refused(&|path| std::fs::write(path.join("samples.jsonl"), "{").unwrap());
    assert!(bad_line.contains("samples.jsonl"), "{bad_line}");
    // The checkpoint of a run with another seed.
    let foreign = refused(&|path| {
        let other = tempfile::tempdir().unwrap();
        run(&lengths(40, 70, &["seeds.model=9"])[0], other.path());
        std::fs::copy(run_folder::checkpoint(other.path(), 40), run_folder::checkpoint(path, 40)).unwrap();
    });
    assert!(foreign.contains("is of run"), "{foreign}");
}

/// It failed before it had a log; with other settings it may be given more steps, and says again why it cannot start.
#[test]
fn a_run_without_logs_is_not_stuck() {
    let place = tempfile::tempdir().unwrap();
    let [short, long] =
        [40, 70].map(|steps| tiny(&["train.warmup=1000", "tokenizer.vocab=100000", &format!("train.steps={steps}")]));
    let why = |outcomes: Vec<MemberOutcome>| match &outcomes[..] {
        [MemberOutcome::Failed { error }] => error.clone(),
        other => panic!("{other:?}"),
    };
    let first = why(train(&[member(&short, place.path())], &Stop::new()));
    extend(place.path(), &short, &long).unwrap();
    assert_eq!(Status::read(place.path()).unwrap().unwrap().run, long.id());
    assert_eq!(why(train(&[member(&long, place.path())], &Stop::new())), first);
}
