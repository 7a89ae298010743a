//! `invitro tokenizer measure --text …` and `--wordlist …`: any tokenizer on any text.

use super::subject::TokenizerChoice;
use crate::bar::Bar;
use crate::output::StagedDir;
use crate::table;
use crate::terminal::{self, To};
use anyhow::{Context, Result, bail};
use invitro_language::Languages;
use invitro_tokenizer::external::External;
use invitro_tokenizer::external::text::{self, Text, TextFragmentation, TextMeasures};
use invitro_tokenizer::external::wordlist::{self, LexicalDistance, Wordlist, WordlistMeasures};
use invitro_tokenizer::measured_text;
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(clap::Args)]
pub struct ExternalArgs {
    /// Your own text of a language, for --tokenizer, whoever made it; one per language, line i of each saying the same
    #[arg(long, value_name = "NAME=FILE")]
    text: Vec<String>,
    /// Leave pieces that are only a mark (▁, Ġ, `</w>`) out of all counts, as the measures of an experiment do
    #[arg(long)]
    without_marks: bool,
    /// Your own words by meaning: a .tsv with a column of meanings and one per language, or the forms.csv or folder of a
    /// CLDF dataset
    #[arg(long, value_name = "PATH")]
    wordlist: Option<PathBuf>,
    /// Which words of the wordlist are cognates [default: the cognates.csv beside its forms.csv]
    #[arg(long, value_name = "FILE", requires = "wordlist")]
    cognates: Option<PathBuf>,
    /// Languages of the wordlist [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "wordlist")]
    languages: Option<Vec<String>>,
    /// How far apart the languages of the wordlist are: what `language.distance` would be; needs no tokenizer
    #[arg(long, requires = "wordlist")]
    fit: bool,
}

/// More languages than this make a table that nobody reads.
const MANY: usize = 12;

#[derive(Serialize)]
struct ExternalMeasures {
    #[serde(skip_serializing_if = "Option::is_none")]
    vocab: Option<usize>,
    /// Pieces that words can be made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    available: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<TextMeasures>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wordlist: Option<WordlistMeasures>,
    #[serde(skip_serializing_if = "Option::is_none")]
    distances: Option<Vec<LexicalDistance>>,
}

impl ExternalArgs {
    pub fn is_given(&self) -> bool {
        !self.text.is_empty() || self.wordlist.is_some()
    }

    fn texts(&self) -> Result<Vec<Text>> {
        let read = |given: &String| {
            let (name, file) = given
                .split_once('=')
                .filter(|(name, file)| !name.is_empty() && !file.is_empty())
                .with_context(|| format!("--text is {given}, but must be NAME=FILE, as in en=english.txt"))?;
            let text = invitro_base::limits::read_text_file(file.as_ref())
                .with_context(|| format!("`{file}` cannot be read"))?;
            // A byte order mark is not text.
            let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
            Ok(Text { name: name.to_owned(), lines: text.lines().map(str::to_owned).collect() })
        };
        self.text.iter().map(read).collect()
    }
}

/// The distances of a wordlist's languages, with their progress.
fn distances(words: &Wordlist) -> Result<Vec<LexicalDistance>> {
    let bar = Bar::new();
    Ok(wordlist::distances(words, |done| bar.show(Some(done), &[(0, "comparing words".to_owned())]))?)
}

