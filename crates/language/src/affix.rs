//! Prefixes and suffixes: a small inventory per category, the empty one among them, drifted with the same rate as
//! the stems into each language's own. `big` of one language may answer `bgi` of the other.

use crate::drift::{Rate, substitute};
use crate::phonology::{Letters, Stem};
use crate::stream::{Draw, Stream};
use crate::symbol::{Category, Language};

/// The categories that take affixes: names and function words do not.
pub const AFFIXED: [Category; 5] =
    [Category::Noun, Category::Descriptor, Category::Relation, Category::Adjective, Category::Adverb];

/// The inventories of one category in one language, the empty affix left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inventory {
    pub prefixes: Vec<Stem>,
    pub suffixes: Vec<Stem>,
}

impl Inventory {
    /// Mean letters that affixes add to a word.
    pub fn mean_length(&self, rate: f64) -> f64 {
        let mean = |list: &[Stem]| list.iter().map(|a| a.letters().len()).sum::<usize>() as f64 / list.len() as f64;
        rate * (mean(&self.prefixes) + mean(&self.suffixes))
    }
}

/// All inventories: category × language.
#[derive(Clone, Debug)]
pub struct Affixes {
    inventories: Vec<[Inventory; 2]>,
    rate: f64,
}

impl Affixes {
    /// `count` prefixes and suffixes per category; a word takes one of each kind with chance `rate`.
    pub fn new(count: usize, rate: f64, letters: &[Letters; 3], drift: Rate, seed: u64) -> Affixes {
        let stream = Stream::new(seed, "lexicon/affixes");
        let inventories = (0..AFFIXED.len())
            .map(|category| {
                let lists = [0, 1].map(|side| {
                    let draw = &mut stream.at(category as u64, side);
                    let proto = distinct(count, |draw, _| letters[0].affix(draw), draw);
                    [1, 2].map(|languages| {
                        distinct(count, |draw, i| drifted(proto[i], &letters[languages], drift, draw), draw)
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
        Some(&self.inventories[i][language as usize])
    }

    /// The prefix and the suffix at these places in [0, 1): the affixes share the part below the rate, the empty one
    /// has the rest.
    pub fn pick(&self, category: Category, language: Language, places: [f64; 2]) -> [Stem; 2] {
        let Some(inventory) = self.inventory(category, language) else { return [Stem::new(b""); 2] };
        let at = |list: &[Stem], place: f64| {
            let i = place / self.rate * list.len() as f64;
            if place < self.rate { list[(i as usize).min(list.len() - 1)] } else { Stem::new(b"") }
        };
        [at(&inventory.prefixes, places[0]), at(&inventory.suffixes, places[1])]
    }

    /// Mean letters affixes add to a word of this category, over both languages (they have the same lengths).
    pub fn mean_length(&self, category: Category) -> f64 {
        self.inventory(category, Language::A).map_or(0.0, |i| i.mean_length(self.rate))
    }
}

/// `count` affixes, all different; a repeat is drawn again, a few times only, since a language of few letters may
/// not have as many.
fn distinct(count: usize, make: impl Fn(&mut Draw, usize) -> Stem, draw: &mut Draw) -> Vec<Stem> {
    let mut list: Vec<Stem> = Vec::with_capacity(count);
    for i in 0..count {
        let mut affix = make(draw, i);
        for _ in 0..100 {
            if !list.contains(&affix) {
                break;
            }
            affix = make(draw, i);
        }
        list.push(affix);
    }
    list
}

/// An affix after drift: letters substituted at the rate of edits, sometimes two swapped instead, all of them new at
/// the rate of replacement. The length stays.
fn drifted(proto: Stem, letters: &Letters, drift: Rate, draw: &mut Draw) -> Stem {
    let mut affix = proto.letters().to_vec();
    let replaced = draw.chance(drift.replaced);
    for i in 0..affix.len() {
        if replaced || draw.chance(drift.edits) {
            if i > 0 && draw.chance(0.3) {
                affix.swap(i - 1, i);
            } else {
                affix[i] = substitute(affix[i], letters, draw);
            }
        }
    }
    Stem::new(&affix)
}
