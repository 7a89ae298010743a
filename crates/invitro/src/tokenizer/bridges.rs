//! `invitro tokenizer bridges`: how the pieces of masked words overlap with those of words seen in training.

use super::subject::{LoadedTokenizer, TokenizerChoice};
use crate::experiment::language;
use crate::output::StagedFile;
use crate::terminal::{self, To};
use anyhow::{Result, bail};
use invitro_language::{Language, Languages, Symbol};
use invitro_results::table::{self, Column};
use invitro_tokenizer::Bridges;
use invitro_tokenizer::measure::bridge::{Bridge, Similarity, candidates};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// For each masked word, the unmasked word its pieces overlap with most, and its own form in each other language
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: TokenizerChoice,
    /// The language whose masked words these are, where several have some
    #[arg(long, value_name = "NAME")]
    language: Option<String>,
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
    /// The masked language, where there are more than two.
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<&'static str>,
    masked: usize,
    words: usize,
    unbridged: usize,
    bridge: Similarity,
    cognate_bridge: Similarity,
    /// Of more than two languages, with each one alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    with: Option<BTreeMap<&'static str, With>>,
}

/// Bridges with the words of one language alone. Without masked words that are seen there, the cognate's is NaN, as JSON
/// `null`.
#[derive(Serialize)]
struct With {
    bridge: Similarity,
    #[serde(skip_serializing_if = "Option::is_none")]
    cognate_bridge: Option<Similarity>,
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
    let masked = chosen(&loaded.languages, args.language.as_deref())?;
    let bridges = Bridges::new(&loaded.segmentation, &loaded.languages, masked);
    if let (Some(staged), Some(path)) = (staged, &args.out) {
        write_rows(&BridgeTable { loaded: &loaded, masked }, &bridges, path, staged)?;
    }
    let all = loaded.languages.all();
    let with = |&other: &Language| {
        let cognate_bridge = (other != masked).then(|| bridges.mean_cognate_with(other));
        (other.name(), With { bridge: bridges.mean_with(other), cognate_bridge })
    };
    let means = Means {
        vocab: loaded.tokenizer.vocab_size(),
        language: (all.len() > 2).then_some(masked.name()),
        with: (all.len() > 2).then(|| all.iter().map(with).collect()),
        masked: bridges.0.len(),
        words: candidates(&loaded.languages, masked).len(),
        unbridged: bridges.0.iter().filter(|b| b.candidate.is_none()).count(),
        bridge: bridges.mean(),
        cognate_bridge: bridges.mean_cognate(),
    };
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&means)?)?;
    } else {
        print(&loaded, masked, &bridges, &means, &mut out)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// The language that is asked for, or the only one with masked words.
fn chosen(languages: &Languages, name: Option<&str>) -> Result<Language> {
    if languages.all().iter().any(|&language| languages.facts(language).is_some()) {
        bail!("no word is masked, since `mixture.withhold` is facts: there are no bridges to look for");
    }
    let masked: Vec<Language> = languages.masked().collect();
    let names = masked.iter().map(|language| language.name()).collect::<Vec<_>>().join(", ");
    match (name, &masked[..]) {
        (None, [only]) => Ok(*only),
        (None, _) => bail!("several languages have masked words: choose one of {names} with --language"),
        (Some(name), _) => {
            let chosen = language(languages, name)?;
            if !masked.contains(&chosen) {
                bail!("{} has no masked words: --language must be one of {names}", chosen.name());
            }
            Ok(chosen)
        }
    }
}

/// Columns of the histogram, and how wide its longest bar is.
const BINS: usize = 10;
const BAR: usize = 46;

fn print(
    loaded: &LoadedTokenizer,
    masked: Language,
    bridges: &Bridges,
    means: &Means,
    out: &mut impl Write,
) -> Result<()> {
    let width = terminal::width(To::Out);
    writeln!(out, "{}", terminal::wrap(&loaded.title(), width))?;
    let all = loaded.languages.all();
    let (of, cognate) = match all.iter().find(|&&other| other != masked) {
        Some(other) if all.len() == 2 => (String::new(), format!("cognate in {}", other.name())),
        _ => (format!(" of {}", masked.name()), "nearest cognate".to_owned()),
    };
    let words = format!("{} masked words{of}, {} words that may bridge them\n", means.masked, means.words);
    writeln!(out, "{}", terminal::wrap(&words, width))?;
    let (best, own) = (&means.bridge, &means.cognate_bridge);
    let mut rows = vec![vec!["  mean similarity".to_owned(), "bridge".to_owned(), cognate]];
    for (name, best, own) in [
        ("  Jaccard", best.jaccard, own.jaccard),
        ("  Dice", best.dice, own.dice),
        ("  containment", best.containment, own.containment),
    ] {
        rows.push(vec![name.to_owned(), format!("{best:.3}"), format!("{own:.3}")]);
    }
    writeln!(out, "{}", crate::table::numbers(&rows, width))?;
    if let Some(with) = &means.with {
        let mut rows = vec![["  mean Jaccard with", "bridge", "cognate"].map(str::to_owned).to_vec()];
        for language in all {
            let With { bridge, cognate_bridge } = &with[language.name()];
            let cognate = cognate_bridge.filter(|of| !of.jaccard.is_nan());
            let cognate = cognate.map_or("–".into(), |of| format!("{:.3}", of.jaccard));
            rows.push(vec![format!("  {}", language.name()), format!("{:.3}", bridge.jaccard), cognate]);
        }
        writeln!(out, "\n{}", crate::table::numbers(&rows, width))?;
    }
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
        let own = pieces(loaded, bridge.symbol, masked);
        let line = format!("  {:.2}  {own} – {other}", bridge.similarity.jaccard);
        writeln!(out, "{}", terminal::wrap(&line, width))?;
    }
    Ok(())
}

