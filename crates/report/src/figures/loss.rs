//! The loss in bits per character, comparable across |V|, with the entropy floor of the process.

use super::common::{self, BANDS};
use super::{Chooser, Figure, Table};
use crate::data::{Factor, Key, Kind, Study};
use crate::draw::{At, Axis, Entry, Ink, Mark, Panel, Plate};

/// Over which sequences, in words and as the metrics spell it.
const OVER: [(&str, &str); 4] = [("the mixture", "all"), ("A", "A"), ("B", "B"), ("B†", "B_masked")];
const AXIS: &str = "loss (bits per character)";
const FLOOR: &str = "2 1.6";

pub fn figure(study: &Study) -> Figure {
    let mut table = Table::of_estimates(["over", "regime", "vocab", "what", "step"]);
    let measured: Vec<_> =
        OVER.into_iter().filter(|(_, condition)| study.key(condition, "loss", "bits_per_char").is_some()).collect();
    let mut variants = Vec::new();
    for (place, (name, condition)) in measured.iter().enumerate() {
        let keys = ["bits_per_char", "floor"].map(|metric| study.key(condition, "loss", metric));
        let plate = plate(study, name, keys, &mut table);
        variants.push(common::variant(vec![place], plate, common::counted(study, &[], false)));
    }
    let bands = if study.kind == Kind::Study { BANDS } else { "" };
    Figure {
        name: "loss",
        title: "Loss with the entropy floor".into(),
        caption: format!(
            "Loss over training in bits per character, so that vocabularies can be compared, and the entropy of the true process \
             below which no model can go.{} {bands}",
            common::pooled(study, &[Factor::Vocab, Factor::Regime])
        ),
        choosers: vec![Chooser {
            name: "over",
            label: "over".into(),
            options: measured.iter().map(|it| it.0.to_owned()).collect(),
        }],
        variants,
        table,
    }
}

fn plate(study: &Study, over: &str, [loss, floor]: [Option<Key>; 2], table: &mut Table) -> Plate {
    let steps = study.runs.iter().flat_map(|run| run.curve(loss)).map(|point| point.step);
    let first = steps.filter(|step| *step > 0).min().unwrap_or(1);
    let mut extent = Vec::new();
    let mut panels = Vec::new();
    for (regime, regime_cell) in common::split(study, Factor::Regime) {
        let mut panel = Panel::new(&regime, Axis::log_steps(first, study.last_step()), Axis::share(AXIS));
        let vocabs = common::split(study, Factor::Vocab);
        for (place, (name, vocab)) in vocabs.iter().enumerate() {
            let cell = [regime_cell.as_slice(), vocab].concat();
            let ink = Ink::Level(place, vocabs.len());
            for (what, key, dash) in [("loss", loss, ""), ("floor", floor, FLOOR)] {
                let mut points = common::curve(study, &cell, key, &format!("{what}, {name}"));
                // A floor that was written once holds for the whole run; step 0 has no place on a log axis.
                if let ("floor", [only]) = (what, points.as_slice()) {
                    let across = |x: u32| At { x: f64::from(x), ..only.clone() };
                    points = vec![across(first), across(study.last_step())];
                }
                points.retain(|at| at.x > 0.0);
                extent.extend(points.iter().map(|at| at.y));
                for (step, estimate) in study.mean_curve(study.at(&cell), key) {
                    let vocab = common::label_in(study, vocab, Factor::Vocab);
                    table.estimate([over, &regime, vocab, what, &step.to_string()], Some(&estimate));
                }
                panel.marks.push(Mark::Line { points, ink, dash, shape: None });
            }
        }
        panels.push(panel);
    }
    for panel in &mut panels {
        panel.y = Axis::around(AXIS, extent.iter().copied());
    }
    let mut plate = Plate::new(panels, [2, 2]);
    plate.ratio = 0.6;
    plate.legend = common::level_legend(study, Factor::Vocab);
    plate.legend.push(Entry { label: "entropy floor".into(), ink: Ink::Text, line: Some(FLOOR), shape: None });
    plate
}
