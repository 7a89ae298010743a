//! Top-K reachability: after `<T0:B> subject copula`, is each piece of a descriptor among the K likeliest?
//!
//! Asked for descriptors that Γ allows the subject, as many that it forbids among the subject's own properties, and as
//! many of other classes: a model that reaches the second as often as the first does not know which is which. By how
//! much it does is the contrast, which has words of its own ([`super::contrast`]). Condition A is asked for the symbols
//! of B and, apart, for those masked in B, so that what is compared across languages is the same symbols.
//!
//! Some descriptors are said more often than others, some never, and those that are allowed somebody are said the more.
//! So subjects come in pairs of one class: what is asked as allowed of the one (and not of the other) is asked as
//! forbidden of the other, and the other way round. What is of other classes is what is true of a pair of another class.
//!
//! Every target is scored once, all its pieces; whether it is reachable at any K is then its worst rank. That equals
//! the paper's trie search (Algorithm 2) and a plain check of every target, both of which are in the tests.

use crate::settings::EvalConfig;
use crate::tokenized::TokenizedText;
use invitro_language::{Condition, Language, Languages, Rng, Stream, Symbol, World};
use invitro_model::reading::Score;
use invitro_model::score::{Answer, Question};
use invitro_results::{Fraction, Measure, Reach, Rows, Scorer, Statistic, Targets};
use std::collections::{HashSet, VecDeque};

/// Targets of one kind of symbols, three sets of one size.
#[derive(Clone, Debug)]
struct TargetSets {
    sets: [Vec<Symbol>; 3],
}

/// Who is asked about, and what.
#[derive(Clone, Debug)]
pub struct ReachSet {
    subjects: Vec<Subject>,
    conditions: Vec<Condition>,
    vocab: usize,
}

#[derive(Clone, Debug)]
struct Subject {
    unmasked: TargetSets,
    masked: TargetSets,
    /// For the unmasked targets' three sets, then the masked ones', one after the other.
    asked: Asked,
}

/// What is asked about one subject, in A and in B.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub questions: [Question; 2],
    /// Pieces of every continuation, the boundary not counted.
    pieces: [Vec<usize>; 2],
}

impl Asked {
    /// The subject, its copula, and these words as continuations.
    pub fn new(languages: &Languages, text: &TokenizedText, entity: Symbol, words: &[Symbol]) -> Asked {
        let question = |language: Language| Question {
            prompt: text.opening(language, &[entity, languages.world.copula()]),
            continuations: words.iter().map(|&symbol| text.word(symbol, language).0.to_vec()).collect(),
        };
        let pieces = |language| words.iter().map(|&symbol| text.word(symbol, language).1).collect();
        Asked { questions: Language::ALL.map(question), pieces: Language::ALL.map(pieces) }
    }

    /// What the scores say of every word in a language.
    pub fn found(&self, language: usize, answer: &Answer) -> Vec<Found> {
        answer.iter().zip(&self.pieces[language]).map(|(scores, &pieces)| Found::of(scores, pieces)).collect()
    }
}

