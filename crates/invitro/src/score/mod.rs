//! `invitro score`: how likely a trained model holds given sentences, word by word, and which of two it prefers.

mod line;
mod print;

use crate::terminal;
use anyhow::{Context, Result, bail};
use invitro_base::limits;
use invitro_lab::Trained;
use invitro_language::{Language, Task};
use invitro_model::{Device, ScoreQuery};
use line::{Scored, SentenceToScore};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Log-probabilities of sentences, or of minimal pairs, under a trained model, word by word
///
/// A line is a sentence, or two with a tab between them: then the likelier one is printed, and at the end how often it was
/// the first. In T1, T2 and T3 what is given comes first, then `<out>`, then the sentence. All in nats.
#[derive(clap::Args)]
pub struct Args {
    /// The run's folder
    run: PathBuf,
    /// A file with a sentence or a pair a line [default: standard input]
    file: Option<PathBuf>,
    /// The language, such as A [default: the first that has masked words]
    #[arg(long)]
    language: Option<String>,
    /// T0 (free generation), T1 (unscrambling), T2 (conditional generation) or T3 (translation)
    #[arg(long, default_value = "T0")]
    task: Task,
    /// The language to translate from [default: the first other one]
    #[arg(long, value_name = "LANGUAGE")]
    from: Option<String>,
    /// The checkpoint's step [default: the last]
    #[arg(long)]
    step: Option<u64>,
    /// auto, cpu, cuda or cuda:NUMBER
    #[arg(long, default_value = "cpu")]
    device: String,
    /// One JSON object a line, with every word
    #[arg(long)]
    json: bool,
}

/// Lines that are scored at once.
const AT_ONCE: usize = 256;

pub fn run(args: Args) -> Result<ExitCode> {
    let trained = Trained::load(&args.run, args.step)?;
    let language = crate::experiment::language_or_masked(&trained.languages, args.language.as_deref())?;
    let from = crate::experiment::language_given(&trained.languages, args.task, language, args.from.as_deref())?;
    let mut population = trained.population(Device::parse(&args.device)?, trained.checkpoint.shape.context)?;
    let (input, name): (Box<dyn Read>, String) = match &args.file {
        Some(path) if path != Path::new("-") => {
            let failed = || format!("`{}` cannot be read", path.display());
            (Box::new(std::fs::File::open(path).with_context(failed)?), format!("`{}`", path.display()))
        }
        _ => (Box::new(std::io::stdin()), "standard input".into()),
    };
    let mut input = BufReader::new(input);
    let (mut number, mut bytes, mut ended) = (0, Vec::new(), false);
    let mut teller = print::ScorePrinter::new(args.json);
    loop {
        let mut batch: Vec<(usize, Vec<SentenceToScore>)> = Vec::new();
        while batch.len() < AT_ONCE && !ended {
            number += 1;
            let at = || format!("line {number} of {name}");
            bytes.clear();
            ended = limits::read_line(&mut input, &mut bytes).with_context(at)? == 0;
            let line = std::str::from_utf8(&bytes).with_context(at)?.trim_end_matches(['\n', '\r']);
            // A byte order mark is not text.
            let line = if number == 1 { line.trim_start_matches('\u{feff}') } else { line };
            if line.trim().is_empty() {
                teller.empty += usize::from(!ended);
                continue;
            }
            let sides = line.split('\t').map(|text| SentenceToScore::read(text, &trained, args.task, language, from));
            let sides = sides.collect::<Result<Vec<SentenceToScore>>>().with_context(at)?;
            if sides.len() > 2 {
                bail!("{} has {} columns: a sentence is one, a pair two", at(), sides.len());
            }
            batch.push((number, sides));
        }
        if batch.is_empty() {
            break;
        }
        if teller.lines == 0 {
            warn_of_strange_words(&batch, &trained, language);
        }
        let questions: Vec<ScoreQuery> =
            batch.iter().flat_map(|(_, sides)| sides).map(SentenceToScore::question).collect();
        let mut answers = population.score(&[questions])?.pop().unwrap_or_default().into_iter();
        for (number, sides) in batch {
            let scored: Vec<Scored> = sides
                .into_iter()
                .map(|sentence| sentence.scored(&answers.next().and_then(|mut a| a.pop()).unwrap_or_default()))
                .collect();
            teller.line(number, &scored)?;
        }
    }
    if teller.lines == 0 {
        bail!("there is no sentence to score in {name}");
    }
    teller.end()?;
    Ok(ExitCode::SUCCESS)
}

/// Warns before any score where most words of the first lines are not of the language, and names the language that has most.
fn warn_of_strange_words(batch: &[(usize, Vec<SentenceToScore>)], trained: &Trained, language: Language) {
    let words: Vec<&str> = batch.iter().flat_map(|(_, sides)| sides).flat_map(SentenceToScore::texts).collect();
    let known = |language: Language| {
        let is_known = |word: &&&str| matches!(trained.text.given(word, &trained.languages, language), Ok((_, true)));
        words.iter().filter(is_known).count()
    };
    let strange = words.len() - known(language);
    if 2 * strange <= words.len() {
        return;
    }
    let best = trained.languages.all().iter().copied().max_by_key(|&other| (known(other), other == language));
    let hint = match best.filter(|&best| 2 * known(best) > words.len()) {
        Some(best) => format!("--language {} has {} of them", best.name(), known(best)),
        None => "`invitro language sample` shows sentences of the languages".to_owned(),
    };
    terminal::warn(&format!(
        "most words of the first lines, {strange} of {}, are not of {}, so that their scores say little: {hint}",
        words.len(),
        language.name()
    ));
}
