//! `invitro study measure`: the languages and tokenizers of a study, measured without any training.

use super::format::count;
use anyhow::{Context, Result, bail};
use indicatif::ProgressBar;
use invitro_base::files::PartialFolder;
use invitro_lab::study::StudyFolder;
use invitro_lab::study::collect::measure;
use invitro_results::folder::{RUNS_TABLE, STUDY, seal_study, write_file};
use std::path::PathBuf;
use std::process::ExitCode;

/// Measure the languages and tokenizers of every cell, without training
///
/// Writes runs.parquet, which `invitro report` draws. Cells that differ in neither language nor tokenizer are one row.
#[derive(clap::Args)]
pub struct Args {
    /// The study's file
    file: PathBuf,
    /// Settings laid over the study's base, such as tokenizer.kind=unigram
    #[arg(value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// Where the table goes
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Write the table as .csv too
    #[arg(long)]
    csv: bool,
    /// Replace a table that is there
    #[arg(long)]
    force: bool,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let folder = StudyFolder::planned(&args.file, &args.overrides, &args.out)?;
    let is_ours = args.out.join(RUNS_TABLE).exists();
    if args.out.join("runs").exists() {
        bail!("`{}` holds a study's runs: choose another folder with --out", args.out.display());
    }
    if is_ours && !args.force {
        bail!("`{}` exists already; --force replaces it", args.out.join(RUNS_TABLE).display());
    }
    let bar = ProgressBar::new(0);
    let measured = |done: usize, of: usize| {
        bar.set_length(of as u64);
        bar.set_position(done as u64);
    };
    let cannot_write = || format!("`{}` cannot be written", args.out.display());
    std::fs::create_dir_all(&args.out).with_context(cannot_write)?;
    // All files are made beside their places first: a failure leaves none of them.
    let staged = PartialFolder::new(&args.out.join("measured")).with_context(cannot_write)?;
    let collected = measure(&folder, staged.path(), args.csv, &measured)?;
    bar.finish_and_clear();
    write_file(&staged.path().join(STUDY), seal_study(&folder.plan.to_toml()).as_bytes())?;
    let mut made = vec![staged.path().join(STUDY)];
    // The table last: it is what a second call looks for.
    made.extend(collected.files.iter().rev().cloned());
    for file in made {
        let place = args.out.join(file.file_name().unwrap_or_default());
        std::fs::rename(&file, &place).with_context(cannot_write)?;
        emit!("{}", place.display());
    }
    say!("{} measured", count(collected.runs, "tokenizer"));
    Ok(ExitCode::SUCCESS)
}
