//! The contrast, the measure of knowledge: by how much a word is likelier after a subject that Γ allows it than after one
//! that Γ forbids it.
//!
//! For a word v, c(v) = log P(v | e) - log P(v | e'), after `<T0:B> subject copula` (or the prompt that the word order has,
//! see `symbol_kinds.rs`), with e and e' of one class, Γ(e, v) and not Γ(e', v). The string is the same in both terms, so
//! the contribution of its form cancels, and a model that ignores the subject has exactly 0, word by word. The contrast of
//! types takes e' from another class.
//!
//! Words are asked of pairs of subjects that give one word each way round, so that a subject which makes all words likelier
//! cancels too. Each word is queried once; there are [`EvalConfig::words`] of them, or all that Γ allows one subject
//! and forbids another of its class. These words are the contrast's own: reachability needs few words of each subject, a
//! contrast needs many words in all.
//!
//! The interval allows for words that share a subject: see [`interval_over_pairs`].

use super::reachability::{SubjectQueries, TargetScore, pairs};
use super::symbol_kinds::SymbolKinds;
use super::{Answers, Probe, Queries, Record, Setup};
use crate::error::Result;
use crate::experiment::Experiment;
use crate::inputs::tokenized::TokenizedText;
use invitro_base::settings::EvalConfig;
use invitro_language::{Language, Languages, Symbol};
use invitro_model::{ContinuationScores, ScoreQuery};
use invitro_results::{Fraction, Measure, Reach, Rows, Scorer, Statistic, Targets};
use invitro_stats::pairs::interval_over_pairs;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// The words with their subjects.
#[derive(Clone, Debug)]
pub struct ContrastProbe {
    /// Of every kind.
    words: Vec<Vec<ContrastWord>>,
    subjects: Vec<SubjectQueries>,
    /// The entities that are the subjects.
    entities: Vec<Symbol>,
    kinds: SymbolKinds,
    vocab: usize,
    notes: Vec<String>,
}

pub(super) fn probe(setup: &Setup) -> Result<Option<Arc<dyn Probe>>> {
    Ok(Some(setup.contrast.clone()))
}

/// A word, and where its scores are: after a subject that Γ allows it, after one that Γ forbids it, and after one of another
/// class.
#[derive(Clone, Debug)]
struct ContrastWord {
    word: Symbol,
    places: [AnswerPlace; 3],
}

#[derive(Clone, Copy, Debug)]
struct AnswerPlace {
    subject: usize,
    word: usize,
}

/// Ways to pair the subjects that are tried before a word is asked of two that have no word the other way round.
const PAIRINGS: u64 = 8;

impl ContrastProbe {
    /// Chooses words and subjects: fixed for a data seed.
    pub fn new(languages: &Languages, text: &TokenizedText, eval: &EvalConfig, vocab: usize) -> ContrastProbe {
        let world = &languages.world;
        let mut entities: Vec<Symbol> = Vec::new();
        let mut words_of: Vec<Vec<Symbol>> = Vec::new();
        let mut place_of: HashMap<(Symbol, Symbol), AnswerPlace> = HashMap::new();
        let mut place = |entity: Symbol, word: Symbol| {
            *place_of.entry((entity, word)).or_insert_with(|| {
                let subject = entities.iter().position(|&known| known == entity).unwrap_or_else(|| {
                    entities.push(entity);
                    words_of.push(Vec::new());
                    entities.len() - 1
                });
                words_of[subject].push(word);
                AnswerPlace { subject, word: words_of[subject].len() - 1 }
            })
        };
        let kinds = SymbolKinds::new(languages);
        let mut of_kind = |kind: usize| {
            let chosen = choose(languages, &kinds, kind, eval.words);
            let other_class = |at: usize, own: Symbol| {
                let other_subjects = chosen[at + 1..].iter().chain(&chosen[..at]).map(|other| other.subjects[0]);
                other_subjects.chain(world.entities()).find(|&other| world.class(other) != world.class(own))
            };
            let contrast_word = |(at, WordChoice { word, subjects: [allowed, forbidden] }): (usize, &WordChoice)| {
                let other = other_class(at, *allowed)?;
                let places = [*allowed, *forbidden, other].map(|subject| place(subject, *word));
                Some(ContrastWord { word: *word, places })
            };
            chosen.iter().enumerate().filter_map(contrast_word).collect()
        };
        let words: Vec<Vec<ContrastWord>> = (0..kinds.count()).map(&mut of_kind).collect();
        let subjects =
            entities.iter().zip(&words_of).map(|(&entity, words)| SubjectQueries::new(languages, text, entity, words));
        let notes = notes(eval, languages, &kinds, &words);
        ContrastProbe { words, subjects: subjects.collect(), entities, kinds, vocab, notes }
    }

