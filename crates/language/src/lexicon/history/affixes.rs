//! Prefixes and suffixes: a small inventory per category, the empty affix included, which drifts at the rate of the
//! stems. `big` in one language may correspond to `bgi` in another.

use crate::error::{Error, Result};
use crate::family::Family;
use crate::lexicon::history::drift::{DriftRate, substitute};
use crate::lexicon::history::laws::law::{Edges, Laws};
use crate::lexicon::letters::FamilyLetters;
use crate::lexicon::phonology::{Letters, MAX_STEM, Stem};
use crate::world::symbol::{Category, Language};
use invitro_base::random::{Rng, Stream};

/// The categories that take affixes: all but names and function words.
pub const AFFIXED: [Category; 5] =
    [Category::Noun, Category::Descriptor, Category::Relation, Category::Adjective, Category::Adverb];

/// The affixes of one category in one language, without the empty one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inventory {
    /// Prefixes.
    pub prefixes: Vec<Stem>,
    /// Suffixes.
    pub suffixes: Vec<Stem>,
}

/// All inventories of a family.
#[derive(Clone, Debug)]
pub struct Affixes {
    /// By category, then by node.
    inventories: Vec<Vec<Inventory>>,
    /// The node of each language.
    nodes: Vec<usize>,
    rate: f64,
    /// Mean letters of a prefix and of a suffix, by category.
    lengths: Vec<f64>,
}

impl Affixes {
    /// `count` prefixes and suffixes per category; a word takes one of each with probability `rate`. `drift` and `laws` are
    /// by node; where there are laws, affixes change by these.
    pub(crate) fn new(
        count: usize,
        rate: f64,
        family: &Family,
        letters: &FamilyLetters,
        drift: &[DriftRate],
        laws: &[Option<Laws>],
        seed: u64,
    ) -> Result<Affixes> {
        let stream = Stream::new(seed, "lexicon/affixes");
        let own: Vec<Stream> =
            family.nodes().iter().map(|node| Stream::new(seed, &format!("lexicon/affixes/{}", node.name))).collect();
        let empty = || Inventory { prefixes: Vec::new(), suffixes: Vec::new() };
        let mut inventories = vec![vec![empty(); family.nodes().len()]; AFFIXED.len()];
        let mut lengths = vec![0.0; AFFIXED.len()];
        for (category, inventories) in inventories.iter_mut().enumerate() {
            for side in [0, 1] {
                let rng = &mut stream.at(category as u64, side);
                let proto = distinct(count, |rng, _| letters.proto.affix(rng), rng);
                lengths[category] += mean_letters(&proto);
                for branch in family.branches() {
                    let from = match branch.parent {
                        None => proto.clone(),
                        Some(parent) => inventories[parent].side(side).clone(),
                    };
                    // The root's siblings continue the random stream of its affixes.
                    let mut of_branch = own[branch.nodes[0]].at(category as u64, side);
                    let rng = if branch.is_root_pair() { &mut *rng } else { &mut of_branch };
                    for &node in &branch.nodes {
                        if let Some(laws) = &laws[node] {
                            let edges = Edges { left: side == 0, right: side == 1 };
                            let after = |affix| after_laws(laws, affix, edges, &family.nodes()[node].name);
                            *inventories[node].side(side) = from.iter().map(after).collect::<Result<_>>()?;
                            continue;
                        }
                        let drift = |rng: &mut Rng, i: usize| drifted(from[i], &letters.nodes[node], drift[node], rng);
                        *inventories[node].side(side) = distinct(count, drift, rng);
                    }
                }
            }
        }
        let nodes = (0..family.nodes().len()).filter(|&node| family.nodes()[node].language.is_some()).collect();
        Ok(Affixes { inventories, nodes, rate, lengths })
    }

    /// The inventory of a category in a language; `None` if the category takes no affixes.
    pub fn inventory(&self, category: Category, language: Language) -> Option<&Inventory> {
        self.of_node(category, self.nodes[language.index()])
    }

