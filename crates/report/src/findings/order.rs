//! Does one stage come before another? The share of runs in which it does, of those in which one is strictly before the
//! other; runs that show both at the same evaluation say nothing, and are counted beside.

use super::stages::{Crossed, Stage};
use crate::data::Run;
use crate::wording::counted;
use invitro_results::{Condition, Emergence};
use invitro_stats::{Estimate, Seed, seeds};
use std::cmp::Ordering;

/// A stage in a condition.
pub type Milestone = (Condition, Stage);

/// Which of two milestones a run came to first; `None` where it came to neither.
fn compare(run: &Run, crossing: Crossed, first: &Milestone, second: &Milestone) -> Option<Ordering> {
    let when = |place: &Milestone| place.1.crossing(run, &place.0, run.emergence_threshold(), crossing);
    match (when(first)?, when(second)?) {
        (Emergence::Never, Emergence::Never) => None,
        (Emergence::At(_), Emergence::Never) => Some(Ordering::Less),
        (Emergence::Never, Emergence::At(_)) => Some(Ordering::Greater),
        (Emergence::At(a), Emergence::At(b)) => Some(a.cmp(&b)),
    }
}

/// Whether one milestone comes before another.
pub struct Order {
    /// The share of runs in which it does, of those in which one is strictly before the other.
    pub share: Option<Estimate>,
    /// Runs that came to both at the same evaluation.
    pub ties: usize,
}

impl Order {
    pub fn of<'a>(
        runs: impl Iterator<Item = &'a Run>,
        crossing: Crossed,
        first: &Milestone,
        second: &Milestone,
    ) -> Order {
        let order = |run: &Run| Some((run.seed, compare(run, crossing, first, second)?));
        let found: Vec<(Seed, Ordering)> = runs.filter_map(order).collect();
        let strictly = found.iter().filter(|(_, order)| *order != Ordering::Equal);
        Order {
            share: seeds::proportion(strictly.map(|(seed, order)| (*seed, *order == Ordering::Less))),
            ties: found.iter().filter(|(_, order)| *order == Ordering::Equal).count(),
        }
    }

    /// What is to be known beside the share.
    pub fn note(&self) -> String {
        match (self.share.is_some(), self.ties) {
            (true, 0) => String::new(),
            (true, ties) => format!("and {} with both at the same evaluation", counted(ties, "run")),
            (false, 0) => "no run that ended shows either stage".into(),
            (false, ties) => format!("{} with both at the same evaluation, none with an order", counted(ties, "run")),
        }
    }
}

/// `type constraints in B before reachable, above unigram in B†`
pub fn label(first: &Milestone, second: &Milestone) -> String {
    let name = |place: &Milestone| format!("{} in {}", place.1.label(), place.0.label());
    format!("{} before {}", name(first), name(second))
}
