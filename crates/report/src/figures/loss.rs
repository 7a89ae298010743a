//! The loss in bits per character, comparable across |V|, with the entropy floor of the process.

use super::common::{self, BANDS};
use super::{Figure, Table};
use crate::data::{Factor, Study};
use crate::draw::{Axis, Entry, Ink, Mark, Panel, Plate};

pub fn figure(study: &Study) -> Figure {
    let mut table = Table::of_estimates(["regime", "vocab", "what", "step"]);
    let key = |metric: &str| {
        let conditions = ["all", "A", "B"];
        conditions.into_iter().find_map(|condition| study.key(condition, "loss", metric))
    };
    let (loss, floor) = (key("bits_per_char"), key("floor"));
    let axis = "loss (bits per character)";
    let mut extent = Vec::new();
    let mut panels = Vec::new();
    for (regime, regime_cell) in common::split(study, Factor::Regime) {
        let mut panel = Panel::new(&regime, Axis::steps(study.last_step()), Axis::share(axis));
        let vocabs = common::split(study, Factor::Vocab);
        for (place, (name, vocab)) in vocabs.iter().enumerate() {
            let cell = [regime_cell.as_slice(), vocab].concat();
            for (what, key) in [("loss", loss), ("floor", floor)] {
                let points = common::curve(study, &cell, key, &format!("{what}, {name}"));
                // The very first losses would flatten all that follows.
                let shown = points.iter().filter(|at| at.x > 0.0 || points.len() == 1);
                extent.extend(shown.map(|at| at.y));
                for (step, estimate) in study.mean_curve(study.at(&cell), key) {
                    let keys = [&regime, common::label_in(study, vocab, Factor::Vocab), what, &step.to_string()];
                    table.estimate(keys, Some(&estimate));
                }
                let ink = Ink::Level(place, vocabs.len());
                let dash = if what == "floor" { "2 1.6" } else { "" };
                // A floor that was written once holds for the whole run.
                let points = match (what, points.as_slice()) {
                    ("floor", [only]) => {
                        let across = |x: f64| crate::draw::At { x, ..only.clone() };
                        vec![across(0.0), across(f64::from(study.last_step()))]
                    }
                    _ => points,
                };
                panel.marks.push(Mark::Line { points, ink, dash, shape: None });
            }
        }
        panels.push(panel);
    }
    for panel in &mut panels {
        panel.y = Axis::around(axis, extent.iter().copied());
    }
    let mut plate = Plate::new(panels, [2, 2]);
    plate.ratio = 0.6;
    plate.legend = common::level_legend(study, Factor::Vocab);
    plate.legend.push(Entry { label: "entropy floor".into(), ink: Ink::Text, line: Some("2 1.6"), shape: None });
    Figure {
        name: "loss",
        title: "Loss with the entropy floor".into(),
        caption: format!(
            "Loss over training in bits per character, so that vocabularies can be compared, and the entropy of the true process \
             below which no model can go.{} {BANDS}",
            common::pooled(study, &[Factor::Vocab, Factor::Regime])
        ),
        choosers: Vec::new(),
        variants: vec![common::variant(Vec::new(), plate, common::counted(study, &[], false))],
        table,
    }
}
