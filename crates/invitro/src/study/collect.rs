//! `invitro study collect`: the results of all runs as tables.

use super::format::{count, damaged_cell, without_checkpoint};
use crate::terminal::warn;
use anyhow::Result;
use invitro_lab::study::StudyFolder;
use invitro_lab::study::collect::{CollectRequest, collect};
use std::path::PathBuf;
use std::process::ExitCode;

/// Write runs.parquet, metrics.parquet and words.parquet for the whole study
///
/// Exit status: 0, or 1 if results of finished cells cannot be read: these are named and left out, and the next
/// `study run` takes them again.
#[derive(clap::Args)]
pub struct Args {
    /// The folder of a study
    folder: PathBuf,
    /// Write the tables as .csv too
    #[arg(long)]
    csv: bool,
    /// Only what a report on the study shows, numbers that are no shares to four decimals, and a sample of the
    /// words, those that were asked for first: some three times smaller
    #[arg(long)]
    compact: bool,
    /// Read every file whose checksum a finished run has, not its tables alone
    #[arg(long)]
    verify: bool,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let folder = StudyFolder::open(&args.folder)?;
    let collected = collect(&folder, CollectRequest { csv: args.csv, compact: args.compact, verify: args.verify })?;
    for file in &collected.files {
        emit!("{}", file.display());
    }
    say!("{}, {} of them done", count(collected.runs, "run"), collected.done);
    collected.damaged.iter().for_each(|cell| warn(&damaged_cell(cell)));
    if let Some(text) = without_checkpoint(collected.without_checkpoint.iter().map(|(_, why)| why.as_str())) {
        warn(&text);
    }
    if collected.strays > 0 {
        note!("{} in its folder are no cells of this study", count(collected.strays, "finished run"));
    }
    if collected.damaged.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let cells = count(collected.damaged.len(), "cell");
    warn(&format!("{cells} cannot be used; `invitro study run {}` makes what is missing anew", args.folder.display()));
    Ok(ExitCode::from(1))
}
