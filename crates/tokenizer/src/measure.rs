//! What a tokenizer does to the languages, in numbers: over running text, and over the lexicon.
//!
//! The token of a word boundary is not counted. For the text `foc oe` taken apart as `f oc ▁ oe ▁`:
//!
//! | measure | | here |
//! |---|---|---|
//! | fertility | pieces per word | 3 / 2 |
//! | continuation | share of words with more than one piece | 1 / 2 |
//! | one_piece | share of words that are one piece | 1 / 2 |
//! | overlap | pieces used by both A and B, over pieces used by either, for the same words | |
//! | parity | pieces of A over pieces of B, for the same sentences | |
//! | renyi | Rényi entropy (α = 2.5) of the pieces over that of a uniform vocabulary | |
//! | utilisation | share of the vocabulary's pieces that are used | |
//! | boundary_precision | share of the cuts inside words that fall between morphemes | |
//! | boundary_recall | share of the boundaries between morphemes that are cut | |

use crate::counts::WordCounts;
use crate::segmentation::Segmentation;
use crate::special::COUNT;
use invitro_language::{Condition, Language, Languages, Symbol};
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};

/// The order of the Rényi entropy, at which Zouhar et al. 2023 found it to go with a model's quality.
pub const ALPHA: f64 = 2.5;

/// How words are split in one text. A share without anything to count is NaN; JSON writes it as `null`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Fragmentation {
    /// Words of the text.
    pub words: u64,
    /// Their pieces.
    pub pieces: u64,
    /// Pieces per word.
    pub fertility: f64,
    /// The share of words with more than one piece.
    pub continuation: f64,
    /// The share of words that are one piece.
    pub one_piece: f64,
    /// Rényi efficiency.
    pub renyi: f64,
    /// The share of the vocabulary's pieces that are used.
    pub utilisation: f64,
    /// The share of the cuts inside words that fall between morphemes.
    pub boundary_precision: f64,
    /// The share of the boundaries between morphemes that are cut.
    pub boundary_recall: f64,
}

/// The measures of one text.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Panel {
    /// By condition.
    #[serde(flatten)]
    pub conditions: BTreeMap<Condition, Fragmentation>,
    /// All unmasked conditions together.
    pub both: Fragmentation,
    /// Pieces used by both languages over pieces used by either, for the same words.
    pub overlap: f64,
    /// Pieces of A over pieces of B, for the same sentences.
    pub parity: f64,
}

/// The measures of running text, and of the lexicon with every word once.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measures {
    /// Running text.
    pub text: Panel,
    /// The lexicon.
    pub lexicon: Panel,
}

impl Measures {
    /// Of a tokenizer on the languages it was trained on; `text` is what [`WordCounts::text`] gives.
    pub fn new(segmentation: &Segmentation, languages: &Languages, text: &WordCounts<Condition>) -> Measures {
        let boundaries = |symbol, language| languages.lexicon.word(symbol, language).boundaries().collect();
        let panel = |counts: &WordCounts<Condition>| Panel::new(segmentation, counts, boundaries);
        Measures { text: panel(text), lexicon: panel(&WordCounts::lexicon(languages)) }
    }
}

impl Panel {
    /// `boundaries` says after how many letters of a word one morpheme ends and another begins.
    fn new(
        segmentation: &Segmentation,
        counts: &WordCounts<Condition>,
        boundaries: impl Fn(Symbol, Language) -> Vec<usize>,
    ) -> Panel {
        let mut both = Tally::new(segmentation.vocab_size());
        let mut conditions = BTreeMap::new();
        for condition in counts.keys() {
            let mut tally = Tally::new(segmentation.vocab_size());
            let language = condition.language;
            for (symbol, count) in counts.words(condition) {
                let (pieces, boundaries) = (segmentation.core(symbol, language), boundaries(symbol, language));
                tally.add(segmentation, pieces, &boundaries, count);
                if !condition.masked {
                    both.add(segmentation, pieces, &boundaries, count);
                }
            }
            conditions.insert(condition, tally.measure());
        }
        // The same words in both languages: of other ones, rare pieces would miss one side by chance.
        let words = || counts.words(Condition::B);
        let pieces = |language| words().map(|(s, n)| segmentation.core(s, language).len() as u64 * n).sum();
        let used = Language::ALL.map(|language| -> HashSet<u32> {
            words().flat_map(|(symbol, _)| segmentation.core(symbol, language).iter().copied()).collect()
        });
        let by_both = used[0].intersection(&used[1]).count();
        let by_either = used[0].union(&used[1]).count();
        Panel {
            conditions,
            both: both.measure(),
            overlap: share(by_both as u64, by_either as u64),
            parity: share(pieces(Language::A), pieces(Language::B)),
        }
    }
}

fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

/// What is counted before anything is divided.
struct Tally {
    words: u64,
    pieces: u64,
    continued: u64,
    /// Cuts inside words, boundaries between morphemes, and cuts that fall on a boundary.
    cuts: u64,
    boundaries: u64,
    hits: u64,
    /// How often each token is used.
    used: Vec<u64>,
}

impl Tally {
    fn new(vocab: usize) -> Tally {
        Tally { words: 0, pieces: 0, continued: 0, cuts: 0, boundaries: 0, hits: 0, used: vec![0; vocab] }
    }

    fn add(&mut self, segmentation: &Segmentation, pieces: &[u32], boundaries: &[usize], count: u64) {
        self.words += count;
        self.pieces += count * pieces.len() as u64;
        self.continued += if pieces.len() > 1 { count } else { 0 };
        self.boundaries += count * boundaries.len() as u64;
        let mut place = 0;
        for (i, &piece) in pieces.iter().enumerate() {
            self.used[piece as usize] += count;
            if i > 0 {
                self.cuts += count;
                self.hits += if boundaries.contains(&place) { count } else { 0 };
            }
            place += segmentation.letters(piece).len();
        }
    }

    fn measure(&self) -> Fragmentation {
        // What a word can be made of: everything but the special tokens and the boundary.
        let available = self.used.len() as u64 - u64::from(COUNT) - 1;
        let used = self.used.iter().filter(|&&n| n > 0).count() as u64;
        Fragmentation {
            words: self.words,
            pieces: self.pieces,
            fertility: share(self.pieces, self.words),
            continuation: share(self.continued, self.words),
            one_piece: share(self.words - self.continued, self.words),
            renyi: renyi(&self.used, ALPHA) / (available as f64).ln(),
            utilisation: share(used, available),
            boundary_precision: share(self.hits, self.cuts),
            boundary_recall: share(self.hits, self.boundaries),
        }
    }
}

/// The Rényi entropy of a distribution given by counts, in nats: `ln Σ p^α / (1 - α)`.
///
/// ```
/// let uniform = invitro_tokenizer::measure::renyi(&[3, 3, 3, 3], 2.5);
/// assert!((uniform - 4f64.ln()).abs() < 1e-12);
/// ```
pub fn renyi(counts: &[u64], alpha: f64) -> f64 {
    let total: u64 = counts.iter().sum();
    let power: f64 = counts.iter().filter(|&&n| n > 0).map(|&n| share(n, total).powf(alpha)).sum();
    power.ln() / (1.0 - alpha)
}
