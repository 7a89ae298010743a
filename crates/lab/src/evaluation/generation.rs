//! Tasks: prompts of T0 to T3, what a model makes of them, and how far that is a sentence of the language.
//!
//! T1 and T3 are decoded greedily, T0 and T2 are sampled. Every check is nested in the one before, and all of them in the
//! sequence having come to its end.

use crate::error::Result;
use crate::tokenized::TokenizedText;
use invitro_language::{
    Checker, Condition, Failure, Language, Languages, Pool, Sequence, Source, Symbol, Tags, Tally, Task, Terminal,
    Verdict,
};
use invitro_model::decode::Decoded;
use invitro_results::words::Sample;
use invitro_results::{Measure, Quantity, Rows, TaskMetric};
use std::collections::BTreeMap;

/// A task of a condition, with the sentence that was meant.
#[derive(Clone, Debug)]
pub struct Prompted {
    pub condition: Condition,
    pub sequence: Sequence,
    /// Up to where the model is to go on.
    pub tokens: Vec<u32>,
    /// Tokens of the sentence that was meant, with its end.
    pub answer: usize,
    /// What its random numbers are keyed by: its task, condition and row.
    pub key: u64,
}

/// What a model made of a prompt.
#[derive(Clone, Debug)]
pub struct Judged {
    pub output: String,
    pub ended: bool,
    pub verdict: Verdict,
    /// The words are those of the prompt (T1), or the prompt's are among them (T2).
    pub words_kept: bool,
    pub exact: bool,
    /// Of the descriptors that were meant, or of those that are withheld, how many it has (T3).
    pub descriptors: Tally,
    /// The first failure in words.
    pub reason: Option<String>,
}

/// Prompts of a task within a language, `count` per condition. T0 has no prompt that could hold a masked word, so none of
/// B†; nor one that could say the language where tags do not.
pub fn prompts(
    languages: &Languages,
    text: &TokenizedText,
    task: Task,
    count: usize,
    context: usize,
) -> Result<Vec<Prompted>> {
    let mut all = Vec::new();
    for (c, condition) in languages.conditions().into_iter().enumerate() {
        if task == Task::T0 && (condition.masked || languages.tags == Tags::Task) {
            continue;
        }
        let mut source = Source::condition(languages, "eval", condition, task).from_pool(Pool::HeldOut);
        for row in 0..count as u64 {
            let sequence = source.draw_where(0, row, |sequence| text.segmentation.length(sequence) <= context)?;
            let key = ((c * Task::WITHIN.len() + task as usize) as u64) << 32 | row;
            all.push(Prompted::new(condition, sequence, text, key));
        }
    }
    Ok(all)
}

/// Translations between all pairs of languages, `count` of each kind: of sentences that neither withholds; into what one
/// withholds, which asks for words never seen; and from there, which asks what they mean.
pub fn translations(
    languages: &Languages,
    text: &TokenizedText,
    count: usize,
    context: usize,
) -> Result<Vec<Prompted>> {
    let mut all = Vec::new();
    let directions = Language::pairs(languages.all()).flat_map(|[one, other]| [[one, other], [other, one]]);
    for [from, to] in directions {
        let withheld = [to, from].into_iter().filter(|&language| languages.masked().any(|masked| masked == language));
        let plain = Condition { language: to, masked: false };
        for condition in [plain].into_iter().chain(withheld.map(|language| Condition { language, masked: true })) {
            let mut source =
                Source::translations(languages, "eval", from, to, condition.masked).from_pool(Pool::HeldOut);
            let fits = |sequence: &Sequence| {
                let is_meant = !condition.masked || languages.withholds(condition.language, &sequence.sentence);
                is_meant && text.segmentation.length(sequence) <= context
            };
            for row in 0..count as u64 {
                let sequence = source.draw_where(0, row, fits)?;
                // Decoded greedily: no random numbers are drawn.
                all.push(Prompted::new(condition, sequence, text, u64::MAX - row));
            }
        }
    }
    Ok(all)
}

