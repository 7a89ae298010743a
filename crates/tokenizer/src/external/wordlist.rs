//! Measures on wordlists: the pieces that cognates share, compared with other words of the same concept; and lexical
//! distances.

pub use super::forms::load;
pub use invitro_language::lexicon::wordlist::{ListedForm, Wordlist};

use super::tally::{TextCounts, TextFragmentation, overlap, share};
use super::text::pairs_of;
use super::{External, LineWord};
use crate::error::{Error, Result};
use invitro_base::limits;
use invitro_language::{Stream, edits};
use rayon::prelude::*;
use serde::Serialize;

/// Random relabellings of words as cognates.
const PERMUTATIONS: u64 = 9_999;

/// The measures of a wordlist.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WordlistMeasures {
    /// The number of concepts.
    pub concepts: usize,
    /// By language, every form once.
    #[serde(serialize_with = "super::by_name")]
    pub languages: Vec<(String, TextFragmentation)>,
    /// Every two languages.
    pub pairs: Vec<WordPair>,
}

/// The comparison of two languages' words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WordPair {
    /// The languages.
    pub languages: [String; 2],
    /// The number of concepts with a word in both; the other fields are over these.
    pub concepts: usize,
    /// Pieces used by both over pieces used by either.
    pub overlap: f64,
    /// Pieces of the first over pieces of the second.
    pub parity: f64,
    /// The mean similarity of two words of one concept.
    pub same_meaning: CognateSimilarity,
    /// The comparison of cognates with other words, if cognate sets are known.
    pub cognates: Option<Cognates>,
}

/// The similarity of two words' pieces, as multisets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CognateSimilarity {
    /// Common pieces over all.
    pub jaccard: f64,
    /// Twice the common pieces over the sum.
    pub dice: f64,
}

/// Pairs of cognates compared with other pairs of the same concept.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cognates {
    /// The number of cognate pairs.
    pub pairs: usize,
    /// The number of other pairs.
    pub others: usize,
    /// The cognate bridge: the mean similarity of cognates.
    pub bridge: CognateSimilarity,
    /// The mean similarity of the other pairs.
    pub other: CognateSimilarity,
    /// The bridge lift: the difference of the two, Jaccard.
    pub lift: f64,
    /// The central 95 % of lifts under random cognate labels.
    pub by_chance: [f64; 2],
    /// The share of such lifts at least this far from 0.
    pub p: f64,
}

/// Measures a tokenizer on a wordlist.
pub fn measure(tokenizer: &External, words: &Wordlist) -> Result<WordlistMeasures> {
    let mut by_concept = vec![vec![0.0; words.languages.len()]; words.concepts.len()];
    words.forms.iter().for_each(|form| by_concept[form.concept][form.language] += 1.0);
    let word_pairs: f64 = by_concept.iter().map(|counts| products_of_pairs(counts)).sum();
    if word_pairs > limits::WORD_PAIRS {
        let most = limits::WORD_PAIRS;
        return Err(Error::mismatch(format!(
            "the wordlist has {word_pairs:.0} pairs of words of one meaning; at most {most} can be compared: select \
             --languages"
        )));
    }
    // After a space, as inside a sentence.
    let one = |form: &ListedForm| {
        Ok(tokenizer.words(&format!(" {}", form.text))?.0.into_iter().fold(LineWord::default(), LineWord::join))
    };
    let pieces: Vec<LineWord> = words.forms.par_iter().map(one).collect::<Result<_>>()?;
    let tally = |keep: &dyn Fn(&ListedForm) -> bool| {
        let mut tally = TextCounts::new(tokenizer);
        words.forms.iter().zip(&pieces).filter(|(form, _)| keep(form)).for_each(|(_, word)| tally.add(tokenizer, word));
        tally
    };
    let languages = words.languages.iter().enumerate().map(|(language, name)| {
        (name.clone(), tally(&|form: &ListedForm| form.language == language).measure(tokenizer))
    });
    let pair = |pair: [usize; 2]| {
        let common = in_both(words, pair);
        let [one, other] = pair.map(|language| tally(&|f: &ListedForm| f.language == language && common[f.concept]));
        let found = same_meaning(words, &pieces, tokenizer, pair);
        let cognates = words.has_cognates.then(|| cognates(&found, words, pair));
        WordPair {
            languages: pair.map(|language| words.languages[language].clone()),
            concepts: common.iter().filter(|both| **both).count(),
            overlap: overlap(&one, &other),
            parity: share(one.pieces, other.pieces),
            same_meaning: mean(found.iter().map(|(similarity, _)| *similarity)),
            cognates,
        }
    };
    let pairs: Vec<[usize; 2]> = pairs_of(words.languages.len()).collect();
    Ok(WordlistMeasures {
        concepts: words.concepts.len(),
        languages: languages.collect(),
        pairs: pairs.into_par_iter().map(pair).collect(),
    })
}

