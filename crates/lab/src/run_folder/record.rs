//! What a run folder tells of the run's inputs: the languages, the tokenizer, paired sentences, the masked words; and
//! the run as one row.

use crate::error::{At, Result};
use crate::experiment::Experiment;
use crate::inputs::RunInputs;
use crate::inputs::tokenized::TokenizedText;
use invitro_language::{Frequencies, Language, Languages, Process, Stream, Symbol};
use invitro_results::folder::{
    CONTRASTS, FAMILY, LANGUAGE, PAIRS, SEGMENTATION, SUMMARY, WORDS, read_json_lines, write_file, write_json,
};
use invitro_results::words::{self, Contrasts, MaskedWord, SentencePair, Traits, WordForm};
use invitro_results::{
    Bridge, Condition, FamilyTree, LanguageMetric, Measure, Quantity, Row, Seal, Similarity, Status, TokenizerMetric,
    Words, column, summary,
};
use invitro_tokenizer::measure::bridge::{self, Bridges};
use invitro_tokenizer::measure::{self, Measures};
use invitro_tokenizer::{MEASURED_SENTENCES, WordCounts};
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Sentences that `pairs.jsonl` shows in all languages.
const PAIRED: u64 = 24;

/// Writes the languages, the tokenizer and the paired sentences where they are not there as they should be. The seals of
/// all of them, by name.
pub fn write_inputs(folder: &Path, experiment: &Experiment, inputs: &RunInputs) -> Result<BTreeMap<String, Seal>> {
    let RunInputs { languages, text, .. } = inputs;
    let place = folder.join(LANGUAGE);
    std::fs::create_dir_all(&place).writing(&place)?;
    let in_language = |name: &str| format!("{LANGUAGE}/{name}");
    let mut files = vec![(in_language("lexicon.tsv"), languages.lexicon_tsv()), (PAIRS.to_owned(), paired(inputs))];
    files.extend(languages.grammar_files().into_iter().map(|(name, text)| (in_language(&name), text.to_owned())));
    files.extend(languages.law_files().into_iter().map(|(name, text)| (in_language(&name), text)));
    let family = FamilyTree::of(languages, &experiment.mixture);
    files.extend((!family.is_pair).then(|| (FAMILY.to_owned(), family.json())));
    files.extend(text.tokenizer.files()?.map(|(name, text)| (name.to_owned(), text)));
    files.extend(
        experiment.tokenizer.intervenes().then(|| (SEGMENTATION.to_owned(), text.segmentation.table(languages))),
    );
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
        let first = languages.all()[0];
        let sentence = sampler.sentence(first, &mut stream.at(0, row));
        let side = |&language: &Language| {
            let symbols = languages.reordered(&sentence, first, language);
            let words = symbols.iter().map(|&symbol| pieces(text, symbol, language)).collect();
            (language.name().to_owned(), words)
        };
        let pair: SentencePair = languages.all().iter().map(side).collect();
        lines.push_str(&(json!(pair).to_string() + "\n"));
    }
    lines
}

/// The pieces of a word as text, without a boundary that is a token of its own.
fn pieces(text: &TokenizedText, symbol: Symbol, language: Language) -> Vec<String> {
    let token = |&id: &u32| text.segmentation.token(id).to_owned();
    text.segmentation.core(symbol, language).iter().map(token).collect()
}

