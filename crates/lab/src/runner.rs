//! One member of a population on its way: its folder, its logs, its status, and what happens to them.

use crate::error::{At, Error, Result};
use crate::evaluation::{Evaluated, Examinee};
use crate::experiment::Experiment;
use crate::folder::{self, Folder};
use crate::inputs::RunInputs;
use crate::log::Log;
use crate::record;
use crate::settings::Keep;
use invitro_model::Checkpoint;
use invitro_results::folder::{METRICS, METRICS_TABLE, REACHED, SAMPLES, read_json_lines};
use invitro_results::words::Reached;
use invitro_results::{Row, State, Status, metrics};
use std::collections::BTreeSet;

pub struct Runner {
    /// Its place in the caller's list.
    pub place: usize,
    pub experiment: Experiment,
    pub run: String,
    pub folder: Folder,
    pub inputs: RunInputs,
    pub status: Status,
    logs: Option<Logs>,
    /// Masked words reached so far, by number.
    reached: BTreeSet<u32>,
    /// Steps of evaluations, rising.
    evaluations: Vec<u64>,
    /// Checkpoints that could not be read, and why.
    pub damaged: Vec<String>,
    /// Why it no longer takes part.
    pub failure: Option<String>,
    /// Somebody else writes its results now.
    pub lost: bool,
}

struct Logs {
    metrics: Log,
    samples: Log,
    reached: Log,
}

impl Runner {
    pub fn new(place: usize, experiment: Experiment, folder: Folder, inputs: RunInputs, status: Status) -> Runner {
        Runner {
            place,
            run: experiment.id(),
            evaluations: experiment.eval.at(experiment.train.steps),
            experiment,
            folder,
            inputs,
            status,
            logs: None,
            reached: BTreeSet::new(),
            damaged: Vec::new(),
            failure: None,
            lost: false,
        }
    }

    pub fn vocab(&self) -> usize {
        self.inputs.text.vocab()
    }

    /// The newest checkpoints that can be read, rising, at most two; 0 stands for a fresh start. One that was damaged
    /// since it was written is noted and removed.
    pub fn can_start_at(&mut self) -> Result<Vec<u64>> {
        let mut saved = self.folder.saved();
        while let Some(&last) = saved.last() {
            let path = folder::checkpoint(&self.folder.path, last);
            let Err(error) = Checkpoint::load(&path) else { break };
            self.damaged.push(error.to_string());
            std::fs::remove_file(&path).writing(&path)?;
            saved.pop();
        }
        Ok(if saved.is_empty() { vec![0] } else { saved.split_off(saved.len().saturating_sub(2)) })
    }

    /// Sets out after a step: the logs are cut back to it, and the folder has what a run has from the start.
    pub fn begin(&mut self, step: u64, device: &str) -> Result<()> {
        let at = |name: &str| self.folder.path.join(name);
        let after = (step > 0).then_some(step);
        self.logs = Some(Logs {
            metrics: Log::open(&at(METRICS), after)?,
            samples: Log::open(&at(SAMPLES), after)?,
            reached: Log::open(&at(REACHED), after)?,
        });
        self.reached = read_json_lines::<Reached>(&at(REACHED))?.into_iter().map(|line| line.symbol).collect();
        record::write_inputs(&self.folder.path, &self.inputs)?;
        if self.status.device.is_empty() {
            self.status.device = device.to_owned();
        } else if !self.status.device.ends_with(device) {
            self.status.device = format!("{}, then {device}", self.status.device);
        }
        self.status.state = State::Running;
        self.status.error = None;
        self.note(step)
    }

    /// Writes the status.
    pub fn note(&mut self, step: u64) -> Result<()> {
        self.status.step = step;
        Ok(self.status.write(&self.folder.path)?)
    }

    pub fn is_evaluated_at(&self, step: u64) -> bool {
        self.evaluations.binary_search(&step).is_ok()
    }

    /// Whether a checkpoint is due. A run that keeps none in the end has no use for one there.
    pub fn saves_at(&self, step: u64) -> bool {
        let config = &self.experiment.checkpoint;
        if step == self.experiment.train.steps { config.keep != Keep::None } else { config.at(step) }
    }

    pub fn examinee(&self, step: u64) -> Examinee<'_> {
        let ends = [self.evaluations.first(), self.evaluations.last()];
        Examinee { inputs: &self.inputs, with_baselines: ends.contains(&Some(&step)) }
    }

    /// Writes an evaluation to the logs; `more` are rows of the training itself.
    pub fn log(&mut self, mut evaluated: Evaluated, more: Vec<Row>) -> Result<Vec<Row>> {
        evaluated.rows.extend(more);
        evaluated.reached.retain(|line| self.reached.insert(line.symbol));
        let logs = self.logs.as_mut().expect("logs are open once the run has begun");
        logs.samples.append(&evaluated.samples)?;
        logs.reached.append(&evaluated.reached)?;
        logs.metrics.append(&metrics::to_lines(&self.run, &evaluated.rows))?;
        Ok(evaluated.rows)
    }

    /// Saves a checkpoint. The one before it stays until the next, so that the members of a population always have
    /// one in common.
    pub fn save(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        checkpoint.save(&folder::checkpoint(&self.folder.path, checkpoint.step))?;
        let config = &self.experiment.checkpoint;
        self.folder.prune(|step| config.stays(step), 2)?;
        self.note(checkpoint.step)
    }

    /// Writes what a finished run has.
    pub fn finish(&mut self) -> Result<()> {
        let path = &self.folder.path;
        let rows = metrics::read_lines(&path.join(METRICS))?;
        metrics::write(&path.join(METRICS_TABLE), &self.run, &rows)?;
        self.status.state = State::Done;
        self.status.step = self.status.steps;
        record::write_words(path, &self.experiment, &self.inputs)?;
        record::write_summary(path, &self.experiment, &self.inputs, &self.status, &rows)?;
        self.note(self.status.steps)?;
        let config = &self.experiment.checkpoint;
        self.folder.prune(|step| config.stays(step), if config.keep == Keep::None { 0 } else { 1 })
    }

    /// Takes it out of the population, and tells why. Its last good checkpoint stays.
    pub fn fail(&mut self, step: u64, error: &Error) -> String {
        let error = error.to_string();
        self.status.state = State::Failed;
        self.status.error = Some(error.clone());
        self.failure = Some(error.clone());
        // The folder may be what failed; the outcome tells it anyway.
        let _ = self.note(step);
        error
    }
}
