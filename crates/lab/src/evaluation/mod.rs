//! Evaluation: what a population, or whoever else is asked, knows at a step.
//!
//! - [`generation`]: tasks T0, T1 and T2 in every condition
//! - [`reach`]: top-K reachability and its target sets; [`contrast`]: what is known; [`forms`]: of words in other
//!   forms; [`ngrams`]: baselines of all
//! - [`held_out`]: the loss on held-out sequences, and the entropy floor under it
//! - [`sets`]: all that a model is asked
//! - [`respondent`]: who is asked; [`by_logits`]: a model that is not ours
//!
//! The sets are fixed for a data seed, and the members of a population that share it share them.

pub mod by_logits;
pub mod contrast;
pub mod forms;
pub mod generation;
pub mod held_out;
mod kinds;
pub mod ngrams;
pub mod reach;
pub mod respondent;
pub mod sets;

use crate::error::Result;
use crate::inputs::RunInputs;
use generation::{Judged, Prompted};
use invitro_model::decode::{Decoded, Prompt};
use invitro_model::ops::Loss;
use invitro_model::score::Answer;
use invitro_results::words::{Contrasts, Sample};
use invitro_results::{Row, Rows, Scorer};
use rayon::prelude::*;
use respondent::Respondent;
use std::collections::BTreeMap;

/// What came of one member's evaluation.
pub struct Evaluated {
    pub rows: Vec<Row>,
    pub samples: Vec<Sample>,
    pub contrasts: Contrasts,
}

/// One member to be evaluated.
pub struct Examinee<'a> {
    pub inputs: &'a RunInputs,
    /// Whether to write the n-gram models' rows, which are the same at every step.
    pub with_baselines: bool,
}

/// Rows of a batch of held-out sequences, which a population must have room for. The same for every population, however
/// its members are made up: sums are taken batch by batch, and a member's must not depend on who is evaluated beside it.
pub fn batch_rows(context: usize) -> usize {
    4 * context
}

/// What every member said when it was asked.
pub struct Asked {
    decoded: Vec<Vec<Decoded>>,
    answers: Vec<Vec<Answer>>,
    losses: Vec<Vec<(usize, Loss)>>,
}

/// Evaluates every member that there is someone to examine for.
pub fn evaluate(
    respondent: &mut impl Respondent,
    examinees: &[Option<Examinee>],
    step: u64,
) -> Result<Vec<Option<Evaluated>>> {
    let asked = ask(respondent, examinees, step)?;
    Ok(measure(respondent, examinees, step, &asked))
}

/// The part of an evaluation that the device has to do.
pub fn ask(respondent: &mut impl Respondent, examinees: &[Option<Examinee>], step: u64) -> Result<Asked> {
    let decoded = decode(respondent, examinees, step)?;
    let questions: Vec<_> = examinees
        .par_iter()
        .map(|examinee| examinee.as_ref().map(|e| e.inputs.sets.questions()).unwrap_or_default())
        .collect();
    let answers = respondent.score(&questions)?;
    Ok(Asked { decoded, answers, losses: losses(respondent, examinees)? })
}

/// The part that is left to the host.
pub fn measure(
    respondent: &impl Respondent,
    examinees: &[Option<Examinee>],
    step: u64,
    asked: &Asked,
) -> Vec<Option<Evaluated>> {
    let Asked { decoded, answers, losses } = asked;
    let mut evaluated: Vec<Option<Evaluated>> = examinees
        .par_iter()
        .enumerate()
        .map(|(m, examinee)| Some(examinee.as_ref()?.measure(step, &decoded[m], &answers[m], &losses[m])))
        .collect();
    for one in evaluated.iter_mut().flatten() {
        one.rows.retain(|row| respondent.measures(row.quantity.measure));
    }
    evaluated
}

/// Decodes every member's prompts, all tasks at once: what a step of decoding costs hardly depends on how many rows it has.
fn decode(respondent: &mut impl Respondent, examinees: &[Option<Examinee>], step: u64) -> Result<Vec<Vec<Decoded>>> {
    let asked =
        |examinee: &Option<Examinee>| examinee.as_ref().map_or(Vec::new(), |examinee| examinee.inputs.sets.ask(step));
    let prompts: Vec<Vec<Prompt>> = examinees.par_iter().map(asked).collect();
    respondent.decode(&prompts)
}

/// Every member's losses on its held-out batches, each with the batch's part.
fn losses(respondent: &mut impl Respondent, examinees: &[Option<Examinee>]) -> Result<Vec<Vec<(usize, Loss)>>> {
    let rows = batch_rows(respondent.context());
    let mut batches: Vec<Vec<held_out::Batch>> =
        examinees.par_iter().map(|e| e.as_ref().map_or(Vec::new(), |e| e.inputs.sets.held_out.batches(rows))).collect();
    let mut losses = vec![Vec::new(); examinees.len()];
    while batches.iter().any(|own| !own.is_empty()) {
        let next: Vec<Option<held_out::Batch>> = batches.iter_mut().map(Vec::pop).collect();
        // Members with fewer batches idle on a sequence that is not counted.
        let idle = || vec![invitro_model::Sequence { tokens: vec![0, 0], group: 0 }];
        let batch: Vec<_> = next.iter().map(|own| own.as_ref().map_or_else(idle, |(_, own)| own.clone())).collect();
        for ((loss, own), losses) in respondent.losses(&batch)?.into_iter().zip(&next).zip(&mut losses) {
            losses.extend(own.as_ref().map(|&(part, _)| (part, loss)));
        }
    }
    Ok(losses)
}

impl Examinee<'_> {
    fn measure(&self, step: u64, decoded: &[Decoded], answers: &[Answer], losses: &[(usize, Loss)]) -> Evaluated {
        let RunInputs { languages, text, sets } = self.inputs;
        let mut rows = Rows::new(step);
        let mut samples = Vec::new();
        let mut checker = languages.checker();
        let prompted = sets.prompts.iter().zip(decoded);
        let all: Vec<(&Prompted, Judged)> = prompted
            .map(|(prompted, decoded)| (prompted, generation::judge(prompted, decoded, text, &mut checker, languages)))
            .collect();
        let mut parts: Vec<&[(&Prompted, Judged)]> = all.chunk_by(|(one, _), (other, _)| one.is_like(other)).collect();
        parts.sort_by_key(|part| part[0].0.sequence.task);
        for part in parts {
            let judged: Vec<&Judged> = part.iter().map(|(_, judged)| judged).collect();
            generation::rows(part[0].0, &judged, &mut rows);
            samples.extend(generation::samples(step, sets.kept, languages, part));
        }
        sets.answered(Scorer::Network, answers, &mut rows);
        if self.with_baselines {
            for (order, answers) in &sets.baselines {
                sets.answered(order.scorer(), answers, &mut rows);
            }
        }
        sets.held_out.rows(losses, &mut rows);
        let mut reachable: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for (symbol, language) in sets.reach.reached(answers) {
            reachable.entry(language.name().to_owned()).or_default().push(symbol.0);
        }
        let contrasts = Contrasts { step, nats: sets.contrasts(answers), reachable: Some(reachable) };
        Evaluated { rows: rows.list, samples, contrasts }
    }
}