/// `words.parquet`: the masked words, what they are like, their pieces and bridges, whether some subject was asked for
/// each, when it was first reached and whether it is at the end, and what was known of it over training.
pub fn write_words(
    folder: &Path,
    experiment: &Experiment,
    inputs: &RunInputs,
    may_write: impl Fn() -> Result<()>,
) -> Result<()> {
    let RunInputs { languages, text, probes } = inputs;
    let reachable_words = probes.reachable_words();
    let known: Vec<Contrasts> = read_json_lines(&folder.join(CONTRASTS))?;
    // The steps at which each masked word is reachable; unknown where an older version wrote some of the lines.
    let has_words = known.iter().all(|line| line.reachable.is_some());
    let mut reachable: HashMap<(&str, u32), Vec<u64>> = HashMap::new();
    for line in known.iter().filter(|_| has_words) {
        for (language, words) in line.reachable.iter().flatten() {
            words.iter().for_each(|&word| reachable.entry((language, word)).or_default().push(line.step));
        }
    }
    let reachable =
        |symbol: Symbol, masked: Language| reachable.get(&(masked.name(), symbol.0)).map_or(&[][..], Vec::as_slice);
    let last = known.last().filter(|_| has_words).map(|line| line.step);
    let place: HashMap<(Language, Symbol), usize> =
        probes.contrast_words().enumerate().map(|(at, word)| (word, at)).collect();
    let contrasts = |word: (Language, Symbol), language: Language| {
        let Some(&at) = place.get(&word) else { return Vec::new() };
        let value = |line: &Contrasts| Some((line.step as u32, *line.nats.get(language.name())?.get(at)?));
        known.iter().filter_map(value).collect()
    };
    let alignments = |word: (Language, Symbol)| {
        let first_of_language = probes.contrast_words().position(|(language, _)| language == word.0);
        let Some((&at, first)) = place.get(&word).zip(first_of_language) else { return Vec::new() };
        let value = |line: &Contrasts| Some((line.step as u32, *line.alignment.get(word.0.name())?.get(at - first)?));
        known.iter().filter_map(value).filter(|(_, value)| value.is_finite()).collect()
    };
    let logprob = |symbol: Symbol, masked: Language| {
        known.last().and_then(|line| line.logprob.get(masked.name())?.get(&symbol.0).copied())
    };
    let first = languages.all()[0];
    let frequencies = Frequencies::new(languages, first);
    let traits = |masked: Language, symbol: Symbol| {
        let seen_in_first = !languages.mask(first).contains(symbol);
        Traits {
            pairs: Some(u32::from(place.contains_key(&(masked, symbol)))),
            distance: (masked != first).then(|| languages.lexicon.distance(symbol, first, masked)),
            letters: Some(languages.form(symbol, masked).chars().count() as u32),
            pieces: Some(text.segmentation.core(symbol, masked).len() as u32),
            frequency: frequencies.per_sentence(symbol).filter(|_| seen_in_first),
            rank: probes.rank((masked, symbol)),
        }
    };
    let word = |masked: Language, bridge: &bridge::Bridge| {
        let symbol = bridge.symbol;
        let form = |&language: &Language| {
            let contrasts: Vec<(u32, f64)> = contrasts((masked, symbol), language);
            WordForm {
                language: language.name().to_owned(),
                form: languages.form(symbol, language).to_owned(),
                pieces: pieces(text, symbol, language),
                contrast: contrasts.last().map(|&(_, nats)| nats),
                contrasts,
            }
        };
        let to = bridge.candidate.as_ref();
        let (is_asked, reachable_at) = (reachable_words.contains(&(symbol, masked)), reachable(symbol, masked));
        MaskedWord {
            symbol: languages.world.label(symbol),
            masked_in: Some(masked.name().to_owned()),
            forms: languages.all().iter().map(form).collect(),
            bridge: Some(bridge.similarity.jaccard),
            bridge_to: to.map(|to| (languages.form(to.symbol, to.language).to_owned(), to.language.name().to_owned())),
            bridge_pieces: to.map_or(Vec::new(), |to| pieces(text, to.symbol, to.language)),
            cognate_bridge: Some(bridge.cognate().jaccard),
            asked: Some(is_asked),
            reachable_from: reachable_at.first().map(|&step| step as u32),
            reachable: last.filter(|_| is_asked).map(|last| reachable_at.last() == Some(&last)),
            logprob: logprob(symbol, masked),
            alignments: alignments((masked, symbol)),
            traits: traits(masked, symbol),
        }
    };
    let of_language = |masked: Language| {
        let bridges = Bridges::new(&text.segmentation, languages, masked);
        bridges.0.iter().map(|bridge| word(masked, bridge)).collect::<Vec<MaskedWord>>()
    };
    let all: Vec<MaskedWord> = languages.masked().flat_map(of_language).collect();
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
    json!([experiment.language, experiment.languages, experiment.mixture, experiment.tokenizer, experiment.seeds.data])
        .to_string()
}

