//! `invitro evaluate`: a checkpoint judged again, with other settings if wanted.

use crate::run_summary;
use crate::terminal::{self, To};
use anyhow::Result;
use invitro_lab::{Experiment, Trained};
use invitro_model::Device;
use invitro_results::metrics;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Evaluate a checkpoint of a run again, with other settings of `eval` if wanted
#[derive(clap::Args)]
pub struct Args {
    /// The run's folder
    run: PathBuf,
    /// The step to evaluate [default: the last checkpoint's]
    #[arg(long)]
    step: Option<u64>,
    /// Settings of the evaluation, such as eval.sentences=1000
    #[arg(value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// auto, cpu, cuda or cuda:NUMBER
    #[arg(long, default_value = "auto")]
    device: String,
    /// Print all rows as JSON lines instead of a table
    #[arg(long)]
    json: bool,
    /// Print decoded sentences too
    #[arg(long)]
    samples: bool,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let trained = Trained::load(&args.run, args.step)?;
    let config = args.run.join(invitro_results::folder::CONFIG);
    let settings = Experiment::load(None, Some(&config), &args.overrides)?;
    let evaluated = trained.evaluate(&settings, Device::parse(&args.device)?)?;
    let mut out = std::io::stdout().lock();
    if args.json {
        for row in metrics::to_lines(&trained.experiment.id(), &evaluated.rows) {
            writeln!(out, "{}", serde_json::to_string(&row)?)?;
        }
    } else {
        writeln!(out, "{}", run_summary::table(&evaluated.rows, &settings, terminal::width(To::Out)))?;
    }
    if args.samples {
        for sample in &evaluated.samples {
            writeln!(out, "{}", serde_json::to_string(sample)?)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
