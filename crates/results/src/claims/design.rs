//! A table of runs for regression: a value and the factors, on scales where equal steps are comparable.
//!
//! |V| and λ enter as base-2 logarithms, because their levels double; d as similarity 1 − d, as in the paper's figures; the
//! regime as 1 for balanced. Groups are data seeds.

use super::estimand::{Reading, default_place};
use super::predictor::Predictor;
use super::scope::Scope;
use crate::{BALANCED, Factor, Moment, Run};
use invitro_stats::regression::{self, NamedColumn, Regression};
use invitro_stats::{Estimate, Seed, seeds};

impl Scope<'_> {
    /// A predictor of a run, where it has it.
    pub fn predictor(&self, predictor: &Predictor, run: &Run) -> Option<f64> {
        match predictor {
            Predictor::Setting(Factor::REGIME) => {
                run.text(Factor::REGIME.key()).map(|regime| f64::from(u8::from(regime == BALANCED)))
            }
            Predictor::Setting(factor) => {
                let number = run.number(factor.key())?;
                Some(if [Factor::VOCAB, Factor::LAMBDA].contains(factor) { number.log2() } else { number })
            }
            Predictor::Similarity => run.number(Factor::DISTANCE.key()).map(|distance| 1.0 - distance),
            Predictor::Measure(measure) => {
                let place = default_place(*measure);
                let reading = Reading { measures: vec![*measure], place, moment: Moment::End };
                self.read(&[run], &reading).ok()?.remove(0)
            }
        }
    }
}

/// The rows of a regression.
pub struct Design {
    y: Vec<f64>,
    seeds: Vec<Seed>,
    columns: Vec<NamedColumn>,
}

impl Design {
    /// The runs that have a value and every predictor that any run of the study has: the paper's factors, and `more`.
    pub fn new(scope: &Scope, values: &[(&Run, f64)], more: &[Predictor]) -> Design {
        let factors = [Factor::VOCAB, Factor::REGIME, Factor::LAMBDA].map(Predictor::Setting);
        let mut predictors: Vec<Predictor> = factors.into_iter().chain([Predictor::Similarity]).collect();
        for one in more.iter().map(Predictor::column) {
            if !predictors.contains(&one) {
                predictors.push(one);
            }
        }
        predictors.retain(|one| scope.study.runs.iter().any(|run| scope.predictor(one, run).is_some()));
        let columns = predictors.iter().map(|one| NamedColumn::new(one.name(), Vec::new())).collect();
        let mut design = Design { y: Vec::new(), seeds: Vec::new(), columns };
        for (run, y) in values {
            let row: Option<Vec<f64>> = predictors.iter().map(|one| scope.predictor(one, run)).collect();
            if let Some(row) = row.filter(|_| y.is_finite()) {
                design.y.push(*y);
                design.seeds.push(run.seed);
                design.columns.iter_mut().zip(row).for_each(|(column, value)| column.values.push(value));
            }
        }
        design
    }

    /// The standardised regression. Where seeds give an effect its interval, as in [`Design::effect`], that is the one;
    /// elsewhere errors are cluster-robust.
    pub fn regression(&self) -> Option<Regression> {
        let mut fit = regression::standardised(&self.columns, &self.y, &seeds::groups(&self.seeds))?;
        for effect in &mut fit.effects {
            let estimate = self.effect_of(&[effect.name.as_str()]);
            let Some((interval, spread)) = estimate.and_then(|estimate| estimate.interval.zip(estimate.spread)) else {
                continue;
            };
            let one_error = spread.interval(effect.value, regression::BEYOND_ONE_ERROR);
            (effect.interval, effect.error) = (interval, one_error.half_width());
            effect.p = spread.p(effect.value);
        }
        Some(fit)
    }

    /// The standardised effect of a predictor with its interval over seeds; of two, by how much the first exceeds the second in
    /// size. `None` where one of them does not vary, or is a combination of the others.
    pub fn effect(&self, of: &[Predictor]) -> Option<Estimate> {
        let names: Vec<String> = of.iter().map(|one| one.column().name()).collect();
        let estimate = self.effect_of(&names)?;
        Some(if of.len() == 1 && of[0].is_negated() { estimate.negated() } else { estimate })
    }

    /// The largest variance inflation factor of these predictors: how far the other columns determine them.
    pub fn inflation(&self, of: &[Predictor]) -> Option<f64> {
        let (columns, _) = regression::independent(&self.columns);
        let names: Vec<String> = of.iter().map(|one| one.column().name()).collect();
        let places = (0..columns.len()).filter(|place| names.contains(&columns[*place].name));
        places.filter_map(|place| regression::inflation(&columns, place)).reduce(f64::max)
    }

    fn effect_of(&self, names: &[impl AsRef<str>]) -> Option<Estimate> {
        if self.y.len() < 3 {
            return None;
        }
        let (columns, _) = regression::independent(&self.columns);
        let place = |name: &str| columns.iter().position(|column| column.name == name);
        let places: Vec<usize> = names.iter().map(|name| place(name.as_ref())).collect::<Option<_>>()?;
        regression::over_seeds(&self.seeds, &columns, &self.y, |effects| match places[..] {
            [first, second] => effects[first].abs() - effects[second].abs(),
            _ => effects[places[0]],
        })
    }
}