impl Prompted {
    fn new(condition: Condition, sequence: Sequence, text: &TokenizedText, key: u64) -> Prompted {
        let tokens = text.prompt(&sequence);
        let answer = text.segmentation.length(&sequence) - tokens.len();
        Prompted { condition, sequence, tokens, answer, key }
    }

    /// Whether it is one of the same task, direction and condition.
    pub fn is_like(&self, other: &Prompted) -> bool {
        let kind = |of: &Prompted| (of.sequence.task, of.sequence.from, of.sequence.language, of.condition);
        kind(self) == kind(other)
    }

    /// A measure of its like.
    fn quantity(&self, metric: TaskMetric) -> Quantity {
        let (measure, condition) = (Measure::Task(self.sequence.task, metric), self.condition.into());
        match self.sequence.from {
            None => Quantity::of(measure, &condition),
            Some(from) => Quantity::translated(measure, from.name(), self.sequence.language.name(), &condition),
        }
    }

    /// The descriptors that a translation is judged by: all, or those that the condition's language withholds.
    fn descriptors(&self, languages: &Languages) -> Vec<Symbol> {
        let sentence = &self.sequence.sentence;
        match self.condition.masked {
            true => languages.withheld(self.condition.language, sentence),
            false => sentence.positions(Terminal::Descriptor).map(|at| sentence.symbols[at]).collect(),
        }
    }
}

/// Checks one decoded sentence.
pub fn judge(
    prompted: &Prompted,
    decoded: &Decoded,
    text: &TokenizedText,
    checker: &mut Checker,
    languages: &Languages,
) -> Judged {
    let language = prompted.sequence.language;
    let words = text.segmentation.decode_words(&decoded.tokens, languages, language).words;
    let verdict = checker.words(words.iter().copied(), language);
    let known: Vec<Symbol> = words.iter().copied().flatten().collect();
    let (given, meant) = (&prompted.sequence.prompt, &prompted.sequence.sentence.symbols);
    let mut others = words.clone();
    let are_there = given.iter().all(|&asked| {
        let at = others.iter().position(|&word| word == Some(asked));
        at.map(|at| others.swap_remove(at)).is_some()
    });
    let words_kept = match prompted.sequence.task {
        Task::T0 | Task::T3 => true,
        Task::T1 => are_there && others.is_empty(),
        Task::T2 => are_there,
    };
    let mut said = known.clone();
    let wanted = if prompted.sequence.task == Task::T3 { prompted.descriptors(languages) } else { Vec::new() };
    let has = |wanted: &&Symbol| {
        let at = said.iter().position(|word| word == *wanted);
        at.map(|at| said.swap_remove(at)).is_some()
    };
    let descriptors = Tally { of: wanted.len() as u32, held: wanted.iter().filter(has).count() as u32 };
    let exact = decoded.ended && known.len() == words.len() && known == *meant;
    let reason = match &verdict.failure {
        _ if !decoded.ended => Some("the sequence did not come to its end".into()),
        None => None,
        Some(Failure::UnknownWord { at }) => Some(format!("word {} is not a word of {}", at + 1, language.name())),
        Some(failure) => Some(checker.reason(failure, &languages.text(&known, language), language)),
    };
    Judged {
        output: text.segmentation.decode(&decoded.tokens),
        ended: decoded.ended,
        verdict,
        words_kept,
        exact,
        descriptors,
        reason,
    }
}

/// The failure of a sequence that did not come to its end.
const UNFINISHED: &str = "unfinished";

impl Judged {
    /// Validity, grammaticality, types and facts, each of which needs the one before and an end.
    pub fn cascade(&self) -> [bool; 4] {
        let Verdict { valid, grammatical, types, facts, .. } = self.verdict;
        [valid, grammatical, types, facts].map(|holds| holds && self.ended)
    }

    /// How far it came.
    pub fn holds(&self) -> &'static str {
        let level = self.cascade().iter().take_while(|&&holds| holds).count();
        ["none", "valid", "grammatical", "types", "facts"][level]
    }

    pub fn failure(&self) -> Option<&'static str> {
        if self.ended { self.verdict.failure.as_ref().map(|failure| failure.kind()) } else { Some(UNFINISHED) }
    }
}

