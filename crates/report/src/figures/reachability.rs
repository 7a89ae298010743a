//! Masked Top-K reachability over training, by λ, by d and by |V|, both regimes.

use super::captions::{BANDS, Runs};
use super::facets::{Facets, across, label_in, split, variants};
use super::figure::{Chooser, Figure};
use super::style;
use super::table::Table;
use crate::data::{Factor, Study};
use crate::draw::{Axis, plain};
use crate::wording::listed;
use invitro_results::{Condition, Measure, Quantity, Scorer, Statistic, Targets};

/// The two readings of reachability: what they are called, and the axis.
pub(super) const READINGS: [(Statistic, &str, &str); 2] = [
    (Statistic::Any, "any target (the paper's)", "Top-*K* reachability"),
    (Statistic::Share, "share of targets", "share of targets reachable"),
];

const BY: [Factor; 3] = [Factor::Lambda, Factor::Distance, Factor::Vocab];

pub fn figure(study: &Study) -> Figure {
    let masked: Vec<&Condition> = study.masked().collect();
    let choosers = vec![
        Chooser::new("by", "compare", BY.map(|factor| format!("by {}", plain(factor.symbol())))),
        Chooser::new("reading", "reading", READINGS.map(|(_, name, _)| name)),
        Chooser::new("condition", "condition", masked.iter().map(|condition| condition.label())),
    ];
    let mut table = Table::of_estimates(["reading", "condition", "by", "level", "panel", "regime", "step"]);
    let variants = variants(study, &choosers, Runs::Measured, |choice| {
        let factor = BY[choice.options[0]];
        // λ and d are compared within each |V|; |V| within each λ.
        let by = if factor == Factor::Vocab { Factor::Lambda } else { Factor::Vocab };
        let (statistic, name, axis) = READINGS[choice.options[1]];
        let condition = masked.get(choice.options[2]).copied().cloned();
        let label = condition.as_ref().map_or(String::new(), Condition::label);
        let quantity = Quantity { measure: Measure::reach(Scorer::Network, Targets::Allowed, statistic), condition };
        let (columns, levels) = (split(study, by), style::levels(study, factor));
        let mut facets = Facets::new(study, &mut table, Axis::share(axis));
        if statistic == Statistic::Share {
            facets = facets.fitted(&[0.0]);
        }
        for (regime, regime_cell) in split(study, Factor::Regime) {
            for (title, column) in &columns {
                facets.panel(title, Axis::steps(study.last_step())).row = regime.clone();
                for (place, style) in levels.iter().enumerate() {
                    let cell = [regime_cell.as_slice(), column, &[(factor, place)]].concat();
                    let level = &study.levels(factor)[place];
                    let keys = [name, &label, factor.name(), level, label_in(study, column, by), &regime];
                    facets.curve(&keys, style, &cell, &quantity);
                }
            }
        }
        let mut layout = facets.layout(across(columns.len()));
        layout.legend = style::lines(&levels);
        layout
    });
    Figure {
        name: "reachability",
        title: "Masked Top-*K* reachability over training".into(),
        caption: format!(
            "Reachability of masked descriptors ({}) that Γ allows the subject, *K* = 0.1 |*V*|: the share of subjects with any \
             reachable target among those asked for (at most *eval.targets* a subject), or the share of targets that are \
             reachable. Each curve is the mean over the factors not shown. {BANDS}",
            listed(&masked.iter().map(|condition| condition.label()).collect::<Vec<_>>())
        ),
        choosers,
        variants,
        table,
    }
}
