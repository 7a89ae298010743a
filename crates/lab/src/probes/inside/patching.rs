//! Patching: the contrast of masked words in B†, with one state of the prompt taken from the first language's prompt.
//!
//! Receiver is `<T0:B> subject copula`, donor `<T0:A> subject copula`. The residual stream after one layer at one position
//! is replaced by the donor's in both terms of the contrast, each by that of its own subject. Under the control both terms get
//! the state of a third subject of the class, so that it can carry nothing of the fact. What is recorded is the contrast with
//! the patch less that without. Words are scored in B's form, which training never shows, and in A's.
//!
//! After Meng et al. 2022 (arXiv 2202.05262), where it is called causal tracing; in other work activation patching.

use super::super::contrast_queries::{ContinuationPlace, contrast, push_mean};
use super::super::{Answers, PatchQuery, Probe, Queries, Record, Setup};
use super::Cadence;
use crate::error::Result;
use crate::patching::PatchPrompt;
use invitro_language::{Language, Languages, Stream, Symbol};
use invitro_model::{ContinuationScores, ScoreQuery};
use invitro_results::{Condition, Donor, Measure, PatchPlace, PatchPosition, PatchedForm, Patching};
use std::collections::HashMap;
use std::sync::Arc;

/// Masked words per language.
const WORDS: usize = 64;

struct PatchingProbe {
    cadence: Cadence,
    layers: usize,
    sets: Vec<PatchedSet>,
}

/// The masked words of one language.
struct PatchedSet {
    condition: Condition,
    subjects: Vec<PatchedSubject>,
    words: Vec<PatchedWord>,
}

/// A subject's prompt in the receiver's language, with the words that are asked after it.
struct PatchedSubject {
    query: ScoreQuery,
    prompt: PatchPrompt,
    /// Same subject, another subject.
    donors: [PatchPrompt; 2],
}

/// A word: subject and continuation after which Γ allows it, and where it forbids it, by form.
struct PatchedWord {
    places: [[ContinuationPlace; 2]; 2],
    /// The numbers of the contrast's subjects, by which its interval goes.
    subjects: [usize; 2],
}

pub fn probe(setup: &Setup) -> Result<Option<Arc<dyn Probe>>> {
    let Setup { experiment, languages, contrast, .. } = setup;
    let Some(cadence) = Cadence::of(experiment) else { return Ok(None) };
    let source = languages.all()[0];
    let masked = contrast.kinds().masked().filter(|(_, language)| *language != source);
    let set = |(kind, language)| patched_set(setup, kind, [language, source]);
    let sets: Vec<PatchedSet> = masked.filter_map(set).collect();
    let layers = experiment.model.layers;
    Ok((!sets.is_empty()).then(|| Arc::new(PatchingProbe { cadence, layers, sets }) as Arc<dyn Probe>))
}

fn patched_set(setup: &Setup, kind: usize, [receiver, donor]: [Language; 2]) -> Option<PatchedSet> {
    let Setup { languages, text, contrast, .. } = setup;
    let stream = Stream::new(languages.seed, "eval/inside/patching");
    let (mut subjects, mut words): (Vec<PatchedSubject>, Vec<PatchedWord>) = (Vec::new(), Vec::new());
    let mut place_of: HashMap<(Symbol, Symbol), usize> = HashMap::new();
    for (word, of_pair, pair) in contrast.facts(kind).take(WORDS) {
        let other = third_subject(languages, pair, &stream)?;
        let mut places = [[(0, 0); 2]; 2];
        for (side, entity) in pair.into_iter().enumerate() {
            let subject = match place_of.get(&(entity, other)) {
                Some(&place) => place,
                None => {
                    let prompt = |subject, language| PatchPrompt::new(languages, text, subject, language);
                    let (prompt, donors) = (prompt(entity, receiver)?, [prompt(entity, donor)?, prompt(other, donor)?]);
                    let query = ScoreQuery { prompt: prompt.tokens.clone(), continuations: Vec::new(), among: None };
                    subjects.push(PatchedSubject { query, prompt, donors });
                    place_of.insert((entity, other), subjects.len() - 1);
                    subjects.len() - 1
                }
            };
            let continuations = &mut subjects[subject].query.continuations;
            for (form, language) in [receiver, donor].into_iter().enumerate() {
                continuations.push(text.segmentation.core(word, language).to_vec());
                places[form][side] = (subject, continuations.len() - 1);
            }
        }
        words.push(PatchedWord { places, subjects: of_pair });
    }
    let condition = Condition::new(receiver.name(), true);
    (!words.is_empty()).then_some(PatchedSet { condition, subjects, words })
}

