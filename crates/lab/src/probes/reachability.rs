//! Top-K reachability: after `<T0:B> subject copula` (or the prompt that the word order has, see `symbol_kinds.rs`), is
//! each piece of a descriptor among the K likeliest?
//!
//! The descriptors are ones that Γ allows the subject, equally many that it forbids among the subject's own properties, and
//! equally many of other classes. A model that reaches the second as often as the first does not know which is which; the
//! [contrast](super::contrast) measures by how much it does.
//!
//! Some descriptors are more frequent than others, and those allowed for many entities most of all. So subjects come in
//! pairs of one class: what is asked as allowed of one (and not of the other) is asked as forbidden of the other, and the
//! other way round. The targets of other classes are those of a pair of another class.
//!
//! Every target is scored once, all its pieces. Its worst rank decides whether it is reachable at any K. That equals the
//! paper's trie search (Algorithm 2) and a plain check of every target; both are in the tests.

use super::symbol_kinds::{SymbolKinds, can_be_prompted};
use super::{Answers, Probe, Queries, Record, Setup};
use crate::error::Result;
use crate::experiment::Experiment;
use crate::inputs::tokenized::TokenizedText;
use invitro_base::settings::EvalConfig;
use invitro_language::{Language, Languages, Rng, Stream, Symbol, World};
use invitro_model::{ContinuationScores, Score, ScoreQuery};
use invitro_results::{Fraction, Measure, Reach, Rows, Scorer, Statistic, Targets};
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::Arc;

/// Targets of one kind of symbols, three sets of one size.
#[derive(Clone, Debug)]
struct TargetSets {
    sets: [Vec<Symbol>; 3],
}

/// The subjects with their targets.
#[derive(Clone, Debug)]
pub struct ReachabilityProbe {
    subjects: Vec<PromptSubject>,
    kinds: SymbolKinds,
    vocab: usize,
    /// Whether the log-probability of every masked word is recorded (`eval.rank`).
    by_word: bool,
    /// Where there are fewer than `eval.subjects`.
    few_subjects: Option<String>,
    notes: Vec<String>,
}

pub(super) fn probe(setup: &Setup) -> Result<Option<Arc<dyn Probe>>> {
    Ok(Some(setup.reachability.clone()))
}

#[derive(Clone, Debug)]
struct PromptSubject {
    /// Of every kind of symbols.
    targets: Vec<TargetSets>,
    /// About every kind's three sets, one after the other.
    queries: SubjectQueries,
}

impl PromptSubject {
    /// Where the scores of a kind's targets begin.
    fn start(&self, kind: usize) -> usize {
        self.targets[..kind].iter().map(TargetSets::len).sum()
    }
}

/// The queries about one subject, one in every language.
#[derive(Clone, Debug)]
pub(super) struct SubjectQueries {
    pub queries: Vec<ScoreQuery>,
    /// Pieces of every continuation, the boundary not counted.
    pieces: Vec<Vec<usize>>,
}

impl SubjectQueries {
    /// The prompt of the subject with these words as continuations; without continuations in a language that cannot be
    /// prompted.
    pub fn new(languages: &Languages, text: &TokenizedText, entity: Symbol, words: &[Symbol]) -> SubjectQueries {
        let query = |&language: &Language| match languages.opening(entity, language) {
            Some(opening) => ScoreQuery {
                prompt: text.opening(language, &opening),
                continuations: words.iter().map(|&symbol| text.word(symbol, language).0.to_vec()).collect(),
                among: text.usable(language),
            },
            None => ScoreQuery { prompt: text.opening(language, &[]), continuations: Vec::new(), among: None },
        };
        let pieces = |&language: &Language| words.iter().map(|&symbol| text.word(symbol, language).1).collect();
        let all = languages.all();
        SubjectQueries { queries: all.iter().map(query).collect(), pieces: all.iter().map(pieces).collect() }
    }

