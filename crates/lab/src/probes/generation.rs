//! Tasks: prompts of T0 to T3, what a model makes of them, and how far that is a sentence of the language.
//!
//! T1 and T3 are decoded greedily, T0 and T2 are sampled, anew at every step. Every check is nested in the one before, and
//! all of them in the sequence having come to its end.

use super::{Answers, Probe, Queries, Record, Setup};
use crate::error::Result;
use crate::inputs::tokenized::TokenizedText;
use invitro_language::{
    Checker, Failure, Language, LanguageCondition, Languages, Pool, SentenceVerdict, Sequence, Source, Symbol, Tags,
    Tally, Task, Terminal,
};
use invitro_model::{Decoded, Prompt, Sampling};
use invitro_results::words::Sample;
use invitro_results::{Measure, Quantity, Rows, TaskMetric};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The prompts of all tasks.
struct GenerationProbe {
    /// Of T1, then of T0 and T2, then of T3.
    prompts: Vec<TaskPrompt>,
    temperature: f64,
    /// Tokens that a free sentence may have.
    longest: usize,
    /// Sentences kept as samples, per condition and task.
    kept: usize,
}

pub(super) fn probe(setup: &Setup) -> Result<Option<Arc<dyn Probe>>> {
    let Setup { experiment, languages, text, .. } = setup;
    let (eval, context) = (&experiment.eval, experiment.model.context);
    let mut prompts = self::prompts(languages, text, Task::T1, eval.sentences, context)?;
    for task in [Task::T0, Task::T2] {
        prompts.extend(self::prompts(languages, text, task, eval.samples, context)?);
    }
    if languages.translates {
        prompts.extend(translations(languages, text, eval.sentences, context)?);
    }
    let longest = longest(languages, text)?;
    Ok(Some(Arc::new(GenerationProbe { prompts, temperature: eval.temperature, longest, kept: eval.kept })))
}

impl Probe for GenerationProbe {
    /// An unscrambled sentence has the words of its prompt, so a much longer one is wrong anyway; a free one may be as long
    /// as any. What is drawn for a prompt depends on its task, condition and row alone: other sets may grow or shrink.
    fn queries(&self, step: u64) -> Queries {
        let prompt = |prompt: &TaskPrompt| {
            let (sampling, length) = match prompt.sequence.task {
                Task::T1 | Task::T3 => (Sampling::Greedy, prompt.answer + SLACK),
                Task::T0 | Task::T2 => (
                    Sampling::Random { seed: step, temperature: self.temperature, top_k: None, top_p: None },
                    self.longest,
                ),
            };
            Prompt { tokens: prompt.tokens.clone(), sampling, most: length + length / 4, key: prompt.key }
        };
        Queries { prompts: self.prompts.iter().map(prompt).collect(), ..Queries::default() }
    }

    fn record(&self, answers: &Answers, record: &mut Record) {
        let (languages, text) = (record.languages, record.text);
        let mut checker = languages.checker();
        let outputs = self.prompts.iter().zip(&answers.decoded);
        let all: Vec<(&TaskPrompt, CheckedOutput)> =
            outputs.map(|(prompt, decoded)| (prompt, check(prompt, decoded, text, &mut checker, languages))).collect();
        let mut parts: Vec<&[(&TaskPrompt, CheckedOutput)]> =
            all.chunk_by(|(one, _), (other, _)| one.is_like(other)).collect();
        parts.sort_by_key(|part| part[0].0.sequence.task);
        for part in parts {
            let outputs: Vec<&CheckedOutput> = part.iter().map(|(_, output)| output).collect();
            rows(part[0].0, &outputs, &mut record.rows);
            record.samples.extend(samples(record.step, self.kept, languages, part));
        }
    }
}

/// Tokens that an unscrambled sentence may be longer than it should, beside a quarter.
const SLACK: usize = 8;

/// Sentences from which the longest is taken.
const LENGTH_SAMPLE: u64 = 512;

/// The tokens of a long sentence, with its end: the longest of a fixed sample.
fn longest(languages: &Languages, text: &TokenizedText) -> Result<usize> {
    let mut longest = 0;
    for condition in languages.conditions() {
        let mut source = Source::condition(languages, "eval/longest", condition, Task::T0);
        for row in 0..LENGTH_SAMPLE {
            longest = longest.max(text.segmentation.length(&source.draw(0, row)?) - 1);
        }
    }
    Ok(longest)
}

/// A task of a condition, with the sentence that is the right answer.
#[derive(Clone, Debug)]
pub struct TaskPrompt {
    pub condition: LanguageCondition,
    pub sequence: Sequence,
    /// The prompt.
    pub tokens: Vec<u32>,
    /// Tokens of the right sentence, with its end.
    pub answer: usize,
    /// The key of its random numbers: task, condition and row.
    pub key: u64,
}

