//! One sentence in two languages, each piece marked by which side has it.

use std::collections::HashSet;

/// One sentence in one language: words, each a list of pieces.
pub type Side = Vec<Vec<String>>;

/// Which side of a row has a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Shared,
    First,
    Second,
}

/// The three uses with their labels, in the order of the legend.
pub(super) fn legend([first, second]: &[String; 2]) -> [(Use, String); 3] {
    [(Use::Shared, "shared".into()), (Use::First, format!("{first} only")), (Use::Second, format!("{second} only"))]
}

/// One sentence in two languages.
pub struct Pair(pub(super) [Vec<Vec<(String, Use)>>; 2]);

impl Pair {
    /// From the sentence's pieces in both.
    pub fn new(sides: [Side; 2]) -> Pair {
        let [a, b] = sides.each_ref().map(|side| side.iter().flatten().collect::<HashSet<_>>());
        let marked = |side: &Side, other: &HashSet<&String>, own: Use| -> Vec<Vec<(String, Use)>> {
            let piece = |p: &String| (p.clone(), if other.contains(p) { Use::Shared } else { own });
            side.iter().map(|word| word.iter().map(piece).collect()).collect()
        };
        Pair([marked(&sides[0], &b, Use::First), marked(&sides[1], &a, Use::Second)])
    }

    /// The share of the pieces that are shared.
    pub fn shared_share(&self) -> f64 {
        let pieces = || self.0.iter().flatten().flatten();
        pieces().filter(|(_, used)| *used == Use::Shared).count() as f64 / pieces().count() as f64
    }

    /// Each side as text: `·` between pieces, a space between words.
    pub fn text(&self) -> [String; 2] {
        let word =
            |word: &Vec<(String, Use)>| word.iter().map(|(piece, _)| piece.as_str()).collect::<Vec<_>>().join("·");
        self.0.each_ref().map(|side| side.iter().map(word).collect::<Vec<_>>().join(" "))
    }
}
