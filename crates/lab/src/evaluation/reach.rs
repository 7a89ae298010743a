//! Top-K reachability: after `<T0:B> subject copula`, is each piece of a descriptor among the K likeliest?
//!
//! Asked for descriptors that Γ allows the subject, as many that it forbids among the subject's own properties, and as
//! many of other classes: what a model reaches of the first beyond the second is knowledge, beyond the third a sense
//! of types. Condition A is asked for the symbols of B and, apart, for those masked in B, so that what is compared
//! across languages is the same symbols.
//!
//! Some descriptors are said more often than others, some never, and those that are allowed somebody are said the more.
//! So subjects come in pairs of one class: what is asked as allowed of the one (and not of the other) is asked as
//! forbidden of the other, and the other way round. Over a pair, whoever scores words without regard to the subject has
//! a contrast of exactly zero. What is of other classes is what is true of a pair of another class.
//!
//! Every target is scored once, all its pieces; whether it is reachable at any K is then its worst rank. That equals
//! the paper's trie search (Algorithm 2) and a plain check of every target, both of which are in the tests.

use crate::metrics::Rows;
use crate::settings::{EvalConfig, FRACTIONS};
use crate::text::Text;
use invitro_language::{Condition, Language, Languages, Stream, Symbol, World};
use invitro_model::reading::Score;
use invitro_model::score::{Answer, Question};
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::collections::{HashSet, VecDeque};

/// The three target sets, in the order of their names in metrics.
pub const SETS: [&str; 3] = ["allowed", "forbidden", "other"];

/// Targets of one kind of symbols, three sets of one size.
#[derive(Clone, Debug)]
struct Targets {
    sets: [Vec<Symbol>; 3],
}

/// Who is asked about, and what.
#[derive(Clone, Debug)]
pub struct ReachSet {
    subjects: Vec<Subject>,
    vocab: usize,
}

#[derive(Clone, Debug)]
struct Subject {
    unmasked: Targets,
    masked: Targets,
    /// In A and in B: the unmasked targets' three sets, then the masked ones', one after the other.
    questions: [Question; 2],
    /// Pieces of every continuation, the boundary not counted.
    pieces: [Vec<usize>; 2],
}

/// A line of `reached.jsonl`: a masked word that has become reachable for a subject that Γ allows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reached {
    pub step: u64,
    pub symbol: u32,
}

impl ReachSet {
    /// Draws subjects and targets: fixed for a data seed.
    pub fn new(languages: &Languages, text: &Text, eval: &EvalConfig, vocab: usize) -> ReachSet {
        let world = &languages.world;
        let stream = Stream::new(languages.seed, "eval/reach");
        let pairs = pairs(world, &stream);
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
                Targets::of_pair(own(pair, masked), others, eval.targets)
            });
            pair.iter()
                .zip(unmasked)
                .zip(masked)
                .map(|((&entity, unmasked), masked)| {
                    let all: Vec<Symbol> =
                        unmasked.sets.iter().chain(&masked.sets).flat_map(|set| set.iter().copied()).collect();
                    let question = |language: Language| Question {
                        prompt: text.opening(language, &[entity, world.copula()]),
                        continuations: all.iter().map(|&symbol| text.word(symbol, language).0.to_vec()).collect(),
                    };
                    let pieces = Language::BOTH
                        .map(|language| all.iter().map(|&symbol| text.word(symbol, language).1).collect());
                    Subject { unmasked, masked, questions: Language::BOTH.map(question), pieces }
                })
                .collect::<Vec<_>>()
        });
        ReachSet { subjects: subjects.collect(), vocab }
    }

    /// The masked words that are asked for, of some subject that Γ allows them: no others can be reached.
    pub fn asked(&self) -> HashSet<Symbol> {
        self.subjects.iter().flat_map(|subject| subject.masked.sets[0].iter().copied()).collect()
    }

    /// What to ask a model: per subject, its question in A and its question in B.
    pub fn questions(&self) -> Vec<Question> {
        self.subjects.iter().flat_map(|subject| subject.questions.iter().cloned()).collect()
    }

    /// The masked words whose pieces are all within the top 0.1 |V| for a subject that Γ allows them, rising.
    pub fn reached(&self, answers: &[Answer]) -> Vec<Symbol> {
        let k = top(FRACTIONS[3], self.vocab);
        let mut symbols: Vec<Symbol> = Vec::new();
        for (subject, answers) in self.subjects.iter().zip(answers.chunks(2)) {
            let found = subject.found(1, &answers[1]);
            let start = subject.unmasked.len();
            let allowed = subject.masked.sets[0].iter().zip(&found[start..]);
            symbols.extend(allowed.filter(|(_, found)| found.rank < k).map(|(&symbol, _)| symbol));
        }
        symbols.sort_unstable();
        symbols.dedup();
        symbols
    }

    /// The rows of one model, `who`: the network or an n-gram model.
    pub fn rows(&self, who: &str, answers: &[Answer], rows: &mut Rows) {
        for condition in Condition::ALL {
            let language = condition.language() as usize;
            let kinds: &[(bool, &str)] = match condition {
                Condition::A => &[(false, ""), (true, "_masked")],
                Condition::B => &[(false, "")],
                Condition::BMasked => &[(true, "")],
            };
            for &(masked, suffix) in kinds {
                // Per set and subject, what was found; a subject without targets of this kind is left out.
                let mut found: [Vec<Vec<Found>>; 3] = Default::default();
                for (subject, answers) in self.subjects.iter().zip(answers.chunks(2)) {
                    let all = subject.found(language, &answers[language]);
                    let targets = if masked { &subject.masked } else { &subject.unmasked };
                    let start = if masked { subject.unmasked.len() } else { 0 };
                    let size = targets.sets[0].len();
                    if size > 0 {
                        for (set, part) in found.iter_mut().zip(all[start..].chunks(size)) {
                            set.push(part.to_vec());
                        }
                    }
                }
                self.condition_rows(who, condition.name(), suffix, &found, rows);
            }
        }
    }

    fn condition_rows(&self, who: &str, condition: &str, suffix: &str, found: &[Vec<Vec<Found>>; 3], rows: &mut Rows) {
        let n = found[0].len();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        // Per statistic and set, a value per subject.
        type Statistic = (String, bool, Box<dyn Fn(&[Found]) -> f64>);
        let mut statistics: Vec<Statistic> = Vec::new();
        for fraction in FRACTIONS {
            let k = top(fraction, self.vocab);
            let readings: [(&str, fn(&Found) -> u32); 2] = [("", |f| f.rank), ("_boundary", |f| f.rank_boundary)];
            for (reading, rank) in readings {
                let share = move |set: &[Found]| set.iter().filter(|f| rank(f) < k).count() as f64 / set.len() as f64;
                let any = move |set: &[Found]| f64::from(u8::from(set.iter().any(|f| rank(f) < k)));
                statistics.push((format!("any{reading}@{fraction}"), false, Box::new(any)));
                statistics.push((format!("share{reading}@{fraction}"), reading.is_empty(), Box::new(share)));
            }
        }
        let logprob = |set: &[Found]| set.iter().map(|f| f.logprob).sum::<f64>() / set.len() as f64;
        statistics.push(("logprob".into(), true, Box::new(logprob)));
        for (statistic, contrasted, of) in &statistics {
            let values: Vec<Vec<f64>> =
                found.iter().map(|set| set.iter().map(|subject| of(subject)).collect()).collect();
            for (set, values) in SETS.iter().zip(&values) {
                rows.push(condition, "reach", format!("{who}.{set}{suffix}.{statistic}"), mean(values), n);
            }
            if !contrasted {
                continue;
            }
            for (contrast, against) in [("facts", 1), ("types", 2)] {
                let differences: Vec<f64> = values[0].iter().zip(&values[against]).map(|(a, b)| a - b).collect();
                let by_pair: Vec<f64> = differences.chunks(2).map(mean).collect();
                let metric = format!("{who}.{contrast}{suffix}.{statistic}");
                rows.push_interval(condition, "reach", metric, mean(&by_pair), interval(&by_pair), by_pair.len());
            }
        }
    }
}

