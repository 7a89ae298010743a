//! Tasks: prompts of T0, T1 and T2, what a model makes of them, and how far that is a sentence of the language.
//!
//! T1 is decoded greedily, T0 and T2 are sampled. Every check is nested in the one before, and all of them in the
//! sequence having come to its end.

use crate::error::Result;
use crate::tokenized::TokenizedText;
use invitro_language::{Checker, Condition, Failure, Languages, Pool, Sequence, Source, Symbol, Tally, Task, Verdict};
use invitro_model::decode::Decoded;
use invitro_results::words::Sample;
use invitro_results::{Measure, Rows, TaskMetric};
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
    /// The first failure in words.
    pub reason: Option<String>,
}

/// Prompts of a task, `count` per condition. T0 has no prompt that could hold a masked word, so none of B†.
pub fn prompts(
    languages: &Languages,
    text: &TokenizedText,
    task: Task,
    count: usize,
    context: usize,
) -> Result<Vec<Prompted>> {
    let mut all = Vec::new();
    for (c, condition) in languages.conditions().into_iter().enumerate() {
        if task == Task::T0 && condition.masked {
            continue;
        }
        let mut source = Source::condition(languages, "eval", condition, task).from_pool(Pool::HeldOut);
        for row in 0..count as u64 {
            let sequence = source.draw_where(0, row, |sequence| text.segmentation.length(sequence) <= context)?;
            let tokens = text.prompt(&sequence);
            let answer = text.segmentation.length(&sequence) - tokens.len();
            let key = ((c * Task::ALL.len() + task as usize) as u64) << 32 | row;
            all.push(Prompted { condition, sequence, tokens, answer, key });
        }
    }
    Ok(all)
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
        Task::T0 => true,
        Task::T1 => are_there && others.is_empty(),
        Task::T2 => are_there,
    };
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

/// The rows of one task and condition.
pub fn rows(task: Task, condition: Condition, judged: &[&Judged], rows: &mut Rows) {
    let n = judged.len();
    let share = |holds: &dyn Fn(&Judged) -> bool| judged.iter().filter(|j| holds(j)).count() as f64 / n as f64;
    let condition = condition.into();
    let mut push = |metric: TaskMetric, value, n| rows.push(Some(&condition), Measure::Task(task, metric), value, n);
    for (i, metric) in TaskMetric::CASCADE.into_iter().enumerate() {
        push(metric, share(&|j| j.cascade()[i]), n);
    }
    let kinds: [(TaskMetric, fn(&Verdict) -> Tally); 4] = [
        (TaskMetric::TypesRelation, |v| v.relation),
        (TaskMetric::TypesDescriptor, |v| v.descriptor),
        (TaskMetric::TypesAdjective, |v| v.adjective),
        (TaskMetric::TypesAdverb, |v| v.adverb),
    ];
    for (metric, tally) in kinds {
        let tallies = judged.iter().filter(|j| j.ended).map(|j| tally(&j.verdict));
        let (held, of) = tallies.fold((0, 0), |(held, of), tally| (held + tally.held, of + tally.of));
        push(metric, f64::from(held) / f64::from(of), of as usize);
    }
    match task {
        Task::T0 => {}
        Task::T1 => {
            push(TaskMetric::SameWords, share(&|j| j.ended && j.words_kept), n);
            push(TaskMetric::Exact, share(&|j| j.exact), n);
        }
        Task::T2 => push(TaskMetric::ConditionsMet, share(&|j| j.ended && j.words_kept), n),
    }
    let mut failures: BTreeMap<&str, usize> = BTreeMap::new();
    judged.iter().filter_map(|j| j.failure()).for_each(|kind| *failures.entry(kind).or_default() += 1);
    for (kind, count) in failures {
        let metric = TaskMetric::failure(kind).expect("every kind of failure has a measure");
        push(metric, count as f64 / n as f64, n);
    }
}

/// The first outputs of a task and condition, and the first failure of every kind, up to `kept`.
pub fn samples(step: u64, kept: usize, languages: &Languages, judged: &[(&Prompted, &Judged)]) -> Vec<Sample> {
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
            let (prompted, judged) = judged[i];
            let Sequence { task, language, prompt, sentence, .. } = &prompted.sequence;
            Sample {
                step,
                condition: prompted.condition.into(),
                task: task.name().to_owned(),
                prompt: languages.text(prompt, *language),
                output: judged.output.clone(),
                expected: languages.text(&sentence.symbols, *language),
                holds: judged.holds().to_owned(),
                failure: judged.failure().map(str::to_owned),
                reason: judged.reason.clone(),
            }
        })
        .collect()
}
