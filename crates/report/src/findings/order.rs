//! Does one stage come before another? The share of runs in which it does, a tie counting half.

use super::stages::Stage;
use crate::data::{Run, Study};
use crate::stats::{Estimate, Interval};
use invitro_results::{Condition, Emergence};

/// A stage in a condition.
pub type Milestone = (Condition, Stage);

/// 1 where the first came before the second, 0 where after, 0.5 at the same evaluation; `None` where neither came.
fn before(run: &Run, first: &Milestone, second: &Milestone) -> Option<f64> {
    let when = |place: &Milestone| place.1.emergence(run, &place.0, run.emergence_threshold());
    match (when(first)?, when(second)?) {
        (Emergence::Never, Emergence::Never) => None,
        (Emergence::At(_), Emergence::Never) => Some(1.0),
        (Emergence::Never, Emergence::At(_)) => Some(0.0),
        (Emergence::At(a), Emergence::At(b)) if a == b => Some(0.5),
        (Emergence::At(a), Emergence::At(b)) => Some(f64::from(u8::from(a < b))),
    }
}

pub fn share_before(study: &Study, first: &Milestone, second: &Milestone) -> Option<Estimate> {
    let mut share = study.mean(study.ended(&[]), |run| before(run, first, second))?;
    share.interval = share.interval.map(|it| Interval { low: it.low.max(0.0), high: it.high.min(1.0) });
    Some(share)
}

/// `type constraints in B before reachable, above unigram in B†`
pub fn label(first: &Milestone, second: &Milestone) -> String {
    let name = |place: &Milestone| format!("{} in {}", place.1.label(), place.0.label());
    format!("{} before {}", name(first), name(second))
}
