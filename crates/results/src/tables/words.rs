//! The masked words of a run (`words.parquet`), and the lines of `pairs.jsonl`, `samples.jsonl` and `contrasts.jsonl`.

use crate::Condition;
use crate::error::{At, Result};
use crate::table::{self, Column, ColumnBatch, TableReader};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A masked word: a symbol that is masked in two languages is two of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MaskedWord {
    /// The symbol's name in the world.
    pub symbol: String,
    /// The language it is masked in; unknown in older tables, where one language alone has a mask.
    pub masked_in: Option<String>,
    /// Its form and its pieces in every language, in the languages' order.
    pub forms: Vec<WordForm>,
    /// The overlap of its pieces with the unmasked word that shares most.
    pub bridge: Option<f64>,
    /// That word, and its language.
    pub bridge_to: Option<(String, String)>,
    /// The pieces of that word.
    pub bridge_pieces: Vec<String>,
    /// The overlap with its own form in another language: the largest of those it is not masked in.
    pub cognate_bridge: Option<f64>,
    /// Whether some subject was asked for it, in the language it is masked in.
    pub asked: Option<bool>,
    /// The first step at which it was reachable for a subject that Γ allows it.
    pub reachable_from: Option<u32>,
    /// Whether it is so at the end of training; unknown where no subject was asked for it, and in older tables.
    pub reachable: Option<bool>,
    /// Its log-probability at the end of training, mean over the subjects that Γ allows it; with `eval.rank`.
    pub logprob: Option<f64>,
    /// Its alignment with its translation, by step: see [`Contrasts::alignment`].
    pub alignments: Vec<(u32, f64)>,
    /// What it is like, in the language it is masked in.
    pub traits: Traits,
}

/// Traits of a masked word, apart from its bridges. Older tables lack them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Traits {
    /// The pairs of subjects that its contrast was asked of; 0 where it was not.
    pub pairs: Option<u32>,
    /// The distance of its form from that of the first language, from 0 to 1; unknown where that is the language it is
    /// masked in.
    pub distance: Option<f64>,
    /// Its letters.
    pub letters: Option<u32>,
    /// Its pieces.
    pub pieces: Option<u32>,
    /// Its expected occurrences in a sentence of the first language; unknown where it is masked there.
    pub frequency: Option<f64>,
    /// The size of the vocabulary at which it becomes a single piece, less one: with fewer pieces it is cut. Unknown without
    /// `eval.rank`, and where it is cut with 2 |V| pieces too.
    pub rank: Option<u32>,
}

/// A word in one language.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WordForm {
    /// The language's name.
    pub language: String,
    /// The word.
    pub form: String,
    /// Its pieces.
    pub pieces: Vec<String>,
    /// Its contrast of facts at the end of training, in nats: what a model of this language knows of it. None where it was
    /// not asked.
    pub contrast: Option<f64>,
    /// The same by step. A compact table has it of few words.
    pub contrasts: Vec<(u32, f64)>,
}

const FORM: &str = "form_";
const PIECES: &str = "pieces_";
const CONTRAST: &str = "contrast_";
const CONTRASTS: &str = "contrasts_";
const OF_FORM: [&str; 4] = [FORM, PIECES, CONTRAST, CONTRASTS];
/// What takes most room in a row, by how the columns' names begin.
const LONG: [&str; 4] = [PIECES, CONTRASTS, "bridge_", ALIGNMENTS];
const FIXED: [&str; 19] = [
    "run",
    "symbol",
    "bridge",
    "bridge_form",
    "bridge_language",
    "bridge_pieces",
    "cognate_bridge",
    "asked",
    "reachable_from",
    "masked_in",
    "pairs",
    "distance",
    "letters",
    "pieces",
    "frequency",
    "reachable",
    ALIGNMENTS,
    RANK,
    LOGPROB,
];
const RANK: &str = "rank";
const LOGPROB: &str = "logprob";
const ALIGNMENT: &str = "alignment";
/// The same over training.
const ALIGNMENTS: &str = "alignments";

