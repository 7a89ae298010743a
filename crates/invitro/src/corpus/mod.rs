//! `invitro corpus`: task sequences as a file of text, JSON lines, CSV or Parquet, on standard output, or as a folder with a
//! file for every split and a data card.

mod folder;
mod writer;

use crate::bar::Bar;
use crate::experiment::ExperimentArgs;
use crate::output::StagedFile;
use crate::progress::thousands;
use crate::study::format::{count, time};
use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use invitro_lab::Experiment;
use invitro_lab::corpus::{CorpusRow, CorpusRows, CorpusSplit};
use invitro_language::{LanguageCondition, Languages, Pool, Task};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use writer::{CorpusFormat, CorpusTarget, CorpusWriter, Out};

/// Write task sequences to a file: text, JSON lines, CSV or Parquet by its ending; or to a folder, with a data card
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    experiment: ExperimentArgs,
    /// train: the rows that training sees, in its order; or a condition: A; B without masked words; B_masked with one,
    /// or masked where only one language has a mask. Into a folder, several: train,A,B,B_masked
    #[arg(long, default_value = "train", value_delimiter = ',')]
    split: Vec<String>,
    /// T0: free generation; T1: unscrambling; T2: conditional generation; T3: translation, of a condition from the first
    /// other language; mix: in the mixture's shares, of a condition without translations
    #[arg(long, value_enum, default_value = "mix")]
    task: TaskArg,
    /// Of a condition: the sentences that evaluation asks for and training never sees, instead of the others
    #[arg(long)]
    held_out: bool,
    /// How many sequences, of every split
    #[arg(short)]
    n: u64,
    /// The file to write: .txt, .jsonl, .csv or .parquet, and .txt.zst and so on; - for standard output; with a / at its
    /// end a folder that Python's `datasets` loads, with a file for every split and a data card
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Whatever the file's ending; of standard output, txt unless said otherwise, of a folder parquet
    #[arg(long, value_enum)]
    format: Option<CorpusFormat>,
    /// Of a folder: the licence that the data card names, as the Hugging Face Hub abbreviates it, such as cc0-1.0
    #[arg(long, value_name = "ID", value_parser = invitro_lab::card::parse_licence)]
    license: Option<String>,
    /// Replace what exists
    #[arg(long)]
    force: bool,
}

/// The split of a name that was given.
fn split(name: &str, languages: &Languages) -> Result<CorpusSplit> {
    let conditions = languages.conditions();
    let masked: Vec<LanguageCondition> = conditions.iter().copied().filter(|condition| condition.masked).collect();
    match (name, &masked[..]) {
        ("train", _) => return Ok(CorpusSplit::Train),
        ("masked", [only]) => return Ok(CorpusSplit::Condition(*only)),
        _ => {}
    }
    let found = conditions.iter().copied().find(|condition| condition.to_string().eq_ignore_ascii_case(name));
    let known = || conditions.iter().map(LanguageCondition::to_string).collect::<Vec<_>>().join(", ");
    found
        .map(CorpusSplit::Condition)
        .with_context(|| format!("--split is {name}, but must be train or one of {}", known()))
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum TaskArg {
    #[value(name = "T0")]
    T0,
    #[value(name = "T1")]
    T1,
    #[value(name = "T2")]
    T2,
    #[value(name = "T3")]
    T3,
    Mix,
}

impl TaskArg {
    fn only(self) -> Option<Task> {
        match self {
            TaskArg::T0 => Some(Task::T0),
            TaskArg::T1 => Some(Task::T1),
            TaskArg::T2 => Some(Task::T2),
            TaskArg::T3 => Some(Task::T3),
            TaskArg::Mix => None,
        }
    }
}

pub fn run(args: Args) -> Result<ExitCode> {
    let (experiment, languages) = args.experiment.languages()?;
    let splits: Vec<CorpusSplit> = args.split.iter().map(|name| split(name, &languages)).collect::<Result<_>>()?;
    if args.held_out && splits.iter().all(|split| *split == CorpusSplit::Train) {
        bail!("--held-out is for the --split of a condition, such as A: training sees no held-out sentence");
    }
    if args.out.as_os_str().as_encoded_bytes().ends_with(b"/") {
        folder::write(&args, &experiment, &languages, &splits)?;
        return Ok(ExitCode::SUCCESS);
    }
    let [split] = splits[..] else {
        bail!("--split names {} splits, which go into a folder: give --out a / at its end", splits.len());
    };
    if args.license.is_some() {
        bail!("--license is for the data card of a folder: give --out a / at its end");
    }
    let to_stdout = args.out == Path::new("-");
    let target =
        if to_stdout { CorpusTarget::stdout(args.format) } else { CorpusTarget::for_path(&args.out, args.format)? };
    let mut staged = if to_stdout { None } else { Some(StagedFile::new(&args.out, args.force)?) };
    let out: Out = match &mut staged {
        Some(staged) => Box::new(staged.file()?),
        None => Box::new(std::io::stdout()),
    };
    let started = Instant::now();
    args.write(&experiment, &languages, split, target, out)?;
    if let Some(staged) = staged {
        staged.finish()?;
        let rate = thousands(args.n as f64 / elapsed(started));
        note!("wrote {} to {} ({rate} rows/s)", count(args.n as usize, "row"), args.out.display());
    }
    Ok(ExitCode::SUCCESS)
}

fn elapsed(started: Instant) -> f64 {
    started.elapsed().as_secs_f64().max(1e-9)
}

impl Args {
    /// Training sees no held-out sentences, whatever is wanted of conditions.
    fn pool(&self, split: CorpusSplit) -> Pool {
        if self.held_out && split != CorpusSplit::Train { Pool::HeldOut } else { Pool::Training }
    }

    /// Writes the rows of a split; returns the first.
    fn write(
        &self,
        experiment: &Experiment,
        languages: &Languages,
        split: CorpusSplit,
        target: CorpusTarget,
        out: Out,
    ) -> Result<Option<CorpusRow>> {
        let rows = CorpusRows::new(experiment, languages, split, self.task.only(), self.pool(split), None)?;
        if split == CorpusSplit::Train && self.n > rows.seen() {
            note!("training sees {} rows; those after them are what it would see if it went on", rows.seen());
        }
        let mut writer = CorpusWriter::new(target, out)?;
        let started = Instant::now();
        let bar = Bar::new();
        let writing = || format!("`{}` cannot be written", self.out.display());
        let mut first = None;
        rows.each_round(self.n, |rows, written| -> Result<()> {
            if first.is_none() {
                first = rows.first().cloned();
            }
            writer.write(rows).with_context(writing)?;
            let rate = written as f64 / elapsed(started);
            let left = (self.n - written) as f64 / rate;
            let parts = [
                (0, format!("{} of {} rows", thousands(written as f64), thousands(self.n as f64))),
                (2, format!("{} rows/s", thousands(rate))),
                (1, format!("{} left", time(left))),
            ];
            bar.show(Some(written as f64 / self.n.max(1) as f64), &parts);
            Ok(())
        })?;
        writer.finish().with_context(writing)?;
        Ok(first)
    }
}
