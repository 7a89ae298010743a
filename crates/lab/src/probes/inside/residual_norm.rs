//! The norm of the residual stream, layer by layer: the smallest probe of hidden states.
//!
//! With `eval.inside`, sentences of each condition are read after `<T0:ℓ>`, and the root mean square of the residual stream
//! at their last token is averaged over them: layer 0 is the embedding, layer l the stream after the l-th layer.

use super::super::{Answers, Probe, Queries, Record, Setup};
use super::{Cadence, all_layers};
use crate::error::Result;
use invitro_language::{Pool, Source, Task};
use invitro_model::inference::{HiddenQuery, HiddenState};
use invitro_results::{Condition, InsideMetric, Measure};
use std::sync::Arc;

/// Sentences per condition.
const SENTENCES: u64 = 64;

struct ResidualNormProbe {
    cadence: Cadence,
    conditions: Vec<(Condition, Vec<HiddenQuery>)>,
}

pub fn probe(setup: &Setup) -> Result<Option<Arc<dyn Probe>>> {
    let Setup { experiment, languages, text, .. } = setup;
    let Some(cadence) = Cadence::of(experiment) else { return Ok(None) };
    let mut conditions = Vec::new();
    for condition in languages.conditions() {
        let mut source =
            Source::condition(languages, "eval/residual_norm", condition, Task::T0).from_pool(Pool::HeldOut);
        let mut queries = Vec::new();
        for row in 0..SENTENCES {
            let fits = |sequence: &_| text.segmentation.length(sequence) <= experiment.model.context;
            let tokens = text.sequence(&source.draw_where(0, row, fits)?);
            let positions = vec![tokens.len() - 1];
            queries.push(HiddenQuery { positions, layers: all_layers(setup), normed: false, tokens });
        }
        conditions.push((condition.into(), queries));
    }
    Ok(Some(Arc::new(ResidualNormProbe { cadence, conditions })))
}

impl Probe for ResidualNormProbe {
    fn queries(&self, step: u64) -> Queries {
        let conditions = self.conditions.iter().filter(|_| self.cadence.has(step));
        let hidden = conditions.flat_map(|(_, queries)| queries.iter().cloned()).collect();
        Queries { hidden, ..Queries::default() }
    }

    fn record(&self, answers: &Answers, record: &mut Record) {
        if answers.hidden.is_empty() {
            return;
        }
        let mut states = answers.hidden.iter();
        for (condition, queries) in &self.conditions {
            let own: Vec<_> = states.by_ref().take(queries.len()).collect();
            for layer in 0..queries[0].layers.len() {
                let norms = own.iter().map(|states| root_mean_square(&states[layer][0]));
                let measure = Measure::Inside(InsideMetric::ResidualNorm, Some(layer as u32));
                record.rows.push(Some(condition), measure, norms.sum::<f64>() / own.len() as f64, own.len());
            }
        }
    }
}

fn root_mean_square(state: &HiddenState) -> f64 {
    let squares: f64 = state.residual.iter().map(|&value| f64::from(value).powi(2)).sum();
    (squares / state.residual.len() as f64).sqrt()
}
