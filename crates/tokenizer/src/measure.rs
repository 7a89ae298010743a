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
//! | boundary_recall | share of the seams between morphemes that are cut | |

use crate::sample::Sample;
use crate::segmentation::Segmentation;
use crate::special::COUNT;
use invitro_language::{Condition, Language, Languages, Symbol};
use serde::Serialize;
use std::collections::HashSet;

/// The order of the Rényi entropy, at which Zouhar et al. 2023 found it to go with a model's quality.
pub const ALPHA: f64 = 2.5;

/// A share without anything to count is not a number; JSON writes it as `null`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Fragmentation {
    pub words: u64,
    pub pieces: u64,
    pub fertility: f64,
    pub continuation: f64,
    pub one_piece: f64,
    pub renyi: f64,
    pub utilisation: f64,
    pub boundary_precision: f64,
    pub boundary_recall: f64,
}

/// The measures of one sample.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Panel {
    #[serde(rename = "A")]
    pub a: Fragmentation,
    #[serde(rename = "B")]
    pub b: Fragmentation,
    #[serde(rename = "B_masked")]
    pub b_masked: Fragmentation,
    /// A and B together.
    pub both: Fragmentation,
    pub overlap: f64,
    pub parity: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measures {
    pub text: Panel,
    pub lexicon: Panel,
}

impl Measures {
    pub fn new(segmentation: &Segmentation, languages: &Languages, text: &Sample) -> Measures {
        let panel = |sample: &Sample| Panel::new(segmentation, languages, sample);
        Measures { text: panel(text), lexicon: panel(&Sample::lexicon(languages)) }
    }

    /// Every measure under its column name: running text as it is, the lexicon's after `lexicon.`.
    pub fn flatten(&self) -> Vec<(String, f64)> {
        let lexicon = self.lexicon.flatten().into_iter().map(|(name, value)| (format!("lexicon.{name}"), value));
        self.text.flatten().into_iter().chain(lexicon).collect()
    }
}

impl Panel {
    pub fn new(segmentation: &Segmentation, languages: &Languages, sample: &Sample) -> Panel {
        let seams = |symbol, language| languages.lexicon.word(symbol, language).boundaries().collect();
        Panel::with(segmentation, sample, seams)
    }

    /// `seams` says after how many letters of a word one morpheme ends and another begins.
    fn with(segmentation: &Segmentation, sample: &Sample, seams: impl Fn(Symbol, Language) -> Vec<usize>) -> Panel {
        let [a, b, b_masked] = Condition::ALL.map(|condition| {
            let mut tally = Tally::new(segmentation.vocab_size());
            for (symbol, count) in sample.words(condition) {
                let language = condition.language();
                tally.add(segmentation, segmentation.core(symbol, language), &seams(symbol, language), count);
            }
            tally
        });
        let pieces =
            |language| sample.words(Condition::B).map(move |(s, n)| segmentation.core(s, language).len() as u64 * n);
        // The same words in both languages: of other ones, rare pieces would miss one side by chance.
        let used = Language::BOTH.map(|language| -> HashSet<u32> {
            sample
                .words(Condition::B)
                .flat_map(|(symbol, _)| segmentation.core(symbol, language).iter().copied())
                .collect()
        });
        let by_both = used[0].intersection(&used[1]).count();
        let by_either = used[0].union(&used[1]).count();
        Panel {
            overlap: share(by_both as u64, by_either as u64),
            parity: share(pieces(Language::A).sum(), pieces(Language::B).sum()),
            both: a.joined(&b).measure(),
            a: a.measure(),
            b: b.measure(),
            b_masked: b_masked.measure(),
        }
    }

    fn flatten(&self) -> Vec<(String, f64)> {
        let mut all = Vec::new();
        for (condition, of) in [("A", &self.a), ("B", &self.b), ("B_masked", &self.b_masked)] {
            all.push((format!("fertility.{condition}"), of.fertility));
            all.push((format!("continuation.{condition}"), of.continuation));
            all.push((format!("one_piece.{condition}"), of.one_piece));
            all.push((format!("renyi.{condition}"), of.renyi));
            all.push((format!("utilisation.{condition}"), of.utilisation));
            all.push((format!("boundary_precision.{condition}"), of.boundary_precision));
            all.push((format!("boundary_recall.{condition}"), of.boundary_recall));
        }
        let both = &self.both;
        all.extend(
            [
                ("overlap", self.overlap),
                ("parity", self.parity),
                ("renyi", both.renyi),
                ("utilisation", both.utilisation),
                ("boundary_precision", both.boundary_precision),
                ("boundary_recall", both.boundary_recall),
            ]
            .map(|(name, value)| (name.to_owned(), value)),
        );
        all
    }
}

fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

/// What is counted before anything is divided.
#[derive(Clone)]
struct Tally {
    words: u64,
    pieces: u64,
    continued: u64,
    /// Cuts inside words, seams between morphemes, and cuts that fall on a seam.
    cuts: u64,
    seams: u64,
    hits: u64,
    /// How often each token is used.
    used: Vec<u64>,
}

impl Tally {
    fn new(vocab: usize) -> Tally {
        Tally { words: 0, pieces: 0, continued: 0, cuts: 0, seams: 0, hits: 0, used: vec![0; vocab] }
    }

