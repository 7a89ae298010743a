//! The same symbolic sentences in all languages, pieces coloured by who uses them.
//!
//! A piece that several languages of a row have is shared. Without paired sentences in the folder the masked words
//! and their cognates are shown instead, which the word table always has. Many languages are shown some at a time, the
//! first beside each of the others.

use super::figure::{Chooser, Drawing, Figure, Variant, choices};
use super::table::FigureTable;
use crate::data::Study;
use crate::draw::{DrawTarget, Width};
use crate::sentences::{PairedSentences, SentenceRow, Side};
use crate::wording::listed;
use invitro_results::words::{self, MaskedWord};

const MOST: usize = 16;
/// Languages in one drawing, and lines of all of them.
const ABREAST: usize = 6;
const LINES: usize = 36;

/// A sentence or a word: its language, and the pieces of each of its words.
type NamedSentence = (String, Side);

/// The rows of the table, each in every language.
fn rows(study: &Study) -> Vec<Vec<NamedSentence>> {
    if !study.pairs.is_empty() {
        let row = |pair: &words::SentencePair| pair.iter().map(|(name, words)| (name.clone(), words.clone())).collect();
        return study.pairs.iter().take(MOST).map(row).collect();
    }
    let one = study.words.first().map_or(0, |(run, _)| *run);
    let row = |word: &MaskedWord| -> Vec<NamedSentence> {
        let forms = word.forms.iter().filter(|form| !form.pieces.is_empty());
        forms.map(|form| (form.language.clone(), vec![form.pieces.clone()])).collect()
    };
    let words = study.words.iter().filter(|(run, _)| *run == one).map(|(_, word)| row(word));
    // Compact tables have the pieces of some.
    let words: Vec<_> = words.filter(|row| !row.is_empty()).collect();
    // Longest shared first would flatter; evenly spaced words are what the tokenizer does.
    let stride = words.len().div_ceil(MOST).max(1);
    words.into_iter().step_by(stride).collect()
}

/// The languages of the rows in the study's order, as many at a time as are shown together.
fn groups(study: &Study, rows: &[Vec<NamedSentence>]) -> Vec<Vec<String>> {
    let mut languages: Vec<String> =
        rows.first().iter().flat_map(|row| row.iter().map(|(name, _)| name.clone())).collect();
    let place = |name: &String| study.conditions().iter().position(|condition| *condition.language == **name);
    languages.sort_by_key(|name| place(name).unwrap_or(usize::MAX));
    match languages.split_first() {
        Some((first, others)) if languages.len() > ABREAST => {
            others.chunks(ABREAST - 1).map(|some| [std::slice::from_ref(first), some].concat()).collect()
        }
        _ => vec![languages],
    }
}

pub fn figure(study: &Study) -> Figure {
    let rows = rows(study);
    let groups = groups(study, &rows);
    let two = groups.iter().all(|group| group.len() == 2);
    let options = groups.iter().filter(|_| groups.len() > 1).map(|group| listed(group));
    let choosers = vec![Chooser::new("with", "languages", options)];
    let mut table = if two {
        FigureTable::new(["with", "first", "second"])
    } else {
        FigureTable::new(["row", "language", "pieces"])
    };
    let variant = |choice: super::figure::Choice| {
        let names = groups[choice.options[0]].clone();
        let side =
            |row: &[NamedSentence], name: &str| row.iter().find(|(own, _)| own == name).map(|(_, words)| words.clone());
        let pair = |row: &Vec<NamedSentence>| {
            let sides: Vec<_> = names.iter().map(|name| side(row, name)).collect::<Option<_>>()?;
            (sides.len() > 1).then(|| SentenceRow::new(sides))
        };
        let most = if names.len() > 2 { LINES / names.len() } else { MOST };
        let pairs: Vec<SentenceRow> = rows.iter().filter_map(pair).take(most).collect();
        for (at, row) in pairs.iter().enumerate() {
            if two {
                table.row(names[1..].iter().cloned().chain(row.text()));
                continue;
            }
            for (name, text) in names.iter().zip(row.text()) {
                table.row([(at + 1).to_string(), name.clone(), text]);
            }
        }
        // The colours that the languages have elsewhere on the page.
        let colour = |(at, name): (usize, &String)| {
            study.conditions().iter().position(|condition| *condition.language == **name).unwrap_or(at)
        };
        let colours = names.iter().enumerate().map(colour).collect();
        let drawing = Box::new(PairedSentences { names, colours, pairs });
        Variant { choice: choice.options, runs: "One tokenizer".into(), drawing, caption: None }
    };
    let variants = choices(&choosers).into_iter().map(variant).collect();
    let words = study.pairs.is_empty();
    Figure {
        name: "sentences",
        title: format!("Paired {}", if words { "masked words and their cognates" } else { "sentences" }),
        caption: format!(
            "The same {} in {} under one tokenizer. {}",
            if words { "masked symbols" } else { "symbolic sentences" },
            if two { "two languages" } else { "the languages of one run" },
            if two {
                "Pieces on both sides of a row are shared; the others are used by one of the two only."
            } else {
                "Pieces in boxes stand in several of the lines that are shown together, in darker boxes in all of them; those on \
                 a line in one language only."
            }
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

    fn render(&self, width: Width, target: DrawTarget, description: &str) -> String {
        self.svg(width, target, description)
    }
}
