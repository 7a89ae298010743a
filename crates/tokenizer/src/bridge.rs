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

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Similarity {
    pub jaccard: f64,
    pub dice: f64,
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
pub struct Pier {
    pub language: Language,
    pub symbol: Symbol,
}

/// One masked word and what it is bridged by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bridge {
    pub symbol: Symbol,
    /// The largest similarity of each kind.
    pub similarity: Similarity,
    /// The word of the largest Jaccard similarity: the first such in A, else in B. None where no piece is shared.
    pub pier: Option<Pier>,
    /// With v's own form in A.
    pub cognate: Similarity,
}

/// The bridges of all masked words, in the order of their symbols.
#[derive(Clone, Debug, PartialEq)]
pub struct Bridges(pub Vec<Bridge>);

impl Bridges {
    pub fn new(segmentation: &Segmentation, languages: &Languages) -> Bridges {
        let index = Index::new(segmentation, languages);
        let mut masked = languages.mask.symbols().to_vec();
        masked.sort_unstable();
        let find = |seek: &mut Seek, &symbol: &Symbol| {
            let pieces = sorted(segmentation.core(symbol, Language::B));
            let (similarity, pier) = index.best(&pieces, seek);
            let cognate = similarity_of(&pieces, &sorted(segmentation.core(symbol, Language::A)));
            Bridge { symbol, similarity, pier, cognate }
        };
        Bridges(masked.par_iter().map_init(|| Seek::new(&index), find).collect())
    }

    /// β̂, the mean over masked words.
    pub fn mean(&self) -> Similarity {
        self.mean_of(|bridge| bridge.similarity)
    }

    pub fn mean_cognate(&self) -> Similarity {
        self.mean_of(|bridge| bridge.cognate)
    }

    fn mean_of(&self, of: impl Fn(&Bridge) -> Similarity) -> Similarity {
        let sum = self.0.iter().map(of).fold(Similarity::default(), |a, b| a.zip(b, |x, y| x + y));
        let count = self.0.len() as f64;
        Similarity { jaccard: sum.jaccard / count, dice: sum.dice / count, containment: sum.containment / count }
    }

