//! A table of runs for regression: a measure of transfer and the factors, on scales where equal steps are comparable.
//!
//! |V| and λ enter as base-2 logarithms, because their levels double; d as similarity 1 - d, as in the paper's
//! figures; the regime as 1 for balanced. Groups are data seeds.

use super::transfer::Transfer;
use crate::data::factors::BALANCED;
use crate::data::{Factor, Run, Study};
use invitro_results::{Bridge, Measure, Similarity};
use invitro_stats::regression::{self, Column, Regression};
use invitro_stats::{Estimate, Seed, mean, seeds};

pub const VOCAB: &str = "log₂ |*V*|";
pub const REGIME: &str = "balanced";
pub const LAMBDA: &str = "log₂ *λ*";
pub const SIMILARITY: &str = "1 − *d*";
pub const BETA: &str = "*β̂*";

/// The paper's bridge, and the one to a word's own cognate.
pub const BRIDGE: Measure = Measure::Bridge(Bridge::General, Similarity::Jaccard);
pub const COGNATE: Measure = Measure::Bridge(Bridge::Cognate, Similarity::Jaccard);

/// The mean bridge of a run. As for transfer, where several languages have masked words, the mean over them.
pub fn bridge_of(study: &Study, run: &Run, bridge: Measure) -> Option<f64> {
    let values: Vec<f64> = study.masked().filter_map(|masked| run.bridge(bridge, masked)).collect();
    (!values.is_empty()).then(|| mean(&values))
}

pub struct Design {
    pub y: Vec<f64>,
    pub seeds: Vec<Seed>,
    pub columns: Vec<Column>,
}

fn predictor(study: &Study, run: &Run, name: &str) -> Option<f64> {
    match name {
        VOCAB => run.number(Factor::Vocab.key()).map(f64::log2),
        REGIME => run.text(Factor::Regime.key()).map(|regime| f64::from(u8::from(regime == BALANCED))),
        LAMBDA => run.number(Factor::Lambda.key()).map(f64::log2),
        SIMILARITY => run.number(Factor::Distance.key()).map(|distance| 1.0 - distance),
        BETA => bridge_of(study, run, BRIDGE),
        _ => None,
    }
}

impl Design {
    /// The runs that have the value and every predictor any run has.
    pub fn new<'a>(
        study: &Study,
        runs: impl Iterator<Item = &'a Run>,
        bridge: bool,
        value: impl Fn(&Run) -> Option<f64>,
    ) -> Self {
        let mut names = vec![VOCAB, REGIME, LAMBDA, SIMILARITY];
        if bridge {
            names.push(BETA);
        }
        names.retain(|name| study.runs.iter().any(|run| predictor(study, run, name).is_some()));
        let mut design = Self { y: Vec::new(), seeds: Vec::new(), columns: Vec::new() };
        design.columns = names.iter().map(|name| Column::new(*name, Vec::new())).collect();
        for run in runs {
            let row: Option<Vec<f64>> = names.iter().map(|name| predictor(study, run, name)).collect();
            if let Some((row, y)) = row.zip(value(run).filter(|y| y.is_finite())) {
                design.y.push(y);
                design.seeds.push(run.seed);
                for (column, value) in design.columns.iter_mut().zip(row) {
                    column.values.push(value);
                }
            }
        }
        design
    }

    pub fn of_transfer(study: &Study, transfer: Transfer, bridge: bool) -> Self {
        Self::new(study, study.ended(study.plain()), bridge, |run| transfer.value(study, run))
    }

    /// The standardised regression with cluster-robust errors.
    pub fn regression(&self) -> Option<Regression> {
        regression::standardised(&self.columns, &self.y, &seeds::groups(&self.seeds))
    }

    /// A function of the standardised effects of the named predictors, with its interval over seeds. `None` where one
    /// of them does not vary, or is a combination of the others.
    pub fn effect(&self, names: &[&str], statistic: impl Fn(&[f64]) -> f64) -> Option<Estimate> {
        if self.y.len() < 3 {
            return None;
        }
        let (columns, _) = regression::independent(&self.columns);
        let place = |name: &&str| columns.iter().position(|column| column.name == **name);
        let places: Vec<usize> = names.iter().map(place).collect::<Option<_>>()?;
        regression::over_seeds(&self.seeds, &columns, &self.y, |coefficients| {
            let picked: Vec<f64> = places.iter().map(|place| coefficients[*place]).collect();
            statistic(&picked)
        })
    }

    /// By how much more λ matters than d: the size of its effect less that of similarity's.
    pub fn lambda_over_distance(&self) -> Option<Estimate> {
        self.effect(&[LAMBDA, SIMILARITY], |effects| effects[0].abs() - effects[1].abs())
    }

    /// The slope on one predictor.
    pub fn slope(&self, name: &str) -> Option<Estimate> {
        self.effect(&[name], |slopes| slopes[0])
    }
}
