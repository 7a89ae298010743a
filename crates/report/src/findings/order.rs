//! Does one stage come before another? The share of runs in which it does, a tie counting half.

use super::stages::{Emerged, Stage, THRESHOLD};
use crate::data::{Run, Study};
use crate::stats::{Estimate, Interval};

/// A stage in a condition, as `("B_masked", Stage::Types)`.
pub type Place = (&'static str, Stage);

/// 1 where the first came before the second, 0 where after, 0.5 at the same evaluation; `None` where neither came.
fn before(study: &Study, run: &Run, first: Place, second: Place) -> Option<f64> {
    let when = |place: Place| place.1.emerged(study, run, place.0, THRESHOLD);
    match (when(first)?, when(second)?) {
        (Emerged::Never, Emerged::Never) => None,
        (Emerged::At(_), Emerged::Never) => Some(1.0),
        (Emerged::Never, Emerged::At(_)) => Some(0.0),
        (Emerged::At(a), Emerged::At(b)) if a == b => Some(0.5),
        (Emerged::At(a), Emerged::At(b)) => Some(f64::from(u8::from(a < b))),
    }
}

pub fn share_before(study: &Study, first: Place, second: Place) -> Option<Estimate> {
    let mut share = study.mean(study.ended(&[]), |run| before(study, run, first, second))?;
    share.interval = share.interval.map(|it| Interval { low: it.low.max(0.0), high: it.high.min(1.0) });
    Some(share)
}

pub fn label(place: Place) -> String {
    let condition = if place.0 == "B_masked" { "B†" } else { place.0 };
    format!("{} in {condition}", place.1.label())
}
