//! The contrast, the measure of knowledge: by how much a word is likelier of a subject that Γ allows it than of one that
//! Γ forbids it.
//!
//! For a word v, c(v) = log P(v | e) - log P(v | e'), after `<T0:B> subject copula`, or how else the language's word order
//! has it (`kinds.rs`), with e and e' of one class, Γ(e, v) and not Γ(e', v). The string is the same in both terms, so what its form alone contributes cancels, and whoever
//! ignores the subject has exactly 0, word by word. The contrast of types has a subject of another class for e'.
//!
//! Words are asked of pairs of subjects that give one each way round, so that a subject which makes all words likelier
//! cancels too; each word once, and as many words as [`EvalConfig::words`] asks for, or all that are true of some
//! subject and false of another of its class. The sets are its own: reachability needs few words of each subject,
//! a contrast many words in all.
//!
//! The interval allows for words that share a subject: see [`interval_over_pairs`].

use super::kinds::Kinds;
use super::reach::{Asked, Found, pairs};
use crate::settings::EvalConfig;
use crate::tokenized::TokenizedText;
use invitro_language::{Language, Languages, Symbol};
use invitro_model::score::{Answer, Question};
use invitro_results::{Fraction, Measure, Reach, Rows, Scorer, Statistic, Targets};
use invitro_stats::pairs::interval_over_pairs;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Which words are asked of whom.
#[derive(Clone, Debug)]
pub struct ContrastSet {
    /// Of every kind.
    words: Vec<Vec<Contrasted>>,
    subjects: Vec<Asked>,
    /// Who they are.
    entities: Vec<Symbol>,
    kinds: Kinds,
    vocab: usize,
}

/// A word, and where the answers about it stand: of a subject that Γ allows it, of one that Γ forbids it, and of one of
/// another class.
#[derive(Clone, Debug)]
struct Contrasted {
    word: Symbol,
    places: [Place; 3],
}

#[derive(Clone, Copy, Debug)]
struct Place {
    subject: usize,
    word: usize,
}

/// Ways to pair the subjects that are tried before a word is asked of two that have no word the other way round.
const PAIRINGS: u64 = 8;

impl ContrastSet {
    /// Chooses words and subjects: fixed for a data seed.
    pub fn new(languages: &Languages, text: &TokenizedText, eval: &EvalConfig, vocab: usize) -> ContrastSet {
        let world = &languages.world;
        let mut entities: Vec<Symbol> = Vec::new();
        let mut asked: Vec<Vec<Symbol>> = Vec::new();
        let mut place_of: HashMap<(Symbol, Symbol), Place> = HashMap::new();
        let mut ask = |entity: Symbol, word: Symbol| {
            *place_of.entry((entity, word)).or_insert_with(|| {
                let subject = entities.iter().position(|&known| known == entity).unwrap_or_else(|| {
                    entities.push(entity);
                    asked.push(Vec::new());
                    entities.len() - 1
                });
                asked[subject].push(word);
                Place { subject, word: asked[subject].len() - 1 }
            })
        };
        let kinds = Kinds::new(languages);
        let mut of_kind = |kind: usize| {
            let chosen = choose(languages, &kinds, kind, eval.words);
            let stranger = |at: usize, own: Symbol| {
                let others = chosen[at + 1..].iter().chain(&chosen[..at]).map(|other| other.subjects[0]);
                others.chain(world.entities()).find(|&other| world.class(other) != world.class(own))
            };
            let place = |(at, Choice { word, subjects: [allowed, forbidden] }): (usize, &Choice)| {
                let other = stranger(at, *allowed)?;
                let places = [*allowed, *forbidden, other].map(|subject| ask(subject, *word));
                Some(Contrasted { word: *word, places })
            };
            chosen.iter().enumerate().filter_map(place).collect()
        };
        let words = (0..kinds.count()).map(&mut of_kind).collect();
        let subjects = entities.iter().zip(&asked).map(|(&entity, words)| Asked::new(languages, text, entity, words));
        ContrastSet { words, subjects: subjects.collect(), entities, kinds, vocab }
    }

    /// The kinds of words, and who is asked for them.
    pub(super) fn kinds(&self) -> &Kinds {
        &self.kinds
    }

    /// The words of a kind, each with its two subjects, that Γ allows it and that Γ forbids it: their places and themselves.
    pub(super) fn facts(&self, kind: usize) -> impl Iterator<Item = (Symbol, [usize; 2], [Symbol; 2])> {
        self.words[kind].iter().map(|word| {
            let subjects = [0, 1].map(|place| word.places[place].subject);
            (word.word, subjects, subjects.map(|subject| self.entities[subject]))
        })
    }

    /// How many words it has of every kind: those masked nowhere, then those masked in each language.
    pub fn words(&self) -> Vec<(Option<Language>, usize)> {
        let of = [None].into_iter().chain(self.kinds.masked().map(|(_, language)| Some(language)));
        of.zip(self.words.iter().map(Vec::len)).collect()
    }

    /// The masked words, each with the language it is masked in, in the order of [`ContrastSet::by_word`].
    pub fn masked(&self) -> impl Iterator<Item = (Language, Symbol)> {
        let of = |(kind, language): (usize, Language)| self.words[kind].iter().map(move |word| (language, word.word));
        self.kinds.masked().flat_map(of)
    }

