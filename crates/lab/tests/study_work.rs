//! The work of processes on a study, with a workload that stands for training.

use crate::common::tiny;
use crate::study_common::{Fault, Journal, STEPS, Toy, create, study};
use invitro_lab::Stop;
use invitro_lab::executor::Training;
use invitro_lab::executor::shared::{WorkSettings, WorkSummary, WorkerSetup};
use invitro_lab::executor::workers::run_workers;
use invitro_lab::executor::workers::work;
use invitro_lab::study::StudyFolder;
use invitro_lab::study::collect::collect;
use invitro_lab::study::folder::CellState;
use invitro_lab::study::retry::{self, retry};
use invitro_lab::study::status::{CellStatus, Overview};
use invitro_lab::study::worker::{WorkerRecord, records};
use invitro_model::Device;
use invitro_results::Status;
use invitro_results::folder::{METRICS_TABLE, STATUS, SUMMARY, WORDS};
use invitro_results::table::TableReader;
use serde_json::json;
use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const EXPIRY: Duration = Duration::from_secs(60);

fn settings(stop: &Stop) -> WorkSettings<'_> {
    WorkSettings { stop, only: None, limit: None, fail_fast: false, expiry: EXPIRY }
}

fn done(folder: &StudyFolder) -> usize {
    Overview::read(folder, EXPIRY).unwrap().counts().done
}

fn sittings(folder: &StudyFolder) -> Vec<Vec<u64>> {
    let read = |cell| std::fs::read_to_string(folder.run(cell).join("sittings")).unwrap_or_default();
    folder.cells.iter().map(|cell| read(cell).lines().map(|line| line.parse().unwrap()).collect()).collect()
}

#[test]
fn a_study_is_run_in_populations_of_one_shape() {
    let place = tempfile::tempdir().unwrap();
    let folder = create(place.path(), &study(5, 2));
    let (toy, journal) = (Toy::new(4), Journal::default());
    let ended = work(&folder, &toy, &settings(&Stop::new()), &journal).unwrap();
    assert_eq!(ended, WorkSummary { done: 20, failed: 0, left: 0, stopped: false });
    // Of a seed and a shape there are 5: four, and the fifth with three of the next seed.
    assert_eq!(*toy.trained.lock().unwrap(), [4, 4, 4, 4, 2, 2]);
    assert_eq!((journal.count("taken"), journal.count("done")), (20, 20));
    // Run again, nothing is run.
    let again = Journal::default();
    assert_eq!(work(&folder, &toy, &settings(&Stop::new()), &again).unwrap(), WorkSummary::default());
    assert_eq!(again.count(""), 0);
    assert!(records(&folder.workers()).is_empty(), "workers sign off");
}

#[test]
fn a_failing_cell_is_recorded_and_touches_no_other() {
    let place = tempfile::tempdir().unwrap();
    let folder = create(place.path(), &study(4, 1));
    let mut toy = Toy::new(4);
    toy.faults = Box::new(|member| (member.experiment.language.distance == 0.001).then_some(Fault::Fails));
    let journal = Journal::default();
    let ended = work(&folder, &toy, &settings(&Stop::new()), &journal).unwrap();
    assert_eq!(ended, WorkSummary { done: 6, failed: 2, left: 0, stopped: false });
    assert_eq!(journal.count("failed"), 2, "shown at once, and once");
    let overview = Overview::read(&folder, EXPIRY).unwrap();
    let failed: Vec<&CellStatus> =
        overview.cells.iter().filter(|status| matches!(status, CellStatus::Failed { .. })).collect();
    assert_eq!(failed[0], &CellStatus::Failed { step: 3, error: "a fault of this cell".into() });
    // It is not tried again by itself, but once it is opened.
    assert_eq!(
        work(&folder, &Toy::new(4), &settings(&Stop::new()), &Journal::default()).unwrap(),
        WorkSummary::default()
    );
    let opened = retry(&folder, retry::RetryRequest::default(), EXPIRY).unwrap();
    assert_eq!(opened.len(), 2);
    let ended = work(&folder, &Toy::new(4), &settings(&Stop::new()), &Journal::default()).unwrap();
    assert_eq!((ended.done, done(&folder)), (2, 8));
}

