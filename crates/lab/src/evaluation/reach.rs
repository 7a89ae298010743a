//! Top-K reachability: after `<T0:B> subject copula`, or how else the language's word order has it (`kinds.rs`), is
//! each piece of a descriptor among the K likeliest?
//!
//! Asked for descriptors that Γ allows the subject, as many that it forbids among the subject's own properties, and as
//! many of other classes: a model that reaches the second as often as the first does not know which is which. By how
//! much it does is the contrast, which has words of its own ([`super::contrast`]). A language without a mask is asked for
//! the symbols masked nowhere and, apart, for those masked in each other language, so that what is compared across
//! languages is the same symbols.
//!
//! Some descriptors are said more often than others, some never, and those that are allowed somebody are said the more.
//! So subjects come in pairs of one class: what is asked as allowed of the one (and not of the other) is asked as
//! forbidden of the other, and the other way round. What is of other classes is what is true of a pair of another class.
//!
//! Every target is scored once, all its pieces; whether it is reachable at any K is then its worst rank. That equals
//! the paper's trie search (Algorithm 2) and a plain check of every target, both of which are in the tests.

use super::kinds::Kinds;
use crate::settings::EvalConfig;
use crate::tokenized::TokenizedText;
use invitro_language::{Language, Languages, Rng, Stream, Symbol, World};
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
    kinds: Kinds,
    vocab: usize,
}

#[derive(Clone, Debug)]
struct Subject {
    /// Of every kind of symbols.
    targets: Vec<TargetSets>,
    /// For every kind's three sets, one after the other.
    asked: Asked,
}

impl Subject {
    /// Where the answers about a kind begin.
    fn start(&self, kind: usize) -> usize {
        self.targets[..kind].iter().map(TargetSets::len).sum()
    }
}

/// What is asked about one subject, in every language.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub questions: Vec<Question>,
    /// Pieces of every continuation, the boundary not counted.
    pieces: Vec<Vec<usize>>,
}

impl Asked {
    /// The subject and its copula, as the word order has them, and these words as continuations; none in a language that
    /// cannot be asked.
    pub fn new(languages: &Languages, text: &TokenizedText, entity: Symbol, words: &[Symbol]) -> Asked {
        let question = |&language: &Language| match languages.opening(entity, language) {
            Some(opening) => Question {
                prompt: text.opening(language, &opening),
                continuations: words.iter().map(|&symbol| text.word(symbol, language).0.to_vec()).collect(),
                among: text.usable(language),
            },
            None => Question { prompt: text.opening(language, &[]), continuations: Vec::new(), among: None },
        };
        let pieces = |&language: &Language| words.iter().map(|&symbol| text.word(symbol, language).1).collect();
        let all = languages.all();
        Asked { questions: all.iter().map(question).collect(), pieces: all.iter().map(pieces).collect() }
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
        let kinds = Kinds::new(languages);
        let pairs = pairs(world, &mut Stream::new(languages.seed, "eval/reach").at(0, 0));
        // What is true of the first and not of the second, for both ways round.
        let own = |pair: &[Symbol; 2], kind: usize| {
            [[pair[0], pair[1]], [pair[1], pair[0]]].map(|[entity, other]| {
                let mut set = world.allowed(entity);
                set.retain(|&symbol| !world.allows(other, symbol) && kinds.has(languages, kind, symbol, entity));
                let (stream, row) = (kinds.stream(languages, kind, "eval/reach"), kinds.row(kind));
                stream.at(1, 2 * u64::from(entity.0) + row).shuffle(&mut set);
                set
            })
        };
        let subjects = pairs.iter().enumerate().take(eval.subjects.div_ceil(2)).flat_map(|(at, pair)| {
            let mut following = pairs[at + 1..].iter().chain(&pairs[..at]);
            let strangers = following.find(|other| world.class(other[0]) != world.class(pair[0]));
            let of_kind = |kind: usize| {
                let others = strangers.map(|strangers| own(strangers, kind)).unwrap_or_default();
                TargetSets::of_pair(own(pair, kind), others, eval.targets)
            };
            let of_kinds: Vec<[TargetSets; 2]> = (0..kinds.count()).map(of_kind).collect();
            let subject = |(at, &entity): (usize, &Symbol)| {
                let targets: Vec<TargetSets> = of_kinds.iter().map(|of_pair| of_pair[at].clone()).collect();
                let all: Vec<Symbol> = targets.iter().flat_map(|kind| kind.sets.iter().flatten().copied()).collect();
                Subject { asked: Asked::new(languages, text, entity, &all), targets }
            };
            pair.iter().enumerate().map(subject).collect::<Vec<_>>()
        });
        ReachSet { subjects: subjects.collect(), kinds, vocab }
    }

    /// How many subjects it has: fewer than asked for where the world has no more that differ from one of their class.
    pub fn subjects(&self) -> usize {
        self.subjects.len()
    }

    /// The masked words that are asked for in the language they are masked in, of some subject that Γ allows them: no
    /// others can be reached.
    pub fn asked(&self) -> HashSet<(Symbol, Language)> {
        let mut asked = HashSet::new();
        for (kind, language) in self.asked_kinds() {
            let allowed = self.subjects.iter().flat_map(|subject| &subject.targets[kind].sets[0]);
            asked.extend(allowed.map(|&symbol| (symbol, language)));
        }
        asked
    }

    /// The kinds of masked symbols whose language can be asked.
    fn asked_kinds(&self) -> impl Iterator<Item = (usize, Language)> {
        self.kinds.masked().filter(|&(_, language)| self.kinds.asks(language))
    }

    /// What to ask a model: per subject, its question in every language.
    pub fn questions(&self) -> Vec<Question> {
        self.subjects.iter().flat_map(|subject| subject.asked.questions.iter().cloned()).collect()
    }

    /// The masked words whose pieces are all within the top 0.1 |V| for a subject that Γ allows them, rising, each with the
    /// language it is masked and reached in.
    pub fn reached(&self, answers: &[Answer]) -> Vec<(Symbol, Language)> {
        let k = Fraction::PAPER.of(self.vocab);
        let mut words: Vec<(Symbol, Language)> = Vec::new();
        for (subject, answers) in self.subjects.iter().zip(answers.chunks(self.kinds.languages)) {
            for (kind, language) in self.asked_kinds() {
                let found = subject.asked.found(language.index(), &answers[language.index()]);
                let allowed = subject.targets[kind].sets[0].iter().zip(&found[subject.start(kind)..]);
                words.extend(allowed.filter(|(_, found)| found.rank < k).map(|(&symbol, _)| (symbol, language)));
            }
        }
        words.sort_unstable();
        words.dedup();
        words
    }

    /// The rows of one scorer: the network or an n-gram model.
    pub fn rows(&self, scorer: Scorer, answers: &[Answer], rows: &mut Rows) {
        for &condition in &self.kinds.conditions {
            let language = condition.language.index();
            for (masked_elsewhere, kinds) in self.kinds.of(condition) {
                // Per set and subject, what was found; a subject without targets of this kind is left out. One with
                // targets of several kinds counts once for each, so that sets are as large as where they are masked.
                let mut found: [Vec<Vec<Found>>; 3] = Default::default();
                for (subject, answers) in self.subjects.iter().zip(answers.chunks(self.kinds.languages)) {
                    let all = subject.asked.found(language, &answers[language]);
                    for &kind in &kinds {
                        let size = subject.targets[kind].sets[0].len();
                        if size > 0 {
                            for (set, part) in found.iter_mut().zip(all[subject.start(kind)..].chunks(size)) {
                                set.push(part.to_vec());
                            }
                        }
                    }
                }
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
