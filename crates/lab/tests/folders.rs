//! Whose folder it is: other configs, more steps, other processes, things that are no run; its logs, cut back to a
//! checkpoint's; what becomes of damage, and what happens where it cannot be written to, or may no longer be.

mod damage;
mod raised;

use crate::common::{self, SAME, bytes, find, member, run, steps, tiny, train};
use invitro_lab::inputs::InputCache;
use invitro_lab::run_folder::log::Log;
use invitro_lab::run_folder::more_steps::extend;
use invitro_lab::run_folder::{self, Folder, locked};
use invitro_lab::study::StudyFolder;
use invitro_lab::trained::Trained;
use invitro_lab::training::progress::Silent;
use invitro_lab::training::{self, MemberOutcome, TrainingOptions};
use invitro_lab::{Error, Experiment, Progress, State, Status, Stop};
use invitro_language::grammar::BUILT_IN;
use invitro_model::Device;
use invitro_results::Seal;
use invitro_results::folder::{METRICS, METRICS_TABLE};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
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
    let [MemberOutcome::Failed { error }] = &train(&[member(&other, place.path())], &Stop::new())[..] else { panic!() };
    assert!(error.contains("made by another config") && error.contains("--force"), "{error}");
    let before = bytes(place.path(), METRICS);
    let taken = Folder::take(place.path(), &other, true).unwrap();
    assert!(taken.saved().is_empty() && !place.path().join(METRICS).exists());
    assert!(!before.is_empty());
}

/// Two lengths of a run whose learning rate rises all the time.
fn lengths(short: u64, long: u64, more: &[&str]) -> [Experiment; 2] {
    [short, long].map(|steps| tiny(&[&["train.warmup=1000", &format!("train.steps={steps}")], more].concat()))
}

/// Nothing tells two folders apart but times.
fn are_the_same(one: &Path, two: &Path) {
    for name in SAME.into_iter().chain(["config.toml"]) {
        assert!(bytes(one, name) == bytes(two, name), "{name}");
    }
    assert_eq!(steps(one), steps(two));
    assert_eq!(run_folder::saved(one), run_folder::saved(two));
    for &step in &run_folder::saved(one) {
        let [one, two] = [one, two].map(|path| {
            let mut saved = invitro_model::Checkpoint::load(&run_folder::checkpoint(path, step)).unwrap();
            // Checksums of the logs, one of which has times in it.
            saved.metadata.remove("logs");
            saved
        });
        assert!(one == two, "checkpoint of step {step}");
    }
    let [one, two] = [one, two].map(|path| Status::read(path).unwrap().unwrap());
    assert_eq!((one.run, one.state, one.step, one.steps), (two.run, two.state, two.step, two.steps));
}

#[test]
fn a_run_that_is_given_more_steps_is_as_if_it_had_had_them_from_the_start() {
    // The shorter run's last evaluation is one of the longer run's, or not; all checkpoints stay, or not.
    for (short, more) in
        [(40, &["checkpoint.keep=all"][..]), (45, &[]), (45, &["eval.every=0", "train.warmup=5", "train.decay=none"])]
    {
        let place = tempfile::tempdir().unwrap();
        let (whole, parts) = (place.path().join("whole"), place.path().join("parts"));
        let [short, long] = lengths(short, 70, more);
        run(&long, &whole);
        run(&short, &parts);
        extend(&parts, &short, &long).unwrap();
        let status = Status::read(&parts).unwrap().unwrap();
        assert_eq!((status.state, status.step, status.run), (State::Stopped, short.train.steps, long.id()));
        assert!(!parts.join("summary.json").exists() && !parts.join("metrics.parquet").exists());
        run(&long, &parts);
        are_the_same(&whole, &parts);
    }
    // While it was under way.
    let place = tempfile::tempdir().unwrap();
    let (whole, parts) = (place.path().join("whole"), place.path().join("parts"));
    let [short, long] = lengths(40, 50, &[]);
    run(&long, &whole);
    train(&[member(&short, &parts)], &Stop::new().at(Instant::now()));
    extend(&parts, &short, &long).unwrap();
    run(&long, &parts);
    are_the_same(&whole, &parts);
}

