//! When results are looked at, and the estimates that are valid then.

use super::claim::Claim;
use super::estimate::Estimated;
use super::verdict::{LEVEL, Verdict};
use invitro_stats::{Estimate, Interval, sequential};

/// No study that is looked at once is planned with more data seeds.
pub const MOST: usize = 1000;

/// When results are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looks {
    /// Once, when all runs have ended.
    Once,
    /// After each data seed, with intervals that are valid at every look.
    AfterEachSeed,
}

impl Looks {
    /// The level of an interval over so many data seeds; `None` where there is no such look.
    pub fn level(self, alpha: f64, data_seeds: usize) -> Option<f64> {
        match self {
            Looks::Once => (data_seeds >= 2).then_some(alpha),
            Looks::AfterEachSeed => sequential::level(alpha, data_seeds),
        }
    }

    /// The most data seeds that there can be.
    pub fn most(self) -> usize {
        match self {
            Looks::Once => MOST,
            Looks::AfterEachSeed => *sequential::LOOKS.end(),
        }
    }

    /// The estimate with its spread over data seeds alone, and the level of its interval at this look.
    fn at_look(self, estimated: &Estimated, alpha: f64) -> Option<(Estimate, f64)> {
        let estimate = sequential::over_data_seeds(estimated.estimate.as_ref()?)?;
        Some((estimate, self.level(alpha, estimate.data_seeds)?))
    }

    /// The interval over data seeds alone that is valid at this look.
    pub fn interval(self, estimated: &Estimated, alpha: f64) -> Option<Interval> {
        let (estimate, level) = self.at_look(estimated, alpha)?;
        estimate.interval_at(level)
    }

    /// What an estimate says of a claim at this look, over data seeds alone.
    pub fn verdict(self, claim: &Claim, estimated: &Estimated, alpha: f64) -> Verdict {
        match self.at_look(estimated, alpha) {
            Some((estimate, level)) => {
                claim.verdict(&Estimated { estimate: Some(estimate), ..estimated.clone() }, level)
            }
            // Without an interval nothing is decided.
            None => match claim.verdict(estimated, alpha) {
                reason @ Verdict::NotTested(_) => reason,
                _ => Verdict::Inconclusive,
            },
        }
    }

    /// The estimate as it is shown: with the 95 % interval that is valid at this look.
    pub fn shown(self, estimated: Estimated) -> Estimated {
        let interval = self.interval(&estimated, LEVEL);
        let over_data_seeds = |own: Estimate| sequential::over_data_seeds(&own).unwrap_or(own);
        let estimate = estimated.estimate.map(|own| Estimate { interval, of_two: None, ..over_data_seeds(own) });
        Estimated { estimate, ..estimated }
    }
}
