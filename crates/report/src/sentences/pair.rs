//! One sentence in several languages, each piece marked by which of them have it.

use std::collections::{HashMap, HashSet};

/// One sentence in one language: words, each a list of pieces.
pub type Side = Vec<Vec<String>>;

/// Which sides of a row have a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// All of them: of two, both.
    All,
    /// This side and some others.
    Some,
    /// The side at this place alone.
    Own(usize),
}

/// The uses that may occur with their labels, in the order of the legend.
pub(super) fn legend(names: &[String]) -> Vec<(Use, String)> {
    let shared = match names.len() {
        2 => vec![(Use::All, "shared".into())],
        _ => vec![(Use::All, "in all".into()), (Use::Some, "in several".into())],
    };
    let own = names.iter().enumerate().map(|(at, name)| (Use::Own(at), format!("{name} only")));
    shared.into_iter().chain(own).collect()
}

/// One sentence in several languages.
pub struct SentenceRow(pub(super) Vec<Vec<Vec<(String, Use)>>>);

impl SentenceRow {
    /// From the sentence's pieces in each.
    pub fn new(sides: impl IntoIterator<Item = Side>) -> SentenceRow {
        let sides: Vec<Side> = sides.into_iter().collect();
        let mut counts: HashMap<&String, usize> = HashMap::new();
        for side in &sides {
            let pieces: HashSet<&String> = side.iter().flatten().collect();
            pieces.into_iter().for_each(|piece| *counts.entry(piece).or_default() += 1);
        }
        let used = |at: usize, piece: &String| match counts[piece] {
            1 => Use::Own(at),
            count if count == sides.len() => Use::All,
            _ => Use::Some,
        };
        let marked = |(at, side): (usize, &Side)| {
            let word = |word: &Vec<String>| word.iter().map(|piece| (piece.clone(), used(at, piece))).collect();
            side.iter().map(word).collect()
        };
        SentenceRow(sides.iter().enumerate().map(marked).collect())
    }

    /// The share of the pieces that some other side has too.
    pub fn shared_share(&self) -> f64 {
        let pieces = || self.0.iter().flatten().flatten();
        pieces().filter(|(_, used)| !matches!(used, Use::Own(_))).count() as f64 / pieces().count() as f64
    }

    /// Each side as text: `·` between pieces, a space between words.
    pub fn text(&self) -> Vec<String> {
        let word =
            |word: &Vec<(String, Use)>| word.iter().map(|(piece, _)| piece.as_str()).collect::<Vec<_>>().join("·");
        self.0.iter().map(|side| side.iter().map(word).collect::<Vec<_>>().join(" ")).collect()
    }
}
