//! The logit lens: the last norm and the unembedding applied to every layer, where a descriptor is predicted.
//!
//! After `<T0:ℓ> subject copula`, the probability of the pieces that occur in words of ℓ alone, of the language it is compared
//! with alone, and of both. After nostalgebraist 2020, "interpreting GPT: the logit lens".

use super::super::language_model::ModelWeights;
use super::super::{Answers, Probe, Queries, Record, Setup};
use super::{Cadence, all_layers, compared_with, pieces_of};
use crate::error::Result;
use invitro_language::{Language, Stream, Symbol};
use invitro_model::inference::HiddenQuery;
use invitro_results::{Condition, InsideMetric, Measure};
use invitro_stats::alignment::dot;
use std::sync::Arc;

/// Subjects of the prompts.
const SUBJECTS: usize = 24;

struct LensProbe {
    cadence: Cadence,
    conditions: Vec<LensCondition>,
}

struct LensCondition {
    condition: Condition,
    queries: Vec<HiddenQuery>,
    /// Of every row of the vocabulary, the place of its kind in `KINDS`.
    kinds: Vec<Option<usize>>,
}

const KINDS: [InsideMetric; 3] = [InsideMetric::LensOwn, InsideMetric::LensOther, InsideMetric::LensShared];

pub fn probe(setup: &Setup) -> Result<Option<Arc<dyn Probe>>> {
    let Setup { experiment, languages, text, contrast, .. } = setup;
    let Some(cadence) = Cadence::of(experiment) else { return Ok(None) };
    let mut subjects: Vec<Symbol> = languages.world.entities().collect();
    Stream::new(languages.seed, "eval/inside/lens").at(0, 0).shuffle(&mut subjects);
    subjects.truncate(SUBJECTS);
    let words = |language: Language| pieces_of(text, languages.world.symbols(), language);
    let condition = |language: Language| {
        let (own, other) = (words(language), words(compared_with(languages, language)));
        let kind = |piece: u32| match (own.contains(&piece), other.contains(&piece)) {
            (true, true) => Some(2),
            (true, false) => Some(0),
            (false, true) => Some(1),
            (false, false) => None,
        };
        let query = |&subject: &Symbol| {
            let tokens = text.opening(language, &languages.opening(subject, language)?);
            let positions = vec![tokens.len() - 1];
            Some(HiddenQuery { positions, layers: all_layers(setup), normed: false, tokens })
        };
        LensCondition {
            condition: Condition::new(language.name(), false),
            queries: subjects.iter().filter_map(query).collect(),
            kinds: (0..text.rows() as u32).map(kind).collect(),
        }
    };
    let prompted = languages.all().iter().copied().filter(|&language| contrast.kinds().prompts(language));
    let conditions = prompted.map(condition).collect();
    Ok(Some(Arc::new(LensProbe { cadence, conditions })))
}

/// The probabilities that the last norm and the unembedding give a state.
pub fn lens(weights: &ModelWeights, residual: &[f32]) -> Vec<f64> {
    let width = residual.len() as f32;
    // LayerNorm takes away the mean and adds a bias.
    let mean = weights.last_bias().map_or(0.0, |_| residual.iter().sum::<f32>() / width);
    let centered: Vec<f32> = residual.iter().map(|x| x - mean).collect();
    let scale = 1.0 / (dot(&centered, &centered) / width + weights.shape.norm_eps as f32).sqrt();
    let mut normed: Vec<f32> = centered.iter().zip(weights.last_gain()).map(|(x, gain)| x * scale * gain).collect();
    normed.iter_mut().zip(weights.last_bias().unwrap_or_default()).for_each(|(x, bias)| *x += bias);
    let logits: Vec<f64> = (0..weights.shape.vocab).map(|row| f64::from(dot(&normed, weights.output(row)))).collect();
    let most = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let exponents: Vec<f64> = logits.iter().map(|logit| (logit - most).exp()).collect();
    let sum: f64 = exponents.iter().sum();
    exponents.into_iter().map(|value| value / sum).collect()
}

impl Probe for LensProbe {
    fn queries(&self, step: u64) -> Queries {
        if !self.cadence.has(step) {
            return Queries::default();
        }
        let hidden = self.conditions.iter().flat_map(|condition| condition.queries.iter().cloned()).collect();
        Queries { hidden, weights: true, ..Queries::default() }
    }

    fn record(&self, answers: &Answers, record: &mut Record) {
        let Some(weights) = &answers.weights else { return };
        let mut states = answers.hidden.iter();
        for LensCondition { condition, queries, kinds } in &self.conditions {
            let own: Vec<_> = states.by_ref().take(queries.len()).collect();
            for layer in 0..=weights.shape.layers {
                let mut masses = [0.0; KINDS.len()];
                for states in &own {
                    let probabilities = lens(weights, &states[layer][0].residual);
                    for (probability, kind) in probabilities.iter().zip(kinds) {
                        kind.iter().for_each(|&kind| masses[kind] += probability / own.len() as f64);
                    }
                }
                for (metric, mass) in KINDS.into_iter().zip(masses) {
                    record.rows.push(Some(condition), Measure::Inside(metric, Some(layer as u32)), mass, own.len());
                }
            }
        }
    }
}
