//! Standardised effects of |V|, regime, λ, similarity and bridge on masked transfer.

use super::captions::Runs;
use super::facets::variants;
use super::figure::Figure;
use super::style::{self, Style};
use super::table::Table;
use crate::data::Study;
use crate::draw::{Axis, Colour, Layout, Mark, Panel, Point, Shape, plain};
use crate::findings::Findings;
use crate::findings::design::{BETA, LAMBDA, REGIME, SIMILARITY, VOCAB};
use crate::findings::transfer::in_masked;
use crate::wording::counted;
use invitro_results::digits;

const ROWS: [&str; 5] = [VOCAB, REGIME, LAMBDA, SIMILARITY, BETA];

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
        let mut panel = Panel::new(regressed.transfer.label(), Axis::share(""), Axis::levels("", labels));
        let models = [
            ("factors", &regressed.factors, Shape::Ring, 0.14),
            ("factors and bridge", &regressed.with_bridge, Shape::Circle, -0.14),
        ];
        for (name, model, shape, shift) in models {
            for effect in model.iter().flat_map(|model| &model.effects) {
                let Some(row) = ROWS.iter().position(|row| *row == effect.name) else { continue };
                let model = model.as_ref().expect("an effect has its model");
                let point = Point {
                    x: effect.value,
                    y: (ROWS.len() - 1 - row) as f64 + shift,
                    interval: Some((effect.interval.low, effect.interval.high)),
                    tip: format!(
                        "{} ({name}): {} [{}, {}], p = {:.4}, {} in {} groups",
                        plain(&effect.name),
                        digits(effect.value),
                        digits(effect.interval.low),
                        digits(effect.interval.high),
                        effect.p,
                        counted(model.rows, "run"),
                        model.groups
                    ),
                };
                extent.extend([effect.interval.low, effect.interval.high]);
                panel.marks.push(Mark::ErrorBar { point, colour: Colour::Text, shape, along_x: true });
                let numbers = [effect.value, effect.interval.low, effect.interval.high, effect.error, effect.p];
                let mut cells = vec![regressed.transfer.label().to_owned(), name.to_owned(), plain(&effect.name)];
                cells.extend(numbers.map(|number| number.to_string()));
                cells.extend([model.rows.to_string(), model.groups.to_string(), model.r_squared.to_string()]);
                table.row(cells);
            }
        }
        if regressed.saturated {
            panel.notes = vec!["saturated".into()];
            if panel.is_empty() {
                let y = (ROWS.len() - 1) as f64 / 2.0;
                panel.marks.push(Mark::Label { x: 0.0, y, text: "all runs are equal".into() });
            }
        }
        panels.push(panel);
    }
    for panel in &mut panels {
        panel.x = Axis::around("standardised effect", extent.iter().map(|value| value.clamp(-2.0, 2.0)));
        let (low, high) = (-0.5, ROWS.len() as f64 - 0.5);
        panel.marks.insert(0, Mark::Segment { from: (0.0, low), to: (0.0, high), colour: Colour::Muted, dash: "2 2" });
    }
    let legend = [("factors alone", Shape::Ring), ("with *β̂*", Shape::Circle)];
    let mut layout = Layout::new(panels, [1, 3]);
    layout.height = Some(82.0);
    layout.legend = style::markers(&legend.map(|(name, shape)| Style::marked(name, Colour::Text, shape)));
    Figure {
        name: "effects",
        title: "What moves masked transfer".into(),
        caption: format!(
            "Standardised effects (standard deviations of the outcome per standard deviation of the predictor) on masked transfer{}, \
             by least squares over the runs that ended, with the factors alone and with *β̂* added. Bars are 95 % intervals \
             with errors clustered by data seed, or by model seed where there is one data seed.",
            in_masked(study)
        ),
        choosers: Vec::new(),
        variants: variants(study, &[], Runs::Ended, |_| layout.clone()),
        table,
    }
}