impl ReachSet {
    /// Draws subjects and targets: fixed for a data seed.
    pub fn new(languages: &Languages, text: &TokenizedText, eval: &EvalConfig, vocab: usize) -> ReachSet {
        let world = &languages.world;
        let stream = Stream::new(languages.seed, "eval/reach");
        let pairs = pairs(world, &mut stream.at(0, 0));
        // What is true of the first and not of the second, for both ways round.
        let own = |pair: &[Symbol; 2], masked: bool| {
            [[pair[0], pair[1]], [pair[1], pair[0]]].map(|[entity, other]| {
                let mut set = world.allowed(entity);
                set.retain(|&symbol| !world.allows(other, symbol) && languages.mask.contains(symbol) == masked);
                stream.at(1, 2 * u64::from(entity.0) + u64::from(masked)).shuffle(&mut set);
                set
            })
        };
        let subjects = pairs.iter().enumerate().take(eval.subjects.div_ceil(2)).flat_map(|(at, pair)| {
            let mut following = pairs[at + 1..].iter().chain(&pairs[..at]);
            let strangers = following.find(|other| world.class(other[0]) != world.class(pair[0]));
            let [unmasked, masked] = [false, true].map(|masked| {
                let others = strangers.map(|strangers| own(strangers, masked)).unwrap_or_default();
                TargetSets::of_pair(own(pair, masked), others, eval.targets)
            });
            pair.iter()
                .zip(unmasked)
                .zip(masked)
                .map(|((&entity, unmasked), masked)| {
                    let all: Vec<Symbol> =
                        unmasked.sets.iter().chain(&masked.sets).flat_map(|set| set.iter().copied()).collect();
                    let asked = Asked::new(languages, text, entity, &all);
                    Subject { unmasked, masked, asked }
                })
                .collect::<Vec<_>>()
        });
        ReachSet { subjects: subjects.collect(), conditions: languages.conditions(), vocab }
    }

    /// How many subjects it has: fewer than asked for where the world has no more that differ from one of their class.
    pub fn subjects(&self) -> usize {
        self.subjects.len()
    }

    /// The masked words that are asked for, of some subject that Γ allows them: no others can be reached.
    pub fn asked(&self) -> HashSet<Symbol> {
        self.subjects.iter().flat_map(|subject| subject.masked.sets[0].iter().copied()).collect()
    }

    /// What to ask a model: per subject, its question in A and its question in B.
    pub fn questions(&self) -> Vec<Question> {
        self.subjects.iter().flat_map(|subject| subject.asked.questions.iter().cloned()).collect()
    }

    /// The masked words whose pieces are all within the top 0.1 |V| for a subject that Γ allows them, rising.
    pub fn reached(&self, answers: &[Answer]) -> Vec<Symbol> {
        let k = Fraction::PAPER.of(self.vocab);
        let mut symbols: Vec<Symbol> = Vec::new();
        for (subject, answers) in self.subjects.iter().zip(answers.chunks(2)) {
            let found = subject.asked.found(1, &answers[1]);
            let start = subject.unmasked.len();
            let allowed = subject.masked.sets[0].iter().zip(&found[start..]);
            symbols.extend(allowed.filter(|(_, found)| found.rank < k).map(|(&symbol, _)| symbol));
        }
        symbols.sort_unstable();
        symbols.dedup();
        symbols
    }

    /// The rows of one scorer: the network or an n-gram model.
    pub fn rows(&self, scorer: Scorer, answers: &[Answer], rows: &mut Rows) {
        for &condition in &self.conditions {
            let language = condition.language.index();
            for masked in kinds_of(&self.conditions, condition) {
                // Per set and subject, what was found; a subject without targets of this kind is left out.
                let mut found: [Vec<Vec<Found>>; 3] = Default::default();
                for (subject, answers) in self.subjects.iter().zip(answers.chunks(2)) {
                    let all = subject.asked.found(language, &answers[language]);
                    let targets = if masked { &subject.masked } else { &subject.unmasked };
                    let start = if masked { subject.unmasked.len() } else { 0 };
                    let size = targets.sets[0].len();
                    if size > 0 {
                        for (set, part) in found.iter_mut().zip(all[start..].chunks(size)) {
                            set.push(part.to_vec());
                        }
                    }
                }
                let masked_elsewhere = masked && !condition.masked;
                let plain = Reach {
                    scorer,
                    targets: Targets::Allowed,
                    masked_elsewhere,
                    statistic: Statistic::LogProb,
                    top: None,
                    boundary: false,
                };
                self.condition_rows(&condition.into(), plain, &found, rows);
            }
        }
    }