    /// The contrast of facts of every masked word in each language, in nats, to four decimals.
    pub fn by_word(&self, answers: &[Answer]) -> BTreeMap<String, Vec<f64>> {
        let of = |language: Language| {
            let found = self.found(language, answers);
            let at = |place: Place| found[place.subject][place.word].logprob;
            let contrast = |word: &Contrasted| at(word.places[0]) - at(word.places[1]);
            let rounded = |word: &Contrasted| (contrast(word) * 1e4).round() / 1e4;
            (language.name().to_owned(), self.words[1..].iter().flatten().map(rounded).collect())
        };
        self.kinds.conditions.iter().filter(|c| !c.masked).map(|c| of(c.language)).collect()
    }

    /// What was found of every word asked of every subject, in one language.
    fn found(&self, language: Language, answers: &[Answer]) -> Vec<Vec<Found>> {
        let of = |(subject, answers): (&Asked, &[Answer])| subject.found(language.index(), &answers[language.index()]);
        self.subjects.iter().zip(answers.chunks(self.kinds.languages)).map(of).collect()
    }

    /// What to ask a model: per subject, its question in every language.
    pub fn questions(&self) -> Vec<Question> {
        self.subjects.iter().flat_map(|subject| subject.questions.iter().cloned()).collect()
    }

    /// The rows of one scorer: the network or an n-gram model.
    pub fn rows(&self, scorer: Scorer, answers: &[Answer], rows: &mut Rows) {
        let statistics = Fraction::ALL.map(|top| (Statistic::Share, Some(top))).into_iter();
        let statistics: Vec<_> = statistics.chain([(Statistic::LogProb, None)]).collect();
        for &condition in &self.kinds.conditions {
            let found = self.found(condition.language, answers);
            for (masked_elsewhere, kinds) in self.kinds.of(condition) {
                // A symbol masked in two languages counts once.
                let mut seen = HashSet::new();
                let words = kinds.iter().flat_map(|&kind| &self.words[kind]);
                let words: Vec<&Contrasted> = words.filter(|word| seen.insert(word.word)).collect();
                let subjects = |against: usize| -> Vec<[usize; 2]> {
                    words.iter().map(|word| [0, against].map(|place| word.places[place].subject)).collect()
                };
                let contrasts = [(Targets::Facts, 1), (Targets::Types, 2)];
                let contrasts = contrasts.map(|(targets, against)| (targets, against, subjects(against)));
                for &(statistic, top) in &statistics {
                    let value = |place: Place| {
                        let found = &found[place.subject][place.word];
                        match top {
                            Some(top) => f64::from(u8::from(found.rank < top.of(self.vocab))),
                            None => found.logprob,
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

/// A word with a subject that Γ allows it and one of the same class that Γ forbids it.
struct Choice {
    word: Symbol,
    subjects: [Symbol; 2],
}

/// Up to `wanted` words of a kind, each once.
fn choose(languages: &Languages, kinds: &Kinds, kind: usize, wanted: usize) -> Vec<Choice> {
    let world = &languages.world;
    let (stream, row) = (kinds.stream(languages, kind, "eval/contrast"), kinds.row(kind));
    // What is true of the first and not of the second.
    let own = |subjects: [Symbol; 2]| {
        let mut words = world.allowed(subjects[0]);
        words.retain(|&word| kinds.has(languages, kind, word, subjects[0]) && !world.allows(subjects[1], word));
        stream.at(1, 2 * u64::from(subjects[0].0) + row).shuffle(&mut words);
        words
    };
    let mut taken: HashSet<Symbol> = HashSet::new();
    let mut chosen: Vec<Choice> = Vec::new();
    for pairing in 0..PAIRINGS {
        let mut left: Vec<([[Symbol; 2]; 2], [Vec<Symbol>; 2])> = Vec::new();
        for [one, other] in pairs(world, &mut stream.at(0, pairing)) {
            let ways = [[one, other], [other, one]];
            left.push((ways, ways.map(own)));
        }
        // A word each way from every pair, and again from those that have more.
        while !left.is_empty() && chosen.len() < wanted {
            left.retain_mut(|(ways, words)| {
                let next = words.each_mut().map(|words| {
                    words.retain(|word| !taken.contains(word));
                    words.pop()
                });
                let [Some(first), Some(second)] = next else { return false };
                if chosen.len() < wanted {
                    for (word, subjects) in [first, second].into_iter().zip(*ways) {
                        taken.insert(word);
                        chosen.push(Choice { word, subjects });
                    }
                }
                true
            });
        }
    }
    // Words that no pair has one for the other way round.
    let mut rest: Vec<Symbol> = world.descriptors().filter(|&word| kinds.has_of_some(languages, kind, word)).collect();
    stream.at(2, row).shuffle(&mut rest);
    let mut entities: Vec<Symbol> = world.entities().collect();
    stream.at(3, row).shuffle(&mut entities);
    let is_said = |entity: Symbol, word: Symbol| world.allows(entity, word) && kinds.has(languages, kind, word, entity);
    for word in rest.into_iter().filter(|word| !taken.contains(word)) {
        if chosen.len() >= wanted {
            break;
        }
        let of_class = || entities.iter().copied().filter(|&entity| world.class(entity) == world.class(word));
        let allowed = of_class().find(|&entity| is_said(entity, word));
        let forbidden = of_class().find(|&entity| !world.allows(entity, word));
        if let (Some(allowed), Some(forbidden)) = (allowed, forbidden) {
            chosen.push(Choice { word, subjects: [allowed, forbidden] });
        }
    }
    chosen
}