    /// The kinds of its words.
    pub(super) fn kinds(&self) -> &SymbolKinds {
        &self.kinds
    }

    /// The words of a kind, each with its two subjects, that Γ allows it and that Γ forbids it: their places and themselves.
    pub(super) fn facts(&self, kind: usize) -> impl Iterator<Item = (Symbol, [usize; 2], [Symbol; 2])> {
        self.words[kind].iter().map(|word| {
            let subjects = [0, 1].map(|place| word.places[place].subject);
            (word.word, subjects, subjects.map(|subject| self.entities[subject]))
        })
    }

    /// The masked words, each with the language it is masked in, in the order of `by_word`.
    pub fn masked(&self) -> impl Iterator<Item = (Language, Symbol)> {
        let words_of_kind =
            |(kind, language): (usize, Language)| self.words[kind].iter().map(move |word| (language, word.word));
        self.kinds.masked().flat_map(words_of_kind)
    }

    /// The contrast of facts of every masked word in each language, in nats, to four decimals.
    fn by_word(&self, scores: &[ContinuationScores]) -> BTreeMap<String, Vec<f64>> {
        let in_language = |language: Language| {
            let targets = self.target_scores(language, scores);
            let at = |place: AnswerPlace| targets[place.subject][place.word].logprob;
            let contrast = |word: &ContrastWord| at(word.places[0]) - at(word.places[1]);
            let rounded = |word: &ContrastWord| (contrast(word) * 1e4).round() / 1e4;
            (language.name().to_owned(), self.words[1..].iter().flatten().map(rounded).collect())
        };
        self.kinds.conditions.iter().filter(|c| !c.masked).map(|c| in_language(c.language)).collect()
    }

    /// The score of every word of every subject, in one language.
    fn target_scores(&self, language: Language, scores: &[ContinuationScores]) -> Vec<Vec<TargetScore>> {
        let subjects = self.subjects.iter().zip(scores.chunks(self.kinds.languages));
        subjects.map(|(subject, scores)| subject.target_scores(language.index(), &scores[language.index()])).collect()
    }

    /// The queries of all subjects, in every language each.
    fn score_queries(&self) -> Vec<ScoreQuery> {
        self.subjects.iter().flat_map(|subject| subject.queries.iter().cloned()).collect()
    }

    /// The rows of one scorer: the network or an n-gram model.
    fn rows(&self, scorer: Scorer, scores: &[ContinuationScores], rows: &mut Rows) {
        let statistics = Fraction::ALL.map(|top| (Statistic::Share, Some(top))).into_iter();
        let statistics: Vec<_> = statistics.chain([(Statistic::LogProb, None)]).collect();
        for &condition in &self.kinds.conditions {
            let targets_of = self.target_scores(condition.language, scores);
            for (masked_elsewhere, kinds) in self.kinds.asked_in(condition) {
                // A symbol masked in two languages counts once.
                let mut seen = HashSet::new();
                let words = kinds.iter().flat_map(|&kind| &self.words[kind]);
                let words: Vec<&ContrastWord> = words.filter(|word| seen.insert(word.word)).collect();
                let subjects = |against: usize| -> Vec<[usize; 2]> {
                    words.iter().map(|word| [0, against].map(|place| word.places[place].subject)).collect()
                };
                let contrasts = [(Targets::Facts, 1), (Targets::Types, 2)];
                let contrasts = contrasts.map(|(targets, against)| (targets, against, subjects(against)));
                for &(statistic, top) in &statistics {
                    let value = |place: AnswerPlace| {
                        let target = &targets_of[place.subject][place.word];
                        match top {
                            Some(top) => f64::from(u8::from(target.rank < top.of(self.vocab))),
                            None => target.logprob,
                        }
                    };
                    for &(targets, against, ref subjects) in &contrasts {
                        let differences: Vec<f64> =
                            words.iter().map(|word| value(word.places[0]) - value(word.places[against])).collect();
                        let reach = Reach { scorer, targets, masked_elsewhere, statistic, top, boundary: false };
                        let mean = differences.iter().sum::<f64>() / differences.len() as f64;
                        let interval = interval_over_pairs(&differences, subjects);
                        rows.push_interval(Some(&condition.into()), Measure::Reach(reach), mean, interval, words.len());
                    }
                }
            }
        }
    }
}