/// As a kill would leave it: some files are as they are to be, others as they were.
#[test]
fn a_raise_that_was_interrupted_is_completed() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    let [short, long] = lengths(10, 20, &[]);
    run(&long, &at("whole"));
    run(&short, &at("before"));
    copy(&at("before"), &at("after"));
    extend(&at("after"), &short, &long).unwrap();
    let files =
        ["metrics.parquet", "training.parquet", "words.parquet", "summary.json", "metrics.jsonl", "samples.jsonl"];
    let more = ["training.jsonl", "checkpoints/step-00000010.safetensors", "status.json", "config.toml"];
    for done in 0..=files.len() + more.len() {
        let torn = at(&format!("torn{done}"));
        copy(&at("before"), &torn);
        std::fs::write(torn.join("raise.toml"), long.to_toml()).unwrap();
        for name in files.iter().chain(&more).take(done) {
            match std::fs::copy(at("after").join(name), torn.join(name)) {
                Ok(_) => {}
                Err(_) => std::fs::remove_file(torn.join(name)).unwrap(),
            }
        }
        assert_eq!(run_folder::config(&torn), torn.join("raise.toml"));
        run(&long, &torn);
        are_the_same(&at("whole"), &torn);
        assert!(!torn.join("raise.toml").exists());
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() { copy(&from, &to) } else { std::fs::copy(&from, &to).map(|_| ()).unwrap() }
    }
}

#[test]
fn what_cannot_be_raised_is_said() {
    let place = tempfile::tempdir().unwrap();
    let refused = |path: &Path, made_by: &Experiment, wanted: &Experiment| {
        let before = bytes(path, "status.json");
        let error = extend(path, made_by, wanted).unwrap_err().to_string();
        assert!(bytes(path, "status.json") == before && !path.join("raise.toml").exists());
        error
    };
    // The learning rate falls to 0 at the end.
    let falls = tiny(&["train.steps=20"]);
    run(&falls, &place.path().join("falls"));
    let error = refused(&place.path().join("falls"), &falls, &tiny(&["train.steps=40"]));
    assert!(error.contains("cannot be raised from 20 to 40: the learning rate falls to 0 at the last step"), "{error}");
    assert!(error.contains("other rates from step 11 on, and this one is at step 20"), "{error}");

    let [short, long] = lengths(10, 20, &["checkpoint.keep=none"]);
    run(&short, &place.path().join("none"));
    assert!(refused(&place.path().join("none"), &short, &long).contains("it kept no checkpoint to resume from"));

    let [short, long] = lengths(10, 20, &[]);
    let cell = place.path().join(short.id());
    run(&short, &cell);
    assert!(refused(&cell, &short, &long).contains("named by its identity, as the runs of a study are"));

    let [short, long] = lengths(10, 20, &["mixture.exposure=bare", "mixture.exposures=1"]);
    run(&short, &place.path().join("exposed"));
    let error = refused(&place.path().join("exposed"), &short, &long);
    assert!(error.contains("`mixture.exposure` spreads its rows over all steps"), "{error}");

    let [short, long] = lengths(10, 20, &[]);
    let path = place.path().join("other");
    run(&long, &path);
    for (wanted, keys) in [
        (short, "(train.steps: 20 in the folder, 10 asked for)"),
        (
            tiny(&["train.warmup=1000", "train.steps=20", "train.lr=0.1"]),
            "(train.lr: 0.005 in the folder, 0.1 asked for)",
        ),
        (
            tiny(&["train.steps=30"]),
            "train.steps: 20 in the folder, 30 asked for; train.warmup: 1000 in the folder, 10",
        ),
    ] {
        let error = refused(&path, &long, &wanted);
        assert!(error.contains("made by another config") && error.contains(keys), "{error}");
    }
}