/// A curve as one text: `0:0.01 500:0.32`.
fn curve_text(curve: &[(u32, f64)]) -> Option<String> {
    let point = |(step, value): &(u32, f64)| format!("{step}:{value}");
    (!curve.is_empty()).then(|| curve.iter().map(point).collect::<Vec<_>>().join(" "))
}

fn curve(text: &str) -> Vec<(u32, f64)> {
    let point = |point: &str| {
        let (step, value) = point.split_once(':')?;
        Some((step.parse().ok()?, value.parse().ok()?))
    };
    text.split_whitespace().filter_map(point).collect()
}

/// Writes the masked words of a run.
pub fn write(path: &Path, run: &str, words: &[MaskedWord]) -> Result<()> {
    let text = |of: &dyn Fn(&MaskedWord) -> Option<String>| Column::Text(words.iter().map(of).collect());
    let number = |of: fn(&MaskedWord) -> Option<f64>| Column::Number(words.iter().map(of).collect());
    let whole = |of: fn(&MaskedWord) -> Option<i64>| Column::Whole(words.iter().map(of).collect());
    let [run_column, symbol, bridge, bridge_form, bridge_language, bridge_pieces, cognate, asked, first, rest @ ..] =
        FIXED;
    let [masked_in, pairs, distance, letters, pieces, frequency, reachable, alignments, rank, logprob] = rest;
    let mut columns: Vec<(String, Column)> = vec![
        (run_column.into(), text(&|_| Some(run.to_owned()))),
        (symbol.into(), text(&|word| Some(word.symbol.clone()))),
        (masked_in.into(), text(&|word| word.masked_in.clone())),
    ];
    let languages =
        || words.first().into_iter().flat_map(|word| word.forms.iter().map(|form| &form.language)).enumerate();
    for (at, language) in languages() {
        columns.push((format!("{FORM}{language}"), text(&|word| Some(word.forms[at].form.clone()))));
    }
    for (at, language) in languages() {
        columns.push((format!("{PIECES}{language}"), text(&|word| Some(word.forms[at].pieces.join(" ")))));
    }
    for (at, language) in languages() {
        let ends = words.iter().map(|word| word.forms[at].contrast).collect();
        columns.push((format!("{CONTRAST}{language}"), Column::Number(ends)));
        columns.push((format!("{CONTRASTS}{language}"), text(&|word| curve_text(&word.forms[at].contrasts))));
    }
    columns.extend([
        (bridge.into(), number(|word| word.bridge)),
        (bridge_form.into(), text(&|word| word.bridge_to.as_ref().map(|to| to.0.clone()))),
        (bridge_language.into(), text(&|word| word.bridge_to.as_ref().map(|to| to.1.clone()))),
        (bridge_pieces.into(), text(&|word| word.bridge_to.as_ref().map(|_| word.bridge_pieces.join(" ")))),
        (cognate.into(), number(|word| word.cognate_bridge)),
        (asked.into(), whole(|word| word.asked.map(i64::from))),
        (first.into(), whole(|word| word.reachable_from.map(i64::from))),
        (reachable.into(), whole(|word| word.reachable.map(i64::from))),
        (pairs.into(), whole(|word| word.traits.pairs.map(i64::from))),
        (distance.into(), number(|word| word.traits.distance)),
        (letters.into(), whole(|word| word.traits.letters.map(i64::from))),
        (pieces.into(), whole(|word| word.traits.pieces.map(i64::from))),
        (frequency.into(), number(|word| word.traits.frequency)),
    ]);
    if words.iter().any(|word| !word.alignments.is_empty()) {
        columns.push((ALIGNMENT.into(), number(|word| word.alignments.last().map(|&(_, value)| value))));
        columns.push((alignments.into(), text(&|word| curve_text(&word.alignments))));
    }
    if words.iter().any(|word| word.traits.rank.is_some() || word.logprob.is_some()) {
        columns.push((rank.into(), whole(|word| word.traits.rank.map(i64::from))));
        columns.push((logprob.into(), number(|word| word.logprob)));
    }
    table::write(path, &columns)
}