/// The rows of one task and condition, of which `first` is one.
pub fn rows(first: &Prompted, judged: &[&Judged], rows: &mut Rows) {
    let n = judged.len();
    let share = |holds: &dyn Fn(&Judged) -> bool| judged.iter().filter(|j| holds(j)).count() as f64 / n as f64;
    let mut push = |metric: TaskMetric, value, n| rows.push_quantity(first.quantity(metric), value, n);
    for (i, metric) in TaskMetric::CASCADE.into_iter().enumerate() {
        push(metric, share(&|j| j.cascade()[i]), n);
    }
    let kinds: [(TaskMetric, fn(&Verdict) -> Tally); 4] = [
        (TaskMetric::TypesRelation, |v| v.relation),
        (TaskMetric::TypesDescriptor, |v| v.descriptor),
        (TaskMetric::TypesAdjective, |v| v.adjective),
        (TaskMetric::TypesAdverb, |v| v.adverb),
    ];
    let total = |tallies: &mut dyn Iterator<Item = Tally>| {
        tallies.fold((0, 0), |(held, of), tally| (held + tally.held, of + tally.of))
    };
    for (metric, tally) in kinds {
        let (held, of) = total(&mut judged.iter().filter(|j| j.ended).map(|j| tally(&j.verdict)));
        push(metric, f64::from(held) / f64::from(of), of as usize);
    }
    match first.sequence.task {
        Task::T0 => {}
        Task::T1 => {
            push(TaskMetric::SameWords, share(&|j| j.ended && j.words_kept), n);
            push(TaskMetric::Exact, share(&|j| j.exact), n);
        }
        Task::T2 => push(TaskMetric::ConditionsMet, share(&|j| j.ended && j.words_kept), n),
        Task::T3 => {
            push(TaskMetric::Exact, share(&|j| j.exact), n);
            let (held, of) = total(&mut judged.iter().map(|j| j.descriptors));
            push(TaskMetric::Descriptors, f64::from(held) / f64::from(of), of as usize);
        }
    }
    let mut failures: BTreeMap<&str, usize> = BTreeMap::new();
    judged.iter().filter_map(|j| j.failure()).for_each(|kind| *failures.entry(kind).or_default() += 1);
    for (kind, count) in failures {
        let metric = TaskMetric::failure(kind).expect("every kind of failure has a measure");
        push(metric, count as f64 / n as f64, n);
    }
}

/// The first outputs of a task and condition, and the first failure of every kind, up to `kept`.
pub fn samples(step: u64, kept: usize, languages: &Languages, judged: &[(&Prompted, Judged)]) -> Vec<Sample> {
    let mut kinds: Vec<Option<&str>> = Vec::new();
    let first_of_kind: Vec<bool> = judged
        .iter()
        .map(|(_, j)| {
            let new = !kinds.contains(&j.failure());
            if new {
                kinds.push(j.failure());
            }
            new
        })
        .collect();
    let mut chosen: Vec<usize> = (0..judged.len()).filter(|&i| first_of_kind[i]).take(kept).collect();
    let others = (0..judged.len()).filter(|&i| !first_of_kind[i]);
    chosen.extend(others.take(kept.saturating_sub(chosen.len())));
    chosen.sort_unstable();
    chosen
        .into_iter()
        .map(|i| {
            let (prompted, judged) = &judged[i];
            let Sequence { task, language, from, prompt, sentence, .. } = &prompted.sequence;
            Sample {
                step,
                condition: prompted.condition.into(),
                task: task.name().to_owned(),
                prompt: languages.text(prompt, from.unwrap_or(*language)),
                output: judged.output.clone(),
                expected: languages.text(&sentence.symbols, *language),
                holds: judged.holds().to_owned(),
                failure: judged.failure().map(str::to_owned),
                reason: judged.reason.clone(),
            }
        })
        .collect()
}
