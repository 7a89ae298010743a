//! What is taken as masked transfer in one run. Where several languages have masked words, the mean over them.

use crate::data::{Run, Study};
use crate::stats::{deviation, mean};
use crate::wording::listed;
use invitro_results::{Condition, Measure, Quantity, Scorer, Statistic, Targets};

/// A measure of masked transfer: the outcome of the regressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transfer {
    /// The paper's: the peak share of subjects with any reachable masked target.
    Any,
    /// The peak share of masked targets reachable.
    Share,
    /// The contrast at the end: share reachable of what Γ allows the subject minus what it forbids.
    Facts,
    /// The same in log-probability, which no bound cuts off.
    Nats,
}

impl Transfer {
    pub const ALL: [Transfer; 4] = [Transfer::Any, Transfer::Share, Transfer::Facts, Transfer::Nats];

    pub fn label(self) -> &'static str {
        match self {
            Transfer::Any => "any target (the paper's)",
            Transfer::Share => "share of targets",
            Transfer::Facts => "contrast of facts",
            Transfer::Nats => "contrast of facts, nats",
        }
    }

    /// As it stands in a sentence or on an axis.
    pub fn name(self, study: &Study) -> String {
        let masked = in_masked(study);
        match self {
            Transfer::Any => format!("peak Top-*K* reachability{masked}"),
            Transfer::Share => format!("peak share of targets reachable{masked}"),
            Transfer::Facts => format!("contrast of facts{masked}"),
            Transfer::Nats => format!("contrast of facts{masked}, in nats"),
        }
    }

    pub fn value(self, study: &Study, run: &Run) -> Option<f64> {
        let curve = |targets, statistic, condition: &Condition| {
            run.curve(&Quantity::of(Measure::reach(Scorer::Network, targets, statistic), condition))
        };
        let of = |condition: &Condition| match self {
            Transfer::Any => curve(Targets::Allowed, Statistic::Any, condition).peak().map(|point| point.value),
            Transfer::Share => curve(Targets::Allowed, Statistic::Share, condition).peak().map(|point| point.value),
            // The end, not the peak: the largest of many noisy differences is above 0 even where nothing crossed.
            Transfer::Facts => curve(Targets::Facts, Statistic::Share, condition).end(),
            Transfer::Nats => run.curve(&Quantity::of(Measure::KNOWLEDGE, condition)).end(),
        };
        let values: Vec<f64> = study.masked().filter_map(of).collect();
        (!values.is_empty()).then(|| mean(&values))
    }

    /// Whether it hardly varies between runs because nearly all are at the top or at the bottom.
    pub fn saturated(self, study: &Study) -> bool {
        if matches!(self, Transfer::Facts | Transfer::Nats) {
            return false;
        }
        let values: Vec<f64> = study.ended(&[]).filter_map(|run| self.value(study, run)).collect();
        let extreme = values.iter().filter(|value| **value >= 0.99 || **value <= 0.01).count();
        values.len() > 1
            && (extreme as f64 > 0.9 * values.len() as f64 || deviation(&values) < 0.005 * mean(&values).max(0.1))
    }
}

/// ` in B†`; nothing where no language has masked words.
pub fn in_masked(study: &Study) -> String {
    let labels: Vec<String> = study.masked().map(Condition::label).collect();
    if labels.is_empty() { String::new() } else { format!(" in {}", listed(&labels)) }
}

/// The first measure of the paper's kind that varies enough to answer.
pub fn telling(study: &Study) -> Transfer {
    if Transfer::Any.saturated(study) { Transfer::Share } else { Transfer::Any }
}
