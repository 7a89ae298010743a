//! One estimator for every kind of claim.

use super::design::Design;
use super::estimand::{Estimand, EstimandKind, Reading};
use super::names::Covariate;
use super::predictor::Predictor;
use super::scope::{Scope, difference_of, has_level, is_saturated};
use super::verdict::{INFLATION, Reason, Verdict};
use crate::{Condition, Crossing, Emergence, Factor, FolderKind, Measure, Moment, Quantity, Run, TaskMetric, Value};
use invitro_stats::correlation::moment as plain_correlation;
use invitro_stats::regression::Regression;
use invitro_stats::{Estimate, Scale, Seed, seeds};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// An estimate, or why there is none.
#[derive(Debug, Clone, Default)]
pub struct Estimated {
    /// The number with its interval over seeds; of a run that is read alone, with the run's own interval.
    pub estimate: Option<Estimate>,
    /// Why it must not be tested, or is not there.
    pub reason: Option<Reason>,
    /// Of several measures that the claim names, the one that was read.
    pub measure: Option<Measure>,
    /// What else there is to know.
    pub detail: Detail,
}

/// What there is to know beside an estimate.
#[derive(Debug, Clone, Default)]
pub struct Detail {
    /// Of an order: runs in which both emerged at the same evaluation.
    pub ties: usize,
    /// Of words: how many there are, in all runs together.
    pub words: usize,
    /// Of arms compared word by word: p by permutation, which tells these very models apart.
    pub p: Option<f64>,
    /// Of a peak, a decline or an emergence: the first, the middle and the last of the runs' steps.
    pub steps: Option<[u32; 3]>,
    /// Of a coefficient of words: the whole regression.
    pub regression: Option<WordRegression>,
}

/// A regression over the words of some runs.
#[derive(Debug, Clone)]
pub struct WordRegression {
    /// With errors clustered by symbol and by data seed.
    pub clustered: Regression,
    /// The coefficients with their intervals over seeds, by the names of the covariates.
    pub over_seeds: Vec<(String, Option<Estimate>)>,
    /// The runs whose words these are.
    pub runs: usize,
}

impl WordRegression {
    /// The coefficient of a covariate with its interval over seeds; `None` where it does not vary on its own.
    pub fn estimate(&self, covariate: Covariate) -> Option<Estimate> {
        self.over_seeds.iter().find(|(own, _)| own == covariate.name())?.1
    }
}

/// Where no more than this share was ever there, nothing can decline.
const HARDLY_ANY: f64 = 0.05;

/// The share of sentences that must be grammatical at the end, in the language that saw all words, before the form of masked
/// words is tested.
const LEARNED: f64 = 0.5;

pub(super) type Estimates = Result<(Option<Estimate>, Detail), Reason>;

impl<'a> Scope<'a> {
    /// The estimate.
    pub fn estimate(&self, estimand: &Estimand) -> Estimated {
        if let EstimandKind::Combined(combined) = &estimand.kind {
            return self.combined(combined);
        }
        let runs = self.runs(estimand);
        let first = &estimand.value.first;
        let measure = (first.measures.len() > 1).then(|| self.measure(first));
        let nested = match &estimand.kind {
            EstimandKind::Order(_) => self.is_nested(estimand),
            _ => false,
        };
        match self.estimate_of(estimand, &runs) {
            Err(reason) => Estimated { reason: Some(reason), measure, ..Estimated::default() },
            Ok((estimate, detail)) => {
                let reason = match &estimate {
                    None => Some(self.why_none(estimand, &runs)),
                    Some(_) if nested => Some(Reason::Nested),
                    Some(_) => self.gate(estimand, &runs),
                };
                Estimated { estimate, reason, measure, detail }
            }
        }
    }

