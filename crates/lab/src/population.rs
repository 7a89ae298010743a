//! Trains experiments of one shape as one population, each into a folder of its own.
//!
//! The loop is in `PopulationRun::train`: a batch, a step, now and then an evaluation and a checkpoint. A member that fails is
//! left behind and the others go on.

use crate::data_loader::DataLoader;
use crate::error::{Error, Result};
use crate::evaluation::{self, Evaluated};
use crate::experiment::Experiment;
use crate::folder::{self, Folder};
use crate::inputs::{self, InputCache};
use crate::progress::{Headline, Progress, Started};
use crate::raise;
use crate::runner::Runner;
use crate::stop::Stop;
use invitro_model::{Checkpoint, Device, HISTORY, Loss, Population};
use invitro_results::folder::STATUS;
use invitro_results::{Loss as LossMetric, Measure, Rows, State, Status, training};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// An experiment with one data seed and one model seed, and where its results go.
#[derive(Clone, Debug)]
pub struct Member {
    pub experiment: Experiment,
    pub folder: PathBuf,
}

/// The runs of an experiment, one per pair of seeds, and their folders.
pub fn members(experiment: &Experiment, out: Option<&Path>) -> Vec<Member> {
    let all = experiment.expand();
    let place = out.map_or_else(
        || Path::new("runs").join(format!("{}-{}", experiment.name, &experiment.id()[..8])),
        Path::to_owned,
    );
    let folder = |one: &Experiment| match all.len() {
        1 => place.clone(),
        _ => place.join(format!("data{}-model{}", one.seeds.data.first(), one.seeds.model.first())),
    };
    all.iter().map(|one| Member { experiment: one.clone(), folder: folder(one) }).collect()
}

pub struct Options<'a> {
    pub device: Device,
    /// Start over in folders that are there already, whatever config made them.
    pub force: bool,
    pub stop: &'a Stop,
    pub progress: &'a dyn Progress,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// Saved at this step; the same call goes on from there.
    Stopped {
        step: u64,
    },
    Failed {
        error: String,
    },
    /// Its folder could not be written to, as on a full disk; the same call goes on from its last checkpoint.
    Unwritten {
        error: String,
    },
    /// Another process is at it.
    Busy,
    /// Its results may no longer be written: see [`Progress::may_write`].
    Lost,
}

/// Trains the members, which must have equal [`Experiment::population_key`]s, from where their folders are to the end.
/// One outcome per member; an error is one that concerns all of them, such as a device that is not there.
pub fn run(members: &[Member], options: &Options) -> Result<Vec<Outcome>> {
    run_with(members, options, &InputCache::default())
}

/// The same with inputs that other populations may share.
pub fn run_with(members: &[Member], options: &Options, cache: &InputCache) -> Result<Vec<Outcome>> {
    if let Some(other) =
        members.iter().find(|m| m.experiment.population_key() != members[0].experiment.population_key())
    {
        let differing = other.experiment.differing(&members[0].experiment, ["in one", "in another"]);
        return Err(Error::Population(differing.join("; ")));
    }
    if options.device == Device::Cpu {
        // Before any folder is made.
        invitro_model::cpu::simd::asked()?;
        if let Some(Member { experiment, .. }) = members.first() {
            let shape = experiment.shape();
            invitro_model::memory::check_host(&shape, members.len(), evaluation::batch_rows(shape.context))?;
        }
    }
    let device = options.device.describe()?;
    options.progress.preparing("languages, tokenizers and evaluation sets");
    let numbered: Vec<(usize, &Member)> = members.iter().enumerate().collect();
    let opened = inputs::on_threads(&numbered, |(place, member)| open(*place, member, options, cache));
    let mut outcomes: Vec<Option<Outcome>> = opened.iter().map(|o| o.as_ref().err().cloned()).collect();
    for (i, outcome) in outcomes.iter().enumerate() {
        if let Some(Outcome::Failed { error } | Outcome::Unwritten { error }) = outcome {
            options.progress.failed(i, 0, error);
        }
    }
    for (start, runners) in groups(opened.into_iter().flatten().collect(), &mut outcomes) {
        PopulationRun::assemble(runners, start, &device, options)?.work(options, &mut outcomes)?;
    }
    Ok(outcomes.into_iter().map(|outcome| outcome.expect("every member came to something")).collect())
}

