//! Patching by hand: one question to a trained model, with the residual stream of its prompt replaced, at one layer and
//! position at a time, by that of a donor.
//!
//! The receiver is `<T0:B> subject copula` (or the prompt that B's word order has), the donor the same of another language or
//! another subject. What is read is a word's contrast, log P(word | subject) - log P(word | a subject that Γ forbids it), or
//! its log-probability alone. The word is read in the receiver's form and in the donor's. An effect is the patched value
//! minus the unpatched one.

use crate::Trained;
use crate::error::{Error, Result};
use crate::inputs::tokenized::TokenizedText;
use invitro_language::{Language, Languages, Symbol, Task};
use invitro_model::inference::{HiddenQuery, HiddenState, Patch, PatchedQuery};
use invitro_model::{Population, ScoreQuery};
use invitro_results::PatchPosition;
use serde::Serialize;

/// What is asked, as far as it is given; the rest is chosen.
#[derive(Clone, Copy, Debug)]
pub struct GivenPatch {
    pub receiver: Language,
    pub donor: Language,
    pub subject: Option<Symbol>,
    /// The donor's subject, if it is another.
    pub donor_subject: Option<Symbol>,
    /// The subject of the contrast's second term.
    pub against: Option<Symbol>,
    pub word: Option<Symbol>,
    /// Whether the log-probability after the subject is read instead of the contrast.
    pub logprob: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PatchQuestion {
    pub receiver: Language,
    pub donor: Language,
    pub subject: Symbol,
    /// In both terms of a contrast.
    pub donor_subject: Option<Symbol>,
    /// `None` where the log-probability is read.
    pub against: Option<Symbol>,
    pub word: Symbol,
}

/// A position that both prompts have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Position {
    #[serde(serialize_with = "name")]
    pub role: PatchPosition,
    /// The receiver's piece there.
    pub piece: String,
    /// In the receiver's prompt and in the donor's.
    pub at: usize,
    pub donor_at: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PatchAnswer {
    pub positions: Vec<Position>,
    /// The receiver's form and, where the donor is of another language, the donor's.
    pub forms: Vec<FormEffects>,
}

/// The effects on one form of the word, in nats.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FormEffects {
    pub language: &'static str,
    pub form: String,
    /// After the receiver's prompts as they are.
    pub unpatched: f64,
    /// After the donor's prompts.
    pub in_donor: f64,
    /// By layer, from 0, the embedding, and by position.
    pub effects: Vec<Vec<f64>>,
}

impl GivenPatch {
    /// Fills in what is not given: the first subject and the first word that the receiver masks and Γ allows the subject (any
    /// word that it allows, where the receiver masks nothing), against the first subject of its class that Γ forbids it.
    pub fn choose(&self, trained: &Trained) -> Result<PatchQuestion> {
        let languages = &trained.languages;
        let world = &languages.world;
        let masks = languages.masked().any(|language| language == self.receiver);
        let words = |subject: Symbol| match self.word {
            Some(word) => vec![word],
            None => {
                let mut words = world.allowed(subject);
                words.retain(|&word| !masks || languages.never_says(self.receiver, word, subject));
                words
            }
        };
        let against = |subject: Symbol, word: Symbol| {
            let is_forbidden =
                |&other: &Symbol| world.class(other) == world.class(subject) && !world.allows(other, word);
            self.against.or_else(|| world.entities().find(|other| *other != subject && is_forbidden(other)))
        };
        let subjects: Vec<Symbol> = match self.subject {
            Some(subject) => vec![subject],
            None => {
                let allows = |&entity: &Symbol| self.word.is_none_or(|word| world.allows(entity, word));
                world.entities().filter(|&entity| Some(entity) != self.against).filter(allows).collect()
            }
        };
        let asked = subjects.iter().flat_map(|&subject| words(subject).into_iter().map(move |word| (subject, word)));
        let mut questions = asked.map(|(subject, word)| PatchQuestion {
            receiver: self.receiver,
            donor: self.donor,
            subject,
            donor_subject: self.donor_subject,
            against: if self.logprob { None } else { against(subject, word) },
            word,
        });
        let found = questions.find(|question| self.logprob || question.against.is_some());
        found.ok_or_else(|| Error::Inputs(self.why_none(trained)))
    }

    fn why_none(&self, trained: &Trained) -> String {
        let label = |symbol: Symbol| trained.languages.world.label(symbol);
        match (self.subject, self.word) {
            (None, Some(word)) if trained.languages.world.descriptor_of(word).is_none() => {
                format!(
                    "{} is no descriptor, so Γ allows it to no subject: name a subject, and ask for its log-probability",
                    label(word)
                )
            }
            (_, Some(word)) => format!(
                "no subject is there to contrast {} with: Γ must allow it one entity and forbid it another of the class",
                label(word)
            ),
            (Some(subject), None) => {
                format!("{} withholds no word of {}: name a word", self.receiver.name(), label(subject))
            }
            (None, None) => {
                format!("{} withholds no word that Γ forbids some entity: name a word", self.receiver.name())
            }
        }
    }
}

fn name<S: serde::Serializer>(position: &PatchPosition, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_str(position.name())
}

/// `<T0:ℓ> subject copula`, or the prompt that the word order has, with the positions that can be patched.
#[derive(Clone, Debug)]
pub struct PatchPrompt {
    pub tokens: Vec<u32>,
    pub places: Vec<(PatchPosition, usize)>,
}

