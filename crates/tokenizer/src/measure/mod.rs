//! Measures of a tokenizer over running text and over the lexicon.
//!
//! The token of a word boundary is not counted. For the text `foc oe`, segmented as `f oc ▁ oe ▁`:
//!
//! | measure | | here |
//! |---|---|---|
//! | fertility | pieces per word | 3 / 2 |
//! | continuation | share of words with more than one piece | 1 / 2 |
//! | one_piece | share of words that are one piece | 1 / 2 |
//! | overlap | pieces used by both of two languages, over pieces used by either, for the same words; names left out where the two have different scripts | |
//! | parity | pieces of one language over pieces of another, for the same sentences | |
//! | renyi | Rényi entropy (α = 2.5) of the pieces over that of a uniform vocabulary | |
//! | utilisation | share of the vocabulary's pieces that are used | |
//! | boundary_precision | share of the cuts inside words that fall between morphemes | |
//! | boundary_recall | share of the boundaries between morphemes that are cut | |
//!
//! Names have the shared alphabet in every language. Between two languages of different scripts only names would have
//! common pieces, so the overlap excludes them; it is then 0 except for the kind `byte`, whose pieces are parts of letters.

pub mod bridge;

use crate::segment::segmentation::Segmentation;
use crate::train::counts::WordCounts;
use invitro_language::{Category, Language, LanguageCondition, Languages, Symbol};
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, HashSet};

/// The order of the Rényi entropy that correlates with model quality (Zouhar et al. 2023).
pub const ALPHA: f64 = 2.5;

/// How words are split in one text. A share of nothing is NaN, which JSON writes as `null`.
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
pub struct LanguageMeasures {
    /// By condition.
    #[serde(flatten)]
    pub conditions: BTreeMap<LanguageCondition, Fragmentation>,
    /// All unmasked conditions together.
    pub both: Fragmentation,
    /// Pieces used by both languages over pieces used by either, for the same words; without names if scripts differ.
    pub overlap: Pairs,
    /// Pieces of the first over pieces of the second, for the same sentences.
    pub parity: Pairs,
}

/// A number for every pair of languages. In JSON, the number itself if there is one pair, else a map by `A-B`.
#[derive(Clone, Debug, PartialEq)]
pub struct Pairs(pub Vec<([Language; 2], f64)>);

impl Pairs {
    fn new(languages: &[Language], number: impl Fn([Language; 2]) -> f64) -> Pairs {
        Pairs(Language::pairs(languages).map(|pair| (pair, number(pair))).collect())
    }

    /// The number of the only pair, if there is one pair.
    pub fn only(&self) -> Option<f64> {
        if let [(_, number)] = self.0[..] { Some(number) } else { None }
    }
}

impl Serialize for Pairs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.only() {
            Some(number) => number.serialize(serializer),
            None => serializer
                .collect_map(self.0.iter().map(|([one, other], n)| (format!("{}-{}", one.name(), other.name()), n))),
        }
    }
}

/// The measures of running text, and of the lexicon with every word once.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measures {
    /// Running text.
    pub text: LanguageMeasures,
    /// The lexicon.
    pub lexicon: LanguageMeasures,
}

impl Measures {
    /// Measures a tokenizer on its languages; `text` comes from [`WordCounts::text`].
    pub fn new(segmentation: &Segmentation, languages: &Languages, text: &WordCounts<LanguageCondition>) -> Measures {
        let boundaries = |symbol, language| languages.lexicon.word(symbol, language).boundaries().collect();
        let script = |language| languages.family.node(language).script;
        let is_name = |symbol| languages.world.category(symbol) == Category::Name;
        let counts_for_overlap = |symbol, [one, other]: [Language; 2]| script(one) == script(other) || !is_name(symbol);
        let panel = |counts: &WordCounts<LanguageCondition>| {
            LanguageMeasures::new(segmentation, languages.all(), counts, boundaries, counts_for_overlap)
        };
        Measures { text: panel(text), lexicon: panel(&WordCounts::lexicon(languages)) }
    }
}

