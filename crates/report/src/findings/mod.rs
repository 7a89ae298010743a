//! What the runs say: regressions, correlations, the four hypotheses and the paper's claims, each by a stated rule.
//!
//! Measures of masked transfer are tested side by side ([`Transfer`]): the paper's (share of subjects with any reachable
//! masked target), the share of targets reachable and of sentences that are grammatical, at the peak and at the end, and
//! the contrast that needs knowledge (allowed minus forbidden by Γ), in nats. A measure that hardly varies, because every
//! subject reaches some target, cannot answer anything, and is said to be saturated.

pub mod arms;
pub mod by_word;
pub mod claims;
pub mod contrasts;
pub mod correlations;
pub mod crossings;
pub mod design;
pub mod forms;
mod headline;
pub mod hypotheses;
pub mod knowledge;
pub mod order;
pub mod specifications;
pub mod stages;
pub mod transfer;

pub use arms::Comparison;
pub use by_word::ByWord;
pub use claims::Claim;
pub use correlations::Correlated;
pub use headline::headline;
pub use hypotheses::{Hypothesis, Test};
pub use knowledge::Knowledge;
pub use transfer::Transfer;

use crate::data::Study;
use invitro_stats::regression::Regression;

/// The regression of one measure of transfer on the factors, without and with the bridge.
pub struct Regressed {
    pub transfer: Transfer,
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
    pub comparisons: Vec<Comparison>,
    pub by_word: Vec<ByWord>,
}

impl Findings {
    pub fn of(study: &Study) -> Self {
        let regressed = |transfer: Transfer| Regressed {
            transfer,
            saturated: transfer.saturated(study),
            factors: design::Design::of_transfer(study, transfer, false).regression(),
            with_bridge: design::Design::of_transfer(study, transfer, true).regression(),
        };
        let correlations = correlations::all(study);
        Self {
            regressions: Transfer::ALL.into_iter().map(regressed).collect(),
            hypotheses: hypotheses::all(study),
            claims: claims::all(study, &correlations),
            knowledge: knowledge::of(study),
            comparisons: arms::all(study),
            by_word: by_word::all(study),
            correlations,
        }
    }
}