    /// The rows of one condition and kind of symbols: `plain` with every statistic, K, boundary and set of targets.
    fn condition_rows(
        &self,
        condition: &invitro_results::Condition,
        plain: Reach,
        found: &[Vec<Vec<Found>>; 3],
        rows: &mut Rows,
    ) {
        let n = found[0].len();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        // A value per subject of each statistic.
        let mut statistics: Vec<(Reach, Box<dyn Fn(&[Found]) -> f64>)> = Vec::new();
        for fraction in Fraction::ALL {
            let k = fraction.of(self.vocab);
            let ranks: [(bool, fn(&Found) -> u32); 2] = [(false, |f| f.rank), (true, |f| f.rank_boundary)];
            for (boundary, rank) in ranks {
                let share = move |set: &[Found]| set.iter().filter(|f| rank(f) < k).count() as f64 / set.len() as f64;
                let any = move |set: &[Found]| f64::from(u8::from(set.iter().any(|f| rank(f) < k)));
                let reach = |statistic| Reach { statistic, top: Some(fraction), boundary, ..plain };
                statistics.push((reach(Statistic::Any), Box::new(any)));
                statistics.push((reach(Statistic::Share), Box::new(share)));
            }
        }
        let logprob = |set: &[Found]| set.iter().map(|f| f.logprob).sum::<f64>() / set.len() as f64;
        statistics.push((plain, Box::new(logprob)));
        for (reach, of) in &statistics {
            for (targets, set) in Targets::SETS.into_iter().zip(found) {
                let values: Vec<f64> = set.iter().map(|subject| of(subject)).collect();
                rows.push(Some(condition), Measure::Reach(Reach { targets, ..*reach }), mean(&values), n);
            }
        }
    }
}

/// Whether a condition is asked for unmasked symbols, for masked ones, or, as a language without a mask of its own is,
/// for both, each on its own.
pub(super) fn kinds_of(conditions: &[Condition], condition: Condition) -> Vec<bool> {
    let is_masked_here = conditions.contains(&Condition { masked: true, ..condition });
    if condition.masked || is_masked_here { vec![condition.masked] } else { vec![false, true] }
}

/// Every entity with another of its class of which something else is true, by chance; one may be left over in a class.
pub(super) fn pairs(world: &World, rng: &mut Rng) -> Vec<[Symbol; 2]> {
    let mut entities: Vec<Symbol> = world.entities().collect();
    rng.shuffle(&mut entities);
    let mut pairs = Vec::new();
    let mut left: VecDeque<Symbol> = entities.into();
    while let Some(entity) = left.pop_front() {
        let differs = |&other: &Symbol| {
            world.class(other) == world.class(entity) && world.allowed(other) != world.allowed(entity)
        };
        if let Some(other) = left.iter().position(differs).and_then(|at| left.remove(at)) {
            pairs.push([entity, other]);
        }
    }
    pairs
}

impl TargetSets {
    /// The targets of both of a pair, of `own` and of a pair of another class, equally many of each.
    fn of_pair(own: [Vec<Symbol>; 2], others: [Vec<Symbol>; 2], most: usize) -> [TargetSets; 2] {
        let size = own.iter().chain(&others).map(Vec::len).min().unwrap_or(0).min(most);
        let first = |set: &[Symbol]| set[..size].to_vec();
        [0, 1].map(|i| TargetSets { sets: [first(&own[i]), first(&own[1 - i]), first(&others[i])] })
    }

    fn len(&self) -> usize {
        self.sets.iter().map(Vec::len).sum()
    }
}

/// One target: its worst rank, up to the last piece and with the boundary, and its log-probability up to the last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    pub rank: u32,
    pub rank_boundary: u32,
    pub logprob: f64,
}

impl Found {
    pub fn of(scores: &[Score], pieces: usize) -> Found {
        let worst = |scores: &[Score]| scores.iter().map(|score| score.rank).max().unwrap_or(0);
        Found {
            rank: worst(&scores[..pieces]),
            rank_boundary: worst(scores),
            logprob: scores[..pieces].iter().map(|score| f64::from(score.logprob)).sum(),
        }
    }
}
