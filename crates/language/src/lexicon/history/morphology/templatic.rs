//! Templatic words: the consonants of the stem are the root, the vowels come from a pattern (`k t b`, `a i`: `katib`).

use crate::family::Family;
use crate::lexicon::history::affixes::AFFIXED;
use crate::lexicon::history::drift::{DriftRate, substitute};
use crate::lexicon::letters::FamilyLetters;
use crate::lexicon::phonology::{Stem, is_vowel};
use crate::world::symbol::Category;
use invitro_base::random::{Rng, Stream};

/// Places of a pattern: after each of the first consonants, over and over, and after the last.
const PLACES: usize = 4;

/// A place without a vowel.
const NONE: u8 = b'-';

/// The consonants of a stem, which are its root; the whole stem if it has none.
pub(crate) fn root(letters: &[u8]) -> Vec<u8> {
    let consonants: Vec<u8> = letters.iter().copied().filter(|&letter| !is_vowel(letter)).collect();
    if consonants.is_empty() { letters.to_vec() } else { consonants }
}

/// The vowel patterns of a family's templatic words.
#[derive(Clone, Debug)]
pub(crate) struct Patterns {
    /// By category, then by node.
    patterns: Vec<Vec<Vec<Stem>>>,
}

impl Patterns {
    /// `count` patterns of each category, whose vowels drift at the rate of the stems' letters. Sound laws leave them.
    pub fn new(count: usize, family: &Family, letters: &FamilyLetters, drift: &[DriftRate], seed: u64) -> Patterns {
        let of_category = |category: usize| {
            let rng = &mut Stream::new(seed, "lexicon/patterns").at(category as u64, 0);
            let proto: Vec<Stem> = (0..count).map(|at| pattern(at, letters, rng)).collect();
            let mut of_node: Vec<Vec<Stem>> = vec![Vec::new(); family.nodes().len()];
            for branch in family.branches() {
                for &node in &branch.nodes {
                    let draws = Stream::new(seed, &format!("lexicon/patterns/{}", family.nodes()[node].name));
                    let rng = &mut draws.at(category as u64, 0);
                    let from = branch.parent.map_or(&proto, |parent| &of_node[parent]);
                    let drifted = |pattern: &Stem| {
                        let mut places = pattern.letters().to_vec();
                        for place in places.iter_mut().filter(|place| **place != NONE) {
                            if rng.chance(drift[node].edits) {
                                *place = substitute(*place, &letters.nodes[node], rng);
                            }
                        }
                        Stem::new(&places)
                    };
                    of_node[node] = from.iter().map(drifted).collect();
                }
            }
            of_node
        };
        Patterns { patterns: (0..AFFIXED.len()).map(of_category).collect() }
    }

    /// A stem's root in the pattern that a number in [0, 1) selects. Function words are their stems.
    pub fn word(&self, stem: Stem, category: Category, node: usize, number: f64) -> Stem {
        let Some(at) = AFFIXED.iter().position(|&affixed| affixed == category) else { return stem };
        let patterns = &self.patterns[at][node];
        let pattern = patterns[(number * patterns.len() as f64) as usize].letters();
        let root = root(stem.letters());
        if root.iter().all(|&letter| is_vowel(letter)) {
            return stem;
        }
        let mut letters = Vec::with_capacity(2 * root.len());
        for (at, &consonant) in root.iter().enumerate() {
            letters.push(consonant);
            let place = if at + 1 == root.len() && at > 0 { PLACES } else { at % PLACES };
            letters.extend(Some(pattern[place]).filter(|&vowel| vowel != NONE));
        }
        Stem::new(&letters[..letters.len().min(crate::lexicon::phonology::MAX_STEM)])
    }
}

/// A vowel after the first and the third consonant and after the second or the fourth, and in every third pattern after the
/// last, so that words of all families are about as long as their stems.
fn pattern(at: usize, letters: &FamilyLetters, rng: &mut Rng) -> Stem {
    let second = rng.chance(0.5);
    let places = [true, second, true, !second, at.is_multiple_of(3)];
    Stem::new(&places.map(|vowel| if vowel { letters.proto.letter(true, rng) } else { NONE }))
}
