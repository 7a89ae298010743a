//! More steps for a run that has a folder. It becomes the folder of the run with more steps, its identity too, with what
//! that run would have measured so far.
//!
//! What is to be is written down first, as the config `raise.toml`. Whoever goes on with a folder that has one does the
//! rest, however far the last one came: every part of it can be done twice.

use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::run_folder::{self, Folder, LOG_SEALS, MORE_STEPS, RUN, remove};
use invitro_base::settings::Exposure;
use invitro_model::Checkpoint;
use invitro_results::folder::{
    CHECKPOINTS, CONFIG, CONTRASTS, LOGS, METRICS, REPORT, SAMPLES, STATUS, TABLES, TRAINING, read_text, write_file,
};
use invitro_results::table::Columns;
use invitro_results::{Seal, State, Status, column, metrics, training};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Says why the run in a folder cannot become `experiment`, which has more steps, if it cannot.
pub fn check(path: &Path, made_by: &Experiment, experiment: &Experiment) -> Result<()> {
    let (from, to) = (made_by.train.steps, experiment.train.steps);
    let mut more = made_by.clone();
    more.train.steps = to;
    let keys = made_by.differing(experiment, ["in the folder", "asked for"]);
    if more.id() != experiment.id() || to < from {
        return Err(Error::OtherConfig { path: path.to_owned(), keys: keys.join("; ") });
    }
    let refused = |why: String| Err(Error::Raise { path: path.to_owned(), from, to, why });
    if path.file_name().is_some_and(|name| *name == *made_by.id()) {
        return refused("it is named by its identity, as the runs of a study are, and would be another run".into());
    }
    let step = run_folder::saved(path).last().copied().unwrap_or(0);
    if step == 0 && Status::read(path)?.is_some_and(|status| status.state == State::Done) {
        return refused("it kept no checkpoint to resume from (`checkpoint.keep`)".into());
    }
    if !made_by.mixture.schedule.is_empty() {
        return refused(
            "`mixture.schedule` divides all steps into stages, so that other rows would have come before".into(),
        );
    }
    if made_by.mixture.exposure != Exposure::None {
        return refused(
            "`mixture.exposure` spreads its rows over all steps, so that other rows would have come before".into(),
        );
    }
    match made_by.train.first_other_rate(to, step) {
        None => Ok(()),
        Some(other) => refused(format!(
            "the learning rate falls to 0 at the last step, so that one of {to} steps has other rates from step {other} \
             on, and this one is at step {step}; start a new one, with another folder (--out), and with `train.decay=none` if it \
             is to be raised later"
        )),
    }
}

/// Makes the run in a folder the one of `experiment`, which has more steps and is otherwise the same.
pub fn extend(path: &Path, made_by: &Experiment, experiment: &Experiment) -> Result<()> {
    let folder = Folder::take(path, made_by, false)?;
    complete(&folder.path)?;
    check(path, made_by, experiment)?;
    // The logs are rewritten, and checkpoints have their checksums: all must be intact.
    let whole = || -> Result<()> {
        let status = Status::read(path)?.ok_or_else(|| invitro_results::Error::Missing { path: path.join(STATUS) })?;
        if let Some(fault) = status.faults(path).into_iter().next() {
            return Err(fault.into());
        }
        folder.saved().iter().try_for_each(|&step| run_folder::intact_logs(path, &made_by.id(), step).map(|_| ()))
    };
    if let Err(fault) = whole() {
        let (from, to) = (made_by.train.steps, experiment.train.steps);
        let why = format!("{fault}; `invitro run` without more steps mends it");
        return Err(Error::Raise { path: path.to_owned(), from, to, why });
    }
    write_file(&path.join(MORE_STEPS), experiment.to_toml().as_bytes())?;
    complete(&folder.path)
}

