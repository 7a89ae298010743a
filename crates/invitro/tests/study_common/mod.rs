//! A study of 24 tiny runs, really trained, and what must hold of it whatever happened on the way.

#![allow(dead_code)]

use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

pub const CELLS: usize = 24;

/// A world of a few dozen symbols, and a model that trains on it in a second.
pub const TINY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/study_common/tiny.toml");

/// Writes the study's file: 3 distances × 2 shares of B × 2 data seeds × 2 model seeds.
pub fn write_study(place: &Path, steps: u64) -> PathBuf {
    let file = place.join("tiny-study.toml");
    let text = format!(
        "name = \"tiny\"\nbase = \"{TINY}\"\nexperiment = {{ train.steps = {steps} }}\n[factors]\n\
         language.distance = [0.0, 0.25, 0.5]\nmixture.lambda = [0.25, 0.5]\n[seeds]\ndata = [0, 1]\nmodel = [0, 1]\n"
    );
    std::fs::write(&file, text).unwrap();
    file
}

pub fn study(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_invitro"));
    // Several of these run at once; one thread each is fair.
    command.arg("study").args(arguments).env("RAYON_NUM_THREADS", "1");
    command
}

/// The output of a study command that must succeed.
pub fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{out}{err}", output.status);
    out.into_owned()
}

/// The study run in one process, from start to end.
pub fn reference(file: &Path, out: &Path) -> BTreeMap<String, Vec<(String, Vec<u8>)>> {
    let (file, out) = (file.to_str().unwrap(), out.to_str().unwrap());
    succeed(study(&["run", file, "--out", out, "--device", "cpu", "--jobs", "2"]).env("RAYON_NUM_THREADS", "2"));
    results(Path::new(out))
}

/// What every finished run of a study came to, by its identity. Times and devices do not belong to it.
pub fn results(out: &Path) -> BTreeMap<String, Vec<(String, Vec<u8>)>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(out.join("runs")).unwrap() {
        let run = entry.unwrap().path();
        let name = run.file_name().unwrap().to_str().unwrap().to_owned();
        if name.starts_with('.') || !run.join("summary.json").exists() {
            continue;
        }
        let read = |file: &str| (file.to_owned(), std::fs::read(run.join(file)).unwrap());
        let mut files: Vec<(String, Vec<u8>)> =
            ["config.toml", "metrics.parquet", "words.parquet", "tokenizer.json", "samples.jsonl"].map(read).into();
        let mut summary: serde_json::Map<String, Value> =
            serde_json::from_slice(&std::fs::read(run.join("summary.json")).unwrap()).unwrap();
        summary.retain(|key, _| !key.starts_with("seconds.") && key != "device");
        files.push(("summary.json".into(), serde_json::to_vec(&summary).unwrap()));
        all.insert(name, files);
    }
    all
}

/// All cells are there, and each came to the same as in one process.
pub fn assert_equal(
    found: &BTreeMap<String, Vec<(String, Vec<u8>)>>,
    reference: &BTreeMap<String, Vec<(String, Vec<u8>)>>,
) {
    assert_eq!(found.keys().collect::<Vec<_>>(), reference.keys().collect::<Vec<_>>());
    for (run, files) in reference {
        for ((name, expected), (_, given)) in files.iter().zip(&found[run]) {
            assert!(expected == given, "{name} of {run} differs");
        }
    }
}

pub fn counts(out: &Path) -> Value {
    let text = succeed(&mut study(&["status", out.to_str().unwrap(), "--json"]));
    serde_json::from_str::<Value>(&text).unwrap()["counts"].clone()
}

/// Looks over and over which workers' processes are alive, so that a test can tell when each was last seen.
pub struct Sampler {
    seen: Arc<Mutex<HashMap<String, SystemTime>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Sampler {
    pub fn start(out: &Path) -> Sampler {
        let workers = out.join("runs/.workers");
        let (seen, stop) = (Arc::new(Mutex::new(HashMap::new())), Arc::new(AtomicBool::new(false)));
        let thread = std::thread::spawn({
            let (seen, stop) = (seen.clone(), stop.clone());
            move || {
                let mut known: HashMap<String, u32> = HashMap::new();
                while !stop.load(Ordering::Relaxed) {
                    known.extend(workers_in(&workers));
                    known.retain(|worker, pid| {
                        let now = SystemTime::now();
                        let alive = is_alive(*pid);
                        if alive {
                            seen.lock().unwrap().insert(worker.clone(), now);
                        }
                        alive
                    });
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
        });
        Sampler { seen, stop, thread: Some(thread) }
    }

    /// Of every cell, each lease's holder had given it back, or was last seen alive before the next lease was taken.
    pub fn assert_never_twice_at_once(self, out: &Path) {
        let seen = self.seen.lock().unwrap().clone();
        let mut leases: BTreeMap<(String, u64), PathBuf> = BTreeMap::new();
        for entry in std::fs::read_dir(out.join("runs/.leases")).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if let Some((cell, generation)) = name.rsplit_once('.')
                && let Ok(generation) = generation.parse()
            {
                leases.insert((cell.to_owned(), generation), path);
            }
        }
        let mut taken_over = 0;
        for ((cell, generation), path) in &leases {
            let Some(next) = leases.get(&(cell.clone(), generation + 1)) else { continue };
            let holder = std::fs::read_to_string(path).unwrap();
            let taken = std::fs::metadata(next).unwrap().modified().unwrap();
            if let Some(last) = seen.get(&holder) {
                taken_over += 1;
                // The file's time has a grain of a few milliseconds.
                let early = last.duration_since(taken).unwrap_or_default();
                assert!(early < Duration::from_millis(20), "{cell} was taken from {holder}, which lived {early:?} on");
            } else {
                assert_eq!(holder, "returned", "{cell}: a holder nobody has seen");
            }
        }
        println!("{} leases, {taken_over} taken over from the dead", leases.len());
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The workers that have signed up, and their processes.
pub fn workers_in(workers: &Path) -> HashMap<String, u32> {
    let Ok(entries) = std::fs::read_dir(workers) else { return HashMap::new() };
    let read = |path: PathBuf| {
        let record: Value = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
        Some((record["worker"].as_str()?.to_owned(), record["process"]["pid"].as_u64()? as u32))
    };
    entries.flatten().filter_map(|entry| read(entry.path())).collect()
}

pub fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

pub fn kill(pid: u32, signal: &str) {
    let status = Command::new("kill").args([&format!("-{signal}"), "--", &pid.to_string()]).status().unwrap();
    assert!(status.success() || !is_alive(pid), "kill -{signal} {pid}");
}

pub fn wait_for(what: &str, seconds: u64, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(seconds), "timed out: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