/// A model's output, checked.
#[derive(Clone, Debug)]
pub struct CheckedOutput {
    pub output: String,
    pub ended: bool,
    pub verdict: SentenceVerdict,
    /// The words are those of the prompt (T1), or the prompt's are among them (T2).
    pub words_kept: bool,
    pub exact: bool,
    /// How many of the right descriptors, or of the withheld ones among them, it has (T3).
    pub descriptors: Tally,
    /// The first failure, as a sentence.
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
) -> Result<Vec<TaskPrompt>> {
    let mut all = Vec::new();
    for (c, condition) in languages.conditions().into_iter().enumerate() {
        if task == Task::T0 && (condition.masked || languages.tags == Tags::Task) {
            continue;
        }
        let mut source = Source::condition(languages, "eval", condition, task).from_pool(Pool::HeldOut);
        for row in 0..count as u64 {
            let sequence = source.draw_where(0, row, |sequence| text.segmentation.length(sequence) <= context)?;
            let key = ((c * Task::WITHIN.len() + task as usize) as u64) << 32 | row;
            all.push(TaskPrompt::new(condition, sequence, text, key));
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
) -> Result<Vec<TaskPrompt>> {
    let mut all = Vec::new();
    let directions = Language::pairs(languages.all()).flat_map(|[one, other]| [[one, other], [other, one]]);
    for [from, to] in directions {
        let withheld = [to, from].into_iter().filter(|&language| languages.masked().any(|masked| masked == language));
        let unmasked = LanguageCondition { language: to, masked: false };
        for condition in
            [unmasked].into_iter().chain(withheld.map(|language| LanguageCondition { language, masked: true }))
        {
            let mut source =
                Source::translations(languages, "eval", from, to, condition.masked).from_pool(Pool::HeldOut);
            let fits = |sequence: &Sequence| {
                let is_meant = !condition.masked || languages.withholds(condition.language, &sequence.sentence);
                is_meant && text.segmentation.length(sequence) <= context
            };
            for row in 0..count as u64 {
                let sequence = source.draw_where(0, row, fits)?;
                // Decoded greedily: no random numbers are drawn.
                all.push(TaskPrompt::new(condition, sequence, text, u64::MAX - row));
            }
        }
    }
    Ok(all)
}

impl TaskPrompt {
    fn new(condition: LanguageCondition, sequence: Sequence, text: &TokenizedText, key: u64) -> TaskPrompt {
        let tokens = text.prompt(&sequence);
        let answer = text.segmentation.length(&sequence) - tokens.len();
        TaskPrompt { condition, sequence, tokens, answer, key }
    }

    /// Whether both have the same task, direction and condition.
    pub fn is_like(&self, other: &TaskPrompt) -> bool {
        let kind = |prompt: &TaskPrompt| {
            let Sequence { task, from, language, .. } = prompt.sequence;
            (task, from, language, prompt.condition)
        };
        kind(self) == kind(other)
    }

    /// A measure of its task, direction and condition.
    fn quantity(&self, metric: TaskMetric) -> Quantity {
        let (measure, condition) = (Measure::Task(self.sequence.task, metric), self.condition.into());
        match self.sequence.from {
            None => Quantity::in_condition(measure, &condition),
            Some(from) => Quantity::translated(measure, from.name(), self.sequence.language.name(), &condition),
        }
    }

    /// The descriptors that a translation should have: all, or those that the condition's language withholds.
    fn descriptors(&self, languages: &Languages) -> Vec<Symbol> {
        let sentence = &self.sequence.sentence;
        match self.condition.masked {
            true => languages.withheld(self.condition.language, sentence),
            false => sentence.positions(Terminal::Descriptor).map(|at| sentence.symbols[at]).collect(),
        }
    }
}

/// Checks one decoded sentence.
pub fn check(
    prompt: &TaskPrompt,
    decoded: &Decoded,
    text: &TokenizedText,
    checker: &mut Checker,
    languages: &Languages,
) -> CheckedOutput {
    let language = prompt.sequence.language;
    let words = text.segmentation.decode_words(&decoded.tokens, languages, language).words;
    let verdict = checker.words(words.iter().copied(), language);
    let known: Vec<Symbol> = words.iter().copied().flatten().collect();
    let (given, right) = (&prompt.sequence.prompt, &prompt.sequence.sentence.symbols);
    let mut unmatched = words.clone();
    let has_all = given.iter().all(|&symbol| {
        let at = unmatched.iter().position(|&word| word == Some(symbol));
        at.map(|at| unmatched.swap_remove(at)).is_some()
    });
    let words_kept = match prompt.sequence.task {
        Task::T0 | Task::T3 => true,
        Task::T1 => has_all && unmatched.is_empty(),
        Task::T2 => has_all,
    };
    let mut symbols = known.clone();
    let wanted = if prompt.sequence.task == Task::T3 { prompt.descriptors(languages) } else { Vec::new() };
    let has = |wanted: &&Symbol| {
        let at = symbols.iter().position(|word| word == *wanted);
        at.map(|at| symbols.swap_remove(at)).is_some()
    };
    let descriptors = Tally { of: wanted.len() as u32, held: wanted.iter().filter(has).count() as u32 };
    let exact = decoded.ended && known.len() == words.len() && known == *right;
    let reason = match &verdict.failure {
        _ if !decoded.ended => Some("the sequence did not come to its end".into()),
        None => None,
        Some(Failure::UnknownWord { at }) => Some(format!("word {} is not a word of {}", at + 1, language.name())),
        Some(failure) => Some(checker.reason(failure, &languages.text(&known, language), language)),
    };
    CheckedOutput {
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

impl CheckedOutput {
    /// Validity, grammaticality, types and facts. Each needs the one before, and all need an end.
    pub fn cascade(&self) -> [bool; 4] {
        let SentenceVerdict { valid, grammatical, types, facts, .. } = self.verdict;
        [valid, grammatical, types, facts].map(|holds| holds && self.ended)
    }

    /// The last check that holds.
    pub fn holds(&self) -> &'static str {
        let level = self.cascade().iter().take_while(|&&holds| holds).count();
        ["none", "valid", "grammatical", "types", "facts"][level]
    }

    pub fn failure(&self) -> Option<&'static str> {
        if self.ended { self.verdict.failure.as_ref().map(|failure| failure.kind()) } else { Some(UNFINISHED) }
    }
}

/// The rows of one task and condition; `first` is one of them.
pub fn rows(first: &TaskPrompt, outputs: &[&CheckedOutput], rows: &mut Rows) {
    let n = outputs.len();
    let share = |holds: &dyn Fn(&CheckedOutput) -> bool| outputs.iter().filter(|j| holds(j)).count() as f64 / n as f64;
    let mut push = |metric: TaskMetric, value, n| rows.push_quantity(first.quantity(metric), value, n);
    for (i, metric) in TaskMetric::CASCADE.into_iter().enumerate() {
        push(metric, share(&|j| j.cascade()[i]), n);
    }
    let kinds: [(TaskMetric, fn(&SentenceVerdict) -> Tally); 4] = [
        (TaskMetric::TypesRelation, |v| v.relation),
        (TaskMetric::TypesDescriptor, |v| v.descriptor),
        (TaskMetric::TypesAdjective, |v| v.adjective),
        (TaskMetric::TypesAdverb, |v| v.adverb),
    ];
    let total = |tallies: &mut dyn Iterator<Item = Tally>| {
        tallies.fold((0, 0), |(held, of), tally| (held + tally.held, of + tally.of))
    };
    for (metric, tally) in kinds {
        let (held, of) = total(&mut outputs.iter().filter(|j| j.ended).map(|j| tally(&j.verdict)));
        push(metric, f64::from(held) / f64::from(of), of as usize);
    }
    match first.sequence.task {
        Task::T0 => {}
        Task::T1 => {
            push(TaskMetric::SameWords, share(&|j| j.ended && j.words_kept), n);
            push(TaskMetric::OtherWords, share(&|j| j.ended && j.verdict.valid && !j.words_kept), n);
            push(TaskMetric::NonWords, share(&|j| j.ended && !j.verdict.unknown.is_empty()), n);
            push(TaskMetric::Exact, share(&|j| j.exact), n);
        }
        Task::T2 => push(TaskMetric::ConditionsMet, share(&|j| j.ended && j.words_kept), n),
        Task::T3 => {
            push(TaskMetric::Exact, share(&|j| j.exact), n);
            let (held, of) = total(&mut outputs.iter().map(|j| j.descriptors));
            push(TaskMetric::Descriptors, f64::from(held) / f64::from(of), of as usize);
        }
    }
    let mut failures: BTreeMap<&str, usize> = BTreeMap::new();
    outputs.iter().filter_map(|j| j.failure()).for_each(|kind| *failures.entry(kind).or_default() += 1);
    for (kind, count) in failures {
        let metric = TaskMetric::failure(kind).expect("every kind of failure has a measure");
        push(metric, count as f64 / n as f64, n);
    }
}

/// The first outputs of a task and condition, and the first failure of every kind, up to `kept`.
pub fn samples(step: u64, kept: usize, languages: &Languages, outputs: &[(&TaskPrompt, CheckedOutput)]) -> Vec<Sample> {
    let mut kinds: Vec<Option<&str>> = Vec::new();
    let first_of_kind: Vec<bool> = outputs
        .iter()
        .map(|(_, j)| {
            let new = !kinds.contains(&j.failure());
            if new {
                kinds.push(j.failure());
            }
            new
        })
        .collect();
    let mut chosen: Vec<usize> = (0..outputs.len()).filter(|&i| first_of_kind[i]).take(kept).collect();
    let more = (0..outputs.len()).filter(|&i| !first_of_kind[i]);
    chosen.extend(more.take(kept.saturating_sub(chosen.len())));
    chosen.sort_unstable();
    chosen
        .into_iter()
        .map(|i| {
            let (prompt, output) = &outputs[i];
            let Sequence { task, language, from, prompt: given, sentence, .. } = &prompt.sequence;
            Sample {
                step,
                condition: prompt.condition.into(),
                task: task.name().to_owned(),
                prompt: languages.text(given, from.unwrap_or(*language)),
                output: output.output.clone(),
                expected: languages.text(&sentence.symbols, *language),
                holds: output.holds().to_owned(),
                failure: output.failure().map(str::to_owned),
                reason: output.reason.clone(),
            }
        })
        .collect()
}
