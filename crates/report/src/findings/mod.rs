//! What the runs say: regressions, correlations, the four hypotheses and the paper's claims, each by a stated rule.
//!
//! Three outcomes are tested side by side: the paper's (share of subjects with any reachable masked target), the share
//! of targets reachable, and the contrast that needs knowledge (allowed minus forbidden by Γ). An outcome that hardly
//! varies, because every subject reaches some target, cannot answer anything, and is said to be saturated.

pub mod claims;
pub mod correlations;
pub mod hypotheses;
pub mod knowledge;
pub mod order;
pub mod outcome;
pub mod sample;
pub mod stages;
pub mod verdict;

pub use claims::Claim;
pub use correlations::Correlated;
pub use hypotheses::{Hypothesis, Test};
pub use knowledge::Knowledge;
pub use outcome::Outcome;
pub use verdict::Verdict;

use crate::data::Study;
use crate::stats::regression::Regression;

/// The regression of one outcome on the factors, without and with the bridge.
pub struct Regressed {
    pub outcome: Outcome,
    pub saturated: bool,
    pub factors: Option<Regression>,
    pub with_bridge: Option<Regression>,
}

pub struct Findings {
    pub regressions: Vec<Regressed>,
    pub correlations: Vec<Correlated>,
    pub hypotheses: Vec<Hypothesis>,
    pub claims: Vec<Claim>,
    pub knowledge: Knowledge,
}

impl Findings {
    pub fn of(study: &Study) -> Self {
        let regressed = |outcome: Outcome| Regressed {
            outcome,
            saturated: outcome.saturated(study),
            factors: sample::Sample::of_outcome(study, outcome, false).regression(),
            with_bridge: sample::Sample::of_outcome(study, outcome, true).regression(),
        };
        let correlations = correlations::all(study);
        Self {
            regressions: Outcome::ALL.into_iter().map(regressed).collect(),
            hypotheses: hypotheses::all(study),
            claims: claims::all(study, &correlations),
            knowledge: knowledge::of(study),
            correlations,
        }
    }
}
