//! Prefixes and suffixes: a small inventory per category, the empty one among them, drifted with the same rate as
//! the stems into each language's own. `big` of one language may answer `bgi` of the other.

use crate::drift::{Rate, substitute};
use crate::phonology::{Letters, Stem};
use crate::stream::{Rng, Stream};
use crate::symbol::{Category, Language};

/// The categories that take affixes: names and function words do not.
pub const AFFIXED: [Category; 5] =
    [Category::Noun, Category::Descriptor, Category::Relation, Category::Adjective, Category::Adverb];

/// The inventories of one category in one language, the empty affix left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inventory {
    /// Prefixes.
    pub prefixes: Vec<Stem>,
    /// Suffixes.
    pub suffixes: Vec<Stem>,
}

/// All inventories: category × language.
#[derive(Clone, Debug)]
pub struct Affixes {
    inventories: Vec<[Inventory; 2]>,
    rate: f64,
}

impl Affixes {
    /// `count` prefixes and suffixes per category; a word takes one of each kind with chance `rate`.
    pub(crate) fn new(count: usize, rate: f64, letters: &[Letters; 3], drift: Rate, seed: u64) -> Affixes {
        let stream = Stream::new(seed, "lexicon/affixes");
        let inventories = (0..AFFIXED.len())
            .map(|category| {
                let lists = [0, 1].map(|side| {
                    let rng = &mut stream.at(category as u64, side);
                    let proto = distinct(count, |rng, _| letters[0].affix(rng), rng);
                    [1, 2].map(|languages| {
                        distinct(count, |rng, i| drifted(proto[i], &letters[languages], drift, rng), rng)
                    })
                });
                let [[prefix_a, prefix_b], [suffix_a, suffix_b]] = lists;
                [
                    Inventory { prefixes: prefix_a, suffixes: suffix_a },
                    Inventory { prefixes: prefix_b, suffixes: suffix_b },
                ]
            })
            .collect();
        Affixes { inventories, rate }
    }

    /// The inventory of a category in a language; `None` if the category takes no affixes.
    pub fn inventory(&self, category: Category, language: Language) -> Option<&Inventory> {
        let i = AFFIXED.iter().position(|&c| c == category)?;
        Some(&self.inventories[i][language.index()])
    }

    /// The prefix and the suffix for two numbers in [0, 1): the affixes share the part below the rate, the empty one
    /// has the rest.
    pub(crate) fn pick(&self, category: Category, language: Language, numbers: [f64; 2]) -> [Stem; 2] {
        let Some(inventory) = self.inventory(category, language) else { return [Stem::new(b""); 2] };
        let at = |list: &[Stem], number: f64| {
            let i = number / self.rate * list.len() as f64;
            if number < self.rate { list[(i as usize).min(list.len() - 1)] } else { Stem::new(b"") }
        };
        [at(&inventory.prefixes, numbers[0]), at(&inventory.suffixes, numbers[1])]
    }

    /// Mean letters affixes add to a word of this category, over both languages (they have the same lengths).
    pub(crate) fn mean_length(&self, category: Category) -> f64 {
        let mean = |list: &[Stem]| list.iter().map(|a| a.letters().len()).sum::<usize>() as f64 / list.len() as f64;
        let both = |inventory: &Inventory| self.rate * (mean(&inventory.prefixes) + mean(&inventory.suffixes));
        self.inventory(category, Language::A).map_or(0.0, both)
    }
}

/// `count` affixes, all different; a repeat is drawn again, a few times only, since a language of few letters may
/// not have as many.
fn distinct(count: usize, make: impl Fn(&mut Rng, usize) -> Stem, rng: &mut Rng) -> Vec<Stem> {
    let mut list: Vec<Stem> = Vec::with_capacity(count);
    for i in 0..count {
        let mut affix = make(rng, i);
        for _ in 0..100 {
            if !list.contains(&affix) {
                break;
            }
            affix = make(rng, i);
        }
        list.push(affix);
    }
    list
}

/// An affix after drift: letters substituted at the rate of edits, sometimes two swapped instead, all of them new at
/// the rate of replacement. The length stays.
fn drifted(proto: Stem, letters: &Letters, drift: Rate, rng: &mut Rng) -> Stem {
    let mut affix = proto.letters().to_vec();
    let replaced = rng.chance(drift.replaced);
    for i in 0..affix.len() {
        if replaced || rng.chance(drift.edits) {
            if i > 0 && rng.chance(0.3) {
                affix.swap(i - 1, i);
            } else {
                affix[i] = substitute(affix[i], letters, rng);
            }
        }
    }
    Stem::new(&affix)
}
