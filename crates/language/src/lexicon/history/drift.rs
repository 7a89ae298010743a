//! Stem drift: a sequence of edits of the ancestor's stem.
//!
//! A [`StemHistory`] holds all stages of the changes and a threshold for each edit: at rate r, the edits with a threshold
//! below r have happened. One random draw gives the cognates at every distance; calibration only searches the rate.

use crate::lexicon::phonology::{Letters, MAX_STEM, Stem, is_pronounceable, is_vowel};
use invitro_base::random::Rng;

/// The drift of a language: edits of letters and, where these do not suffice, replacement of whole stems.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DriftRate {
    /// The probability that a letter of the ancestor's stem is edited.
    pub edits: f64,
    /// The share of stems that are replaced.
    pub replaced: f64,
}

impl DriftRate {
    /// The rate at a point of one scale: 0 to 1 edits letters, 1 to 2 also replaces stems.
    pub fn at(t: f64) -> DriftRate {
        DriftRate { edits: t.min(1.0), replaced: (t - 1.0).max(0.0) }
    }
}

/// All stages of a stem's change in the languages of one branch.
#[derive(Clone, Debug)]
pub struct StemHistory(Vec<StemChange>);

#[derive(Clone, Debug)]
struct StemChange {
    /// The stem after 0, 1, 2, … edits.
    stages: Vec<Stem>,
    /// The rates at which these edits happen, in rising order.
    thresholds: Vec<f32>,
    /// The rate at which an unrelated stem replaces this one.
    replaced: Option<(f32, Stem)>,
}

impl StemHistory {
    /// One change for each of `letters`. The first of several siblings never replaces its stems. `length` is the length
    /// of a replacement.
    pub fn new(ancestor: Stem, letters: &[&Letters], length: usize, rng: &mut Rng) -> StemHistory {
        let stages: Vec<Vec<Stem>> = letters.iter().map(|letters| stages(ancestor, letters, rng)).collect();
        let mut thresholds = || {
            let mut list: Vec<f32> = ancestor.letters().iter().map(|_| rng.unit() as f32).collect();
            list.sort_by(f32::total_cmp);
            list
        };
        let thresholds: Vec<Vec<f32>> = letters.iter().map(|_| thresholds()).collect();
        let can_replace = |at: usize| at > 0 || letters.len() == 1;
        let changes = letters.iter().zip(stages.into_iter().zip(thresholds)).enumerate();
        let change = |(at, (letters, (stages, thresholds))): (usize, (&&Letters, _))| {
            let replaced = can_replace(at).then(|| (rng.unit() as f32, letters.stem(length, rng)));
            StemChange { stages, thresholds, replaced }
        };
        StemHistory(changes.map(change).collect())
    }

    /// The stem in one of the languages at a rate.
    #[inline]
    pub fn stem(&self, language: usize, rate: DriftRate) -> Stem {
        let StemChange { stages, thresholds, replaced } = &self.0[language];
        match replaced {
            Some((at, replacement)) if f64::from(*at) < rate.replaced => *replacement,
            _ => stages[thresholds.partition_point(|&t| f64::from(t) < rate.edits)],
        }
    }
}

/// The stem after each edit. Every letter of the proto-stem is edited once, in random order: substituted by a letter of
/// its kind, deleted, or given a new neighbour. Deletions and insertions alternate, so lengths stay close.
fn stages(proto: Stem, letters: &Letters, rng: &mut Rng) -> Vec<Stem> {
    let n = proto.letters().len();
    let mut order: Vec<usize> = (0..n).collect();
    rng.shuffle(&mut order);
    let mut current: Vec<u8> = proto.letters().to_vec();
    // origin[i]: the index of the proto letter now at i, or n for an inserted letter.
    let mut origin: Vec<usize> = (0..n).collect();
    let mut stages = vec![proto];
    for place in order {
        let at = origin.iter().position(|&o| o == place).expect("a letter is deleted only by its own edit");
        let resize = rng.chance(0.4);
        let lengthen = current.len() < n || (current.len() == n && rng.chance(0.5));
        let done = resize
            && if lengthen {
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

/// A different letter of the same kind, consonant or vowel.
pub fn substitute(letter: u8, letters: &Letters, rng: &mut Rng) -> u8 {
    loop {
        let other = letters.letter(is_vowel(letter), rng);
        if other != letter {
            return other;
        }
    }
}
