//! A population and the members it trains: a batch, a step, now and then an evaluation and a checkpoint.

use super::training_slots::{Slot, TrainingSlots};
use super::{MemberOutcome, TrainingOptions};
use crate::error::{Error, Result};
use crate::probes::batch_rows;
use crate::probes::evaluation::{self, Evaluation};
use crate::training::activity::Activity;
use crate::training::data_loader::DataLoader;
use crate::training::member::Runner;
use crate::training::progress::{Headline, Started};
use crate::{inputs, run_folder};
use invitro_model::{Checkpoint, Device, HISTORY, Loss, Population, Shape, Update};
use invitro_results::{Loss as LossMetric, Measure, Rows, State, training};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Members whose checkpoints are in memory together.
const SAVED_AT_ONCE: usize = 16;

/// How long the losses of steps on a GPU may go unread.
const READ_LOSSES_AFTER: Duration = Duration::from_millis(250);

/// What has become of a member whose training ended at a step.
pub(super) fn outcome(runner: &Runner, step: u64) -> MemberOutcome {
    match &runner.failure {
        Some(_) if runner.lost => MemberOutcome::Lost,
        Some(error) if runner.unwritten => MemberOutcome::Unwritten { error: error.clone() },
        Some(error) => MemberOutcome::Failed { error: error.clone() },
        None if step == runner.experiment.train.steps => MemberOutcome::Done,
        None => MemberOutcome::Stopped { step },
    }
}

/// A population and the members it trains.
pub(super) struct PopulationRun<'a> {
    population: Population,
    runners: Vec<Runner<'a>>,
    /// Rows of a batch that the population has room for.
    capacity: usize,
    step: u64,
}

