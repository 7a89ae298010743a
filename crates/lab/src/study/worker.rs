//! A process that works on a study, as others see it: a file that says who it is and that its heart beats.
//!
//! `runs/.workers/<id>.json` is rewritten every few seconds with a higher beat. Whether a worker is alive is judged
//! without comparing the clocks of two machines: on the same machine by looking for its process, elsewhere by
//! watching the beat. One that has not moved for the whole expiry, on the watcher's own clock, is dead. For a single look
//! the file's time is held against that of a file written just now: both are the file server's. A worker that ends
//! removes its file; one that could not beat for too long counts itself as dead too (see [`Worker::overdue`]).

use crate::error::Result;
use crate::training::activity::{Stopwatch, Times};
use invitro_results::folder::write_file;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// What a worker's file holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WorkerRecord {
    pub worker: String,
    pub host: String,
    /// The process, by this boot of this machine, its name space, its number and its birth.
    pub process: WorkerProcess,
    pub slurm_job: Option<String>,
    pub beat: u64,
    /// Unix seconds by the worker's own clock, for people to read: when it started, and its last beat.
    pub since: u64,
    pub at: u64,
    /// Steps taken since it started, of all members it trained, and the seconds that took.
    pub steps: u64,
    #[serde(default)]
    pub seconds: f64,
    /// What these seconds went to.
    #[serde(default)]
    pub times: Times,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerProcess {
    pub boot: String,
    pub space: String,
    pub pid: u32,
    pub birth: String,
}

impl WorkerProcess {
    fn this() -> WorkerProcess {
        let pid = std::process::id();
        WorkerProcess { boot: boot(), space: space(), pid, birth: birth(pid).unwrap_or_default() }
    }

    /// Whether the process is surely gone; `None` from another machine, where nothing can be said.
    fn gone(&self, here: &WorkerProcess) -> Option<bool> {
        let same_machine = !self.boot.is_empty() && self.boot == here.boot && self.space == here.space;
        same_machine.then(|| birth(self.pid).as_deref() != Some(&self.birth))
    }
}

fn boot() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

fn space() -> String {
    std::fs::read_link("/proc/self/ns/pid").map(|link| link.to_string_lossy().into_owned()).unwrap_or_default()
}

/// When the process was started, in clock ticks since boot; a number may be used again, the two together not.
/// `None` if there is no such process, or only what is left of one.
fn birth(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything; the fields after it are state, parent, …, birth (the 22nd of all).
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let is_dead = matches!(*fields.first()?, "Z" | "X" | "x");
    (!is_dead).then(|| fields.get(19).map(|birth| (*birth).to_owned()))?
}

pub fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    // Slurm may run several nodes on one host, under names of its own.
    std::env::var("SLURMD_NODENAME")
        .unwrap_or_else(|_| if name.is_empty() { "here".into() } else { name.trim().into() })
}

pub fn unix_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// A thread of this process as a worker, its heart beating in a thread until it is dropped.
pub struct Worker {
    pub id: String,
    /// Of what it is doing.
    pub stopwatch: Arc<Stopwatch>,
    shared: Arc<Shared>,
    heart: Option<JoinHandle<()>>,
}

struct Shared {
    path: PathBuf,
    record: Mutex<WorkerRecord>,
    expiry: Duration,
    started: Instant,
    /// Milliseconds after `started` of the last beat that reached the folder.
    last: AtomicU64,
    ended: Mutex<bool>,
    wake: Condvar,
    steps: AtomicU64,
    stopwatch: Arc<Stopwatch>,
}

/// Workers that this process has started: the last part of their names.
static STARTED: AtomicU64 = AtomicU64::new(0);

impl Worker {
    /// Signs up in the run store. Others may count this worker as dead after `expiry` without a beat.
    pub fn start(workers: &Path, expiry: Duration) -> Result<Worker> {
        let process = WorkerProcess::this();
        remove_dead_workers(workers, &process);
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let id = format!("{}-{}-{nanos:x}-{number}", host(), process.pid);
        let path = workers.join(format!("{id}.json"));
        let slurm_job = std::env::var("SLURM_JOB_ID").ok();
        let record = WorkerRecord {
            worker: id.clone(),
            host: host(),
            process,
            slurm_job,
            beat: 0,
            since: unix_now(),
            at: unix_now(),
            steps: 0,
            seconds: 0.0,
            times: Times::default(),
        };
        let stopwatch = Arc::new(Stopwatch::default());
        let shared = Arc::new(Shared {
            path,
            record: Mutex::new(record),
            expiry,
            started: Instant::now(),
            last: AtomicU64::new(0),
            ended: Mutex::new(false),
            wake: Condvar::new(),
            steps: AtomicU64::new(0),
            stopwatch: stopwatch.clone(),
        });
        shared.beat()?;
        let heart = std::thread::spawn({
            let shared = shared.clone();
            move || {
                let mut ended = shared.ended.lock().expect("the heart does not panic");
                while !*ended {
                    ended = shared.wake.wait_timeout(ended, expiry / 6).expect("the heart does not panic").0;
                    if !*ended {
                        // A folder that cannot be reached now may be back before the expiry.
                        let _ = shared.beat();
                    }
                }
            }
        });
        Ok(Worker { id, stopwatch, shared, heart: Some(heart) })
    }

    /// Whether others may have counted this worker as dead by now: it was stopped, or the folder out of reach.
    pub fn overdue(&self) -> bool {
        let last = Duration::from_millis(self.shared.last.load(Ordering::Acquire));
        self.shared.started.elapsed().saturating_sub(last) > self.shared.expiry * 2 / 3
    }

