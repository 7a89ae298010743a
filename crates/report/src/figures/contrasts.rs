//! The contrasts of reachability: of what, counted how, and where they are taken.

use crate::data::Study;
use crate::wording::listed;
use invitro_results::{Condition, Measure, Quantity, Scorer, Statistic, Targets};

/// The contrasts, and what they are called.
pub const SETS: [(Targets, &str); 2] =
    [(Targets::Facts, "facts (allowed − forbidden)"), (Targets::Types, "types (allowed − other classes)")];

/// How they are counted, what that is called, and the axis.
pub const STATISTICS: [(Statistic, &str, &str); 2] = [
    (Statistic::Share, "share of targets", "contrast in share of targets"),
    (Statistic::LogProb, "log-probability", "contrast in log-probability (nats)"),
];

/// Where a contrast is taken.
pub struct Place {
    pub title: String,
    pub condition: Condition,
    /// Only of the symbols that are masked in another language.
    masked_elsewhere: bool,
}

impl Place {
    pub fn quantity(&self, targets: Targets, statistic: Statistic) -> Quantity {
        let measure = Measure::reach(Scorer::Network, targets, statistic);
        Quantity::of(if self.masked_elsewhere { measure.masked_elsewhere() } else { measure }, &self.condition)
    }
}

/// Every condition. A language is also asked about the very symbols that are masked in others: what those can at most
/// have received.
pub fn places(study: &Study) -> Vec<Place> {
    let mut places = Vec::new();
    for condition in study.conditions() {
        let place = |title, masked_elsewhere| Place { title, condition: condition.clone(), masked_elsewhere };
        places.push(place(condition.label(), false));
        let others = study.masked().filter(|masked| !condition.masked && masked.language != condition.language);
        let others: Vec<String> = others.map(|masked| masked.language.to_string()).collect();
        if !others.is_empty() {
            places.push(place(format!("{}, symbols masked in {}", condition.label(), listed(&others)), true));
        }
    }
    places
}
