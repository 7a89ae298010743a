//! The contrast of facts of words that one model reads in several forms: which part of the form carries the knowledge?
//!
//! ```text
//! own           its pieces in this arm
//! alike         the same letters in equally many pieces, with the most pieces in common with the first language's form
//! apart         the same with the fewest
//! source        the first language's form in its pieces there, after a prompt in this language
//! after_source  its own pieces after a prompt in the first language: an unseen form within that language's text
//! stem          its own affixes with the stem of another word of its kind
//! irregular     its own affixes with the first language's stem, as far from it as the word's own, but by random letters
//! unrelated     another word of its kind
//! ```
//!
//! The words and pairs of subjects are the contrast's (`contrast.rs`), in every language but the first: its masked words
//! and, as the control, those masked nowhere. The other word is one that Γ allows both subjects or neither, so that nothing
//! could be known of it; its stem with the affixes is a word of no language. The string is the same in both terms of a
//! contrast under every form, so a model that ignores the subject has exactly 0.

use super::contrast::ContrastProbe;
use super::contrast_queries::{ContrastQueries, ContrastQuery, push_words};
use super::symbol_kinds::SymbolKinds;
use super::{Answers, Probe, Queries, Record, Setup};
use crate::error::Result;
use crate::experiment::Experiment;
use crate::inputs::tokenized::TokenizedText;
use invitro_base::random::Rng;
use invitro_language::{Language, LanguageCondition, Languages, Stream, Symbol, edits};
use invitro_model::ScoreQuery;
use invitro_results::{Form, Measure};
use invitro_tokenizer::Cut;
use std::sync::Arc;

/// Draws of a word that is as far from its cognate, before there is said to be none.
const TRIES: usize = 200;

/// The queries, and where the scores of each word are.
#[derive(Clone, Debug)]
pub struct FormsProbe {
    queries: Vec<ScoreQuery>,
    /// Of every condition, the words under each form.
    conditions: Vec<(LanguageCondition, Vec<(Form, Vec<ContrastQuery>)>)>,
    note: Option<String>,
}

pub(super) fn probe(setup: &Setup) -> Result<Option<Arc<dyn Probe>>> {
    if !setup.experiment.eval.forms {
        return Ok(None);
    }
    Ok(Some(Arc::new(FormsProbe::new(setup.languages, setup.text, &setup.contrast)?)))
}

impl FormsProbe {
    /// The contrast's words in all forms: fixed for a data seed.
    pub fn new(languages: &Languages, text: &TokenizedText, contrast: &ContrastProbe) -> Result<FormsProbe> {
        let mut list = ContrastQueries::new(languages, text);
        let maker = FormMaker { languages, text, vocabulary: text.segmentation.vocabulary() };
        let kinds = contrast.kinds();
        let mut conditions = Vec::new();
        let source = languages.all()[0];
        for &condition in kinds.conditions.iter().filter(|condition| condition.language != source) {
            let symbols_in = kinds.asked_in(condition).into_iter().filter(|(masked_elsewhere, _)| !masked_elsewhere);
            for kind in symbols_in.flat_map(|(_, kinds)| kinds) {
                let neutral_words = NeutralWords::new(languages, kinds, kind);
                let mut forms: Vec<(Form, Vec<ContrastQuery>)> =
                    Form::ALL.into_iter().map(|form| (form, Vec::new())).collect();
                for (word, subjects, entities) in contrast.facts(kind) {
                    let neutral = neutral_words.of_pair(languages, word, entities);
                    let mut rng = neutral_words.stream.at(1, word.0.into());
                    for (form, words) in &mut forms {
                        if let Some(pieces) = maker.form(*form, word, condition.language, &neutral, &mut rng)? {
                            let prompt = if *form == Form::AfterSource { source } else { condition.language };
                            words.extend(list.add(prompt, entities, subjects, &pieces));
                        }
                    }
                }
                conditions.push((condition, forms));
            }
        }
        let note = note(text, &list.queries);
        Ok(FormsProbe { queries: list.queries, conditions, note })
    }
}

impl Probe for FormsProbe {
    fn queries(&self, _step: u64) -> Queries {
        Queries { scores: self.queries.clone(), ..Queries::default() }
    }

    fn record(&self, answers: &Answers, record: &mut Record) {
        for (condition, forms) in &self.conditions {
            for (form, words) in forms {
                let measure = Measure::Contrast(record.scorer, *form);
                push_words(&mut record.rows, &(*condition).into(), measure, words, &answers.scores);
            }
        }
    }

    fn notes(&self, _experiment: &Experiment) -> Vec<String> {
        self.note.iter().cloned().collect()
    }
}

/// What forms cannot show here.
fn note(text: &TokenizedText, queries: &[ScoreQuery]) -> Option<String> {
    if queries.is_empty() {
        return Some("`eval.forms` measures nothing: no language but the first can be prompted for words".into());
    }
    let kind = text.tokenizer.kind().filter(|kind| !kind.is_trained())?;
    Some(format!(
        "`eval.forms` recuts words alike and apart, but with `tokenizer.kind` = {} every word has only one cut",
        kind.name()
    ))
}

/// The words of a kind, from which another one is chosen.
struct NeutralWords {
    words: Vec<Symbol>,
    stream: Stream,
}

