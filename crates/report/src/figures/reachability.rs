//! Masked Top-K reachability over training, by λ, by d and by |V|, both regimes.

use super::common::{self, BANDS};
use super::{Chooser, Figure, Table};
use crate::data::{Factor, Study};
use crate::draw::{Axis, Ink, Mark, Panel, Plate};

/// The two readings of reachability: chooser label, statistic, axis.
pub(super) const READINGS: [(&str, &str, &str); 2] = [
    ("any target (the paper's)", "any@0.1", "Top-*K* reachability"),
    ("share of targets", "share@0.1", "share of targets reachable"),
];

pub fn figure(study: &Study) -> Figure {
    let mut table = Table::of_estimates(["reading", "by", "level", "panel", "regime", "step"]);
    let by = [Factor::Lambda, Factor::Distance, Factor::Vocab];
    let mut variants = Vec::new();
    for (place, factor) in by.into_iter().enumerate() {
        // λ and d are compared within each |V|; |V| within each λ.
        let across = if factor == Factor::Vocab { Factor::Lambda } else { Factor::Vocab };
        for (reading, (name, statistic, axis)) in READINGS.into_iter().enumerate() {
            let key = study.key("B_masked", "reach", &format!("network.allowed.{statistic}"));
            let columns = common::split(study, across);
            let mut panels = Vec::new();
            let mut extent = vec![0.0];
            for (regime, regime_cell) in common::split(study, Factor::Regime) {
                for (title, column) in &columns {
                    let mut panel = Panel::new(title, Axis::steps(study.last_step()), Axis::share(axis));
                    panel.row = regime.clone();
                    let levels = study.levels(factor);
                    for (place, level) in levels.iter().enumerate() {
                        let cell = [regime_cell.as_slice(), column, &[(factor, place)]].concat();
                        let label = common::titled(factor, &level.label);
                        for (step, estimate) in study.mean_curve(study.at(&cell), key) {
                            let column = common::label_in(study, column, across);
                            let keys = [name, factor.name(), &level.label, column, &regime, &step.to_string()];
                            table.estimate(keys, Some(&estimate));
                        }
                        let points = common::curve(study, &cell, key, &label);
                        extent.extend(common::extent(&points));
                        panel.marks.push(Mark::Line {
                            points,
                            ink: Ink::Level(place, levels.len()),
                            dash: "",
                            shape: None,
                        });
                    }
                    panels.push(panel);
                }
            }
            if statistic.starts_with("share") {
                panels.iter_mut().for_each(|panel: &mut Panel| panel.y = Axis::around(axis, extent.iter().copied()));
            }
            let mut plate = Plate::new(panels, common::across(columns.len()));
            plate.legend = common::level_legend(study, factor);
            variants.push(common::variant(vec![place, reading], plate, common::counted(study, &[], false)));
        }
    }
    let option = |factor: Factor| format!("by {}", crate::draw::plain(factor.symbol()));
    let choosers = vec![
        Chooser { name: "by", label: "compare".into(), options: by.into_iter().map(option).collect() },
        Chooser { name: "reading", label: "reading".into(), options: READINGS.map(|it| it.0.to_owned()).into() },
    ];
    Figure {
        name: "reachability",
        title: "Masked Top-*K* reachability over training".into(),
        caption: format!(
            "Reachability of masked descriptors (B†) that Γ allows the subject, *K* = 0.1 |*V*|: the share of subjects with any \
             reachable target among those asked for (at most *eval.targets* a subject), or the share of targets that are \
             reachable. Each curve is the mean over the factors not shown. {BANDS}"
        ),
        choosers,
        variants,
        table,
    }
}
