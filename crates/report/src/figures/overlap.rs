//! Overlap of the pieces used by A and by B, by λ and by d, for each |V| and both regimes.

use super::common::{self, BANDS};
use super::{Figure, Table};
use crate::data::{Factor, Study};
use crate::draw::{Axis, Ink, Mark, Panel, Plate, Shape};

pub fn figure(study: &Study) -> Figure {
    let mut table = Table::of_estimates(["regime", "by", "level", "vocab"]);
    let vocabs = study.levels(Factor::Vocab);
    let axis = "vocabulary overlap of A and B";
    let mut panels = Vec::new();
    let mut extent = Vec::new();
    for (regime, regime_cell) in common::split(study, Factor::Regime) {
        for factor in [Factor::Lambda, Factor::Distance] {
            let mut panel = Panel::new(regime.clone(), common::level_axis(study, factor), Axis::share(axis));
            for (vocab, vocab_level) in vocabs.iter().enumerate() {
                let mut points = Vec::new();
                for (place, level) in study.levels(factor).iter().enumerate() {
                    let cell = [regime_cell.as_slice(), &[(Factor::Vocab, vocab), (factor, place)]].concat();
                    let estimate = study.mean(study.at(&cell), |run| run.number("overlap"));
                    let name = format!("|V| = {}, {}", vocab_level.label, common::titled(factor, &level.label));
                    points.extend(estimate.as_ref().map(|it| common::at(place as f64, it, &name)));
                    table.estimate([&regime, factor.name(), &level.label, &vocab_level.label], estimate.as_ref());
                }
                extent.extend(common::extent(&points));
                let ink = Ink::Level(vocab, vocabs.len());
                panel.marks.push(Mark::Line { points, ink, dash: "", shape: Some(Shape::Circle) });
            }
            panels.push(panel);
        }
    }
    for panel in &mut panels {
        panel.y = Axis::around(axis, extent.iter().copied());
    }
    let mut plate = Plate::new(panels, [2, 4]);
    plate.ratio = 1.0;
    plate.legend = common::level_legend(study, Factor::Vocab);
    Figure {
        name: "overlap",
        title: "Vocabulary overlap by *λ* and by *d*".into(),
        caption: format!("Pieces used by both languages over pieces used by either, for each |*V*|. {BANDS}"),
        choosers: Vec::new(),
        variants: vec![common::variant(Vec::new(), plate, common::counted(study, &[], false))],
        table,
    }
}
