//! What a run folder tells of the run's materials: the languages, the tokenizer, paired sentences, the masked words.

use crate::error::Result;
use crate::evaluation::reach::Reached;
use crate::experiment::Experiment;
use crate::files;
use crate::folder::{LANGUAGE, PAIRS, REACHED, WORDS};
use crate::log;
use crate::materials::Materials;
use crate::table::{self, Column};
use crate::text::Text;
use invitro_language::{Language, Languages, Stream, Symbol};
use invitro_tokenizer::bridge::{Bridge, Bridges, Pier};
use serde_json::json;
use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

/// Sentences that `pairs.jsonl` shows in both languages.
const PAIRED: u64 = 24;

/// Writes the languages, the tokenizer and the paired sentences, unless they are there.
pub fn write_materials(folder: &Path, materials: &Materials) -> Result<()> {
    let Materials { languages, text, .. } = materials;
    let pairs = folder.join(PAIRS);
    // The last to be written: where it is, the others are.
    if pairs.exists() {
        return Ok(());
    }
    let place = folder.join(LANGUAGE);
    let failed = |error: std::io::Error| crate::Error::Write { path: place.clone(), why: error.to_string() };
    std::fs::create_dir_all(&place).map_err(failed)?;
    files::write_whole(&place.join("grammar.txt"), languages.grammar.text().as_bytes())?;
    files::write_whole(&place.join("lexicon.tsv"), lexicon(languages).as_bytes())?;
    text.tokenizer.save(folder)?;
    let stream = Stream::new(languages.seed, "pairs");
    let mut sampler = languages.sampler();
    let mut lines = String::new();
    for row in 0..PAIRED {
        let sentence = sampler.sentence(&mut stream.at(0, row));
        let [a, b] = Language::BOTH.map(|language| -> Vec<Vec<String>> {
            sentence.symbols.iter().map(|&symbol| pieces(text, symbol, language)).collect()
        });
        writeln!(lines, "{}", json!({ "A": a, "B": b })).expect("a string takes all");
    }
    files::write_whole(&pairs, lines.as_bytes())
}

/// Every symbol with its words.
fn lexicon(languages: &Languages) -> String {
    let mut out = String::from("symbol\tcategory\tA\tB\tmasked\n");
    for symbol in languages.world.symbols() {
        let world = &languages.world;
        let masked = if languages.mask.contains(symbol) { "yes" } else { "no" };
        let [a, b] = Language::BOTH.map(|language| languages.form(symbol, language));
        let (label, category) = (world.label(symbol), world.category(symbol).name());
        writeln!(out, "{label}\t{category}\t{a}\t{b}\t{masked}").expect("a string takes all");
    }
    out
}

/// The pieces of a word as text, without a boundary that is a token of its own.
fn pieces(text: &Text, symbol: Symbol, language: Language) -> Vec<String> {
    let token = |&id: &u32| text.tokenizer.token(id).unwrap_or_default();
    text.segmentation.core(symbol, language).iter().map(token).collect()
}

/// `words.parquet`: the masked words, their pieces and bridges, whether some subject was asked for each, and when it was
/// first reached.
pub fn write_words(folder: &Path, experiment: &Experiment, materials: &Materials) -> Result<()> {
    let Materials { languages, text, sets } = materials;
    let asked = sets.asked();
    let reached: HashMap<u32, u64> =
        log::read::<Reached>(&folder.join(REACHED))?.into_iter().map(|line| (line.symbol, line.step)).collect();
    let bridges = Bridges::new(&text.segmentation, languages).0;
    let symbols: Vec<Symbol> = bridges.iter().map(|bridge| bridge.symbol).collect();
    let run = experiment.id();
    let number = |of: fn(&Bridge) -> f64| Column::Number(bridges.iter().map(|bridge| Some(of(bridge))).collect());
    let pier = |of: &dyn Fn(&Pier) -> String| {
        Column::Text(bridges.iter().map(|bridge| bridge.pier.as_ref().map(of)).collect())
    };
    let column = |of: &dyn Fn(Symbol) -> String| Column::Text(symbols.iter().map(|&symbol| Some(of(symbol))).collect());
    table::write(
        &folder.join(WORDS),
        &[
            ("run", column(&|_| run.clone())),
            ("symbol", column(&|symbol| languages.world.label(symbol))),
            ("form_A", column(&|symbol| languages.form(symbol, Language::A).to_owned())),
            ("form_B", column(&|symbol| languages.form(symbol, Language::B).to_owned())),
            ("pieces_A", column(&|symbol| pieces(text, symbol, Language::A).join(" "))),
            ("pieces_B", column(&|symbol| pieces(text, symbol, Language::B).join(" "))),
            ("bridge", number(|bridge| bridge.similarity.jaccard)),
            ("bridge_form", pier(&|pier| languages.form(pier.symbol, pier.language).to_owned())),
            ("bridge_language", pier(&|pier| pier.language.name().to_owned())),
            ("cognate_bridge", number(|bridge| bridge.cognate.jaccard)),
            ("asked", Column::Whole(symbols.iter().map(|symbol| Some(asked.contains(symbol).into())).collect())),
            (
                "reachable_from",
                Column::Whole(symbols.iter().map(|s| reached.get(&s.0).map(|&step| step as i64)).collect()),
            ),
        ],
    )
}