/// What the table is made from.
struct BridgeTable<'a> {
    loaded: &'a LoadedTokenizer,
    masked: Language,
}

impl BridgeTable<'_> {
    fn languages(&self) -> &[Language] {
        self.loaded.languages.all()
    }

    /// The others, where there is more than one.
    fn other_languages(&self) -> impl Iterator<Item = Language> + '_ {
        self.languages().iter().copied().filter(|&other| other != self.masked && self.languages().len() > 2)
    }

    /// Names of the columns that are text: as in the `words.parquet` of a run.
    fn texts(&self) -> Vec<String> {
        let columns = |kind: &str| self.languages().iter().map(|l| format!("{kind}_{}", l.name())).collect::<Vec<_>>();
        let bridge = ["bridge_form", "bridge_language", "bridge_pieces"].map(str::to_owned);
        [vec!["symbol".to_owned()], columns("form"), columns("pieces"), bridge.to_vec()].concat()
    }

    /// Their values for one masked word. What it has no bridge for is `None`.
    fn text_values(&self, bridge: &Bridge) -> Vec<Option<String>> {
        let form = |symbol, language| self.loaded.languages.form(symbol, language).to_owned();
        let best = bridge.candidate;
        let mut values = vec![Some(self.loaded.languages.world.label(bridge.symbol))];
        values.extend(self.languages().iter().map(|&language| Some(form(bridge.symbol, language))));
        values.extend(self.languages().iter().map(|&language| Some(pieces(self.loaded, bridge.symbol, language))));
        values.push(best.map(|word| form(word.symbol, word.language)));
        values.push(best.map(|word| word.language.name().to_owned()));
        values.push(best.map(|word| pieces(self.loaded, word.symbol, word.language)));
        values
    }

    /// Names of the columns that are numbers; of more than two languages, also those with each other one.
    fn numbers(&self) -> Vec<String> {
        let all = NUMBERS.iter().map(|name| (*name).to_owned());
        let other_languages = self
            .other_languages()
            .flat_map(|other| ["bridge", "cognate_bridge"].map(|it| format!("{it}_{}", other.name())));
        all.chain(other_languages).collect()
    }

    /// Their values for one masked word; of a word that is masked there too, there is no cognate.
    fn number_values(&self, bridge: &Bridge) -> Vec<Option<f64>> {
        let both = [bridge.similarity, bridge.cognate()].map(|s| [s.jaccard, s.dice, s.containment]);
        let other_languages = self.other_languages().flat_map(|other| {
            let cognate = bridge.cognates[other.index()].map(|similarity| similarity.jaccard);
            [Some(bridge.with[other.index()].jaccard), cognate]
        });
        both.concat().into_iter().map(Some).chain(other_languages).collect()
    }
}

const NUMBERS: [&str; 6] = [
    "bridge",
    "bridge_dice",
    "bridge_containment",
    "cognate_bridge",
    "cognate_bridge_dice",
    "cognate_bridge_containment",
];

/// A word's pieces with a space between them.
fn pieces(loaded: &LoadedTokenizer, symbol: Symbol, language: Language) -> String {
    let letters = |&id: &u32| loaded.segmentation.spelled(id);
    loaded.segmentation.core(symbol, language).iter().map(letters).collect::<Vec<_>>().join(" ")
}

fn write_rows(of: &BridgeTable, bridges: &Bridges, path: &Path, mut staged: StagedFile) -> Result<()> {
    let rows: Vec<_> = bridges.0.iter().map(|bridge| (of.text_values(bridge), of.number_values(bridge))).collect();
    let (texts, numbers) = (of.texts(), of.numbers());
    if path.extension().is_some_and(|e| e == "tsv") {
        let mut text = [&texts[..], &numbers].concat().join("\t") + "\n";
        for (texts, numbers) in rows {
            let numbers = numbers.into_iter().map(|number| number.map_or(String::new(), |number| number.to_string()));
            let cells: Vec<String> = texts.into_iter().map(Option::unwrap_or_default).chain(numbers).collect();
            text.push_str(&cells.join("\t"));
            text.push('\n');
        }
        staged.file()?.write_all(text.as_bytes())?;
    } else {
        let texts = texts
            .iter()
            .enumerate()
            .map(|(i, name)| (name.as_str(), Column::Text(rows.iter().map(|(texts, _)| texts[i].clone()).collect())));
        let numbers = numbers
            .iter()
            .enumerate()
            .map(|(i, name)| (name.as_str(), Column::Number(rows.iter().map(|(_, numbers)| numbers[i]).collect())));
        let columns: Vec<(&str, Column)> = texts.chain(numbers).collect();
        let mut writer = table::TableWriter::new(staged.file()?, &columns)?;
        writer.group(&columns)?;
        writer.finish()?;
    }
    staged.finish()
}
