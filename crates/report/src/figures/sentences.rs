//! The table of paired sentences: the same symbolic sentence in two languages, pieces coloured by who uses them.
//!
//! A piece that stands on both sides of its row is shared. Without paired sentences in the folder the masked words and
//! their cognates are shown instead, which the word table always has.

use super::figure::{Drawing, Figure, Variant};
use super::table::Table;
use crate::data::Study;
use crate::draw::{Target, Width};
use crate::sentences::{Pair, PairedSentences};
use invitro_results::words::{self, Word};

const MOST: usize = 16;

pub fn figure(study: &Study) -> Figure {
    let (rows, what): (Vec<Pair>, &str) = if study.pairs.is_empty() {
        // Longest shared first would flatter; evenly spaced words are what the tokenizer does.
        let one = study.words.first().map_or(0, |(run, _)| *run);
        let row = |(run, word): &(usize, Word)| {
            let [a, b] = word.forms.get(..2)? else { return None };
            let whole = *run == one && !a.pieces.is_empty() && !b.pieces.is_empty();
            whole.then(|| Pair::new([vec![a.pieces.clone()], vec![b.pieces.clone()]]))
        };
        let words: Vec<_> = study.words.iter().filter_map(row).collect();
        let stride = words.len().div_ceil(MOST).max(1);
        (words.into_iter().step_by(stride).collect(), "masked words and their cognates")
    } else {
        let row = |pair: &words::Pair| {
            let sides: Vec<_> = pair.values().take(2).cloned().collect();
            sides.try_into().ok().map(Pair::new)
        };
        (study.pairs.iter().take(MOST).filter_map(row).collect(), "sentences")
    };
    // The first two languages: a page has two sides.
    let named = study.pairs.first().map(|pair| pair.keys().cloned().collect::<Vec<_>>());
    let names = named.or_else(|| Some(study.words.first()?.1.forms.iter().map(|form| form.language.clone()).collect()));
    let mut names = names.unwrap_or_default();
    names.resize(2, String::new());
    let names = [names[0].clone(), names[1].clone()];
    let mut table = Table::new(names.iter().map(String::as_str));
    for row in &rows {
        table.row(row.text());
    }
    Figure {
        name: "sentences",
        title: format!("Paired {what}"),
        caption: format!(
            "The same {} in {1} (left) and in {2} (right) under one tokenizer. Pieces on both sides of a row are shared; the others are \
             used by {1} only or by {2} only.",
            if study.pairs.is_empty() { "masked symbols" } else { "symbolic sentences" },
            names[0],
            names[1]
        ),
        choosers: Vec::new(),
        variants: vec![Variant {
            choice: Vec::new(),
            runs: "One tokenizer".into(),
            drawing: Box::new(PairedSentences { names, pairs: rows }),
        }],
        table,
    }
}

impl Drawing for PairedSentences {
    fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    fn render(&self, width: Width, target: Target, description: &str) -> String {
        self.svg(width, target, description)
    }
}
