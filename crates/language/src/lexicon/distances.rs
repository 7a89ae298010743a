//! Measured distances between languages. Levenshtein's distance saturates, so distances along a tree do not add up.
//!
//! Words are compared in the shared alphabet. Names, which are equal by design, and function words, which are few and
//! short, do not count.

use crate::family::Family;
use crate::lexicon::builder::{FamilyWords, core_of};
use crate::lexicon::calibration::{Distance, measure_by};
use crate::lexicon::levenshtein::{normalised, normalised_letters};
use crate::lexicon::phonology::{Morphemes, Stem};
use crate::world::World;
use crate::world::symbol::{Language, Symbol};
use rayon::prelude::*;

/// The measured distances of a family.
#[derive(Clone, Debug)]
pub struct Distances {
    /// By language: itself and all later languages.
    stems: Vec<Vec<Distance>>,
    words: Vec<Vec<Distance>>,
    /// By node: its stems against its parent's.
    from_parent: Vec<Distance>,
}

impl Distances {
    /// `inherited` has the stems before loans and false friends: a node's are compared with those of its parent, which they came
    /// from. `borrowed` gives the real stem of a symbol in a node's language, if it has one.
    pub(crate) fn new(
        world: &World,
        family: &Family,
        words: &FamilyWords,
        inherited: &[Vec<Stem>],
        borrowed: Option<&(dyn Fn(usize, Symbol) -> Option<String> + Sync)>,
    ) -> Distances {
        let measured: Vec<Symbol> = world.symbols().filter(|&s| world.category(s).is_compared()).collect();
        let Some(borrowed) = borrowed else {
            let core = core_of(family);
            let stems = |of_node: &Vec<Stem>| measured.iter().map(|s| core(of_node[s.index()])).collect::<Vec<Stem>>();
            let [inherited, stems] =
                [inherited, &words.stems].map(|all| all.par_iter().map(stems).collect::<Vec<Vec<Stem>>>());
            let of_node = |of_node: &Vec<Morphemes>| -> Vec<Vec<u8>> {
                let word = |parts: &Morphemes| parts.iter().flat_map(Stem::letters).copied().collect();
                measured.iter().map(|s| word(&of_node[s.index()])).collect()
            };
            let words: Vec<_> = words.morphemes.par_iter().map(of_node).collect();
            return Distances::measure(family, &stems, &inherited, &words, letters_apart, letters_apart);
        };
        let empty = Stem::new(b"");
        let proto =
            words.stems.last().into_iter().map(|stems| stems.iter().map(|&stem| [empty, stem, empty]).collect());
        let morphemes: Vec<Vec<Morphemes>> = words.morphemes.iter().cloned().chain(proto).collect();
        let of_node = |(node, of_node): (usize, &Vec<Morphemes>)| -> (Vec<Vec<char>>, Vec<Vec<char>>) {
            let word = |&symbol: &Symbol| {
                let [prefix, stem, suffix] = of_node[symbol.index()].each_ref().map(Stem::as_str);
                let stem = borrowed(node, symbol).unwrap_or_else(|| stem.to_owned());
                (stem.chars().collect(), [prefix, &stem, suffix].concat().chars().collect())
            };
            measured.iter().map(word).unzip()
        };
        let (stems, words): (Vec<_>, Vec<_>) = morphemes.par_iter().enumerate().map(of_node).unzip();
        let apart = |one: &Vec<char>, other: &Vec<char>| normalised_letters(one, other);
        Distances::measure(family, &stems, &stems, &words, apart, apart)
    }

    /// `stems` and `words` are by node, with the proto-language last.
    fn measure<S: Sync, W: Sync>(
        family: &Family,
        stems: &[Vec<S>],
        inherited: &[Vec<S>],
        words: &[Vec<W>],
        stem_distance: fn(&S, &S) -> f64,
        word_distance: fn(&W, &W) -> f64,
    ) -> Distances {
        let nodes = family.nodes();
        let languages: Vec<usize> = (0..nodes.len()).filter(|&node| nodes[node].language.is_some()).collect();
        let from_parent = |node: usize| {
            between(&inherited[nodes[node].parent.unwrap_or(nodes.len())], &inherited[node], stem_distance)
        };
        let from_parent = (0..nodes.len()).into_par_iter().map(from_parent).collect();
        let (stems, words) = (matrix(&languages, stems, stem_distance), matrix(&languages, words, word_distance));
        Distances { stems, words, from_parent }
    }

    /// The distance between two languages' stems; `language.distance` for siblings.
    pub fn stems(&self, one: Language, other: Language) -> Distance {
        at(&self.stems, one, other)
    }

    /// The distance between two languages' whole words, affixes included.
    pub fn words(&self, one: Language, other: Language) -> Distance {
        at(&self.words, one, other)
    }

    /// The distance between a node's stems and its parent's.
    pub fn from_parent(&self, node: usize) -> Distance {
        self.from_parent[node]
    }
}

fn at(matrix: &[Vec<Distance>], one: Language, other: Language) -> Distance {
    let (first, second) = (one.index().min(other.index()), one.index().max(other.index()));
    matrix[first][second - first]
}

fn letters_apart<W: AsRef<[u8]>>(one: &W, other: &W) -> f64 {
    normalised(one.as_ref(), other.as_ref())
}

fn between<W>(one: &[W], other: &[W], distance: fn(&W, &W) -> f64) -> Distance {
    measure_by(one.len(), |a, b| distance(&one[a], &other[b]))
}

/// One row for each language: itself and all later languages.
fn matrix<W: Sync>(spoken: &[usize], words: &[Vec<W>], distance: fn(&W, &W) -> f64) -> Vec<Vec<Distance>> {
    let row = |at: usize| {
        spoken[at..].par_iter().map(|&other| between(&words[spoken[at]], &words[other], distance)).collect()
    };
    (0..spoken.len()).into_par_iter().map(row).collect()
}
