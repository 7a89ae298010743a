//! The loss on sequences that are never trained on, in nats per token and in bits per character, which unlike the first
//! can be compared across vocabularies; and the entropy floor under it, from the true process on the same sequences.
//!
//! The first token, which names task and language, is given and not predicted, so neither counts it.

use crate::error::Result;
use crate::metrics::Rows;
use crate::text::Text;
use invitro_language::{Condition, Language, MixtureConfig, Process, Sequence, Source, Task};
use invitro_model::ops::Loss;
use std::f64::consts::LN_2;

const TASKS: [Task; 3] = [Task::T0, Task::T1, Task::T2];

/// Held-out sequences of the training mixture and of each condition.
#[derive(Clone, Debug)]
pub struct HeldOut {
    parts: Vec<Part>,
    sequences: Vec<invitro_model::Sequence>,
}

#[derive(Clone, Debug)]
struct Part {
    condition: &'static str,
    /// Letters of all words, and one mark per word.
    characters: f64,
    /// Nats that a model of the true process would need.
    floor: f64,
}

impl HeldOut {
    pub fn new(
        language: &Language,
        text: &Text,
        mixture: &MixtureConfig,
        count: usize,
        context: usize,
    ) -> Result<HeldOut> {
        let process = Process::new(language);
        let masked = process.masked_share();
        let conditions = [None, Some(Condition::A), Some(Condition::B), Some(Condition::BMasked)];
        let (mut parts, mut sequences) = (Vec::new(), Vec::new());
        for (i, condition) in conditions.into_iter().enumerate() {
            let mut source = match condition {
                None => Source::mixture(language, "eval/loss", mixture.share_of_b(), mixture.tasks),
                Some(condition) => Source::condition_mix(language, "eval/loss", condition, mixture.tasks),
            };
            let (mut characters, mut floor) = (0.0, 0.0);
            for row in 0..count as u64 {
                let sequence = source.draw_where(0, row, |sequence| text.segmentation.length(sequence) <= context)?;
                characters += letters(language, &sequence);
                // Given the language, a sentence of B is known to have no masked word, one of B† to have one.
                let given = match (sequence.masked, sequence.lang) {
                    (true, _) => masked.ln(),
                    (false, invitro_language::Lang::B) => (1.0 - masked).ln(),
                    (false, invitro_language::Lang::A) => 0.0,
                };
                floor += given - process.sentence(&sequence.sentence.symbols) - process.prompt(&sequence);
                let group = (i * TASKS.len() + sequence.task as usize) as u8;
                sequences.push(invitro_model::Sequence { tokens: text.sequence(&sequence), group });
            }
            parts.push(Part { condition: condition.map_or("all", Condition::name), characters, floor });
        }
        Ok(HeldOut { parts, sequences })
    }

    /// The sequences in pieces of at most `rows` rows, for [`invitro_model::Population::evaluate`].
    pub fn batches(&self, rows: usize) -> Vec<Vec<invitro_model::Sequence>> {
        let mut batches: Vec<Vec<invitro_model::Sequence>> = vec![Vec::new()];
        let mut filled = 0;
        for sequence in &self.sequences {
            let more = sequence.tokens.len() - 1;
            if filled > 0 && filled + more > rows {
                batches.push(Vec::new());
                filled = 0;
            }
            filled += more;
            batches.last_mut().expect("there is one").push(sequence.clone());
        }
        batches
    }

    /// The rows from the losses of all batches.
    pub fn rows(&self, losses: &[Loss], rows: &mut Rows) {
        let sum = |group: usize| losses.iter().map(|loss| loss.sum.get(group).copied().unwrap_or(0.0)).sum::<f64>();
        let count = |group: usize| losses.iter().map(|loss| loss.count.get(group).copied().unwrap_or(0)).sum::<u64>();
        for (i, part) in self.parts.iter().enumerate() {
            let groups = i * TASKS.len()..(i + 1) * TASKS.len();
            let (nats, tokens): (f64, u64) = (groups.clone().map(sum).sum(), groups.clone().map(count).sum());
            rows.push(part.condition, "loss", "loss", nats / tokens as f64, tokens as usize);
            for (task, group) in TASKS.iter().zip(groups) {
                let metric = format!("loss_{}", task.name());
                rows.push(part.condition, "loss", metric, sum(group) / count(group) as f64, count(group) as usize);
            }
            let bits = |nats: f64| nats / LN_2 / part.characters;
            rows.push(part.condition, "loss", "bits_per_char", bits(nats), part.characters as usize);
            rows.push(part.condition, "loss", "floor", bits(part.floor), part.characters as usize);
        }
    }
}

fn letters(language: &Language, sequence: &Sequence) -> f64 {
    let words = sequence.prompt.iter().chain(&sequence.sentence.symbols);
    words.map(|&symbol| language.form(symbol, sequence.lang).chars().count() as f64 + 1.0).sum()
}