pub fn run(args: &ExternalArgs, subject: &TokenizerChoice, json: bool) -> Result<ExitCode> {
    if subject.experiment.is_given() {
        bail!("--text and --wordlist are of no experiment: leave out --preset, --config, --seed and settings");
    }
    let texts = args.texts()?;
    let list = args.wordlist.as_deref();
    let list =
        list.map(|path| wordlist::load(path, args.cognates.as_deref(), args.languages.as_deref())).transpose()?;
    let tokenizer = match &subject.tokenizer {
        Some(path) if args.without_marks => Some(External::load(path)?.without_marks()),
        Some(path) => Some(External::load(path)?),
        None if args.fit && texts.is_empty() => None,
        None => bail!("name the tokenizer to be measured with --tokenizer, a tokenizer.json or its folder"),
    };
    let of_texts = |tokenizer: &External| (!texts.is_empty()).then(|| text::measure(tokenizer, &texts)).transpose();
    let of_words = |tokenizer: &External| list.as_ref().map(|words| wordlist::measure(tokenizer, words)).transpose();
    let figures = ExternalMeasures {
        vocab: tokenizer.as_ref().map(External::vocab_size),
        available: tokenizer.as_ref().map(External::available),
        text: tokenizer.as_ref().map(of_texts).transpose()?.flatten(),
        wordlist: tokenizer.as_ref().map(of_words).transpose()?.flatten(),
        distances: list.as_ref().filter(|_| args.fit).map(distances).transpose()?,
    };
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    if json {
        writeln!(out, "{}", serde_json::to_string_pretty(&figures)?)?;
    } else {
        if let Some(words) = list.filter(|words| words.languages.len() > MANY) {
            bail!(
                "the wordlist has {} languages: choose up to {MANY} with --languages, such as {}, or take --json",
                words.languages.len(),
                words.languages[..2].join(",")
            );
        }
        print(&figures, subject.tokenizer.as_deref(), &mut out)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn print(figures: &ExternalMeasures, tokenizer: Option<&Path>, out: &mut impl Write) -> Result<()> {
    let width = terminal::width(To::Out);
    if let (Some(path), Some(vocab), Some(available)) = (tokenizer, figures.vocab, figures.available) {
        let title = format!("{}, |V| {vocab}, {available} pieces that words are made of", path.display());
        writeln!(out, "{}", terminal::wrap(&title, width))?;
    }
    if let Some(text) = &figures.text {
        writeln!(out, "\nText, {} parallel lines", text.lines)?;
        let all = (text.languages.len() > 1).then_some(&text.all);
        writeln!(out, "{}", table::numbers(&fragmentation(&text.languages, all), width))?;
        if !text.without_spaces.is_empty() {
            let note = format!(
                "{}: no spaces between words, so that pieces are not counted by word; compare pieces and parity.",
                text.without_spaces.join(", ")
            );
            writeln!(out, "\n{}", terminal::wrap(&note, width))?;
        }
        if !text.pairs.is_empty() {
            let mut rows = vec![row(["", "overlap", "parity", "Jensen-Shannon, bits"])];
            for pair in &text.pairs {
                let name = format!("  {}", pair.languages.join(" and "));
                rows.push(row([&name, &number(pair.overlap), &number(pair.parity), &number(pair.jensen_shannon)]));
            }
            writeln!(out, "\n{}", table::numbers(&rows, width))?;
            writeln!(out, "\nGini coefficient of the languages' numbers of pieces: {}", number(text.gini))?;
        }
    }
    if let Some(words) = &figures.wordlist {
        writeln!(out, "\nWordlist, {} meanings, every word once", words.concepts)?;
        writeln!(out, "{}", table::numbers(&fragmentation(&words.languages, None), width))?;
        word_pairs(words, width, out)?;
    }
    if let Some(distances) = &figures.distances {
        let mut rows = vec![row(["", "meanings", "cognates", "same", "different", "d", "95 %"])];
        for of in distances {
            let name = format!("  {}", of.languages.join(" and "));
            let interval = format!("[{}, {}]", number(of.low), number(of.high));
            let cognates = of.cognates.map_or("–".to_owned(), number);
            let cells = [&of.concepts.to_string(), &cognates, &number(of.same), &number(of.unrelated)];
            rows.push(row([&name, cells[0], cells[1], cells[2], cells[3], &number(of.distance), &interval]));
        }
        writeln!(out, "\nHow far apart: edits between words of the same meaning over those of different ones")?;
        writeln!(out, "{}", table::numbers(&rows, width))?;
    }
    Ok(())
}

fn word_pairs(words: &WordlistMeasures, width: Option<usize>, out: &mut impl Write) -> Result<()> {
    let mut rows = vec![row(["", "meanings", "overlap", "parity", "same meaning, Jaccard"])];
    let mut lifts = vec![row(["", "cognates", "others", "bridge", "others'", "lift", "by chance", "p"])];
    for pair in &words.pairs {
        let name = format!("  {}", pair.languages.join(" and "));
        let same = number(pair.same_meaning.jaccard);
        rows.push(row([&name, &pair.concepts.to_string(), &number(pair.overlap), &number(pair.parity), &same]));
        if let Some(of) = &pair.cognates {
            let chance = format!("[{}, {}]", number(of.by_chance[0]), number(of.by_chance[1]));
            let p = if of.p.is_nan() { "–".to_owned() } else { format!("{:.4}", of.p) };
            let [pairs, others] = [of.pairs, of.others].map(|count| count.to_string());
            let [bridge, other, lift] = [of.bridge.jaccard, of.other.jaccard, of.lift].map(number);
            lifts.push(row([&name, &pairs, &others, &bridge, &other, &lift, &chance, &p]));
        }
    }
    if rows.len() > 1 {
        writeln!(out, "\n{}", table::numbers(&rows, width))?;
    }
    if lifts.len() > 1 {
        writeln!(out, "\nBridges: pieces that words of one meaning have in common, cognates and others (Jaccard)")?;
        writeln!(out, "{}", table::numbers(&lifts, width))?;
    }
    Ok(())
}

fn fragmentation(languages: &[(String, TextFragmentation)], all: Option<&TextFragmentation>) -> Vec<Vec<String>> {
    type Of = fn(&TextFragmentation) -> String;
    let measures: [(&str, Of); 10] = [
        ("words", |f| f.words.to_string()),
        ("pieces", |f| f.pieces.to_string()),
        ("fertility", |f| number(f.fertility)),
        ("continuation rate", |f| number(f.continuation)),
        ("one-piece words", |f| number(f.one_piece)),
        ("letters per piece", |f| number(f.letters_per_piece)),
        ("Rényi efficiency (α 2.5)", |f| number(f.renyi)),
        ("vocabulary used", |f| number(f.utilisation)),
        ("average rank", |f| {
            if f.average_rank.is_nan() { number(f.average_rank) } else { format!("{:.1}", f.average_rank) }
        }),
        ("letters unknown", |f| number(f.unknown)),
    ];
    let all = all.map(|all| ("all".to_owned(), *all));
    let columns: Vec<&(String, TextFragmentation)> = languages.iter().chain(&all).collect();
    let heads = std::iter::once(String::new()).chain(columns.iter().map(|(name, _)| name.clone()));
    let mut rows = vec![heads.collect::<Vec<_>>()];
    for (name, of) in measures {
        rows.push(std::iter::once(format!("  {name}")).chain(columns.iter().map(|(_, f)| of(f))).collect());
    }
    rows
}

fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

fn number(value: f64) -> String {
    if value.is_nan() { "–".into() } else { format!("{value:.3}") }
}

/// The measured text and the lexicon as files: `A.txt`, …, `forms.csv`, `cognates.csv`. Masked words of B are of a language
/// `B_masked`.
pub fn write(languages: &Languages, sentences: u64, folder: &Path, force: bool) -> Result<()> {
    let mut files: Vec<(String, String)> = measured_text(languages, sentences)?
        .into_iter()
        .map(|(language, lines)| (format!("{}.txt", language.name()), lines.join("\n") + "\n"))
        .collect();
    let mut forms = "ID,Language_ID,Parameter_ID,Form\n".to_owned();
    let mut cognates = "ID,Form_ID,Cognateset_ID\n".to_owned();
    for &language in languages.all() {
        for symbol in languages.world.symbols() {
            let (concept, form) = (languages.world.label(symbol), languages.form(symbol, language));
            let masked = if languages.mask(language).contains(symbol) { "_masked" } else { "" };
            let name = language.name();
            forms.push_str(&format!("{name}-{concept},{name}{masked},{concept},{form}\n"));
            cognates.push_str(&format!("{name}-{concept},{name}-{concept},{concept}\n"));
        }
    }
    files.push(("forms.csv".to_owned(), forms));
    files.push(("cognates.csv".to_owned(), cognates));
    let staged = StagedDir::new(folder, force, &["forms.csv", "cognates.csv", "*.txt"])?;
    files.iter().try_for_each(|(name, text)| staged.write(name, text))?;
    staged.finish()
}