/// For every concept, whether both languages have a word.
fn in_both(words: &Wordlist, pair: [usize; 2]) -> Vec<bool> {
    let mut has = vec![[false; 2]; words.concepts.len()];
    for form in &words.forms {
        for (side, &language) in pair.iter().enumerate() {
            has[form.concept][side] |= form.language == language;
        }
    }
    has.into_iter().map(|[one, other]| one && other).collect()
}

/// Every pair of words of one concept: its similarity, and whether the words are cognates.
fn same_meaning(
    words: &Wordlist,
    pieces: &[LineWord],
    tokenizer: &External,
    pair: [usize; 2],
) -> Vec<(CognateSimilarity, bool)> {
    let mut by_concept = vec![[const { Vec::new() }; 2]; words.concepts.len()];
    for (i, form) in words.forms.iter().enumerate() {
        for (side, &language) in pair.iter().enumerate() {
            if form.language == language {
                by_concept[form.concept][side].push(i);
            }
        }
    }
    let mut found = Vec::new();
    for [ones, others] in by_concept {
        for &i in &ones {
            for &j in &others {
                if let Some(similarity) = similarity(tokenizer, &pieces[i].pieces, &pieces[j].pieces) {
                    found.push((similarity, !words.forms[i].sets.is_disjoint(&words.forms[j].sets)));
                }
            }
        }
    }
    found
}

/// The similarity of two words; `None` if neither has a piece. An unknown token is never common.
fn similarity(tokenizer: &External, one: &[u32], other: &[u32]) -> Option<CognateSimilarity> {
    let mut left = other.to_vec();
    let common = one.iter().filter(|&&piece| {
        let place = left.iter().position(|&own| own == piece && tokenizer.is_known(piece));
        place.map(|place| left.swap_remove(place)).is_some()
    });
    let (common, sum) = (common.count() as u64, (one.len() + other.len()) as u64);
    (sum > 0).then(|| CognateSimilarity { jaccard: share(common, sum - common), dice: share(2 * common, sum) })
}

fn mean(all: impl Iterator<Item = CognateSimilarity>) -> CognateSimilarity {
    let (jaccard, dice, n) = all.fold((0.0, 0.0, 0.0), |(j, d, n), one| (j + one.jaccard, d + one.dice, n + 1.0));
    CognateSimilarity { jaccard: jaccard / n, dice: dice / n }
}

fn cognates(found: &[(CognateSimilarity, bool)], words: &Wordlist, pair: [usize; 2]) -> Cognates {
    let similarities =
        |cognate: bool| found.iter().filter(move |(_, is)| *is == cognate).map(|(similarity, _)| *similarity);
    let (bridge, other) = (mean(similarities(true)), mean(similarities(false)));
    let (pairs, lift) = (similarities(true).count(), bridge.jaccard - other.jaccard);
    let mut values: Vec<f64> = found.iter().map(|(similarity, _)| similarity.jaccard).collect();
    let (total, others) = (values.iter().sum::<f64>(), values.len() - pairs);
    let (mut by_chance, mut p) = ([f64::NAN; 2], f64::NAN);
    if pairs > 0 && others > 0 {
        let stream = Stream::new(0, &pair.map(|language| words.languages[language].as_str()).join("/"));
        let mut lifts: Vec<f64> = (0..PERMUTATIONS)
            .map(|row| {
                let mut rng = stream.at(0, row);
                for i in 0..pairs {
                    let other = i + rng.below((values.len() - i) as u32) as usize;
                    values.swap(i, other);
                }
                let sum: f64 = values[..pairs].iter().sum();
                sum / pairs as f64 - (total - sum) / others as f64
            })
            .collect();
        // The tolerance allows for rounding: sums are in another order.
        let as_far = lifts.iter().filter(|chance| chance.abs() >= lift.abs() - 1e-12).count();
        p = (as_far + 1) as f64 / (PERMUTATIONS + 1) as f64;
        lifts.sort_by(f64::total_cmp);
        let at = |share: f64| lifts[(share * (lifts.len() - 1) as f64).round() as usize];
        by_chance = [at(0.025), at(0.975)];
    }
    Cognates { pairs, others, bridge, other, lift, by_chance, p }
}

/// The lexical distance of two languages, as in `language.distance`: edits between words of one concept over edits between
/// words of different concepts, each over the longer word, in lower case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LexicalDistance {
    /// The languages.
    pub languages: [String; 2],
    /// The number of concepts with a word in both.
    pub concepts: usize,
    /// The mean distance of words of one concept.
    pub same: f64,
    /// The mean distance of words of different concepts.
    pub unrelated: f64,
    /// `same` / `unrelated`, at most 1: the value for `language.distance`.
    pub distance: f64,
    /// The lower end of its 95 % jackknife interval over concepts.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The share of concepts with a cognate pair, if cognate sets are known.
    pub cognates: Option<f64>,
}

