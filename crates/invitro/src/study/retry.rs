//! `invitro study retry`: opens failed cells again.

use super::format::{count, parse_time};
use anyhow::Result;
use invitro_lab::study::StudyFolder;
use invitro_lab::study::retry::{RetryRequest, retry};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Open failed cells again, for `study run` to take; workers that are running take them too
#[derive(clap::Args)]
pub struct Args {
    /// The folder of a study
    folder: PathBuf,
    /// Also cells made by a version that does not fit this one; they start over
    #[arg(long)]
    stale: bool,
    /// Start over, instead of going on from the last checkpoint
    #[arg(long)]
    fresh: bool,
    /// As given to `study run`
    #[arg(long, value_name = "TIME", value_parser = parse_time, default_value = "2m")]
    lease: Duration,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let folder = StudyFolder::open(&args.folder)?;
    let opened = retry(&folder, RetryRequest { stale: args.stale, fresh: args.fresh }, args.lease)?;
    for (label, why) in &opened {
        say!("{label}: {why}");
    }
    say!("{} opened again", count(opened.len(), "cell"));
    Ok(ExitCode::SUCCESS)
}
