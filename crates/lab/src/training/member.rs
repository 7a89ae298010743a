//! One member of a population on its way: its folder, its logs, its status, and what happens to them.

use crate::error::{At, Error, Result};
use crate::experiment::Experiment;
use crate::inputs::RunInputs;
use crate::probes::evaluation::{Evaluation, MemberToEvaluate};
use crate::run_folder::log::Log;
use crate::run_folder::{self, Folder, LOG_SEALS, RUN, TOKENIZER_SEAL, record};
use crate::training::progress::Progress;
use invitro_base::settings::Keep;
use invitro_model::Checkpoint;
use invitro_results::folder::{
    CHECKPOINTS, CONFIG, CONTRASTS, LOGS, METRICS, METRICS_TABLE, SAMPLES, TABLES, TOKENIZER, TRAINING, TRAINING_TABLE,
    read_json_lines, write_file,
};
use invitro_results::{Row, Seal, State, Status, metrics, training};
use serde::Serialize;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

pub struct Runner<'a> {
    /// Its place in the caller's list.
    pub place: usize,
    /// Told what becomes of it, and asked before anything is written.
    progress: &'a dyn Progress,
    pub experiment: Experiment,
    pub run: String,
    pub folder: Folder,
    pub inputs: RunInputs,
    pub status: Status,
    /// By file; open once the run has begun.
    logs: BTreeMap<&'static str, Log>,
    /// Steps that are not in the log yet.
    steps: Vec<training::Step>,
    /// Steps of evaluations, rising.
    evaluations: Vec<u64>,
    /// What was found damaged or missing.
    pub damaged: Vec<String>,
    /// Checkpoints that it cannot resume from.
    unsound: Vec<u64>,
    /// The seals of the logs at the checkpoints that it can resume from.
    sound: BTreeMap<u64, BTreeMap<String, Seal>>,
    /// Why it left the population.
    pub failure: Option<String>,
    /// Another process writes its results now.
    pub lost: bool,
    /// Its folder could not be written to.
    pub unwritten: bool,
}

