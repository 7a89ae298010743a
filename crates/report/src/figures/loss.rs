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
    let steps = study.runs.iter().flat_map(|run| run.curve(loss)).map(|point| point.step);
    let first = steps.filter(|step| *step > 0).min().unwrap_or(1);
    let axis = "loss (bits per character)";
    let mut extent = Vec::new();
    let mut panels = Vec::new();
    for (regime, regime_cell) in common::split(study, Factor::Regime) {
        let mut panel = Panel::new(&regime, Axis::log_steps(first, study.last_step()), Axis::share(axis));
        let vocabs = common::split(study, Factor::Vocab);
        for (place, (name, vocab)) in vocabs.iter().enumerate() {
            let cell = [regime_cell.as_slice(), vocab].concat();
            for (what, key) in [("loss", loss), ("floor", floor)] {
                let mut points = common::curve(study, &cell, key, &format!("{what}, {name}"));
                // A floor that was written once holds for the whole run; step 0 has no place on a log axis.
                if let ("floor", [only]) = (what, points.as_slice()) {
                    let across = |x: u32| crate::draw::At { x: f64::from(x), ..only.clone() };
                    points = vec![across(first), across(study.last_step())];
                }
                points.retain(|at| at.x > 0.0);
                extent.extend(points.iter().map(|at| at.y));
                for (step, estimate) in study.mean_curve(study.at(&cell), key) {
                    let keys = [&regime, common::label_in(study, vocab, Factor::Vocab), what, &step.to_string()];
                    table.estimate(keys, Some(&estimate));
                }
                let ink = Ink::Level(place, vocabs.len());
                let dash = if what == "floor" { "2 1.6" } else { "" };
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