impl NeutralWords {
    fn new(languages: &Languages, kinds: &SymbolKinds, kind: usize) -> NeutralWords {
        let words =
            languages.world.descriptors().filter(|&word| kinds.has_for_some_entity(languages, kind, word)).collect();
        NeutralWords { words, stream: kinds.stream(languages, kind, "eval/forms") }
    }

    /// The other words that Γ allows both subjects or neither, in random order.
    fn of_pair(&self, languages: &Languages, word: Symbol, entities: [Symbol; 2]) -> Vec<Symbol> {
        let allows = |entity: Symbol, other: Symbol| languages.world.allows(entity, other);
        let is_neutral = |&other: &Symbol| other != word && allows(entities[0], other) == allows(entities[1], other);
        let mut neutral: Vec<Symbol> = self.words.iter().copied().filter(is_neutral).collect();
        self.stream.at(0, word.0.into()).shuffle(&mut neutral);
        neutral
    }
}

/// Makes a word's forms.
struct FormMaker<'a> {
    languages: &'a Languages,
    text: &'a TokenizedText,
    vocabulary: invitro_tokenizer::intervene::cut::Pieces,
}

impl FormMaker<'_> {
    /// The pieces of a word in a form, without a final boundary; `None` where no other word can be used.
    fn form(
        &self,
        form: Form,
        word: Symbol,
        language: Language,
        neutral: &[Symbol],
        rng: &mut Rng,
    ) -> Result<Option<Vec<u32>>> {
        let segmentation = &self.text.segmentation;
        let recut = |cut| segmentation.recut(&self.vocabulary, self.languages, word, language, cut);
        let pieces = match form {
            Form::Own | Form::AfterSource => Some(segmentation.pieces(word, language).to_vec()),
            Form::Alike => Some(recut(Cut::Alike)),
            Form::Apart => Some(recut(Cut::Apart)),
            Form::Source => Some(segmentation.pieces(word, self.languages.all()[0]).to_vec()),
            Form::Stem => self.with_stem(word, language, neutral)?,
            Form::Irregular => self.irregular(word, language, neutral, rng)?,
            Form::Unrelated => neutral.first().map(|&other| segmentation.pieces(other, language).to_vec()),
        };
        Ok(pieces.map(|mut pieces| {
            pieces.pop_if(|last| segmentation.is_boundary(*last));
            pieces
        }))
    }

    /// A word's affixes with the stem of the first other word for which the result is a word of no language.
    fn with_stem(&self, word: Symbol, language: Language, neutral: &[Symbol]) -> Result<Option<Vec<u32>>> {
        let lexicon = &self.languages.lexicon;
        let own = lexicon.word(word, language);
        // A root in a pattern has no stem that could be put between other affixes.
        if own.is_templatic() {
            return Ok(None);
        }
        for &other in neutral {
            let spelt = self.spell_new([own.prefix(), lexicon.word(other, language).stem(), own.suffix()], language)?;
            if spelt.is_some() {
                return Ok(spelt);
            }
        }
        Ok(None)
    }

    /// The pieces of a word that no language has.
    fn spell_new(&self, morphemes: [&str; 3], language: Language) -> Result<Option<Vec<u32>>> {
        let (form, lexicon) = (morphemes.concat(), &self.languages.lexicon);
        if self.languages.all().iter().any(|&any| lexicon.symbol(&form, any).is_some()) {
            return Ok(None);
        }
        Ok(Some(self.text.segmentation.spell(&self.text.tokenizer, morphemes, language)?))
    }

    /// A word's affixes with the first language's stem, in which as many letters were replaced by others of the language's
    /// stems as its own stem differs by. `None` where stems have no common letters, or no such word is found.
    fn irregular(
        &self,
        word: Symbol,
        language: Language,
        neutral: &[Symbol],
        rng: &mut Rng,
    ) -> Result<Option<Vec<u32>>> {
        let lexicon = &self.languages.lexicon;
        let own = lexicon.word(word, language);
        let letters = |stem: &str| stem.chars().collect::<Vec<char>>();
        let (source, target) = (letters(lexicon.word(word, self.languages.all()[0]).stem()), letters(own.stem()));
        let pool: Vec<char> = neutral.iter().flat_map(|&other| lexicon.word(other, language).stem().chars()).collect();
        let changes = edits(&source, &target).min(source.len());
        if changes == 0 {
            return Ok(Some(self.text.segmentation.pieces(word, language).to_vec()));
        }
        // Letters of another script are never in common.
        if own.is_templatic() || !source.iter().any(|letter| pool.contains(letter)) {
            return Ok(None);
        }
        for _ in 0..TRIES {
            let mut stem = source.clone();
            let mut places: Vec<usize> = (0..stem.len()).collect();
            rng.shuffle(&mut places);
            places.truncate(changes);
            places.into_iter().for_each(|place| stem[place] = pool[rng.index(pool.len())]);
            if edits(&source, &stem) == changes && stem != target {
                let stem: String = stem.into_iter().collect();
                let spelt = self.spell_new([own.prefix(), &stem, own.suffix()], language)?;
                if spelt.is_some() {
                    return Ok(spelt);
                }
            }
        }
        Ok(None)
    }
}
