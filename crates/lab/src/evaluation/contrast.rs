//! The contrast, the measure of knowledge: by how much a word is likelier of a subject that Γ allows it than of one that
//! Γ forbids it.
//!
//! For a word v, c(v) = log P(v | e) - log P(v | e'), after `<T0:B> subject copula`, with e and e' of one class, Γ(e, v)
//! and not Γ(e', v). The string is the same in both terms, so what its form alone contributes cancels, and whoever
//! ignores the subject has exactly 0, word by word. The contrast of types has a subject of another class for e'.
//!
//! Words are asked of pairs of subjects that give one each way round, so that a subject which makes all words likelier
//! cancels too; each word once, and as many words as [`EvalConfig::words`] asks for, or all that are true of some
//! subject and false of another of its class. The sets are its own: reachability needs few words of each subject,
//! a contrast many words in all.
//!
//! The interval is Student's, clustered by pairs: the two words of a pair share both subjects.

use super::reach::{Asked, Found, kinds_of, pairs};
use crate::settings::EvalConfig;
use crate::tokenized::TokenizedText;
use invitro_language::{Condition, Languages, Stream, Symbol};
use invitro_model::score::{Answer, Question};
use invitro_results::{Fraction, Interval, Measure, Reach, Rows, Scorer, Statistic, Targets};
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::collections::{HashMap, HashSet};

/// Which words are asked of whom.
#[derive(Clone, Debug)]
pub struct ContrastSet {
    /// The unmasked words and the masked ones.
    words: [Vec<Contrasted>; 2],
    subjects: Vec<Asked>,
    conditions: Vec<Condition>,
    vocab: usize,
}

