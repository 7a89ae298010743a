//! Queries for contrasts: words after two subjects each, and the mean of what they come to.

use super::reachability::TargetScore;
use crate::inputs::tokenized::TokenizedText;
use invitro_language::{Language, Languages, Symbol};
use invitro_model::{ContinuationScores, ScoreQuery};
use invitro_results::{Condition, Measure, Rows};
use invitro_stats::pairs::interval_over_pairs;
use std::borrow::Borrow;
use std::collections::HashMap;

/// A query, and a continuation of it.
pub type ContinuationPlace = (usize, usize);

/// A word after a subject that it is true of, and after one that it is false of.
#[derive(Clone, Debug)]
pub struct ContrastQuery {
    pub places: [ContinuationPlace; 2],
    /// The subjects' numbers.
    pub subjects: [usize; 2],
}

/// By how much a word is likelier at the first place, in nats.
pub fn contrast<S: Borrow<ContinuationScores>>(scores: &[S], places: [ContinuationPlace; 2]) -> f64 {
    let [allowed, forbidden] = places.map(|(query, word)| {
        let scores = &scores[query].borrow()[word];
        TargetScore::new(scores, scores.len()).logprob
    });
    allowed - forbidden
}

/// Records the mean of contrasts, with its interval over the pairs of subjects.
pub fn push_mean(
    rows: &mut Rows,
    condition: &Condition,
    measure: Measure,
    contrasts: &[f64],
    subjects: impl Iterator<Item = [usize; 2]>,
) {
    let mean = contrasts.iter().sum::<f64>() / contrasts.len() as f64;
    let interval = interval_over_pairs(contrasts, &subjects.collect::<Vec<_>>());
    rows.push_interval(Some(condition), measure, mean, interval, contrasts.len());
}

/// Records the mean contrast of words.
pub fn push_words(
    rows: &mut Rows,
    condition: &Condition,
    measure: Measure,
    words: &[ContrastQuery],
    scores: &[ContinuationScores],
) {
    let contrasts: Vec<f64> = words.iter().map(|word| contrast(scores, word.places)).collect();
    push_mean(rows, condition, measure, &contrasts, words.iter().map(|word| word.subjects));
}

/// The queries so far: one for every language and subject.
pub struct ContrastQueries<'a> {
    pub languages: &'a Languages,
    pub text: &'a TokenizedText,
    pub queries: Vec<ScoreQuery>,
    place_of: HashMap<(Language, Symbol), usize>,
}

impl<'a> ContrastQueries<'a> {
    pub fn new(languages: &'a Languages, text: &'a TokenizedText) -> ContrastQueries<'a> {
        ContrastQueries { languages, text, queries: Vec::new(), place_of: HashMap::new() }
    }

    /// Adds a word's pieces after two subjects; `None` where the language's sentences do not open with a subject.
    pub fn add(
        &mut self,
        language: Language,
        entities: [Symbol; 2],
        subjects: [usize; 2],
        pieces: &[u32],
    ) -> Option<ContrastQuery> {
        let [Some(one), Some(other)] = entities.map(|entity| self.languages.opening(entity, language)) else {
            return None;
        };
        let openings = [(entities[0], one), (entities[1], other)];
        let places = openings.map(|(entity, opening)| {
            let at = *self.place_of.entry((language, entity)).or_insert_with(|| {
                let prompt = self.text.opening(language, &opening);
                self.queries.push(ScoreQuery { prompt, continuations: Vec::new(), among: self.text.usable(language) });
                self.queries.len() - 1
            });
            let continuations = &mut self.queries[at].continuations;
            continuations.push(pieces.to_vec());
            (at, continuations.len() - 1)
        });
        Some(ContrastQuery { places, subjects })
    }
}
