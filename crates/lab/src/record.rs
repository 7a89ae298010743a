//! What a run folder tells of the run's inputs: the languages, the tokenizer, paired sentences, the masked words; and
//! the run as one row.

use crate::error::{At, Result};
use crate::experiment::Experiment;
use crate::inputs::RunInputs;
use crate::tokenized::TokenizedText;
use invitro_language::{Language, Languages, Process, Stream, Symbol};
use invitro_results::folder::{
    CONTRASTS, LANGUAGE, PAIRS, REACHED, SUMMARY, WORDS, read_json_lines, write_file, write_json,
};
use invitro_results::words::{self, Contrasts, Form, Pair, Reached, Word};
use invitro_results::{
    Bridge, Condition, LanguageMetric, Measure, Quantity, Row, Seal, Similarity, Status, TokenizerMetric, Words,
    column, summary,
};
use invitro_tokenizer::bridge::{self, Bridges};
use invitro_tokenizer::measure::{self, Measures};
use invitro_tokenizer::{MEASURED_SENTENCES, WordCounts};
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Sentences that `pairs.jsonl` shows in all languages.
const PAIRED: u64 = 24;

/// Writes the languages, the tokenizer and the paired sentences where they are not there as they should be. The seals of
/// all of them, by name.
pub fn write_inputs(folder: &Path, inputs: &RunInputs) -> Result<BTreeMap<String, Seal>> {
    let RunInputs { languages, text, .. } = inputs;
    let place = folder.join(LANGUAGE);
    std::fs::create_dir_all(&place).writing(&place)?;
    let in_language = |name: &str| format!("{LANGUAGE}/{name}");
    let mut files = vec![
        (in_language("grammar.txt"), languages.grammar.text().to_owned()),
        (in_language("lexicon.tsv"), languages.lexicon_tsv()),
        (PAIRS.to_owned(), paired(inputs)),
    ];
    files.extend(text.tokenizer.files()?.map(|(name, text)| (name.to_owned(), text)));
    let mut seals = BTreeMap::new();
    for (name, text) in files {
        let (path, seal) = (folder.join(&name), Seal::of(text.as_bytes()));
        if seal.read(&path).is_err() {
            write_file(&path, text.as_bytes())?;
        }
        seals.insert(name, seal);
    }
    Ok(seals)
}

/// Sentences in all languages, a line each.
fn paired(RunInputs { languages, text, .. }: &RunInputs) -> String {
    let stream = Stream::new(languages.seed, "pairs");
    let mut sampler = languages.sampler();
    let mut lines = String::new();
    for row in 0..PAIRED {
        let sentence = sampler.sentence(&mut stream.at(0, row));
        let side = |language: Language| {
            let words = sentence.symbols.iter().map(|&symbol| pieces(text, symbol, language)).collect();
            (language.name().to_owned(), words)
        };
        let pair: Pair = Language::ALL.into_iter().map(side).collect();
        lines.push_str(&(json!(pair).to_string() + "\n"));
    }
    lines
}

/// The pieces of a word as text, without a boundary that is a token of its own.
fn pieces(text: &TokenizedText, symbol: Symbol, language: Language) -> Vec<String> {
    let token = |&id: &u32| text.tokenizer.token(id).unwrap_or_default();
    text.segmentation.core(symbol, language).iter().map(token).collect()
}

/// `words.parquet`: the masked words, their pieces and bridges, whether some subject was asked for each, when it was
/// first reached, and what was known of it over training.
pub fn write_words(
    folder: &Path,
    experiment: &Experiment,
    inputs: &RunInputs,
    may_write: impl Fn() -> Result<()>,
) -> Result<()> {
    let RunInputs { languages, text, sets } = inputs;
    let asked = sets.asked();
    let reached: Vec<Reached> = read_json_lines(&folder.join(REACHED))?;
    let reached: HashMap<u32, u64> = reached.into_iter().map(|line| (line.symbol, line.step)).collect();
    let known: Vec<Contrasts> = read_json_lines(&folder.join(CONTRASTS))?;
    let place: HashMap<Symbol, usize> = sets.contrasted().enumerate().map(|(at, symbol)| (symbol, at)).collect();
    let contrasts = |symbol: Symbol, language: Language| {
        let Some(&at) = place.get(&symbol) else { return Vec::new() };
        let value = |line: &Contrasts| Some((line.step as u32, *line.nats.get(language.name())?.get(at)?));
        known.iter().filter_map(value).collect()
    };
    let word = |bridge: &bridge::Bridge| {
        let symbol = bridge.symbol;
        let form = |language: Language| Form {
            language: language.name().to_owned(),
            form: languages.form(symbol, language).to_owned(),
            pieces: pieces(text, symbol, language),
            contrasts: contrasts(symbol, language),
        };
        let to = bridge.candidate.as_ref();
        Word {
            symbol: languages.world.label(symbol),
            forms: Language::ALL.into_iter().map(form).collect(),
            bridge: Some(bridge.similarity.jaccard),
            bridge_to: to.map(|to| (languages.form(to.symbol, to.language).to_owned(), to.language.name().to_owned())),
            bridge_pieces: to.map_or(Vec::new(), |to| pieces(text, to.symbol, to.language)),
            cognate_bridge: Some(bridge.cognate.jaccard),
            asked: Some(asked.contains(&symbol)),
            reachable_from: reached.get(&symbol.0).map(|&step| step as u32),
        }
    };
    let all: Vec<Word> = Bridges::new(&text.segmentation, languages).0.iter().map(word).collect();
    may_write()?;
    Ok(words::write(&folder.join(WORDS), &experiment.id(), &all)?)
}

