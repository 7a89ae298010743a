//! The word explorer: find a masked word by its forms, its symbol or the symbol's meaning; see its pieces in every
//! language and those of its bridge, its contrast over training, and when it was first reached, in which runs.
//!
//! The table is packed by columns, and texts as places in a list of texts, since most repeat in many runs.

use super::pack::pack;
use crate::data::{FactorWords, Run, Study, setting_name};
use crate::draw::{Colour, escape};
use crate::wording::gloss;
use invitro_results::column;
use invitro_results::words::{MaskedWord, WordForm};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

/// Values of curves that a page carries: about a megabyte. Words past it have their last contrast alone.
const MOST_VALUES: usize = 300_000;

#[derive(Default)]
struct Texts {
    list: Vec<String>,
    places: HashMap<String, usize>,
}

impl Texts {
    fn place(&mut self, text: String) -> usize {
        if let Some(&place) = self.places.get(&text) {
            return place;
        }
        self.list.push(text.clone());
        self.places.insert(text, self.list.len() - 1);
        self.list.len() - 1
    }
}

/// The settings that tell runs apart: the key on disk, and its name on the page, `*` around what is italic.
fn settings(study: &Study) -> Vec<(String, String)> {
    let factors = study.paper_factors();
    let factors = factors.iter().map(|factor| (factor.key().to_owned(), factor.symbol()));
    let further = study.other_factors().into_iter().map(|key| (key.to_owned(), setting_name(key)));
    let seeds = [(column::DATA_SEED, "data seed"), (column::MODEL_SEED, "model seed")];
    factors.chain(further).chain(seeds.map(|(key, name)| (key.to_owned(), name.to_owned()))).collect()
}

/// The words whose curves fit on the page: every n-th symbol.
fn with_curves(study: &Study) -> BTreeSet<&str> {
    let mut values: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, word) in &study.words {
        *values.entry(&word.symbol).or_default() += word.forms.iter().map(|form| form.contrasts.len()).sum::<usize>();
    }
    let symbols: Vec<&str> = values.iter().filter(|(_, count)| **count > 0).map(|(symbol, _)| *symbol).collect();
    let stride = values.values().sum::<usize>().div_ceil(MOST_VALUES).max(1);
    symbols.into_iter().step_by(stride).collect()
}

fn round(value: Option<f64>, digits: f64) -> Json {
    value.filter(|value| value.is_finite()).map_or(Json::Null, |value| json!((value * digits).round() / digits))
}

/// The languages of all words, in the study's order: runs may have other ones.
fn languages(study: &Study) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for form in study.words.iter().flat_map(|(_, word)| &word.forms) {
        if !found.contains(&form.language.as_str()) {
            found.push(&form.language);
        }
    }
    let place = |name: &str| study.conditions().iter().position(|condition| *condition.language == *name);
    found.sort_by_key(|name| place(name).unwrap_or(usize::MAX));
    found
}

