//! How far languages are from each other, measured: Levenshtein's distance saturates, so that distances along a tree do
//! not add up and are never derived.
//!
//! Words are compared in the shared alphabet, before a script is written; names, which are the same by design, and
//! function words, which are few and short, do not count.

use crate::calibration::{Distance, measure};
use crate::family::Family;
use crate::phonology::{Morphemes, Stem};
use crate::symbol::{Language, Symbol};
use crate::world::World;
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
    pub(crate) fn new(world: &World, family: &Family, morphemes: &[Vec<Morphemes>]) -> Distances {
        let nodes = family.nodes();
        let measured: Vec<usize> =
            world.symbols().filter(|&s| world.category(s).is_compared()).map(Symbol::index).collect();
        let of_node = |of_node: &Vec<Morphemes>| -> (Vec<Stem>, Vec<Vec<u8>>) {
            let word = |parts: &Morphemes| parts.iter().flat_map(Stem::letters).copied().collect();
            measured.iter().map(|&symbol| (of_node[symbol][1], word(&of_node[symbol]))).unzip()
        };
        let (stems, words): (Vec<_>, Vec<_>) = morphemes.par_iter().map(of_node).unzip();
        let spoken: Vec<usize> = (0..nodes.len()).filter(|&node| nodes[node].language.is_some()).collect();
        // The proto-language comes after all nodes.
        let from_parent = |node: usize| between(&stems[nodes[node].parent.unwrap_or(nodes.len())], &stems[node]);
        let from_parent = (0..nodes.len()).into_par_iter().map(from_parent).collect();
        Distances { stems: matrix(&spoken, &stems), words: matrix(&spoken, &words), from_parent }
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

fn between<W: AsRef<[u8]>>(one: &[W], other: &[W]) -> Distance {
    let pairs: Vec<(&[u8], &[u8])> = one.iter().map(W::as_ref).zip(other.iter().map(W::as_ref)).collect();
    measure(&pairs)
}

/// One row for each language: itself and those after it.
fn matrix<W: AsRef<[u8]> + Sync>(spoken: &[usize], words: &[Vec<W>]) -> Vec<Vec<Distance>> {
    let row = |at: usize| spoken[at..].par_iter().map(|&other| between(&words[spoken[at]], &words[other])).collect();
    (0..spoken.len()).into_par_iter().map(row).collect()
}
