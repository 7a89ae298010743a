//! `invitro export`: a trained model for other programs.

use crate::output::{StagedDir, apart_from};
use anyhow::Result;
use invitro_lab::Trained;
use invitro_lab::card::Published;
use invitro_lab::minimal_pairs;
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
    /// Write minimal pairs, too, as tasks of lm-eval, the harness of EleutherAI
    #[arg(long)]
    lm_eval: bool,
    /// Replace the folder if it is an export
    #[arg(long)]
    force: bool,
}

const CONTENTS: [&str; 13] = [
    "model.safetensors",
    "config.json",
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    SEGMENTATION,
    "README.md",
    "tokenizer-*/tokenizer.json",
    "tokenizer-*/tokenizer_config.json",
    "tokenizer-*/special_tokens_map.json",
    "lm-eval/invitro_*.yaml",
    "lm-eval/invitro_*.jsonl",
];

pub fn run(args: Args) -> Result<ExitCode> {
    apart_from(&args.run, &args.out)?;
    let trained = Trained::load(&args.run, args.step)?;
    let staged = StagedDir::new(&args.out, args.force, &CONTENTS)?;
    let name = args.out.file_name().unwrap_or_default().to_string_lossy();
    let published = Published { name: &name, licence: args.license.as_deref() };
    let without = trained.export(&args.run, staged.path(), published)?;
    let tasks = match args.lm_eval {
        true => minimal_pairs::write_tasks(&trained, &staged.path().join(minimal_pairs::FOLDER))?,
        false => Vec::new(),
    };
    staged.finish()?;
    let out = args.out.display();
    let tokenizers =
        if trained.experiment.tokenizer.intervenes() { "a tokenizer per language" } else { "its tokenizer" };
    say!(
        "wrote the model of step {} and {tokenizers} to {out}; in Python: AutoModelForCausalLM.from_pretrained(\"{out}\")",
        trained.checkpoint.step,
    );
    if !without.is_empty() {
        let names: Vec<&str> = without.iter().map(|language| language.name()).collect();
        let arm: Vec<String> = trained.experiment.tokenizer.interventions().collect();
        say!(
            "no tokenizer.json can give the ids of {} under {}, since they depend on the word: {SEGMENTATION} has them",
            names.join(", "),
            arm.join(", ")
        );
    }
    if !tasks.is_empty() {
        say!("tasks of lm-eval, to be run in {out}: {}", tasks.join(","));
    }
    Ok(ExitCode::SUCCESS)
}