#[test]
fn a_cell_that_breaks_the_population_is_found_and_left_out() {
    let place = tempfile::tempdir().unwrap();
    let folder = create(place.path(), &study(4, 1));
    let mut toy = Toy::new(8);
    toy.faults = Box::new(|member| (member.experiment.language.distance == 0.002).then_some(Fault::Panics));
    let journal = Journal::default();
    let ended = work(&folder, &toy, &settings(&Stop::new()), &journal).unwrap();
    assert_eq!(ended, WorkSummary { done: 6, failed: 2, left: 0, stopped: false });
    assert_eq!(journal.count("halved"), 4, "4 to 2 to 1, for each shape");
    let errors: Vec<String> = Overview::read(&folder, EXPIRY)
        .unwrap()
        .cells
        .into_iter()
        .filter_map(|status| if let CellStatus::Failed { error, .. } = status { Some(error) } else { None })
        .collect();
    assert_eq!(errors, ["the run broke: a bug in this cell"; 2]);
}

#[test]
fn a_population_that_does_not_fit_is_halved_and_the_size_remembered() {
    let place = tempfile::tempdir().unwrap();
    let folder = create(place.path(), &study(16, 1));
    let mut toy = Toy::new(8);
    toy.room = 3;
    let ended = work(&folder, &toy, &settings(&Stop::new()), &Journal::default()).unwrap();
    assert_eq!((ended.done, ended.failed), (32, 0));
    assert_eq!(*toy.refused.lock().unwrap(), [8, 4, 4, 8, 4, 4], "then never again");
    assert!(toy.trained.lock().unwrap().iter().all(|members| *members == 2));
    // Alone and still too large, it fails.
    let place = tempfile::tempdir().unwrap();
    let folder = create(place.path(), &study(1, 1));
    toy.room = 0;
    let ended = work(&folder, &toy, &settings(&Stop::new()), &Journal::default()).unwrap();
    assert_eq!((ended.done, ended.failed), (0, 2));
}

#[test]
fn a_first_failure_ends_all_where_that_is_wanted() {
    let place = tempfile::tempdir().unwrap();
    let folder = create(place.path(), &study(8, 1));
    let mut toy = Toy::new(2);
    toy.faults = Box::new(|_| Some(Fault::Fails));
    let stop = Stop::new();
    let settings = WorkSettings { fail_fast: true, ..settings(&stop) };
    let ended = work(&folder, &toy, &settings, &Journal::default()).unwrap();
    assert!(ended.stopped && ended.failed == 2 && ended.left == 14, "{ended:?}");
}

#[test]
fn limits_and_time_are_kept_and_the_next_goes_on() {
    let place = tempfile::tempdir().unwrap();
    let folder = create(place.path(), &study(4, 1));
    let stop = Stop::new();
    let limited = WorkSettings { limit: Some(3), ..settings(&stop) };
    let ended = work(&folder, &Toy::new(2), &limited, &Journal::default()).unwrap();
    assert_eq!(ended, WorkSummary { done: 3, failed: 0, left: 5, stopped: false });
    let mut slow = Toy::new(2);
    slow.pause = Duration::from_millis(20);
    let stop = Stop::new().at(Instant::now() + Duration::from_millis(600));
    let ended = work(&folder, &slow, &settings(&stop), &Journal::default()).unwrap();
    assert!(ended.stopped && ended.left > 0, "{ended:?}");
    let half = sittings(&folder);
    let ended = work(&folder, &Toy::new(2), &settings(&Stop::new()), &Journal::default()).unwrap();
    assert_eq!((ended.left, done(&folder)), (0, 8));
    // What was stopped went on from where it was: one sitting more, from a later step.
    let begun: usize = half.iter().map(Vec::len).sum();
    let resumed: Vec<u64> = sittings(&folder).into_iter().filter_map(|of| of.get(1).copied()).collect();
    assert!(!resumed.is_empty() && resumed.iter().all(|step| (1..STEPS).contains(step)), "{begun} {resumed:?}");
}

