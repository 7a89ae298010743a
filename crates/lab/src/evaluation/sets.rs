//! Everything a model is asked, made once per data seed and tokenizer.

use super::contrast::ContrastSet;
use super::forms::FormSet;
use super::generation::{self, Prompted};
use super::held_out::HeldOut;
use super::kinds::{Kinds, can_be_asked};
use super::ngrams::{Ngrams, Order};
use super::reach::ReachSet;
use crate::error::Result;
use crate::experiment::Experiment;
use crate::settings::EvalConfig;
use crate::tokenized::TokenizedText;
use invitro_language::{Language, Languages, Source, Symbol, Task};
use invitro_model::decode::{Prompt, Sampling};
use invitro_model::score::{Answer, Question};
use invitro_results::{Rows, Scorer};
use std::collections::{BTreeMap, HashSet};

/// Everything a model of one data seed and tokenizer is asked.
pub struct EvaluationSets {
    /// Of T1, decoded greedily, then of T0 and T2, sampled.
    pub(super) prompts: Vec<Prompted>,
    pub(super) reach: ReachSet,
    contrast: ContrastSet,
    /// With `eval.forms`.
    forms: Option<FormSet>,
    pub(super) held_out: HeldOut,
    /// The n-gram models' answers, which do not change as a network trains.
    pub(super) baselines: Vec<(Order, Vec<Answer>)>,
    temperature: f64,
    languages: usize,
    /// Tokens that a free sentence may have.
    longest: usize,
    pub(super) kept: usize,
    /// What was asked for and cannot be had.
    pub notes: Vec<String>,
}

impl EvaluationSets {
    pub fn new(experiment: &Experiment, languages: &Languages, text: &TokenizedText) -> Result<EvaluationSets> {
        let (eval, context) = (&experiment.eval, experiment.model.context);
        let mut prompts = generation::prompts(languages, text, Task::T1, eval.sentences, context)?;
        for task in [Task::T0, Task::T2] {
            prompts.extend(generation::prompts(languages, text, task, eval.samples, context)?);
        }
        if languages.translates {
            prompts.extend(generation::translations(languages, text, eval.sentences, context)?);
        }
        let reach = ReachSet::new(languages, text, eval, text.vocab());
        let contrast = ContrastSet::new(languages, text, eval, text.vocab());
        let forms = eval.forms.then(|| FormSet::new(languages, text, &contrast)).transpose()?;
        let held_out = HeldOut::new(languages, text, &experiment.mixture, eval.losses, context)?;
        let mut sets = EvaluationSets {
            notes: notes(eval, languages, &reach, &contrast)
                .into_iter()
                .chain(forms_note(text, forms.as_ref()))
                .collect(),
            prompts,
            reach,
            contrast,
            forms,
            held_out,
            baselines: Vec::new(),
            temperature: eval.temperature,
            languages: languages.all().len(),
            longest: longest(languages, text)?,
            kept: eval.kept,
        };
        let rows = text.training_rows(experiment, languages, eval.ngram_rows)?;
        let counted = Ngrams::count(text.rows(), rows.iter().map(Vec::as_slice));
        let questions = sets.questions();
        sets.baselines = [Order::Unigram, Order::Bigram].map(|order| (order, counted.answer(order, &questions))).into();
        Ok(sets)
    }

    /// What to ask a model about words: reachability's questions, then the contrast's, then those in other forms.
    pub(super) fn questions(&self) -> Vec<Question> {
        let mut questions = self.reach.questions();
        questions.extend(self.contrast.questions());
        questions.extend(self.forms.iter().flat_map(FormSet::questions).cloned());
        questions
    }

    /// The rows of a scorer's answers to them.
    pub(super) fn answered(&self, scorer: Scorer, answers: &[Answer], rows: &mut Rows) {
        let (reach, others) = answers.split_at(self.languages * self.reach.subjects());
        let of_forms = self.forms.as_ref().map_or(0, |forms| forms.questions().len());
        let (contrast, forms) = others.split_at(others.len() - of_forms);
        self.reach.rows(scorer, reach, rows);
        self.contrast.rows(scorer, contrast, rows);
        self.forms.iter().for_each(|set| set.rows(scorer, forms, rows));
    }

    /// The contrast of facts of every masked word that is asked, per language, from a network's answers.
    pub(super) fn contrasts(&self, answers: &[Answer]) -> BTreeMap<String, Vec<f64>> {
        self.contrast.by_word(&answers[self.languages * self.reach.subjects()..])
    }