#[test]
fn one_process_writes_at_a_time() {
    let place = tempfile::tempdir().unwrap();
    let experiment = tiny(&["train.steps=5"]);
    let held = Folder::take(place.path(), &experiment, false).unwrap();
    assert!(locked(place.path()));
    assert_eq!(train(&[member(&experiment, place.path())], &Stop::new()), [MemberOutcome::Busy]);
    drop(held);
    assert!(!locked(place.path()));
    assert_eq!(train(&[member(&experiment, place.path())], &Stop::new()), [MemberOutcome::Done]);
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
    std::fs::write(run_folder::checkpoint(&torn, 30), "torn").unwrap();
    run(&experiment, &torn);
    assert_eq!(bytes(&whole, METRICS), bytes(&torn, METRICS));
}

#[test]
fn a_log_is_cut_back_to_its_seal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let line = |step: u64| json!({"step": step, "value": 0.1});
    let mut log = Log::open(&path, None).unwrap();
    log.append(&[line(0), line(0)]).unwrap();
    log.append(&[line(10)]).unwrap();
    let (ten, after_ten) = (log.seal(), std::fs::read(&path).unwrap());
    log.append(&[line(20)]).unwrap();
    let (twenty, whole) = (log.seal(), std::fs::read(&path).unwrap());
    for torn in after_ten.len()..whole.len() {
        std::fs::write(&path, &whole[..torn]).unwrap();
        assert!(Log::open(&path, Some(&twenty)).is_err(), "torn after {torn} bytes");
        assert_eq!(Log::open(&path, Some(&ten)).unwrap().seal(), ten);
        assert_eq!(std::fs::read(&path).unwrap(), after_ten, "torn after {torn} bytes");
    }
    let mut log = Log::open(&path, Some(&ten)).unwrap();
    log.append(&[line(20)]).unwrap();
    assert_eq!((std::fs::read(&path).unwrap(), log.seal()), (whole.clone(), twenty));
    let mut flipped = whole;
    flipped[9] ^= 1;
    std::fs::write(&path, flipped).unwrap();
    assert!(Log::open(&path, Some(&ten)).err().unwrap().to_string().contains("log.jsonl` is damaged"));
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

/// Two grammars under one file name, one after the other.
#[test]
fn what_a_named_file_holds_is_part_of_the_experiment() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    let config = at("mine.toml");
    let tiny = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/tiny.toml")).unwrap();
    // Relative to the file, wherever the command is given.
    std::fs::write(&config, tiny.replace("[language]", "[language]\ngrammar = \"order.txt\"")).unwrap();
    let load = |order: &str| {
        let text = BUILT_IN.iter().find(|(name, _)| *name == order).unwrap().1;
        std::fs::write(at("order.txt"), text).unwrap();
        Experiment::load(None, Some(&config), &["train.steps=5".into()]).unwrap()
    };
    let svo = load("svo");
    let folder = at("run");
    let rows = run(&svo, &folder);
    let sov = load("sov");
    assert_ne!(svo.id(), sov.id());
    assert_eq!(load("svo").id(), svo.id());
    let Err(Error::OtherConfig { keys, .. }) = Folder::take(&folder, &sov, false) else { panic!() };
    assert!(keys.starts_with("language.grammar: \"files/order-"), "{keys}");

    // The run's folder has a copy and needs no other; the copy is written again where it is damaged, or refused.
    std::fs::remove_file(at("order.txt")).unwrap();
    let again = at("again");
    std::fs::rename(&folder, &again).unwrap();
    let trained = Trained::load(&again, None).unwrap();
    assert_eq!(trained.experiment, svo);
    assert_eq!(trained.languages.grammar(trained.languages.all()[0]).text(), BUILT_IN[0].1);
    let evaluated = trained.evaluate(&svo, invitro_model::Device::Cpu).unwrap();
    let contrast = "reach.A.network.facts.logprob";
    assert_eq!(find(&evaluated.rows, 5, contrast).value, find(&rows, 5, contrast).value);
    let copy = again.join(&svo.language.grammar);
    std::fs::write(&copy, "S -> 'subjectID' [1.0]").unwrap();
    let Err(error) = Trained::load(&again, None) else { panic!() };
    assert!(error.to_string().contains("order-") && error.to_string().contains("changed or damaged"), "{error}");
    Folder::take(&again, &svo, false).unwrap();
    assert_eq!(std::fs::read_to_string(&copy).unwrap(), BUILT_IN[0].1);
}

