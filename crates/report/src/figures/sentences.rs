//! The table of paired sentences: the same symbolic sentence in two languages, pieces coloured by who uses them.
//!
//! A piece that stands on both sides of its row is shared. Without paired sentences in the folder the masked words and
//! their cognates are shown instead, which the word table always has. The first language is beside any of the others.

use super::figure::{Chooser, Drawing, Figure, Variant, choices};
use super::table::Table;
use crate::data::Study;
use crate::draw::{Target, Width};
use crate::sentences::{Pair, PairedSentences};
use invitro_results::words::{self, Word};

const MOST: usize = 16;

/// A sentence or a word: its language, and the pieces of each of its words.
type Side = (String, Vec<Vec<String>>);

/// The rows of the table, each in every language.
fn rows(study: &Study) -> Vec<Vec<Side>> {
    if !study.pairs.is_empty() {
        let row = |pair: &words::Pair| pair.iter().map(|(name, words)| (name.clone(), words.clone())).collect();
        return study.pairs.iter().take(MOST).map(row).collect();
    }
    let one = study.words.first().map_or(0, |(run, _)| *run);
    let row = |word: &Word| -> Vec<Side> {
        let forms = word.forms.iter().filter(|form| !form.pieces.is_empty());
        forms.map(|form| (form.language.clone(), vec![form.pieces.clone()])).collect()
    };
    let words: Vec<_> = study.words.iter().filter(|(run, _)| *run == one).map(|(_, word)| row(word)).collect();
    // Longest shared first would flatter; evenly spaced words are what the tokenizer does.
    let stride = words.len().div_ceil(MOST).max(1);
    words.into_iter().step_by(stride).collect()
}

pub fn figure(study: &Study) -> Figure {
    let rows = rows(study);
    let languages: Vec<String> = rows.first().iter().flat_map(|row| row.iter().map(|(name, _)| name.clone())).collect();
    let first = languages.first().cloned().unwrap_or_default();
    let others = languages.get(1..).unwrap_or_default();
    let choosers = vec![Chooser::new("with", "beside", others.iter().cloned())];
    let mut table = Table::new(["with", "first", "second"]);
    let variant = |choice: super::figure::Choice| {
        let second = others.get(choice.options[0]).cloned().unwrap_or_default();
        let side = |row: &[Side], name: &str| row.iter().find(|(own, _)| own == name).map(|(_, words)| words.clone());
        let pair = |row: &Vec<Side>| Some(Pair::new([side(row, &first)?, side(row, &second)?]));
        let pairs: Vec<Pair> = rows.iter().filter_map(pair).collect();
        for row in &pairs {
            table.row(std::iter::once(second.clone()).chain(row.text()));
        }
        let drawing = Box::new(PairedSentences { names: [first.clone(), second], pairs });
        Variant { choice: choice.options, runs: "One tokenizer".into(), drawing }
    };
    let variants = choices(&choosers).into_iter().map(variant).collect();
    let words = study.pairs.is_empty();
    Figure {
        name: "sentences",
        title: format!("Paired {}", if words { "masked words and their cognates" } else { "sentences" }),
        caption: format!(
            "The same {} in two languages under one tokenizer. Pieces on both sides of a row are shared; the others are used by \
             one of the two only.",
            if words { "masked symbols" } else { "symbolic sentences" },
        ),
        choosers,
        variants,
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
