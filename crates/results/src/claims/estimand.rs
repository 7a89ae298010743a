//! What a claim estimates: the table `estimate` of a claim.
//!
//! A run has a value: a measure in a condition at a moment, or the difference or ratio of two such readings. An estimand makes
//! one number of the values of many runs: their mean, a difference between levels, an effect, a bend, a correlation. Words and
//! orders have values of their own.

use super::fields::{ClaimError, Fields, Result, number, one_or_many, text, texts, unknown};
use super::names::{Covariate, Outcome, measure};
use super::predictor::Predictor;
use crate::study::as_in_runs;
use crate::{Condition, Crossing, Factor, Measure, Moment, Value};
use invitro_base::dotted::leaves;

/// What is estimated.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimand {
    /// How the runs' values become one number.
    pub kind: EstimandKind,
    /// The value of a run.
    pub value: RunValue,
    /// The settings that are held, each with the levels that may occur; all of them where the list is empty.
    pub at: Vec<(Factor, Vec<Value>)>,
}

/// How values become a number.
#[derive(Debug, Clone, PartialEq)]
pub enum EstimandKind {
    /// The mean over runs.
    Mean,
    /// The first level of a setting less the second, with all else equal; of two settings, the difference of the differences.
    Difference {
        /// The settings, each with two levels.
        of: Vec<(Factor, [Value; 2])>,
        /// Whether words are compared one by one, where both levels have them.
        by_words: bool,
    },
    /// The standardised coefficient of a predictor, or by how much that of the first exceeds that of the second in size.
    Effect(Vec<Predictor>),
    /// The mean of the inner levels of a setting less the mean of its outermost two.
    Bend(Factor),
    /// Pearson's r with a predictor, or by how much that with the first exceeds that with the second in size.
    Correlation {
        /// What it correlates with.
        with: Vec<Predictor>,
        /// The settings whose means are taken off both sides first; `languages` stands for which languages there are and how they
        /// are written.
        within: Vec<Factor>,
    },
    /// The slope of a value of runs on a predictor, in units of the value per unit of the predictor.
    Slope {
        /// The predictor.
        with: Predictor,
        /// As for a correlation.
        within: Vec<Factor>,
    },
    /// The mean of an outcome over masked words, or the coefficient of a covariate among the words of a run.
    Words {
        /// The outcome of a word.
        outcome: Outcome,
        /// Whose coefficient; the mean of the words where there is none.
        of: Option<Covariate>,
        /// All covariates of the regression.
        controls: Vec<Covariate>,
        /// Which words, by the bounds of their covariates.
        bounds: Vec<(Covariate, Bound, f64)>,
    },
    /// By how much an outcome jumps, among the words of a run, where their ranks cross |V|: that of words in one piece less that of
    /// words that are cut, right at the cut-off.
    Jump {
        /// The outcome of a word.
        outcome: Outcome,
        /// The words whose ranks are this close to |V|, as a share of it.
        width: f64,
    },
    /// The share of runs in which the first of two measures emerges before the second, of those with an order.
    Order(Crossing),
    /// An estimate that is multiplied by another, less a third: what a method predicts of a change, and its error.
    Combined(Box<Combined>),
}

/// An estimate made of others.
#[derive(Debug, Clone, PartialEq)]
pub struct Combined {
    /// The first.
    pub of: Estimand,
    /// What it is multiplied by.
    pub times: Option<Estimand>,
    /// What is taken off.
    pub less: Option<Estimand>,
}

impl Combined {
    /// All estimates that it is made of.
    pub fn parts(&self) -> impl Iterator<Item = &Estimand> {
        std::iter::once(&self.of).chain(&self.times).chain(&self.less)
    }

    /// As an estimand, which has the value of its first.
    pub(super) fn estimand(self) -> Estimand {
        let (value, at) = (self.of.value.clone(), self.of.at.clone());
        Estimand { kind: EstimandKind::Combined(Box::new(self)), value, at }
    }
}

