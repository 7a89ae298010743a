//! Tokenizer bridges: the overlap of a masked word's pieces with those of words seen in training.
//!
//! β(v) of a v masked in B is the largest similarity of the pieces of v's form in B with those of any word of an unmasked
//! symbol, in any language, without names and the word boundary. Pieces are multisets. For `ba na na` and `na na ma`,
//! which have two pieces in common:
//!
//! ```text
//! Jaccard      common over all          2 / (3 + 3 - 2)
//! Dice         twice common over sum    4 / (3 + 3)
//! containment  common over v's          2 / 3
//! ```
//!
//! The cognate bridge is the largest similarity with v's own form in another language where it is not masked. Dice and
//! Jaccard rank bridges alike.

use crate::segment::segmentation::Segmentation;
use invitro_language::{Category, Language, Languages, Symbol};
use rayon::prelude::*;
use serde::Serialize;

/// Three similarities of two words' pieces.
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
    /// From the sizes of two multisets and of their intersection.
    fn new(common: u32, v: u32, u: u32) -> Similarity {
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
    /// Its language.
    pub language: Language,
    /// Its symbol.
    pub symbol: Symbol,
}

/// A masked word and its most similar words.
#[derive(Clone, Debug, PartialEq)]
pub struct Bridge {
    /// The masked symbol.
    pub symbol: Symbol,
    /// The largest similarity of each kind with any word.
    pub similarity: Similarity,
    /// The word of the largest Jaccard similarity, the first in the order of [`candidates`]; `None` if no piece is shared.
    pub candidate: Option<Candidate>,
    /// The largest similarities with a word of each language.
    pub with: Vec<Similarity>,
    /// The similarity with v's own form in each language; `None` where it is masked too.
    pub cognates: Vec<Option<Similarity>>,
}

impl Bridge {
    /// The largest similarity of each kind with v's own form in another language.
    pub fn cognate(&self) -> Similarity {
        self.cognates.iter().flatten().fold(Similarity::default(), |largest, &one| largest.zip(one, f64::max))
    }
}

/// The bridges of all masked words of a language, in the order of their symbols.
#[derive(Clone, Debug, PartialEq)]
pub struct Bridges(pub Vec<Bridge>);

impl Bridges {
    /// Finds the bridge of every word that is masked in a language.
    pub fn new(segmentation: &Segmentation, languages: &Languages, language: Language) -> Bridges {
        let index = Index::new(segmentation, languages, language);
        let mut masked = languages.mask(language).symbols().to_vec();
        masked.sort_unstable();
        let find = |scratch: &mut BridgeScratch, &symbol: &Symbol| {
            let pieces = sorted(segmentation.core(symbol, language));
            let (with, candidate) = index.best(&pieces, scratch);
            let similarity = with.iter().fold(Similarity::default(), |largest, &one| largest.zip(one, f64::max));
            let cognate = |&other: &Language| {
                let is_seen = !languages.mask(other).contains(symbol);
                is_seen.then(|| similarity_of(&pieces, &sorted(segmentation.core(symbol, other))))
            };
            let cognates = languages.all().iter().map(cognate).collect();
            Bridge { symbol, similarity, candidate, with, cognates }
        };
        Bridges(masked.par_iter().map_init(|| BridgeScratch::new(&index), find).collect())
    }

    /// β̂, the mean over masked words.
    pub fn mean(&self) -> Similarity {
        mean(self.0.iter().map(|bridge| bridge.similarity))
    }

    /// The mean over masked words of their bridges with words of one language.
    pub fn mean_with(&self, language: Language) -> Similarity {
        mean(self.0.iter().map(|bridge| bridge.with[language.index()]))
    }

    /// The mean similarity of masked words with their own form in another language.
    pub fn mean_cognate(&self) -> Similarity {
        mean(self.0.iter().map(Bridge::cognate))
    }

    /// The same with one language, over the words that are not masked there; NaN if there are none.
    pub fn mean_cognate_with(&self, language: Language) -> Similarity {
        mean(self.0.iter().filter_map(|bridge| bridge.cognates[language.index()]))
    }
}

