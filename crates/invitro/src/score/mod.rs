//! `invitro score`: how likely a trained model holds given sentences, word by word, and which of two it prefers.

mod line;
mod print;

use crate::lines::GivenLines;
use crate::sentence::{GivenSentence, SentenceArgs, warn_of_strange_words};
use anyhow::{Context, Result, bail};
use invitro_model::ScoreQuery;
use line::{Scored, SentenceToScore};
use std::path::PathBuf;
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
    #[command(flatten)]
    sentences: SentenceArgs,
    /// One JSON object a line, with every word
    #[arg(long)]
    json: bool,
}

/// Lines that are scored at once.
const AT_ONCE: usize = 256;

pub fn run(args: Args) -> Result<ExitCode> {
    let (trained, reading) = args.sentences.load(&args.run)?;
    let context = trained.checkpoint.shape.context;
    let mut population = trained.population(reading.device, context)?;
    let mut lines = GivenLines::open(args.file.as_deref())?;
    let mut teller = print::ScorePrinter::new(args.json);
    let read = |text: &str| SentenceToScore::new(GivenSentence::read(text, &trained, reading)?, context);
    loop {
        let mut batch: Vec<(usize, Vec<SentenceToScore>)> = Vec::new();
        while batch.len() < AT_ONCE
            && let Some(line) = lines.read()?
        {
            let sides = line.split('\t').map(read).collect::<Result<Vec<_>>>().with_context(|| lines.place())?;
            if sides.len() > 2 {
                bail!("{} has {} columns: a sentence is one, a pair two", lines.place(), sides.len());
            }
            batch.push((lines.number, sides));
        }
        if batch.is_empty() {
            break;
        }
        if teller.lines == 0 {
            let words: Vec<&str> = batch.iter().flat_map(|(_, sides)| sides).flat_map(SentenceToScore::texts).collect();
            warn_of_strange_words(&words, &trained, reading.language, "scores");
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
        bail!("there is no sentence to score in {}", lines.name);
    }
    lines.warn_of_empty();
    teller.end()?;
    Ok(ExitCode::SUCCESS)
}