impl Probe for ContrastProbe {
    fn queries(&self, _step: u64) -> Queries {
        Queries { scores: self.score_queries(), ..Queries::default() }
    }

    fn record(&self, answers: &Answers, record: &mut Record) {
        self.rows(record.scorer, &answers.scores, &mut record.rows);
        if record.scorer == Scorer::Network {
            record.contrasts.nats = self.by_word(&answers.scores);
        }
    }

    fn notes(&self, experiment: &Experiment) -> Vec<String> {
        if experiment.is_presets_own("eval.words") { Vec::new() } else { self.notes.clone() }
    }
}

/// The kinds that have fewer words than `eval.words`.
fn notes(eval: &EvalConfig, languages: &Languages, kinds: &SymbolKinds, words: &[Vec<ContrastWord>]) -> Vec<String> {
    let one_mask = languages.masked().count() == 1;
    let mut notes = Vec::new();
    for (kind, words) in words.iter().enumerate().filter(|(_, words)| words.len() < eval.words) {
        let masked = kinds.masked().find(|(number, _)| *number == kind).map(|(_, language)| language.name());
        let name = match masked {
            None => "unmasked words".to_owned(),
            Some(_) if one_mask => "masked words".to_owned(),
            Some(language) => format!("words masked in {language}"),
        };
        let all =
            languages.world.descriptors().filter(|&word| kinds.has_for_some_entity(languages, kind, word)).count();
        notes.push(format!(
            "the contrast has {} {name} instead of {} (`eval.words`): of the {all} there are, only these are allowed one entity \
             and forbidden another of its class",
            words.len(),
            eval.words
        ));
    }
    notes
}

/// A word with a subject that Γ allows it and one of the same class that Γ forbids it.
struct WordChoice {
    word: Symbol,
    subjects: [Symbol; 2],
}

/// Up to `wanted` words of a kind, each once.
fn choose(languages: &Languages, kinds: &SymbolKinds, kind: usize, wanted: usize) -> Vec<WordChoice> {
    let world = &languages.world;
    let (stream, row) = (kinds.stream(languages, kind, "eval/contrast"), kinds.row(kind));
    // The words that Γ allows the first subject and not the second.
    let own = |subjects: [Symbol; 2]| {
        let mut words = world.allowed(subjects[0]);
        words.retain(|&word| kinds.has(languages, kind, word, subjects[0]) && !world.allows(subjects[1], word));
        stream.at(1, 2 * u64::from(subjects[0].0) + row).shuffle(&mut words);
        words
    };
    let mut taken: HashSet<Symbol> = HashSet::new();
    let mut chosen: Vec<WordChoice> = Vec::new();
    for pairing in 0..PAIRINGS {
        let mut open: Vec<([[Symbol; 2]; 2], [Vec<Symbol>; 2])> = Vec::new();
        for [one, other] in pairs(world, &mut stream.at(0, pairing)) {
            let ways = [[one, other], [other, one]];
            open.push((ways, ways.map(own)));
        }
        // A word each way from every pair, and again from those that have more.
        while !open.is_empty() && chosen.len() < wanted {
            open.retain_mut(|(ways, words)| {
                let next = words.each_mut().map(|words| {
                    words.retain(|word| !taken.contains(word));
                    words.pop()
                });
                let [Some(first), Some(second)] = next else { return false };
                if chosen.len() < wanted {
                    for (word, subjects) in [first, second].into_iter().zip(*ways) {
                        taken.insert(word);
                        chosen.push(WordChoice { word, subjects });
                    }
                }
                true
            });
        }
    }
    // Words without a partner that is asked the other way round.
    let mut single: Vec<Symbol> =
        world.descriptors().filter(|&word| kinds.has_for_some_entity(languages, kind, word)).collect();
    stream.at(2, row).shuffle(&mut single);
    let mut entities: Vec<Symbol> = world.entities().collect();
    stream.at(3, row).shuffle(&mut entities);
    let allows = |entity: Symbol, word: Symbol| world.allows(entity, word) && kinds.has(languages, kind, word, entity);
    for word in single.into_iter().filter(|word| !taken.contains(word)) {
        if chosen.len() >= wanted {
            break;
        }
        let of_class = || entities.iter().copied().filter(|&entity| world.class(entity) == world.class(word));
        let allowed = of_class().find(|&entity| allows(entity, word));
        let forbidden = of_class().find(|&entity| !world.allows(entity, word));
        if let (Some(allowed), Some(forbidden)) = (allowed, forbidden) {
            chosen.push(WordChoice { word, subjects: [allowed, forbidden] });
        }
    }
    chosen
}
