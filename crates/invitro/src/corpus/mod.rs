//! `invitro corpus`: task sequences as a file of text, JSON lines or Parquet.

mod row;
mod writer;

use crate::experiment::ExperimentArgs;
use crate::output::StagedFile;
use crate::study::format::count;
use anyhow::{Context, Result};
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use invitro_language::{Condition, Languages, MixtureConfig, Sequence, Source};
use rayon::prelude::*;
use row::Row;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;
use writer::{Format, Writer};

/// Write task sequences to a file: text, JSON lines or Parquet by its ending
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    experiment: ExperimentArgs,
    /// train: the mixture of A and B without masked words; A; B without masked words; masked: B with one
    #[arg(long, value_enum, default_value = "train")]
    split: Split,
    /// T0: free generation; T1: unscrambling; T2: conditional generation; mix: in the mixture's shares
    #[arg(long, value_enum, default_value = "mix")]
    task: TaskArg,
    /// How many sequences
    #[arg(short)]
    n: u64,
    /// The file to write; .txt, .jsonl or .parquet
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Split {
    Train,
    #[value(name = "A")]
    A,
    #[value(name = "B")]
    B,
    Masked,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum TaskArg {
    #[value(name = "T0")]
    T0,
    #[value(name = "T1")]
    T1,
    #[value(name = "T2")]
    T2,
    Mix,
}

/// Rows made in one go by one thread; a round is one chunk for each, so memory does not grow with the corpus.
const CHUNK: u64 = 4096;

pub fn run(args: Args) -> Result<ExitCode> {
    let format = Format::of(&args.out)?;
    let (experiment, languages) = args.experiment.languages()?;
    let mut staged = StagedFile::new(&args.out, args.force)?;
    let source = source(&languages, &experiment.mixture, args.split, args.task);
    let mut writer = Writer::new(format, staged.file()?)?;

    let started = Instant::now();
    let bar = ProgressBar::new(args.n);
    bar.set_style(ProgressStyle::with_template("{bar:40} {human_pos} of {human_len} rows, {per_sec}, {eta} left")?);
    let round = CHUNK * rayon::current_num_threads() as u64;
    for start in (0..args.n).step_by(round as usize) {
        let end = args.n.min(start + round);
        let chunks: Vec<u64> = (start..end).step_by(CHUNK as usize).collect();
        let rows: Vec<Vec<Row>> = chunks
            .into_par_iter()
            .map(|first| chunk(&languages, source.clone(), first..end.min(first + CHUNK)))
            .collect::<Result<_>>()?;
        for rows in rows {
            writer.write(rows).with_context(|| format!("`{}` cannot be written", args.out.display()))?;
        }
        bar.set_position(end);
    }
    writer.finish().with_context(|| format!("`{}` cannot be written", args.out.display()))?;
    staged.finish()?;
    bar.finish_and_clear();
    let rate = args.n as f64 / started.elapsed().as_secs_f64().max(1e-9);
    eprintln!("wrote {} to {} ({rate:.0} rows/s)", count(args.n as usize, "row"), args.out.display());
    Ok(ExitCode::SUCCESS)
}

fn source<'a>(languages: &'a Languages, mixture: &MixtureConfig, split: Split, task: TaskArg) -> Source<'a> {
    let tasks = match task {
        TaskArg::Mix => mixture.tasks,
        one => [TaskArg::T0, TaskArg::T1, TaskArg::T2].map(|t| f64::from(u8::from(t == one))),
    };
    let condition = match split {
        Split::Train => return Source::mixture(languages, "corpus", &MixtureConfig { tasks, ..mixture.clone() }),
        Split::A => Condition::A,
        Split::B => Condition::B,
        Split::Masked => Condition::B_MASKED,
    };
    Source::condition_mix(languages, "corpus", condition, tasks)
}

fn chunk(languages: &Languages, mut source: Source, rows: std::ops::Range<u64>) -> Result<Vec<Row>> {
    let mut sequence = Sequence::default();
    rows.map(|row| {
        source.draw_into(0, row, |_| true, &mut sequence)?;
        Ok(Row::new(languages, &sequence))
    })
    .collect()
}
