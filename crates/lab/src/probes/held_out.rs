//! The loss on sequences that are never trained on, in nats per token and in bits per character, which unlike the first
//! can be compared across vocabularies; and the entropy floor under it, from the true process on the same sequences.
//!
//! The first token, which names task and language, is given and not predicted, so neither counts it.

use super::{Answers, Probe, Queries, Record, Setup, batch_rows};
use crate::error::Result;
use crate::inputs::tokenized::TokenizedText;
use invitro_language::{Languages, MixtureConfig, Pool, Process, Sequence, Source, Tags, Task};
use invitro_model::Loss;
use invitro_model::TokenSequence;
use invitro_results::{Condition, Loss as LossMetric, Measure, Rows};
use std::f64::consts::LN_2;
use std::sync::Arc;

/// Held-out sequences of the training mixture and of each condition.
#[derive(Clone, Debug)]
pub struct HeldOutProbe {
    parts: Vec<HeldOutPart>,
    context: usize,
}

pub(super) fn probe(setup: &Setup) -> Result<Option<Arc<dyn Probe>>> {
    let Setup { experiment, languages, text, .. } = setup;
    let (count, context) = (experiment.eval.losses, experiment.model.context);
    Ok(Some(Arc::new(HeldOutProbe::new(languages, text, &experiment.mixture, count, context)?)))
}

#[derive(Clone, Debug)]
struct HeldOutPart {
    condition: Option<Condition>,
    /// Letters of all words, and one mark per word.
    characters: f64,
    /// Nats that a model of the true process needs.
    floor: f64,
    /// Losses are summed by task.
    sequences: Vec<TokenSequence>,
}

/// The number of a part, and a batch of its sequences.
type PartBatch = (usize, Vec<TokenSequence>);

impl HeldOutProbe {
    pub fn new(
        languages: &Languages,
        text: &TokenizedText,
        mixture: &MixtureConfig,
        count: usize,
        context: usize,
    ) -> Result<HeldOutProbe> {
        let process = Process::new(languages);
        let conditions = [None].into_iter().chain(languages.conditions().into_iter().map(Some));
        let mut parts = Vec::new();
        for condition in conditions {
            let source = match condition {
                None => Source::mixture(languages, "eval/loss", mixture),
                Some(condition) => Source::condition_mix(languages, "eval/loss", condition, mixture.tasks),
            };
            let mut source = source.from_pool(Pool::HeldOut);
            let (mut characters, mut floor, mut sequences) = (0.0, 0.0, Vec::new());
            for row in 0..count as u64 {
                let sequence = source.draw_where(0, row, |sequence| text.segmentation.length(sequence) <= context)?;
                characters += letters(languages, &sequence);
                // Given the language, a sentence of B is known to have no masked word, one of B† to have one; but not
                // in a mixture that withholds nothing.
                let masked = process.withheld_share(&sequence);
                let given = match sequence.masked {
                    _ if condition.is_none() && !mixture.withholds() => 0.0,
                    true => masked.ln(),
                    false => (1.0 - masked).ln(),
                };
                floor +=
                    given - process.sentence(&sequence.sentence.symbols, sequence.language) - process.prompt(&sequence);
                if condition.is_none() {
                    floor -= process.switching(&sequence, mixture);
                    if languages.tags == Tags::Task {
                        floor -= process.opening(&sequence, mixture);
                    }
                }
                let (tokens, group) = (text.sequence(&sequence), sequence.task as u8);
                sequences.push(TokenSequence { tokens, group });
            }
            parts.push(HeldOutPart { condition: condition.map(Condition::from), characters, floor, sequences });
        }
        Ok(HeldOutProbe { parts, context })
    }

    /// The sequences in batches of at most `rows` rows.
    pub fn batches(&self, rows: usize) -> Vec<PartBatch> {
        let mut batches: Vec<PartBatch> = Vec::new();
        for (i, part) in self.parts.iter().enumerate() {
            let mut filled = rows;
            for sequence in &part.sequences {
                let more = sequence.tokens.len() - 1;
                if filled + more > rows {
                    batches.push((i, Vec::new()));
                    filled = 0;
                }
                filled += more;
                batches.last_mut().expect("one was just begun").1.push(sequence.clone());
            }
        }
        batches
    }

    /// The rows from the losses of all batches, each with the number of its part.
    pub fn rows(&self, losses: &[(usize, Loss)], rows: &mut Rows) {
        for (i, part) in self.parts.iter().enumerate() {
            let own = || losses.iter().filter(|(part, _)| *part == i).map(|(_, loss)| loss);
            let sum = |task: usize| own().map(|loss| loss.sum.get(task).copied().unwrap_or(0.0)).sum::<f64>();
            let count = |task: usize| own().map(|loss| loss.count.get(task).copied().unwrap_or(0)).sum::<u64>();
            let (nats, tokens): (f64, u64) =
                ((0..Task::ALL.len()).map(sum).sum(), (0..Task::ALL.len()).map(count).sum());
            let bits = |nats: f64| nats / LN_2 / part.characters;
            let mut push = |loss, value, n| rows.push(part.condition.as_ref(), Measure::Loss(loss), value, n);
            push(LossMetric::Loss, nats / tokens as f64, tokens as usize);
            for task in Task::ALL {
                let group = task as usize;
                push(LossMetric::of_task(task), sum(group) / count(group) as f64, count(group) as usize);
            }
            push(LossMetric::BitsPerChar, bits(nats), part.characters as usize);
            push(LossMetric::Floor, bits(part.floor), part.characters as usize);
        }
    }
}

impl Probe for HeldOutProbe {
    fn queries(&self, _step: u64) -> Queries {
        let batches = self.batches(batch_rows(self.context));
        Queries { losses: batches.into_iter().map(|(_, batch)| batch).collect(), ..Queries::default() }
    }

    fn record(&self, answers: &Answers, record: &mut Record) {
        let parts = self.batches(batch_rows(self.context)).into_iter().map(|(part, _)| part);
        // Summed from the last batch to the first: another order would give other last bits than earlier versions did.
        let losses: Vec<(usize, Loss)> = parts.zip(answers.losses.iter().cloned()).rev().collect();
        self.rows(&losses, &mut record.rows);
    }
}

fn letters(languages: &Languages, sequence: &Sequence) -> f64 {
    let words = sequence.prompt_words().chain(sequence.sentence_words());
    words.map(|(symbol, language)| languages.form(symbol, language).chars().count() as f64 + 1.0).sum()
}
