//! `invitro language show`: what the languages are like, for a person.

use super::gloss::{self, interlinear, label};
use crate::experiment::ExperimentArgs;
use crate::table;
use crate::terminal::{self, To};
use anyhow::Result;
use invitro_language::{AFFIXED, Category, Distance, Language, Languages, Process, Stem, Stream, Symbol};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;

/// What the two languages are like: sizes, distance, letters, affixes, words, sentences
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    experiment: ExperimentArgs,
    /// The figures as JSON
    #[arg(long)]
    json: bool,
}

/// Sentences drawn for the figures.
const SAMPLE: u64 = 10_000;
/// Words of each category, and sentences, shown.
const WORDS: usize = 4;
const SENTENCES: usize = 4;
/// Longer sentences are not shown.
const SHORT: usize = 12;

#[derive(Serialize)]
struct Figures {
    name: String,
    seed: u64,
    grammar: String,
    symbols: usize,
    classes: usize,
    properties: usize,
    values: usize,
    valid_values: usize,
    categories: BTreeMap<&'static str, usize>,
    distance: f64,
    stem_distance: Distance,
    word_distance: Distance,
    word_length: BTreeMap<&'static str, f64>,
    letters: BTreeMap<&'static str, [String; 2]>,
    masked: usize,
    masked_sentences: f64,
    lambda: f64,
    lambda_left: f64,
    sentence_words: f64,
    sentence_nats: f64,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let (experiment, languages) = args.experiment.languages()?;
    let process = Process::new(&languages);
    let stream = Stream::new(languages.seed, "show");
    let mut sampler = languages.sampler();
    let (mut words, mut nats) = (0, 0.0);
    for row in 0..SAMPLE {
        let sentence = sampler.sentence(&mut stream.at(1, row));
        words += sentence.symbols.len();
        nats -= process.sentence(&sentence.symbols);
    }
    let world = &languages.world;
    let lexicon = &languages.lexicon;
    let mut categories = BTreeMap::new();
    for symbol in world.symbols() {
        *categories.entry(world.category(symbol).name()).or_insert(0) += 1;
    }
    let figures = Figures {
        name: experiment.name,
        seed: languages.seed,
        grammar: languages.grammar.name().to_owned(),
        symbols: world.len(),
        classes: languages.config.classes,
        properties: world.property_count(),
        values: languages.config.values,
        valid_values: world.valid_count(),
        categories,
        distance: experiment.language.distance,
        stem_distance: lexicon.stem_distance(),
        word_distance: lexicon.word_distance(),
        word_length: Language::ALL.map(|l| (l.name(), lexicon.mean_length(world, l))).into(),
        letters: Language::ALL
            .map(|l| (l.name(), [lexicon.letters(l).consonants().into(), lexicon.letters(l).vowels().into()]))
            .into(),
        masked: languages.mask.symbols().len(),
        masked_sentences: process.masked_share(),
        lambda: experiment.mixture.lambda,
        lambda_left: process.lambda_left(&experiment.mixture),
        sentence_words: words as f64 / SAMPLE as f64,
        sentence_nats: nats / SAMPLE as f64,
    };
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&figures)?)?;
    } else {
        figures_page(&figures, &mut out)?;
        affixes(&languages, &mut out)?;
        dictionary(&languages, &mut out)?;
        writeln!(out, "\nSentences (* masked in B)")?;
        let sentences = (0..).map(|row| sampler.sentence(&mut stream.at(0, row)).symbols);
        for symbols in sentences.filter(|symbols| symbols.len() <= SHORT).take(SENTENCES) {
            write!(out, "\n{}", interlinear(&languages, &symbols, gloss::width()))?;
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn figures_page(f: &Figures, out: &mut impl Write) -> Result<()> {
    let count = |category: Category| f.categories.get(category.name()).copied().unwrap_or(0);
    let function: usize = Category::ALL.iter().filter(|c| !c.is_open()).map(|&c| count(c)).sum();
    let [stems, words] = [f.stem_distance, f.word_distance];
    let half = f.classes / 2;
    let rows = [
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
        ("facts", format!("{} of the {} values of a property are true of each entity", f.valid_values, f.values)),
        (
            "grammar",
            format!(
                "{}, {:.1} words a sentence, {:.1} nats ({:.2} bits a word)",
                f.grammar,
                f.sentence_words,
                f.sentence_nats,
                f.sentence_nats / f.sentence_words / std::f64::consts::LN_2
            ),
        ),
        (
            "distance",
            format!(
                "{} asked; stems {:.3} (pairs {:.3}, unrelated {:.3}), words {:.3}",
                f.distance, stems.relative, stems.pairs, stems.unrelated, words.relative
            ),
        ),
        ("length", format!("{:.2} letters a word in A, {:.2} in B", f.word_length["A"], f.word_length["B"])),
        (
            "mask",
            format!(
                "{} of {} descriptors withheld from B, {:.1} % of its sentences have one",
                f.masked,
                count(Category::Descriptor),
                100.0 * f.masked_sentences
            ),
        ),
        ("mixture", format!("λ {}, of which {:.3} is left without the masked sentences", f.lambda, f.lambda_left)),
    ];
    let rows: Vec<Vec<String>> = rows.into_iter().map(|(name, text)| vec![format!("{name:<9}"), text]).collect();
    let title = format!("Two languages over one world: {}, data seed {}", f.name, f.seed);
    let width = terminal::width(To::Out);
    writeln!(out, "{}\n\n{}", terminal::wrap(&title, width), table::texts(&rows, width))?;
    writeln!(out, "\nLetters, most frequent first")?;
    for (language, [consonants, vowels]) in &f.letters {
        writeln!(out, "  {language}  {consonants}  {vowels}")?;
    }
    Ok(())
}

fn affixes(languages: &Languages, out: &mut impl Write) -> Result<()> {
    let join = |list: &[Stem], before: &str, after: &str| {
        list.iter().map(|a| format!("{before}{}{after}", a.as_str())).collect::<Vec<_>>().join(" ")
    };
    writeln!(out, "\nAffixes")?;
    let mut rows = Vec::new();
    for category in AFFIXED {
        for language in Language::ALL {
            let Some(inventory) = languages.lexicon.affixes().inventory(category, language) else { continue };
            let name = if language == Language::A { category.name() } else { "" };
            rows.push(vec![
                format!("  {name}"),
                language.name().to_owned(),
                join(&inventory.prefixes, "", "-"),
                join(&inventory.suffixes, "-", ""),
            ]);
        }
    }
    Ok(writeln!(out, "{}", table::texts(&rows, terminal::width(To::Out)))?)
}

fn dictionary(languages: &Languages, out: &mut impl Write) -> Result<()> {
    writeln!(out, "\n{}", terminal::fit("Dictionary (prefix·stem·suffix, * masked in B)"))?;
    let world = &languages.world;
    let parts = |symbol: Symbol, language: Language| {
        let word = languages.lexicon.word(symbol, language);
        let parts = [word.prefix(), word.stem(), word.suffix()];
        parts.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join("·")
    };
    let mut rows = vec![["", "", "A", "B"].map(str::to_owned).to_vec()];
    for category in Category::ALL {
        let all: Vec<Symbol> = world.of_category(category).collect();
        // A few from all over the category.
        let step = all.len().div_ceil(WORDS).max(1);
        for (i, &symbol) in all.iter().step_by(step).enumerate() {
            let name = if i == 0 { category.name() } else { "" };
            rows.push(vec![
                format!("  {name}"),
                label(languages, symbol),
                parts(symbol, Language::A),
                parts(symbol, Language::B),
            ]);
        }
    }
    Ok(writeln!(out, "{}", table::texts(&rows, terminal::width(To::Out)))?)
}