/// Joins the words of several runs. They may be of other languages, or of a version that wrote fewer columns: what one of
/// them does not have is null.
pub fn join(parts: &[PathBuf], whole: &Path) -> Result<()> {
    let (union, all_alike) = table::union(parts)?;
    if all_alike {
        return table::join(parts, whole);
    }
    table::write_with(whole, |out| {
        let mut writer = table::TableWriter::new(out, &union).writing(whole)?;
        for part in parts {
            let rows = TableReader::open(part)?.rows()?;
            let columns = union.iter().map(|(name, like)| (name, like.of_rows(name, &rows)));
            writer.group(&columns.collect::<Vec<_>>()).writing(part)?;
        }
        writer.seal();
        writer.finish().writing(whole)
    })
}

/// The number of words in a file, without reading them.
pub fn count(path: &Path) -> Result<usize> {
    Ok(TableReader::open(path)?.len())
}

/// The kinds of words, in the order in which a compact table keeps them, by the column that counts: those whose contrast was
/// taken, those that a subject was asked for; all others are a third kind.
const KINDS: [&str; 2] = ["pairs", "asked"];

/// The columns that identify a word.
const IDENTITY: [&str; 2] = ["symbol", "masked_in"];

/// A word's kind, and a hash of the word, which is the same in every run.
type Ranked = (usize, u32);

fn ranked<'a>(
    mut counts: impl Iterator<Item = Option<f64>>,
    identity: impl Iterator<Item = Option<&'a str>>,
) -> Ranked {
    let mut hasher = blake3::Hasher::new();
    for name in identity {
        hasher.update(name.unwrap_or_default().as_bytes());
        hasher.update(&[0]);
    }
    let bytes = hasher.finalize().as_bytes()[..4].try_into().expect("a hash has 32 bytes");
    let kind = counts.position(|count| count.is_some_and(|count| count > 0.0)).unwrap_or(KINDS.len());
    (kind, u32::from_le_bytes(bytes))
}

/// The kind and hash of a row of `words.parquet`.
pub(crate) fn ranked_row(row: &table::Columns) -> Ranked {
    let values = |names: [&'static str; 2]| names.into_iter().map(|name| row.get(name));
    let counts = values(KINDS).map(|value| value.and_then(serde_json::Value::as_f64));
    ranked(counts, values(IDENTITY).map(|value| value.and_then(serde_json::Value::as_str)))
}

/// The kinds and hashes of all words of a file.
pub(crate) fn ranked_all(path: &Path) -> Result<Vec<Ranked>> {
    let mut all = Vec::new();
    TableReader::open(path)?.batches(&[KINDS, IDENTITY].concat(), |columns, rows| {
        let (counts, identity) = columns.split_at(KINDS.len());
        let row = |row| ranked(counts.iter().map(|column| column.number(row)), identity.iter().map(|it| it.text(row)));
        all.extend((0..rows).map(row));
    })?;
    Ok(all)
}

/// A row of `words.parquet` with less in it: contrasts to four decimals, over training to two, and of a word that is not kept
/// `whole` neither pieces nor what it was over training.
pub(crate) fn shorten(row: &mut table::Columns, whole: bool) {
    for (name, value) in row.iter_mut() {
        if name.starts_with(CONTRAST) || [ALIGNMENT, LOGPROB].contains(&name.as_str()) {
            table::shorten_value(value);
        } else if !whole && LONG.iter().any(|long| name.starts_with(long)) {
            *value = serde_json::Value::Null;
        } else if (name.starts_with(CONTRASTS) || name == ALIGNMENTS)
            && let Some(text) = value.as_str()
        {
            let points = curve(text).into_iter().map(|(step, value)| (step, (value * 100.0).round() / 100.0));
            *value = curve_text(&points.collect::<Vec<_>>()).into();
        }
    }
}

/// Hands over every `stride`-th word of each run, with the run's identity. Runs of one data seed mask the same words in
/// the same order, and so keep the same.
pub fn read(path: &Path, stride: usize, mut each: impl FnMut(&str, MaskedWord)) -> Result<()> {
    let table = TableReader::open(path)?;
    let names = table.names();
    let languages: Vec<&str> = names.iter().filter_map(|name| name.strip_prefix(FORM)).collect();
    let of_languages = languages.iter().flat_map(|language| OF_FORM.map(|column| format!("{column}{language}")));
    let wanted: Vec<String> = FIXED.iter().map(|name| (*name).to_owned()).chain(of_languages).collect();
    let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
    let mut seen: HashMap<String, usize> = HashMap::new();
    table.batches(&wanted, |columns, rows| {
        for row in 0..rows {
            let run = columns[0].text(row).unwrap_or_default();
            let place = match seen.get_mut(run) {
                Some(place) => place,
                None => seen.entry(run.to_owned()).or_default(),
            };
            *place += 1;
            if (*place - 1).is_multiple_of(stride.max(1)) {
                each(run, word(&languages, columns, row));
            }
        }
    })
}

/// A masked word that was scored in its language at the end of training, as numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredWord {
    /// The symbol's name in the world.
    pub symbol: Arc<str>,
    /// The language it is masked in.
    pub masked_in: Arc<str>,
    /// Its contrast of facts there at the end of training, in nats, where that was taken.
    pub contrast: Option<f64>,
    /// Whether it is reachable there at the end of training, where a subject was asked for it.
    pub reachable: Option<bool>,
    /// The overlap of its pieces with those of its own form in another language.
    pub cognate_bridge: Option<f64>,
    /// The overlap of its pieces with those of the unmasked word that shares most.
    pub bridge: Option<f64>,
    /// Its log-probability there at the end of training, where that was recorded.
    pub logprob: Option<f64>,
    /// Its alignment with its translation at the end of training, where that was measured.
    pub alignment: Option<f64>,
    /// What it is like.
    pub traits: Traits,
}

