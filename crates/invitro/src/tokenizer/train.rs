//! `invitro tokenizer train`: a tokenizer as files that invitro, `tokenizers` and `transformers` load.

use crate::experiment::ExperimentArgs;
use crate::output::StagedDir;
use anyhow::{Result, bail};
use invitro_results::folder::SEGMENTATION;
use invitro_tokenizer::{Provenance, Segmentation, Tokenizer};
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Train a tokenizer and write it for invitro and for Python's tokenizers and transformers
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    experiment: ExperimentArgs,
    /// The folder to write
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Replace the folder if it is a tokenizer's
    #[arg(long)]
    force: bool,
    /// What was trained, as JSON
    #[arg(long)]
    json: bool,
}

const CONTENTS: [&str; 4] = ["tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", SEGMENTATION];

#[derive(Serialize)]
struct TrainedTokenizer<'a> {
    path: &'a PathBuf,
    #[serde(flatten)]
    provenance: Option<&'a Provenance>,
    shortfall: usize,
    seconds: f64,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let (experiment, languages) = args.experiment.languages()?;
    if !experiment.tokenizer.file.is_empty() {
        bail!("`tokenizer.file` is a tokenizer that is there: nothing is trained");
    }
    let staged = StagedDir::new(&args.out, args.force, &CONTENTS)?;
    let start = Instant::now();
    let tokenizer = Tokenizer::train(&languages, &experiment.tokenizer, &experiment.mixture)?;
    let seconds = start.elapsed().as_secs_f64();
    for (name, text) in tokenizer.files()? {
        staged.write(name, text)?;
    }
    if experiment.tokenizer.intervenes() {
        staged.write(SEGMENTATION, Segmentation::new(&tokenizer, &languages)?.table(&languages))?;
    }
    staged.finish()?;
    let shortfall = tokenizer.shortfall();
    if args.json {
        let trained = TrainedTokenizer { path: &args.out, provenance: tokenizer.provenance(), shortfall, seconds };
        emit!("{}", serde_json::to_string_pretty(&trained)?);
        return Ok(ExitCode::SUCCESS);
    }
    let config = &experiment.tokenizer;
    let short = if shortfall > 0 { format!(", {shortfall} fewer than asked for") } else { String::new() };
    say!(
        "{} {}: |V| {}{short}, boundary {}, trained on {} sentences in {seconds:.2} s, written to {}",
        config.kind.name(),
        config.regime.name(),
        tokenizer.vocab_size(),
        config.boundary.name(),
        config.sentences,
        args.out.display()
    );
    Ok(ExitCode::SUCCESS)
}