fn mean(all: impl Iterator<Item = Similarity>) -> Similarity {
    let (sum, count) = all.fold((Similarity::default(), 0.0), |(sum, n), one| (sum.zip(one, |x, y| x + y), n + 1.0));
    Similarity { jaccard: sum.jaccard / count, dice: sum.dice / count, containment: sum.containment / count }
}

fn sorted(pieces: &[u32]) -> Vec<u32> {
    let mut pieces = pieces.to_vec();
    pieces.sort_unstable();
    pieces
}

/// The similarity of two sorted multisets.
fn similarity_of(v: &[u32], u: &[u32]) -> Similarity {
    let (mut i, mut j, mut common) = (0, 0, 0);
    while i < v.len() && j < u.len() {
        match v[i].cmp(&u[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, common) = (i + 1, j + 1, common + 1),
        }
    }
    Similarity::new(common, v.len() as u32, u.len() as u32)
}

/// The words that can bridge a masked word of a language, language by language: words of symbols other than names that
/// neither that language nor their own masks.
pub fn candidates(languages: &Languages, masked: Language) -> Vec<Candidate> {
    let world = &languages.world;
    let words = |&language: &Language| {
        let is_seen = move |s: &Symbol| !languages.mask(masked).contains(*s) && !languages.mask(language).contains(*s);
        let is_candidate = move |s: &Symbol| is_seen(s) && world.category(*s) != Category::Name;
        world.symbols().filter(is_candidate).map(move |symbol| Candidate { language, symbol })
    };
    languages.all().iter().flat_map(words).collect()
}

/// For each token, the candidates that contain it. Repeated tokens have a posting per occurrence, so that adding one per
/// posting counts common pieces as multisets.
struct Index {
    candidates: Vec<Candidate>,
    sizes: Vec<u32>,
    /// By token and occurrence, from 0: indices of `candidates`.
    postings: Vec<Vec<Vec<u32>>>,
    languages: usize,
}

/// BridgeScratch memory of a search.
struct BridgeScratch {
    common: Vec<u32>,
    touched: Vec<u32>,
}

impl BridgeScratch {
    fn new(index: &Index) -> BridgeScratch {
        BridgeScratch { common: vec![0; index.candidates.len()], touched: Vec::new() }
    }
}

impl Index {
    fn new(segmentation: &Segmentation, languages: &Languages, language: Language) -> Index {
        let candidates = candidates(languages, language);
        let mut postings: Vec<Vec<Vec<u32>>> = vec![Vec::new(); segmentation.rows()];
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
        Index { candidates, sizes, postings, languages: languages.all().len() }
    }

    /// The largest similarities of sorted pieces with any candidate of each language, and the candidate of the largest
    /// Jaccard similarity.
    fn best(&self, pieces: &[u32], scratch: &mut BridgeScratch) -> (Vec<Similarity>, Option<Candidate>) {
        for (occurrence, piece) in occurrences(pieces) {
            for &place in self.postings[piece as usize].get(occurrence).map_or(&[][..], |p| p) {
                let common = &mut scratch.common[place as usize];
                if *common == 0 {
                    scratch.touched.push(place);
                }
                *common += 1;
            }
        }
        let mut largest = vec![Similarity::default(); self.languages];
        let mut best: Option<(f64, u32)> = None;
        for place in scratch.touched.drain(..) {
            let common = std::mem::take(&mut scratch.common[place as usize]);
            let similarity = Similarity::new(common, pieces.len() as u32, self.sizes[place as usize]);
            let largest = &mut largest[self.candidates[place as usize].language.index()];
            *largest = largest.zip(similarity, f64::max);
            if best.is_none_or(|(s, p)| similarity.jaccard > s || (similarity.jaccard == s && place < p)) {
                best = Some((similarity.jaccard, place));
            }
        }
        (largest, best.map(|(_, place)| self.candidates[place as usize]))
    }
}

/// Each of the sorted pieces with the number of its earlier occurrences.
fn occurrences(pieces: &[u32]) -> impl Iterator<Item = (usize, u32)> + '_ {
    let first = |i: usize| pieces[..i].iter().rev().take_while(|&&p| p == pieces[i]).count();
    pieces.iter().enumerate().map(move |(i, &piece)| (first(i), piece))
}
