//! What explains the values of runs in regressions and correlations.

use super::fields::{Result, unknown};
use super::names::known_measure;
use crate::{Factor, Measure};

/// What explains a value of runs.
#[derive(Debug, Clone, PartialEq)]
pub enum Predictor {
    /// A setting that is a number, or the regime.
    Setting(Factor),
    /// 1 − d.
    Similarity,
    /// A measure that stands once per run, such as the mean bridge of its masked words.
    Measure(Measure),
}

impl Predictor {
    pub(super) fn parse(name: &str) -> Result<Predictor> {
        if name == "similarity" {
            return Ok(Predictor::Similarity);
        }
        if let Some(own) = known_measure(name) {
            return Ok(Predictor::Measure(own));
        }
        // Any setting of an experiment has a section.
        match name.contains('.') {
            true => Ok(Predictor::Setting(Factor::new(name))),
            false => Err(unknown(
                name,
                "a predictor",
                Factor::PAPER.map(Factor::key).into_iter().chain(["similarity", "bridge", "cognate_bridge"]),
            )),
        }
    }

    /// The column of a regression that has it. Distance is in it as similarity.
    pub fn column(&self) -> Predictor {
        if *self == Predictor::Setting(Factor::DISTANCE) { Predictor::Similarity } else { self.clone() }
    }

    /// Whether its effect is that of its column with the sign turned.
    pub(super) fn is_negated(&self) -> bool {
        self.column() != *self
    }

    /// The name of its column in regressions: a key, or the name of a measure.
    pub fn name(&self) -> String {
        match self {
            Predictor::Setting(factor) => factor.key().to_owned(),
            Predictor::Similarity => "similarity".to_owned(),
            Predictor::Measure(measure) => measure.to_string(),
        }
    }
}