#[test]
fn what_a_named_file_holds_is_part_of_a_study() {
    let place = tempfile::tempdir().unwrap();
    let (file, out) = (place.path().join("orders.toml"), place.path().join("out"));
    std::fs::write(&file, "name = \"orders\"\n[factors]\nlanguage.grammar = [\"svo\", \"own.txt\"]").unwrap();
    let open = |order: usize| {
        std::fs::write(place.path().join("own.txt"), BUILT_IN[order].1).unwrap();
        StudyFolder::create(&file, &[], &out, None, true).unwrap()
    };
    let ids = |study: &StudyFolder| study.cells.iter().map(|cell| cell.id.clone()).collect::<Vec<_>>();
    let (sov, vso) = (ids(&open(1)), ids(&open(2)));
    assert_eq!(sov[0], vso[0]);
    assert_ne!(sov[1], vso[1]);
    std::fs::remove_file(place.path().join("own.txt")).unwrap();
    let moved = place.path().join("moved");
    std::fs::rename(&out, &moved).unwrap();
    assert_eq!(ids(&StudyFolder::open(&moved).unwrap()), vso);
}

/// Names that would leave the folder of runs, and sizes that no machine has.
#[test]
fn unwise_settings_get_a_sentence() {
    let load = |setting: &str| Experiment::load(None, None, &[setting.to_owned()]);
    for name in ["", "..", "../../evil", "a/b", ".hidden", "a\\b"] {
        let error = load(&format!("name='{name}'")).unwrap_err().to_string();
        assert!(error.starts_with(&format!("`name` is `{name}`, but must be 1 to 100 characters")), "{error}");
    }
    let place = tempfile::tempdir().unwrap();
    let wide = tiny(&["model.width=1000000", "model.heads=2"]);
    let error = training::run(
        &[member(&wide, place.path())],
        &TrainingOptions { device: invitro_model::Device::Cpu, force: false, stop: &Stop::new(), progress: &Silent },
    );
    let error = error.unwrap_err().to_string();
    assert!(error.contains("GB of memory, but this machine has"), "{error}");
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    assert!(load("model.layers=1000000000000").unwrap_err().to_string().contains("are supported"));
    let experiment = tiny(&["train.steps=5", "train.warmup=9", "eval.also=[3, 7]", "eval.subjects=90"]);
    let notes = InputCache::default().get(&experiment).unwrap().notes(&experiment);
    for (key, given) in [("train.warmup", "9"), ("eval.also", "7"), ("eval.subjects", "90"), ("eval.words", "200")] {
        assert!(
            notes.iter().any(|note| note.contains(&format!("`{key}`")) && note.contains(given)),
            "{key}: {notes:?}"
        );
    }
}

/// Says from the `left`-th time on that the run was taken over, and remembers what was there then.
struct TakenOver {
    left: AtomicUsize,
    folder: PathBuf,
    then: Mutex<Option<BTreeMap<PathBuf, Vec<u8>>>>,
    failed: AtomicUsize,
}

impl Progress for TakenOver {
    fn may_write(&self, _member: usize) -> bool {
        let mut then = self.then.lock().unwrap();
        let left = self.left.load(Ordering::Relaxed);
        if left == 0 {
            then.get_or_insert_with(|| files(&self.folder));
        } else {
            self.left.store(left - 1, Ordering::Relaxed);
        }
        left > 0
    }

    fn failed(&self, _member: usize, _step: u64, _error: &str) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }
}

/// Everything below a folder.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            all.extend(files(&entry.path()));
        } else {
            all.insert(entry.path(), std::fs::read(entry.path()).unwrap());
        }
    }
    all
}