/// Takes a member's folder and makes its inputs.
fn open<'a>(
    place: usize,
    member: &Member,
    options: &Options<'a>,
    cache: &InputCache,
) -> std::result::Result<Runner<'a>, Outcome> {
    let failed = |error: &Error| match error {
        Error::Busy { .. } => Outcome::Busy,
        error if error.is_unwritten() => Outcome::Unwritten { error: error.to_string() },
        error => Outcome::Failed { error: error.to_string() },
    };
    let begun = Instant::now();
    let may_write = || options.progress.may_write(place);
    if !may_write() {
        return Err(Outcome::Lost);
    }
    let folder = Folder::take(&member.folder, &member.experiment, options.force).map_err(|error| failed(&error))?;
    raise::complete(&folder.path).map_err(|error| failed(&error))?;
    let (status, mut damaged) = match Status::read(&folder.path) {
        Ok(status) => (status, Vec::new()),
        Err(error) => (None, vec![error.to_string()]),
    };
    let mut status = status.unwrap_or_else(|| Status::new(member.experiment.id(), member.experiment.train.steps));
    if status.run != member.experiment.id() {
        let (path, wanted) = (folder.path.join(STATUS), member.experiment.id());
        return Err(failed(&Error::OtherRun { path, found: status.run, wanted }));
    }
    damaged.extend(folder.damaged.clone());
    damaged.extend(status.faults(&folder.path).iter().map(ToString::to_string));
    if status.state == State::Done && damaged.is_empty() {
        return Err(Outcome::Done);
    }
    let inputs = match cache.get(&member.experiment) {
        Ok(inputs) => inputs,
        Err(error) => {
            status.state = State::Failed;
            status.error = Some(error.to_string());
            if may_write() {
                // What went wrong is told by the outcome, whether or not it can be written down.
                let _ = status.write(&folder.path);
            }
            return Err(failed(&error));
        }
    };
    status.notes = inputs.notes(&member.experiment);
    if status.state != State::Done {
        status.seconds.prepare += begun.elapsed().as_secs_f64();
    }
    let mut runner = Runner::new((place, member.experiment.clone()), options.progress, folder, inputs, status);
    if runner.status.state == State::Done && runner.has_logs() {
        damaged.iter().for_each(|why| options.progress.mended(place, why));
        return Err(runner.mend().map_or_else(|error| failed(&error), |()| Outcome::Done));
    }
    runner.damaged = damaged;
    Ok(runner)
}

/// Members that can train together, with the step they go on from: those of as many rows from the newest checkpoint all of
/// them have, or, where there is none, each from its own.
fn groups<'a>(runners: Vec<Runner<'a>>, outcomes: &mut [Option<Outcome>]) -> Vec<(u64, Vec<Runner<'a>>)> {
    let mut by_rows: BTreeMap<usize, Vec<(Vec<u64>, Runner)>> = BTreeMap::new();
    for mut runner in runners {
        match runner.can_start_at() {
            Ok(starts) => by_rows.entry(runner.rows()).or_default().push((starts, runner)),
            Err(error) => {
                runner.fail(0, &error);
                outcomes[runner.place] = Some(outcome(&runner, 0));
            }
        }
    }
    let mut groups = Vec::new();
    for runners in by_rows.into_values() {
        let common = |step: &&u64| runners.iter().all(|(starts, _)| starts.contains(step));
        let shared = runners[0].0.iter().filter(common).max().copied();
        let mut by_start: BTreeMap<u64, Vec<Runner>> = BTreeMap::new();
        for (starts, runner) in runners {
            let own = starts.last().copied().unwrap_or(0);
            by_start.entry(shared.unwrap_or(own)).or_default().push(runner);
        }
        groups.extend(by_start);
    }
    groups
}

