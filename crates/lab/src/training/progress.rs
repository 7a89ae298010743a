//! What a caller may show while a population trains.

use crate::training::activity::Activity;
use invitro_results::{Condition, Loss, Measure, Quantity, Row, TaskMetric};

/// How a population sets out.
#[derive(Clone, Debug)]
pub struct Started {
    /// In words.
    pub device: String,
    pub members: usize,
    pub parameters: usize,
    /// The step it resumes from, 0 for a new run.
    pub from: u64,
    pub steps: u64,
}

/// Everything has an empty default.
pub trait Progress: Sync {
    /// Whenever a population goes over to something else.
    fn doing(&self, _activity: Activity) {}
    /// Before something that takes a moment: "languages and tokenizers".
    fn preparing(&self, _what: &str) {}
    fn started(&self, _start: &Started) {}
    /// What a member was asked for and cannot have, or is hardly meant; before it starts.
    fn note(&self, _member: usize, _note: &str) {}
    /// Something in a member's folder was damaged or is missing: it sets out after the last step before that.
    fn damaged(&self, _member: usize, _from: u64, _why: &str) {}
    /// The same in the folder of a run that was done: it is written again from what is there.
    fn mended(&self, _member: usize, _why: &str) {}
    /// After a step whose losses were looked at: nats per token, one per member, and the tokens of all members since
    /// the last time.
    fn stepped(&self, _step: u64, _losses: &[f64], _tokens: u64) {}
    /// After an evaluation, once per member.
    fn evaluated(&self, _member: usize, _step: u64, _headline: &Headline) {}
    fn failed(&self, _member: usize, _step: u64, _error: &str) {}
    /// Asked before the results of a member are written; if not, nothing more of it is, and its outcome is `Lost`.
    fn may_write(&self, _member: usize) -> bool {
        true
    }
}

/// For callers who show nothing.
pub struct Silent;

impl Progress for Silent {}

/// The few numbers of an evaluation that tell the story; absent where they were not measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Headline {
    /// Of the training mixture, nats per token.
    pub loss: Option<f64>,
    /// By condition, in the order they are measured.
    pub conditions: Vec<(Condition, Scores)>,
}

/// What one condition has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scores {
    /// Shares of T1's answers.
    pub grammatical: Option<f64>,
    pub types: Option<f64>,
    pub facts: Option<f64>,
    /// By how many nats true descriptors are likelier than false ones.
    pub contrast: Option<f64>,
}

impl Headline {
    /// The headline of one evaluation's rows.
    pub fn from_rows(rows: &[Row]) -> Headline {
        let find = |quantity: &Quantity| rows.iter().find(|row| row.quantity == *quantity).map(|row| row.value);
        let scores = |condition: Condition| {
            let value = |measure| find(&Quantity::in_condition(measure, &condition));
            let scores = Scores {
                grammatical: value(Measure::unscrambling(TaskMetric::Grammaticality)),
                types: value(Measure::unscrambling(TaskMetric::Types)),
                facts: value(Measure::unscrambling(TaskMetric::Facts)),
                contrast: value(Measure::KNOWLEDGE),
            };
            (condition, scores)
        };
        let loss = find(&Quantity::overall(Measure::Loss(Loss::Loss)));
        Headline { loss, conditions: conditions(rows).into_iter().map(scores).collect() }
    }
}

/// The conditions of rows, in the order they were measured.
pub fn conditions(rows: &[Row]) -> Vec<Condition> {
    let mut conditions: Vec<Condition> = Vec::new();
    for condition in rows.iter().filter_map(|row| row.quantity.condition.as_ref()) {
        if !conditions.contains(condition) {
            conditions.push(condition.clone());
        }
    }
    conditions
}