    fn estimate_of(&self, estimand: &Estimand, runs: &[&'a Run]) -> Estimates {
        let value = &estimand.value;
        match &estimand.kind {
            EstimandKind::Mean => self.mean(estimand, runs),
            EstimandKind::Difference { of, by_words } => self.difference(estimand, runs, of, *by_words),
            EstimandKind::Effect(of) => {
                let design = Design::new(self, &self.values(runs, value)?, of);
                Ok((design.effect(of), Detail::default()))
            }
            EstimandKind::Bend(factor) => {
                let levels = self.study.levels(*factor).len();
                if levels < 3 {
                    return Err(Reason::NotVaried);
                }
                let inner = 1.0 / (levels - 2) as f64;
                let weight = |level: usize| if level == 0 || level + 1 == levels { -0.5 } else { inner };
                let parts: Vec<WeightedRuns> = (0..levels)
                    .map(|level| {
                        let is_in = move |run: &Run| run.level(*factor) == Some(level);
                        WeightedRuns { weight: weight(level), is_in: Box::new(is_in) }
                    })
                    .collect();
                Ok((self.over_levels(estimand, runs, &[*factor], &parts)?, Detail::default()))
            }
            EstimandKind::Correlation { with, within } => {
                let rows = self.predicted(estimand, runs, with)?;
                Ok((if with.len() == 2 { sizes(&rows) } else { self.correlation(&rows, within) }, Detail::default()))
            }
            EstimandKind::Slope { with, within } => {
                let rows = self.predicted(estimand, runs, std::slice::from_ref(with))?;
                let (groups, rows) = self.grouped(&rows, within);
                Ok((seeds::slope_within(groups, rows), Detail::default()))
            }
            EstimandKind::Words { outcome, of: None, bounds, .. } => match self.word_mean(runs, *outcome, bounds) {
                Some((estimate, words)) => Ok((Some(estimate), Detail { words, ..Detail::default() })),
                None => Err(Reason::NotMeasured),
            },
            EstimandKind::Words { outcome, of: Some(of), controls, .. } => {
                let Some(regression) = self.word_regression(runs, *outcome, controls) else {
                    return Err(Reason::NotMeasured);
                };
                let (estimate, words) = (regression.estimate(*of), regression.clustered.rows);
                Ok((estimate, Detail { words, regression: Some(regression), ..Detail::default() }))
            }
            EstimandKind::Jump { outcome, width } => self.jump(runs, *outcome, *width),
            EstimandKind::Order(crossing) => self.order(estimand, runs, *crossing),
            EstimandKind::Combined(_) => unreachable!("its parts are estimated one by one"),
        }
    }

    fn mean(&self, estimand: &Estimand, runs: &[&'a Run]) -> Estimates {
        let value = &estimand.value;
        let values = self.values(runs, value)?;
        let estimate = seeds::mean(self.scale(value), values.iter().map(|(run, value)| (run.seed, *value)));
        let is_decline = value.readings().any(|reading| matches!(reading.moment, Moment::Before | Moment::Decline));
        // Which step others peak at needs others.
        let estimate = estimate.filter(|estimate| !is_decline || estimate.data_seeds > 1);
        let own = self.own_interval(estimand, runs);
        let estimate = estimate.map(|it| if own.is_some() { Estimate { interval: own, ..it } } else { it });
        let mut steps: Vec<u32> = match value.first.moment {
            Moment::Emergence(_) => values.iter().map(|(_, step)| *step as u32).collect(),
            Moment::Peak | Moment::Before | Moment::Decline | Moment::OwnDecline => self.peaks(runs, &value.first),
            _ => Vec::new(),
        };
        steps.sort_unstable();
        let steps = steps.first().zip(steps.last()).map(|(first, last)| [*first, steps[steps.len() / 2], *last]);
        Ok((estimate, Detail { steps, ..Detail::default() }))
    }

    /// The interval over pairs of subjects that a run reports, where it is read alone.
    fn own_interval(&self, estimand: &Estimand, runs: &[&Run]) -> Option<invitro_stats::Interval> {
        let ([run], FolderKind::Run, None) = (runs, self.study.kind, &estimand.value.second) else { return None };
        let reading = &estimand.value.first;
        let conditions = self.conditions(&reading.place, self.measure(reading)).ok()??;
        let [condition] = &conditions[..] else { return None };
        let curve = run.curve(&Quantity::in_condition_or_direction(self.measure(reading), condition));
        curve.last().filter(|_| reading.moment == Moment::End)?.interval()
    }

    /// The steps at which runs peak in the first condition of a reading.
    fn peaks(&self, runs: &[&Run], reading: &Reading) -> Vec<u32> {
        let measure = self.measure(reading);
        let Ok(Some(conditions)) = self.conditions(&reading.place, measure) else { return Vec::new() };
        let curves = conditions.iter().flat_map(|condition| {
            let quantity = Quantity::in_condition_or_direction(measure, condition);
            runs.iter().map(move |run| run.curve(&quantity))
        });
        curves.filter(|curve| curve.len() > 1).filter_map(|curve| Some(curve.peak()?.step)).collect()
    }

    fn difference(
        &self,
        estimand: &Estimand,
        runs: &[&'a Run],
        of: &[(Factor, [Value; 2])],
        by_words: bool,
    ) -> Estimates {
        let is_in = |run: &Run, corner: usize| {
            let at = |(place, (factor, levels)): (usize, &(Factor, [Value; 2]))| {
                has_level(run, *factor, std::slice::from_ref(&levels[corner >> place & 1]))
            };
            of.iter().enumerate().all(at)
        };
        let corners = 1 << of.len();
        if (0..corners).any(|corner| !runs.iter().any(|run| is_in(run, corner))) {
            return Err(Reason::NotVaried);
        }
        let reading = &estimand.value.first;
        let is_knowledge = (&reading.measures[..], reading.moment) == (&[Measure::KNOWLEDGE], Moment::End);
        let in_masked = self
            .conditions(&reading.place, Measure::KNOWLEDGE)
            .is_ok_and(|it| it.is_some_and(|conditions| conditions.iter().all(|condition| condition.masked)));
        if let ([(factor, levels)], true) =
            (of, by_words && is_knowledge && in_masked && estimand.value.second.is_none())
        {
            let arm = |corner: usize| runs.iter().copied().filter(|run| is_in(run, corner)).collect::<Vec<&Run>>();
            let (one, other) = (arm(0), arm(1));
            let names = levels.each_ref().map(|level| self.level_name(&one, &other, *factor, level));
            let named = names.each_ref().map(String::as_str);
            if let Some(found) = self.word_difference(*factor, named, [&one, &other]) {
                let detail = Detail { words: found.values, p: Some(found.p), ..Detail::default() };
                return Ok((Some(found.estimate), detail));
            }
        }
        let parts: Vec<WeightedRuns> = (0..corners)
            .map(|corner: usize| {
                let weight = if corner.count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
                WeightedRuns { weight, is_in: Box::new(move |run: &Run| is_in(run, corner)) }
            })
            .collect();
        let factors: Vec<Factor> = of.iter().map(|(factor, _)| *factor).collect();
        Ok((self.over_levels(estimand, runs, &factors, &parts)?, Detail::default()))
    }

    /// A level as runs have it: a random arm has its share in its name.
    fn level_name(&self, one: &[&Run], other: &[&Run], factor: Factor, level: &Value) -> String {
        let mut runs = one.iter().chain(other);
        let own = runs.find(|run| has_level(run, factor, std::slice::from_ref(level)));
        own.and_then(|run| run.columns.get(factor.key())).map_or_else(|| level.to_string(), ToString::to_string)
    }

    /// A weighted sum of means at levels of these factors, within each pair of seeds and each combination of the other
    /// settings; then the mean over these. Each part is read alone: its decline starts where its own runs peak.
    fn over_levels(
        &self,
        estimand: &Estimand,
        runs: &[&'a Run],
        factors: &[Factor],
        parts: &[WeightedRuns],
    ) -> Result<Option<Estimate>, Reason> {
        let further = self.study.settings_beside(factors);
        let mut groups: BTreeMap<(Seed, Vec<String>), Vec<(f64, f64)>> = BTreeMap::new();
        for (place, part) in parts.iter().enumerate() {
            let own: Vec<&Run> = runs.iter().copied().filter(|run| (part.is_in)(run)).collect();
            for (run, value) in self.values(&own, &estimand.value)? {
                let setting = |key: &&str| run.columns.get(*key).map_or(String::new(), ToString::to_string);
                let group = groups.entry((run.seed, further.iter().map(setting).collect()));
                let (sum, count) = &mut group.or_insert_with(|| vec![(0.0, 0.0); parts.len()])[place];
                *sum += value;
                *count += 1.0;
            }
        }
        groups.retain(|_, sums| sums.iter().all(|(_, count)| *count > 0.0));
        let used: f64 = groups.values().flatten().map(|(_, count)| count).sum();
        let total = |sums: &[(f64, f64)]| -> f64 {
            sums.iter().zip(parts).map(|((sum, count), part)| part.weight * sum / count).sum()
        };
        let scale = self.scale(&estimand.value);
        let scale = difference_of(scale, scale);
        let rows = groups.iter().map(|((seed, _), sums)| (*seed, total(sums)));
        Ok(seeds::mean(scale, rows).map(|estimate| Estimate { runs: used as usize, ..estimate }))
    }

    /// The runs that have a value and all of these predictors, with both.
    fn predicted(
        &self,
        estimand: &Estimand,
        runs: &[&'a Run],
        with: &[Predictor],
    ) -> Result<Vec<(&'a Run, Vec<f64>, f64)>, Reason> {
        let rows = self.values(runs, &estimand.value)?.into_iter().filter_map(|(run, y)| {
            let x: Option<Vec<f64>> = with.iter().map(|one| self.predictor(one, run)).collect();
            Some((run, x?, y))
        });
        Ok(rows.collect())
    }

    fn correlation(&self, rows: &[(&Run, Vec<f64>, f64)], within: &[Factor]) -> Option<Estimate> {
        let (x, y): (Vec<f64>, Vec<f64>) = rows.iter().map(|(_, x, y)| (x[0], *y)).unzip();
        plain_correlation(&x, &y)?;
        let (groups, rows) = self.grouped(rows, within);
        seeds::pearson_within(groups, rows)
    }

    /// The rows by combinations of the levels that are held, and how many of these there are.
    fn grouped(&self, rows: &[(&Run, Vec<f64>, f64)], within: &[Factor]) -> (usize, Vec<(Seed, usize, f64, f64)>) {
        let of_languages = within.contains(&Factor::LANGUAGES);
        let is_held = |factor: &Factor| within.contains(factor) || (of_languages && factor.is_kind_of_languages());
        let held: Vec<Factor> = self.study.varying().into_iter().filter(is_held).collect();
        let group = |run: &Run| held.iter().map(|&factor| run.level(factor)).collect::<Vec<_>>();
        let mut groups: Vec<Vec<Option<usize>>> = rows.iter().map(|(run, ..)| group(run)).collect();
        groups.sort();
        groups.dedup();
        let place = |run: &Run| groups.binary_search(&group(run)).expect("a group of the list it was made from");
        let rows = rows.iter().map(|(run, x, y)| (run.seed, place(run), x[0], *y)).collect();
        (groups.len(), rows)
    }

    fn order(&self, estimand: &Estimand, runs: &[&'a Run], crossing: Crossing) -> Estimates {
        let readings: Vec<&Reading> = estimand.value.readings().collect();
        let place = |reading: &Reading| -> Result<(Measure, Condition), Reason> {
            let conditions = self.conditions(&reading.place, reading.measures[0])?.ok_or(Reason::NotMeasured)?;
            Ok((reading.measures[0], conditions[0].clone()))
        };
        let [first, second] = [place(readings[0])?, place(readings[1])?];
        let when = |run: &Run, (measure, condition): &(Measure, Condition)| {
            run.emergence(*measure, condition, run.emergence_threshold(), crossing)
        };
        let order = |run: &Run| match (when(run, &first)?, when(run, &second)?) {
            (Emergence::Never, Emergence::Never) => None,
            (Emergence::At(_), Emergence::Never) => Some(Ordering::Less),
            (Emergence::Never, Emergence::At(_)) => Some(Ordering::Greater),
            (Emergence::At(a), Emergence::At(b)) => Some(a.cmp(&b)),
        };
        let found: Vec<(Seed, Ordering)> = runs.iter().filter_map(|run| Some((run.seed, order(run)?))).collect();
        let is_measured = |run: &Run, (measure, condition): &(Measure, Condition)| {
            !run.curve(&Quantity::in_condition(*measure, condition)).is_empty()
        };
        if found.is_empty() && runs.iter().any(|run| is_measured(run, &first) && is_measured(run, &second)) {
            return Err(Reason::NeverBoth);
        }
        let strict = found.iter().filter(|(_, order)| *order != Ordering::Equal);
        let share = seeds::proportion(strict.map(|(seed, order)| (*seed, *order == Ordering::Less)));
        let ties = found.iter().filter(|(_, order)| *order == Ordering::Equal).count();
        Ok((share, Detail { ties, ..Detail::default() }))
    }

    /// Whether one of two nested checks of sentences is counted among the other, in the same condition.
    fn is_nested(&self, estimand: &Estimand) -> bool {
        let nested = |reading: &Reading| match reading.measures[0] {
            Measure::Task(task, metric) => Some((task, TaskMetric::CASCADE.iter().position(|it| *it == metric)?)),
            _ => None,
        };
        let second = estimand.value.second.as_ref().expect("an order has two");
        let (first, place) = (&estimand.value.first, |reading: &Reading| reading.place.clone());
        match (nested(first), nested(second)) {
            (Some((task, outer)), Some((other, inner))) => {
                task == other && outer < inner && place(first) == place(second)
            }
            _ => false,
        }
    }

    /// Why runs give no estimate: none has a value, or what is compared does not vary.
    fn why_none(&self, estimand: &Estimand, runs: &[&'a Run]) -> Reason {
        let values = self.values(runs, &estimand.value).unwrap_or_default();
        match &estimand.kind {
            EstimandKind::Effect(_) | EstimandKind::Correlation { .. } | EstimandKind::Slope { .. }
                if !values.is_empty() && self.is_saturated(estimand, &values) =>
            {
                Reason::Saturated
            }
            EstimandKind::Effect(_)
            | EstimandKind::Correlation { .. }
            | EstimandKind::Slope { .. }
            | EstimandKind::Words { .. }
            | EstimandKind::Jump { .. }
            | EstimandKind::Bend(_) => Reason::NotVaried,
            EstimandKind::Mean if !values.is_empty() => Reason::TooFewSeeds(1),
            _ => Reason::NotMeasured,
        }
    }

    fn is_saturated(&self, estimand: &Estimand, values: &[(&Run, f64)]) -> bool {
        let is_share =
            estimand.value.readings().all(|reading| reading.measures.iter().all(|it| it.scale() == Scale::Share));
        let is_form = estimand.value.readings().all(|reading| reading.measures.iter().all(|it| it.is_form()));
        // A difference of two shares has either sign.
        is_share && is_form && is_saturated(&values.iter().map(|(_, value)| value.abs()).collect::<Vec<f64>>())
    }

    /// Why an estimate must not be tested.
    fn gate(&self, estimand: &Estimand, runs: &[&'a Run]) -> Option<Reason> {
        let relates = matches!(
            estimand.kind,
            EstimandKind::Effect(_)
                | EstimandKind::Correlation { .. }
                | EstimandKind::Slope { .. }
                | EstimandKind::Bend(_)
        );
        if relates && self.values(runs, &estimand.value).is_ok_and(|values| self.is_saturated(estimand, &values)) {
            return Some(Reason::Saturated);
        }
        if matches!(estimand.kind, EstimandKind::Order(_)) {
            return None;
        }
        if let EstimandKind::Effect(of) = &estimand.kind
            && let Ok(values) = self.values(runs, &estimand.value)
            && let Some(inflation) = Design::new(self, &values, of).inflation(of).filter(|it| *it > INFLATION)
        {
            return Some(Reason::Collinear(inflation));
        }
        let groups: Vec<Vec<&Run>> = match &estimand.kind {
            EstimandKind::Difference { of, .. } => {
                let levels = of.iter().flat_map(|(factor, levels)| levels.iter().map(move |level| (*factor, level)));
                let at = |(factor, level): (Factor, &Value)| {
                    let level = std::slice::from_ref(level);
                    runs.iter().copied().filter(|run| has_level(run, factor, level)).collect()
                };
                levels.map(at).collect()
            }
            _ => vec![runs.to_vec()],
        };
        let unlearned = |reading: &Reading| {
            let measure = self.measure(reading);
            let conditions = self.conditions(&reading.place, measure).ok()??;
            let masked: Vec<&Condition> = conditions.iter().filter(|condition| condition.masked).collect();
            groups.iter().find_map(|runs| masked.iter().find_map(|masked| self.not_learned(measure, masked, runs)))
        };
        let absent = || {
            let peak = Reading { moment: Moment::Peak, ..estimand.value.first.clone() };
            let peaks: Vec<f64> = self.read(runs, &peak).ok()?.into_iter().flatten().collect();
            let is_absent = estimand.value.first.measures[0].is_form() && invitro_stats::mean(&peaks) < HARDLY_ANY;
            (estimand.value.first.moment == Moment::Decline && is_absent).then_some(Reason::Absent)
        };
        estimand.value.readings().find_map(unlearned).or_else(absent)
    }

    /// Whether grammar, or the facts, were not learned where masked words were seen.
    fn not_learned(&self, measure: Measure, masked: &Condition, runs: &[&Run]) -> Option<Reason> {
        let grammatical = Measure::unscrambling(TaskMetric::Grammaticality);
        let end_in = |measure: Measure, source: &Condition| {
            let quantity = Quantity::in_condition(measure, source);
            let ends = runs.iter().filter_map(|run| Some((run.seed, run.curve(&quantity).end()?)));
            seeds::mean(measure.scale(), ends)
        };
        if measure.is_contrast() {
            let condition = self.study.source(Measure::KNOWLEDGE, masked)?;
            let known = end_in(Measure::KNOWLEDGE, &condition);
            let is_clear = |known: &Estimate| known.data_seeds < super::verdict::SEEDS || Verdict::is_above_zero(known);
            return (!known.as_ref().is_some_and(is_clear))
                .then_some(Reason::NotLearned { condition, grammatical: None });
        }
        if !measure.is_form() {
            return None;
        }
        let condition = self.study.source(grammatical, masked)?;
        let share = end_in(grammatical, &condition).map(|it| it.value).filter(|share| *share < LEARNED)?;
        Some(Reason::NotLearned { condition, grammatical: Some(share) })
    }
}

/// Runs at one combination of levels, and what their mean counts.
struct WeightedRuns<'f> {
    weight: f64,
    is_in: Box<dyn Fn(&Run) -> bool + 'f>,
}

/// |r| with the first predictor less |r| with the second, over the same runs.
fn sizes(rows: &[(&Run, Vec<f64>, f64)]) -> Option<Estimate> {
    if rows.len() < 3 {
        return None;
    }
    let rows = rows.iter().map(|(run, x, y)| {
        let (c, g) = (x[0], x[1]);
        (run.seed, [1.0, c, g, *y, c * c, g * g, y * y, c * y, g * y])
    });
    seeds::estimate(Scale::Signed, rows, |&[n, c, g, y, cc, gg, yy, cy, gy]| {
        let r = |x: f64, xx: f64, xy: f64| {
            let (vx, vy) = (xx - x * x / n, yy - y * y / n);
            (vx > 1e-12 * n && vy > 1e-12 * n).then(|| (xy - x * y / n) / (vx * vy).sqrt())
        };
        Some(r(c, cc, cy)?.abs() - r(g, gg, gy)?.abs())
    })
}
