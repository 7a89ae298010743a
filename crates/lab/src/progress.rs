//! What a caller may show while a population trains.

use crate::metrics::Row;

/// How a population sets out.
#[derive(Clone, Debug)]
pub struct Started {
    /// In words.
    pub device: String,
    pub members: usize,
    pub parameters: usize,
    /// The step it goes on from, 0 for a new one.
    pub from: u64,
    pub steps: u64,
}

/// Everything has an empty default.
pub trait Progress: Sync {
    /// Before something that takes a moment: "languages and tokenizers".
    fn preparing(&self, _what: &str) {}
    fn started(&self, _start: &Started) {}
    /// A checkpoint of a member could not be read, and was removed: it sets out after an earlier step.
    fn damaged(&self, _member: usize, _from: u64, _why: &str) {}
    /// After a step whose losses were looked at: nats per token, one per member, and the tokens of all members since
    /// the last time.
    fn stepped(&self, _step: u64, _losses: &[f64], _tokens: u64) {}
    /// Before an evaluation.
    fn evaluating(&self, _step: u64) {}
    /// After it, once per member.
    fn evaluated(&self, _member: usize, _step: u64, _headline: &Headline) {}
    fn saved(&self, _step: u64) {}
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
    /// T1 in A, B and B†.
    pub grammatical: [Option<f64>; 3],
    pub types: [Option<f64>; 3],
    pub facts: [Option<f64>; 3],
    /// By how many nats true descriptors are likelier than false ones, in A, B and B†.
    pub contrast: [Option<f64>; 3],
}

impl Headline {
    /// The headline of one evaluation's rows.
    pub fn of(rows: &[Row]) -> Headline {
        let find = |condition: &str, task: &str, metric: &str| {
            rows.iter().find(|row| row.condition == condition && row.task == task && row.metric == metric)
        };
        let each = |task: &str, metric: &str| {
            ["A", "B", "B_masked"].map(|condition| find(condition, task, metric).map(|row| row.value))
        };
        Headline {
            loss: find("all", "loss", "loss").map(|row| row.value),
            grammatical: each("T1", "grammaticality"),
            types: each("T1", "types"),
            facts: each("T1", "facts"),
            contrast: each("reach", "network.facts.logprob"),
        }
    }
}
