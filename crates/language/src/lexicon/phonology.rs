//! Letters, syllables and stems.
//!
//! Letters follow Zipf's law, consonants and vowels ranked separately. A stem is a run of the paper's syllables (CVC, CCV,
//! CVCC, CV, VC, V) of an exact length, with no more than three consonants or two vowels in a row.

use invitro_base::random::Rng;

pub(crate) const CONSONANTS: &[u8] = b"tnsrldkmpgbvfhzcwjyxq";
pub(crate) const VOWELS: &[u8] = b"aeiou";
/// Syllables as consonant (true) and vowel (false).
const SYLLABLES: [&[bool]; 6] =
    [&[true, false, true], &[true, true, false], &[true, false, true, true], &[true, false], &[false, true], &[false]];
/// The largest shift of a letter in a new ranking, in units of the logarithm of a rank.
const PROTO_DRIFT: f64 = 1.2;
/// The maximum length of a stem.
pub const MAX_STEM: usize = 31;

pub fn is_vowel(letter: u8) -> bool {
    VOWELS.contains(&letter)
}

/// A short run of letters, stored inline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Stem {
    letters: [u8; MAX_STEM],
    len: u8,
}

impl Stem {
    pub(crate) fn new(letters: &[u8]) -> Stem {
        let mut stem = Stem { letters: [0; MAX_STEM], len: letters.len() as u8 };
        stem.letters[..letters.len()].copy_from_slice(letters);
        stem
    }

    pub(crate) fn letters(&self) -> &[u8] {
        &self.letters[..self.len as usize]
    }

    /// With its first letter as a capital.
    pub(crate) fn capitalised(mut self) -> Stem {
        self.letters[0].make_ascii_uppercase();
        self
    }

    /// As a string.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(self.letters()).expect("letters are ASCII")
    }
}

/// A word's prefix, stem and suffix, in the shared alphabet.
pub type Morphemes = [Stem; 3];

/// Letters from most to least frequent.
#[derive(Clone, Debug)]
struct Ranking {
    letters: Vec<u8>,
    cumulative: Vec<f64>,
}

impl Ranking {
    /// The letters of `order`, sorted by the logarithm of their rank plus a shift of at most `drift`.
    fn new(order: &[u8], zipf: f64, drift: f64, rng: &mut Rng) -> Ranking {
        let place = |rank: usize, rng: &mut Rng| ((rank + 1) as f64).ln() + drift * (2.0 * rng.unit() - 1.0);
        let mut placed: Vec<(f64, u8)> = order.iter().enumerate().map(|(i, &l)| (place(i, rng), l)).collect();
        placed.sort_by(|a, b| a.0.total_cmp(&b.0));
        let weights: Vec<f64> = (1..=order.len()).map(|rank| (rank as f64).powf(-zipf)).collect();
        let total: f64 = weights.iter().sum();
        let mut sum = 0.0;
        let cumulative = weights.iter().map(|w| (sum += w / total, sum).1).collect();
        Ranking { letters: placed.into_iter().map(|(_, l)| l).collect(), cumulative }
    }

    fn draw(&self, rng: &mut Rng) -> u8 {
        let u = rng.unit();
        let i = self.cumulative.iter().position(|&c| u < c).unwrap_or(self.letters.len() - 1);
        self.letters[i]
    }
}

/// The letter distribution of a language, or of the one it descends from.
#[derive(Clone, Debug)]
pub struct Letters {
    consonants: Ranking,
    vowels: Ranking,
    zipf: f64,
}

impl Letters {
    /// A new ranking for a proto-language.
    pub(crate) fn proto(zipf: f64, rng: &mut Rng) -> Letters {
        Letters {
            consonants: Ranking::new(CONSONANTS, zipf, PROTO_DRIFT, rng),
            vowels: Ranking::new(VOWELS, zipf, PROTO_DRIFT, rng),
            zipf,
        }
    }

    /// The ranking of a descendant, `drift` away from this one.
    pub(crate) fn descend(&self, drift: f64, rng: &mut Rng) -> Letters {
        Letters {
            consonants: Ranking::new(&self.consonants.letters, self.zipf, drift, rng),
            vowels: Ranking::new(&self.vowels.letters, self.zipf, drift, rng),
            zipf: self.zipf,
        }
    }

    /// The same letters in the order of their frequency in some stems.
    pub(crate) fn by_count<'a>(&self, stems: impl Iterator<Item = &'a Stem>) -> Letters {
        let mut counts = [0usize; 256];
        stems.flat_map(Stem::letters).for_each(|&letter| counts[letter as usize] += 1);
        let mut letters = self.clone();
        for ranking in [&mut letters.consonants, &mut letters.vowels] {
            ranking.letters.sort_by_key(|&letter| std::cmp::Reverse(counts[letter as usize]));
        }
        letters
    }

    /// Consonants, the most frequent first.
    pub fn consonants(&self) -> &str {
        std::str::from_utf8(&self.consonants.letters).expect("letters are ASCII")
    }

    /// Vowels, the most frequent first.
    pub fn vowels(&self) -> &str {
        std::str::from_utf8(&self.vowels.letters).expect("letters are ASCII")
    }

    pub(crate) fn letter(&self, vowel: bool, rng: &mut Rng) -> u8 {
        if vowel { self.vowels.draw(rng) } else { self.consonants.draw(rng) }
    }

    /// A stem of exactly `length` letters.
    pub(crate) fn stem(&self, length: usize, rng: &mut Rng) -> Stem {
        debug_assert!((1..=MAX_STEM).contains(&length));
        let mut letters = Vec::with_capacity(MAX_STEM);
        loop {
            letters.clear();
            while letters.len() < length {
                let left = length - letters.len();
                let syllable = SYLLABLES[rng.index(SYLLABLES.len())];
                if syllable.len() <= left {
                    letters.extend(syllable.iter().map(|&consonant| self.letter(!consonant, rng)));
                }
            }
            if is_pronounceable(&letters) {
                return Stem::new(&letters);
            }
        }
    }

    /// A prefix or suffix: a syllable of two or three letters.
    pub(crate) fn affix(&self, rng: &mut Rng) -> Stem {
        const SHORT: [&[bool]; 4] = [SYLLABLES[0], SYLLABLES[1], SYLLABLES[3], SYLLABLES[4]];
        let syllable = SHORT[rng.index(SHORT.len())];
        let letters: Vec<u8> = syllable.iter().map(|&consonant| self.letter(!consonant, rng)).collect();
        Stem::new(&letters)
    }
}

/// At most three consonants or two vowels in a row, no double letter at the edges, at least one vowel.
pub fn is_pronounceable(letters: &[u8]) -> bool {
    let mut run = 0;
    let mut last = None;
    for &letter in letters {
        let vowel = is_vowel(letter);
        run = if last == Some(vowel) { run + 1 } else { 1 };
        if run > if vowel { 2 } else { 3 } {
            return false;
        }
        last = Some(vowel);
    }
    letters.iter().any(|&l| is_vowel(l))
        && (letters.len() < 3 || (letters[0] != letters[1] && letters[letters.len() - 1] != letters[letters.len() - 2]))
}
