//! Tasks: prompts of T0, T1 and T2, what a model makes of them, and how far that is a sentence of the language.
//!
//! T1 is decoded greedily, T0 and T2 are sampled. Every check is nested in the one before, and all of them in the
//! sequence having come to its end.

use crate::error::Result;
use crate::metrics::Rows;
use crate::text::Text;
use invitro_language::{Checker, Condition, Failure, Languages, Sequence, Source, Symbol, Tally, Task, Verdict};
use invitro_model::decode::Decoded;
use serde::Serialize;
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

/// A line of `samples.jsonl`.
#[derive(Clone, Debug, Serialize)]
pub struct Sample {
    pub step: u64,
    pub condition: &'static str,
    pub task: &'static str,
    pub prompt: String,
    pub output: String,
    pub expected: String,
    /// How far it came: `facts`, `types`, `grammatical`, `valid` or `none`.
    pub holds: &'static str,
    /// The kind of its first failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Prompts of a task, `count` per condition. T0 has no prompt that could hold a masked word, so none of B†.
pub fn prompts(languages: &Languages, text: &Text, task: Task, count: usize, context: usize) -> Result<Vec<Prompted>> {
    let mut all = Vec::new();
    for condition in Condition::ALL.into_iter().filter(|&c| task != Task::T0 || c != Condition::BMasked) {
        let mut source = Source::condition(languages, "eval", condition, task);
        for row in 0..count as u64 {
            let sequence = source.draw_where(0, row, |sequence| text.segmentation.length(sequence) <= context)?;
            let tokens = text.prompt(&sequence);
            let answer = text.segmentation.length(&sequence) - tokens.len();
            all.push(Prompted { condition, sequence, tokens, answer });
        }
    }
    Ok(all)
}

/// Checks one decoded sentence.
pub fn judge(
    prompted: &Prompted,
    decoded: &Decoded,
    text: &Text,
    checker: &mut Checker,
    languages: &Languages,
) -> Judged {
    let language = prompted.sequence.language;
    let words = text.segmentation.read(&decoded.tokens, languages, language).words;
    let verdict = checker.words(words.iter().copied());
    let known: Vec<Symbol> = words.iter().copied().flatten().collect();
    let (given, meant) = (&prompted.sequence.prompt, &prompted.sequence.sentence.symbols);
    let words_kept = match prompted.sequence.task {
        Task::T0 => true,
        Task::T1 => known.len() == words.len() && known.len() == given.len() && contains(&known, given),
        Task::T2 => contains(&known, given),
    };
    let exact = decoded.ended && known.len() == words.len() && known == *meant;
    let reason = reason(checker, decoded.ended, &verdict, &known, prompted, languages);
    Judged { output: text.segmentation.text(&decoded.tokens), ended: decoded.ended, verdict, words_kept, exact, reason }
}

fn reason(
    checker: &Checker,
    ended: bool,
    verdict: &Verdict,
    known: &[Symbol],
    prompted: &Prompted,
    languages: &Languages,
) -> Option<String> {
    let language = prompted.sequence.language;
    if !ended {
        return Some("the sequence did not come to its end".into());
    }
    match verdict.failure.as_ref()? {
        Failure::UnknownWord { at } => Some(format!("word {} is not a word of {}", at + 1, language.name())),
        failure => Some(checker.reason(failure, &languages.text(known, language), language)),
    }
}

/// Whether `some` is a part of `all`, as multisets.
fn contains(all: &[Symbol], some: &[Symbol]) -> bool {
    let mut left: BTreeMap<Symbol, usize> = BTreeMap::new();
    all.iter().for_each(|&symbol| *left.entry(symbol).or_default() += 1);
    some.iter().all(|symbol| match left.get_mut(symbol) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    })
}

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
        if self.ended { self.verdict.failure.as_ref().map(|failure| failure.kind()) } else { Some("unfinished") }
    }
}

/// The rows of one task and condition.
pub fn rows(task: Task, condition: Condition, judged: &[&Judged], rows: &mut Rows) {
    let n = judged.len();
    let share = |holds: &dyn Fn(&Judged) -> bool| judged.iter().filter(|j| holds(j)).count() as f64 / n as f64;
    let (condition, name) = (condition.name(), task.name());
    for (i, metric) in ["validity", "grammaticality", "types", "facts"].into_iter().enumerate() {
        rows.push(condition, name, metric, share(&|j| j.cascade()[i]), n);
    }
    let kinds: [(&str, fn(&Verdict) -> Tally); 4] = [
        ("types_relation", |v| v.relation),
        ("types_descriptor", |v| v.descriptor),
        ("types_adjective", |v| v.adjective),
        ("types_adverb", |v| v.adverb),
    ];
    for (metric, tally) in kinds {
        let tallies = judged.iter().filter(|j| j.ended).map(|j| tally(&j.verdict));
        let (held, of) = tallies.fold((0, 0), |(held, of), tally| (held + tally.held, of + tally.of));
        rows.push(condition, name, metric, f64::from(held) / f64::from(of), of as usize);
    }
    match task {
        Task::T0 => {}
        Task::T1 => {
            rows.push(condition, name, "same_words", share(&|j| j.ended && j.words_kept), n);
            rows.push(condition, name, "exact", share(&|j| j.exact), n);
        }
        Task::T2 => rows.push(condition, name, "conditions_met", share(&|j| j.ended && j.words_kept), n),
    }
    let mut failures: BTreeMap<&str, usize> = BTreeMap::new();
    judged.iter().filter_map(|j| j.failure()).for_each(|kind| *failures.entry(kind).or_default() += 1);
    for (kind, count) in failures {
        rows.push(condition, name, format!("failure.{kind}"), count as f64 / n as f64, n);
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
                condition: prompted.condition.name(),
                task: task.name(),
                prompt: languages.text(prompt, *language),
                output: judged.output.clone(),
                expected: languages.text(&sentence.symbols, *language),
                holds: judged.holds(),
                failure: judged.failure(),
                reason: judged.reason.clone(),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_multiset_contains_its_parts() {
        let of = |numbers: &[u32]| numbers.iter().map(|&n| Symbol(n)).collect::<Vec<_>>();
        assert!(contains(&of(&[1, 2, 2, 3]), &of(&[2, 3, 2])));
        assert!(!contains(&of(&[1, 2, 3]), &of(&[2, 2])));
        assert!(contains(&of(&[1]), &of(&[])));
    }

    #[test]
    fn nothing_holds_of_what_did_not_end() {
        let verdict = Verdict { valid: true, grammatical: true, types: true, facts: true, ..Verdict::default() };
        let judged = |ended| Judged {
            output: String::new(),
            ended,
            verdict: verdict.clone(),
            words_kept: true,
            exact: false,
            reason: None,
        };
        assert_eq!((judged(true).holds(), judged(true).failure()), ("facts", None));
        assert_eq!((judged(false).holds(), judged(false).failure()), ("none", Some("unfinished")));
        let mut rows = Rows::new("r", 5);
        super::rows(Task::T1, Condition::A, &[&judged(true), &judged(false)], &mut rows);
        let value = |metric: &str| rows.list.iter().find(|r| r.metric == metric).map(|r| r.value);
        assert_eq!(value("facts"), Some(0.5));
        assert_eq!(value("failure.unfinished"), Some(0.5));
        assert_eq!(value("types_relation"), None, "no relation was there to judge");
    }
}
