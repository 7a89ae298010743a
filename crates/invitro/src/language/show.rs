//! `invitro language show`: what the languages are like, for a person.

use super::dictionary::{affixes, dictionary};
use super::figures::{LanguageFigures, OfLanguage};
use super::gloss::{self, interlinear};
use super::tree;
use crate::experiment::ExperimentArgs;
use crate::output::StagedFile;
use crate::table;
use crate::terminal::{self, To};
use anyhow::{Result, bail};
use invitro_language::{Category, DerivationStep, Languages, Stream, Symbol};
use invitro_report::FamilyPicture;
use invitro_report::draw::{DrawTarget, Width};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// What the languages are like: sizes, tree, distances, letters, affixes, words, sentences
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    experiment: ExperimentArgs,
    /// The figures as JSON
    #[arg(long)]
    json: bool,
    /// Show the history of a word instead, step by step: a form in any language, or a symbol such as noun.3.17
    #[arg(long, value_name = "WORD", conflicts_with = "svg")]
    word: Option<String>,
    /// Write the tree and the distances as a picture too: .svg
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Replace the picture if it exists
    #[arg(long, requires = "svg")]
    force: bool,
}

/// Sentences that are shown.
const SENTENCES: usize = 4;
/// Longer sentences are not.
const SHORT: usize = 12;