/// Measures of the languages and the tokenizer.
pub fn measures(experiment: &Experiment, languages: &Languages, text: &TokenizedText) -> Result<Vec<(Quantity, f64)>> {
    let mut all = vec![(Quantity::overall(Measure::Language(LanguageMetric::Vocab)), text.vocab() as f64)];
    let distances = languages.lexicon.distances();
    for pair in Language::pairs(languages.all()) {
        let [one, other] = pair;
        let measured = [
            (LanguageMetric::StemDistance, distances.stems(one, other).relative),
            (LanguageMetric::WordDistance, distances.words(one, other).relative),
        ];
        for (metric, value) in measured {
            all.extend(between(languages, Measure::Language(metric), pair).map(|quantity| (quantity, value)));
        }
    }
    let node = |language: Language| languages.family.position(language);
    for pair in Language::pairs(languages.all()) {
        // Runs without sound laws have the measures that they had before there were any.
        if pair.iter().all(|&language| languages.lexicon.laws(node(language)).is_none()) {
            continue;
        }
        let [one, other] = pair.map(node);
        let regularity = languages.lexicon.regularity(&languages.world, one, other);
        let measured = [
            (LanguageMetric::LetterEntropy, regularity.entropy),
            (LanguageMetric::RegularSites, regularity.regular_sites),
        ];
        for (metric, value) in measured {
            all.extend(between(languages, Measure::Language(metric), pair).map(|quantity| (quantity, value)));
        }
    }
    let process = Process::new(languages);
    for &language in &languages.all()[1..] {
        let measure = Measure::Language(LanguageMetric::LambdaLeft);
        let left = process.size_left(language, &experiment.mixture);
        all.extend(of_one(languages, measure, language).map(|quantity| (quantity, left)));
    }
    let counts = WordCounts::text(languages, MEASURED_SENTENCES)?;
    let Measures { text: running, lexicon } = Measures::new(&text.segmentation, languages, &counts);
    for (words, panel) in [(Words::Text, &running), (Words::Lexicon, &lexicon)] {
        all.extend(tokenizer_measures(languages, words, panel));
    }
    for language in languages.masked() {
        let bridges = Bridges::new(&text.segmentation, languages, language);
        all.extend(bridge_measures(languages, language, &bridges));
    }
    Ok(all)
}

/// A measure of a pair of languages: by their names, and without them where it is the only pair. The pair that needs no
/// list has no need of names either.
fn between(languages: &Languages, measure: Measure, [one, other]: [Language; 2]) -> impl Iterator<Item = Quantity> {
    let named = languages.family.is_listed().then(|| Quantity::between(measure, one.name(), other.name()));
    only_pair(languages, measure).chain(named)
}

/// A measure of the second language of a pair, or of any of a family, in the same way.
fn of_one(languages: &Languages, measure: Measure, language: Language) -> impl Iterator<Item = Quantity> {
    let condition = Condition::new(language.name(), false);
    let named = languages.family.is_listed().then(|| Quantity::in_condition(measure, &condition));
    only_pair(languages, measure).chain(named)
}

fn only_pair(languages: &Languages, measure: Measure) -> impl Iterator<Item = Quantity> + use<> {
    (languages.all().len() == 2).then(|| Quantity::overall(measure)).into_iter()
}

/// The bridges of a masked language: with all words, with those of each other language, with its own forms there.
fn bridge_measures(languages: &Languages, language: Language, bridges: &Bridges) -> Vec<(Quantity, f64)> {
    let kinds = |bridge: Bridge, mean: bridge::Similarity, quantity: &dyn Fn(Measure) -> Quantity| {
        let kinds = [
            (Similarity::Jaccard, mean.jaccard),
            (Similarity::Dice, mean.dice),
            (Similarity::Containment, mean.containment),
        ];
        kinds.map(|(kind, value)| (quantity(Measure::Bridge(bridge, kind)), value))
    };
    let own = |measure| match languages.masked().count() {
        1 => Quantity::overall(measure),
        _ => Quantity::in_condition(measure, &Condition::new(language.name(), true)),
    };
    let mut all = Vec::new();
    all.extend(kinds(Bridge::General, bridges.mean(), &own));
    all.extend(kinds(Bridge::Cognate, bridges.mean_cognate(), &own));
    if languages.family.is_listed() {
        for &other in languages.all().iter().filter(|&&other| other != language) {
            let with = |measure| Quantity::between(measure, language.name(), other.name());
            all.extend(kinds(Bridge::General, bridges.mean_with(other), &with));
            all.extend(kinds(Bridge::Cognate, bridges.mean_cognate_with(other), &with));
        }
    }
    all
}

fn tokenizer_measures(languages: &Languages, words: Words, panel: &measure::LanguageMeasures) -> Vec<(Quantity, f64)> {
    use TokenizerMetric::{
        BoundaryPrecision, BoundaryRecall, Continuation, Fertility, OnePiece, Overlap, Parity, Renyi, Utilisation,
    };
    let overall = |metric, value| (Quantity::overall(Measure::Tokenizer(words, metric)), value);
    let both = &panel.both;
    let mut all = Vec::new();
    for (metric, measured) in [(Overlap, &panel.overlap), (Parity, &panel.parity)] {
        let measure = Measure::Tokenizer(words, metric);
        for &(pair, value) in &measured.0 {
            all.extend(between(languages, measure, pair).map(|quantity| (quantity, value)));
        }
    }
    all.extend([
        overall(Renyi, both.renyi),
        overall(Utilisation, both.utilisation),
        overall(BoundaryPrecision, both.boundary_precision),
        overall(BoundaryRecall, both.boundary_recall),
    ]);
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
        let named = |(metric, value)| (Quantity::in_condition(Measure::Tokenizer(words, metric), &condition), value);
        all.extend(values.map(named));
    }
    all
}