/// Another subject of a pair's class, the same for the pair either way round.
fn third_subject(languages: &Languages, pair: [Symbol; 2], stream: &Stream) -> Option<Symbol> {
    let world = &languages.world;
    let class = world.class(pair[0])?;
    let entities = (0..world.entity_count(class)).map(|i| world.entity(class, i));
    let others: Vec<Symbol> = entities.filter(|entity| !pair.contains(entity)).collect();
    let key = u64::from(pair[0].0.min(pair[1].0));
    (!others.is_empty()).then(|| others[stream.at(0, key).index(others.len())])
}

impl PatchingProbe {
    /// All patches, in the order in which they are asked.
    fn patches(&self) -> Vec<PatchPlace> {
        let mut all = Vec::new();
        for donor in Donor::ALL {
            for position in PatchPosition::ALL {
                all.extend((0..=self.layers as u32).map(|layer| PatchPlace { donor, position, layer }));
            }
        }
        all
    }
}

/// The query of a subject under a patch; `None` where its prompt lacks the position.
fn patched(subject: &PatchedSubject, patch: PatchPlace) -> Option<PatchQuery> {
    let donor = &subject.donors[patch.donor as usize];
    let (position, from) = subject.prompt.at(patch.position).zip(donor.at(patch.position))?;
    Some(PatchQuery {
        query: subject.query.clone(),
        layer: patch.layer as usize,
        position,
        donor: (donor.tokens.clone(), from),
    })
}

impl PatchedSet {
    /// The contrast of every word in a form, from the scores of all subjects.
    fn contrasts(&self, form: PatchedForm, scores: &[&ContinuationScores]) -> Vec<f64> {
        self.words.iter().map(|word| contrast(scores, word.places[form as usize])).collect()
    }

    fn push(&self, measure: Patching, values: &[f64], record: &mut Record) {
        let subjects = self.words.iter().map(|word| word.subjects);
        push_mean(&mut record.rows, &self.condition, Measure::Patch(measure), values, subjects);
    }
}

impl Probe for PatchingProbe {
    fn queries(&self, step: u64) -> Queries {
        if !self.cadence.has(step) {
            return Queries::default();
        }
        let subjects = || self.sets.iter().flat_map(|set| &set.subjects);
        let scores = subjects().map(|subject| subject.query.clone()).collect();
        let patches = self.patches();
        let of_set = |set: &PatchedSet| -> Vec<PatchQuery> {
            let of_patch = |&patch: &PatchPlace| set.subjects.iter().filter_map(move |subject| patched(subject, patch));
            patches.iter().flat_map(of_patch).collect()
        };
        Queries { scores, patched: self.sets.iter().flat_map(of_set).collect(), ..Queries::default() }
    }

    fn record(&self, answers: &Answers, record: &mut Record) {
        if answers.scores.is_empty() {
            return;
        }
        let (mut scores, mut patched_scores) = (answers.scores.iter(), answers.patched.iter());
        for set in &self.sets {
            let unpatched: Vec<&ContinuationScores> = scores.by_ref().take(set.subjects.len()).collect();
            let base: Vec<Vec<f64>> = PatchedForm::ALL.iter().map(|&form| set.contrasts(form, &unpatched)).collect();
            for (&form, base) in PatchedForm::ALL.iter().zip(&base) {
                set.push(Patching { form, patch: None }, base, record);
            }
            for patch in self.patches() {
                if set.subjects.iter().any(|subject| patched(subject, patch).is_none()) {
                    continue;
                }
                let own: Vec<&ContinuationScores> = patched_scores.by_ref().take(set.subjects.len()).collect();
                for (&form, base) in PatchedForm::ALL.iter().zip(&base) {
                    let contrasts = set.contrasts(form, &own);
                    let effects: Vec<f64> = contrasts.iter().zip(base).map(|(with, without)| with - without).collect();
                    set.push(Patching { form, patch: Some(patch) }, &effects, record);
                }
            }
        }
    }
}
