//! What a study will take, before it is run: time on a device and room on disk.
//!
//! Time comes from the best source there is: populations of the same key that this folder's workers have recorded
//! (`runs/.rates.jsonl`), a short measurement ([`measure`]), or, failing both, what devices of the kind usually do.

use super::file::Cell;
use super::folder::StudyFolder;
use crate::Stop;
use crate::error::{At, Error, Result};
use crate::training::progress::Silent;
use crate::training::{self, Member, TrainingOptions};
use invitro_base::settings::Keep;
use invitro_model::{Device, Layout};
use invitro_results::Status;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

/// How fast populations of one key were: one line of `.rates.jsonl`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TrainingRate {
    pub population_key: String,
    /// `cpu` or `cuda`
    pub kind: String,
    pub members: usize,
    /// Taken by all members together.
    pub steps: u64,
    /// From taking the cells to giving them back, evaluations included; its share, where populations share a device.
    pub seconds: f64,
}

const RATES: &str = ".rates.jsonl";

/// Notes the rate of a population. A line is one write, so that several workers may append.
pub fn record_rate(folder: &StudyFolder, rate: &TrainingRate) -> Result<()> {
    let path = folder.runs().join(RATES);
    let line = serde_json::to_string(rate).expect("a rate is plain data") + "\n";
    let append = || std::fs::OpenOptions::new().create(true).append(true).open(&path)?.write_all(line.as_bytes());
    Ok(append().writing(&path)?)
}

/// Seconds that one run of each key takes of a device's time, where that is known.
pub fn recorded_rates(runs: &Path, kind: &str, steps: impl Fn(&str) -> Option<u64>) -> HashMap<String, f64> {
    let text = std::fs::read_to_string(runs.join(RATES)).unwrap_or_default();
    let mut sums: HashMap<String, (f64, u64)> = HashMap::new();
    for rate in text.lines().filter_map(|line| serde_json::from_str::<TrainingRate>(line).ok()) {
        if rate.kind == kind {
            let sum = sums.entry(rate.population_key).or_default();
            *sum = (sum.0 + rate.seconds, sum.1 + rate.steps);
        }
    }
    let per_run = |(key, (seconds, done)): (String, (f64, u64))| {
        let steps = steps(&key)?;
        (done > 0).then(|| (key, seconds / done as f64 * steps as f64))
    };
    sums.into_iter().filter_map(per_run).collect()
}

/// Seconds of a device's time for one run like this, by a few steps and one evaluation of a population of `members`.
pub fn measure(cells: &[&Cell], device: Device) -> Result<f64> {
    let place = std::env::temp_dir().join(format!("invitro-measure-{}", std::process::id()));
    let measured = measure_in(cells, device, &place);
    let _ = std::fs::remove_dir_all(&place);
    measured
}

fn measure_in(cells: &[&Cell], device: Device, place: &Path) -> Result<f64> {
    let Some(first) = cells.first() else { return Ok(0.0) };
    // The first steps include the device's start: two lengths, and their difference is the step.
    let mut timings = Vec::new();
    for steps in [8, 32] {
        let member = |cell: &&Cell| {
            let mut experiment = cell.experiment.clone();
            experiment.train.steps = steps;
            experiment.train.warmup = experiment.train.warmup.min(steps);
            experiment.eval.every = 0;
            Member { folder: place.join(format!("{steps}-{}", cell.id)), experiment }
        };
        let members: Vec<Member> = cells.iter().map(member).collect();
        let stop = Stop::new();
        let options = TrainingOptions { device, force: false, stop: &stop, progress: &Silent };
        training::run(&members, &options)?;
        let status = Status::read(&members[0].folder)?;
        let failed = || Error::Read { path: members[0].folder.clone(), why: "the measurement left no status".into() };
        timings.push(status.ok_or_else(failed)?.seconds);
    }
    let experiment = &first.experiment;
    let step = ((timings[1].train - timings[0].train) / 24.0).max(timings[1].train / 320.0);
    let evaluations = experiment.eval.at(experiment.train.steps).len() as f64;
    // The seconds of a member are its share of the population's.
    Ok(experiment.train.steps as f64 * step + evaluations * timings[1].eval)
}

/// Seconds of a device's time for one run, by its arithmetic and what such a device usually does.
pub fn assumed(cell: &Cell, device: Device) -> f64 {
    let experiment = &cell.experiment;
    let shape = experiment.shape();
    // A token costs six operations per weight, forward and backward; a sequence of the paper's world has about 40.
    let step = 6.0 * Layout::new(&shape).size as f64 * (experiment.train.batch * shape.context.min(40)) as f64;
    let evaluations = experiment.eval.at(experiment.train.steps).len() as f64;
    let operations = step * (experiment.train.steps as f64 + 20.0 * evaluations);
    let per_second = match device {
        Device::Cpu => 50e9 * rayon::current_num_threads() as f64,
        Device::Cuda(_) => 150e12,
    };
    operations / per_second
}

/// Bytes that one finished run leaves.
pub fn disk(cell: &Cell) -> u64 {
    let experiment = &cell.experiment;
    let steps = experiment.train.steps;
    let shape = experiment.shape();
    // Weights and two moments of four bytes each.
    let checkpoint = 12 * Layout::new(&shape).size as u64;
    let checkpoints = match experiment.checkpoint.keep {
        Keep::None => 0,
        Keep::Last => 1,
        Keep::All => steps / experiment.checkpoint.every + 1,
        Keep::LogSpaced => u64::from(steps.max(1).ilog2()) + 2,
    };
    let evaluations = experiment.eval.at(steps).len() as u64;
    checkpoints * checkpoint + evaluations * 100_000 + 2_000_000
}