    /// The score of every word in a language.
    pub fn target_scores(&self, language: usize, scores: &ContinuationScores) -> Vec<TargetScore> {
        scores.iter().zip(&self.pieces[language]).map(|(scores, &pieces)| TargetScore::new(scores, pieces)).collect()
    }
}

impl ReachabilityProbe {
    /// Draws subjects and targets: fixed for a data seed.
    pub fn new(languages: &Languages, text: &TokenizedText, eval: &EvalConfig, vocab: usize) -> ReachabilityProbe {
        let world = &languages.world;
        let kinds = SymbolKinds::new(languages);
        let pairs = pairs(world, &mut Stream::new(languages.seed, "eval/reach").at(0, 0));
        // The symbols that Γ allows the first of a pair and not the second, for both ways round.
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
            let other_class = following.find(|other| world.class(other[0]) != world.class(pair[0]));
            let targets_of_kind = |kind: usize| {
                let of_others = other_class.map(|pair| own(pair, kind)).unwrap_or_default();
                TargetSets::of_pair(own(pair, kind), of_others, eval.targets)
            };
            let by_kind: Vec<[TargetSets; 2]> = (0..kinds.count()).map(targets_of_kind).collect();
            let subject = |(at, &entity): (usize, &Symbol)| {
                let targets: Vec<TargetSets> = by_kind.iter().map(|of_pair| of_pair[at].clone()).collect();
                let all: Vec<Symbol> = targets.iter().flat_map(|kind| kind.sets.iter().flatten().copied()).collect();
                PromptSubject { queries: SubjectQueries::new(languages, text, entity, &all), targets }
            };
            pair.iter().enumerate().map(subject).collect::<Vec<_>>()
        });
        let subjects: Vec<PromptSubject> = subjects.collect();
        let few_subjects = few_subjects(eval, languages, subjects.len());
        ReachabilityProbe { subjects, kinds, vocab, by_word: eval.rank, few_subjects, notes: unprompted(languages) }
    }

    /// The masked words that are targets in the language they are masked in, for some subject that Γ allows them: only
    /// these can be reached.
    pub fn masked_targets(&self) -> HashSet<(Symbol, Language)> {
        let mut targets = HashSet::new();
        for (kind, language) in self.masked_kinds() {
            let allowed = self.subjects.iter().flat_map(|subject| &subject.targets[kind].sets[0]);
            targets.extend(allowed.map(|&symbol| (symbol, language)));
        }
        targets
    }

    /// The kinds of masked symbols whose language can be prompted.
    fn masked_kinds(&self) -> impl Iterator<Item = (usize, Language)> {
        self.kinds.masked().filter(|&(_, language)| self.kinds.prompts(language))
    }

    /// The queries of all subjects, in every language each.
    fn score_queries(&self) -> Vec<ScoreQuery> {
        self.subjects.iter().flat_map(|subject| subject.queries.queries.iter().cloned()).collect()
    }

    /// The score of every masked word after every subject that Γ allows it, each with the language it is masked in.
    fn allowed_masked(&self, scores: &[ContinuationScores]) -> Vec<(Symbol, Language, TargetScore)> {
        let mut words = Vec::new();
        for (subject, scores) in self.subjects.iter().zip(scores.chunks(self.kinds.languages)) {
            for (kind, language) in self.masked_kinds() {
                let targets = subject.queries.target_scores(language.index(), &scores[language.index()]);
                let allowed = subject.targets[kind].sets[0].iter().zip(&targets[subject.start(kind)..]);
                words.extend(allowed.map(|(&symbol, &target)| (symbol, language, target)));
            }
        }
        words
    }

    /// The masked words whose pieces are all within the top 0.1 |V| for a subject that Γ allows them, by language, rising.
    fn reached(&self, words: &[(Symbol, Language, TargetScore)]) -> BTreeMap<String, Vec<u32>> {
        let k = Fraction::PAPER.of(self.vocab);
        let mut reached: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for (symbol, language, _) in words.iter().filter(|(.., target)| target.rank < k) {
            reached.entry(language.name().to_owned()).or_default().push(symbol.0);
        }
        for words in reached.values_mut() {
            words.sort_unstable();
            words.dedup();
        }
        reached
    }

    /// The rows of one scorer: the network or an n-gram model.
    fn rows(&self, scorer: Scorer, scores: &[ContinuationScores], rows: &mut Rows) {
        for &condition in &self.kinds.conditions {
            let language = condition.language.index();
            for (masked_elsewhere, kinds) in self.kinds.asked_in(condition) {
                // Per set and subject, the scores of its targets; a subject without targets of this kind is left out. One
                // with targets of several kinds counts once for each, so that sets are as large as where they are masked.
                let mut by_set: [Vec<Vec<TargetScore>>; 3] = Default::default();
                for (subject, scores) in self.subjects.iter().zip(scores.chunks(self.kinds.languages)) {
                    let all = subject.queries.target_scores(language, &scores[language]);
                    for &kind in &kinds {
                        let size = subject.targets[kind].sets[0].len();
                        if size > 0 {
                            for (set, part) in by_set.iter_mut().zip(all[subject.start(kind)..].chunks(size)) {
                                set.push(part.to_vec());
                            }
                        }
                    }
                }
                let reach = Reach {
                    scorer,
                    targets: Targets::Allowed,
                    masked_elsewhere,
                    statistic: Statistic::LogProb,
                    top: None,
                    boundary: false,
                };
                self.condition_rows(&condition.into(), reach, &by_set, rows);
            }
        }
    }

    /// The rows of one condition and kind of symbols: `base` with every statistic, K, boundary and set of targets.
    fn condition_rows(
        &self,
        condition: &invitro_results::Condition,
        base: Reach,
        by_set: &[Vec<Vec<TargetScore>>; 3],
        rows: &mut Rows,
    ) {
        let n = by_set[0].len();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        // A value per subject of each statistic.
        let mut statistics: Vec<(Reach, Box<dyn Fn(&[TargetScore]) -> f64>)> = Vec::new();
        for fraction in Fraction::ALL {
            let k = fraction.of(self.vocab);
            let ranks: [(bool, fn(&TargetScore) -> u32); 2] = [(false, |f| f.rank), (true, |f| f.rank_boundary)];
            for (boundary, rank) in ranks {
                let share =
                    move |set: &[TargetScore]| set.iter().filter(|f| rank(f) < k).count() as f64 / set.len() as f64;
                let any = move |set: &[TargetScore]| f64::from(u8::from(set.iter().any(|f| rank(f) < k)));
                let reach = |statistic| Reach { statistic, top: Some(fraction), boundary, ..base };
                statistics.push((reach(Statistic::Any), Box::new(any)));
                statistics.push((reach(Statistic::Share), Box::new(share)));
            }
        }
        let logprob = |set: &[TargetScore]| set.iter().map(|f| f.logprob).sum::<f64>() / set.len() as f64;
        statistics.push((base, Box::new(logprob)));
        for (reach, statistic) in &statistics {
            for (targets, set) in Targets::SETS.into_iter().zip(by_set) {
                let values: Vec<f64> = set.iter().map(|subject| statistic(subject)).collect();
                rows.push(Some(condition), Measure::Reach(Reach { targets, ..*reach }), mean(&values), n);
            }
        }
    }
}