/// Every entity with another of its class of which something else is true, by chance; one may be left over in a class.
fn pairs(world: &World, stream: &Stream) -> Vec<[Symbol; 2]> {
    let mut entities: Vec<Symbol> = world.entities().collect();
    stream.at(0, 0).shuffle(&mut entities);
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

impl Targets {
    /// The targets of both of a pair, of `own` and of a pair of another class, equally many of each.
    fn of_pair(own: [Vec<Symbol>; 2], others: [Vec<Symbol>; 2], most: usize) -> [Targets; 2] {
        let size = own.iter().chain(&others).map(Vec::len).min().unwrap_or(0).min(most);
        let first = |set: &[Symbol]| set[..size].to_vec();
        [0, 1].map(|i| Targets { sets: [first(&own[i]), first(&own[1 - i]), first(&others[i])] })
    }

    fn len(&self) -> usize {
        self.sets.iter().map(Vec::len).sum()
    }
}

impl Subject {
    /// What the scores say of every target of a language.
    fn found(&self, language: usize, answer: &Answer) -> Vec<Found> {
        answer.iter().zip(&self.pieces[language]).map(|(scores, &pieces)| Found::of(scores, pieces)).collect()
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

/// K: a share of |V|, rounded up.
pub fn top(fraction: f64, vocab: usize) -> u32 {
    // 0.05 of 2048 must not become 103 for want of a bit.
    (fraction * vocab as f64 - 1e-9).ceil() as u32
}

/// The 95 % interval of a mean, by Student's t; a single value has none.
pub fn interval(values: &[f64]) -> Option<(f64, f64)> {
    let n = values.len() as f64;
    let student = StudentsT::new(0.0, 1.0, n - 1.0).ok()?;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let half = student.inverse_cdf(0.975) * (variance / n).sqrt();
    Some((mean - half, mean + half))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k_is_rounded_up() {
        assert_eq!(top(0.1, 2048), 205);
        assert_eq!(top(0.05, 2000), 100);
        assert_eq!(top(0.01, 50), 1);
    }

    #[test]
    fn an_interval_is_around_its_mean() {
        let (low, high) = interval(&[0.0, 1.0, 0.0, 1.0]).unwrap();
        assert_eq!(low + high, 1.0);
        // 3.182 is Student's t for three degrees of freedom.
        assert!((high - low - 2.0 * 3.182_446_305 * (1.0f64 / 3.0 / 4.0).sqrt()).abs() < 1e-8);
        assert_eq!(interval(&[0.25, 0.25]), Some((0.25, 0.25)));
        assert_eq!(interval(&[0.25]), None);
    }

    #[test]
    fn the_worst_piece_decides() {
        let score = |rank, logprob| Score { rank, logprob };
        let found = Found::of(&[score(3, -1.0), score(0, -0.5), score(9, -4.0)], 2);
        assert_eq!(found, Found { rank: 3, rank_boundary: 9, logprob: -1.5 });
    }
}