#[test]
fn a_limit_takes_the_first_cells_in_order_whatever_would_train_well_together() {
    let place = tempfile::tempdir().unwrap();
    let folder = create(place.path(), &study(5, 2));
    let first = |limit: usize| folder.cells.iter().take(limit).map(|cell| cell.id.clone()).collect::<HashSet<_>>();
    for (limit, workers) in [(6, 1), (7, 2)] {
        let (stop, before) = (Stop::new(), done(&folder));
        let limited = WorkSettings { limit: Some(limit), ..settings(&stop) };
        let ended = together(&folder, &Toy::new(4), workers, &limited, &Journal::default());
        assert_eq!(ended, WorkSummary { done: limit, failed: 0, left: 20 - before - limit, stopped: false });
        let states = folder.cell_states(&HashSet::new()).unwrap();
        let cells = folder.cells.iter().zip(states).filter(|(_, (state, _))| *state == CellState::Done);
        assert_eq!(cells.map(|(cell, _)| cell.id.clone()).collect::<HashSet<_>>(), first(before + limit));
    }
}

#[test]
fn several_at_once_share_the_work() {
    let place = tempfile::tempdir().unwrap();
    let folder = create(place.path(), &study(12, 2));
    let ended: Vec<WorkSummary> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let mut toy = Toy::new(3);
                    toy.pause = Duration::from_millis(1);
                    work(&folder, &toy, &settings(&Stop::new()), &Journal::default()).unwrap()
                })
            })
            .collect();
        all.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(ended.iter().map(|ended| ended.done).sum::<usize>(), 48);
    assert!(ended.iter().all(|ended| ended.left == 0), "each returns when all is done: {ended:?}");
    assert!(sittings(&folder).iter().all(|of| *of == [0]), "every cell in one sitting");
}

/// Works with so many workers of one process.
fn together(
    folder: &StudyFolder,
    toy: &Toy,
    workers: usize,
    settings: &WorkSettings,
    journal: &Journal,
) -> WorkSummary {
    let place: WorkerSetup = (toy, journal);
    run_workers(folder, &vec![place; workers], settings).unwrap()
}

#[test]
fn workers_of_one_process_share_the_work_and_end_together() {
    let place = tempfile::tempdir().unwrap();
    let folder = create(place.path(), &study(12, 2));
    let (mut toy, journal, stop) = (Toy::new(10), Journal::default(), Stop::new());
    toy.pause = Duration::from_millis(1);
    let begun = Instant::now();
    let ended = together(&folder, &toy, 2, &settings(&stop), &journal);
    assert_eq!(ended, WorkSummary { done: 48, failed: 0, left: 0, stopped: false });
    // 24 of each of two shapes: not 10, 10 and 4, but alike.
    assert_eq!(*toy.trained.lock().unwrap(), [8; 6]);
    assert!(sittings(&folder).iter().all(|of| *of == [0]), "every cell in one sitting");
    assert_eq!(journal.count("waiting"), 0, "nobody tells of waiting for oneself");
    assert!(begun.elapsed() < Duration::from_secs(4), "who waits is woken");
    assert!(records(&folder.workers()).is_empty(), "all sign off");
    assert_eq!(together(&folder, &toy, 2, &settings(&stop), &journal), WorkSummary::default());
}

