//! `invitro export`: a trained model for other programs.

use crate::output::{StagedDir, apart_from};
use anyhow::Result;
use invitro_lab::Trained;
use invitro_lab::card::Published;
use invitro_results::folder::SEGMENTATION;
use std::path::PathBuf;
use std::process::ExitCode;

/// Write a trained model, its tokenizer and a model card as a folder that HuggingFace transformers loads
#[derive(clap::Args)]
pub struct Args {
    /// The run's folder
    run: PathBuf,
    /// The folder to write
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The checkpoint's step [default: the last]
    #[arg(long)]
    step: Option<u64>,
    /// The licence that the model card names, as the Hugging Face Hub abbreviates it, such as cc0-1.0
    #[arg(long, value_name = "ID", value_parser = invitro_lab::card::parse_licence)]
    license: Option<String>,
    /// Replace the folder if it is an export
    #[arg(long)]
    force: bool,
}

const CONTENTS: [&str; 8] = [
    "model.safetensors",
    "config.json",
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    SEGMENTATION,
    "README.md",
];

pub fn run(args: Args) -> Result<ExitCode> {
    apart_from(&args.run, &args.out)?;
    let trained = Trained::load(&args.run, args.step)?;
    let staged = StagedDir::new(&args.out, args.force, &CONTENTS)?;
    let name = args.out.file_name().unwrap_or_default().to_string_lossy();
    trained.export(&args.run, staged.path(), Published { name: &name, licence: args.license.as_deref() })?;
    staged.finish()?;
    say!(
        "wrote the model of step {} and its tokenizer to {}; in Python: AutoModelForCausalLM.from_pretrained(\"{}\")",
        trained.checkpoint.step,
        args.out.display(),
        args.out.display()
    );
    Ok(ExitCode::SUCCESS)
}
