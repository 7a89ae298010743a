//! Whether parallel text pulls the parameters the same way: the cosine of gradients of batches in two languages.
//!
//! Two batches of the source and their translations. Beside the cosine of translations stand a ceiling, two batches of the
//! source, and a floor, batches in both languages with other sentences.

use super::super::language_model::LayerGradients;
use super::super::{Answers, Probe, Queries, Record, Setup, batch_rows};
use super::{Cadence, targets};
use crate::error::Result;
use invitro_language::{Language, LanguageCondition, Pool, Source, Task};
use invitro_model::TokenSequence;
use invitro_results::{Condition, InsideMetric, Measure};
use invitro_stats::alignment::dot;
use std::sync::Arc;

/// Sentences per batch, or as many as there is room for.
const SENTENCES: usize = 64;

struct GradientsProbe {
    cadence: Cadence,
    /// Two batches of the source, and per target the same in it.
    batches: Vec<Vec<TokenSequence>>,
    conditions: Vec<Condition>,
}

pub fn probe(setup: &Setup) -> Result<Option<Arc<dyn Probe>>> {
    let Setup { experiment, languages, text, .. } = setup;
    let Some(cadence) = Cadence::of(experiment) else { return Ok(None) };
    let (source, context) = (languages.all()[0], experiment.model.context);
    let all: Vec<Language> = [source].into_iter().chain(targets(languages)).collect();
    let mut draws = Source::condition(
        languages,
        "eval/inside/gradients",
        LanguageCondition { language: source, masked: false },
        Task::T0,
    )
    .from_pool(Pool::HeldOut);
    let mut batches: Vec<Vec<TokenSequence>> = vec![Vec::new(); 2 * all.len()];
    for batch in 0..2 {
        let mut rows = vec![0; all.len()];
        for row in 0..SENTENCES as u64 {
            // Said by every language in training.
            let drawn = draws.draw_where(batch as u64, row, |sequence| {
                targets(languages).all(|target| !languages.withholds(target, &sequence.sentence))
                    && text.segmentation.length(sequence) <= context
            })?;
            let translated: Vec<Vec<u32>> = all
                .iter()
                .map(|&language| {
                    let mut sequence = drawn.clone();
                    sequence.sentence.symbols = languages.reordered(&drawn.sentence, source, language);
                    sequence.language = language;
                    text.sequence(&sequence)
                })
                .collect();
            let fits = translated
                .iter()
                .zip(&rows)
                .all(|(tokens, rows)| tokens.len() <= context && rows + tokens.len() <= batch_rows(context));
            if fits {
                for (at, tokens) in translated.into_iter().enumerate() {
                    rows[at] += tokens.len();
                    batches[2 * at + batch].push(TokenSequence { tokens, group: 0 });
                }
            }
        }
    }
    let conditions = targets(languages).map(|target| Condition::new(target.name(), false)).collect();
    Ok(Some(Arc::new(GradientsProbe { cadence, batches, conditions })))
}

/// The inner products of all gradients with each other, by layer.
fn products(gradients: &[LayerGradients], layer: usize) -> Vec<Vec<f64>> {
    let product = |one: &LayerGradients, other: &LayerGradients| {
        let parts = one[layer].chunks(4096).zip(other[layer].chunks(4096));
        parts.map(|(one, other)| f64::from(dot(one, other))).sum()
    };
    gradients.iter().map(|one| gradients.iter().map(|other| product(one, other)).collect()).collect()
}

impl Probe for GradientsProbe {
    fn queries(&self, step: u64) -> Queries {
        let gradients = if self.cadence.has(step) { self.batches.clone() } else { Vec::new() };
        Queries { gradients, ..Queries::default() }
    }

    fn record(&self, answers: &Answers, record: &mut Record) {
        let gradients = &answers.gradients;
        let Some(layers) = gradients.first().map(Vec::len) else { return };
        let products: Vec<Vec<Vec<f64>>> = (0..layers).map(|layer| products(gradients, layer)).collect();
        let places = (0..layers).map(|layer| (Some(layer as u32 + 1), layer..layer + 1));
        for (layer, range) in places.chain([(None, 0..layers)]) {
            let product =
                |one: usize, other: usize| products[range.clone()].iter().map(|it| it[one][other]).sum::<f64>();
            let of = |one, other| product(one, other) / (product(one, one) * product(other, other)).sqrt();
            for (at, condition) in self.conditions.iter().enumerate() {
                let [first, second] = [2 * at + 2, 2 * at + 3];
                let values = [
                    (InsideMetric::Gradient, (of(0, first) + of(1, second)) / 2.0),
                    (InsideMetric::GradientCeiling, of(0, 1)),
                    (InsideMetric::GradientFloor, (of(0, second) + of(1, first)) / 2.0),
                ];
                for (metric, value) in values {
                    let measure = Measure::Inside(metric, layer);
                    record.rows.push(Some(condition), measure, value, self.batches[0].len());
                }
            }
        }
    }
}
