//! How a word changes in a language: one edit after the other away from its proto-stem.
//!
//! A [`StemHistory`] holds every stage of both languages' changes at once, and a threshold for each edit: at rate r, the
//! edits whose threshold lies below r have happened. So one draw of randomness gives the cognates at every distance,
//! and calibration only has to look for the rate.

use crate::phonology::{Letters, MAX_STEM, Stem, is_pronounceable, is_vowel};
use crate::stream::Rng;

/// How far two languages have drifted: first letter by letter, then, where edits alone do not lead far enough, by
/// replacing whole stems.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// The chance that a letter of the proto-stem has been edited in a language.
    pub edits: f64,
    /// The share of stems that B has replaced.
    pub replaced: f64,
}

impl Rate {
    /// One scale for both: 0 to 1 edits, 1 to 2 replaces.
    pub fn at(t: f64) -> Rate {
        Rate { edits: t.min(1.0), replaced: (t - 1.0).max(0.0) }
    }
}

/// A proto-stem with all stages of its change in both languages.
#[derive(Clone, Debug)]
pub struct StemHistory {
    /// Per language, the stem after 0, 1, 2, … edits.
    stages: [Vec<Stem>; 2],
    /// Per language, the rates at which these edits happen, in rising order.
    thresholds: [Vec<f32>; 2],
    replaced_at: f32,
    replacement: Stem,
}

impl StemHistory {
    /// `length` draws the length of B's replacement, which is as unrelated as a stem can be.
    pub fn new(proto: Stem, letters: [&Letters; 2], length: usize, rng: &mut Rng) -> StemHistory {
        let stages = letters.map(|l| stages(proto, l, rng));
        let thresholds = [0, 1].map(|_| {
            let mut list: Vec<f32> = proto.letters().iter().map(|_| rng.unit() as f32).collect();
            list.sort_by(f32::total_cmp);
            list
        });
        let replaced_at = rng.unit() as f32;
        StemHistory { stages, thresholds, replaced_at, replacement: letters[1].stem(length, rng) }
    }

    /// The cognates in A and in B at a rate.
    #[inline]
    pub fn cognates(&self, rate: Rate) -> [Stem; 2] {
        let stem = |language: usize| {
            let edits = self.thresholds[language].partition_point(|&t| f64::from(t) < rate.edits);
            self.stages[language][edits]
        };
        let replaced = f64::from(self.replaced_at) < rate.replaced;
        [stem(0), if replaced { self.replacement } else { stem(1) }]
    }
}

/// The stem after each edit. Every letter of the proto-stem is edited once, in random order: substituted by a letter
/// of its kind, deleted, or given a new neighbour. Deletions and insertions alternate, so lengths do not wander.
fn stages(proto: Stem, letters: &Letters, rng: &mut Rng) -> Vec<Stem> {
    let n = proto.letters().len();
    let mut order: Vec<usize> = (0..n).collect();
    rng.shuffle(&mut order);
    let mut current: Vec<u8> = proto.letters().to_vec();
    // origin[i]: the proto letter that stands at i now, or n for an inserted one.
    let mut origin: Vec<usize> = (0..n).collect();
    let mut stages = vec![proto];
    for place in order {
        let at = origin.iter().position(|&o| o == place).expect("a letter is deleted only by its own edit");
        let resize = rng.chance(0.4);
        let longer = current.len() < n || (current.len() == n && rng.chance(0.5));
        let done = resize
            && if longer {
                insert(&mut current, &mut origin, at, n, letters, rng)
            } else {
                delete(&mut current, &mut origin, at)
            };
        if !done {
            current[at] = substitute(current[at], letters, rng);
        }
        stages.push(Stem::new(&current));
    }
    stages
}

fn insert(
    current: &mut Vec<u8>,
    origin: &mut Vec<usize>,
    at: usize,
    new: usize,
    letters: &Letters,
    rng: &mut Rng,
) -> bool {
    let at = at + rng.index(2);
    let letter = letters.letter(rng.chance(0.5), rng);
    current.insert(at, letter);
    if current.len() > MAX_STEM || !is_pronounceable(current) {
        current.remove(at);
        return false;
    }
    origin.insert(at, new);
    true
}

fn delete(current: &mut Vec<u8>, origin: &mut Vec<usize>, at: usize) -> bool {
    let letter = current.remove(at);
    if current.len() < 2 || !is_pronounceable(current) {
        current.insert(at, letter);
        return false;
    }
    origin.remove(at);
    true
}

/// Another letter of the same kind, consonant or vowel.
pub fn substitute(letter: u8, letters: &Letters, rng: &mut Rng) -> u8 {
    loop {
        let other = letters.letter(is_vowel(letter), rng);
        if other != letter {
            return other;
        }
    }
}
