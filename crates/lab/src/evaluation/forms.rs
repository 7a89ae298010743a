//! The contrast of facts of a word that is put to one model in several forms: what of its form carries what is known?
//!
//! ```text
//! own        its pieces in this arm
//! alike      the same letters in as many pieces, with the most in common with the first language's form
//! apart      the same with the least
//! source     the first language's form in its pieces there, after a question in this language
//! stem       its own affixes with the stem of another word of its kind
//! unrelated  another word of its kind
//! ```
//!
//! Asked of the contrast's own words and pairs of subjects (`contrast.rs`), in every language but the first, of its masked
//! words and, as the control, of those masked nowhere. The other word is one that Γ allows both subjects or neither, so
//! that nothing could be known of it; its stem with the affixes is a word of no language. The string is the same in both
//! terms of a contrast under every form, so whoever ignores the subject has exactly 0.

use super::contrast::ContrastSet;
use super::kinds::Kinds;
use super::reach::Found;
use crate::error::Result;
use crate::tokenized::TokenizedText;
use invitro_language::{Condition, Language, Languages, Stream, Symbol};
use invitro_model::score::{Answer, Question};
use invitro_results::{Form, Measure, Rows, Scorer};
use invitro_stats::pairs::interval_over_pairs;
use invitro_tokenizer::Cut;
use std::collections::HashMap;

/// What is asked, and where the answers stand.
#[derive(Clone, Debug)]
pub struct FormSet {
    questions: Vec<Question>,
    /// Of every condition that is asked, the words under each form.
    conditions: Vec<(Condition, Vec<(Form, Vec<Put>)>)>,
}

/// A word put to a model in one form: question and continuation, of a subject that Γ allows it and of one that it forbids.
#[derive(Clone, Debug)]
struct Put {
    places: [(usize, usize); 2],
    subjects: [usize; 2],
}

impl FormSet {
    /// The contrast's words in all forms: fixed for a data seed.
    pub fn new(languages: &Languages, text: &TokenizedText, contrast: &ContrastSet) -> Result<FormSet> {
        let mut asked = Questions { languages, text, questions: Vec::new(), of: HashMap::new() };
        let makes = Makes { languages, text, vocabulary: text.segmentation.vocabulary() };
        let kinds = contrast.kinds();
        let mut conditions = Vec::new();
        for &condition in kinds.conditions.iter().filter(|condition| condition.language != languages.all()[0]) {
            let asks = kinds.of(condition).into_iter().filter(|(masked_elsewhere, _)| !masked_elsewhere);
            for kind in asks.flat_map(|(_, kinds)| kinds) {
                let others = Others::new(languages, kinds, kind);
                let mut forms: Vec<(Form, Vec<Put>)> = Form::ALL.into_iter().map(|form| (form, Vec::new())).collect();
                for (word, subjects, entities) in contrast.facts(kind) {
                    let other = others.neutral(languages, word, entities);
                    for (form, puts) in &mut forms {
                        if let Some(pieces) = makes.form(*form, word, condition.language, &other)? {
                            let places = entities.map(|entity| asked.put(condition.language, entity, &pieces));
                            puts.push(Put { places, subjects });
                        }
                    }
                }
                conditions.push((condition, forms));
            }
        }
        Ok(FormSet { questions: asked.questions, conditions })
    }

    /// Whether there is nothing to ask.
    pub fn is_empty(&self) -> bool {
        self.questions.is_empty()
    }

    /// What to ask a model.
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// The rows of one scorer: the network or an n-gram model.
    pub fn rows(&self, scorer: Scorer, answers: &[Answer], rows: &mut Rows) {
        for (condition, forms) in &self.conditions {
            for (form, puts) in forms {
                let logprob = |(question, word): (usize, usize)| {
                    let scores = &answers[question][word];
                    Found::of(scores, scores.len()).logprob
                };
                let contrast = |put: &Put| logprob(put.places[0]) - logprob(put.places[1]);
                let contrasts: Vec<f64> = puts.iter().map(contrast).collect();
                let subjects: Vec<[usize; 2]> = puts.iter().map(|put| put.subjects).collect();
                let mean = contrasts.iter().sum::<f64>() / contrasts.len() as f64;
                let interval = interval_over_pairs(&contrasts, &subjects);
                let measure = Measure::Contrast(scorer, *form);
                rows.push_interval(Some(&(*condition).into()), measure, mean, interval, puts.len());
            }
        }
    }
}

