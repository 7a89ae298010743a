//! Sound laws drawn at random: plausible ones, in random order, until the languages are as far apart as asked.
//!
//! A drawn law is one of the kinds that languages are known to have, of some of the letters it is known of, in one of its
//! contexts. It is dropped if it would bring the languages together or too far apart, change how long words are, or make too
//! many words that the phonology does not have.

use super::law::{Edges, Law, Laws};
use crate::lexicon::calibration::measure;
use crate::lexicon::levenshtein::normalised;
use crate::lexicon::phonology::{MAX_STEM, Stem, is_pronounceable};
use invitro_base::random::Rng;
use std::collections::HashSet;

/// Stems that distances are measured on while laws are drawn.
const SAMPLE: usize = 4000;
/// Laws that are drawn before the search ends.
const CANDIDATES: usize = 4000;
/// How close the distance must come, and how close is close enough after all candidates.
const CLOSE: f64 = 0.002;
const CLOSE_ENOUGH: f64 = 0.012;
/// How far the first estimate of a law's distance may be off.
const LOOSE: f64 = 0.05;
/// The least that a law must add to the distance.
const LEAST: f64 = 0.001;
/// How far the mean length of stems may move, in letters.
const LENGTH: f64 = 0.3;
/// The largest share of stems that laws may spoil: these are drawn anew.
const SPOILED: f64 = 0.1;

/// Laws of one kind: letters and what becomes of them, side by side, and contexts.
struct LawKind {
    changes: &'static [[&'static str; 2]],
    contexts: &'static [&'static str],
}

const KINDS: [LawKind; 12] = [
    // Lenition between vowels.
    LawKind {
        changes: &[["p t k", "b d g"], ["b d g", "v z y"], ["p t k", "f s h"], ["f s h", "v z y"], ["k g", "h y"]],
        contexts: &["V_V", "V_V, V_#", "V_{r l}", "V_{a o u}", "V_{e i}", "{a o u}_V", "{e i}_V"],
    },
    // Shifts of stops.
    LawKind {
        changes: &[["p t k", "f s h"], ["b d g", "p t k"], ["b d g", "v z h"], ["p t k", "b d g"]],
        contexts: &["", "#_", "#_V", "_r", "_l", "{n m}_", "_C", "s_"],
    },
    // Palatalisation.
    LawKind {
        changes: &[["k g", "c j"], ["t d", "c j"], ["s z", "x j"], ["l n", "y y"], ["k t", "x x"]],
        contexts: &["_{e i}", "_i", "_e", "#_{e i}"],
    },
    // Devoicing.
    LawKind { changes: &[["b d g", "p t k"], ["v z", "f s"]], contexts: &["_#", "_{p t k f s}", "_#, _{p t k f s}"] },
    // Vowel shifts.
    LawKind {
        changes: &[
            ["e o", "i u"],
            ["i u", "e o"],
            ["a", "e"],
            ["a", "o"],
            ["o", "a"],
            ["e", "a"],
            ["a e i", "e i a"],
            ["a o u", "o u a"],
            ["u", "i"],
            ["o", "e"],
        ],
        contexts: &[
            "", "_#", "_C#", "#(C)_", "_{m n}", "_{r l}", "_{k g}", "{p b m}_", "{k g}_", "_CC", "_CV", "{r l}_",
            "_{s z}", "_{t d}", "{t d}_", "_{p b}",
        ],
    },
    // Umlaut.
    LawKind {
        changes: &[["a o u", "e e i"], ["e i", "o u"]],
        contexts: &["_C(C)i", "_C(C){e i}", "_C(C)u", "_C(C){o u}"],
    },
    // Loss of vowels.
    LawKind {
        changes: &[["a", "0"], ["e", "0"], ["o", "0"], ["i", "0"], ["u", "0"]],
        contexts: &["VC_#", "VC_CV", "V_"],
    },
    // Loss of consonants.
    LawKind {
        changes: &[["t d", "0 0"], ["n m", "0 0"], ["s h", "0 0"], ["k g", "0 0"], ["r l", "0 0"], ["h", "0"]],
        contexts: &["V_#", "_CV", "C_C", "#_V", "VC_#", "#_C"],
    },
    // Single consonants.
    LawKind {
        changes: &[
            ["x", "s"],
            ["q", "k"],
            ["w", "v"],
            ["y", "j"],
            ["j", "y"],
            ["z", "s"],
            ["c", "s"],
            ["c", "k"],
            ["v", "w"],
            ["f", "h"],
            ["v", "b"],
            ["h", "k"],
            ["x", "h"],
            ["j", "z"],
            ["s", "x"],
            ["g", "w"],
        ],
        contexts: &["", "#_", "V_V", "_#", "_C", "C_"],
    },
    // Liquids and nasals.
    LawKind {
        changes: &[
            ["l", "r"],
            ["r", "l"],
            ["n", "r"],
            ["s", "r"],
            ["n", "l"],
            ["m", "n"],
            ["n", "m"],
            ["d", "r"],
            ["d", "l"],
        ],
        contexts: &["", "V_V", "C_", "_C", "_#", "#_", "_{p b f v}", "_{t d s z}", "_{k g}"],
    },
    // Vocalisation.
    LawKind {
        changes: &[["l", "u"], ["r", "a"], ["g", "i"], ["k", "i"], ["b", "u"], ["v", "u"]],
        contexts: &["{a e o}_C", "{a e}_C"],
    },
    // Epenthesis.
    LawKind {
        changes: &[["0", "e"], ["0", "i"], ["0", "a"], ["0", "u"], ["0", "h"], ["0", "d"], ["0", "b"]],
        contexts: &["#_sC", "C_C#", "C_CC", "#_CC", "VC_#", "#_V", "n_r", "m_{r l}", "V_V", "C_r", "C_l"],
    },
];