    /// The means under their column names.
    pub fn flatten(&self) -> Vec<(String, f64)> {
        let columns = |name: &str, s: Similarity| {
            [("jaccard", s.jaccard), ("dice", s.dice), ("containment", s.containment)]
                .map(|(kind, value)| (format!("{name}.{kind}"), value))
        };
        [columns("bridge", self.mean()), columns("cognate_bridge", self.mean_cognate())].into_iter().flatten().collect()
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
pub fn piers(languages: &Languages) -> Vec<Pier> {
    let world = &languages.world;
    let may = |s: &Symbol| !languages.mask.contains(*s) && world.category(*s) != Category::Name;
    Language::BOTH
        .into_iter()
        .flat_map(|language| world.symbols().filter(may).map(move |symbol| Pier { language, symbol }))
        .collect()
}

/// For each token, the piers that have it. A token that a pier has twice stands there as its second occurrence too, so
/// that common pieces are counted as multisets by adding one per posting.
struct Index {
    piers: Vec<Pier>,
    sizes: Vec<u32>,
    /// By token and occurrence, 0 for the first: places in `piers`.
    postings: Vec<Vec<Vec<u32>>>,
}

/// Room for one search, used over and over.
struct Seek {
    common: Vec<u32>,
    touched: Vec<u32>,
}

impl Seek {
    fn new(index: &Index) -> Seek {
        Seek { common: vec![0; index.piers.len()], touched: Vec::new() }
    }
}

impl Index {
    fn new(segmentation: &Segmentation, languages: &Languages) -> Index {
        let piers = piers(languages);
        let mut postings: Vec<Vec<Vec<u32>>> = vec![Vec::new(); segmentation.vocab_size()];
        let mut sizes = Vec::with_capacity(piers.len());
        for (place, pier) in (0..).zip(&piers) {
            let pieces = sorted(segmentation.core(pier.symbol, pier.language));
            sizes.push(pieces.len() as u32);
            for (occurrence, piece) in occurrences(&pieces) {
                let by_occurrence = &mut postings[piece as usize];
                if by_occurrence.len() == occurrence {
                    by_occurrence.push(Vec::new());
                }
                by_occurrence[occurrence].push(place);
            }
        }
        Index { piers, sizes, postings }
    }

    /// The largest similarities of sorted pieces with any pier, and the pier of the largest Jaccard similarity.
    fn best(&self, pieces: &[u32], seek: &mut Seek) -> (Similarity, Option<Pier>) {
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
        (largest, best.map(|(_, place)| self.piers[place as usize]))
    }
}

/// Each of the sorted pieces with how often it came before.
fn occurrences(pieces: &[u32]) -> impl Iterator<Item = (usize, u32)> + '_ {
    let first = |i: usize| pieces[..i].iter().rev().take_while(|&&p| p == pieces[i]).count();
    pieces.iter().enumerate().map(move |(i, &piece)| (first(i), piece))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similarities_of_multisets() {
        let (v, u) = (sorted(&[1, 5, 5]), sorted(&[5, 5, 7]));
        let s = similarity_of(&v, &u);
        assert_eq!((s.jaccard, s.dice, s.containment), (2.0 / 4.0, 4.0 / 6.0, 2.0 / 3.0));
        let s = similarity_of(&[5], &u);
        assert_eq!((s.jaccard, s.dice, s.containment), (1.0 / 3.0, 2.0 / 4.0, 1.0));
        assert_eq!(similarity_of(&[1], &[2]), Similarity::default());
        assert_eq!(occurrences(&[3, 4, 4, 4, 9]).map(|(o, _)| o).collect::<Vec<_>>(), [0, 0, 1, 2, 0]);
    }

    /// The plain double loop.
    pub fn slow(segmentation: &Segmentation, languages: &Languages, v: Symbol) -> (Similarity, Option<Pier>) {
        let pieces = sorted(segmentation.core(v, Language::B));
        let mut largest = Similarity::default();
        let mut best = None;
        for pier in piers(languages) {
            let s = similarity_of(&pieces, &sorted(segmentation.core(pier.symbol, pier.language)));
            if s.jaccard > largest.jaccard {
                best = Some(pier);
            }
            largest = largest.zip(s, f64::max);
        }
        (largest, best)
    }

    #[test]
    fn the_index_finds_what_the_double_loop_finds() {
        use crate::{Boundary, Kind, Tokenizer, TokenizerConfig};
        use invitro_language::{LanguageConfig, MixtureConfig};
        for (seed, distance) in [(0, 0.0), (1, 0.25), (2, 1.0)] {
            let config = LanguageConfig {
                entities: 20,
                names: 5,
                properties: 80,
                values: 20,
                relations: 20,
                distance,
                ..Default::default()
            };
            let languages = Languages::new(&config, seed).unwrap();
            for (kind, boundary, vocab) in [
                (Kind::Bpe, Boundary::Token, 200),
                (Kind::Bpe, Boundary::First, 800),
                (Kind::Character, Boundary::Token, 0),
                (Kind::Byte, Boundary::Last, 0),
            ] {
                let config =
                    TokenizerConfig { kind, boundary, vocab: vocab.max(1), sentences: 2000, ..Default::default() };
                let tokenizer = Tokenizer::train(&languages, &config, &MixtureConfig::default()).unwrap();
                let segmentation = Segmentation::new(&tokenizer, &languages).unwrap();
                let bridges = Bridges::new(&segmentation, &languages);
                assert_eq!(bridges.0.len(), languages.mask.symbols().len());
                for bridge in &bridges.0 {
                    let (similarity, pier) = slow(&segmentation, &languages, bridge.symbol);
                    assert_eq!((bridge.similarity, bridge.pier), (similarity, pier), "{kind:?} {boundary:?}");
                }
            }
        }
    }
}
