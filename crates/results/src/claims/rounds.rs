//! Studies that plan themselves: after each complete data seed, whether their primary claims need another one.

use super::looks::Looks;
use super::planning::{Question, SeedNeeds, seed_needs};
use super::verdict::{Reason, Verdict};
use crate::{Plan, Study, column};
use invitro_stats::sequential::LOOKS;
use std::collections::BTreeMap;

/// The primary claims of a study that is under way, by its complete data seeds.
#[derive(Debug, Clone)]
pub struct Look {
    /// The data seeds all of whose runs are done.
    pub complete: Vec<u64>,
    /// The data seeds that its plan has.
    pub planned: usize,
    /// The primary claims.
    pub needs: Vec<SeedNeeds>,
}

/// What follows from a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextStep {
    /// A data seed has runs that are not done.
    Wait,
    /// A claim is not settled: another data seed is needed.
    Continue,
    /// Every primary claim is settled.
    Settled,
    /// It has all the data seeds that it may take, and a claim is not settled.
    MostSeeds,
}

impl Look {
    /// `None` where the study has no primary claims, or no data seed is complete.
    pub fn at(study: &Study) -> Option<Look> {
        let plan = study.plan.as_ref()?;
        let claims = plan.primary_claims()?;
        let (complete, planned) = (complete_seeds(study), plan.data_seeds.len());
        if complete.is_empty() {
            return None;
        }
        let only = runs_of(study, &complete);
        let question = Question { planned, half_width: None, looks: Looks::AfterEachSeed, only: Some(&only) };
        Some(Look { complete, planned, needs: seed_needs(study, &claims, &question) })
    }

    /// Whether a study that plans itself needs another data seed.
    pub fn decide(&self, plan: &Plan) -> NextStep {
        let Some(until) = &plan.until else { return NextStep::Wait };
        if self.complete.len() < self.planned {
            NextStep::Wait
        } else if self.planned >= *LOOKS.start() && self.needs.iter().all(|needs| needs.is_settled(until.half_width)) {
            NextStep::Settled
        } else if self.planned < until.seeds.len() {
            NextStep::Continue
        } else {
            NextStep::MostSeeds
        }
    }
}

impl SeedNeeds {
    /// Whether more data seeds would not change what is asked: the claim is decided, by itself or by another part of it, or
    /// cannot be tested, or its interval is as narrow as this half of a width.
    pub fn is_settled(&self, half_width: Option<f64>) -> bool {
        let is_narrow = half_width.zip(self.interval).is_some_and(|(wanted, own)| own.half_width() <= wanted);
        is_narrow
            || self.of_whole.is_decided()
            || match &self.verdict {
                Verdict::NotTested(Reason::TooFewSeeds(_)) => false,
                // Of such a claim the width of the interval is all that was asked.
                Verdict::NotTested(Reason::NoExpectation) => half_width.is_none(),
                Verdict::NotTested(_) => true,
                verdict => verdict.is_decided(),
            }
    }
}

/// The data seeds of a study's plan all of whose runs are done, in the plan's order.
pub fn complete_seeds(study: &Study) -> Vec<u64> {
    let Some(plan) = &study.plan else { return Vec::new() };
    let mut left: BTreeMap<u64, usize> = BTreeMap::new();
    for seed in plan.map_cells(|_| (), |cell| Ok(cell.data_seed)).unwrap_or_default() {
        *left.entry(seed).or_default() += 1;
    }
    for run in study.runs.iter().filter(|run| run.done()) {
        let seed = run.number(column::DATA_SEED).map(|seed| seed as u64);
        if let Some(left) = seed.and_then(|seed| left.get_mut(&seed)) {
            *left = left.saturating_sub(1);
        }
    }
    plan.data_seeds.iter().copied().filter(|seed| left.get(seed) == Some(&0)).collect()
}

/// The runs of some data seeds, by their places.
pub fn runs_of(study: &Study, data_seeds: &[u64]) -> Vec<usize> {
    let is_in = |place: &usize| {
        let seed = study.runs[*place].number(column::DATA_SEED);
        data_seeds.iter().any(|own| seed == Some(*own as f64))
    };
    (0..study.runs.len()).filter(is_in).collect()
}