/// Does what `raise.toml` asks for, if a folder has one. The caller holds its lock.
pub(crate) fn complete(path: &Path) -> Result<()> {
    let mark = path.join(MORE_STEPS);
    let Some(text) = read_text(&mark)? else { return Ok(()) };
    let experiment = Experiment::from_toml(&text, &format!("`{}`", mark.display()))?;
    let run = experiment.id();
    // What only a run that is done has.
    TABLES.iter().chain([&REPORT]).try_for_each(|name| remove(&path.join(name)))?;
    let evaluations = experiment.eval.at(experiment.train.steps);
    let is_evaluated = |step: u64| evaluations.binary_search(&step).is_ok();
    // The n-gram models are measured at the first evaluation and at the last.
    let is_first = |step: u64| evaluations.first() == Some(&step);
    rewrite(&path.join(METRICS), &run, |step, row| {
        is_evaluated(step) && (is_first(step) || !metrics::is_baseline(row))
    })?;
    for name in [SAMPLES, CONTRASTS] {
        rewrite(&path.join(name), &run, |step, _| is_evaluated(step))?;
    }
    let every = training::every(experiment.train.steps);
    rewrite(&path.join(TRAINING), &run, |step, _| step.is_multiple_of(every))?;
    let saved = run_folder::saved(path);
    for &step in &saved {
        rename_checkpoint(path, step, &run)?;
    }
    if let Some(mut status) = Status::read(path)? {
        (status.run, status.steps) = (run, experiment.train.steps);
        status.files.retain(|name, _| !TABLES.contains(&name.as_str()) && !name.starts_with(CHECKPOINTS));
        for name in LOGS.into_iter().filter(|name| path.join(name).exists()) {
            status.files.insert(name.into(), Seal::of_file(&path.join(name))?);
        }
        status.files.insert(CONFIG.into(), Seal::of(text.as_bytes()));
        if status.state == State::Done {
            (status.state, status.step) = (State::Stopped, saved.last().copied().unwrap_or(0));
        }
        status.write(path)?;
    }
    write_file(&path.join(CONFIG), text.as_bytes())?;
    remove(&mark)
}

/// Leaves the lines of a log that are to stay, with the run's new name and otherwise as they are. What follows a line
/// that cannot be read is of no use, as when a run goes on.
fn rewrite(path: &Path, run: &str, stays: impl Fn(u64, &Columns) -> bool) -> Result<()> {
    let Some(text) = read_text(path)? else { return Ok(()) };
    let mut lines = String::with_capacity(text.len());
    for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
        let Ok(row) = serde_json::from_str::<Columns>(line) else { break };
        let Some(step) = row.get("step").and_then(Value::as_u64) else { break };
        match row.get(column::RUN).and_then(Value::as_str) {
            _ if !stays(step, &row) => {}
            Some(old) => lines.push_str(&line.replacen(old, run, 1)),
            None => lines.push_str(line),
        }
    }
    if lines != text {
        write_file(path, lines.as_bytes())?;
    }
    Ok(())
}

/// Gives a checkpoint the run's new name, and the logs as they are now up to its step. One that cannot be read is left to
/// whoever goes on.
fn rename_checkpoint(folder: &Path, step: u64, run: &str) -> Result<()> {
    let path = run_folder::checkpoint(folder, step);
    let Ok(mut checkpoint) = Checkpoint::load(&path) else { return Ok(()) };
    let mut seals = BTreeMap::new();
    for name in LOGS {
        seals.insert(name, up_to(&folder.join(name), step)?);
    }
    let seals = serde_json::to_string(&seals).expect("seals are plain data");
    let new = [(RUN, run.to_owned()), (LOG_SEALS, seals)].map(|(key, value)| (key.to_owned(), value));
    if new.iter().any(|(key, value)| checkpoint.metadata.get(key) != Some(value)) {
        checkpoint.metadata.extend(new);
        checkpoint.save(&path)?;
    }
    Ok(())
}

/// The seal of a log's lines up to a step.
fn up_to(path: &Path, step: u64) -> Result<Seal> {
    let text = read_text(path)?.unwrap_or_default();
    let is_later = |line: &&str| {
        let row = serde_json::from_str::<Columns>(line).ok();
        row.and_then(|row| row.get("step")?.as_u64()).is_some_and(|at| at > step)
    };
    let later: usize = text.split_inclusive('\n').skip_while(|line| !is_later(line)).map(str::len).sum();
    Ok(Seal::of(&text.as_bytes()[..text.len() - later]))
}
