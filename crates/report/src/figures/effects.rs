//! Standardised effects of |V|, regime, λ, similarity and bridge on masked transfer.

use super::common;
use super::{Figure, Table};
use crate::data::Study;
use crate::draw::{At, Axis, Entry, Ink, Mark, Panel, Plate, Shape, plain};
use crate::findings::Findings;
use crate::findings::sample::{BRIDGE, LAMBDA, REGIME, SIMILARITY, VOCAB};

const ROWS: [&str; 5] = [VOCAB, REGIME, LAMBDA, SIMILARITY, BRIDGE];

pub fn figure(study: &Study, findings: &Findings) -> Figure {
    let mut table = Table::new([
        "outcome",
        "model",
        "predictor",
        "effect",
        "low",
        "high",
        "error",
        "p",
        "runs",
        "groups",
        "r_squared",
    ]);
    let mut panels = Vec::new();
    let mut extent = vec![-0.2, 0.2];
    for regressed in &findings.regressions {
        let labels = ROWS.iter().rev().map(|row| (*row).to_owned());
        let mut panel = Panel::new(regressed.outcome.label(), Axis::share(""), Axis::levels("", labels));
        let models = [
            ("factors", &regressed.factors, Shape::Ring, 0.14),
            ("factors and bridge", &regressed.with_bridge, Shape::Circle, -0.14),
        ];
        for (name, model, shape, shift) in models {
            for effect in model.iter().flat_map(|model| &model.effects) {
                let Some(row) = ROWS.iter().position(|row| *row == effect.name) else { continue };
                let model = model.as_ref().expect("an effect has its model");
                let at = At {
                    x: effect.value,
                    y: (ROWS.len() - 1 - row) as f64 + shift,
                    interval: Some((effect.interval.low, effect.interval.high)),
                    tip: format!(
                        "{} ({name}): {} [{}, {}], p = {:.4}, {} in {} groups",
                        plain(&effect.name),
                        common::digits(effect.value),
                        common::digits(effect.interval.low),
                        common::digits(effect.interval.high),
                        effect.p,
                        common::count(model.rows),
                        model.groups
                    ),
                };
                extent.extend([effect.interval.low, effect.interval.high]);
                panel.marks.push(Mark::Dot { at, ink: Ink::Text, shape, along_x: true });
                let numbers = [effect.value, effect.interval.low, effect.interval.high, effect.error, effect.p];
                let mut cells = vec![regressed.outcome.label().to_owned(), name.to_owned(), plain(&effect.name)];
                cells.extend(numbers.map(|number| number.to_string()));
                cells.extend([model.rows.to_string(), model.groups.to_string(), model.r_squared.to_string()]);
                table.row(cells);
            }
        }
        if regressed.saturated {
            panel.notes = vec!["saturated".into()];
            if panel.is_empty() {
                let y = (ROWS.len() - 1) as f64 / 2.0;
                panel.marks.push(Mark::Word { x: 0.0, y, text: "all runs are equal".into() });
            }
        }
        panels.push(panel);
    }
    for panel in &mut panels {
        panel.x = Axis::around("standardised effect", extent.iter().map(|value| value.clamp(-2.0, 2.0)));
        let (low, high) = (-0.5, ROWS.len() as f64 - 0.5);
        panel.marks.insert(0, Mark::Rule { from: (0.0, low), to: (0.0, high), ink: Ink::Muted, dash: "2 2" });
    }
    let mut plate = Plate::new(panels, [1, 3]);
    plate.height = Some(82.0);
    let entry =
        |label: &str, shape: Shape| Entry { label: label.into(), ink: Ink::Text, line: None, shape: Some(shape) };
    plate.legend = vec![entry("factors alone", Shape::Ring), entry("with *β̂*", Shape::Circle)];
    Figure {
        name: "effects",
        title: "What moves masked transfer".into(),
        caption: "Standardised effects (standard deviations of the outcome per standard deviation of the predictor) on masked transfer in \
                  B†, by least squares over the runs that ended, with the factors alone and with *β̂* added. Bars are 95 % intervals \
                  with errors clustered by data seed, or by model seed where there is one data seed."
            .into(),
        choosers: Vec::new(),
        variants: vec![common::variant(Vec::new(), plate, common::counted(study, &[], true))],
        table,
    }
}