impl Estimand {
    /// The measures that it reads.
    pub(super) fn measures(&self) -> Vec<Measure> {
        let predictors = match &self.kind {
            EstimandKind::Combined(combined) => return combined.parts().flat_map(Estimand::measures).collect(),
            EstimandKind::Effect(of) | EstimandKind::Correlation { with: of, .. } => &of[..],
            EstimandKind::Slope { with, .. } => std::slice::from_ref(with),
            _ => &[],
        };
        let readings = std::iter::once(&self.value.first).chain(&self.value.second);
        let predictors = predictors.iter().filter_map(|predictor| match predictor {
            Predictor::Measure(measure) => Some(*measure),
            _ => None,
        });
        readings.flat_map(|reading| reading.measures.iter().copied()).chain(predictors).collect()
    }
}

impl EstimandKind {
    /// The name of the kind in a claims file.
    pub fn name(&self) -> &'static str {
        match self {
            EstimandKind::Mean => "mean",
            EstimandKind::Difference { .. } => "difference",
            EstimandKind::Effect(_) => "effect",
            EstimandKind::Bend(_) => "bend",
            EstimandKind::Correlation { .. } => "correlation",
            EstimandKind::Words { .. } | EstimandKind::Jump { .. } => "words",
            EstimandKind::Slope { .. } => "slope",
            EstimandKind::Order(_) => "order",
            EstimandKind::Combined(combined) => combined.of.kind.name(),
        }
    }
}

invitro_base::named! {
    /// How a covariate of a word stands to a number.
    Bound {
        /// Less than it.
        Below = "below",
        /// It or less.
        AtMost = "at_most",
        /// More than it.
        Above = "above",
        /// It or more.
        AtLeast = "at_least",
        /// Exactly it.
        Is = "is",
    }
}

impl Bound {
    pub(super) fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Bound::Below => value < bound,
            Bound::AtMost => value <= bound,
            Bound::Above => value > bound,
            Bound::AtLeast => value >= bound,
            Bound::Is => value == bound,
        }
    }
}

/// One value of a run: a reading, or the first less the second, or the first over the second.
#[derive(Debug, Clone, PartialEq)]
pub struct RunValue {
    /// The reading.
    pub first: Reading,
    /// What it is compared with.
    pub second: Option<Reading>,
    /// Whether it is divided by the second.
    pub is_ratio: bool,
}

/// A measure in a condition at a moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The first of these that is not saturated.
    pub measures: Vec<Measure>,
    /// In which condition.
    pub place: ConditionRole,
    /// When.
    pub moment: Moment,
}

/// A condition by its name or by its part in a crossing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConditionRole {
    /// The conditions whose words were masked; of several, their mean.
    Masked,
    /// The language with masked words, in sentences without them.
    Target,
    /// The language from which something could have crossed.
    Source,
    /// The first language, where it has more text than the target.
    Majority,
    /// Over all conditions, or all pairs of languages.
    Overall,
    /// This one.
    Condition(Condition),
}

