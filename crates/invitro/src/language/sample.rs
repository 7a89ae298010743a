//! `invitro language sample`: paired sentences, the same symbols in A and in B.

use super::gloss::{self, interlinear};
use crate::experiment::ExperimentArgs;
use crate::table;
use crate::terminal::{self, To};
use anyhow::Result;
use invitro_language::{Language, Stream};
use serde::Serialize;
use std::io::Write;
use std::process::ExitCode;

/// Paired sentences: the same symbols in A and in B
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    experiment: ExperimentArgs,
    /// How many
    #[arg(short, default_value_t = 10)]
    n: u64,
    /// Add the symbols below the words; a star marks a word masked in B
    #[arg(long)]
    gloss: bool,
    /// One JSON object a line
    #[arg(long, conflicts_with = "gloss")]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    #[serde(rename = "A")]
    a: String,
    #[serde(rename = "B")]
    b: String,
    symbols: Vec<String>,
    masked: bool,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let (_, languages) = args.experiment.languages()?;
    let stream = Stream::new(languages.seed, "sample");
    let mut sampler = languages.sampler();
    let width = gloss::width();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for row in 0..args.n {
        let symbols = sampler.sentence(&mut stream.at(0, row)).symbols;
        let [a, b] = Language::ALL.map(|language| languages.text(&symbols, language));
        if args.json {
            let labels = symbols.iter().map(|&s| languages.world.label(s)).collect();
            let row = Row { a, b, symbols: labels, masked: languages.mask.touches(&symbols) };
            writeln!(out, "{}", serde_json::to_string(&row)?)?;
            continue;
        }
        let between = if row > 0 { "\n" } else { "" };
        if args.gloss {
            write!(out, "{between}{}", interlinear(&languages, &symbols, width))?;
        } else {
            let rows = [vec!["A".to_owned(), a], vec!["B".to_owned(), b]];
            writeln!(out, "{between}{}", table::texts(&rows, terminal::width(To::Out)))?;
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
