//! `invitro language sample`: the same sentences in every language, each in its own word order.

use super::gloss::{self, interlinear};
use crate::experiment::ExperimentArgs;
use crate::table;
use crate::terminal::{self, To};
use anyhow::Result;
use invitro_language::{Language, Stream};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;

/// The same sentences in every language, each in its own word order
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    experiment: ExperimentArgs,
    /// How many
    #[arg(short, default_value_t = 10)]
    n: u64,
    /// Add the symbols below the words; a star marks a masked word
    #[arg(long)]
    gloss: bool,
    /// One JSON object a line
    #[arg(long, conflicts_with = "gloss")]
    json: bool,
}

#[derive(Serialize)]
struct SampledLine {
    /// By language.
    #[serde(flatten)]
    texts: BTreeMap<&'static str, String>,
    /// In the order of the first language.
    symbols: Vec<String>,
    /// Whether a word is masked in some language.
    masked: bool,
    /// Of more than two languages, those in which a word is masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    masked_in: Option<Vec<&'static str>>,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let (_, languages) = args.experiment.languages()?;
    let stream = Stream::new(languages.seed, "sample");
    let mut sampler = languages.sampler();
    let width = gloss::width();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for row in 0..args.n {
        let first = languages.all()[0];
        let sentence = sampler.sentence(first, &mut stream.at(0, row));
        let text = |&language: &Language| {
            let text = languages.text(&languages.reordered(&sentence, first, language), language);
            (language.name(), text)
        };
        let texts = languages.all().iter().map(text);
        let symbols = &sentence.symbols;
        if args.json {
            let labels = symbols.iter().map(|&s| languages.world.label(s)).collect();
            let is_masked = |&language: &Language| languages.withholds(language, &sentence);
            let masked = languages.all().iter().copied().any(|language| is_masked(&language));
            let masked_in = languages.all().iter().copied().filter(is_masked).map(Language::name).collect();
            let masked_in = (languages.all().len() > 2).then_some(masked_in);
            let row = SampledLine { texts: texts.collect(), symbols: labels, masked, masked_in };
            writeln!(out, "{}", serde_json::to_string(&row)?)?;
            continue;
        }
        let between = if row > 0 { "\n" } else { "" };
        if args.gloss {
            write!(out, "{between}{}", interlinear(&languages, &sentence, width))?;
        } else {
            let rows: Vec<Vec<String>> = texts.map(|(name, text)| vec![name.to_owned(), text]).collect();
            writeln!(out, "{between}{}", table::texts(&rows, terminal::width(To::Out)))?;
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