pub fn run(args: Args) -> Result<ExitCode> {
    let staged = match &args.svg {
        Some(path) if path.extension().is_none_or(|e| e != "svg") => bail!("`{}` must end in .svg", path.display()),
        Some(path) => Some(StagedFile::new(path, args.force)?),
        None => None,
    };
    let (experiment, languages) = args.experiment.languages()?;
    if let Some(word) = &args.word {
        return history(&languages, word, args.json);
    }
    let stream = Stream::new(languages.seed, "show");
    let figures = LanguageFigures::compute(&experiment, &languages, &stream);
    if let (Some(mut staged), Some(path)) = (staged, &args.svg) {
        let picture = FamilyPicture::new(figures.family.clone());
        let text =
            picture.svg(Width::Page, DrawTarget::File, &format!("The family of languages. {}.", picture.description()));
        staged.file()?.write_all(text.as_bytes())?;
        staged.finish()?;
        note!("wrote the tree to {}", path.display());
    }
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&figures)?)?;
    } else {
        page(&figures, &mut out)?;
        laws(&figures, &mut out)?;
        affixes(&languages, &mut out)?;
        dictionary(&languages, &mut out)?;
        writeln!(out, "\nSentences ({})", gloss::star(&languages))?;
        let mut sampler = languages.sampler();
        let sentences = (0..).map(|row| sampler.sentence(languages.all()[0], &mut stream.at(0, row)));
        for sentence in sentences.filter(|sentence| sentence.symbols.len() <= SHORT).take(SENTENCES) {
            write!(out, "\n{}", interlinear(&languages, &sentence, gloss::width()))?;
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn page(f: &LanguageFigures, out: &mut impl Write) -> Result<()> {
    let count = |category: Category| f.categories.get(category.name()).copied().unwrap_or(0);
    let function: usize = Category::ALL.iter().filter(|c| !c.is_open()).map(|&c| count(c)).sum();
    let half = f.classes / 2;
    let mut rows = vec![
        (
            "symbols",
            format!(
                "{}: {} nouns, {} names, {} descriptors ({} properties × {} values), {} relation verbs, {} adjectives, \
                 {} adverbs, {function} function words",
                f.symbols,
                count(Category::Noun),
                count(Category::Name),
                count(Category::Descriptor),
                f.properties,
                f.values,
                count(Category::Relation),
                count(Category::Adjective),
                count(Category::Adverb)
            ),
        ),
        ("classes", format!("{}: {half} of subjects, {half} of objects", f.classes)),
        ("facts", facts(f)),
    ];
    rows.extend(grammars(f));
    rows.extend(f.told.iter().map(|told| ("words", told.clone())));
    rows.extend(distance(f));
    rows.extend(regularity(f));
    for (name, of) in f.languages.iter().filter(|(_, of)| of.loans + of.false_friends > 0) {
        let first = &f.languages[0].0;
        let text = format!(
            "{} words of {name} are loans of {first}, {} are words of {first} that mean something else",
            of.loans, of.false_friends
        );
        rows.push(("contact", text));
    }
    rows.push(("length", lengths(f)));
    for (language, figures) in f.languages.iter().filter(|(_, figures)| figures.masked > 0) {
        let text = format!(
            "{} of {} descriptors withheld from {language}, {:.1} % of its sentences have one",
            figures.masked,
            count(Category::Descriptor),
            100.0 * figures.masked_sentences
        );
        rows.push(("mask", text));
    }
    rows.push(("mixture", mixture(f)));
    let mut last = "";
    let named = |(name, text): (&'static str, String)| {
        let head = if last == name { "" } else { name };
        last = name;
        vec![format!("{head:<9}"), text]
    };
    let rows: Vec<Vec<String>> = rows.into_iter().map(named).collect();
    let number = number(f.languages.len());
    let title = format!("{number} languages over one world: {}, data seed {}", f.name, f.seed);
    let width = terminal::width(To::Out);
    writeln!(out, "{}\n\n{}", terminal::wrap(&title, width), table::texts(&rows, width))?;
    if !f.family.is_pair {
        writeln!(out, "\nTree\n{}", tree::tree(&f.family, width))?;
        writeln!(out, "\n{}", terminal::wrap(&tree::legend(&f.family).join(" "), width))?;
    }
    if f.languages.len() > 2 {
        let names: Vec<&str> = f.languages.iter().map(|(name, _)| name.as_str()).collect();
        let cell = |row: usize, column: usize| (row != column).then(|| f.family.stems[row][column]);
        writeln!(out, "\nDistances of stems, measured\n{}", tree::matrix(&names, "", width, cell))?;
    }
    writeln!(out, "\nLetters, most frequent first")?;
    let longest = f.languages.iter().map(|(name, _)| name.len()).max().unwrap_or(1);
    for (language, figures) in f.languages.iter() {
        let [consonants, vowels] = &figures.letters;
        writeln!(out, "  {language:longest$}  {consonants}  {vowels}")?;
    }
    Ok(())
}

/// The sound laws of each language that changed by laws, in order.
fn laws(f: &LanguageFigures, out: &mut impl Write) -> Result<()> {
    for (name, of) in f.languages.iter().filter(|(_, of)| !of.laws.is_empty()) {
        writeln!(out, "\nSound laws of {name}, in order")?;
        for law in &of.laws {
            writeln!(out, "  {law}")?;
        }
    }
    Ok(())
}

/// The history of one word in every language.
fn history(languages: &Languages, word: &str, json: bool) -> Result<ExitCode> {
    let world = &languages.world;
    let has_form = |symbol: &Symbol| languages.all().iter().any(|&language| languages.form(*symbol, language) == word);
    let found: Vec<Symbol> =
        world.symbols().filter(|symbol| world.label(*symbol) == word || has_form(symbol)).collect();
    if found.is_empty() {
        bail!("`{word}` is neither a word of one of the languages nor a symbol such as noun.3.17");
    }
    let mut all = Vec::new();
    for symbol in found {
        for &language in languages.all() {
            let steps = languages.derivation(symbol, language);
            if json {
                all.push(
                    serde_json::json!({ "symbol": world.label(symbol), "language": language.name(), "steps": steps }),
                );
                continue;
            }
            say!("{} in {}", gloss::label(languages, symbol), language.name());
            let row = |step: &DerivationStep| vec![format!("  {}", step.node), step.form.clone(), step.change.clone()];
            let rows: Vec<Vec<String>> = steps.iter().map(row).collect();
            say!("{}", table::texts(&rows, terminal::width(To::Out)));
        }
    }
    if json {
        emit!("{}", serde_json::to_string_pretty(&all)?);
    }
    Ok(ExitCode::SUCCESS)
}

/// A line for each grammar, with the languages that have it where there are several.
fn grammars(f: &LanguageFigures) -> Vec<(&'static str, String)> {
    let line = |at: usize| {
        let (_, figures) = &f.languages[at];
        let alike: Vec<&str> =
            f.languages.iter().filter(|(_, o)| o.grammar == figures.grammar).map(|(n, _)| &**n).collect();
        let whose = if alike.len() == f.languages.len() { String::new() } else { format!(" ({})", alike.join(", ")) };
        let text = format!(
            "{}{whose}, {:.1} words a sentence, {:.1} nats ({:.2} bits a word)",
            figures.grammar,
            figures.sentence_words,
            figures.sentence_nats,
            figures.sentence_nats / figures.sentence_words / std::f64::consts::LN_2
        );
        ("grammar", text)
    };
    let is_first =
        |at: &usize| f.languages[..*at].iter().all(|(_, figures)| figures.grammar != f.languages[*at].1.grammar);
    (0..f.languages.len()).filter(is_first).map(line).collect()
}

/// Of two siblings, how far apart they are. Other families have their tree.
fn distance(f: &LanguageFigures) -> Option<(&'static str, String)> {
    let pair = f.pair.as_ref().filter(|_| f.family.is_pair)?;
    let (stems, words) = (pair.stem_distance, pair.word_distance);
    let which = if f.real_words.is_some() { " of the words that are made" } else { "" };
    let asked = pair.distance.map_or("decided by the file of sound laws".into(), |asked| format!("{asked} asked"));
    let text = format!(
        "{asked}{which}; stems {:.3} (pairs {:.3}, unrelated {:.3}), words {:.3}",
        stems.relative, stems.pairs, stems.unrelated, words.relative
    );
    Some(("distance", text))
}

/// How regular the other languages' stems are, given the first's.
fn regularity(f: &LanguageFigures) -> Vec<(&'static str, String)> {
    let line = |(name, of): &(String, OfLanguage)| {
        let measured = of.regularity?;
        let text = format!(
            "a letter of {name} has {:.3} bits once {}'s letter and its neighbours are known; {:.1} % of the sites are in \
             patterns of 3 or more",
            measured.entropy,
            f.languages[0].0,
            100.0 * measured.regular_sites
        );
        Some(("regular", text))
    };
    f.languages.iter().filter_map(line).collect()
}

/// How many values are true of an entity, and how many such facts are withheld.
fn facts(f: &LanguageFigures) -> String {
    let withheld = f
        .languages
        .iter()
        .filter_map(|(name, figures)| Some((name, figures.withheld_facts?, figures.masked_sentences)));
    let withheld_facts = withheld.map(|(name, count, share)| {
        format!("; {count} are never stated in {name}, where {:.1} % of the sentences would", 100.0 * share)
    });
    format!(
        "{} of the {} values of a property are true of each entity{}",
        f.valid_values,
        f.values,
        withheld_facts.collect::<String>()
    )
}

/// `8.90 letters a word in A, 8.89 in B`
fn lengths(f: &LanguageFigures) -> String {
    let length = |(at, (name, of)): (usize, &(String, OfLanguage))| {
        let what = if at == 0 { " letters a word" } else { "" };
        format!("{:.2}{what} in {name}", of.word_length)
    };
    f.languages.iter().enumerate().map(length).collect::<Vec<_>>().join(", ")
}

/// How much text each language has, and how much of it is left without the masked sentences.
fn mixture(f: &LanguageFigures) -> String {
    if let Some(pair) = f.pair.as_ref().filter(|_| f.family.is_pair) {
        return format!("λ {}, of which {:.3} is left without {}", f.lambda, pair.lambda_left, withheld(f));
    }
    let trained = |of: &OfLanguage| of.size * (1.0 - of.masked_sentences);
    let all: f64 = f.languages.iter().map(|(_, of)| trained(of)).sum();
    let share = |(name, of): &(String, OfLanguage)| format!("{name} {:.1} %", 100.0 * trained(of) / all);
    let shares = f.languages.iter().map(share).collect::<Vec<_>>().join(", ");
    format!("of the rows, without {}: {shares}", withheld(f))
}

fn withheld(f: &LanguageFigures) -> &'static str {
    let facts = f.languages.iter().any(|(_, of)| of.withheld_facts.is_some());
    if facts { "the sentences that state them" } else { "the masked sentences" }
}

/// A number in words, as a title begins.
fn number(count: usize) -> String {
    const WORDS: [&str; 13] =
        ["No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve"];
    WORDS.get(count).map_or_else(|| count.to_string(), |word| (*word).to_owned())
}
