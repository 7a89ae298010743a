//! A measure in a condition: what one curve, or one column of a table of runs, holds.

use crate::{Condition, Measure, UnknownName};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The `condition` column of what is measured over all conditions, such as the loss of the training mixture.
pub(crate) const ALL: &str = "all";

/// A measure, in a condition or over all of them. As a column `T1.B_masked.grammaticality`, `loss.all.loss`,
/// `fertility.A`, `overlap`, and of several languages `overlap.A-C`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quantity {
    /// What is measured.
    pub measure: Measure,
    /// In which condition; `None` over all of them.
    pub condition: Option<Condition>,
    /// Or between which two languages.
    pub pair: Option<[Arc<str>; 2]>,
}

impl Quantity {
    /// A measure in a condition.
    pub fn of(measure: Measure, condition: &Condition) -> Quantity {
        Quantity { measure, condition: Some(condition.clone()), pair: None }
    }

    /// A measure of two languages of several: of the first with the second.
    pub fn between(measure: Measure, one: &str, other: &str) -> Quantity {
        Quantity { measure, condition: None, pair: Some([one, other].map(Arc::from)) }
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
        (self.condition.as_ref().map_or_else(|| ALL.to_owned(), Condition::to_string), task, metric)
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
                None => Quantity::of(measure, &condition.parse()?),
            });
        }
        let (task, rest) = name.split_once('.').ok_or_else(unknown)?;
        let (condition, metric) = rest.split_once('.').ok_or_else(unknown)?;
        let condition = if condition == ALL { None } else { Some(condition.parse()?) };
        Ok(Quantity { measure: format!("{task}.{metric}").parse().map_err(|_| unknown())?, condition, pair: None })
    }
}
