//! The word explorer: find a masked word, see its forms, pieces, bridge and cognate, and when it was first reached in
//! which runs. Rows are packed as numbers into a table of texts, since most texts repeat in many runs.

use crate::data::{Factor, Study};
use crate::draw::escape;
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
    let pieces: Vec<[String; 2]> =
        study.words.iter().map(|word| [word.pieces[0].join("·"), word.pieces[1].join("·")]).collect();
    let mut texts = Texts::default();
    let mut rows = Vec::with_capacity(study.words.len());
    let round = |value: Option<f64>| value.map_or(Json::Null, |value| json!((value * 1000.0).round() / 1000.0));
    for (word, pieces) in study.words.iter().zip(&pieces) {
        rows.push(json!([
            word.run,
            texts.place(&word.symbol),
            texts.place(&word.forms[0]),
            texts.place(&word.forms[1]),
            texts.place(&pieces[0]),
            texts.place(&pieces[1]),
            round(word.bridge),
            texts.place(&word.bridge_form),
            texts.place(&word.bridge_language),
            round(word.cognate_bridge),
            word.reachable_from,
        ]));
    }
    let run = |run: &crate::data::Run| {
        let level = |factor: Factor| run.levels[factor as usize].map_or("", |place| &study.levels(factor)[place].label);
        let seed = |column: &str| run.number(column).map_or(Json::Null, |seed| json!(seed));
        json!([
            level(Factor::Vocab),
            level(Factor::Regime),
            level(Factor::Lambda),
            level(Factor::Distance),
            seed("seeds.data"),
            seed("seeds.model")
        ])
    };
    let data = json!({ "texts": texts.list, "runs": study.runs.iter().map(run).collect::<Vec<_>>(), "rows": rows });
    // A closing tag inside a text must not end the script.
    let data = data.to_string().replace("</", "<\\/");
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
        "<section id=\"words\"><h2>Words</h2>\n<p>Pick a masked word: its forms, pieces, the bridge that holds it, its cognate in A, and \
         the first step at which it was reached for any subject. Evaluation asks for a sample of the words: one that was not \
         seen to be reached may not have been asked for.{sampled}</p>\n\
         <p><label>Find a word <input type=\"search\" id=\"find-word\" placeholder=\"{}\" autocomplete=\"off\"></label></p>\n\
         <div id=\"word-list\" class=\"words\"></div>\n<div id=\"word\"></div>\n\
         <script type=\"application/json\" id=\"word-data\">{data}</script></section>\n",
        escape(study.words.first().map_or("", |word| &word.forms[1]))
    )
}