impl Probe for ReachabilityProbe {
    fn queries(&self, _step: u64) -> Queries {
        Queries { scores: self.score_queries(), ..Queries::default() }
    }

    fn record(&self, answers: &Answers, record: &mut Record) {
        self.rows(record.scorer, &answers.scores, &mut record.rows);
        if record.scorer == Scorer::Network {
            let words = self.allowed_masked(&answers.scores);
            record.contrasts.reachable = Some(self.reached(&words));
            if self.by_word {
                record.contrasts.logprob = mean_logprobs(&words);
            }
        }
    }

    fn notes(&self, experiment: &Experiment) -> Vec<String> {
        let few = self.few_subjects.iter().filter(|_| !experiment.is_presets_own("eval.subjects"));
        few.chain(&self.notes).cloned().collect()
    }
}

/// The log-probability of every word, mean over its subjects, by language and symbol, to four decimals.
fn mean_logprobs(words: &[(Symbol, Language, TargetScore)]) -> BTreeMap<String, BTreeMap<u32, f64>> {
    let mut sums: BTreeMap<String, BTreeMap<u32, (f64, f64)>> = BTreeMap::new();
    for (symbol, language, target) in words {
        let (sum, count) = sums.entry(language.name().to_owned()).or_default().entry(symbol.0).or_default();
        (*sum, *count) = (*sum + target.logprob, *count + 1.0);
    }
    let mean = |(symbol, (sum, count)): (u32, (f64, f64))| (symbol, (sum / count * 1e4).round() / 1e4);
    sums.into_iter().map(|(language, words)| (language, words.into_iter().map(mean).collect())).collect()
}

