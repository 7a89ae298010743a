//! Trains experiments of one shape as one population, each into a folder of its own.
//!
//! The loop is in `PopulationRun::train`: a batch, a step, now and then an evaluation and a checkpoint. A member that fails is
//! left behind and the others continue. Several populations may share a device: see [`TrainingSlots`].

pub mod activity;
pub mod data_loader;
pub(crate) mod member;
pub(crate) mod population_run;
pub mod progress;
pub mod stop;
pub(crate) mod training_slots;

pub use training_slots::TrainingSlots;

use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::inputs::{self, InputCache};
use crate::probes;
use crate::run_folder::{Folder, more_steps};
use crate::training::activity::Activity;
use crate::training::member::Runner;
use crate::training::progress::Progress;
use crate::training::stop::Stop;
use invitro_model::Device;
use invitro_results::folder::STATUS;
use invitro_results::{State, Status};
use population_run::{PopulationRun, outcome};
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

pub struct TrainingOptions<'a> {
    pub device: Device,
    /// Start over in folders that are there already, whatever config made them.
    pub force: bool,
    pub stop: &'a Stop,
    pub progress: &'a dyn Progress,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemberOutcome {
    Done,
    /// Saved at this step; the same call resumes from there.
    Stopped {
        step: u64,
    },
    Failed {
        error: String,
    },
    /// Its folder could not be written to, as on a full disk; the same call resumes from its last checkpoint.
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
pub fn run(members: &[Member], options: &TrainingOptions) -> Result<Vec<MemberOutcome>> {
    run_with(members, options, &InputCache::default(), None)
}

/// The same with inputs, and slots of the device, that other populations may share.
pub fn run_with(
    members: &[Member],
    options: &TrainingOptions,
    cache: &InputCache,
    slots: Option<&TrainingSlots>,
) -> Result<Vec<MemberOutcome>> {
    if let Some(other) =
        members.iter().find(|m| m.experiment.population_key() != members[0].experiment.population_key())
    {
        let differing = other.experiment.differing(&members[0].experiment, ["in one", "in another"]);
        return Err(Error::Population(differing.join("; ")));
    }
    if options.device == Device::Cpu {
        // Before any folder is made.
        invitro_model::cpu::simd::configured()?;
        if let Some(Member { experiment, .. }) = members.first() {
            let shape = experiment.shape();
            invitro_model::memory::check_host(&shape, members.len(), probes::batch_rows(shape.context))?;
        }
    }
    let device = options.device.describe()?;
    options.progress.doing(Activity::Preparing);
    options.progress.preparing("languages, tokenizers and evaluation sets");
    let numbered: Vec<(usize, &Member)> = members.iter().enumerate().collect();
    let opened = std::thread::scope(|scope| {
        if let Some(Member { experiment, .. }) = members.first() {
            scope.spawn(|| options.device.prepare(&experiment.shape()));
        }
        inputs::on_threads(&numbered, |(place, member)| open(*place, member, options, cache))
    });
    let mut outcomes: Vec<Option<MemberOutcome>> = opened.iter().map(|o| o.as_ref().err().cloned()).collect();
    for (i, outcome) in outcomes.iter().enumerate() {
        if let Some(MemberOutcome::Failed { error } | MemberOutcome::Unwritten { error }) = outcome {
            options.progress.failed(i, 0, error);
        }
    }
    for (start, runners) in groups(opened.into_iter().flatten().collect(), &mut outcomes) {
        options.progress.doing(Activity::Preparing);
        PopulationRun::assemble(runners, start, &device, options)?.work(options, slots, &mut outcomes)?;
    }
    Ok(outcomes.into_iter().map(|outcome| outcome.expect("every member came to something")).collect())
}

/// Takes a member's folder and makes its inputs.
fn open<'a>(
    place: usize,
    member: &Member,
    options: &TrainingOptions<'a>,
    cache: &InputCache,
) -> std::result::Result<Runner<'a>, MemberOutcome> {
    let failed = |error: &Error| match error {
        Error::Busy { .. } => MemberOutcome::Busy,
        error if error.is_unwritten() => MemberOutcome::Unwritten { error: error.to_string() },
        error => MemberOutcome::Failed { error: error.to_string() },
    };
    let begun = Instant::now();
    let may_write = || options.progress.may_write(place);
    if !may_write() {
        return Err(MemberOutcome::Lost);
    }
    let folder = Folder::take(&member.folder, &member.experiment, options.force).map_err(|error| failed(&error))?;
    more_steps::complete(&folder.path).map_err(|error| failed(&error))?;
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
        return Err(MemberOutcome::Done);
    }
    let inputs = match cache.get(&member.experiment) {
        Ok(inputs) => inputs,
        Err(error) => {
            status.state = State::Failed;
            status.error = Some(error.to_string());
            if may_write() {
                // The outcome has the error, whether or not it can be written down.
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
        return Err(runner.write_again().map_or_else(|error| failed(&error), |()| MemberOutcome::Done));
    }
    runner.damaged = damaged;
    Ok(runner)
}

/// Members that can train together, with the step they go on from: those of as many rows from the newest checkpoint all of
/// them have, or, where there is none, each from its own.
fn groups<'a>(runners: Vec<Runner<'a>>, outcomes: &mut [Option<MemberOutcome>]) -> Vec<(u64, Vec<Runner<'a>>)> {
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

/// An error if this kind of device trains no such model. The device is not opened.
pub fn check(experiment: &Experiment, device: Device) -> Result<()> {
    Ok(device.check(&experiment.shape())?)
}

/// Bytes of device memory that a population of `members` such experiments takes, about.
pub fn memory(experiment: &Experiment, members: usize, device: Device) -> u64 {
    let shape = experiment.shape();
    // Sequences of the paper's world average 40 tokens; room is made for half as much again.
    let rows = experiment.train.batch * shape.context.min(60);
    invitro_model::memory::population_bytes(device, &shape, members, rows) as u64
}
