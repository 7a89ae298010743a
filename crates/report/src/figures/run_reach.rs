//! One run: reachability of the allowed set over training, with the forbidden set and the n-gram models beside it.

use super::common::{self, CONDITIONS};
use super::nulls::SERIES;
use super::reachability::READINGS;
use super::{Chooser, Figure, Table};
use crate::data::Study;
use crate::draw::{At, Axis, Entry, Ink, Mark, Panel, Plate};

/// The n-gram models are drawn as broken lines, since they do not train.
fn dash(who: &str) -> &'static str {
    match who {
        "bigram.allowed" => "3 1.5",
        "unigram.allowed" => "1 1.5",
        _ => "",
    }
}

pub fn figure(study: &Study) -> Figure {
    let mut table = Table::of_estimates(["reading", "condition", "who", "step"]);
    let mut variants = Vec::new();
    let last = f64::from(study.last_step());
    for (place, (name, statistic, axis)) in READINGS.into_iter().enumerate() {
        let mut panels = Vec::new();
        let mut extent = vec![0.0];
        for condition in &CONDITIONS {
            let mut panel = Panel::new(condition.label, Axis::steps(study.last_step()), Axis::share(axis));
            for (who, label, ink, _) in SERIES {
                let key = study.key(condition.key, "reach", &format!("{who}.{statistic}"));
                for (step, estimate) in study.mean_curve(study.at(&[]), key) {
                    table.estimate([name, condition.label, who, &step.to_string()], Some(&estimate));
                }
                let mut points = common::curve(study, &[], key, label);
                // An n-gram model is measured once and stays where it is.
                if let ([only], true) = (points.as_slice(), ink == Ink::Null) {
                    let across = |x: f64| At { x, ..only.clone() };
                    points = vec![across(0.0), across(last)];
                }
                extent.extend(common::extent(&points));
                panel.marks.push(Mark::Line { points, ink, dash: dash(who), shape: None });
            }
            panels.push(panel);
        }
        if statistic.starts_with("share") {
            panels.iter_mut().for_each(|panel: &mut Panel| panel.y = Axis::around(axis, extent.iter().copied()));
        }
        let mut plate = Plate::new(panels, [3, 3]);
        plate.ratio = 0.85;
        let entry = |(who, label, ink, _): (&str, &str, Ink, _)| Entry {
            label: label.into(),
            ink,
            line: Some(dash(who)),
            shape: None,
        };
        plate.legend = SERIES.into_iter().map(entry).collect();
        variants.push(common::variant(vec![place], plate, common::count(study.runs.len())));
    }
    Figure {
        name: "reach",
        title: "Reachability against its nulls over training".into(),
        caption: "Top-*K* reachability (*K* = 0.1 |*V*|) of descriptors Γ allows the subject, of ones it forbids, of other classes, and of \
                  the allowed set under n-gram models of the training text."
            .into(),
        choosers: vec![Chooser { name: "reading", label: "reading".into(), options: READINGS.map(|it| it.0.to_owned()).into() }],
        variants,
        table,
    }
}
