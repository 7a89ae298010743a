//! `invitro tokenizer table`: the same sentences in all languages with their pieces coloured, as the paper prints them.

use super::subject::{LoadedTokenizer, TokenizerChoice};
use crate::output::StagedFile;
use anyhow::{Result, bail};
use invitro_language::{Language, LanguageCondition, Source, Symbol, Task};
use invitro_report::draw::{DrawTarget, Width};
use invitro_report::sentences::{PairedSentences, SentenceRow, Side};
use invitro_tokenizer::Share;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// The paper's table of paired sentences: pieces that the languages share, and those they do not
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: TokenizerChoice,
    /// How many sentences
    #[arg(short, default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=2000))]
    n: u16,
    /// The file to write: .svg, .html or .tex
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// The sentences with the most shared pieces among a hundred times as many, as in the paper
    #[arg(long)]
    most_shared: bool,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

/// Sentences with more words are passed over: two of them do not fit side by side.
const LONGEST: usize = 12;
/// With `--most-shared`, among how many times as many sentences the rows are looked for.
const AMONG: u64 = 100;

pub fn run(args: Args) -> Result<ExitCode> {
    let format = args.out.extension().and_then(|e| e.to_str()).unwrap_or_default();
    if !["svg", "html", "tex"].contains(&format) {
        bail!("`{}` must end in .svg, .html or .tex", args.out.display());
    }
    let mut staged = StagedFile::new(&args.out, args.force)?;
    let loaded = args.subject.load()?;
    let rows = pairs(&loaded, args.n.into(), args.most_shared)?;
    let vocab = loaded.segmentation.vocab_size();
    let caption = match &rows.names[..] {
        [first, second] => format!(
            "The same sentences in {first} and in {second} under one tokenizer of {vocab} tokens. A piece that stands on both \
             sides of its row is shared."
        ),
        names => format!(
            "The same sentences in {} languages under one tokenizer of {vocab} tokens. A piece in a box stands in several \
             languages of its sentence, or in all.",
            names.len()
        ),
    };
    let caption = match loaded.arm.share != Share::All {
        true => caption + " One with a language's name behind it has an id of its own there.",
        false => caption,
    };
    let text = match format {
        "svg" => rows.svg(Width::Page, DrawTarget::File, &caption),
        "html" => rows.html(&caption),
        _ => rows.latex(&caption),
    };
    staged.file()?.write_all(text.as_bytes())?;
    staged.finish()?;
    note!("wrote {} sentences to {}", rows.pairs.len(), args.out.display());
    Ok(ExitCode::SUCCESS)
}

/// `n` sentences of a fixed stream, as they come, or those whose pieces have the most in common.
fn pairs(loaded: &LoadedTokenizer, n: u64, most_shared: bool) -> Result<PairedSentences> {
    let all = loaded.languages.all();
    let first = LanguageCondition { language: all[0], masked: false };
    let mut source = Source::condition(&loaded.languages, "tokenizer/table", first, Task::T0);
    let mut rows = Vec::new();
    for row in 0..if most_shared { n * AMONG } else { n } {
        let short = source.draw_where(0, row, |s| s.sentence.symbols.len() <= LONGEST)?;
        let side = |&language: &Language| {
            let symbols = loaded.languages.reordered(&short.sentence, all[0], language);
            symbols.iter().map(|&symbol| pieces(loaded, symbol, language)).collect::<Side>()
        };
        rows.push(SentenceRow::new(all.iter().map(side)));
    }
    if most_shared {
        rows.sort_by_key(|row| std::cmp::Reverse((row.shared_share() * 1e6) as u64));
        rows.truncate(n as usize);
    }
    Ok(PairedSentences {
        names: all.iter().map(|language| language.name().to_owned()).collect(),
        colours: (0..all.len()).collect(),
        pairs: rows,
    })
}

/// A word's pieces, each with the word boundary it carries: with and without it, they are different tokens.
fn pieces(loaded: &LoadedTokenizer, symbol: Symbol, language: Language) -> Vec<String> {
    let segmentation = &loaded.segmentation;
    let piece = |&id: &u32| match segmentation.is_marked(id) {
        true => segmentation.token(id).to_owned(),
        false => segmentation.spelled(id),
    };
    segmentation.core(symbol, language).iter().map(piece).collect()
}
