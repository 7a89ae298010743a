//! Which runs of a study a claim is about, and the values that they have.

use super::estimand::{ConditionRole, Estimand, EstimandKind, Reading, RunValue};
use super::verdict::Reason;
use crate::{Condition, Factor, Levels, Measure, Moment, Quantity, Run, Study, Value, before_decline};
use invitro_stats::{Scale, Seed, deviation, mean};

/// The part of a study that is looked at.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    /// The study.
    pub study: &'a Study,
    /// The masked condition that a claim is answered for; all of them where there is none.
    pub masked: Option<&'a Condition>,
    /// Levels that are held.
    pub levels: &'a [(Factor, usize)],
    /// Some runs alone, by their places.
    pub only: Option<&'a [usize]>,
}

impl<'a> Scope<'a> {
    /// All of a study.
    pub fn new(study: &'a Study) -> Scope<'a> {
        Scope { study, masked: None, levels: &[], only: None }
    }

    /// At these levels.
    pub fn at(self, levels: &'a [(Factor, usize)]) -> Scope<'a> {
        Scope { levels, ..self }
    }

    /// The masked conditions that it is about.
    pub fn masked_conditions(&self) -> Vec<Condition> {
        self.masked.map_or_else(|| self.study.masked().cloned().collect(), |masked| vec![masked.clone()])
    }

    /// The runs that an estimand is about. Curves are of runs that ended; what stands once per run is of all. Arms that
    /// nothing names are held at the first level; regressions over words take the arms of a tokenizer together, since they
    /// vary the bridges themselves.
    pub fn runs(&self, estimand: &Estimand) -> Vec<&'a Run> {
        let study = self.study;
        let is_named = |factor: &Factor| {
            let of = match &estimand.kind {
                EstimandKind::Difference { of, .. } => of.iter().any(|(own, _)| own == factor),
                EstimandKind::Bend(own) => own == factor,
                EstimandKind::Words { .. } => factor.key().starts_with("tokenizer."),
                _ => false,
            };
            of || estimand.at.iter().any(|(own, _)| own == factor) || self.levels.iter().any(|(own, _)| own == factor)
        };
        let held: Levels = study.baseline().iter().copied().filter(|(factor, _)| !is_named(factor)).collect();
        let once = estimand.value.readings().all(|reading| reading.measures.iter().all(|it| !it.is_curve()));
        let is_in = |(place, run): &(usize, &'a Run)| {
            let ended = once || run.ended;
            let at = |(factor, levels): &(Factor, Vec<Value>)| levels.is_empty() || has_level(run, *factor, levels);
            ended
                && self.only.is_none_or(|only| only.contains(place))
                && run.is_at(&held)
                && run.is_at(self.levels)
                && estimand.at.iter().all(at)
        };
        study.runs.iter().enumerate().filter(is_in).map(|(_, run)| run).collect()
    }

    /// The measure that a reading takes: of several, the first that is saturated neither at the peak nor at the end.
    pub fn measure(&self, reading: &Reading) -> Measure {
        let is_saturated = |measure: &Measure| {
            [Moment::Peak, Moment::End].into_iter().any(|moment| {
                let reading = Reading { measures: vec![*measure], moment, ..reading.clone() };
                let runs: Vec<&Run> = self.study.ended(self.study.baseline()).collect();
                self.read(&runs, &reading).is_ok_and(|it| is_saturated(&it.into_iter().flatten().collect::<Vec<_>>()))
            })
        };
        let (last, first) = reading.measures.split_last().expect("a reading has a measure");
        *first.iter().find(|measure| !is_saturated(measure)).unwrap_or(last)
    }

    /// The conditions of a place; `None` where it is over all of them.
    pub fn conditions(&self, place: &ConditionRole, measure: Measure) -> Result<Option<Vec<Condition>>, Reason> {
        let masked = self.masked_conditions();
        let each = |of: &dyn Fn(&Condition) -> Option<Condition>, without: Reason| {
            let found: Vec<Condition> = masked.iter().filter_map(of).collect();
            if found.is_empty() { Err(without) } else { Ok(Some(found)) }
        };
        match place {
            ConditionRole::Overall => Ok(None),
            ConditionRole::Condition(condition) => Ok(Some(vec![condition.clone()])),
            ConditionRole::Masked => each(&|masked| Some(masked.clone()), Reason::NotMeasured),
            ConditionRole::Target => each(&|it| Some(Condition { masked: false, ..it.clone() }), Reason::NotMeasured),
            ConditionRole::Source => each(&|masked| self.study.source(measure, masked), Reason::NotMeasured),
            ConditionRole::Majority => each(&|masked| self.study.majority(masked), Reason::NoMajority),
        }
    }

    /// What runs have of a reading, in their order; of several conditions the mean.
    pub fn read(&self, runs: &[&Run], reading: &Reading) -> Result<Vec<Option<f64>>, Reason> {
        let measure = if let [only] = reading.measures[..] { only } else { self.measure(reading) };
        let Some(conditions) = self.conditions(&reading.place, measure)? else {
            let overall = Quantity::overall(measure);
            return Ok(runs.iter().map(|run| read_once(run, measure, reading.moment, &overall)).collect());
        };
        let in_each: Vec<Vec<Option<f64>>> =
            conditions.iter().map(|condition| read_in(runs, measure, condition, reading.moment)).collect();
        let mean_of = |place: usize| {
            let values: Vec<f64> = in_each.iter().filter_map(|values| values[place]).collect();
            (!values.is_empty()).then(|| mean(&values)).filter(|value| value.is_finite())
        };
        Ok((0..runs.len()).map(mean_of).collect())
    }

    /// The runs that have a value, with it.
    pub fn values(&self, runs: &[&'a Run], value: &RunValue) -> Result<Vec<(&'a Run, f64)>, Reason> {
        let first = self.read(runs, &value.first)?;
        let second = value.second.as_ref().map(|reading| self.read(runs, reading)).transpose()?;
        let combined = |place: usize| match &second {
            None => first[place],
            Some(second) if value.is_ratio => Some(first[place]? / second[place]?),
            Some(second) => Some(first[place]? - second[place]?),
        };
        let values = runs.iter().enumerate().filter_map(|(place, run)| Some((*run, combined(place)?)));
        Ok(values.filter(|(_, value)| value.is_finite()).collect())
    }

    /// The scale of a value's mean: differences of shares have one that ends at −1 and 1.
    pub fn scale(&self, value: &RunValue) -> Scale {
        let of_reading = |reading: &Reading| match (reading.measures[0].scale(), reading.moment) {
            (_, Moment::Emergence(_)) => Scale::Positive,
            (Scale::Share, Moment::Decline | Moment::OwnDecline) => Scale::Signed,
            (scale, _) => scale,
        };
        match &value.second {
            None => of_reading(&value.first),
            Some(second) if !value.is_ratio => difference_of(of_reading(&value.first), of_reading(second)),
            Some(_) => Scale::Plain,
        }
    }
}

/// The scale of the difference of two values on scales of their own.
pub(super) fn difference_of(first: Scale, second: Scale) -> Scale {
    if (first, second) == (Scale::Share, Scale::Share) { Scale::Signed } else { Scale::Plain }
}

/// Whether a run has one of these levels. A random arm also goes by its first word, without its share.
pub(super) fn has_level(run: &Run, factor: Factor, levels: &[Value]) -> bool {
    let Some(own) = run.columns.get(factor.key()) else { return false };
    let name = own.to_string();
    levels.iter().any(|level| level == own || name.split(' ').next() == Some(&level.to_string()))
}

/// A measure in a condition at a moment, of runs that are looked at together.
fn read_in(runs: &[&Run], measure: Measure, condition: &Condition, moment: Moment) -> Vec<Option<f64>> {
    let quantity = Quantity::in_condition_or_direction(measure, condition);
    match moment {
        _ if matches!(measure, Measure::Bridge(..)) => runs.iter().map(|run| run.bridge(measure, condition)).collect(),
        Moment::Before | Moment::Decline if measure.is_curve() => {
            let is_read = |run: &&&Run| {
                let curve = run.curve(&quantity);
                curve.len() > 1 && curve.decline().is_some()
            };
            let read: Vec<(Seed, &crate::Curve)> =
                runs.iter().filter(is_read).map(|run| (run.seed, run.curve(&quantity))).collect();
            let mut found = before_decline(&read).into_iter();
            let of_run = |run: &&Run| {
                let before = if is_read(&run) { found.next().flatten()? } else { return None };
                let end = run.curve(&quantity).end()?;
                Some(if moment == Moment::Decline { before - end } else { before })
            };
            runs.iter().map(of_run).collect()
        }
        Moment::Emergence(crossing) => {
            let emerged = |run: &Run| run.emergence(measure, condition, run.emergence_threshold(), crossing)?.step();
            runs.iter().map(|run| emerged(run).map(f64::from)).collect()
        }
        _ => runs.iter().map(|run| read_once(run, measure, moment, &quantity)).collect(),
    }
}

fn read_once(run: &Run, measure: Measure, moment: Moment, quantity: &Quantity) -> Option<f64> {
    match quantity.condition {
        _ if measure.is_curve() => run.curve(quantity).at(moment),
        Some(_) => run.once(quantity),
        None => run.over_pairs(measure),
    }
}

/// Whether shares hardly vary between runs because nearly all are at the top or at the bottom.
pub fn is_saturated(values: &[f64]) -> bool {
    let extreme = values.iter().filter(|value| **value >= 0.99 || **value <= 0.01).count();
    values.len() > 1
        && (extreme as f64 > 0.9 * values.len() as f64 || deviation(values) < 0.005 * mean(values).max(0.1))
}