/// The distances of every two languages of a wordlist. `progress` is called with the share that is done.
pub fn distances(words: &Wordlist, progress: impl Fn(f64)) -> Result<Vec<LexicalDistance>> {
    if words.concepts.len() > limits::FITTED_MEANINGS {
        let (given, most) = (words.concepts.len(), limits::FITTED_MEANINGS);
        return Err(Error::mismatch(format!(
            "the wordlist has {given} meanings; --fit compares the words of each with those of each, and takes at most {most}"
        )));
    }
    let mut letters = vec![0.0; words.languages.len()];
    words.forms.iter().for_each(|form| letters[form.language] += form.text.chars().count() as f64);
    let letter_pairs = products_of_pairs(&letters);
    if letter_pairs > limits::LETTER_PAIRS {
        let (languages, most) = (letters.len(), limits::LETTER_PAIRS);
        return Err(Error::mismatch(format!(
            "--fit would compare {letter_pairs:.0} pairs of letters between the words of {languages} languages; at most \
             {most} are compared: select fewer --languages"
        )));
    }
    let mut done = 0.0;
    let distance_of = |pair: [usize; 2]| {
        let found = distance(words, pair);
        done += letters[pair[0]] * letters[pair[1]];
        progress(done / letter_pairs);
        found
    };
    Ok(pairs_of(words.languages.len()).map(distance_of).collect())
}

/// The sum over every two of the products of these numbers.
fn products_of_pairs(numbers: &[f64]) -> f64 {
    let sum: f64 = numbers.iter().sum();
    (sum * sum - numbers.iter().map(|number| number * number).sum::<f64>()) / 2.0
}

fn distance(words: &Wordlist, pair: [usize; 2]) -> LexicalDistance {
    let common = in_both(words, pair);
    let concepts: Vec<usize> = (0..common.len()).filter(|&concept| common[concept]).collect();
    let by_concept = pair.map(|language| {
        let mut by_concept: Vec<Vec<&ListedForm>> = vec![Vec::new(); words.concepts.len()];
        words
            .forms
            .iter()
            .filter(|form| form.language == language)
            .for_each(|form| by_concept[form.concept].push(form));
        by_concept
    });
    // The words of each concept as letters.
    let letters = by_concept.each_ref().map(|forms| {
        let words =
            |&concept: &usize| forms[concept].iter().map(|form| form.text.to_lowercase().chars().collect()).collect();
        concepts.iter().map(words).collect::<Vec<Vec<Vec<char>>>>()
    });
    let apart = |i: usize, j: usize| {
        let all = letters[0][i].iter().flat_map(|one| letters[1][j].iter().map(move |other| (one, other)));
        let all: Vec<f64> =
            all.map(|(one, other)| edits(one, other) as f64 / one.len().max(other.len()) as f64).collect();
        all.iter().sum::<f64>() / all.len() as f64
    };
    let n = concepts.len();
    let table: Vec<Vec<f64>> = (0..n).into_par_iter().map(|i| (0..n).map(|j| apart(i, j)).collect()).collect();
    let same: f64 = (0..n).map(|i| table[i][i]).sum();
    let all: f64 = table.iter().flatten().sum();
    let ratio = |same: f64, unrelated: f64, n: f64| (same / n) / (unrelated / (n * (n - 1.0)));
    let whole = ratio(same, all - same, n as f64);
    let without = |k: usize| {
        let cross: f64 = (0..n).map(|i| table[i][k] + table[k][i]).sum::<f64>() - 2.0 * table[k][k];
        ratio(same - table[k][k], all - same - cross, n as f64 - 1.0)
    };
    let left_out: Vec<f64> = (0..n).map(without).collect();
    let center = left_out.iter().sum::<f64>() / n as f64;
    let variance = left_out.iter().map(|x| (x - center).powi(2)).sum::<f64>() * (n as f64 - 1.0) / n as f64;
    let half = if n > 2 { 1.96 * variance.sqrt() } else { f64::NAN };
    let related = |&concept: &usize| {
        let [ones, others] = by_concept.each_ref().map(|forms| &forms[concept]);
        ones.iter().any(|one| others.iter().any(|other| !one.sets.is_disjoint(&other.sets)))
    };
    LexicalDistance {
        languages: pair.map(|language| words.languages[language].clone()),
        concepts: n,
        same: same / n as f64,
        unrelated: (all - same) / (n * n.saturating_sub(1)) as f64,
        distance: whole.min(1.0),
        low: (whole - half).clamp(0.0, 1.0),
        high: (whole + half).clamp(0.0, 1.0),
        cognates: words.has_cognates.then(|| share(concepts.iter().filter(|c| related(c)).count() as u64, n as u64)),
    }
}