fn few_subjects(eval: &EvalConfig, languages: &Languages, subjects: usize) -> Option<String> {
    let (wanted, entities) = (eval.subjects, languages.world.entities().count());
    (subjects < wanted).then(|| {
        format!(
            "reachability has {subjects} subjects instead of {wanted} (`eval.subjects`): the world has {entities} entities, and \
             subjects come in pairs of one class that Γ allows different descriptors"
        )
    })
}

/// The languages in which nothing is asked.
fn unprompted(languages: &Languages) -> Vec<String> {
    let cannot = languages.all().iter().filter(|&&language| !can_be_prompted(languages, language));
    let note = |language: &Language| {
        format!(
            "reachability and the contrast are not measured in {}: in its word order descriptors come before their subjects, so \
             no sentence can begin with a subject whose descriptor comes next",
            language.name()
        )
    };
    cannot.map(note).collect()
}

/// Random pairs of entities of one class that Γ allows different descriptors; one entity may be left over in a class.
pub(super) fn pairs(world: &World, rng: &mut Rng) -> Vec<[Symbol; 2]> {
    let mut entities: Vec<Symbol> = world.entities().collect();
    rng.shuffle(&mut entities);
    let mut pairs = Vec::new();
    let mut unpaired: VecDeque<Symbol> = entities.into();
    while let Some(entity) = unpaired.pop_front() {
        let differs = |&other: &Symbol| {
            world.class(other) == world.class(entity) && world.allowed(other) != world.allowed(entity)
        };
        if let Some(other) = unpaired.iter().position(differs).and_then(|at| unpaired.remove(at)) {
            pairs.push([entity, other]);
        }
    }
    pairs
}

impl TargetSets {
    /// The targets of both members of a pair, from their own and those of a pair of another class, equally many of each.
    fn of_pair(own: [Vec<Symbol>; 2], of_others: [Vec<Symbol>; 2], most: usize) -> [TargetSets; 2] {
        let size = own.iter().chain(&of_others).map(Vec::len).min().unwrap_or(0).min(most);
        let first = |set: &[Symbol]| set[..size].to_vec();
        [0, 1].map(|i| TargetSets { sets: [first(&own[i]), first(&own[1 - i]), first(&of_others[i])] })
    }

    fn len(&self) -> usize {
        self.sets.iter().map(Vec::len).sum()
    }
}

/// The score of one target: its worst rank, up to the last piece and with the boundary, and its log-probability up to the
/// last piece.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TargetScore {
    pub rank: u32,
    pub rank_boundary: u32,
    pub logprob: f64,
}

impl TargetScore {
    pub fn new(scores: &[Score], pieces: usize) -> TargetScore {
        let worst = |scores: &[Score]| scores.iter().map(|score| score.rank).max().unwrap_or(0);
        TargetScore {
            rank: worst(&scores[..pieces]),
            rank_boundary: worst(scores),
            logprob: scores[..pieces].iter().map(|score| f64::from(score.logprob)).sum(),
        }
    }
}