impl ConditionRole {
    const ROLES: [(&'static str, ConditionRole); 5] = [
        ("masked", ConditionRole::Masked),
        ("target", ConditionRole::Target),
        ("source", ConditionRole::Source),
        ("majority", ConditionRole::Majority),
        ("overall", ConditionRole::Overall),
    ];

    fn parse(name: &str) -> Result<ConditionRole> {
        if let Some((_, role)) = ConditionRole::ROLES.iter().find(|(role, _)| *role == name) {
            return Ok(role.clone());
        }
        let condition = name.replace('†', "_masked").parse();
        condition
            .map(ConditionRole::Condition)
            .map_err(|_| unknown(name, "a condition", ConditionRole::ROLES.map(|(role, _)| role)))
    }
}

/// Where a measure is read unless a claim names a condition.
pub(super) fn default_place(measure: Measure) -> ConditionRole {
    match measure {
        Measure::Tokenizer(..) | Measure::Language(_) => ConditionRole::Overall,
        _ => ConditionRole::Masked,
    }
}

const MOMENTS: [(&str, Moment); 8] = [
    ("end", Moment::End),
    ("peak", Moment::Peak),
    ("before", Moment::Before),
    ("decline", Moment::Decline),
    ("own decline", Moment::OwnDecline),
    ("emergence", Moment::Emergence(Crossing::First)),
    ("lasting emergence", Moment::Emergence(Crossing::Lasting)),
    ("half", Moment::Emergence(Crossing::Half)),
];

pub(super) fn moment(value: Value) -> Result<Moment> {
    if let Value::Number(step) = value {
        return Ok(Moment::Step(step as u32));
    }
    let name = value.to_string();
    let known = MOMENTS.iter().find(|(own, _)| *own == name).map(|(_, moment)| *moment);
    known.ok_or_else(|| unknown(&name, "a moment (nor a step)", MOMENTS.map(|(name, _)| name)))
}

pub(super) fn crossing(name: &str) -> Result<Crossing> {
    let known = Crossing::ALL.into_iter().find(|crossing| crossing.name() == name);
    known.ok_or_else(|| unknown(name, "a crossing", Crossing::ALL.map(Crossing::name)))
}

fn covariate(name: &str) -> Result<Covariate> {
    name.parse().map_err(|_| unknown(name, "a covariate of words", Covariate::ALL.map(Covariate::name)))
}

/// `reach.any or reach.share`: the first that is not saturated.
fn measures(value: toml::Value) -> Result<Vec<Measure>> {
    text(value)?.split(" or ").map(measure).collect()
}

/// The settings of a table, whether written `"a.b" = …` or `a.b = …`.
fn settings(value: toml::Value) -> Result<Vec<(Factor, Vec<Value>)>> {
    let toml::Value::Table(table) = value else {
        return Err(ClaimError(format!("{value} must be a table of settings")));
    };
    let levels = |value: toml::Value| match value {
        toml::Value::String(all) if all == "*" => Vec::new(),
        value => one_or_many(value).iter().map(Value::from).collect(),
    };
    let setting = |(key, value): (String, toml::Value)| as_in_runs(Factor::new(&key), levels(value));
    Ok(leaves(&table).into_iter().map(setting).collect())
}

/// At most two of them.
fn up_to_two<T>(list: Vec<T>) -> Result<(T, Option<T>)> {
    let mut list = list.into_iter();
    match (list.next(), list.next(), list.next()) {
        (Some(first), second, None) => Ok((first, second)),
        _ => Err(ClaimError("must be one or two".into())),
    }
}

fn predictors(value: toml::Value) -> Result<Vec<Predictor>> {
    let all: Vec<Predictor> = texts(value)?.iter().map(|name| Predictor::parse(name)).collect::<Result<_>>()?;
    if all.is_empty() || all.len() > 2 { Err(ClaimError("must be one or two".into())) } else { Ok(all) }
}

/// The kinds, by the key that names the measure.
const KINDS: [&str; 9] = ["mean", "difference", "ratio", "effect", "bend", "correlation", "slope", "words", "order"];

/// The width of the window around a cut-off, unless a claim names one.
const WIDTH: f64 = 0.25;

fn needed<T>(value: Option<T>, kind: &str, key: &str) -> Result<T> {
    value.ok_or_else(|| ClaimError(format!("`{kind}` needs `{key}`")))
}

impl Estimand {
    pub(super) fn parse(value: toml::Value) -> Result<Estimand> {
        let keys: Vec<String> = value.as_table().map_or(Vec::new(), |table| table.keys().cloned().collect());
        let mut fields = Fields::new(value)?;
        let mut kinds = KINDS.into_iter().filter_map(|kind| Some((kind, fields.take(kind)?)));
        let (Some((kind, what)), None) = (kinds.next(), kinds.next()) else {
            return Err(ClaimError(format!(
                "has the keys {}; one of them must be {}",
                keys.join(", "),
                KINDS.join(", ")
            )));
        };
        let at = fields.parse("at", settings)?.unwrap_or_default();
        let [times, less] = ["times", "less"].map(|key| fields.parse(key, Estimand::parse));
        let (times, less) = (times?, less?);
        let (value, kind) = if kind == "words" {
            Self::parse_words(&mut fields, &text(what)?)?
        } else {
            let value = RunValue::parse(&mut fields, kind, what)?;
            (value, Self::parse_kind(&mut fields, kind)?)
        };
        fields.finish()?;
        if matches!(kind, EstimandKind::Order(_)) && value.second.is_none() {
            return Err(ClaimError("`order` needs two measures, or two conditions".into()));
        }
        let of = Estimand { kind, value, at };
        let is_combined = times.is_some() || less.is_some();
        Ok(if is_combined { Combined { of, times, less }.estimand() } else { of })
    }

