//! The stages of learning in one run, and when each emerged.
//!
//! A stage emerges at the first evaluated step at which its metric exceeds a threshold (the paper's is 0.02; an
//! experiment may set its own). Reachability counts only from where the network passes the unigram model, which reaches
//! targets by itself; the contrast, in nats, from where its own interval over pairs of subjects lies above 0 and stays there.

use crate::data::Run;
use invitro_results::{Condition, Curve, Emergence, Measure, Quantity, Scorer, Statistic, Targets, TaskMetric};

/// Which crossing of its threshold a stage is dated by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crossed {
    /// The first: the paper's.
    First,
    /// The one after which it stays above.
    Lasting,
}

impl Crossed {
    pub const ALL: [Crossed; 2] = [Crossed::First, Crossed::Lasting];

    pub fn label(self) -> &'static str {
        match self {
            Crossed::First => "first crossing",
            Crossed::Lasting => "lasting crossing",
        }
    }
}

/// What emerges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// A share of T1's answers.
    Sentences(TaskMetric),
    /// Share of targets reachable, above the unigram model's.
    Reachable,
    /// Allowed above forbidden: knowledge.
    Contrast,
}

impl Stage {
    pub const ALL: [Stage; 6] = [
        Stage::Sentences(TaskMetric::Validity),
        Stage::GRAMMAR,
        Stage::TYPES,
        Stage::Sentences(TaskMetric::Facts),
        Stage::Reachable,
        Stage::Contrast,
    ];
    pub const GRAMMAR: Stage = Stage::Sentences(TaskMetric::Grammaticality);
    pub const TYPES: Stage = Stage::Sentences(TaskMetric::Types);

    pub fn label(self) -> &'static str {
        match self {
            Stage::Sentences(metric) => label(metric),
            Stage::Reachable => "reachable, above unigram",
            Stage::Contrast => "allowed above forbidden",
        }
    }

    /// The paper's emergence. `None` where the run has no such metric.
    pub fn emergence(self, run: &Run, condition: &Condition, threshold: f64) -> Option<Emergence> {
        self.crossing(run, condition, threshold, Crossed::First)
    }

    /// When it crossed its threshold, for the first time or to stay. `None` where the run has no such metric.
    pub fn crossing(self, run: &Run, condition: &Condition, threshold: f64, crossed: Crossed) -> Option<Emergence> {
        let emergence = |curve: &Curve, threshold: f64| match crossed {
            Crossed::First => curve.emergence(threshold),
            Crossed::Lasting => curve.lasting_emergence(threshold),
        };
        let curve = |measure| run.curve(&Quantity::of(measure, condition));
        let share = |scorer, targets| Measure::reach(scorer, targets, Statistic::Share);
        match self {
            Stage::Sentences(metric) => emergence(curve(Measure::unscrambling(metric)), threshold),
            Stage::Reachable => {
                let null = curve(share(Scorer::Unigram, Targets::Allowed)).peak()?.value;
                emergence(curve(share(Scorer::Network, Targets::Allowed)), null + threshold)
            }
            // To stay: of many looks, some are above by chance.
            Stage::Contrast => curve(Measure::KNOWLEDGE).lasting_above_zero(threshold),
        }
    }
}

/// A metric of sentences as figures call it.
pub fn label(metric: TaskMetric) -> &'static str {
    match metric {
        TaskMetric::Types => "type constraints",
        TaskMetric::Facts => "Γ",
        TaskMetric::SameWords => "same words",
        other => other.name(),
    }
}