impl<'a> PopulationRun<'a> {
    /// Puts the members on the device where they left off.
    pub(super) fn assemble(
        mut runners: Vec<Runner<'a>>,
        step: u64,
        device: &str,
        options: &TrainingOptions,
    ) -> Result<PopulationRun<'a>> {
        let experiment = &runners[0].experiment;
        let shape = Shape::new(&experiment.model, runners[0].rows());
        let seeds: Vec<u64> = runners.iter().map(|runner| runner.experiment.seeds.model.first()).collect();
        let rooms: Result<Vec<usize>> = runners.iter().map(room).collect();
        let capacity = rooms?.into_iter().max().unwrap_or(0);
        let mut population = Population::new(options.device, &shape, &seeds, capacity)?;
        for runner in &runners {
            runner.status.notes.iter().for_each(|note| options.progress.note(runner.place, note));
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
                    let saved = run_folder::load_checkpoint(&runner.folder.path, &runner.run, step)?;
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

    /// Trains to the end or until stopped; the outcome of each member.
    pub(super) fn work(
        mut self,
        options: &TrainingOptions,
        slots: Option<&TrainingSlots>,
        outcomes: &mut [Option<MemberOutcome>],
    ) -> Result<()> {
        let trained = self.train(options, slots);
        options.progress.doing(Activity::Finishing);
        let (step, steps) = (self.step, self.runners[0].experiment.train.steps);
        self.runners.par_iter_mut().filter(|runner| runner.failure.is_none()).for_each(|runner| {
            let ended = match &trained {
                // The caller gets an error that concerns all members.
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

    fn train(&mut self, options: &TrainingOptions, slots: Option<&TrainingSlots>) -> Result<()> {
        let members = self.runners.iter().map(|r| (r.experiment.clone(), r.inputs.clone())).collect();
        let mut loader = DataLoader::start(members, self.step, loader_threads(options.device));
        if self.step == 0 {
            self.evaluate(0, &[], options)?;
        }
        while self.step < self.runners[0].experiment.train.steps && self.any_left() {
            options.progress.doing(Activity::AwaitingSlot);
            let done = self.step as f64 / self.runners[0].experiment.train.steps as f64;
            let slot = slots.map(|slots| slots.take(done));
            let (losses, stop) = self.train_segment(&mut loader, options, slot.as_ref())?;
            // Another population may train while this one is evaluated.
            drop(slot);
            let step = self.step;
            if self.runners[0].is_evaluated_at(step) {
                self.evaluate(step, &losses, options)?;
            }
            if stop || self.runners[0].saves_at(step) {
                self.save(step, options)?;
            }
            if stop {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Trains up to the next step that is evaluated or saved, until it has to yield the slot, or until asked to
    /// stop; the losses of the last step, and whether it was asked. The device has nothing left to do for this population
    /// then.
    fn train_segment(
        &mut self,
        loader: &mut DataLoader,
        options: &TrainingOptions,
        slot: Option<&Slot>,
    ) -> Result<(Vec<Loss>, bool)> {
        let steps = self.runners[0].experiment.train.steps;
        // A GPU idles while its losses are read: that is not done after every step.
        let due = |unread: usize, clock: Instant| {
            options.device == Device::Cpu || unread == HISTORY || clock.elapsed() >= READ_LOSSES_AFTER
        };
        let (mut tokens, mut unread) = (0, 0);
        let mut clock = Instant::now();
        loop {
            let step = self.step + 1;
            options.progress.doing(Activity::AwaitingBatch);
            let batch = loader.take()?;
            options.progress.doing(Activity::Training);
            tokens += batch.iter().flatten().map(|sequence| sequence.tokens.len() as u64 - 1).sum::<u64>();
            self.make_room(&batch)?;
            let updates: Vec<Update> = self.runners.iter().map(|r| Update::at(&r.experiment.train, step)).collect();
            self.population.train_step(&batch, &updates)?;
            self.step = step;
            unread += 1;
            let stop = options.stop.requested();
            let ends = stop || step == steps || self.runners[0].is_evaluated_at(step) || self.runners[0].saves_at(step);
            if !ends && !due(unread, clock) {
                continue;
            }
            let mut history = self.population.history()?;
            self.keep_steps(&history, clock.elapsed().as_secs_f64());
            let losses = history.pop().unwrap_or_default();
            options.progress.stepped(step, &losses.iter().map(Loss::mean).collect::<Vec<_>>(), tokens);
            (tokens, unread) = (0, 0);
            let share = self.share(clock);
            self.runners.iter_mut().for_each(|r| r.status.seconds.train += share);
            clock = Instant::now();
            if ends || !self.any_left() || slot.is_some_and(Slot::should_yield) {
                return Ok((losses, stop));
            }
        }
    }

    /// A member's share of the time that all took together.
    fn share(&self, begun: Instant) -> f64 {
        begun.elapsed().as_secs_f64() / self.runners.len() as f64
    }

    fn any_left(&self) -> bool {
        self.runners.iter().any(|runner| runner.failure.is_none())
    }

    /// A batch larger than was foreseen: the population moves to a larger place.
    fn make_room(&mut self, batch: &[Vec<invitro_model::TokenSequence>]) -> Result<()> {
        let rows = |own: &Vec<invitro_model::TokenSequence>| own.iter().map(|s| s.tokens.len() - 1).sum::<usize>();
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

    fn evaluate(&mut self, step: u64, losses: &[Loss], options: &TrainingOptions) -> Result<()> {
        if !self.runners[0].is_evaluated_at(step) || !self.any_left() {
            return Ok(());
        }
        let begun = Instant::now();
        let members: Vec<_> = self.runners.iter().map(|r| r.failure.is_none().then(|| r.to_evaluate(step))).collect();
        options.progress.doing(Activity::Inference);
        let answers = evaluation::query(&mut self.population, &members, step)?;
        options.progress.doing(Activity::Scoring);
        let evaluations = evaluation::measure(&self.population, &members, step, &answers);
        let share = 1.0 / self.runners.len() as f64;
        // Files are synced to the disk, which takes its time: all members at once.
        let record = |(m, (runner, evaluation)): (usize, (&mut Runner, Option<Evaluation>))| {
            let evaluation = evaluation?;
            runner.status.seconds.eval += begun.elapsed().as_secs_f64() * share;
            let recorded = record_evaluation(runner, step, evaluation, losses.get(m));
            recorded.map_err(|error| runner.fail(step, &error)).ok()
        };
        let recorded: Vec<Option<_>> = self.runners.par_iter_mut().zip(evaluations).enumerate().map(record).collect();
        for (runner, headline) in self.runners.iter().zip(recorded) {
            if let Some(headline) = headline {
                options.progress.evaluated(runner.place, step, &headline);
            }
        }
        Ok(())
    }

    fn save(&mut self, step: u64, options: &TrainingOptions) -> Result<()> {
        options.progress.doing(Activity::Saving);
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
fn record_evaluation(runner: &mut Runner, step: u64, evaluation: Evaluation, loss: Option<&Loss>) -> Result<Headline> {
    let mut more = Rows::new(step);
    if let Some(loss) = loss {
        let tokens = loss.count.iter().sum::<u64>() as usize;
        let mut push = |metric, value| more.push(None, Measure::Loss(metric), value, tokens);
        push(LossMetric::TrainLoss, loss.mean());
        push(LossMetric::GradNorm, loss.grad_norm);
        push(LossMetric::Lr, runner.experiment.train.rate(step));
    }
    let rows = runner.log(evaluation, more.list)?;
    runner.note(step)?;
    Ok(Headline::from_rows(&rows))
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
    Ok(likely.min(most).max(batch_rows(context)).next_multiple_of(64))
}
