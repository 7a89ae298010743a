//! How far languages are from each other, measured: Levenshtein's distance saturates, so that distances along a tree do
//! not add up and are never derived.
//!
//! Words are compared in the shared alphabet, before a script is written; names, which are the same by design, and
//! function words, which are few and short, do not count.

use crate::family::Family;
use crate::lexicon::calibration::{Distance, measure_by};
use crate::lexicon::levenshtein::{normalised, normalised_letters};
use crate::lexicon::phonology::{Morphemes, Stem};
use crate::world::World;
use crate::world::symbol::{Language, Symbol};
use rayon::prelude::*;

/// The measured distances of a family.
#[derive(Clone, Debug)]
pub struct Distances {
    /// By language, of it and those after it.
    stems: Vec<Vec<Distance>>,
    words: Vec<Vec<Distance>>,
    /// By node, its stems against its parent's.
    from_parent: Vec<Distance>,
}

impl Distances {
    /// `borrowed` is the stem of a symbol in a node's language where it is not the one that was made.
    pub(crate) fn new(
        world: &World,
        family: &Family,
        morphemes: &[Vec<Morphemes>],
        borrowed: Option<&(dyn Fn(usize, Symbol) -> Option<String> + Sync)>,
    ) -> Distances {
        let measured: Vec<Symbol> = world.symbols().filter(|&s| world.category(s).is_compared()).collect();
        let Some(borrowed) = borrowed else {
            let of_node = |of_node: &Vec<Morphemes>| -> (Vec<Stem>, Vec<Vec<u8>>) {
                let word = |parts: &Morphemes| parts.iter().flat_map(Stem::letters).copied().collect();
                measured.iter().map(|s| (of_node[s.index()][1], word(&of_node[s.index()]))).unzip()
            };
            let (stems, words): (Vec<_>, Vec<_>) = morphemes.par_iter().map(of_node).unzip();
            return Distances::of(family, &stems, &words);
        };
        let of_node = |(node, of_node): (usize, &Vec<Morphemes>)| -> (Vec<Vec<char>>, Vec<Vec<char>>) {
            let word = |&symbol: &Symbol| {
                let [prefix, stem, suffix] = of_node[symbol.index()].each_ref().map(Stem::as_str);
                let stem = borrowed(node, symbol).unwrap_or_else(|| stem.to_owned());
                (stem.chars().collect(), [prefix, &stem, suffix].concat().chars().collect())
            };
            measured.iter().map(word).unzip()
        };
        let (stems, words): (Vec<_>, Vec<_>) = morphemes.par_iter().enumerate().map(of_node).unzip();
        Distances::of(family, &stems, &words)
    }

    /// By node, and after them the proto-language.
    fn of<S: Measurable, W: Measurable>(family: &Family, stems: &[Vec<S>], words: &[Vec<W>]) -> Distances {
        let nodes = family.nodes();
        let spoken: Vec<usize> = (0..nodes.len()).filter(|&node| nodes[node].language.is_some()).collect();
        let from_parent = |node: usize| between(&stems[nodes[node].parent.unwrap_or(nodes.len())], &stems[node]);
        let from_parent = (0..nodes.len()).into_par_iter().map(from_parent).collect();
        Distances { stems: matrix(&spoken, stems), words: matrix(&spoken, words), from_parent }
    }

    /// The distance of two languages' stems: what `language.distance` asks for where they are siblings.
    pub fn stems(&self, one: Language, other: Language) -> Distance {
        at(&self.stems, one, other)
    }

    /// The same of whole words, affixes included.
    pub fn words(&self, one: Language, other: Language) -> Distance {
        at(&self.words, one, other)
    }

    /// The distance of a node's stems from its parent's.
    pub fn from_parent(&self, node: usize) -> Distance {
        self.from_parent[node]
    }
}

fn at(matrix: &[Vec<Distance>], one: Language, other: Language) -> Distance {
    let (first, second) = (one.index().min(other.index()), one.index().max(other.index()));
    matrix[first][second - first]
}

/// Words whose distance can be measured.
trait Measurable: Sync {
    fn distance(&self, other: &Self) -> f64;
}

impl Measurable for Stem {
    fn distance(&self, other: &Self) -> f64 {
        normalised(self.letters(), other.letters())
    }
}

impl Measurable for Vec<u8> {
    fn distance(&self, other: &Self) -> f64 {
        normalised(self, other)
    }
}

impl Measurable for Vec<char> {
    fn distance(&self, other: &Self) -> f64 {
        normalised_letters(self, other)
    }
}

fn between<W: Measurable>(one: &[W], other: &[W]) -> Distance {
    measure_by(one.len(), |a, b| one[a].distance(&other[b]))
}

/// One row for each language: itself and those after it.
fn matrix<W: Measurable>(spoken: &[usize], words: &[Vec<W>]) -> Vec<Vec<Distance>> {
    let row = |at: usize| spoken[at..].par_iter().map(|&other| between(&words[spoken[at]], &words[other])).collect();
    (0..spoken.len()).into_par_iter().map(row).collect()
}
