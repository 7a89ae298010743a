//! Fertility and continuation rate of A, B and B†, by λ and by d, for each |V|.

use super::common::{self, BANDS, CONDITIONS};
use super::{Figure, Table};
use crate::data::{Factor, Study};
use crate::draw::{Axis, Mark, Panel, Plate};

pub fn fertility(study: &Study) -> Figure {
    figure(study, "fertility", "Fertility", "fertility (pieces per word)")
}

pub fn continuation(study: &Study) -> Figure {
    figure(study, "continuation", "Continuation rate", "continuation rate")
}

fn figure(study: &Study, measure: &'static str, title: &str, axis: &str) -> Figure {
    let (choosers, choices) = common::choices(study, &[Factor::Regime]);
    let mut table = Table::of_estimates(["regime", "vocab", "by", "level", "condition"]);
    let variants = choices.iter().map(|choice| {
        let mut panels = Vec::new();
        let mut extent = Vec::new();
        let vocabs = common::split(study, Factor::Vocab);
        for factor in [Factor::Lambda, Factor::Distance] {
            for (name, vocab) in &vocabs {
                let mut panel = Panel::new(name, common::level_axis(study, factor), Axis::share(axis));
                for condition in &CONDITIONS {
                    let column = format!("{measure}.{}", condition.key);
                    let mut points = Vec::new();
                    for (place, level) in study.levels(factor).iter().enumerate() {
                        let cell = [choice.cell.as_slice(), vocab, &[(factor, place)]].concat();
                        let estimate = study.mean(study.at(&cell), |run| run.number(&column));
                        let label = common::titled(factor, &level.label);
                        points.extend(
                            estimate
                                .as_ref()
                                .map(|it| common::at(place as f64, it, &format!("{}, {label}", condition.label))),
                        );
                        let regime = common::label_in(study, &choice.cell, Factor::Regime);
                        let vocab = common::label_in(study, vocab, Factor::Vocab);
                        let keys = [regime, vocab, factor.name(), &level.label, condition.label];
                        table.estimate(keys, estimate.as_ref());
                    }
                    extent.extend(common::extent(&points));
                    panel.marks.push(Mark::Line { points, ink: condition.ink, dash: "", shape: Some(condition.shape) });
                }
                panels.push(panel);
            }
        }
        for panel in &mut panels {
            panel.y = Axis::around(axis, extent.iter().copied());
        }
        let mut plate = Plate::new(panels, common::across(vocabs.len()));
        plate.legend = common::condition_legend(true);
        common::variant(choice.options.clone(), plate, common::counted(study, &choice.cell, false))
    });
    let variants = variants.collect();
    let what = match measure {
        "fertility" => "Pieces per word of running text in A, B and B†",
        _ => "Share of the words of running text that take more than one piece, in A, B and B†",
    };
    Figure {
        name: measure,
        title: format!("{title} by condition, *λ*, *d* and |*V*|"),
        caption: format!("{what}, by *λ* (top, over all *d*) and by *d* (bottom, over all *λ*). {BANDS}"),
        choosers,
        variants,
        table,
    }
}
