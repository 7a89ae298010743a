//! `invitro tokenizer`: train tokenizers, measure them, find their bridges, look at them, sweep over their settings.

mod bridges;
mod measure;
mod sweep;
mod table;
mod train;

use crate::experiment::ExperimentArgs;
use anyhow::Result;
use clap::Subcommand;
use invitro_lab::Experiment;
use invitro_language::Languages;
use invitro_tokenizer::{Segmentation, Tokenizer};
use std::path::PathBuf;
use std::process::ExitCode;

/// Train tokenizers, measure them and find their bridges; no model is needed
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Train(train::Args),
    Measure(measure::Args),
    Bridges(bridges::Args),
    Table(table::Args),
    Sweep(sweep::Args),
}

pub fn run(args: Args) -> Result<ExitCode> {
    match args.command {
        Command::Train(args) => train::run(args),
        Command::Measure(args) => measure::run(args),
        Command::Bridges(args) => bridges::run(args),
        Command::Table(args) => table::run(args),
        Command::Sweep(args) => sweep::run(args),
    }
}

/// Which tokenizer a command is about: the experiment's, trained on the spot, or one that is there.
#[derive(clap::Args)]
struct Subject {
    #[command(flatten)]
    experiment: ExperimentArgs,
    /// A tokenizer's folder or tokenizer.json, of the experiment's language, instead of training one
    #[arg(long, value_name = "PATH")]
    tokenizer: Option<PathBuf>,
}

struct Loaded {
    experiment: Experiment,
    languages: Languages,
    tokenizer: Tokenizer,
    segmentation: Segmentation,
}

impl Subject {
    fn load(&self) -> Result<Loaded> {
        let (experiment, languages) = self.experiment.languages()?;
        let tokenizer = match &self.tokenizer {
            Some(path) => Tokenizer::load(path)?,
            None => Tokenizer::train(&languages, &experiment.tokenizer, &experiment.mixture)?,
        };
        tokenizer.expect(&experiment.tokenizer)?;
        let segmentation = Segmentation::new(&tokenizer, &languages)?;
        Ok(Loaded { experiment, languages, tokenizer, segmentation })
    }
}

impl Loaded {
    /// The tokenizer in a line.
    fn title(&self) -> String {
        let (regime, lambda) = match self.tokenizer.provenance() {
            Some(from) => (from.config.regime.name(), format!(", λ {}", from.lambda)),
            None => ("of unknown origin", String::new()),
        };
        let short = self.tokenizer.shortfall();
        let short = if short > 0 { format!(" ({short} fewer than asked)") } else { String::new() };
        format!(
            "{} {regime}, |V| {}{short}, boundary {}{lambda}, d {}, data seed {}",
            self.tokenizer.kind().name(),
            self.tokenizer.vocab_size(),
            self.tokenizer.boundary().name(),
            self.experiment.language.distance,
            self.languages.seed
        )
    }
}