impl LanguageMeasures {
    /// `boundaries`: the byte offsets between a word's morphemes. `overlaps`: whether a symbol counts for the overlap.
    fn new(
        segmentation: &Segmentation,
        languages: &[Language],
        counts: &WordCounts<LanguageCondition>,
        boundaries: impl Fn(Symbol, Language) -> Vec<usize>,
        overlaps: impl Fn(Symbol, [Language; 2]) -> bool,
    ) -> LanguageMeasures {
        let mut both = PieceCounts::new(segmentation.rows());
        let mut conditions = BTreeMap::new();
        for condition in counts.keys() {
            let mut tally = PieceCounts::new(segmentation.rows());
            let language = condition.language;
            for (symbol, count) in counts.words(condition) {
                let (pieces, boundaries) = (segmentation.core(symbol, language), boundaries(symbol, language));
                tally.add(segmentation, pieces, &boundaries, count);
                if !condition.masked {
                    both.add(segmentation, pieces, &boundaries, count);
                }
            }
            conditions.insert(condition, tally.measure(segmentation.available(&[language])));
        }
        // The same words in both languages, or rare pieces would miss one side by chance.
        let words = |[one, other]: [Language; 2]| -> Vec<(Symbol, u64)> {
            let unmasked = |language| counts.words(LanguageCondition { language, masked: false });
            let of_one: HashSet<Symbol> = unmasked(one).map(|(symbol, _)| symbol).collect();
            unmasked(other).filter(|(symbol, _)| of_one.contains(symbol)).collect()
        };
        let overlap = |pair: [Language; 2]| {
            let words: Vec<_> = words(pair).into_iter().filter(|&(symbol, _)| overlaps(symbol, pair)).collect();
            let pieces = |language| {
                words.iter().flat_map(move |&(symbol, _)| segmentation.core(symbol, language).iter().copied())
            };
            let [one, other] = pair.map(|language| pieces(language).collect::<HashSet<u32>>());
            share(one.intersection(&other).count() as u64, one.union(&other).count() as u64)
        };
        let parity = |pair: [Language; 2]| {
            let words = words(pair);
            let pieces = |language| words.iter().map(|&(s, n)| segmentation.core(s, language).len() as u64 * n).sum();
            let [one, other] = pair.map(pieces);
            share(one, other)
        };
        let (overlap, parity) = (Pairs::new(languages, overlap), Pairs::new(languages, parity));
        LanguageMeasures { conditions, both: both.measure(segmentation.available(languages)), overlap, parity }
    }
}

fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

/// The counts of a text.
struct PieceCounts {
    words: u64,
    pieces: u64,
    continued: u64,
    /// Cuts inside words, boundaries between morphemes, and cuts that fall on a boundary.
    cuts: u64,
    boundaries: u64,
    hits: u64,
    /// The count of each token.
    used: Vec<u64>,
}

impl PieceCounts {
    fn new(vocab: usize) -> PieceCounts {
        PieceCounts { words: 0, pieces: 0, continued: 0, cuts: 0, boundaries: 0, hits: 0, used: vec![0; vocab] }
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

    /// `available`: the number of ids that words can contain.
    fn measure(&self, available: u64) -> Fragmentation {
        let used = self.used.iter().filter(|&&n| n > 0).count() as u64;
        Fragmentation {
            words: self.words,
            pieces: self.pieces,
            fertility: share(self.pieces, self.words),
            continuation: share(self.continued, self.words),
            one_piece: share(self.words - self.continued, self.words),
            renyi: renyi(&self.used, ALPHA) / (available as f64).ln(),
            utilisation: share(used, available),
            // Where nothing is concatenated there are no boundaries, and no cut is wrong.
            boundary_precision: if self.boundaries == 0 { f64::NAN } else { share(self.hits, self.cuts) },
            boundary_recall: share(self.hits, self.boundaries),
        }
    }
}

/// The Rényi entropy of a distribution given by counts, in nats: `ln Σ p^α / (1 - α)`. NaN without counts.
///
/// ```
/// let uniform = invitro_tokenizer::measure::renyi(&[3, 3, 3, 3], 2.5);
/// assert!((uniform - 4f64.ln()).abs() < 1e-12);
/// ```
pub fn renyi(counts: &[u64], alpha: f64) -> f64 {
    let total: u64 = counts.iter().sum();
    let power: f64 = counts.iter().filter(|&&n| n > 0).map(|&n| share(n, total).powf(alpha)).sum();
    if total == 0 { f64::NAN } else { power.ln() / (1.0 - alpha) }
}