    /// Those words, in the same order, each with the language it is masked in.
    pub fn contrasted(&self) -> impl Iterator<Item = (Language, Symbol)> {
        self.contrast.masked()
    }

    /// The masked words that reachability asks for, each with the language it is masked and asked in.
    pub fn asked(&self) -> HashSet<(Symbol, Language)> {
        self.reach.asked()
    }

    /// What to decode: T1 greedily, T0 and T2 at random, anew at every step. An unscrambled sentence has the words of
    /// its prompt, so one that is much longer is none; a free one may be as long as any. What is drawn for a prompt
    /// depends on its task, condition and row alone: other sets may grow or shrink.
    pub(super) fn ask(&self, step: u64) -> Vec<Prompt> {
        let ask = |prompted: &Prompted| {
            let (sampling, length) = match prompted.sequence.task {
                Task::T1 | Task::T3 => (Sampling::Greedy, prompted.answer + SLACK),
                Task::T0 | Task::T2 => (
                    Sampling::Random { seed: step, temperature: self.temperature, top_k: None, top_p: None },
                    self.longest,
                ),
            };
            Prompt { tokens: prompted.tokens.clone(), sampling, most: length + length / 4, key: prompted.key }
        };
        self.prompts.iter().map(ask).collect()
    }
}

/// Tokens that an unscrambled sentence may be longer than it should, beside a quarter.
const SLACK: usize = 8;

/// Sentences that the longest is taken of.
const PROBE: u64 = 512;

/// The tokens of a long sentence, with its end: the longest of a fixed sample.
fn longest(languages: &Languages, text: &TokenizedText) -> Result<usize> {
    let mut longest = 0;
    for condition in languages.conditions() {
        let mut source = Source::condition(languages, "eval/longest", condition, Task::T0);
        for row in 0..PROBE {
            longest = longest.max(text.segmentation.length(&source.draw(0, row)?) - 1);
        }
    }
    Ok(longest)
}

/// What other forms cannot show.
fn forms_note(text: &TokenizedText, forms: Option<&FormSet>) -> Option<String> {
    if forms?.is_empty() {
        return Some("`eval.forms` has nothing to ask: no language but the first can be asked for words".into());
    }
    let kind = text.tokenizer.kind().filter(|kind| !kind.is_trained())?;
    Some(format!(
        "`eval.forms` asks for words recut alike and apart, but `tokenizer.kind` is {}, whose words have one cut only",
        kind.name()
    ))
}

/// What was asked for and cannot be had.
fn notes(eval: &EvalConfig, languages: &Languages, reach: &ReachSet, contrast: &ContrastSet) -> Vec<String> {
    let mut notes = Vec::new();
    if reach.subjects() < eval.subjects {
        let (asked, had, all) = (eval.subjects, reach.subjects(), languages.world.entities().count());
        notes.push(format!(
            "reachability is asked of {had} subjects, not of {asked} (`eval.subjects`): the world has {all} entities, \
             and they are asked in pairs of one class of which different things are true"
        ));
    }
    for &language in languages.all().iter().filter(|&&language| !can_be_asked(languages, language)) {
        notes.push(format!(
            "reachability and the contrast are not asked in {}: in its word order descriptors come before their subjects, so \
             that no sentence begins with a subject of which a descriptor is said next",
            language.name()
        ));
    }
    let one_mask = languages.masked().count() == 1;
    for (language, had) in contrast.words() {
        let (kind, words) = match language {
            None => ("unmasked".into(), "unmasked words".into()),
            Some(_) if one_mask => ("masked".into(), "masked words".into()),
            Some(language) => {
                (format!("masked in {}", language.name()), format!("words masked in {}", language.name()))
            }
        };
        let kinds = Kinds::new(languages);
        let number = kinds.masked().find(|(_, one)| Some(*one) == language).map_or(0, |(number, _)| number);
        let all = languages.world.descriptors().filter(|&word| kinds.has_of_some(languages, number, word)).count();
        if had < eval.words {
            let asked = eval.words;
            notes.push(format!(
                "the contrast is over {had} {words}, not over {asked} (`eval.words`): of the {all} that are {kind}, \
                 no more are true of one entity and false of another of its class"
            ));
        }
    }
    notes
}
