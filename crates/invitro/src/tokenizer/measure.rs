//! `invitro tokenizer measure`: what a tokenizer does to the languages, in numbers.

use super::external;
use super::subject::TokenizerChoice;
use crate::language::tree::matrix;
use crate::table;
use crate::terminal::{self, To};
use anyhow::Result;
use invitro_language::{Language, LanguageCondition};
use invitro_tokenizer::measure::{Fragmentation, LanguageMeasures, Pairs};
use invitro_tokenizer::{MEASURED_SENTENCES, Measures, Provenance, WordCounts};
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Fertility, continuation rate, overlap, parity and more, for every language and its masked words; or, of any tokenizer,
/// for your own texts and wordlists
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: TokenizerChoice,
    #[command(flatten)]
    external: external::ExternalArgs,
    /// Sentences of running text in each condition
    #[arg(long, default_value_t = MEASURED_SENTENCES, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    sentences: u64,
    /// Write what is measured to a folder: a text per language, and the words with their cognate sets, as `--text` and
    /// `--wordlist` read them
    #[arg(long, value_name = "DIR", conflicts_with_all = ["text", "wordlist"])]
    write: Option<PathBuf>,
    /// Replace that folder if it exists
    #[arg(long, requires = "write")]
    force: bool,
    /// The figures as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct MeasureTable<'a> {
    tokenizer: Option<&'a Provenance>,
    vocab: usize,
    sentences: u64,
    #[serde(flatten)]
    measures: &'a Measures,
}

pub fn run(args: Args) -> Result<ExitCode> {
    if args.external.is_given() {
        return external::run(&args.external, &args.subject, args.json);
    }
    let loaded = args.subject.load()?;
    if let Some(folder) = &args.write {
        external::write(&loaded.languages, args.sentences, folder, args.force)?;
    }
    let text = WordCounts::text(&loaded.languages, args.sentences)?;
    let measures = Measures::new(&loaded.segmentation, &loaded.languages, &text);
    let mut out = std::io::stdout().lock();
    if args.json {
        let (tokenizer, vocab) = (loaded.tokenizer.provenance(), loaded.tokenizer.vocab_size());
        let figures = MeasureTable { tokenizer, vocab, sentences: args.sentences, measures: &measures };
        writeln!(out, "{}", serde_json::to_string_pretty(&figures)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(out, "{}", terminal::fit(&loaded.title()))?;
    panel(&format!("Running text, {} sentences of each", args.sentences), &measures.text, &mut out)?;
    let masked: Vec<String> = loaded.languages.masked().map(|language| format!("{}†", language.name())).collect();
    let masked = match &masked[..] {
        [only] => format!("{only} is the masked words"),
        _ => "† is a language's masked words".to_owned(),
    };
    panel(&format!("Lexicon, every word once; {masked}"), &measures.lexicon, &mut out)?;
    Ok(ExitCode::SUCCESS)
}

fn panel(title: &str, panel: &LanguageMeasures, out: &mut impl Write) -> Result<()> {
    type Of = fn(&Fragmentation) -> f64;
    let rows: [(&str, Of); 7] = [
        ("fertility", |f| f.fertility),
        ("continuation rate", |f| f.continuation),
        ("one-piece words", |f| f.one_piece),
        ("Rényi efficiency (α 2.5)", |f| f.renyi),
        ("vocabulary used", |f| f.utilisation),
        ("morpheme precision", |f| f.boundary_precision),
        ("morpheme recall", |f| f.boundary_recall),
    ];
    let label = |condition: &LanguageCondition| {
        let dagger = if condition.masked { "†" } else { "" };
        format!("{}{dagger}", condition.language.name())
    };
    let row = |name: &str, cells: Vec<String>| std::iter::once(format!("  {name}")).chain(cells).collect::<Vec<_>>();
    let together = match &panel.overlap.0[..] {
        [([one, other], _)] => format!("{} and {}", one.name(), other.name()),
        _ => "all".to_owned(),
    };
    let heads = panel.conditions.keys().map(label).chain([together]).collect();
    let mut lines = vec![row("", heads)];
    for (name, of) in rows {
        let values = panel.conditions.values().chain([&panel.both]);
        lines.push(row(name, values.map(|values| number(of(values))).collect()));
    }
    let of_both = |name: &str, value: f64| {
        let mut cells = vec![String::new(); panel.conditions.len()];
        cells.push(number(value));
        row(name, cells)
    };
    if let ([([one, other], overlap)], Some(parity)) = (&panel.overlap.0[..], panel.parity.only()) {
        lines.push(of_both(&format!("overlap of {} and {}", one.name(), other.name()), *overlap));
        lines.push(of_both(&format!("parity, {} over {}", one.name(), other.name()), parity));
    }
    let width = terminal::width(To::Out);
    writeln!(out, "\n{}\n{}", terminal::wrap(title, width), table::numbers(&lines, width))?;
    if panel.overlap.only().is_none() {
        matrices(panel, width, out)?;
    }
    Ok(())
}

/// Overlap and parity of every two languages.
fn matrices(panel: &LanguageMeasures, width: Option<usize>, out: &mut impl Write) -> Result<()> {
    let languages: Vec<Language> =
        panel.conditions.keys().filter(|condition| !condition.masked).map(|condition| condition.language).collect();
    let names: Vec<&str> = languages.iter().map(|language| language.name()).collect();
    let found = |pairs: &Pairs, row: usize, column: usize| {
        let pair = [languages[row], languages[column]];
        pairs.0.iter().find(|(of, _)| *of == pair).map(|(_, value)| *value)
    };
    let overlap = |row, column| found(&panel.overlap, row, column).or_else(|| found(&panel.overlap, column, row));
    // The other way round it is the inverse.
    let parity = |row, column| {
        found(&panel.parity, row, column).or_else(|| found(&panel.parity, column, row).map(|value| 1.0 / value))
    };
    writeln!(out, "\n{}", matrix(&names, "  overlap", width, overlap))?;
    writeln!(out, "\n{}", matrix(&names, "  parity, row over column", width, parity))?;
    Ok(())
}

fn number(value: f64) -> String {
    if value.is_nan() { "–".into() } else { format!("{value:.3}") }
}
