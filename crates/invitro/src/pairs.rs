//! `invitro pairs`: minimal pairs for `invitro score`, minicons and lm-eval.

use crate::experiment::ExperimentArgs;
use crate::output::{StagedDir, StagedFile};
use anyhow::{Context, Result, bail};
use invitro_lab::Trained;
use invitro_lab::minimal_pairs::{Fault, PAIRS, Pair, name, pairs, write_task};
use invitro_language::{LanguageCondition, Languages};
use invitro_results::Condition;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Write minimal pairs: a sentence that training never sees, and the same sentence with one fault
///
/// types: one word is replaced, so that types do not hold; facts: one word is replaced, so that types hold and Γ forbids it;
/// order: two neighbouring words are exchanged, so that it is not grammatical; spelling: one letter is replaced, so that it
/// is no word. Of a run, sentences fit the model's context. The same settings and data seed give the same pairs.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    experiment: ExperimentArgs,
    /// The fault: types, facts, order or spelling
    #[arg(long)]
    kind: Fault,
    /// The condition, such as A, B or B_masked [default: the first with masked words, else the first language]
    #[arg(long, value_name = "CONDITION")]
    condition: Option<Condition>,
    /// The program that reads them: score (two sentences a line, a tab between them), minicons (JSON lines as in BLiMP) or
    /// lm-eval (a folder with a task)
    #[arg(long = "for", value_enum, value_name = "PROGRAM", default_value_t = Format::Score)]
    format: Format,
    /// How many, at most
    #[arg(short, default_value_t = PAIRS as u32, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    n: u32,
    /// Where to write: a file, or the folder of a task [default: standard output]
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// Replace what this command wrote there
    #[arg(long, requires = "out")]
    force: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Score,
    Minicons,
    LmEval,
}

const TASK: [&str; 2] = ["invitro_*.yaml", "invitro_*.jsonl"];

pub fn run(mut args: Args) -> Result<ExitCode> {
    let (languages, condition, found) = match &args.experiment.take_folders()?[..] {
        [] => {
            let (_, languages) = args.experiment.languages()?;
            let condition = condition(&languages, args.condition.as_ref())?;
            let found = pairs(&languages, condition, args.kind, args.n as usize, |_| true)?;
            (languages, condition, found)
        }
        [run] if !args.experiment.is_given() => {
            let trained = Trained::load(run, None)?;
            let condition = condition(&trained.languages, args.condition.as_ref())?;
            let found = pairs(&trained.languages, condition, args.kind, args.n as usize, trained.fits())?;
            (trained.languages, condition, found)
        }
        [run] => bail!("`{}` has its own settings: give a run or settings, not both", run.display()),
        runs => bail!("{} runs were given: pairs are of one", runs.len()),
    };
    if found.is_empty() {
        bail!("no sentence of {} can be given a fault of {}", Condition::from(condition).label(), args.kind.name());
    }
    if found.len() < args.n as usize {
        note!("there are {} different pairs where {} were asked for", found.len(), args.n);
    }
    write(&args, &languages, condition, &found)?;
    Ok(ExitCode::SUCCESS)
}

/// The condition that was named, or the one that questions are about.
fn condition(languages: &Languages, named: Option<&Condition>) -> Result<LanguageCondition> {
    let all: Vec<LanguageCondition> = languages.conditions();
    let Some(named) = named else {
        let masked = all.iter().copied().find(|condition| condition.masked);
        return masked.or(all.first().copied()).context("there is no language");
    };
    let names: Vec<String> = all.iter().map(|&condition| Condition::from(condition).to_string()).collect();
    let found = all.iter().copied().find(|&condition| Condition::from(condition) == *named);
    found.with_context(|| format!("there is no condition {named}: --condition must be one of {}", names.join(", ")))
}

fn write(args: &Args, languages: &Languages, condition: LanguageCondition, found: &[Pair]) -> Result<()> {
    let task = name(condition, args.kind);
    let lines: Vec<String> = match args.format {
        Format::Score => found.iter().map(Pair::for_score).collect(),
        Format::Minicons => found.iter().enumerate().map(|(id, pair)| pair.for_minicons(&task, id)).collect(),
        Format::LmEval => {
            let Some(out) = &args.out else { bail!("a task of lm-eval is a folder: name it with --out DIR") };
            let staged = StagedDir::new(out, args.force, &TASK)?;
            write_task(languages, condition, args.kind, found, staged.path(), "")?;
            staged.finish()?;
            let out = out.display();
            note!("wrote {} pairs to {out}; in {out}: lm_eval run --include_path . --tasks {task} …", found.len());
            return Ok(());
        }
    };
    let text = lines.join("\n") + "\n";
    match &args.out {
        None => write!(std::io::stdout(), "{text}")?,
        Some(out) => {
            let mut staged = StagedFile::new(out, args.force)?;
            staged.file()?.write_all(text.as_bytes())?;
            staged.finish()?;
            note!("wrote {} pairs to {}", found.len(), out.display());
        }
    }
    Ok(())
}
