//! `invitro run`: an experiment from its config to its result.

use crate::experiment::ExperimentArgs;
use crate::progress::RunDisplay;
use crate::study::format::without_checkpoint;
use crate::{pooled, resume, run_summary, terminal};
use anyhow::{Result, bail};
use invitro_lab::training::{self, Member, MemberOutcome, TrainingOptions};
use invitro_lab::{State, Status, Stop};
use invitro_model::Device;
use std::path::PathBuf;
use std::process::ExitCode;

/// Make the languages and the tokenizer, train, evaluate, report: one run, or one per seed
///
/// The same command resumes where an interrupted run left off, and so does `invitro run DIR`, which needs no settings. A
/// larger train.steps beside DIR makes a run longer, where its learning rates allow it.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    training: TrainingArgs,
    /// Write no report
    #[arg(long)]
    no_report: bool,
}

/// What `run` and `train` both take.
#[derive(clap::Args)]
pub struct TrainingArgs {
    #[command(flatten)]
    pub experiment: ExperimentArgs,
    /// Resume the run in this folder, or the runs of several seeds: the same as DIR among the settings
    #[arg(long, value_name = "DIR")]
    resume: Option<PathBuf>,
    /// The run's folder; with several seeds, the folder of their folders [default: runs/NAME-ID]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// auto, cpu, cuda or cuda:NUMBER
    #[arg(long, default_value = "auto")]
    device: String,
    /// Start over in a folder that holds a run already
    #[arg(long)]
    force: bool,
}

pub fn run(args: Args) -> Result<ExitCode> {
    carry_out(args.training, &[], !args.no_report)
}

/// Trains every seed's run, with `more` settings, and prints a summary. Exit status 0: all done; 1: something failed;
/// 130: stopped.
pub fn carry_out(mut args: TrainingArgs, more: &[&str], report: bool) -> Result<ExitCode> {
    let device = Device::parse(&args.device)?;
    let members = args.members(more)?;
    let finished: Vec<bool> = members.iter().map(|member| !args.force && is_done(member)).collect();
    let stop = Stop::new().on_signals()?;
    let display = RunDisplay::new(&members);
    let options = TrainingOptions { device, force: args.force, stop: &stop, progress: &display };
    let outcomes = training::run(&members, &options);
    let worked = display.worked();
    drop(display);
    let outcomes = outcomes?;
    // Before anything is printed: the reader may close the pipe.
    let reports: Vec<Option<Result<PathBuf>>> = std::iter::zip(&members, &outcomes)
        .map(|(member, outcome)| {
            (report && *outcome == MemberOutcome::Done).then(|| run_summary::report(&member.folder))
        })
        .collect();
    let mut code = 0;
    for (((member, outcome), report), finished) in members.iter().zip(&outcomes).zip(&reports).zip(finished) {
        let place = member.folder.display();
        match outcome {
            MemberOutcome::Done => {
                if members.len() == 1 {
                    let page = report.as_ref().and_then(|report| report.as_ref().ok());
                    run_summary::print(member, page.map(PathBuf::as_path))?;
                }
                let faults = checkpoint_faults(member);
                if let Some(text) = without_checkpoint(faults.iter().map(String::as_str)) {
                    terminal::warn(&text);
                } else if finished && !worked {
                    note!("{}", finished_before(member));
                }
                if let Some(Err(error)) = report {
                    terminal::warn(&format!("the run is finished, but its report could not be written: {error:#}"));
                    terminal::warn(&format!("`invitro report {place}` writes it"));
                    code = code.max(1);
                }
            }
            MemberOutcome::Stopped { step } => {
                let resumes = format!("the same command resumes it, or `invitro run {place}`");
                terminal::warn(&format!("stopped at step {step}; {resumes}"));
                code = code.max(130);
            }
            MemberOutcome::Failed { error } | MemberOutcome::Unwritten { error } if members.len() == 1 => {
                bail!("{error}")
            }
            // Told when it happened.
            MemberOutcome::Failed { .. } | MemberOutcome::Unwritten { .. } => code = code.max(1),
            MemberOutcome::Busy | MemberOutcome::Lost => {
                bail!("another process is writing to the run folder `{place}`")
            }
        }
    }
    let done = outcomes.iter().filter(|outcome| **outcome == MemberOutcome::Done).count();
    if members.len() > 1 && done > 0 {
        let folder = members[0].folder.parent().unwrap_or(&members[0].folder);
        let runs: Vec<String> = members.iter().map(|member| member.experiment.id()).collect();
        let page = (report && done == members.len()).then(|| run_summary::report(folder)).transpose()?;
        pooled::print(folder, &runs, page.as_deref())?;
    }
    Ok(ExitCode::from(code))
}

impl TrainingArgs {
    /// The runs that are asked for: those of a folder, or those of an experiment.
    fn members(&mut self, more: &[&str]) -> Result<Vec<Member>> {
        let mut folders = self.experiment.take_folders()?;
        folders.extend(self.resume.take());
        let folder = match &folders[..] {
            [] => return Ok(training::members(&self.experiment.load_to_run(more)?, self.out.as_deref())),
            [folder] => folder,
            [one, other, ..] => {
                bail!("`{}` and `{}` are two folders: give one of them", one.display(), other.display())
            }
        };
        if self.experiment.is_named() || self.out.is_some() {
            bail!("`{}` has its own config: --preset, --config and --out cannot be given with it", folder.display());
        }
        resume::members(folder, &self.experiment.overrides(more)?, self.force)
    }
}

fn is_done(member: &Member) -> bool {
    Status::read(&member.folder).is_ok_and(|status| status.is_some_and(|status| status.state == State::Done))
}

/// What is wrong with the checkpoints that a finished run kept.
fn checkpoint_faults(member: &Member) -> Vec<String> {
    let Ok(Some(status)) = Status::read(&member.folder) else { return Vec::new() };
    status.checkpoint_faults(&member.folder, true).iter().map(ToString::to_string).collect()
}

/// The message about a run that was finished before.
fn finished_before(member: &Member) -> String {
    let (train, place) = (&member.experiment.train, member.folder.display());
    let resumes = match train.first_other_rate(train.steps + 1, train.steps) {
        None => format!("; `invitro run {place} train.steps=N` with a larger N trains it further"),
        Some(_) => String::new(),
    };
    format!("finished before, at step {}: nothing was left to do{resumes}", train.steps)
}
