//! `invitro run`: an experiment from its config to its result.

use crate::experiment::ExperimentArgs;
use crate::progress::Display;
use crate::run_summary;
use anyhow::{Result, bail};
use invitro_lab::population::{self, Member, Options, Outcome};
use invitro_lab::{Experiment, Stop};
use invitro_model::Device;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Make the languages and the tokenizer, train, evaluate, report: one run, or one per seed
///
/// The same command goes on where an interrupted run left off.
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
    carry_out(&args.training.experiment.load()?, &args.training, !args.no_report)
}

/// Trains every seed's run and tells what came of it. Exit status 0: all done; 1: something failed; 130: stopped.
pub fn carry_out(experiment: &Experiment, args: &TrainingArgs, report: bool) -> Result<ExitCode> {
    let members = members(experiment, args.out.as_deref());
    let device = Device::parse(&args.device)?;
    let stop = Stop::new().on_signals()?;
    let display = Display::new(&members);
    let options = Options { device, force: args.force, stop: &stop, progress: &display };
    let outcomes = population::run(&members, &options);
    drop(display);
    let outcomes = outcomes?;
    // Before anything is told: whoever reads may have seen enough.
    let reports: Vec<Option<PathBuf>> = std::iter::zip(&members, &outcomes)
        .map(|(member, outcome)| (report && *outcome == Outcome::Done).then(|| run_summary::report(member)).transpose())
        .collect::<Result<_>>()?;
    let mut code = 0;
    let mut between = "";
    for ((member, outcome), report) in members.iter().zip(&outcomes).zip(&reports) {
        let place = member.folder.display();
        match outcome {
            Outcome::Done => {
                if members.len() > 1 {
                    let seeds = &member.experiment.seeds;
                    say!("{between}data seed {}, model seed {}", seeds.data.first(), seeds.model.first());
                    between = "\n";
                }
                run_summary::tell(member, report.as_deref())?;
            }
            Outcome::Stopped { step } => {
                eprintln!("stopped at step {step}; the same command goes on from there ({place})");
                code = code.max(130);
            }
            Outcome::Failed { error } if members.len() == 1 => bail!("{error}"),
            // Told when it happened.
            Outcome::Failed { .. } => code = code.max(1),
            Outcome::Busy | Outcome::Lost => bail!("another process is writing to the run folder `{place}`"),
        }
    }
    Ok(ExitCode::from(code))
}

/// The runs of an experiment, one per pair of seeds, and their folders.
fn members(experiment: &Experiment, out: Option<&Path>) -> Vec<Member> {
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