    /// Beats at once; whether it reached the folder.
    pub fn beat_now(&self) -> bool {
        self.shared.beat().is_ok()
    }

    /// Counts steps of members, for others to see the rate.
    pub fn stepped(&self, steps: u64) {
        self.shared.steps.fetch_add(steps, Ordering::Relaxed);
    }
}

impl Shared {
    fn beat(&self) -> Result<()> {
        let mut record = self.record.lock().expect("a beat does not panic");
        record.beat += 1;
        (record.at, record.steps) = (unix_now(), self.steps.load(Ordering::Relaxed));
        // Taken before the write, which may hang: others see it no earlier.
        let now = self.started.elapsed();
        (record.seconds, record.times) = (now.as_secs_f64(), self.stopwatch.times());
        let written = write_file(&self.path, &serde_json::to_vec(&*record).expect("a record is plain data"));
        // A full disk has no room for a new file, but its first byte may be written again: the file's time moves.
        let touch = || OpenOptions::new().write(true).open(&self.path)?.write_all_at(b"{", 0);
        if written.is_err() && touch().is_err() {
            return Ok(written?);
        }
        self.last.store(now.as_millis() as u64, Ordering::Release);
        Ok(())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Ok(mut ended) = self.shared.ended.lock() {
            *ended = true;
        }
        self.shared.wake.notify_all();
        if let Some(heart) = self.heart.take() {
            let _ = heart.join();
        }
        let _ = std::fs::remove_file(&self.shared.path);
    }
}

/// Judges other workers, remembering when each was last seen to move.
pub struct Watch {
    workers: PathBuf,
    expiry: Duration,
    here: WorkerProcess,
    /// By worker: its beat and its file's time, and when they were first seen.
    seen: HashMap<String, ((u64, Option<SystemTime>), Instant)>,
}

impl Watch {
    pub fn new(workers: &Path, expiry: Duration) -> Watch {
        Watch { workers: workers.to_owned(), expiry, here: WorkerProcess::this(), seen: HashMap::new() }
    }

    /// Whether the worker may be counted as dead: it has ended, its process is gone, or its heart has stood still for
    /// the whole expiry since this watch first saw that beat.
    pub fn dead(&mut self, worker: &str) -> bool {
        let Some(record) = record(&self.workers, worker) else { return true };
        if record.process.gone(&self.here) == Some(true) {
            return true;
        }
        let (now, beat) = (Instant::now(), (record.beat, written_at(&self.workers, worker)));
        let seen = self.seen.entry(worker.to_owned()).or_insert((beat, now));
        if seen.0 != beat {
            *seen = (beat, now);
        }
        now.duration_since(seen.1) > self.expiry
    }
}

/// After this long in silence a worker's record is removed. Should it come back, it writes a new one.
const FORGOTTEN: Duration = Duration::from_secs(24 * 3600);

/// Removes the records of workers of this machine that were killed, and of those nobody has heard of for a day. A worker
/// without a record is dead, so nothing changes.
fn remove_dead_workers(workers: &Path, here: &WorkerProcess) {
    let now = server_time(workers);
    for record in records(workers) {
        let is_forgotten = silence(workers, &record.worker, now) > FORGOTTEN;
        if is_forgotten || record.process.gone(here) == Some(true) {
            let _ = std::fs::remove_file(workers.join(format!("{}.json", record.worker)));
        }
    }
}

/// For a single look, as `status` takes it: the workers that are not surely gone, and how long each has been silent.
pub fn live_records(workers: &Path) -> Vec<(WorkerRecord, Duration)> {
    let (here, now) = (WorkerProcess::this(), server_time(workers));
    let mut all = records(workers);
    all.retain(|record| record.process.gone(&here) != Some(true));
    all.sort_by(|a, b| a.worker.cmp(&b.worker));
    let with_silence = |record: WorkerRecord| {
        let silence = silence(workers, &record.worker, now);
        (record, silence)
    };
    all.into_iter().map(with_silence).collect()
}

/// The time by the clock of the file system that the folder is on; by this machine's, where nothing can be written.
fn server_time(folder: &Path) -> SystemTime {
    let made = invitro_base::files::PartialFile::new(&folder.join("now"));
    let time = made.and_then(|file| file.path().metadata()?.modified());
    time.unwrap_or_else(|_| SystemTime::now())
}

fn silence(workers: &Path, worker: &str, now: SystemTime) -> Duration {
    written_at(workers, worker).and_then(|then| now.duration_since(then).ok()).unwrap_or_default()
}

fn written_at(workers: &Path, worker: &str) -> Option<SystemTime> {
    workers.join(format!("{worker}.json")).metadata().and_then(|metadata| metadata.modified()).ok()
}

pub fn record(workers: &Path, worker: &str) -> Option<WorkerRecord> {
    let text = std::fs::read(workers.join(format!("{worker}.json"))).ok()?;
    serde_json::from_slice(&text).ok()
}

/// The records of all workers that have not signed off.
pub fn records(workers: &Path) -> Vec<WorkerRecord> {
    let Ok(entries) = std::fs::read_dir(workers) else { return Vec::new() };
    let named = |entry: std::fs::DirEntry| entry.file_name().to_str()?.strip_suffix(".json").map(str::to_owned);
    entries.flatten().filter_map(named).filter_map(|worker| record(workers, &worker)).collect()
}