/// A law as it is drawn.
fn candidate(rng: &mut Rng) -> Law {
    let kind = &KINDS[rng.index(KINDS.len())];
    let [from, to] = kind.changes[rng.index(kind.changes.len())];
    let context = kind.contexts[rng.index(kind.contexts.len())];
    let mut pairs: Vec<(&str, &str)> = from.split(' ').zip(to.split(' ')).collect();
    let keep = 1 + rng.index(pairs.len());
    while pairs.len() > keep {
        pairs.remove(rng.index(pairs.len()));
    }
    let side = |letters: Vec<&str>| match &letters[..] {
        [only] => (*only).to_owned(),
        all if all.iter().all(|&letter| letter == "0") => "0".to_owned(),
        all => format!("{{{}}}", all.join(" ")),
    };
    let (from, to) = pairs.into_iter().unzip();
    let mut text = format!("{} > {}", side(from), side(to));
    if !context.is_empty() {
        text.push_str(" / ");
        text.push_str(context);
    }
    let laws = Laws::parse("drawn", &text).expect("the kinds are in the notation");
    laws.laws()[0].clone()
}

/// Whether laws made a word that the phonology has.
pub(crate) fn is_word(letters: &[u8]) -> bool {
    (2..=MAX_STEM).contains(&letters.len()) && is_pronounceable(letters)
}

/// A language while its laws are drawn.
struct Daughter {
    laws: Laws,
    words: Vec<Vec<u8>>,
    /// Which of them will not be drawn anew: words, and no homophones of earlier ones.
    intact: Vec<bool>,
}

impl Daughter {
    /// Its words after one more law.
    fn after(&self, law: &Law) -> Vec<Vec<u8>> {
        let after = |word: &Vec<u8>| law.apply_to(word, Edges::WORD).unwrap_or_else(|| word.clone());
        self.words.iter().map(after).collect()
    }
}

fn mean_length(words: &[Vec<u8>]) -> f64 {
    words.iter().map(Vec::len).sum::<usize>() as f64 / words.len() as f64
}

fn intact(words: &[Vec<u8>]) -> Vec<bool> {
    let mut seen = HashSet::new();
    words.iter().map(|word| is_word(word) && seen.insert(word)).collect()
}

/// Draws the laws of `daughters` languages, one or two, from one parent: as a result, two are `distance` apart, or one is so
/// far from the parent. `core` is the part of a stem that distances are measured on. The error is the distance that laws
/// reached.
pub(crate) fn draw(
    parent: &[Stem],
    daughters: usize,
    distance: f64,
    core: impl Fn(&[u8]) -> Vec<u8>,
    rng: &mut Rng,
) -> Result<Vec<Laws>, f64> {
    let step = parent.len().div_ceil(SAMPLE).max(1);
    let parent: Vec<Vec<u8>> = parent.iter().step_by(step).map(|stem| stem.letters().to_vec()).collect();
    let all_intact = vec![true; parent.len()];
    let new = || Daughter { laws: Laws::default(), words: parent.clone(), intact: all_intact.clone() };
    let mut languages: Vec<Daughter> = (0..daughters).map(|_| new()).collect();
    if distance <= 0.0 || parent.is_empty() {
        return Ok(languages.into_iter().map(|language| language.laws).collect());
    }
    let length = mean_length(&parent);
    let cores = |words: &[Vec<u8>]| -> Vec<Vec<u8>> { words.iter().map(|word| core(word)).collect() };
    // The other side of a single daughter is the parent.
    let mut sides = vec![cores(&parent); 2];
    let mut now = measure(&sides[0].iter().zip(&sides[1]).collect::<Vec<_>>());
    for _ in 0..CANDIDATES {
        if (now.relative - distance).abs() <= CLOSE {
            break;
        }
        let at = rng.index(daughters);
        let law = candidate(rng);
        let words = languages[at].after(&law);
        if (mean_length(&words) - length).abs() > LENGTH {
            continue;
        }
        let (own, other) = (cores(&words), &sides[1 - at]);
        // The unrelated pairs, which are many, hardly move with one law.
        let apart: f64 = own.iter().zip(other).map(|(one, other)| normalised(one, other)).sum();
        let guess = apart / own.len() as f64 / now.unrelated;
        if guess < now.relative - LOOSE || guess > distance + LOOSE {
            continue;
        }
        let of_law = intact(&words);
        let also = languages.get(1 - at).map_or(&all_intact, |other| &other.intact);
        let kept = |i: &usize| of_law[*i] && also[*i];
        let pairs: Vec<_> = (0..own.len()).filter(kept).map(|i| (&own[i], &other[i])).collect();
        if of_law.iter().filter(|&&intact| !intact).count() as f64 > SPOILED * own.len() as f64 {
            continue;
        }
        let next = measure(&pairs);
        if next.relative >= now.relative + LEAST && next.relative <= distance + CLOSE {
            now = next;
            sides[at] = own;
            languages[at] = Daughter { laws: languages[at].laws.with(law), words, intact: of_law };
        }
    }
    if (now.relative - distance).abs() > CLOSE_ENOUGH {
        return Err(now.relative);
    }
    Ok(languages.into_iter().map(|language| language.laws).collect())
}