#[test]
fn whoever_was_taken_over_writes_nothing_from_then_on() {
    let good = tiny(&["train.steps=8", "eval.every=4", "checkpoint.every=4"]);
    let wild = tiny(&["train.steps=8", "train.lr=1e30", "train.clip=0", "train.warmup=0", "eval.every=0"]);
    let bad = tiny(&["train.steps=8", "language.mask_share=0.04"]);
    for (experiment, moments) in [(good, 12), (wild, 3), (bad, 2)] {
        for left in 0.. {
            let place = tempfile::tempdir().unwrap();
            let folder = place.path().join("run");
            let (then, failed) = Default::default();
            let progress = TakenOver { left: left.into(), folder: folder.clone(), then, failed };
            let options =
                TrainingOptions { device: Device::Cpu, force: false, stop: &Stop::new(), progress: &progress };
            let outcomes = training::run(&[member(&experiment, &folder)], &options).unwrap();
            let then = progress.then.into_inner().unwrap();
            let Some(then) = then else {
                assert!(left >= moments, "it was asked {left} times");
                assert!(!matches!(outcomes[0], MemberOutcome::Lost));
                break;
            };
            assert_eq!(files(&folder), then, "after {left} writes");
            if !matches!(outcomes[0], MemberOutcome::Failed { .. }) {
                assert_eq!(
                    (&outcomes[0], progress.failed.into_inner()),
                    (&MemberOutcome::Lost, 0),
                    "after {left} writes"
                );
            }
        }
    }
}

#[test]
fn a_log_that_was_taken_over_is_another_file() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("log.jsonl");
    let line = |step: u64, by: &str| [json!({ "step": step, "by": by })];
    for goes_on in [false, true] {
        let seal = goes_on.then(|| Seal::of_file(&path).unwrap());
        let mut stopped = Log::open(&path, seal.as_ref()).unwrap();
        stopped.append(&line(10, "first")).unwrap();
        let before = std::fs::read_to_string(&path).unwrap();
        let mut now = Log::open(&path, Some(&stopped.seal())).unwrap();
        stopped.append(&line(20, "first")).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), before);
        now.append(&line(20, "second")).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().last(), Some("{\"by\":\"second\",\"step\":20}"));
    }
}

#[test]
fn a_finished_training_that_cannot_be_written_says_so_and_goes_on_later() {
    let place = tempfile::tempdir().unwrap();
    let (folder, whole) = (place.path().join("run"), place.path().join("whole"));
    let experiment = tiny(&["train.steps=10"]);
    // Where a table should go, there is a folder with something in it.
    let table = folder.join(METRICS_TABLE);
    std::fs::create_dir_all(table.join("in-the-way")).unwrap();
    std::fs::write(folder.join("config.toml"), experiment.to_toml()).unwrap();
    let outcomes = train(&[member(&experiment, &folder)], &Stop::new());
    let [MemberOutcome::Unwritten { error }] = &outcomes[..] else { panic!("{outcomes:?}") };
    let begins = error.starts_with("the training is finished, but its results could not be written: ");
    assert!(begins && error.contains(METRICS_TABLE), "{error}");
    let status = Status::read(&folder).unwrap().unwrap();
    assert_eq!((status.state, status.step, status.error.as_ref()), (State::Stopped, 10, Some(error)));
    std::fs::remove_dir_all(&table).unwrap();
    run(&experiment, &folder);
    run(&experiment, &whole);
    for name in common::SAME {
        assert_eq!(bytes(&folder, name), bytes(&whole, name), "{name}");
    }
    assert_eq!(Status::read(&folder).unwrap().unwrap().error, None);
    // A file where the folder should be is no fault of the run either.
    let file = place.path().join("file");
    std::fs::write(&file, "").unwrap();
    assert!(matches!(train(&[member(&experiment, &file)], &Stop::new())[..], [MemberOutcome::Unwritten { .. }]));
}

#[test]
fn inputs_are_shared_and_then_forgotten() {
    let cache = InputCache::default();
    let (first, second) = (tiny(&["seeds.data=0"]), tiny(&["seeds.data=1"]));
    let held = |cache: &InputCache, experiment| Arc::downgrade(&cache.get(experiment).unwrap().text);
    let text = held(&cache, &first);
    cache.forget_unused(1);
    assert!(std::sync::Weak::ptr_eq(&held(&cache, &first), &text), "the next population has the same");
    held(&cache, &second);
    cache.forget_unused(1);
    cache.forget_unused(1);
    assert_eq!(text.strong_count(), 0);
}