/// Members whose checkpoints are in memory together.
const SAVED_AT_ONCE: usize = 16;

/// What has become of a member whose training ended at a step.
fn outcome(runner: &Runner, step: u64) -> Outcome {
    match &runner.failure {
        Some(_) if runner.lost => Outcome::Lost,
        Some(error) if runner.unwritten => Outcome::Unwritten { error: error.clone() },
        Some(error) => Outcome::Failed { error: error.clone() },
        None if step == runner.experiment.train.steps => Outcome::Done,
        None => Outcome::Stopped { step },
    }
}

/// A population and the members it trains.
struct PopulationRun<'a> {
    population: Population,
    runners: Vec<Runner<'a>>,
    /// Rows of a batch that the population has room for.
    capacity: usize,
    step: u64,
}

impl<'a> PopulationRun<'a> {
    /// Puts the members on the device where they left off.
    fn assemble(mut runners: Vec<Runner<'a>>, step: u64, device: &str, options: &Options) -> Result<PopulationRun<'a>> {
        let experiment = &runners[0].experiment;
        let shape = experiment.model.shape(runners[0].rows());
        let seeds: Vec<u64> = runners.iter().map(|runner| runner.experiment.seeds.model.first()).collect();
        let rooms: Result<Vec<usize>> = runners.iter().map(room).collect();
        let capacity = rooms?.into_iter().max().unwrap_or(0);
        let mut population = Population::new(options.device, &shape, &seeds, capacity)?;
        for runner in &runners {
            runner.status.notes.iter().for_each(|note| options.progress.noted(runner.place, note));
            runner.damaged.iter().for_each(|why| options.progress.damaged(runner.place, step, why));
        }
        options.progress.started(&Started {
            device: device.to_owned(),
            members: runners.len(),
            parameters: invitro_model::Layout::new(&shape).size,
            from: step,
            steps: experiment.train.steps,
        });
        for (member, runner) in runners.iter_mut().enumerate() {
            let begun = runner.begin(step, device).and_then(|()| {
                if step > 0 {
                    let saved = folder::load_checkpoint(&runner.folder.path, &runner.run, step)?;
                    population.restore(member, &saved)?;
                }
                Ok(())
            });
            if let Err(error) = begun {
                runner.fail(step, &error);
            }
        }
        Ok(PopulationRun { population, runners, capacity, step })
    }

    /// Trains to the end or until stopped, and tells what became of each member.
    fn work(mut self, options: &Options, outcomes: &mut [Option<Outcome>]) -> Result<()> {
        let trained = self.train(options);
        let (step, steps) = (self.step, self.runners[0].experiment.train.steps);
        self.runners.par_iter_mut().filter(|runner| runner.failure.is_none()).for_each(|runner| {
            let ended = match &trained {
                // The caller is told what concerns all.
                Err(error) => return runner.give_up(step, error),
                Ok(()) if step == steps => runner.finish(),
                Ok(()) => {
                    runner.status.state = State::Stopped;
                    runner.note(step)
                }
            };
            if let Err(error) = ended {
                runner.fail(step, &error);
            }
        });
        for runner in &self.runners {
            outcomes[runner.place] = Some(outcome(runner, step));
        }
        trained
    }

    fn train(&mut self, options: &Options) -> Result<()> {
        let train = self.runners[0].experiment.train.clone();
        let members = self.runners.iter().map(|r| (r.experiment.clone(), r.inputs.clone())).collect();
        let mut loader = DataLoader::start(members, self.step, loader_threads(options.device));
        let check_every = if options.device == Device::Cpu { 1 } else { HISTORY as u64 };
        let mut tokens = 0;
        if self.step == 0 {
            self.evaluate(0, &[], options)?;
        }
        let mut clock = Instant::now();
        while self.step < train.steps && self.any_left() {
            let step = self.step + 1;
            let batch = loader.take()?;
            tokens += batch.iter().flatten().map(|sequence| sequence.tokens.len() as u64 - 1).sum::<u64>();
            self.make_room(&batch)?;
            self.population.train_step(&batch, &train.update(step))?;
            self.step = step;
            let stop = options.stop.requested();
            let evaluates = self.runners[0].is_evaluated_at(step);
            let saves = stop || self.runners[0].saves_at(step);
            if !evaluates && !saves && !step.is_multiple_of(check_every) {
                continue;
            }
            let history = self.population.history()?;
            self.keep_steps(&history, clock.elapsed().as_secs_f64());
            let losses = history.last().map_or(&[][..], Vec::as_slice);
            options.progress.stepped(step, &losses.iter().map(Loss::mean).collect::<Vec<_>>(), tokens);
            tokens = 0;
            let share = self.share(clock);
            self.runners.iter_mut().for_each(|r| r.status.seconds.train += share);
            clock = Instant::now();
            if evaluates {
                self.evaluate(step, losses, options)?;
            }
            if saves {
                self.save(step)?;
            }
            if stop {
                return Ok(());
            }
            if evaluates || saves {
                clock = Instant::now();
            }
        }
        Ok(())
    }

    /// A member's share of the time that all took together.
    fn share(&self, begun: Instant) -> f64 {
        begun.elapsed().as_secs_f64() / self.runners.len() as f64
    }

    fn any_left(&self) -> bool {
        self.runners.iter().any(|runner| runner.failure.is_none())
    }

    /// A batch larger than was foreseen: the population moves to a larger place.
    fn make_room(&mut self, batch: &[Vec<invitro_model::Sequence>]) -> Result<()> {
        let rows = |own: &Vec<invitro_model::Sequence>| own.iter().map(|s| s.tokens.len() - 1).sum::<usize>();
        let wanted = batch.iter().map(rows).max().unwrap_or(0);
        if wanted <= self.capacity {
            return Ok(());
        }
        let capacity = wanted.next_multiple_of(256) * 5 / 4;
        self.population.grow(capacity)?;
        self.capacity = capacity;
        Ok(())
    }

    /// Takes note of the last steps, which took so many seconds. Members whose loss is not finite have diverged.
    fn keep_steps(&mut self, history: &[Vec<Loss>], seconds: f64) {
        let first = self.step + 1 - history.len() as u64;
        for (member, runner) in self.runners.iter_mut().enumerate() {
            let own = || (first..).zip(history.iter().map(|step| &step[member]));
            let tokens = |loss: &Loss| loss.count.iter().sum::<u64>();
            let all: u64 = own().map(|(_, loss)| tokens(loss)).sum();
            for (step, loss) in own() {
                if runner.failure.is_some() {
                    break;
                }
                let finite = |value: f64| value.is_finite().then_some(value);
                let row = training::Step {
                    step,
                    loss: finite(loss.mean()),
                    lr: runner.experiment.train.rate(step),
                    grad_norm: finite(loss.grad_norm),
                    tokens: tokens(loss),
                    tokens_per_second: (all as f64 / seconds.max(1e-9)).round() as u64,
                };
                let diverged = row.loss.is_none() || row.grad_norm.is_none();
                runner.keep(row);
                if diverged {
                    runner.fail(step, &Error::Diverged { step });
                }
            }
        }
    }

    fn evaluate(&mut self, step: u64, losses: &[Loss], options: &Options) -> Result<()> {
        if !self.runners[0].is_evaluated_at(step) || !self.any_left() {
            return Ok(());
        }
        let begun = Instant::now();
        let examinees: Vec<_> = self.runners.iter().map(|r| r.failure.is_none().then(|| r.examinee(step))).collect();
        let evaluated = evaluation::evaluate(&mut self.population, &examinees, step)?;
        let members = self.runners.len() as f64;
        // Files are synced to the disk, which takes its time: all members at once.
        let record = |(m, (runner, evaluated)): (usize, (&mut Runner, Option<Evaluated>))| {
            let evaluated = evaluated?;
            runner.status.seconds.eval += begun.elapsed().as_secs_f64() / members;
            let recorded = record_evaluation(runner, step, evaluated, losses.get(m));
            recorded.map_err(|error| runner.fail(step, &error)).ok()
        };
        let recorded: Vec<Option<_>> = self.runners.par_iter_mut().zip(evaluated).enumerate().map(record).collect();
        for (runner, headline) in self.runners.iter().zip(recorded) {
            if let Some(headline) = headline {
                options.progress.evaluated(runner.place, step, &headline);
            }
        }
        Ok(())
    }

    fn save(&mut self, step: u64) -> Result<()> {
        let begun = Instant::now();
        // Some members at once, but not the memory for all.
        for first in (0..self.runners.len()).step_by(SAVED_AT_ONCE) {
            let mut saving = Vec::new();
            for (place, runner) in self.runners.iter_mut().enumerate().skip(first).take(SAVED_AT_ONCE) {
                if runner.failure.is_none() {
                    saving.push((self.population.checkpoint(place, step, BTreeMap::new())?, runner));
                }
            }
            saving.into_par_iter().for_each(|(checkpoint, runner): (Checkpoint, &mut Runner)| {
                if let Err(error) = runner.save(checkpoint) {
                    runner.fail(step, &error);
                }
            });
        }
        let share = self.share(begun);
        self.runners.iter_mut().for_each(|r| r.status.seconds.save += share);
        Ok(())
    }
}

/// The training's own rows beside the evaluation's: the last step's gradient and rate.
fn record_evaluation(runner: &mut Runner, step: u64, evaluated: Evaluated, loss: Option<&Loss>) -> Result<Headline> {
    let mut more = Rows::new(step);
    if let Some(loss) = loss {
        let tokens = loss.count.iter().sum::<u64>() as usize;
        let mut push = |metric, value| more.push(None, Measure::Loss(metric), value, tokens);
        push(LossMetric::TrainLoss, loss.mean());
        push(LossMetric::GradNorm, loss.grad_norm);
        push(LossMetric::Lr, runner.experiment.train.rate(step));
    }
    let rows = runner.log(evaluated, more.list)?;
    runner.note(step)?;
    Ok(Headline::of(&rows))
}

/// Threads that make batches. On a CPU the model needs the cores.
fn loader_threads(device: Device) -> usize {
    let cores = rayon::current_num_threads();
    if device == Device::Cpu { 1 } else { cores.saturating_sub(1).clamp(1, 8) }
}

/// Rows that a batch of the member will hardly ever exceed, from the lengths of a sample.
fn room(runner: &Runner) -> Result<usize> {
    let Runner { experiment, inputs, .. } = runner;
    let context = experiment.model.context;
    let lengths = inputs::lengths(experiment, &inputs.languages, &inputs.text)?;
    let rows: Vec<f64> = lengths.iter().filter(|&&l| l <= context).map(|&l| l as f64 - 1.0).collect();
    let mean = rows.iter().sum::<f64>() / rows.len() as f64;
    let spread = (rows.iter().map(|row| (row - mean).powi(2)).sum::<f64>() / rows.len() as f64).sqrt();
    let batch = experiment.train.batch as f64;
    let likely = (batch * mean + 6.0 * spread * batch.sqrt()).ceil() as usize;
    let most = experiment.train.batch * context;
    Ok(likely.min(most).max(evaluation::batch_rows(context)).next_multiple_of(64))
}

/// Bytes of device memory that a population of `members` such experiments takes, about.
pub fn memory(experiment: &Experiment, members: usize, device: Device) -> u64 {
    let shape = experiment.shape();
    // Sequences of the paper's world average 40 tokens; room is made for half as much again.
    let rows = experiment.train.batch * shape.context.min(60);
    invitro_model::memory::population_bytes(device, &shape, members, rows) as u64
}
