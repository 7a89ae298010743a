//! One run: validity, grammaticality, type constraints and Γ over training, in A, B and B†.

use super::common::{self, CASCADE, CONDITIONS};
use super::{Chooser, Figure, Table};
use crate::data::Study;
use crate::draw::{Axis, Ink, Mark, Panel, Plate};

const TASKS: [(&str, &str); 3] =
    [("T₁ unscrambling", "T1"), ("T₀ free generation", "T0"), ("T₂ conditional generation", "T2")];

pub fn figure(study: &Study) -> Figure {
    let mut table = Table::of_estimates(["task", "condition", "metric", "step"]);
    let mut variants = Vec::new();
    for (place, (_, task)) in TASKS.into_iter().enumerate() {
        let mut panels = Vec::new();
        for condition in &CONDITIONS {
            let mut panel =
                Panel::new(condition.label, Axis::steps(study.last_step()), Axis::share("share of sentences"));
            for (stage, (metric, name)) in CASCADE.into_iter().enumerate() {
                let key = study.key(condition.key, task, metric);
                for (step, estimate) in study.mean_curve(study.at(&[]), key) {
                    table.estimate([task, condition.label, metric, &step.to_string()], Some(&estimate));
                }
                let points = common::curve(study, &[], key, name);
                panel.marks.push(Mark::Line { points, ink: Ink::Level(stage, CASCADE.len()), dash: "", shape: None });
            }
            panels.push(panel);
        }
        let mut plate = Plate::new(panels, [3, 3]);
        plate.ratio = 0.85;
        plate.legend = super::dynamics::legend();
        variants.push(common::variant(vec![place], plate, common::count(study.runs.len())));
    }
    Figure {
        name: "curves",
        title: "Capabilities over training".into(),
        caption: "Shares of generated sentences that are valid, grammatical, satisfy the type constraints and agree with Γ, each nested in \
                  the one before."
            .into(),
        choosers: vec![Chooser { name: "task", label: "task".into(), options: TASKS.map(|it| it.0.to_owned()).into() }],
        variants,
        table,
    }
}