/// Hands over every word that was asked for in the language it is masked in, for its contrast or whether it is reachable, with
/// the run's identity. Tables of older versions, which do not tell what words are like, have none.
pub fn read_scored(path: &Path, mut each: impl FnMut(&str, MeasuredWord)) -> Result<()> {
    let table = TableReader::open(path)?;
    let names = table.names();
    let languages: Vec<&str> = names.iter().filter_map(|name| name.strip_prefix(CONTRAST)).collect();
    const NUMBERS: [&str; 6] = ["cognate_bridge", "pairs", "distance", "letters", "pieces", "frequency"];
    if NUMBERS.iter().any(|name| !names.iter().any(|own| own == name)) {
        return Ok(());
    }
    let contrasts: Vec<String> = languages.iter().map(|language| format!("{CONTRAST}{language}")).collect();
    let wanted = ["run", "symbol", "masked_in"].into_iter().chain(NUMBERS);
    let wanted: Vec<&str> = wanted
        .chain(["reachable", "bridge", ALIGNMENT, RANK, LOGPROB])
        .chain(contrasts.iter().map(String::as_str))
        .collect();
    // Few names in many rows.
    let mut known: HashSet<Arc<str>> = HashSet::new();
    let mut shared = |name: &str| match known.get(name) {
        Some(name) => name.clone(),
        None => {
            let name: Arc<str> = name.into();
            known.insert(name.clone());
            name
        }
    };
    table.batches(&wanted, |columns, rows| {
        let number = |column: usize, row: usize| columns[column].number(row).filter(|number| number.is_finite());
        for row in 0..rows {
            let Some(masked_in) = columns[2].text(row) else { continue };
            let place = languages.iter().position(|language| *language == masked_in);
            let contrast = place.and_then(|place| number(14 + place, row));
            let reachable = number(9, row).map(|reachable| reachable > 0.0);
            if contrast.is_none() && reachable.is_none() {
                continue;
            }
            let whole = |column: usize| number(column, row).map(|number| number as u32);
            let scored = MeasuredWord {
                symbol: shared(columns[1].text(row).unwrap_or_default()),
                masked_in: shared(masked_in),
                contrast,
                reachable,
                cognate_bridge: number(3, row),
                bridge: number(10, row),
                logprob: number(13, row),
                alignment: number(11, row),
                traits: Traits {
                    pairs: whole(4),
                    distance: number(5, row),
                    letters: whole(6),
                    pieces: whole(7),
                    frequency: number(8, row),
                    rank: whole(12),
                },
            };
            each(columns[0].text(row).unwrap_or_default(), scored);
        }
    })
}