/// The questions so far, by language and subject.
struct Questions<'a> {
    languages: &'a Languages,
    text: &'a TokenizedText,
    questions: Vec<Question>,
    of: HashMap<(Language, Symbol), usize>,
}

impl Questions<'_> {
    /// Asks for pieces after a subject.
    fn put(&mut self, language: Language, entity: Symbol, pieces: &[u32]) -> (usize, usize) {
        let at = *self.of.entry((language, entity)).or_insert_with(|| {
            let opening = self.languages.opening(entity, language).unwrap_or_default();
            let prompt = self.text.opening(language, &opening);
            self.questions.push(Question { prompt, continuations: Vec::new(), among: self.text.usable(language) });
            self.questions.len() - 1
        });
        let continuations = &mut self.questions[at].continuations;
        continuations.push(pieces.to_vec());
        (at, continuations.len() - 1)
    }
}

/// The words of a kind, to choose another one from.
struct Others {
    words: Vec<Symbol>,
    stream: Stream,
}

impl Others {
    fn new(languages: &Languages, kinds: &Kinds, kind: usize) -> Others {
        let words = languages.world.descriptors().filter(|&word| kinds.has_of_some(languages, kind, word)).collect();
        Others { words, stream: kinds.stream(languages, kind, "eval/forms") }
    }

    /// The other words that Γ allows both subjects or neither, by chance.
    fn neutral(&self, languages: &Languages, word: Symbol, entities: [Symbol; 2]) -> Vec<Symbol> {
        let allows = |entity: Symbol, other: Symbol| languages.world.allows(entity, other);
        let is_neutral = |&other: &Symbol| other != word && allows(entities[0], other) == allows(entities[1], other);
        let mut others: Vec<Symbol> = self.words.iter().copied().filter(is_neutral).collect();
        self.stream.at(0, word.0.into()).shuffle(&mut others);
        others
    }
}

/// What makes the forms.
struct Makes<'a> {
    languages: &'a Languages,
    text: &'a TokenizedText,
    vocabulary: invitro_tokenizer::cut::Pieces,
}

impl Makes<'_> {
    /// The pieces of a word in a form, without a boundary that ends it; none where no other word serves.
    fn form(&self, form: Form, word: Symbol, language: Language, others: &[Symbol]) -> Result<Option<Vec<u32>>> {
        let segmentation = &self.text.segmentation;
        let recut = |cut| segmentation.recut(&self.vocabulary, self.languages, word, language, cut);
        let pieces = match form {
            Form::Own => Some(segmentation.pieces(word, language).to_vec()),
            Form::Alike => Some(recut(Cut::Alike)),
            Form::Apart => Some(recut(Cut::Apart)),
            Form::Source => Some(segmentation.pieces(word, self.languages.all()[0]).to_vec()),
            Form::Stem => self.with_stem(word, language, others)?,
            Form::Unrelated => others.first().map(|&other| segmentation.pieces(other, language).to_vec()),
        };
        Ok(pieces.map(|mut pieces| {
            pieces.pop_if(|last| segmentation.is_boundary(*last));
            pieces
        }))
    }

    /// A word's affixes with the stem of the first other one that they make no word with.
    fn with_stem(&self, word: Symbol, language: Language, others: &[Symbol]) -> Result<Option<Vec<u32>>> {
        let lexicon = &self.languages.lexicon;
        let own = lexicon.word(word, language);
        for &other in others {
            let morphemes = [own.prefix(), lexicon.word(other, language).stem(), own.suffix()];
            let made = morphemes.concat();
            if self.languages.all().iter().all(|&any| lexicon.symbol(&made, any).is_none()) {
                return Ok(Some(self.text.segmentation.spell(&self.text.tokenizer, morphemes, language)?));
            }
        }
        Ok(None)
    }
}
