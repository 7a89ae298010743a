//! `invitro tokenizer bridges`: how the pieces of masked words overlap with those of words seen in training.

use super::subject::{Loaded, Subject};
use crate::output::StagedFile;
use crate::terminal::{self, To};
use anyhow::{Result, bail};
use invitro_language::{Language, Symbol};
use invitro_results::table::{self, Column};
use invitro_tokenizer::Bridges;
use invitro_tokenizer::bridge::{Bridge, Similarity, candidates};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// For each masked word, the unmasked word its pieces overlap with most, and its own form in A
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: Subject,
    /// A table with a row per masked word: .tsv or .parquet
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace the table if it exists
    #[arg(long)]
    force: bool,
    /// The means as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Means {
    vocab: usize,
    masked: usize,
    words: usize,
    unbridged: usize,
    bridge: Similarity,
    cognate_bridge: Similarity,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let staged = match &args.out {
        Some(path) if !["tsv", "parquet"].iter().any(|e| path.extension().is_some_and(|x| x == *e)) => {
            bail!("`{}` must end in .tsv or .parquet", path.display())
        }
        Some(path) => Some(StagedFile::new(path, args.force)?),
        None => None,
    };
    let loaded = args.subject.load()?;
    let bridges = Bridges::new(&loaded.segmentation, &loaded.languages);
    if let (Some(staged), Some(path)) = (staged, &args.out) {
        write_rows(&loaded, &bridges, path, staged)?;
    }
    let means = Means {
        vocab: loaded.tokenizer.vocab_size(),
        masked: bridges.0.len(),
        words: candidates(&loaded.languages).len(),
        unbridged: bridges.0.iter().filter(|b| b.candidate.is_none()).count(),
        bridge: bridges.mean(),
        cognate_bridge: bridges.mean_cognate(),
    };
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&means)?)?;
    } else {
        tell(&loaded, &bridges, &means, &mut out)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Columns of the histogram, and how wide its longest bar is.
const BINS: usize = 10;
const BAR: usize = 46;

fn tell(loaded: &Loaded, bridges: &Bridges, means: &Means, out: &mut impl Write) -> Result<()> {
    let width = terminal::width(To::Out);
    writeln!(out, "{}", terminal::wrap(&loaded.title(), width))?;
    let words = format!("{} masked words, {} words that may bridge them\n", means.masked, means.words);
    writeln!(out, "{}", terminal::wrap(&words, width))?;
    let (best, own) = (&means.bridge, &means.cognate_bridge);
    let mut rows = vec![["  mean similarity", "bridge", "cognate in A"].map(str::to_owned).to_vec()];
    for (name, best, own) in [
        ("  Jaccard", best.jaccard, own.jaccard),
        ("  Dice", best.dice, own.dice),
        ("  containment", best.containment, own.containment),
    ] {
        rows.push(vec![name.to_owned(), format!("{best:.3}"), format!("{own:.3}")]);
    }
    writeln!(out, "{}", crate::table::numbers(&rows, width))?;
    writeln!(out, "\nMasked words by their bridge (Jaccard)")?;
    let mut bins = [0usize; BINS];
    for bridge in &bridges.0 {
        bins[((bridge.similarity.jaccard * BINS as f64) as usize).min(BINS - 1)] += 1;
    }
    let most = bins.iter().copied().max().unwrap_or(1).max(1);
    for (i, &count) in bins.iter().enumerate() {
        let room = width.map_or(BAR, |width| BAR.min(width.saturating_sub(22)));
        let bar = "█".repeat((count * room).div_ceil(most));
        let (low, high) = (i as f64 / BINS as f64, (i + 1) as f64 / BINS as f64);
        writeln!(out, "  {low:.1} to {high:.1}  {count:>6}  {bar}")?;
    }
    writeln!(out, "\nFrom the weakest to the strongest")?;
    let mut order: Vec<&Bridge> = bridges.0.iter().collect();
    order.sort_by(|a, b| a.similarity.jaccard.total_cmp(&b.similarity.jaccard));
    let last = order.len().saturating_sub(1);
    for i in 0..=4 {
        let Some(bridge) = order.get(last * i / 4) else { break };
        let other = match bridge.candidate {
            Some(word) => format!("{} ({})", pieces(loaded, word.symbol, word.language), word.language.name()),
            None => "nothing".to_owned(),
        };
        let own = pieces(loaded, bridge.symbol, Language::B);
        let line = format!("  {:.2}  {own} – {other}", bridge.similarity.jaccard);
        writeln!(out, "{}", terminal::wrap(&line, width))?;
    }
    Ok(())
}

/// The columns of one masked word that are text, in the order of [`TEXTS`]. What it has no bridge for is `None`.
fn texts(loaded: &Loaded, bridge: &Bridge) -> [Option<String>; 8] {
    let form = |symbol, language| loaded.languages.form(symbol, language).to_owned();
    let best = bridge.candidate;
    [
        Some(loaded.languages.world.label(bridge.symbol)),
        Some(form(bridge.symbol, Language::A)),
        Some(form(bridge.symbol, Language::B)),
        Some(pieces(loaded, bridge.symbol, Language::A)),
        Some(pieces(loaded, bridge.symbol, Language::B)),
        best.map(|word| form(word.symbol, word.language)),
        best.map(|word| word.language.name().to_owned()),
        best.map(|word| pieces(loaded, word.symbol, word.language)),
    ]
}

/// The columns that are numbers, in the order of [`NUMBERS`].
fn numbers(bridge: &Bridge) -> [f64; 6] {
    let [best, own] = [bridge.similarity, bridge.cognate].map(|s| [s.jaccard, s.dice, s.containment]);
    [best[0], best[1], best[2], own[0], own[1], own[2]]
}

/// Names as in the `words.parquet` of a run, and more.
const TEXTS: [&str; 8] =
    ["symbol", "form_A", "form_B", "pieces_A", "pieces_B", "bridge_form", "bridge_language", "bridge_pieces"];
const NUMBERS: [&str; 6] = [
    "bridge",
    "bridge_dice",
    "bridge_containment",
    "cognate_bridge",
    "cognate_bridge_dice",
    "cognate_bridge_containment",
];

/// A word's pieces with a space between them.
fn pieces(loaded: &Loaded, symbol: Symbol, language: Language) -> String {
    let letters = |&id: &u32| String::from_utf8_lossy(loaded.segmentation.letters(id)).into_owned();
    loaded.segmentation.core(symbol, language).iter().map(letters).collect::<Vec<_>>().join(" ")
}

fn write_rows(loaded: &Loaded, bridges: &Bridges, path: &Path, mut staged: StagedFile) -> Result<()> {
    let rows: Vec<_> = bridges.0.iter().map(|bridge| (texts(loaded, bridge), numbers(bridge))).collect();
    if path.extension().is_some_and(|e| e == "tsv") {
        let mut text = [&TEXTS[..], &NUMBERS].concat().join("\t") + "\n";
        for (texts, numbers) in rows {
            text.push_str(&texts.map(Option::unwrap_or_default).join("\t"));
            numbers.iter().try_for_each(|n| write!(text, "\t{n}"))?;
            text.push('\n');
        }
        staged.file()?.write_all(text.as_bytes())?;
    } else {
        let texts = TEXTS
            .iter()
            .enumerate()
            .map(|(i, &name)| (name, Column::Text(rows.iter().map(|(texts, _)| texts[i].clone()).collect())));
        let numbers = NUMBERS
            .iter()
            .enumerate()
            .map(|(i, &name)| (name, Column::Number(rows.iter().map(|(_, numbers)| Some(numbers[i])).collect())));
        let columns: Vec<(&str, Column)> = texts.chain(numbers).collect();
        let mut writer = table::Writer::new(staged.file()?, &columns)?;
        writer.group(&columns)?;
        writer.finish()?;
    }
    staged.finish()
}
