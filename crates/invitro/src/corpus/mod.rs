//! `invitro corpus`: task sequences as a file of text, JSON lines, CSV or Parquet, or on standard output.

mod writer;

use crate::bar::Bar;
use crate::experiment::ExperimentArgs;
use crate::output::StagedFile;
use crate::progress::thousands;
use crate::study::format::{count, time};
use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use invitro_lab::corpus::{Rows, Split};
use invitro_language::{Condition, Languages, Pool, Task};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use writer::{Format, Target, Writer};

/// Write task sequences to a file: text, JSON lines, CSV or Parquet by its ending
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    experiment: ExperimentArgs,
    /// train: the rows that training sees, in its order; or a condition: A; B without masked words; B_masked with one,
    /// or masked where only one language has a mask
    #[arg(long, default_value = "train")]
    split: String,
    /// T0: free generation; T1: unscrambling; T2: conditional generation; T3: translation, of a condition from the first
    /// other language; mix: in the mixture's shares, of a condition without translations
    #[arg(long, value_enum, default_value = "mix")]
    task: TaskArg,
    /// Of a condition: the sentences that evaluation asks for and training never sees, instead of the others
    #[arg(long)]
    held_out: bool,
    /// How many sequences
    #[arg(short)]
    n: u64,
    /// The file to write: .txt, .jsonl, .csv or .parquet, and .txt.zst and so on; - for standard output
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Whatever the file's ending; of standard output, txt unless said otherwise
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

/// The split of a name that was given.
fn split(name: &str, languages: &Languages) -> Result<Split> {
    let conditions = languages.conditions();
    let masked: Vec<Condition> = conditions.iter().copied().filter(|condition| condition.masked).collect();
    match (name, &masked[..]) {
        ("train", _) => return Ok(Split::Train),
        ("masked", [only]) => return Ok(Split::Condition(*only)),
        _ => {}
    }
    let found = conditions.iter().copied().find(|condition| condition.to_string().eq_ignore_ascii_case(name));
    let known = || conditions.iter().map(Condition::to_string).collect::<Vec<_>>().join(", ");
    found.map(Split::Condition).with_context(|| format!("--split is {name}, but must be train or one of {}", known()))
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
    let to_stdout = args.out == Path::new("-");
    let target = if to_stdout { Target::stdout(args.format) } else { Target::of(&args.out, args.format)? };
    let (experiment, languages) = args.experiment.languages()?;
    let mut staged = if to_stdout { None } else { Some(StagedFile::new(&args.out, args.force)?) };
    let split = split(&args.split, &languages)?;
    if args.held_out && split == Split::Train {
        bail!("--held-out is for the --split of a condition, such as A: training sees no held-out sentence");
    }
    let pool = if args.held_out { Pool::HeldOut } else { Pool::Training };
    let rows = Rows::new(&experiment, &languages, split, args.task.only(), pool)?;
    if split == Split::Train && args.n > rows.seen() {
        note!("training sees {} rows; those after them are what it would see if it went on", rows.seen());
    }
    let mut writer = match &mut staged {
        Some(staged) => Writer::new(target, Box::new(staged.file()?))?,
        None => Writer::new(target, Box::new(std::io::stdout()))?,
    };
    let started = Instant::now();
    let elapsed = || started.elapsed().as_secs_f64().max(1e-9);
    let bar = Bar::new();
    let writing = || format!("`{}` cannot be written", args.out.display());
    rows.each_round(args.n, |rows, written| -> Result<()> {
        writer.write(rows).with_context(writing)?;
        let rate = written as f64 / elapsed();
        let left = (args.n - written) as f64 / rate;
        let parts = [
            (0, format!("{} of {} rows", thousands(written as f64), thousands(args.n as f64))),
            (2, format!("{} rows/s", thousands(rate))),
            (1, format!("{} left", time(left))),
        ];
        bar.show(Some(written as f64 / args.n.max(1) as f64), &parts);
        Ok(())
    })?;
    writer.finish().with_context(writing)?;
    drop(bar);
    if let Some(staged) = staged {
        staged.finish()?;
        let rate = thousands(args.n as f64 / elapsed());
        note!("wrote {} to {} ({rate} rows/s)", count(args.n as usize, "row"), args.out.display());
    }
    Ok(ExitCode::SUCCESS)
}
