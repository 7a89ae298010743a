//! What masked transfer is taken as: the outcomes that figures choose from. Where several languages have masked words, the
//! mean over them.

use crate::claims::measure_noun;
use crate::data::{Run, Study};
use crate::wording::listed;
use invitro_results::claims::{ConditionRole, Reading, RunValue, Scope, is_saturated};
use invitro_results::{Bridge, Measure, Moment, Scorer, Similarity, Statistic, Targets, TaskMetric};
use invitro_stats::Scale;

/// The paper's bridge, and the one to a word's own cognate.
pub const BRIDGE: Measure = Measure::Bridge(Bridge::General, Similarity::Jaccard);
pub const COGNATE: Measure = Measure::Bridge(Bridge::Cognate, Similarity::Jaccard);

/// A measure of masked transfer at a moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transfer {
    pub label: &'static str,
    measure: Measure,
    moment: Moment,
}

const ANY: Measure = Measure::reach(Scorer::Network, Targets::Allowed, Statistic::Any);
const SHARE: Measure = Measure::reach(Scorer::Network, Targets::Allowed, Statistic::Share);
const GRAMMAR: Measure = Measure::unscrambling(TaskMetric::Grammaticality);

/// The contrast of facts in nats, at the end: the largest of many noisy differences is above 0 even where nothing crossed.
pub const KNOWLEDGE: Transfer =
    Transfer { label: "contrast of facts, nats", measure: Measure::KNOWLEDGE, moment: Moment::End };

/// Both readings of reachability and grammar at the peak and at the end, what was lost in between, and knowledge.
pub const TRANSFERS: [Transfer; 9] = [
    Transfer { label: "any target, peak (the paper's)", measure: ANY, moment: Moment::Peak },
    Transfer { label: "any target, end", measure: ANY, moment: Moment::End },
    Transfer { label: "share of targets, peak", measure: SHARE, moment: Moment::Peak },
    Transfer { label: "share of targets, end", measure: SHARE, moment: Moment::End },
    Transfer { label: "share of targets, own decline", measure: SHARE, moment: Moment::OwnDecline },
    Transfer { label: "grammatical, peak", measure: GRAMMAR, moment: Moment::Peak },
    Transfer { label: "grammatical, end", measure: GRAMMAR, moment: Moment::End },
    Transfer { label: "grammatical, own decline", measure: GRAMMAR, moment: Moment::OwnDecline },
    KNOWLEDGE,
];

impl Transfer {
    fn run_value(self) -> RunValue {
        let first = Reading { measures: vec![self.measure], place: ConditionRole::Masked, moment: self.moment };
        RunValue { first, second: None, is_ratio: false }
    }

    /// As an axis or a sentence has it.
    pub fn name(self, study: &Study) -> String {
        let (what, masked) = (measure_noun(self.measure), in_masked(study));
        match self.moment {
            _ if self == KNOWLEDGE => format!("{what}{masked}, in nats"),
            Moment::Peak => format!("peak {what}{masked}"),
            Moment::OwnDecline => format!("own decline of the {what}{masked}"),
            _ => format!("{what}{masked} at the end"),
        }
    }

    pub fn scale(self, study: &Study) -> Scale {
        Scope::new(study).scale(&self.run_value())
    }

    pub fn values<'a>(self, study: &'a Study, runs: &[&'a Run]) -> Vec<(&'a Run, f64)> {
        Scope::new(study).values(runs, &self.run_value()).unwrap_or_default()
    }

    pub fn value(self, study: &Study, run: &Run) -> Option<f64> {
        Scope::new(study).read(&[run], &self.run_value().first).ok()?.remove(0)
    }

    /// Whether it hardly varies between runs because nearly all are at the top or at the bottom.
    pub fn is_saturated(self, study: &Study) -> bool {
        let runs: Vec<&Run> = study.ended(study.baseline()).collect();
        let values: Vec<f64> = self.values(study, &runs).into_iter().map(|(_, value)| value).collect();
        self != KNOWLEDGE && is_saturated(&values)
    }
}

/// The mean bridge of a run.
pub fn bridge_of(study: &Study, run: &Run, bridge: Measure) -> Option<f64> {
    let reading = Reading { measures: vec![bridge], place: ConditionRole::Masked, moment: Moment::End };
    Scope::new(study).read(&[run], &reading).ok()?.remove(0)
}

/// ` in B†`; nothing where no language has masked words.
pub fn in_masked(study: &Study) -> String {
    let labels: Vec<String> = study.masked().map(|masked| masked.label()).collect();
    if labels.is_empty() { String::new() } else { format!(" in {}", listed(&labels)) }
}