    fn of_node(&self, category: Category, node: usize) -> Option<&Inventory> {
        let i = AFFIXED.iter().position(|&c| c == category)?;
        Some(&self.inventories[i][node])
    }

    /// The chance of a prefix, and of a suffix.
    pub(crate) fn rate(&self) -> f64 {
        self.rate
    }

    /// The prefix and the suffix for two numbers in [0, 1): the affixes share the part below the rate, the empty affix
    /// has the remainder.
    pub(crate) fn pick(&self, category: Category, node: usize, numbers: [f64; 2]) -> [Stem; 2] {
        let Some(inventory) = self.of_node(category, node) else { return [Stem::new(b""); 2] };
        let at = |list: &[Stem], number: f64| {
            let i = number / self.rate * list.len() as f64;
            if number < self.rate { list[(i as usize).min(list.len() - 1)] } else { Stem::new(b"") }
        };
        [at(&inventory.prefixes, numbers[0]), at(&inventory.suffixes, numbers[1])]
    }

    /// The mean letters that affixes add to a word of this category; drift does not change it.
    pub(crate) fn mean_length(&self, category: Category) -> f64 {
        let at = AFFIXED.iter().position(|&c| c == category);
        at.map_or(0.0, |at| self.rate * self.lengths[at])
    }
}

impl Inventory {
    /// 0 for the prefixes, 1 for the suffixes.
    fn side(&mut self, side: u64) -> &mut Vec<Stem> {
        if side == 0 { &mut self.prefixes } else { &mut self.suffixes }
    }
}

fn mean_letters(list: &[Stem]) -> f64 {
    list.iter().map(|affix| affix.letters().len()).sum::<usize>() as f64 / list.len() as f64
}

/// `count` distinct affixes. A repeat is redrawn up to 100 times; a language of few letters may not have enough.
pub(crate) fn distinct(count: usize, make: impl Fn(&mut Rng, usize) -> Stem, rng: &mut Rng) -> Vec<Stem> {
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

/// An affix after drift: letters are substituted, or sometimes swapped, at the rate of edits, and all of them at the rate
/// of replacement. The length does not change.
fn drifted(proto: Stem, letters: &Letters, drift: DriftRate, rng: &mut Rng) -> Stem {
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

/// A list of affixes in every node: along each branch they drift at the rate of the stems, or change by its laws. `draws` gives
/// the random numbers of a node.
pub(crate) fn descend(
    proto: &[Stem],
    edges: Edges,
    family: &Family,
    letters: &FamilyLetters,
    drift: &[DriftRate],
    laws: &[Option<Laws>],
    draws: impl Fn(&str) -> Rng,
) -> Result<Vec<Vec<Stem>>> {
    let mut of_node: Vec<Vec<Stem>> = vec![Vec::new(); family.nodes().len()];
    for branch in family.branches() {
        for &node in &branch.nodes {
            let from = branch.parent.map_or(proto, |parent| &of_node[parent]);
            let rng = &mut draws(&family.nodes()[node].name);
            of_node[node] = match &laws[node] {
                Some(laws) => {
                    let after = |affix| after_laws(laws, affix, edges, &family.nodes()[node].name);
                    from.iter().map(after).collect::<Result<_>>()?
                }
                None => {
                    let drift = |rng: &mut Rng, i: usize| drifted(from[i], &letters.nodes[node], drift[node], rng);
                    distinct(from.len(), drift, rng)
                }
            };
        }
    }
    Ok(of_node)
}

/// An affix after the laws of a language.
fn after_laws(laws: &Laws, affix: &Stem, edges: Edges, language: &str) -> Result<Stem> {
    let letters = laws.apply_to(affix.letters(), edges);
    if letters.len() > MAX_STEM {
        return Err(Error::mismatch(format!(
            "the sound laws of {language} make the affix `{}` {} letters long; at most {MAX_STEM} are supported",
            affix.as_str(),
            letters.len()
        )));
    }
    Ok(Stem::new(&letters))
}
