//! An estimate made of others: what a method predicts of a change, such as a slope over runs times the change of its predictor
//! between two arms, and by how much that misses the change itself.
//!
//! Its interval is over data seeds: all parts are estimated again without each data seed in turn, so that errors which they share
//! count once.

use super::estimand::Combined;
use super::estimate::{Detail, Estimated};
use super::scope::Scope;
use invitro_stats::seeds;
use std::collections::BTreeSet;

impl Scope<'_> {
    /// The product, less what is taken off.
    pub(super) fn combined(&self, combined: &Combined) -> Estimated {
        let parts: Vec<Estimated> = combined.parts().map(|part| self.estimate(part)).collect();
        let reason = parts.iter().find_map(|part| part.reason.clone());
        let estimate = value(combined, &parts).map(|value| {
            let all = &self.study.runs;
            let is_used = |place: &usize| {
                combined.parts().any(|part| self.runs(part).iter().any(|run| std::ptr::eq(*run, &all[*place])))
            };
            let places: Vec<usize> = (0..all.len()).filter(is_used).collect();
            let data_seeds: BTreeSet<usize> = places.iter().map(|place| all[*place].seed.data).collect();
            let without = |data: &usize| {
                let only: Vec<usize> = places.iter().copied().filter(|place| all[*place].seed.data != *data).collect();
                let scope = Scope { only: Some(&only), ..*self };
                let parts: Vec<Estimated> = combined.parts().map(|part| scope.estimate(part)).collect();
                self::value(combined, &parts)
            };
            let without: Vec<Option<f64>> = data_seeds.iter().map(without).collect();
            let runs = parts.iter().filter_map(|part| part.estimate.map(|estimate| estimate.runs)).max();
            seeds::jackknife(value, &without, runs.unwrap_or(0))
        });
        Estimated { estimate, reason, measure: None, detail: Detail::default() }
    }
}

/// `None` where a part has no estimate.
fn value(combined: &Combined, parts: &[Estimated]) -> Option<f64> {
    let mut values = parts.iter().map(|part| part.estimate.map(|estimate| estimate.value));
    let mut value = values.next()??;
    if combined.times.is_some() {
        value *= values.next()??;
    }
    if combined.less.is_some() {
        value -= values.next()??;
    }
    Some(value)
}
