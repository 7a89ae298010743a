//! A measure in a condition: what one curve, or one column of a table of runs, holds.

use crate::{Condition, Measure, UnknownName};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The `condition` column of what is measured over all conditions, such as the loss of the training mixture.
pub(crate) const ALL: &str = "all";

/// A measure, in a condition or over all of them. As a column `T1.B_masked.grammaticality`, `loss.all.loss`,
/// `fertility.A`, `overlap`, and of several languages `overlap.A-C`. Translations have a direction: `T3.A>B.exact`, into the
/// words masked in B `T3.A>B_masked.exact`, and from them `T3.B_masked>A.exact`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quantity {
    /// What is measured.
    pub measure: Measure,
    /// In which condition; `None` over all of them.
    pub condition: Option<Condition>,
    /// Or between which two languages; of a translation from which into which, the condition's language being one of them.
    pub pair: Option<[Arc<str>; 2]>,
}

impl Quantity {
    /// A measure in a condition.
    pub fn in_condition(measure: Measure, condition: &Condition) -> Quantity {
        Quantity { measure, condition: Some(condition.clone()), pair: None }
    }

    /// A measure in the condition of a claim, which may be the direction of a translation: `A>B_masked`.
    pub(crate) fn in_condition_or_direction(measure: Measure, condition: &Condition) -> Quantity {
        let (task, metric) = measure.columns();
        let direction = condition.language.contains('>').then(|| condition.to_string());
        let translated = direction.and_then(|direction| Quantity::from_columns(&direction, task, &metric).ok());
        translated.unwrap_or_else(|| Quantity::in_condition(measure, condition))
    }

    /// A measure of two languages of several: of the first with the second. For measures that a run has once; curves have
    /// no column for the pair.
    pub fn between(measure: Measure, one: &str, other: &str) -> Quantity {
        Quantity { measure, condition: None, pair: Some([one, other].map(Arc::from)) }
    }

    /// A measure of translations; the condition is that of the language translated into, or of the one translated from where
    /// that one withholds something.
    pub fn translated(measure: Measure, from: &str, to: &str, condition: &Condition) -> Quantity {
        Quantity { measure, condition: Some(condition.clone()), pair: Some([from, to].map(Arc::from)) }
    }

    /// A measure over all conditions.
    pub fn overall(measure: Measure) -> Quantity {
        Quantity { measure, condition: None, pair: None }
    }

    /// From the three columns that name a curve.
    pub(crate) fn from_columns(condition: &str, task: &str, metric: &str) -> Result<Quantity, UnknownName> {
        format!("{task}.{condition}.{metric}").parse()
    }

    /// The three columns that name a curve.
    pub(crate) fn columns(&self) -> (String, &'static str, String) {
        let (task, metric) = self.measure.columns();
        let condition = match (&self.condition, &self.pair) {
            (None, _) => ALL.to_owned(),
            (Some(condition), None) => condition.to_string(),
            (Some(condition), Some([from, to])) if condition.masked && condition.language == *from => {
                format!("{condition}>{to}")
            }
            (Some(condition), Some([from, _])) => format!("{from}>{condition}"),
        };
        (condition, task, metric)
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        if self.measure.is_curve() {
            let (condition, task, metric) = self.columns();
            return write!(out, "{task}.{condition}.{metric}");
        }
        match (&self.condition, &self.pair) {
            (None, None) => self.measure.fmt(out),
            (Some(condition), _) => write!(out, "{}.{condition}", self.measure),
            (None, Some([one, other])) => write!(out, "{}.{one}-{other}", self.measure),
        }
    }
}

impl FromStr for Quantity {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Quantity, UnknownName> {
        let once = |measure: Measure| !measure.is_curve();
        if let Some(measure) = name.parse().ok().filter(|&measure| once(measure)) {
            return Ok(Quantity::overall(measure));
        }
        let unknown = || UnknownName(name.to_owned());
        let (before, condition) = name.rsplit_once('.').ok_or_else(unknown)?;
        if let Some(measure) = before.parse().ok().filter(|&m| once(m)) {
            return Ok(match condition.split_once('-') {
                Some((one, other)) if !one.is_empty() && !other.is_empty() => Quantity::between(measure, one, other),
                Some(_) => return Err(unknown()),
                None => Quantity::in_condition(measure, &condition.parse()?),
            });
        }
        let (task, rest) = name.split_once('.').ok_or_else(unknown)?;
        let (condition, metric) = rest.split_once('.').ok_or_else(unknown)?;
        let measure = format!("{task}.{metric}").parse().map_err(|_| unknown())?;
        if let Some((from, to)) = condition.split_once('>') {
            let [from, to]: [Condition; 2] = [from.parse()?, to.parse()?];
            let condition = match (from.masked, to.masked) {
                (true, true) => return Err(unknown()),
                (true, false) => &from,
                (false, _) => &to,
            };
            return Ok(Quantity::translated(measure, &from.language, &to.language, condition));
        }
        let condition = if condition == ALL { None } else { Some(condition.parse()?) };
        Ok(Quantity { measure, condition, pair: None })
    }
}
