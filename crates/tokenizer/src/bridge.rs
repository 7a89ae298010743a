//! Tokenizer bridges: how strongly the pieces of a masked word overlap with those of words seen in training.
//!
//! β(v) of a masked v is the largest similarity of the pieces of v's form in B with those of any word of an unmasked
//! symbol, in either language; names and the word boundary are left out. Pieces are multisets. For `ba na na` and
//! `na na ma`, which have two pieces in common:
//!
//! ```text
//! Jaccard      common over all          2 / (3 + 3 - 2)
//! Dice         twice common over sum    4 / (3 + 3)
//! containment  common over v's          2 / 3
//! ```
//!
//! The cognate bridge is the similarity with v's own form in A. Dice's bridge is always Jaccard's too: one grows with
//! the other.

use crate::segmentation::Segmentation;
use invitro_language::{Category, Language, Languages, Symbol};
use rayon::prelude::*;
use serde::Serialize;

/// Three measures of how many pieces two words have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Similarity {
    /// Common pieces over all.
    pub jaccard: f64,
    /// Twice the common pieces over the sum.
    pub dice: f64,
    /// Common pieces over those of the masked word.
    pub containment: f64,
}

impl Similarity {
    /// Of multisets of `v` and `u` pieces with `common` of them in common.
    fn of(common: u32, v: u32, u: u32) -> Similarity {
        let share = |part: u32, whole: u32| f64::from(part) / f64::from(whole);
        Similarity {
            jaccard: share(common, v + u - common),
            dice: share(2 * common, v + u),
            containment: share(common, v),
        }
    }

    fn zip(self, other: Similarity, f: fn(f64, f64) -> f64) -> Similarity {
        Similarity {
            jaccard: f(self.jaccard, other.jaccard),
            dice: f(self.dice, other.dice),
            containment: f(self.containment, other.containment),
        }
    }
}

/// A word of an unmasked symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Candidate {
    /// In this language.
    pub language: Language,
    /// The unmasked symbol.
    pub symbol: Symbol,
}

/// One masked word and what it is bridged by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bridge {
    /// The masked symbol.
    pub symbol: Symbol,
    /// The largest similarity of each kind.
    pub similarity: Similarity,
    /// The word of the largest Jaccard similarity: the first such in A, else in B. None where no piece is shared.
    pub candidate: Option<Candidate>,
    /// With v's own form in A.
    pub cognate: Similarity,
}

/// The bridges of all masked words, in the order of their symbols.
#[derive(Clone, Debug, PartialEq)]
pub struct Bridges(pub Vec<Bridge>);

impl Bridges {
    /// Finds the bridge of every masked word.
    pub fn new(segmentation: &Segmentation, languages: &Languages) -> Bridges {
        let index = Index::new(segmentation, languages);
        let mut masked = languages.mask.symbols().to_vec();
        masked.sort_unstable();
        let find = |seek: &mut Seek, &symbol: &Symbol| {
            let pieces = sorted(segmentation.core(symbol, Language::B));
            let (similarity, candidate) = index.best(&pieces, seek);
            let cognate = similarity_of(&pieces, &sorted(segmentation.core(symbol, Language::A)));
            Bridge { symbol, similarity, candidate, cognate }
        };
        Bridges(masked.par_iter().map_init(|| Seek::new(&index), find).collect())
    }

    /// β̂, the mean over masked words.
    pub fn mean(&self) -> Similarity {
        self.mean_of(|bridge| bridge.similarity)
    }

    /// The mean similarity of masked words with their own form in A.
    pub fn mean_cognate(&self) -> Similarity {
        self.mean_of(|bridge| bridge.cognate)
    }

    fn mean_of(&self, of: impl Fn(&Bridge) -> Similarity) -> Similarity {
        let sum = self.0.iter().map(of).fold(Similarity::default(), |a, b| a.zip(b, |x, y| x + y));
        let count = self.0.len() as f64;
        Similarity { jaccard: sum.jaccard / count, dice: sum.dice / count, containment: sum.containment / count }
    }
}

