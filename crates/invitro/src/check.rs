//! `invitro check`: a verdict on every line of standard input.

use crate::experiment::{self, ExperimentArgs};
use crate::study::format::count;
use crate::table;
use crate::terminal::{self, To};
use anyhow::{Context, Result};
use invitro_base::limits;
use invitro_language::{Checked, Checker, Failure, Language, SentenceVerdict, is_exposed};
use serde::Serialize;
use std::io::Write;
use std::process::ExitCode;

/// Check sentences from standard input, one a line: known words, grammar, types, facts
#[derive(clap::Args)]
#[command(after_help = "Exit status: 0 if every line is a true sentence, 1 if any is not, 2 for bad input.")]
pub struct Args {
    #[command(flatten)]
    experiment: ExperimentArgs,
    /// The language the sentences are in, such as A
    #[arg(long)]
    language: String,
    /// One JSON object a line, with every field
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct CheckedLine<'a> {
    line: usize,
    /// Whether it is a single word that training shows without any fact, and no sentence.
    exposed: bool,
    #[serde(flatten)]
    checked: Checked<'a>,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let (experiment, languages) = args.experiment.languages()?;
    let language = experiment::language(&languages, &args.language)?;
    let mut checker = languages.checker();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut input = std::io::stdin().lock();
    let mut bytes = Vec::new();
    let mut totals = [0usize; 5];
    let (mut too_long, mut exposures) = (0, 0);
    let width = terminal::width(To::Out);
    for line in 1.. {
        bytes.clear();
        if limits::read_line(&mut input, &mut bytes).with_context(|| format!("line {line} of standard input"))? == 0 {
            break;
        }
        let text = std::str::from_utf8(&bytes)
            .with_context(|| format!("line {line} of standard input is not UTF-8"))?
            .trim_end_matches(['\n', '\r']);
        // A byte order mark is not text.
        let text = if line == 1 { text.trim_start_matches('\u{feff}') } else { text };
        let verdict = checker.text(text, language);
        too_long += usize::from(matches!(verdict.failure, Some(Failure::TooLong { .. })));
        let symbol = languages.lexicon.symbol(text.trim(), language);
        let exposed = !verdict.facts
            && symbol.is_some_and(|symbol| is_exposed(&languages, &experiment.mixture, symbol, language));
        exposures += usize::from(exposed);
        let passed = [true, verdict.valid, verdict.grammatical, verdict.types, verdict.facts];
        totals.iter_mut().zip(passed).for_each(|(total, passed)| *total += usize::from(passed));
        if args.json {
            let checked = checker.explained(text, language, verdict);
            writeln!(out, "{}", serde_json::to_string(&CheckedLine { line, exposed, checked })?)?;
        } else {
            let explanation = match exposed {
                true => "ok: a masked word, shown without any fact (`mixture.exposure`)".into(),
                false => in_words(&checker, &verdict, text, language),
            };
            match width {
                None => writeln!(out, "{line}\t{explanation}")?,
                Some(_) => writeln!(out, "{}", table::texts(&[vec![format!("{line:>4}"), explanation]], width))?,
            }
        }
    }
    out.flush()?;
    let [all, valid, grammatical, types, facts] = totals;
    if !args.json {
        let lines = count(all, "line");
        let unchecked = if too_long > 0 { format!(", {too_long} too long to be parsed") } else { String::new() };
        let shown = if exposures > 0 { format!(", {} alone", count(exposures, "masked word")) } else { String::new() };
        note!(
            "{lines}: {valid} valid, {grammatical} grammatical, {types} with right types, {facts} true{shown}{unchecked}"
        );
    }
    Ok(if facts + exposures == all { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn in_words(checker: &Checker, verdict: &SentenceVerdict, text: &str, language: Language) -> String {
    let Some(failure) = &verdict.failure else { return "ok".into() };
    let level = match verdict {
        SentenceVerdict { failure: Some(Failure::TooLong { .. }), .. } => "not checked",
        SentenceVerdict { valid: false, .. } => "not valid",
        SentenceVerdict { grammatical: false, .. } => "not grammatical",
        SentenceVerdict { types: false, .. } => "wrong types",
        _ => "not true",
    };
    format!("{level}: {}", checker.reason(failure, text, language))
}