/// A word, and where the answers about it stand: of a subject that Γ allows it, of one that Γ forbids it, and of one of
/// another class. Words with the same `pair` were asked of the same two subjects.
#[derive(Clone, Debug)]
struct Contrasted {
    pair: usize,
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
        let words = [false, true].map(|masked| {
            let chosen = choose(languages, masked, eval.words);
            let stranger = |at: usize, own: Symbol| {
                let others = chosen[at + 1..].iter().chain(&chosen[..at]).map(|other| other.subjects[0]);
                others.chain(world.entities()).find(|&other| world.class(other) != world.class(own))
            };
            let place = |(at, Choice { word, subjects: [allowed, forbidden], pair }): (usize, &Choice)| {
                let other = stranger(at, *allowed)?;
                let places = [*allowed, *forbidden, other].map(|subject| ask(subject, *word));
                Some(Contrasted { pair: *pair, places })
            };
            chosen.iter().enumerate().filter_map(place).collect()
        });
        let subjects = entities.iter().zip(&asked).map(|(&entity, words)| Asked::new(languages, text, entity, words));
        ContrastSet { words, subjects: subjects.collect(), conditions: languages.conditions(), vocab }
    }

    /// How many words it has, unmasked and masked.
    pub fn words(&self) -> [usize; 2] {
        self.words.each_ref().map(Vec::len)
    }

    /// What to ask a model: per subject, its question in A and its question in B.
    pub fn questions(&self) -> Vec<Question> {
        self.subjects.iter().flat_map(|subject| subject.questions.iter().cloned()).collect()
    }

    /// The rows of one scorer: the network or an n-gram model.
    pub fn rows(&self, scorer: Scorer, answers: &[Answer], rows: &mut Rows) {
        let statistics = Fraction::ALL.map(|top| (Statistic::Share, Some(top))).into_iter();
        let statistics: Vec<_> = statistics.chain([(Statistic::LogProb, None)]).collect();
        for &condition in &self.conditions {
            let language = condition.language.index();
            let found: Vec<Vec<Found>> = (self.subjects.iter().zip(answers.chunks(2)))
                .map(|(subject, answers)| subject.found(language, &answers[language]))
                .collect();
            for masked in kinds_of(&self.conditions, condition) {
                let words = &self.words[usize::from(masked)];
                let clusters: Vec<usize> = words.iter().map(|word| word.pair).collect();
                for &(statistic, top) in &statistics {
                    let value = |place: Place| {
                        let found = &found[place.subject][place.word];
                        match top {
                            Some(top) => f64::from(u8::from(found.rank < top.of(self.vocab))),
                            None => found.logprob,
                        }
                    };
                    for (targets, against) in [(Targets::Facts, 1), (Targets::Types, 2)] {
                        let differences: Vec<f64> =
                            words.iter().map(|word| value(word.places[0]) - value(word.places[against])).collect();
                        let masked_elsewhere = masked && !condition.masked;
                        let reach = Reach { scorer, targets, masked_elsewhere, statistic, top, boundary: false };
                        let mean = differences.iter().sum::<f64>() / differences.len() as f64;
                        let interval = clustered_interval(&differences, &clusters);
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
    pair: usize,
}

/// Up to `wanted` words, masked or not, each once.
fn choose(languages: &Languages, masked: bool, wanted: usize) -> Vec<Choice> {
    let world = &languages.world;
    let stream = Stream::new(languages.seed, "eval/contrast");
    // What is true of the first and not of the second.
    let own = |subjects: [Symbol; 2]| {
        let mut words = world.allowed(subjects[0]);
        words.retain(|&word| languages.mask.contains(word) == masked && !world.allows(subjects[1], word));
        stream.at(1, 2 * u64::from(subjects[0].0) + u64::from(masked)).shuffle(&mut words);
        words
    };
    let mut taken: HashSet<Symbol> = HashSet::new();
    let mut chosen: Vec<Choice> = Vec::new();
    let mut pair = 0;
    for pairing in 0..PAIRINGS {
        let mut left: Vec<(usize, [[Symbol; 2]; 2], [Vec<Symbol>; 2])> = Vec::new();
        for [one, other] in pairs(world, &mut stream.at(0, pairing)) {
            let ways = [[one, other], [other, one]];
            left.push((pair, ways, ways.map(own)));
            pair += 1;
        }
        // A word each way from every pair, and again from those that have more.
        while !left.is_empty() && chosen.len() < wanted {
            left.retain_mut(|(pair, ways, words)| {
                let next = words.each_mut().map(|words| {
                    words.retain(|word| !taken.contains(word));
                    words.pop()
                });
                let [Some(first), Some(second)] = next else { return false };
                if chosen.len() < wanted {
                    for (word, subjects) in [first, second].into_iter().zip(*ways) {
                        taken.insert(word);
                        chosen.push(Choice { word, subjects, pair: *pair });
                    }
                }
                true
            });
        }
    }
    // Words that no pair has one for the other way round.
    let mut rest: Vec<Symbol> = world.descriptors().filter(|&word| languages.mask.contains(word) == masked).collect();
    stream.at(2, u64::from(masked)).shuffle(&mut rest);
    let mut entities: Vec<Symbol> = world.entities().collect();
    stream.at(3, u64::from(masked)).shuffle(&mut entities);
    for word in rest.into_iter().filter(|word| !taken.contains(word)) {
        if chosen.len() >= wanted {
            break;
        }
        let of_class = || entities.iter().copied().filter(|&entity| world.class(entity) == world.class(word));
        let allowed = of_class().find(|&entity| world.allows(entity, word));
        let forbidden = of_class().find(|&entity| !world.allows(entity, word));
        if let (Some(allowed), Some(forbidden)) = (allowed, forbidden) {
            chosen.push(Choice { word, subjects: [allowed, forbidden], pair });
            pair += 1;
        }
    }
    chosen
}

/// The 95 % interval of a mean whose values are independent between clusters, not within: Student's t over the
/// clusters' sums; a single cluster has none. With one value to a cluster it is the usual one.
pub fn clustered_interval(values: &[f64], clusters: &[usize]) -> Option<Interval> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let mut sums: std::collections::BTreeMap<usize, f64> = Default::default();
    for (value, &cluster) in values.iter().zip(clusters) {
        *sums.entry(cluster).or_default() += value - mean;
    }
    let groups = sums.len() as f64;
    let student = StudentsT::new(0.0, 1.0, groups - 1.0).ok()?;
    let squares: f64 = sums.values().map(|sum| sum * sum).sum();
    let error = (groups / (groups - 1.0) * squares).sqrt() / values.len() as f64;
    let half = student.inverse_cdf(0.975) * error;
    Some(Interval { low: mean - half, high: mean + half })
}
