//! Leases: one holder at a time, taken over when the holder is dead, never on old news.

use invitro_lab::study::lease::{Generations, Leases};
use invitro_lab::study::worker::{Watch, Worker, WorkerRecord, record};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Barrier;
use std::time::{Duration, Instant};

const EXPIRY: Duration = Duration::from_secs(60);

struct Store {
    _place: tempfile::TempDir,
    workers: PathBuf,
    leases: Leases,
}

fn store() -> Store {
    let place = tempfile::tempdir().unwrap();
    let (workers, leases) = (place.path().join("workers"), place.path().join("leases"));
    std::fs::create_dir(&workers).unwrap();
    std::fs::create_dir(&leases).unwrap();
    Store { workers, leases: Leases::new(leases), _place: place }
}

impl Store {
    fn worker(&self) -> Worker {
        Worker::start(&self.workers, EXPIRY).unwrap()
    }

    fn watch(&self) -> Watch {
        Watch::new(&self.workers, EXPIRY)
    }
}

#[test]
fn a_cell_is_held_by_one_and_free_when_that_one_ends() {
    let store = store();
    let (one, two) = (store.worker(), store.worker());
    let none = Generations::new();
    let lease = store.leases.take("cell", &one, &none, &mut store.watch()).unwrap().unwrap();
    let now = store.leases.generations().unwrap();
    assert_eq!(store.leases.take("cell", &two, &now, &mut store.watch()).unwrap(), None);
    assert!(store.leases.holds(&lease));
    drop(one);
    let taken = store.leases.take("cell", &two, &now, &mut store.watch()).unwrap().unwrap();
    assert!(!store.leases.holds(&lease) && store.leases.holds(&taken));
    // Given back, it is free although its holder lives.
    store.leases.give_back(&taken).unwrap();
    let now = store.leases.generations().unwrap();
    assert!(store.leases.take("cell", &store.worker(), &now, &mut store.watch()).unwrap().is_some());
}

#[test]
fn old_news_take_nothing_from_the_living() {
    let store = store();
    let (one, two, three) = (store.worker(), store.worker(), store.worker());
    let none = Generations::new();
    store.leases.take("cell", &one, &none, &mut store.watch()).unwrap().unwrap();
    let old = store.leases.generations().unwrap();
    drop(one);
    let held = store.leases.take("cell", &two, &old, &mut store.watch()).unwrap().unwrap();
    // Three has judged the first generation dead, but comes late.
    assert_eq!(store.leases.take("cell", &three, &old, &mut store.watch()).unwrap(), None);
    assert_eq!(store.leases.take("cell", &three, &none, &mut store.watch()).unwrap(), None);
    assert!(store.leases.holds(&held));
}

#[test]
fn of_many_contenders_one_wins_every_time() {
    let store = store();
    let contenders = 8;
    for round in 0..50 {
        let generations = store.leases.generations().unwrap();
        let gate = Barrier::new(contenders);
        let won: usize = std::thread::scope(|scope| {
            let all: Vec<_> = (0..contenders)
                .map(|_| {
                    scope.spawn(|| {
                        let worker = store.worker();
                        gate.wait();
                        let lease = store.leases.take("cell", &worker, &generations, &mut store.watch()).unwrap();
                        // Nobody signs off before all have tried.
                        gate.wait();
                        usize::from(lease.is_some())
                    })
                })
                .collect();
            all.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(won, 1, "round {round}");
    }
}

/// Rewrites a worker's record as if it stood on another machine.
fn move_away(workers: &Path, worker: &str, change: impl Fn(&mut WorkerRecord)) {
    let mut there: WorkerRecord = record(workers, worker).unwrap();
    there.process.boot = "another machine".into();
    change(&mut there);
    std::fs::write(workers.join(format!("{worker}.json")), serde_json::to_vec(&there).unwrap()).unwrap();
}

#[test]
fn a_worker_elsewhere_is_dead_when_its_heart_stands_still() {
    let store = store();
    let quick = Duration::from_millis(300);
    let far = store.worker();
    move_away(&store.workers, &far.id, |_| {});
    let mut watch = Watch::new(&store.workers, quick);
    let begun = Instant::now();
    // As long as it beats it lives, whatever its clock says.
    for beat in 0..8 {
        move_away(&store.workers, &far.id, |record| (record.beat, record.at) = (100 + beat, 5));
        assert!(!watch.dead(&far.id));
        std::thread::sleep(quick / 4);
    }
    assert!(begun.elapsed() > quick);
    while !watch.dead(&far.id) {
        assert!(begun.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(20));
    }
    // One that has only now been seen is given the whole time, though its last beat is long ago.
    assert!(!Watch::new(&store.workers, quick).dead(&far.id));
}

#[test]
fn a_process_that_is_gone_is_dead_at_once() {
    let store = store();
    let mut child = Command::new("sleep").arg("60").stdout(Stdio::null()).spawn().unwrap();
    let worker = store.worker();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    let birth = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19).unwrap().to_owned();
    let mut there: WorkerRecord = record(&store.workers, &worker.id).unwrap();
    (there.process.pid, there.process.birth, there.worker) = (child.id(), birth, "other".into());
    std::fs::write(store.workers.join("other.json"), serde_json::to_vec(&there).unwrap()).unwrap();
    assert!(!store.watch().dead("other"));
    child.kill().unwrap();
    // Not yet waited for, it is a zombie, and as dead as can be.
    let begun = Instant::now();
    while !store.watch().dead("other") {
        assert!(begun.elapsed() < Duration::from_secs(10));
    }
    child.wait().unwrap();
    assert!(store.watch().dead("other"));
    // Another process that came to the same number is another.
    (there.process.pid, there.process.birth) = (std::process::id(), "0".into());
    std::fs::write(store.workers.join("other.json"), serde_json::to_vec(&there).unwrap()).unwrap();
    assert!(store.watch().dead("other"));
}

#[test]
fn a_worker_that_could_not_beat_knows_that_it_may_have_been_given_up() {
    let store = store();
    let worker = Worker::start(&store.workers, Duration::from_millis(600)).unwrap();
    assert!(!worker.overdue());
    let away = store.workers.with_file_name("away");
    std::fs::rename(&store.workers, &away).unwrap();
    std::thread::sleep(Duration::from_millis(900));
    assert!(worker.overdue());
    assert!(!worker.beat_now());
    std::fs::rename(&away, &store.workers).unwrap();
    assert!(worker.beat_now() && !worker.overdue());
}

#[test]
fn generations_ignore_what_is_no_lease() {
    let store = store();
    let worker = store.worker();
    let lease = store.leases.take("cell", &worker, &Generations::new(), &mut store.watch()).unwrap();
    assert!(lease.is_some());
    let folder = store.workers.with_file_name("leases");
    std::fs::write(folder.join(".cell.1.99.part"), "").unwrap();
    std::fs::write(folder.join("notes.txt"), "").unwrap();
    assert_eq!(store.leases.generations().unwrap(), HashMap::from([("cell".to_owned(), 0)]));
}