#[test]
fn workers_of_one_process_keep_one_limit_stop_together_and_go_on() {
    let place = tempfile::tempdir().unwrap();
    let folder = create(place.path(), &study(8, 1));
    let stop = Stop::new();
    let limited = WorkSettings { limit: Some(7), ..settings(&stop) };
    let ended = together(&folder, &Toy::new(2), 3, &limited, &Journal::default());
    assert_eq!(ended, WorkSummary { done: 7, failed: 0, left: 9, stopped: false });
    let mut slow = Toy::new(2);
    slow.pause = Duration::from_millis(20);
    let stop = Stop::new().at(Instant::now() + Duration::from_millis(200));
    let ended = together(&folder, &slow, 3, &settings(&stop), &Journal::default());
    assert!(ended.stopped && ended.left == 9, "{ended:?}");
    // A failure that is to end all ends all workers.
    let mut failing = Toy::new(2);
    failing.pause = Duration::from_millis(5);
    failing.faults = Box::new(|member| (member.experiment.language.distance == 0.007).then_some(Fault::Fails));
    let stop = Stop::new();
    let settings_of = WorkSettings { fail_fast: true, ..settings(&stop) };
    let ended = together(&folder, &failing, 2, &settings_of, &Journal::default());
    assert!(stop.requested() && ended.failed >= 1, "{ended:?}");
    let stop = Stop::new();
    retry(&folder, retry::RetryRequest::default(), EXPIRY).unwrap();
    assert_eq!(together(&folder, &Toy::new(2), 3, &settings(&stop), &Journal::default()).left, 0);
    assert_eq!(done(&folder), 16);
}

#[test]
fn a_device_that_breaks_leaves_the_work_to_the_others() {
    let place = tempfile::tempdir().unwrap();
    let folder = create(place.path(), &study(8, 1));
    let (broken, mut toy, journal) = (Toy { is_broken: true, ..Toy::new(4) }, Toy::new(4), Journal::default());
    toy.pause = Duration::from_millis(5);
    let stop = Stop::new();
    let error = run_workers(&folder, &[(&broken, &journal), (&toy, &journal)], &settings(&stop)).unwrap_err();
    assert!(error.to_string().contains("the GPU fell off the bus"), "{error}");
    assert_eq!((journal.count("gave up the GPU fell off the bus"), done(&folder)), (1, 16));
}

#[test]
fn populations_under_way_together_train_as_if_alone() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("tiny.toml"), tiny(&["train.steps=20", "eval.every=5"]).to_toml()).unwrap();
    let file = place.path().join("pair.toml");
    std::fs::write(&file, "name = \"pair\"\nbase = \"tiny.toml\"\n[factors]\nmixture.lambda = [0.25, 0.5]\n").unwrap();
    let tables = |name: &str, workers: usize| -> Vec<Vec<u8>> {
        let folder = StudyFolder::create(&file, &[], &place.path().join(name), None, false).unwrap();
        let training = Training::on(&[Device::Cpu], Some(1), 1).pop().unwrap();
        let journal = Journal::default();
        let places: Vec<WorkerSetup> = vec![(&training, &journal); workers];
        let ended = run_workers(&folder, &places, &settings(&Stop::new())).unwrap();
        assert_eq!((ended.done, ended.left), (2, 0), "{:?}", journal.lines);
        assert!(training.slots.busy() > Duration::ZERO);
        folder.cells.iter().map(|cell| std::fs::read(folder.run(cell).join(METRICS_TABLE)).unwrap()).collect()
    };
    assert!(tables("alone", 1) == tables("together", 2));
}

#[test]
fn who_lost_a_lease_writes_nothing() {
    let place = tempfile::tempdir().unwrap();
    let folder = create(place.path(), &study(1, 1));
    let mut toy = Toy::new(2);
    // While the first cell trains, somebody elsewhere takes it over.
    let (leases, first) = (folder.runs().join(".leases"), folder.cells[0].id.clone());
    let once = AtomicBool::new(true);
    toy.faults = Box::new({
        let first = first.clone();
        move |member| {
            if member.experiment.id() == first && once.swap(false, Ordering::Relaxed) {
                let now = (0..).take_while(|number| leases.join(format!("{first}.{number}")).exists()).count();
                std::fs::write(leases.join(format!("{first}.{now}")), "elsewhere").unwrap();
            }
            None
        }
    });
    let elsewhere = WorkerRecord { worker: "elsewhere".into(), ..this_card(&folder) };
    std::fs::write(folder.workers().join("elsewhere.json"), serde_json::to_vec(&elsewhere).unwrap()).unwrap();
    let (stop, journal) = (Stop::new(), Journal::default());
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| work(&folder, &toy, &settings(&stop), &journal).unwrap());
        let begun = Instant::now();
        while journal.count("waiting 1") == 0 {
            assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", journal.lines);
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!((journal.count("lost"), journal.count("done")), (1, 1));
        assert!(!folder.run(&folder.cells[0]).join("result").exists());
        // Elsewhere ends without having finished: the cell is taken back.
        std::fs::remove_file(folder.workers().join("elsewhere.json")).unwrap();
        toy_done(&journal, 2);
        assert_eq!(worker.join().unwrap().left, 0);
    });
}