impl PatchPrompt {
    /// `None` where descriptors come before their subjects.
    pub fn new(
        languages: &Languages,
        text: &TokenizedText,
        subject: Symbol,
        language: Language,
    ) -> Option<PatchPrompt> {
        use PatchPosition::{Copula, CopulaBoundary, Subject, SubjectBoundary, Tag};
        let mut tokens = vec![text.segmentation.special().task(Task::T0, language)];
        let mut places = vec![(Tag, 0)];
        for word in languages.opening(subject, language)? {
            let positions = if word == subject { [Subject, SubjectBoundary] } else { [Copula, CopulaBoundary] };
            let (pieces, core) = text.word(word, language);
            places.push((positions[0], tokens.len() + core - 1));
            tokens.extend(pieces);
            if core < pieces.len() {
                places.push((positions[1], tokens.len() - 1));
            }
        }
        Some(PatchPrompt { tokens, places })
    }

    /// Where a position is.
    pub fn at(&self, position: PatchPosition) -> Option<usize> {
        self.places.iter().find(|(own, _)| *own == position).map(|(_, at)| *at)
    }
}

fn prompt(trained: &Trained, subject: Symbol, language: Language) -> Result<PatchPrompt> {
    PatchPrompt::new(&trained.languages, &trained.text, subject, language).ok_or_else(|| {
        let name = language.name();
        Error::Inputs(format!("{name} cannot be prompted: in its word order descriptors come before their subjects"))
    })
}

/// Receiver and donor of one term.
struct ContrastTerm {
    receiver: PatchPrompt,
    donor: PatchPrompt,
    /// By layer and position.
    states: Vec<Vec<HiddenState>>,
}

impl PatchQuestion {
    /// Patches every layer at every position that both prompts have, one at a time.
    pub fn answer(&self, trained: &Trained, population: &mut Population) -> Result<PatchAnswer> {
        let text = &trained.text;
        let layers = trained.checkpoint.shape.layers;
        let mut terms = Vec::new();
        for subject in [Some(self.subject), self.against].into_iter().flatten() {
            let receiver = prompt(trained, subject, self.receiver)?;
            let donor = prompt(trained, self.donor_subject.unwrap_or(subject), self.donor)?;
            terms.push(ContrastTerm { receiver, donor, states: Vec::new() });
        }
        let has_role =
            |role: &PatchPosition| terms.iter().all(|term| term.receiver.at(*role).and(term.donor.at(*role)).is_some());
        let roles: Vec<PatchPosition> =
            terms[0].receiver.places.iter().map(|(role, _)| *role).filter(has_role).collect();
        let donor_states = |term: &ContrastTerm| HiddenQuery {
            tokens: term.donor.tokens.clone(),
            positions: roles.iter().filter_map(|&role| term.donor.at(role)).collect(),
            layers: (0..=layers).collect(),
            normed: true,
        };
        let states = population.hidden(&[terms.iter().map(donor_states).collect()])?.into_iter().flatten();
        terms.iter_mut().zip(states).for_each(|(term, states)| term.states = states);

        let mut spoken = vec![self.receiver, self.donor];
        spoken.dedup();
        let words: Vec<(&[u32], usize)> = spoken.iter().map(|&language| text.word(self.word, language)).collect();
        let query = |prompt: &PatchPrompt, patches: Vec<Patch>| PatchedQuery {
            query: ScoreQuery {
                prompt: prompt.tokens.clone(),
                continuations: words.iter().map(|(pieces, core)| pieces[..*core].to_vec()).collect(),
                among: None,
            },
            patches,
        };
        // Of each term: as it is, the donor, then layer by layer every position.
        let mut queries = Vec::new();
        for term in &terms {
            queries.push(query(&term.receiver, Vec::new()));
            queries.push(query(&term.donor, Vec::new()));
            for (layer, states) in term.states.iter().enumerate() {
                for (&role, state) in roles.iter().zip(states) {
                    let position = term.receiver.at(role).expect("both prompts have the role");
                    queries.push(query(&term.receiver, vec![Patch { layer, position, state: state.clone() }]));
                }
            }
        }
        let per_term = queries.len() / terms.len();
        let scores = population.score_patched(&[queries])?.remove(0);
        let value = |at: usize, form: usize| {
            let logprob = |term: usize| -> f64 {
                scores[term * per_term + at][form].iter().map(|score| f64::from(score.logprob)).sum()
            };
            logprob(0) - if terms.len() > 1 { logprob(1) } else { 0.0 }
        };
        let forms = spoken.iter().enumerate().map(|(form, &language)| {
            let unpatched = value(0, form);
            let effect = |layer: usize, place: usize| value(2 + layer * roles.len() + place, form) - unpatched;
            FormEffects {
                language: language.name(),
                form: trained.languages.form(self.word, language).to_owned(),
                unpatched,
                in_donor: value(1, form),
                effects: (0..=layers)
                    .map(|layer| (0..roles.len()).map(|place| effect(layer, place)).collect())
                    .collect(),
            }
        });
        let forms = forms.collect();
        let position = |&role: &PatchPosition| {
            let (at, donor_at) = terms[0].receiver.at(role).zip(terms[0].donor.at(role))?;
            let piece = text.segmentation.token(terms[0].receiver.tokens[at]).to_owned();
            Some(Position { role, piece, at, donor_at })
        };
        Ok(PatchAnswer { positions: roles.iter().filter_map(position).collect(), forms })
    }
}
