//! What is taken as masked transfer in one run, and when it is read. Where several languages have masked words, the mean
//! over them.

use super::crossings::main_source;
use crate::data::{Run, Study};
use crate::wording::listed;
use invitro_results::{Condition, Measure, Moment, Quantity, Scorer, Statistic, Targets, TaskMetric, not_learned};
use invitro_stats::{Scale, deviation, mean};

/// A measure of masked transfer: the outcome of the regressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transfer {
    /// The paper's: the share of subjects with any reachable masked target.
    Any(Moment),
    /// The share of masked targets reachable.
    Share(Moment),
    /// The share of sentences of T1 with masked words that are grammatical.
    Grammar(Moment),
    /// The contrast of facts in nats, at the end: the largest of many noisy differences is above 0 even where nothing
    /// crossed.
    Nats,
}

impl Transfer {
    /// Both readings of reachability and grammar at the peak and at the end, what was lost in between, and knowledge.
    pub const ALL: [Transfer; 9] = [
        Transfer::Any(Moment::Peak),
        Transfer::Any(Moment::End),
        Transfer::Share(Moment::Peak),
        Transfer::Share(Moment::End),
        Transfer::Share(Moment::Decline),
        Transfer::Grammar(Moment::Peak),
        Transfer::Grammar(Moment::End),
        Transfer::Grammar(Moment::Decline),
        Transfer::Nats,
    ];

    /// Of the forms of unseen words: nothing about them is judged where grammar was not learned.
    pub fn is_form(self) -> bool {
        self != Transfer::Nats
    }

    pub fn label(self) -> &'static str {
        use Moment::{Decline, End, Peak};
        match self {
            Transfer::Any(Peak) => "any target, peak (the paper's)",
            Transfer::Any(End) => "any target, end",
            Transfer::Any(Decline) => "any target, own decline",
            Transfer::Share(Peak) => "share of targets, peak",
            Transfer::Share(End) => "share of targets, end",
            Transfer::Share(Decline) => "share of targets, own decline",
            Transfer::Grammar(Peak) => "grammatical, peak",
            Transfer::Grammar(End) => "grammatical, end",
            Transfer::Grammar(Decline) => "grammatical, own decline",
            Transfer::Nats => "contrast of facts, nats",
        }
    }

    /// As it stands in a sentence or on an axis.
    pub fn name(self, study: &Study) -> String {
        let masked = in_masked(study);
        let what = |moment: Moment, what: &str| match moment {
            Moment::Peak => format!("peak {what}{masked}"),
            Moment::End => format!("{what}{masked} at the end"),
            Moment::Decline => format!("own decline of the {what}{masked}"),
        };
        match self {
            Transfer::Any(moment) => what(moment, "Top-*K* reachability"),
            Transfer::Share(moment) => what(moment, "share of targets reachable"),
            Transfer::Grammar(moment) => what(moment, "share of grammatical sentences"),
            Transfer::Nats => format!("contrast of facts{masked}, in nats"),
        }
    }

    fn measure(self) -> (Measure, Moment) {
        let reach = |statistic| Measure::reach(Scorer::Network, Targets::Allowed, statistic);
        match self {
            Transfer::Any(moment) => (reach(Statistic::Any), moment),
            Transfer::Share(moment) => (reach(Statistic::Share), moment),
            Transfer::Grammar(moment) => (Measure::unscrambling(TaskMetric::Grammaticality), moment),
            Transfer::Nats => (Measure::KNOWLEDGE, Moment::End),
        }
    }

    /// The scale of its mean.
    pub fn scale(self) -> Scale {
        match self.measure() {
            (measure, Moment::Decline) if measure.scale() == Scale::Share => Scale::Signed,
            (measure, _) => measure.scale(),
        }
    }

    pub fn value(self, study: &Study, run: &Run) -> Option<f64> {
        let (measure, moment) = self.measure();
        mean_in_masked(study, run, measure, moment)
    }

    /// Whether it hardly varies between runs because nearly all are at the top or at the bottom.
    pub fn saturated(self, study: &Study) -> bool {
        if self == Transfer::Nats {
            return false;
        }
        let values: Vec<f64> = study.ended(study.plain()).filter_map(|run| self.value(study, run)).collect();
        is_saturated(&values)
    }
}

/// A measure of a run, averaged over the conditions whose words were masked.
pub fn mean_in_masked(study: &Study, run: &Run, measure: Measure, moment: Moment) -> Option<f64> {
    let of = |condition: &Condition| run.curve(&Quantity::of(measure, condition)).at(moment);
    let values: Vec<f64> = study.masked().filter_map(of).collect();
    (!values.is_empty()).then(|| mean(&values))
}

/// Whether shares hardly vary between runs because nearly all are at the top or at the bottom.
pub fn is_saturated(values: &[f64]) -> bool {
    let extreme = values.iter().filter(|value| **value >= 0.99 || **value <= 0.01).count();
    values.len() > 1
        && (extreme as f64 > 0.9 * values.len() as f64 || deviation(values) < 0.005 * mean(values).max(0.1))
}

/// ` in B†`; nothing where no language has masked words.
pub fn in_masked(study: &Study) -> String {
    let labels: Vec<String> = study.masked().map(Condition::label).collect();
    if labels.is_empty() { String::new() } else { format!(" in {}", listed(&labels)) }
}

/// The first measure of the paper's kind that varies enough to answer, at the peak and at the end: one measure, so that the
/// two can be put side by side.
pub fn telling(study: &Study, moment: Moment) -> Transfer {
    let saturated = [Moment::Peak, Moment::End].into_iter().any(|moment| Transfer::Any(moment).saturated(study));
    if saturated { Transfer::Share(moment) } else { Transfer::Any(moment) }
}

/// Why nothing may be said of the form of unseen words: grammar was not learned where they were seen.
pub fn gate(study: &Study) -> Option<String> {
    let grammatical = Measure::unscrambling(TaskMetric::Grammaticality);
    study.masked().find_map(|masked| {
        let seen = main_source(study, grammatical, masked)?;
        not_learned(&seen.label, seen.estimate.as_ref())
    })
}