/// The table as the page's script reads it, and whether every curve is in it. Its columns are written cell by cell: as values
/// they take many times the memory of their text.
fn packed(study: &Study) -> (String, bool) {
    let (mut texts, mut steps) = (Texts::default(), Texts::default());
    let curves = with_curves(study);
    let (languages, none) = (languages(study), WordForm::default());
    let mut columns: BTreeMap<&str, String> = BTreeMap::new();
    let mut whole = true;
    for (run, word) in &study.words {
        let MaskedWord { symbol, masked_in, forms, bridge, bridge_to, bridge_pieces, cognate_bridge, .. } = word;
        // A place for every language, empty where the run lacks it.
        let form_in = |name: &&str| forms.iter().find(|form| form.language == **name).unwrap_or(&none);
        let forms: Vec<&WordForm> = languages.iter().map(form_in).collect();
        let mut each =
            |text: &dyn Fn(&WordForm) -> String| -> Json { forms.iter().map(|form| texts.place(text(form))).collect() };
        let (own, pieces) = (
            each(&|form| form.form.clone()),
            each(&|form| if form.pieces.is_empty() { form.form.clone() } else { form.pieces.join("·") }),
        );
        let (to, language) = bridge_to.clone().unwrap_or_default();
        let mut curve = |form: &WordForm| {
            let at: Vec<String> = form.contrasts.iter().map(|(step, _)| step.to_string()).collect();
            let mut values = vec![json!(steps.place(at.join(" ")))];
            values.extend(form.contrasts.iter().map(|&(_, value)| round(Some(value), 100.0)));
            values
        };
        let has_curve = forms.iter().any(|form| form.contrasts.len() > 1);
        let is_kept = has_curve && curves.contains(symbol.as_str());
        whole &= is_kept || !has_curve;
        let cells = [
            ("run", json!(run)),
            ("symbol", json!(texts.place(symbol.clone()))),
            ("gloss", json!(texts.place(gloss(symbol)))),
            ("forms", own),
            ("pieces", pieces),
            ("masked", json!(texts.place(masked_in.clone().unwrap_or_default()))),
            ("bridge", round(*bridge, 1000.0)),
            ("to", json!(texts.place(to))),
            ("language", json!(texts.place(language))),
            ("toPieces", json!(texts.place(bridge_pieces.join("·")))),
            ("cognate", round(*cognate_bridge, 1000.0)),
            ("asked", json!(word.asked.map(u8::from))),
            ("reached", json!(word.reachable_from)),
            ("contrast", forms.iter().map(|form| round(form.contrast, 1000.0)).collect()),
            ("curves", if is_kept { forms.iter().map(|form| curve(form)).collect() } else { Json::Null }),
        ];
        for (name, cell) in cells {
            let column = columns.entry(name).or_default();
            column.push(if column.is_empty() { '[' } else { ',' });
            write!(column, "{cell}").expect("writing to a string");
        }
    }
    let settings = settings(study);
    let run = |run: &Run| -> Json {
        settings
            .iter()
            .map(|(key, _)| run.columns.get(key).map_or(Json::Null, |value| json!(value.to_string())))
            .collect()
    };
    let coloured = |(place, name): (usize, &&str)| json!([name, Colour::Language(place).name()]);
    let languages: Vec<Json> = languages.iter().enumerate().map(coloured).collect();
    let rest = json!({
        "settings": settings.iter().map(|(_, name)| name).collect::<Vec<_>>(),
        "seed": settings.iter().position(|(key, _)| key == column::DATA_SEED),
        "runs": study.runs.iter().map(run).collect::<Vec<_>>(),
        "texts": texts.list,
        "steps": steps.list,
    });
    let mut data = format!("{{\"languages\":{},\"rows\":{{", json!(languages));
    for (place, (name, cells)) in columns.into_iter().enumerate() {
        let comma = if place > 0 { "," } else { "" };
        write!(data, "{comma}\"{name}\":{cells}]").expect("writing to a string");
    }
    data.push_str("},");
    data.push_str(&rest.to_string()[1..]);
    (data, whole)
}

pub fn section(study: &Study) -> String {
    let (data, whole) = packed(study);
    let mut carried = String::new();
    if study.words.len() < study.words_in_all {
        carried = format!(
            " This page carries an even sample of {} of the {} rows (word × run); all are in <code>words.parquet</code>.",
            study.words.len(),
            study.words_in_all
        );
    }
    if !whole {
        carried.push_str(" The curves of some words do not fit on this page: those have their last contrast alone, and <code>words.parquet</code> has the curves.");
    }
    let example = study.words.first().and_then(|(_, word)| word.forms.last()).map_or("", |form| &form.form);
    format!(
        "<section id=\"words\"><h2>Words</h2>\n<details><summary>Find a masked word, its pieces and what became of it</summary>\n<p>Pick a masked word: its forms and their pieces, its bridge and the pieces they share, its cognate, \
         its contrast in each language over training, and the first step at which it was reached for any subject. Evaluation asks for a \
         sample of the words: one that was not seen to be reached may not have been asked for.{carried}</p>\n\
         <div class=\"choosers\" id=\"word-choosers\"><span class=\"chooser\"><label for=\"find-word\">Find by form, symbol or meaning</label> \
         <input type=\"search\" id=\"find-word\" placeholder=\"{}\" autocomplete=\"off\"></span></div>\n\
         <div id=\"word-list\" class=\"words\" role=\"group\" aria-label=\"Words found\"></div>\n<div id=\"word\"></div>\n{}</details></section>\n",
        escape(example),
        pack("id=\"word-data\"", &data)
    )
}
