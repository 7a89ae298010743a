//! The word explorer: find a masked word, see its forms, pieces, bridge and cognate, and when it was first reached in
//! which runs. Rows are packed as numbers into a table of texts, since most texts repeat in many runs.

use crate::data::{Factor, Run, Study};
use crate::draw::{Colour, escape};
use invitro_results::column;
use serde_json::{Value as Json, json};
use std::collections::HashMap;

#[derive(Default)]
struct Texts<'a> {
    list: Vec<&'a str>,
    places: HashMap<&'a str, usize>,
}

impl<'a> Texts<'a> {
    fn place(&mut self, text: &'a str) -> usize {
        *self.places.entry(text).or_insert_with(|| {
            self.list.push(text);
            self.list.len() - 1
        })
    }
}

pub fn section(study: &Study) -> String {
    let joined: Vec<Vec<String>> =
        study.words.iter().map(|(_, word)| word.forms.iter().map(|form| form.pieces.join("·")).collect()).collect();
    let mut texts = Texts::default();
    let mut rows = Vec::with_capacity(study.words.len());
    let round = |value: Option<f64>| value.map_or(Json::Null, |value| json!((value * 1000.0).round() / 1000.0));
    for ((run, word), joined) in study.words.iter().zip(&joined) {
        let forms: Vec<usize> = word.forms.iter().map(|form| texts.place(&form.form)).collect();
        let pieces: Vec<usize> = joined.iter().map(|pieces| texts.place(pieces)).collect();
        let (bridge, language) = word.bridge_to.as_ref().map_or(("", ""), |(form, language)| (form, language));
        rows.push(json!([
            run,
            texts.place(&word.symbol),
            forms,
            pieces,
            round(word.bridge),
            texts.place(bridge),
            texts.place(language),
            round(word.cognate_bridge),
            word.reachable_from,
        ]));
    }
    let run = |run: &Run| {
        let [vocab, regime, lambda, distance] = Factor::ALL.map(|factor| study.level(run, factor));
        let [data, model] = [column::DATA_SEED, column::MODEL_SEED].map(|seed| run.number(seed));
        json!([vocab, regime, lambda, distance, data, model])
    };
    let forms = study.words.first().map_or(&[][..], |(_, word)| &word.forms);
    let languages: Vec<Json> =
        forms.iter().enumerate().map(|(place, form)| json!([form.language, Colour::Language(place).name()])).collect();
    let runs: Vec<Json> = study.runs.iter().map(run).collect();
    let data = json!({ "languages": languages, "texts": texts.list, "runs": runs, "rows": rows });
    // Nothing inside a text is to be read as the end of the script or the start of a comment.
    let data = data.to_string().replace('<', "\\u003c").replace('>', "\\u003e");
    let sampled = if study.words.len() < study.words_in_all {
        format!(
            " This page carries an even sample of {} of the {} rows (word × run); all are in <code>words.parquet</code>.",
            study.words.len(),
            study.words_in_all
        )
    } else {
        String::new()
    };
    format!(
        "<section id=\"words\"><h2>Words</h2>\n<p>Pick a masked word: its forms, pieces, its bridge, its cognate, and the first step at which it was reached for any subject. Evaluation asks for a sample of the words: one that was not \
         seen to be reached may not have been asked for.{sampled}</p>\n\
         <p><label>Find a word <input type=\"search\" id=\"find-word\" placeholder=\"{}\" autocomplete=\"off\"></label></p>\n\
         <div id=\"word-list\" class=\"words\"></div>\n<div id=\"word\"></div>\n\
         <script type=\"application/json\" id=\"word-data\">{data}</script></section>\n",
        escape(forms.last().map_or("", |form| &form.form))
    )
}
