//! The maximum over training of grammaticality, type constraints, Γ and reachability, as maps of λ × d.

use super::common::{self, CONDITIONS};
use super::{Chooser, Figure, Table};
use crate::data::{Factor, Study};
use crate::draw::{Mark, Panel, Plate};

/// Chooser label, task, metric.
const METRICS: [(&str, &str, &str); 5] = [
    ("grammaticality", "T1", "grammaticality"),
    ("type constraints", "T1", "types"),
    ("Γ", "T1", "facts"),
    ("reachability, any target", "reach", "network.allowed.any@0.1"),
    ("reachability, share of targets", "reach", "network.allowed.share@0.1"),
];

pub fn figure(study: &Study) -> Figure {
    let (mut choosers, choices) = common::choices(study, &[Factor::Vocab, Factor::Regime]);
    choosers.insert(
        0,
        Chooser { name: "metric", label: "metric".into(), options: METRICS.map(|it| it.0.to_owned()).into() },
    );
    let mut table = Table::of_estimates(["metric", "vocab", "regime", "condition", "lambda", "d"]);
    let mut variants = Vec::new();
    for (place, (name, task, metric)) in METRICS.into_iter().enumerate() {
        for choice in &choices {
            let mut panels = Vec::new();
            for condition in &CONDITIONS {
                let key = study.key(condition.key, task, metric);
                let (x, y) = (common::level_axis(study, Factor::Lambda), common::level_axis(study, Factor::Distance));
                let mut panel = Panel::new(condition.label, x, y);
                for (column, lambda) in study.levels(Factor::Lambda).iter().enumerate() {
                    for (row, distance) in study.levels(Factor::Distance).iter().enumerate() {
                        let cell =
                            [choice.cell.as_slice(), &[(Factor::Lambda, column), (Factor::Distance, row)]].concat();
                        let estimate = study.mean(study.ended(&cell), |run| run.peak(key));
                        let said = estimate.as_ref().map_or("no run ended".into(), common::spoken);
                        panel.marks.push(Mark::Cell {
                            x: column,
                            y: row,
                            share: estimate.map(|estimate| estimate.value),
                            label: estimate.map_or(String::new(), |estimate| brief(estimate.value)),
                            tip: format!("{}, λ = {}, d = {}: {said}", condition.label, lambda.label, distance.label),
                        });
                        let (vocab, regime) = (Factor::Vocab, Factor::Regime);
                        let level = |factor| common::label_in(study, &choice.cell, factor);
                        let keys = [name, level(vocab), level(regime), condition.label, &lambda.label, &distance.label];
                        table.estimate(keys, estimate.as_ref());
                    }
                }
                panels.push(panel);
            }
            let mut plate = Plate::new(panels, [3, 3]);
            plate.ratio = 0.8;
            plate.scale = Some((format!("maximum {name}"), "0".into(), "1".into()));
            let options = [&[place], choice.options.as_slice()].concat();
            variants.push(common::variant(options, plate, common::counted(study, &choice.cell, true)));
        }
    }
    Figure {
        name: "maxima",
        title: "Maximum over training, by *λ* and *d*".into(),
        caption: "Means over seeds of each run's maximum over training, in A, B and B†. Grammaticality, type constraints and Γ are \
                  of the unscrambling task T₁. Crossed-out cells have no run that ended; hover for the interval over seeds."
            .into(),
        choosers,
        variants,
        table,
    }
}

/// Two decimals without the leading zero: `.87`, `1.0`.
fn brief(value: f64) -> String {
    let text = format!("{value:.2}");
    if value < 0.995 { text.trim_start_matches('0').to_owned() } else { format!("{value:.1}") }
}