/// `summary.json`: a finished run as one flat row.
pub fn write_summary(
    folder: &Path,
    experiment: &Experiment,
    inputs: &RunInputs,
    status: &Status,
    rows: &[Row],
    tokens: Option<f64>,
    may_write: impl Fn() -> Result<()>,
) -> Result<()> {
    let mut row = summary::describe(&status.run, status.state, Some(status), &experiment.flatten());
    summary::add_measures(&mut row, &measures(experiment, &inputs.languages, &inputs.text)?);
    summary::add_results(&mut row, status, rows, experiment.eval.emergence);
    row.insert(column::TOKENS.into(), json!(tokens));
    may_write()?;
    Ok(write_json(&folder.join(SUMMARY), &row)?)
}

/// Whether two experiments have the same [`measures`]: a text that tells them apart.
pub fn measured_settings(experiment: &Experiment) -> String {
    json!([experiment.language, experiment.mixture, experiment.tokenizer, experiment.seeds.data]).to_string()
}

/// Measures of the languages and the tokenizer.
pub fn measures(experiment: &Experiment, languages: &Languages, text: &TokenizedText) -> Result<Vec<(Quantity, f64)>> {
    let of_language = [
        (LanguageMetric::Vocab, text.vocab() as f64),
        (LanguageMetric::StemDistance, languages.lexicon.stem_distance().relative),
        (LanguageMetric::WordDistance, languages.lexicon.word_distance().relative),
        (LanguageMetric::LambdaLeft, Process::new(languages).lambda_left(&experiment.mixture)),
    ];
    let of_language = of_language.map(|(metric, value)| (Quantity::overall(Measure::Language(metric)), value));
    let counts = WordCounts::text(languages, MEASURED_SENTENCES)?;
    let Measures { text: running, lexicon } = Measures::new(&text.segmentation, languages, &counts);
    let bridges = Bridges::new(&text.segmentation, languages);
    let mut all: Vec<(Quantity, f64)> = of_language.into();
    for (words, panel) in [(Words::Text, &running), (Words::Lexicon, &lexicon)] {
        all.extend(tokenizer_measures(words, panel));
    }
    for (bridge, mean) in [(Bridge::General, bridges.mean()), (Bridge::Cognate, bridges.mean_cognate())] {
        let kinds = [
            (Similarity::Jaccard, mean.jaccard),
            (Similarity::Dice, mean.dice),
            (Similarity::Containment, mean.containment),
        ];
        all.extend(kinds.map(|(kind, value)| (Quantity::overall(Measure::Bridge(bridge, kind)), value)));
    }
    Ok(all)
}

fn tokenizer_measures(words: Words, panel: &measure::Panel) -> Vec<(Quantity, f64)> {
    use TokenizerMetric::{
        BoundaryPrecision, BoundaryRecall, Continuation, Fertility, OnePiece, Overlap, Parity, Renyi, Utilisation,
    };
    let overall = |metric, value| (Quantity::overall(Measure::Tokenizer(words, metric)), value);
    let both = &panel.both;
    let mut all = vec![
        overall(Overlap, panel.overlap),
        overall(Parity, panel.parity),
        overall(Renyi, both.renyi),
        overall(Utilisation, both.utilisation),
        overall(BoundaryPrecision, both.boundary_precision),
        overall(BoundaryRecall, both.boundary_recall),
    ];
    for (&condition, of) in &panel.conditions {
        let condition = Condition::from(condition);
        let values = [
            (Fertility, of.fertility),
            (Continuation, of.continuation),
            (OnePiece, of.one_piece),
            (Renyi, of.renyi),
            (Utilisation, of.utilisation),
            (BoundaryPrecision, of.boundary_precision),
            (BoundaryRecall, of.boundary_recall),
        ];
        let named = |(metric, value)| (Quantity::of(Measure::Tokenizer(words, metric), &condition), value);
        all.extend(values.map(named));
    }
    all
}
