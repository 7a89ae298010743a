//! The outcomes: what is taken as masked transfer in one run.

use crate::data::{Run, Study};
use crate::stats::{deviation, mean};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The paper's: the peak share of subjects with any reachable masked target.
    Any,
    /// The peak share of masked targets reachable.
    Share,
    /// The contrast at the end: share reachable of what Γ allows the subject minus what it forbids.
    Facts,
    /// The same in log-probability, which no bound cuts off.
    Nats,
}

impl Outcome {
    pub const ALL: [Outcome; 4] = [Outcome::Any, Outcome::Share, Outcome::Facts, Outcome::Nats];

    pub fn label(self) -> &'static str {
        match self {
            Outcome::Any => "any target (the paper's)",
            Outcome::Share => "share of targets",
            Outcome::Facts => "contrast of facts",
            Outcome::Nats => "contrast of facts, nats",
        }
    }

    /// As it stands in a sentence or on an axis.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Any => "peak Top-*K* reachability in B†",
            Outcome::Share => "peak share of targets reachable in B†",
            Outcome::Facts => "contrast of facts in B†",
            Outcome::Nats => "contrast of facts in B†, in nats",
        }
    }

    pub fn value(self, study: &Study, run: &Run) -> Option<f64> {
        let key = |metric: &str| study.key("B_masked", "reach", metric);
        match self {
            Outcome::Any => run.peak(key("network.allowed.any@0.1")),
            Outcome::Share => run.peak(key("network.allowed.share@0.1")),
            // The end, not the peak: the largest of many noisy differences is above 0 even where nothing crossed.
            Outcome::Facts => run.last(key("network.facts.share@0.1")),
            Outcome::Nats => run.last(key("network.facts.logprob")),
        }
    }

    /// Whether it hardly varies between runs because nearly all are at the top or at the bottom.
    pub fn saturated(self, study: &Study) -> bool {
        if matches!(self, Outcome::Facts | Outcome::Nats) {
            return false;
        }
        let values: Vec<f64> = study.ended(&[]).filter_map(|run| self.value(study, run)).collect();
        let extreme = values.iter().filter(|value| **value >= 0.99 || **value <= 0.01).count();
        values.len() > 1
            && (extreme as f64 > 0.9 * values.len() as f64 || deviation(&values) < 0.005 * mean(&values).max(0.1))
    }
}

/// The first outcome of the paper's kind that varies enough to answer.
pub fn telling(study: &Study) -> Outcome {
    if Outcome::Any.saturated(study) { Outcome::Share } else { Outcome::Any }
}
