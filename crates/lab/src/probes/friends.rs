//! Interference of false friends: does a model read a language's word as what the same string means in the first language?
//!
//! The word v of B has the form of A's word u. The contrast toward the friend's facts is log P(v | e) - log P(v | e'), after
//! `<T0:B> subject copula`, with e and e' of u's class, Γ(e, u) and not Γ(e', u), and v true of both or of neither. So
//! knowledge of v adds nothing, and a model that keeps the languages apart has 0. What A trains of the string makes it
//! positive.

use super::contrast_queries::{ContrastQueries, ContrastQuery, push_words};
use super::{Answers, Probe, Queries, Record, Setup};
use crate::error::Result;
use crate::experiment::Experiment;
use invitro_language::{Language, LanguageCondition, Languages, Stream, Symbol};
use invitro_model::ScoreQuery;
use invitro_results::Measure;
use std::sync::Arc;

/// The queries, and where the scores of each word are.
pub struct FriendsProbe {
    queries: Vec<ScoreQuery>,
    conditions: Vec<(LanguageCondition, Vec<ContrastQuery>)>,
    notes: Vec<String>,
}

pub(super) fn probe(setup: &Setup) -> Result<Option<Arc<dyn Probe>>> {
    let Setup { experiment, languages, text, .. } = setup;
    let has_friends = |&&language: &&Language| languages.family.node(language).false_friends > 0.0;
    let mut probe = FriendsProbe { queries: Vec::new(), conditions: Vec::new(), notes: Vec::new() };
    let mut list = ContrastQueries::new(languages, text);
    for &language in languages.all().iter().filter(has_friends) {
        for masked in [false, true] {
            let wanted = experiment.eval.words;
            let mut found = Vec::new();
            for (word, subjects) in choose(languages, language, masked, wanted) {
                let pieces = text.segmentation.core(word, language);
                found.extend(list.add(language, subjects, subjects.map(|subject| subject.index()), pieces));
            }
            let condition = LanguageCondition { language, masked };
            if found.len() < wanted && !(masked && languages.mask(language).symbols().is_empty()) {
                probe.notes.push(format!(
                    "the contrast toward false friends has {} {}words of {} instead of {wanted} (`eval.words`)",
                    found.len(),
                    if masked { "masked " } else { "unmasked " },
                    language.name()
                ));
            }
            if !found.is_empty() {
                probe.conditions.push((condition, found));
            }
        }
    }
    probe.queries = list.queries;
    Ok((!probe.conditions.is_empty()).then(|| Arc::new(probe) as Arc<dyn Probe>))
}

/// Up to `wanted` descriptors of a language that are false friends, each with a subject that its friend is true of and one
/// that it is not.
fn choose(languages: &Languages, language: Language, masked: bool, wanted: usize) -> Vec<(Symbol, [Symbol; 2])> {
    let world = &languages.world;
    let stream = Stream::new(languages.seed, &format!("eval/friends/{}", language.name()));
    let is_wanted = |&word: &Symbol| languages.mask(language).contains(word) == masked;
    let mut words: Vec<Symbol> = world.descriptors().filter(is_wanted).collect();
    stream.at(0, u64::from(masked)).shuffle(&mut words);
    let subjects = |word: Symbol| {
        let friend = languages.friend(word, language)?;
        let mut entities: Vec<Symbol> =
            world.entities().filter(|&entity| world.class(entity) == world.class(friend)).collect();
        stream.at(1, word.0.into()).shuffle(&mut entities);
        let of_friend = |value: bool, own: Option<bool>| {
            entities.iter().copied().find(|&entity| {
                world.allows(entity, friend) == value && own.is_none_or(|own| world.allows(entity, word) == own)
            })
        };
        // Preferably where the word itself is false of both, as it is of most.
        [Some(false), Some(true)]
            .into_iter()
            .find_map(|own| Some((word, [of_friend(true, own)?, of_friend(false, own)?])))
    };
    words.into_iter().filter_map(subjects).take(wanted).collect()
}

impl Probe for FriendsProbe {
    fn queries(&self, _step: u64) -> Queries {
        Queries { scores: self.queries.clone(), ..Queries::default() }
    }

    fn record(&self, answers: &Answers, record: &mut Record) {
        for (condition, words) in &self.conditions {
            let measure = Measure::FriendContrast(record.scorer);
            push_words(&mut record.rows, &(*condition).into(), measure, words, &answers.scores);
        }
    }

    fn notes(&self, _experiment: &Experiment) -> Vec<String> {
        self.notes.clone()
    }
}