fn sorted(pieces: &[u32]) -> Vec<u32> {
    let mut pieces = pieces.to_vec();
    pieces.sort_unstable();
    pieces
}

/// Of two sorted multisets.
fn similarity_of(v: &[u32], u: &[u32]) -> Similarity {
    let (mut i, mut j, mut common) = (0, 0, 0);
    while i < v.len() && j < u.len() {
        match v[i].cmp(&u[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, common) = (i + 1, j + 1, common + 1),
        }
    }
    Similarity::of(common, v.len() as u32, u.len() as u32)
}

/// The words a masked word may be bridged by: unmasked, not names, of A first and then of B.
pub fn candidates(languages: &Languages) -> Vec<Candidate> {
    let world = &languages.world;
    let may = |s: &Symbol| !languages.mask.contains(*s) && world.category(*s) != Category::Name;
    Language::ALL
        .into_iter()
        .flat_map(|language| world.symbols().filter(may).map(move |symbol| Candidate { language, symbol }))
        .collect()
}

/// For each token, the candidates that have it. A token that a candidate has twice stands there as its second occurrence too, so
/// that common pieces are counted as multisets by adding one per posting.
struct Index {
    candidates: Vec<Candidate>,
    sizes: Vec<u32>,
    /// By token and occurrence, 0 for the first: places in `candidates`.
    postings: Vec<Vec<Vec<u32>>>,
}

/// Room for one search, used over and over.
struct Seek {
    common: Vec<u32>,
    touched: Vec<u32>,
}

impl Seek {
    fn new(index: &Index) -> Seek {
        Seek { common: vec![0; index.candidates.len()], touched: Vec::new() }
    }
}

impl Index {
    fn new(segmentation: &Segmentation, languages: &Languages) -> Index {
        let candidates = candidates(languages);
        let mut postings: Vec<Vec<Vec<u32>>> = vec![Vec::new(); segmentation.vocab_size()];
        let mut sizes = Vec::with_capacity(candidates.len());
        for (place, candidate) in (0..).zip(&candidates) {
            let pieces = sorted(segmentation.core(candidate.symbol, candidate.language));
            sizes.push(pieces.len() as u32);
            for (occurrence, piece) in occurrences(&pieces) {
                let by_occurrence = &mut postings[piece as usize];
                if by_occurrence.len() == occurrence {
                    by_occurrence.push(Vec::new());
                }
                by_occurrence[occurrence].push(place);
            }
        }
        Index { candidates, sizes, postings }
    }

    /// The largest similarities of sorted pieces with any candidate, and the candidate of the largest Jaccard similarity.
    fn best(&self, pieces: &[u32], seek: &mut Seek) -> (Similarity, Option<Candidate>) {
        for (occurrence, piece) in occurrences(pieces) {
            for &place in self.postings[piece as usize].get(occurrence).map_or(&[][..], |p| p) {
                let common = &mut seek.common[place as usize];
                if *common == 0 {
                    seek.touched.push(place);
                }
                *common += 1;
            }
        }
        let mut largest = Similarity::default();
        let mut best: Option<(f64, u32)> = None;
        for place in seek.touched.drain(..) {
            let common = std::mem::take(&mut seek.common[place as usize]);
            let similarity = Similarity::of(common, pieces.len() as u32, self.sizes[place as usize]);
            largest = largest.zip(similarity, f64::max);
            if best.is_none_or(|(s, p)| similarity.jaccard > s || (similarity.jaccard == s && place < p)) {
                best = Some((similarity.jaccard, place));
            }
        }
        (largest, best.map(|(_, place)| self.candidates[place as usize]))
    }
}

/// Each of the sorted pieces with how often it came before.
fn occurrences(pieces: &[u32]) -> impl Iterator<Item = (usize, u32)> + '_ {
    let first = |i: usize| pieces[..i].iter().rev().take_while(|&&p| p == pieces[i]).count();
    pieces.iter().enumerate().map(move |(i, &piece)| (first(i), piece))
}