    fn parse_kind(fields: &mut Fields, kind: &str) -> Result<EstimandKind> {
        Ok(match kind {
            "effect" => EstimandKind::Effect(needed(fields.parse("of", predictors)?, kind, "of")?),
            "bend" => EstimandKind::Bend(Factor::new(&needed(fields.text("of")?, kind, "of")?)),
            "correlation" | "slope" => {
                let mut with = needed(fields.parse("with", predictors)?, kind, "with")?;
                let within = fields.parse("within", texts)?.unwrap_or_default();
                let within = within.iter().map(|key| Factor::new(key)).collect();
                match (kind, with.len()) {
                    ("correlation", _) => EstimandKind::Correlation { with, within },
                    (_, 1) => EstimandKind::Slope { with: with.remove(0), within },
                    _ => return Err(ClaimError("`with`: `slope` needs one predictor".into())),
                }
            }
            "order" => {
                EstimandKind::Order(fields.parse("crossing", |it| crossing(&text(it)?))?.unwrap_or(Crossing::First))
            }
            _ => {
                let of = fields.parse("of", settings)?.unwrap_or_default();
                let two = |(factor, levels): (Factor, Vec<Value>)| match <[Value; 2]>::try_from(levels) {
                    Ok(levels) => Ok((factor, levels)),
                    Err(_) => Err(ClaimError(format!("`of`: {} must have two levels", factor.key()))),
                };
                let of: Vec<_> = of.into_iter().map(two).collect::<Result<_>>()?;
                let unit = fields.text("unit")?.unwrap_or_else(|| "words".into());
                if !["words", "runs"].contains(&unit.as_str()) {
                    return Err(unknown(&unit, "a unit of comparison", ["words", "runs"]));
                }
                match of.len() {
                    0 => EstimandKind::Mean,
                    1 | 2 => EstimandKind::Difference { of, by_words: unit == "words" },
                    _ => return Err(ClaimError("`of` has more than two settings".into())),
                }
            }
        })
    }

    fn parse_words(fields: &mut Fields, outcome: &str) -> Result<(RunValue, EstimandKind)> {
        let outcome: Outcome =
            outcome.parse().map_err(|_| unknown(outcome, "an outcome of words", Outcome::ALL.map(Outcome::name)))?;
        let place = fields.parse("in", |value| ConditionRole::parse(&text(value)?))?.unwrap_or(ConditionRole::Masked);
        let measures = vec![match outcome {
            Outcome::Contrast => Measure::KNOWLEDGE,
            Outcome::Reachable => measure("reach.share")?,
            Outcome::LogProb => measure("reach.network.allowed.logprob")?,
        }];
        let first = Reading { measures, place, moment: Moment::End };
        let value = RunValue { first, second: None, is_ratio: false };
        if let Some(cutoff) = fields.text("cutoff")? {
            if cutoff != Covariate::Rank.name() {
                return Err(unknown(&cutoff, "a covariate with a cut-off", [Covariate::Rank.name()]));
            }
            let width = fields.parse("width", |value| number(&value))?.unwrap_or(WIDTH);
            if !(width > 0.0 && width <= 1.0) {
                return Err(ClaimError(format!("`width`: {width} must be a share of |V|, above 0 and at most 1")));
            }
            return Ok((value, EstimandKind::Jump { outcome, width }));
        }
        let of = fields.parse("of", |value| covariate(&text(value)?))?;
        let controls = fields.parse("controls", |value| texts(value)?.iter().map(|name| covariate(name)).collect())?;
        let mut controls: Vec<Covariate> = controls.unwrap_or_else(|| Covariate::CONTROLS.to_vec());
        if let Some(of) = of.filter(|of| !controls.contains(of)) {
            controls.insert(0, of);
        }
        let bounds = fields.parse("where", bounds)?.unwrap_or_default();
        Ok((value, EstimandKind::Words { outcome, of, controls, bounds }))
    }

