//! What else a study varied, one thing at a time: word order, boundary, kind of tokenizer, share masked, …
//!
//! For each such setting, the runs in which every other such setting has its usual value (the one most runs have).

use super::common;
use super::{Chooser, Figure, Table};
use crate::data::{Run, Study};
use crate::draw::{At, Axis, Ink, Mark, Panel, Plate, Shape};
use crate::findings::Outcome;
use std::collections::BTreeMap;

fn value(run: &Run, key: &str) -> Option<String> {
    run.columns.get(key).map(ToString::to_string)
}

/// The value most runs have.
fn usual(study: &Study, key: &str) -> Option<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    study.runs.iter().filter_map(|run| value(run, key)).for_each(|value| *counts.entry(value).or_default() += 1);
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(value, _)| value)
}

/// `None` where only the four factors and the seeds vary.
pub fn figure(study: &Study) -> Option<Figure> {
    let keys = study.other_factors();
    if keys.is_empty() {
        return None;
    }
    let usual: Vec<(&str, Option<String>)> = keys.iter().map(|key| (*key, usual(study, key))).collect();
    let mut table = Table::of_estimates(["outcome", "setting", "value"]);
    let mut variants = Vec::new();
    for (place, outcome) in Outcome::ALL.into_iter().enumerate() {
        let mut extent = Vec::new();
        let mut panels = Vec::new();
        for &key in &keys {
            let levels = study.varied().iter().find(|(name, _)| name == key).map_or(&[][..], |(_, levels)| levels);
            let mut panel = Panel::new(key, Axis::share(""), Axis::levels("", levels.iter().rev().cloned()));
            let alone = |run: &&Run| usual.iter().all(|(other, usual)| *other == key || value(run, other) == *usual);
            for (row, level) in levels.iter().enumerate() {
                let runs = study.ended(&[]).filter(alone).filter(|run| value(run, key).as_ref() == Some(level));
                let estimate = study.mean(runs, |run| outcome.value(study, run));
                table.estimate([outcome.label(), key, level], estimate.as_ref());
                let Some(estimate) = estimate else { continue };
                let y = (levels.len() - 1 - row) as f64;
                let interval = estimate.interval.map(|interval| (interval.low, interval.high));
                extent.extend([
                    estimate.value,
                    interval.map_or(estimate.value, |it| it.0),
                    interval.map_or(estimate.value, |it| it.1),
                ]);
                let tip = format!("{key} = {level}: {}", common::spoken(&estimate));
                let is_usual = usual.iter().any(|(other, usual)| *other == key && usual.as_ref() == Some(level));
                let shape = if is_usual { Shape::Circle } else { Shape::Ring };
                panel.marks.push(Mark::Dot {
                    at: At { x: estimate.value, y, interval, tip },
                    ink: Ink::Masked,
                    shape,
                    along_x: true,
                });
            }
            panels.push(panel);
        }
        for panel in &mut panels {
            panel.x = Axis::tight(outcome.name(), extent.iter().copied());
        }
        let most = panels.iter().map(|panel| panel.y.ticks.len()).max().unwrap_or(1);
        let mut plate = Plate::new(panels, [1, 2]);
        plate.share_y = false;
        plate.height = Some(11.0 * most as f64);
        variants.push(common::variant(vec![place], plate, common::counted(study, &[], true)));
    }
    Some(Figure {
        name: "settings",
        title: "What else was varied, one thing at a time".into(),
        caption: "Masked transfer in B† by each further setting, over the runs in which all the others have their usual value. A full mark \
                  is the usual value of the setting itself. Bars are 95 % intervals over seeds."
            .into(),
        choosers: vec![Chooser {
            name: "outcome",
            label: "transfer as".into(),
            options: Outcome::ALL.map(|outcome| outcome.label().to_owned()).into(),
        }],
        variants,
        table,
    })
}
