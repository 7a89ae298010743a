//! The stages of learning in one run, and when each emerged.
//!
//! A stage emerges at the first evaluated step at which its metric exceeds a threshold (the paper's is 0.02).
//! Reachability counts only from where the network passes the unigram model, which reaches targets by itself; the
//! contrast from where its own interval over pairs of subjects lies above 0 and stays there.

use crate::data::{Point, Run, Study};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Validity,
    Grammaticality,
    Types,
    Facts,
    /// Share of targets reachable, above the unigram model's.
    Reachable,
    /// Allowed above forbidden: knowledge.
    Contrast,
}

/// When a stage emerged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emerged {
    At(u32),
    /// Measured to the end, never seen.
    Never,
}

/// The paper's threshold.
pub const THRESHOLD: f64 = 0.02;

impl Stage {
    pub const ALL: [Stage; 6] =
        [Stage::Validity, Stage::Grammaticality, Stage::Types, Stage::Facts, Stage::Reachable, Stage::Contrast];

    pub fn label(self) -> &'static str {
        match self {
            Stage::Validity => "validity",
            Stage::Grammaticality => "grammaticality",
            Stage::Types => "type constraints",
            Stage::Facts => "Γ",
            Stage::Reachable => "reachable, above unigram",
            Stage::Contrast => "allowed above forbidden",
        }
    }

    /// `None` where the run has no such metric.
    pub fn emerged(self, study: &Study, run: &Run, condition: &str, threshold: f64) -> Option<Emerged> {
        let task = |metric: &str| study.key(condition, "T1", metric);
        let reach = |metric: &str| study.key(condition, "reach", metric);
        let (key, threshold) = match self {
            Stage::Validity => (task("validity"), threshold),
            Stage::Grammaticality => (task("grammaticality"), threshold),
            Stage::Types => (task("types"), threshold),
            Stage::Facts => (task("facts"), threshold),
            Stage::Reachable => {
                let null = run.last(reach("unigram.allowed.share@0.1"))?;
                (reach("network.allowed.share@0.1"), null + threshold)
            }
            Stage::Contrast => {
                let curve = run.curve(reach("network.facts.share@0.1"));
                // To stay: of many looks, some are above by chance.
                let clear = |point: &&Point| point.low > 0.0 || (point.low.is_nan() && point.value > threshold);
                let first = curve.iter().rev().take_while(clear).last();
                let some = !curve.is_empty();
                return some.then(|| first.map_or(Emerged::Never, |point| Emerged::At(point.step)));
            }
        };
        let measured = !run.curve(key).is_empty();
        measured.then(|| run.emergence(key, threshold).map_or(Emerged::Never, Emerged::At))
    }
}