    fn add(&mut self, segmentation: &Segmentation, pieces: &[u32], seams: &[usize], count: u64) {
        self.words += count;
        self.pieces += count * pieces.len() as u64;
        self.continued += if pieces.len() > 1 { count } else { 0 };
        self.seams += count * seams.len() as u64;
        let mut place = 0;
        for (i, &piece) in pieces.iter().enumerate() {
            self.used[piece as usize] += count;
            if i > 0 {
                self.cuts += count;
                self.hits += if seams.contains(&place) { count } else { 0 };
            }
            place += segmentation.letters(piece).len();
        }
    }

    fn joined(&self, other: &Tally) -> Tally {
        Tally {
            words: self.words + other.words,
            pieces: self.pieces + other.pieces,
            continued: self.continued + other.continued,
            cuts: self.cuts + other.cuts,
            seams: self.seams + other.seams,
            hits: self.hits + other.hits,
            used: self.used.iter().zip(&other.used).map(|(a, b)| a + b).collect(),
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
            boundary_recall: share(self.hits, self.seams),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Boundary;

    /// Three words. The first is a name, the third is masked in B. Morphemes are set apart by a dot:
    ///
    /// ```text
    ///      A                        B
    /// 0    Ora        Or a          Ora         Or a
    /// 1    do·mir     do mir        do·mer      dom er
    /// 2    ki·ta·no   kita no       ki·ta·nu    ki ta nu
    /// ```
    fn example() -> (Segmentation, Sample, impl Fn(Symbol, Language) -> Vec<usize>) {
        let words = [
            vec![vec!["Or", "a"], vec!["do", "mir"], vec!["kita", "no"]],
            vec![vec!["Or", "a"], vec!["dom", "er"], vec!["ki", "ta", "nu"]],
        ];
        // A reads: Ora domir, Ora kitano. B: Ora domer. B†: Ora kitanu.
        let sample = Sample::new([vec![2, 1, 1], vec![1, 1, 0], vec![1, 0, 1]]);
        let seams = |symbol: Symbol, _| [vec![], vec![2], vec![2, 4]][symbol.index()].clone();
        (Segmentation::by_hand(Boundary::Token, words), sample, seams)
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-12, "{a} is not {b}");
    }

    #[test]
    fn measures_are_those_computed_by_hand() {
        let (segmentation, sample, seams) = example();
        let panel = Panel::with(&segmentation, &sample, seams);

        // A: Or a | do mir | Or a | kita no. Eight pieces in four words, no word in one piece.
        assert_eq!((panel.a.words, panel.a.pieces), (4, 8));
        assert_eq!((panel.a.fertility, panel.a.continuation, panel.a.one_piece), (2.0, 1.0, 0.0));
        // Four cuts: in Ora twice, where there is no seam; do|mir and kita|no on one. Seams: 1 of domir, 2 of kitano.
        assert_eq!((panel.a.boundary_precision, panel.a.boundary_recall), (2.0 / 4.0, 2.0 / 3.0));
        // The vocabulary: Or a do mir kita no dom er ki ta nu, eleven pieces, of which A uses six.
        assert_eq!(panel.a.utilisation, 6.0 / 11.0);
        // Shares of A's pieces: Or and a 2/8 each, four others 1/8 each.
        let power = 2.0 * 0.25f64.powf(2.5) + 4.0 * 0.125f64.powf(2.5);
        near(panel.a.renyi, power.ln() / -1.5 / 11f64.ln());

        // B: Or a | dom er. One cut beside the seam.
        assert_eq!((panel.b.fertility, panel.b.boundary_precision, panel.b.boundary_recall), (2.0, 0.0, 0.0));
        // B†: Or a | ki ta nu. Three cuts, two of them on the two seams.
        assert_eq!((panel.b_masked.fertility, panel.b_masked.boundary_precision), (5.0 / 2.0, 2.0 / 3.0));
        assert_eq!(panel.b_masked.boundary_recall, 1.0);

        // B's words are Or a do mir in A and Or a dom er in B.
        assert_eq!(panel.overlap, 2.0 / 6.0);
        // B's sentences are four pieces in A and four in B.
        assert_eq!(panel.parity, 1.0);
        // Both: twelve pieces in six words.
        assert_eq!((panel.both.fertility, panel.both.utilisation), (2.0, 8.0 / 11.0));
        assert_eq!(panel.both.boundary_recall, 2.0 / 4.0);
    }

    #[test]
    fn the_lexicon_counts_every_word_once() {
        let (segmentation, _, seams) = example();
        let panel = Panel::with(&segmentation, &Sample::new([vec![1, 1, 1], vec![1, 1, 0], vec![0, 0, 1]]), seams);
        assert_eq!((panel.a.fertility, panel.b.fertility, panel.b_masked.fertility), (2.0, 2.0, 3.0));
        assert_eq!((panel.b_masked.continuation, panel.b_masked.one_piece), (1.0, 0.0));
    }

    #[test]
    fn a_share_of_nothing_is_no_number() {
        let words = || vec![vec!["o"], vec!["e"]];
        let segmentation = Segmentation::by_hand(Boundary::Token, [words(), words()]);
        let panel = Panel::with(&segmentation, &Sample::new([vec![1, 0], vec![0, 1], vec![0, 0]]), |_, _| vec![]);
        assert_eq!((panel.a.one_piece, panel.overlap), (1.0, 1.0));
        assert!(panel.a.boundary_precision.is_nan() && panel.b_masked.fertility.is_nan());
        assert!(serde_json::to_string(&panel).unwrap().contains("\"boundary_precision\":null"));
    }
}