fn toy_done(journal: &Journal, times: usize) {
    let begun = Instant::now();
    while journal.count("done") < times {
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", journal.lines);
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The record of a worker of this process, which lives as long as the test.
fn this_card(folder: &StudyFolder) -> WorkerRecord {
    let worker = invitro_lab::study::worker::Worker::start(&folder.workers(), EXPIRY).unwrap();
    invitro_lab::study::worker::record(&folder.workers(), &worker.id).unwrap()
}

#[test]
fn runs_of_another_version_are_told_and_not_used() {
    let place = tempfile::tempdir().unwrap();
    let folder = create(place.path(), &study(2, 1));
    work(&folder, &Toy::new(4), &settings(&Stop::new()), &Journal::default()).unwrap();
    let run = folder.run(&folder.cells[0]);
    let mut status = Status::read(&run).unwrap().unwrap();
    // One that gave the same results under this schema.
    status.version = "0.1.0".into();
    status.write(&run).unwrap();
    assert!(matches!(folder.cell_states(&HashSet::new()).unwrap()[0].0, CellState::Done));
    status.version = "99.0.0".into();
    status.write(&run).unwrap();
    let cell_states = folder.cell_states(&HashSet::new()).unwrap();
    let stale = &cell_states[0].0;
    assert!(matches!(stale, CellState::Stale { why } if why.starts_with("made by 99.0.0, schema")), "{stale:?}");
    // Neither used nor overwritten, until it is asked for.
    assert_eq!(
        work(&folder, &Toy::new(4), &settings(&Stop::new()), &Journal::default()).unwrap(),
        WorkSummary::default()
    );
    assert_eq!(retry(&folder, retry::RetryRequest::default(), EXPIRY).unwrap(), []);
    assert_eq!(retry(&folder, retry::RetryRequest { stale: true, fresh: false }, EXPIRY).unwrap().len(), 1);
    assert!(folder.runs().join(".old").join(format!("{}.1", folder.cells[0].id)).exists(), "kept aside");
    let ended = work(&folder, &Toy::new(4), &settings(&Stop::new()), &Journal::default()).unwrap();
    assert_eq!((ended.done, done(&folder)), (1, 4));
}

#[test]
fn two_studies_over_one_store_run_what_they_share_once() {
    let place = tempfile::tempdir().unwrap();
    let store = place.path().join("store");
    let make = |name: &str, distances: usize| {
        let file = place.path().join(format!("{name}.toml"));
        std::fs::write(&file, study(distances, 1).replace("tiny", name)).unwrap();
        StudyFolder::create(&file, &[], &place.path().join(name), Some(&store), false).unwrap()
    };
    let (small, large) = (make("small", 2), make("large", 5));
    let run =
        |folder: &StudyFolder| work(folder, &Toy::new(4), &settings(&Stop::new()), &Journal::default()).unwrap().done;
    assert_eq!((run(&small), run(&large)), (4, 6));
    assert_eq!((done(&small), done(&large)), (4, 10));
}

/// Cuts a file to half its length.
fn cut(path: &Path) {
    let bytes = std::fs::read(path).unwrap();
    std::fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
}

/// Writes nonsense over the middle of a file.
fn spoil(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    let middle = bytes.len() / 3;
    bytes[4..middle].fill(0xff);
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_cell_without_its_results_is_not_done_and_is_taken_again() {
    let place = tempfile::tempdir().unwrap();
    let folder = create(place.path(), &study(4, 1));
    let run = || work(&folder, &Toy::new(4), &settings(&Stop::new()), &Journal::default()).unwrap();
    assert_eq!(run().done, 8);
    let at = |cell: usize, file: &str| folder.run(&folder.cells[cell]).join(file);
    std::fs::remove_file(at(0, METRICS_TABLE)).unwrap();
    cut(&at(1, WORDS));
    std::fs::remove_file(at(2, SUMMARY)).unwrap();
    cut(&at(3, STATUS));
    std::fs::remove_dir_all(folder.run(&folder.cells[4])).unwrap();
    let overview = Overview::read(&folder, EXPIRY).unwrap();
    assert_eq!((overview.counts().done, overview.counts().damaged, overview.counts().waiting), (3, 4, 1));
    for (cell, file) in [METRICS_TABLE, WORDS, SUMMARY, STATUS].into_iter().enumerate() {
        let named = matches!(&overview.cells[cell], CellStatus::Damaged { why, .. } if why.contains(file));
        assert!(named, "{file}: {:?}", overview.cells[cell]);
    }
    let journal = Journal::default();
    let ended = work(&folder, &Toy::new(4), &settings(&Stop::new()), &journal).unwrap();
    assert_eq!((ended.done, ended.left, done(&folder)), (5, 0, 8));
    assert_eq!(journal.count("again"), 4, "{:?}", journal.lines);
    assert_eq!(run(), WorkSummary::default());
}

#[test]
fn what_only_reading_shows_is_found_by_retry_and_collect() {
    let place = tempfile::tempdir().unwrap();
    let folder = create(place.path(), &study(3, 1));
    let run = || work(&folder, &Toy::new(4), &settings(&Stop::new()), &Journal::default()).unwrap();
    assert_eq!(run().done, 6);
    let at = |cell: usize, file: &str| folder.run(&folder.cells[cell]).join(file);
    spoil(&at(0, METRICS_TABLE));
    // The table of another run, whole as it is.
    std::fs::copy(at(2, METRICS_TABLE), at(1, METRICS_TABLE)).unwrap();
    assert_eq!(done(&folder), 4, "they are newer than what sealed them");
    for cell in [0, 1] {
        let table = std::fs::File::options().write(true).open(at(cell, METRICS_TABLE)).unwrap();
        table.set_modified(std::time::UNIX_EPOCH).unwrap();
    }
    assert_eq!(done(&folder), 6, "at a glance");
    let collected = collect(&folder, Default::default()).unwrap();
    assert_eq!((collected.runs, collected.done), (6, 4));
    let damaged: Vec<&str> = collected.damaged.iter().map(|(id, ..)| id.as_str()).collect();
    assert_eq!(damaged, [&folder.cells[0].id, &folder.cells[1].id]);
    assert!(collected.damaged[1].2.contains("its checksum is another"), "{:?}", collected.damaged);
    let rows = TableReader::open(&folder.path.join("runs.parquet")).unwrap().rows().unwrap();
    assert_eq!((&rows[0]["state"], &rows[2]["state"]), (&json!("interrupted"), &json!("done")));
    assert!(rows[0]["error"].as_str().unwrap().contains(METRICS_TABLE));
    // They are open, and the next process takes them.
    assert_eq!((done(&folder), run().done, done(&folder)), (4, 2, 6));
    spoil(&at(0, METRICS_TABLE));
    let opened = retry(&folder, retry::RetryRequest::default(), EXPIRY).unwrap();
    assert_eq!(opened.len(), 1);
    assert_eq!((run().done, collect(&folder, Default::default()).unwrap().done), (1, 6));
}

#[test]
fn a_cell_that_comes_to_nothing_readable_starts_over_once_and_then_fails() {
    let place = tempfile::tempdir().unwrap();
    let folder = create(place.path(), &study(1, 1));
    let mut toy = Toy::new(1);
    let broken = folder.cells[0].id.clone();
    toy.breaks = Some(broken.clone());
    let journal = Journal::default();
    let ended = work(&folder, &toy, &settings(&Stop::new()), &journal).unwrap();
    assert_eq!((ended.done, ended.failed, ended.left), (1, 1, 0));
    assert_eq!((journal.count("again"), journal.count("failed")), (1, 1), "{:?}", journal.lines);
    assert!(folder.runs().join(".old").join(format!("{broken}.1")).exists(), "kept aside");
}

#[test]
fn a_cell_that_cannot_be_written_is_left_to_the_next_process() {
    let place = tempfile::tempdir().unwrap();
    let folder = create(place.path(), &study(2, 1));
    let mut toy = Toy::new(2);
    toy.faults = Box::new(|member| (member.experiment.language.distance == 0.001).then_some(Fault::Unwritten));
    let journal = Journal::default();
    let ended = work(&folder, &toy, &settings(&Stop::new()), &journal).unwrap();
    assert_eq!(ended, WorkSummary { done: 2, failed: 2, left: 2, stopped: false });
    assert_eq!(journal.count("failed"), 2, "each is tried once: {:?}", journal.lines);
    let ended = work(&folder, &Toy::new(2), &settings(&Stop::new()), &Journal::default()).unwrap();
    assert_eq!((ended.done, done(&folder)), (2, 4));
}

#[test]
fn what_killed_processes_left_is_removed_by_the_next() {
    let place = tempfile::tempdir().unwrap();
    let folder = create(place.path(), &study(1, 1));
    let mut gone = std::process::Command::new("true").spawn().unwrap();
    gone.wait().unwrap();
    let own = invitro_base::files::PartialFile::new(&place.path().join("x")).unwrap();
    let own = own.path().file_name().unwrap().to_str().unwrap().to_owned();
    let name = own.replace(&format!("-{}-", std::process::id()), &format!("-{}-", gone.id()));
    let places = [folder.path.clone(), folder.workers(), folder.runs().join(".leases")];
    places.iter().for_each(|place| std::fs::write(place.join(&name), "half").unwrap());
    work(&folder, &Toy::new(2), &settings(&Stop::new()), &Journal::default()).unwrap();
    assert!(places.iter().all(|place| !place.join(&name).exists()));
}

#[test]
fn a_silent_worker_is_named_whatever_the_clocks_say() {
    let place = tempfile::tempdir().unwrap();
    let folder = create(place.path(), &study(1, 1));
    let mut card = this_card(&folder);
    card.process.boot = "another machine".into();
    let mut write = |worker: &str, at: u64, minutes: u64| {
        (card.worker, card.at) = (worker.into(), at);
        let path = folder.workers().join(format!("{worker}.json"));
        std::fs::write(&path, serde_json::to_vec(&card).unwrap()).unwrap();
        let then = std::time::SystemTime::now() - Duration::from_secs(60 * minutes);
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(then).unwrap();
    };
    // By its own clock the first is of the past, and the second of the future.
    write("at-work", 5, 0);
    write("frozen", u64::MAX / 2, 10);
    let overview = Overview::read(&folder, EXPIRY).unwrap();
    let names = |workers: &[WorkerRecord]| workers.iter().map(|record| record.worker.clone()).collect::<Vec<_>>();
    assert_eq!(names(&overview.workers), ["at-work"]);
    let (silent, seconds) = &overview.silent[0];
    assert_eq!((overview.silent.len(), silent.worker.as_str()), (1, "frozen"));
    // To the clocks' grain.
    assert!((599..700).contains(&seconds.as_secs()), "{seconds:?}");
    // Nobody has heard of it for a day: the next who comes removes its record.
    write("frozen", 5, 25 * 60);
    this_card(&folder);
    assert!(Overview::read(&folder, EXPIRY).unwrap().silent.is_empty());
}