impl<'a> Runner<'a> {
    pub fn new(
        (place, experiment): (usize, Experiment),
        progress: &'a dyn Progress,
        folder: Folder,
        inputs: RunInputs,
        status: Status,
    ) -> Runner<'a> {
        Runner {
            place,
            progress,
            run: experiment.id(),
            evaluations: experiment.eval.at(experiment.train.steps),
            experiment,
            folder,
            inputs,
            status,
            logs: BTreeMap::new(),
            steps: Vec::new(),
            damaged: Vec::new(),
            unsound: Vec::new(),
            sound: BTreeMap::new(),
            failure: None,
            lost: false,
            unwritten: false,
        }
    }

    /// Asked before every write, since each may come after a long stop: nothing is written for a run that another
    /// process has taken over.
    fn may_write(&self) -> Result<()> {
        if self.progress.may_write(self.place) { Ok(()) } else { Err(Error::TakenOver) }
    }

    /// Rows of its model.
    pub fn rows(&self) -> usize {
        self.inputs.text.rows()
    }

    /// The newest checkpoints that it can resume from, rising, at most two; 0 means a fresh start. One that was
    /// damaged since it was written, or that no longer fits the logs, is noted.
    pub fn can_start_at(&mut self) -> Result<Vec<u64>> {
        for step in self.folder.saved().into_iter().rev() {
            if self.sound.len() == 2 {
                break;
            }
            match run_folder::intact_logs(&self.folder.path, &self.run, step) {
                Ok(seals) => drop(self.sound.insert(step, seals)),
                // What cannot be read just now may be whole.
                Err(error) if !error.is_damage() => return Err(error),
                Err(error) => {
                    self.unsound.push(step);
                    let why = error.to_string();
                    if !self.damaged.contains(&why) {
                        self.damaged.push(why);
                    }
                }
            }
        }
        Ok(if self.sound.is_empty() { vec![0] } else { self.sound.keys().copied().collect() })
    }

    /// Starts after a step: cuts the logs back to it, removes later files, and writes the inputs.
    pub fn begin(&mut self, step: u64, device: &str) -> Result<()> {
        self.may_write()?;
        self.write_inputs()?;
        let seals = (step > 0).then(|| self.sound.remove(&step).expect("it sets out after a sound checkpoint"));
        self.status.files.extend(seals.clone().unwrap_or_default());
        self.set_out(step, device)?;
        for table in TABLES.map(|name| self.folder.path.join(name)).iter().filter(|path| path.is_file()) {
            run_folder::remove(table)?;
        }
        for later in self.folder.saved().into_iter().rev() {
            if later > step || self.unsound.contains(&later) {
                run_folder::remove(&run_folder::checkpoint(&self.folder.path, later))?;
            }
        }
        for name in LOGS {
            let seal = seals.as_ref().and_then(|seals| seals.get(name));
            self.logs.insert(name, Log::open(&self.folder.path.join(name), seal)?);
        }
        Ok(())
    }

    /// Writes the languages and the tokenizer where they are missing or damaged, and seals them.
    fn write_inputs(&mut self) -> Result<()> {
        self.may_write()?;
        let (folder, config) = (&self.folder.path, self.folder.path.join(CONFIG));
        if self.status.check(folder, CONFIG).is_err() {
            write_file(&config, self.experiment.to_toml().as_bytes())?;
        }
        self.status.files = record::write_inputs(folder, &self.experiment, &self.inputs)?;
        self.status.files.insert(CONFIG.into(), Seal::of_file(&config)?);
        Ok(())
    }

    fn set_out(&mut self, step: u64, device: &str) -> Result<()> {
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
        self.may_write()?;
        self.status.step = step;
        self.status.files.extend(self.logs.iter().map(|(name, log)| ((*name).to_owned(), log.seal())));
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

    pub fn to_evaluate(&self, step: u64) -> MemberToEvaluate<'_> {
        let ends = [self.evaluations.first(), self.evaluations.last()];
        MemberToEvaluate { inputs: &self.inputs, with_baselines: ends.contains(&Some(&step)) }
    }

    /// Keeps every n-th step for the log. They are written with the next evaluation or checkpoint.
    pub fn keep(&mut self, step: training::Step) {
        if step.step.is_multiple_of(training::every(self.experiment.train.steps)) {
            self.steps.push(step);
        }
    }

    fn write_steps(&mut self) -> Result<()> {
        if self.steps.is_empty() {
            return Ok(());
        }
        let steps = std::mem::take(&mut self.steps);
        self.append(TRAINING, &steps)
    }

    /// Writes an evaluation to the logs; `more` are rows of the training itself.
    pub fn log(&mut self, mut evaluation: Evaluation, more: Vec<Row>) -> Result<Vec<Row>> {
        self.may_write()?;
        self.write_steps()?;
        evaluation.rows.extend(more);
        self.append(SAMPLES, &evaluation.samples)?;
        self.append(CONTRASTS, &[evaluation.contrasts])?;
        self.append(METRICS, &metrics::to_lines(&self.run, &evaluation.rows))?;
        Ok(evaluation.rows)
    }

    fn append(&mut self, log: &str, items: &[impl Serialize]) -> Result<()> {
        self.may_write()?;
        self.logs.get_mut(log).expect("logs are open once the run has begun").append(items)
    }

    /// The metadata of a checkpoint.
    fn metadata(&self) -> BTreeMap<String, String> {
        let logs: BTreeMap<&str, Seal> = self.logs.iter().map(|(name, log)| (*name, log.seal())).collect();
        let logs = serde_json::to_string(&logs).expect("seals are plain data");
        let mut all = BTreeMap::from([(RUN.to_owned(), self.run.clone()), (LOG_SEALS.to_owned(), logs)]);
        let tokenizer = self.status.files.get(TOKENIZER[0]).map(|seal| seal.blake3.clone());
        all.extend(tokenizer.map(|seal| (TOKENIZER_SEAL.to_owned(), seal)));
        all
    }

    /// Saves a checkpoint. The one before it stays until the next, so that the members of a population always have
    /// one in common.
    pub fn save(&mut self, mut checkpoint: Checkpoint) -> Result<()> {
        self.may_write()?;
        // A run that resumes from the checkpoint finds all steps before it in the logs.
        self.write_steps()?;
        checkpoint.metadata = self.metadata();
        checkpoint.save(&run_folder::checkpoint(&self.folder.path, checkpoint.step))?;
        let config = &self.experiment.checkpoint;
        self.folder.prune(|step| config.stays(step), 2)?;
        self.note(checkpoint.step)
    }

    /// Whether all logs of a finished run are intact, so that its tables can be made from them.
    pub fn has_logs(&self) -> bool {
        LOGS.iter().all(|name| {
            let path = self.folder.path.join(name);
            self.status.files.get(*name).is_some_and(|seal| seal.read(&path).is_ok())
        })
    }

    /// Writes the inputs and tables of a finished run again, from its logs.
    pub fn write_again(&mut self) -> Result<()> {
        let stays = |name: &str| LOGS.contains(&name) || name.starts_with(CHECKPOINTS);
        let kept: Vec<_> = self.status.files.clone().into_iter().filter(|(name, _)| stays(name)).collect();
        self.write_inputs()?;
        self.status.files.extend(kept);
        self.finish()
    }

    /// Every evaluation that was due, from the log as it was written.
    fn evaluated(&self) -> Result<Vec<Row>> {
        let path = self.folder.path.join(METRICS);
        self.status.check(&self.folder.path, METRICS)?;
        let rows = metrics::read_lines(&path)?;
        let have: BTreeSet<u64> = rows.iter().map(|row| row.step).collect();
        match self.evaluations.iter().find(|step| !have.contains(step)) {
            Some(step) => Ok(Err(format!("the evaluation of step {step} is not there")).reading(&path)?),
            None => Ok(rows),
        }
    }

    /// Writes the tables of a finished run. An error says that the training itself is finished.
    pub fn finish(&mut self) -> Result<()> {
        self.may_write()?;
        self.write_results().map_err(|error| match error {
            Error::TakenOver => error,
            error => Error::Finished(Box::new(error)),
        })
    }

    fn write_results(&mut self) -> Result<()> {
        self.write_steps()?;
        let rows = self.evaluated()?;
        let path = &self.folder.path;
        self.may_write()?;
        metrics::write(&path.join(METRICS_TABLE), &self.run, &rows)?;
        self.may_write()?;
        let steps: Vec<training::Step> = read_json_lines(&path.join(TRAINING))?;
        training::write(&path.join(TRAINING_TABLE), &self.run, &steps)?;
        let tokens = steps.iter().map(|step| step.tokens as f64).sum::<f64>() / steps.len() as f64;
        let tokens = tokens.is_finite().then_some(tokens);
        self.status.state = State::Done;
        self.status.step = self.status.steps;
        let may_write = || self.may_write();
        record::write_words(path, &self.experiment, &self.inputs, may_write)?;
        record::write_summary(path, &self.experiment, &self.inputs, &self.status, &rows, tokens, may_write)?;
        for name in TABLES {
            self.status.files.insert(name.into(), Seal::of_file(&path.join(name))?);
        }
        let config = self.experiment.checkpoint.clone();
        let last = usize::from(config.keep != Keep::None);
        for step in self.folder.kept(|step| config.stays(step), last) {
            let (name, path) = (run_folder::checkpoint_name(step), run_folder::checkpoint(path, step));
            if let Entry::Vacant(place) = self.status.files.entry(name) {
                place.insert(Seal::of_file(&path)?);
            }
        }
        self.note(self.status.steps)?;
        self.folder.prune(|step| config.stays(step), last)
    }

    /// Takes it out of the population, and reports why. Its last good checkpoint stays.
    pub fn fail(&mut self, step: u64, error: &Error) {
        self.give_up(step, error);
        if let (Some(why), false) = (&self.failure, self.lost) {
            self.progress.failed(self.place, step, why);
        }
    }

    /// The same, where the caller reports it.
    pub fn give_up(&mut self, step: u64, error: &Error) {
        self.lost = matches!(error, Error::TakenOver);
        self.unwritten = error.is_unwritten();
        self.failure = Some(error.to_string());
        if self.lost {
            return;
        }
        self.status.state = if self.unwritten { State::Stopped } else { State::Failed };
        self.status.error = self.failure.clone();
        // The folder may be what failed; the outcome has the error anyway.
        if !self.logs.is_empty() {
            let _ = self.write_steps();
        }
        let _ = self.note(step);
    }
}