fn word(languages: &[&str], columns: &[ColumnBatch], row: usize) -> MaskedWord {
    let text = |column: usize| columns[column].text(row).map(str::to_owned);
    let number = |column: usize| columns[column].number(row);
    let whole = |column: usize| number(column).map(|number| number as u32);
    let pieces = |column: usize| text(column).unwrap_or_default().split_whitespace().map(str::to_owned).collect();
    let form = |(at, language): (usize, &&str)| {
        let column = FIXED.len() + OF_FORM.len() * at;
        WordForm {
            language: (*language).to_owned(),
            form: text(column).unwrap_or_default(),
            pieces: pieces(column + 1),
            contrast: number(column + 2),
            contrasts: columns[column + 3].text(row).map(curve).unwrap_or_default(),
        }
    };
    MaskedWord {
        symbol: text(1).unwrap_or_default(),
        forms: languages.iter().enumerate().map(form).collect(),
        bridge: number(2),
        bridge_to: text(3).zip(text(4)),
        bridge_pieces: pieces(5),
        cognate_bridge: number(6),
        asked: number(7).map(|asked| asked > 0.0),
        reachable_from: whole(8),
        reachable: number(15).map(|reachable| reachable > 0.0),
        masked_in: text(9),
        logprob: number(18),
        alignments: text(16).as_deref().map(curve).unwrap_or_default(),
        traits: Traits {
            pairs: whole(10),
            distance: number(11),
            letters: whole(12),
            pieces: whole(13),
            frequency: number(14),
            rank: whole(17),
        },
    }
}

/// A line of `pairs.jsonl`: one sentence in every language, per word its pieces.
pub type SentencePair = BTreeMap<String, Vec<Vec<String>>>;

/// A line of `samples.jsonl`: a prompt and what a model made of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The step it was decoded after.
    pub step: u64,
    /// The condition of the prompt.
    pub condition: Condition,
    /// `T0`, `T1` or `T2`.
    pub task: String,
    /// What was given.
    pub prompt: String,
    /// What came out.
    pub output: String,
    /// The sentence that was meant.
    pub expected: String,
    /// How far it came: `facts`, `types`, `grammatical`, `valid` or `none`.
    pub holds: String,
    /// The kind of its first failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// That failure in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A line of `contrasts.jsonl`: the contrast of facts of every masked word that is asked, and which are reachable, at one
/// step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Contrasts {
    /// The step.
    pub step: u64,
    /// Per language, in nats: the words masked in the first language that has a mask, then those of the next, each in
    /// the order in which they are asked.
    pub nats: BTreeMap<String, Vec<f64>>,
    /// Per language with a mask, the numbers of its masked words that are reachable now for a subject that Γ allows them, rising;
    /// older files have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reachable: Option<BTreeMap<String, Vec<u32>>>,
    /// Per language with a mask, by the number of a masked word that is asked for: its log-probability, mean over the subjects that
    /// Γ allows it; with `eval.rank`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub logprob: BTreeMap<String, BTreeMap<u32, f64>>,
    /// Per language with a mask, for its masked words in the order in which they are asked: the cosine of a word's state with
    /// that of its translation, less the largest with another word of its class, mean over layers; with `eval.inside`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub alignment: BTreeMap<String, Vec<f64>>,
    /// The states of one property's words in two languages, on a plane; with `eval.inside`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<WordMap>,
}

/// The states of the words of one property in two languages, on the plane of their principal components.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WordMap {
    /// The layer.
    pub layer: u32,
    /// The symbols' names in the world.
    pub words: Vec<String>,
    /// Whether each is masked in the second language.
    pub masked: Vec<bool>,
    /// Per language, the place of every word.
    pub places: BTreeMap<String, Vec<[f64; 2]>>,
}