    /// The settings that it names, with the levels it names of them.
    pub(super) fn settings(&self) -> Vec<(Factor, Vec<Value>)> {
        let setting = |one: &Predictor| match one {
            Predictor::Setting(factor) => Some((*factor, Vec::new())),
            _ => None,
        };
        let mut all = self.at.clone();
        match &self.kind {
            EstimandKind::Difference { of, .. } => {
                all.extend(of.iter().map(|(factor, levels)| (*factor, levels.to_vec())))
            }
            EstimandKind::Bend(factor) => all.push((*factor, Vec::new())),
            EstimandKind::Effect(of) => all.extend(of.iter().filter_map(setting)),
            EstimandKind::Correlation { with, within } => {
                all.extend(with.iter().filter_map(setting));
                all.extend(within.iter().map(|factor| (*factor, Vec::new())));
            }
            EstimandKind::Slope { with, within } => {
                all.extend(setting(with));
                all.extend(within.iter().map(|factor| (*factor, Vec::new())));
            }
            EstimandKind::Combined(combined) => all.extend(combined.parts().flat_map(Estimand::settings)),
            _ => {}
        }
        all
    }

    /// The same with these keys of `estimate` set otherwise.
    pub(super) fn overlaid(mut table: toml::Table, over: toml::Table) -> Result<Estimand> {
        if over.keys().any(|key| KINDS.contains(&key.as_str())) {
            table.retain(|key, _| !KINDS.contains(&key));
        }
        table.extend(over);
        Estimand::parse(toml::Value::Table(table))
    }
}

fn bounds(value: toml::Value) -> Result<Vec<(Covariate, Bound, f64)>> {
    let toml::Value::Table(table) = value else {
        return Err(ClaimError(format!("{value} must be a table of covariates")));
    };
    let mut all = Vec::new();
    for (name, value) in table {
        let own = covariate(&name)?;
        match value {
            toml::Value::Table(bounds) => {
                for (bound, value) in bounds {
                    let known: std::result::Result<Bound, _> = bound.parse();
                    let known = known.map_err(|_| unknown(&bound, "a bound", Bound::ALL.map(Bound::name)))?;
                    all.push((own, known, number(&value)?));
                }
            }
            value => all.push((own, Bound::Is, number(&value)?)),
        }
    }
    Ok(all)
}

impl RunValue {
    fn parse(fields: &mut Fields, kind: &str, what: toml::Value) -> Result<RunValue> {
        let what = one_or_many(what).into_iter().map(measures).collect::<Result<Vec<_>>>();
        let measures = up_to_two(what?).map_err(|ClaimError(why)| ClaimError(format!("`{kind}`: {why}")))?;
        let two = |value: toml::Value| up_to_two(one_or_many(value));
        let places = fields.parse("in", |value| {
            let (first, second) = two(value)?;
            let place = |value| ConditionRole::parse(&text(value)?);
            Ok((place(first)?, second.map(place).transpose()?))
        })?;
        let moments = fields.parse("moment", |value| {
            let (first, second) = two(value)?;
            let read = |value| moment(Value::from(&value));
            Ok((read(first)?, second.map(read).transpose()?))
        })?;
        let (places, moments) =
            (places.unwrap_or((default_place(measures.0[0]), None)), moments.unwrap_or((Moment::End, None)));
        let is_pair = measures.1.is_some() || places.1.is_some() || moments.1.is_some();
        let first = Reading { measures: measures.0.clone(), place: places.0.clone(), moment: moments.0 };
        let second = is_pair.then(|| Reading {
            measures: measures.1.unwrap_or(measures.0),
            place: places.1.unwrap_or(places.0),
            moment: moments.1.unwrap_or(moments.0),
        });
        if kind == "ratio" && second.is_none() {
            return Err(ClaimError("`ratio` needs two measures, conditions or moments".into()));
        }
        Ok(RunValue { first, second, is_ratio: kind == "ratio" })
    }

    /// Both readings.
    pub fn readings(&self) -> impl Iterator<Item = &Reading> {
        std::iter::once(&self.first).chain(&self.second)
    }

    /// Both readings, to be read otherwise.
    pub(super) fn readings_mut(&mut self) -> impl Iterator<Item = &mut Reading> {
        std::iter::once(&mut self.first).chain(&mut self.second)
    }
}
