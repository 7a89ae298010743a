//! What else a study varied, one thing at a time: word order, boundary, kind of tokenizer, share masked, …
//!
//! For each such setting, the runs in which every other such setting has its usual value (the one most runs have).

use super::captions::Runs;
use super::facets::{ends, variants};
use super::figure::{Chooser, Figure};
use super::outcomes::{TRANSFERS, in_masked};
use super::table::Table;
use crate::data::{Run, Study, setting_name};
use crate::draw::{Axis, Colour, Layout, Mark, Panel, Point, Shape};
use crate::wording::spoken;
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
    let choosers = vec![Chooser::new("outcome", "transfer as", TRANSFERS.map(|transfer| transfer.label))];
    let mut table = Table::of_estimates(["outcome", "setting", "value"]);
    let variants = variants(study, &choosers, Runs::Ended, |choice| {
        let transfer = TRANSFERS[choice.options[0]];
        let mut room = Vec::new();
        let mut panels = Vec::new();
        for &key in &keys {
            let levels = study.varied().iter().find(|(name, _)| name == key).map_or(&[][..], |(_, levels)| levels);
            let title = setting_name(key);
            let mut panel = Panel::new(title.clone(), Axis::share(""), Axis::levels("", levels.iter().rev().cloned()));
            let alone = |run: &&Run| usual.iter().all(|(other, usual)| *other == key || value(run, other) == *usual);
            for (row, level) in levels.iter().enumerate() {
                let runs = study.ended(&[]).filter(alone).filter(|run| value(run, key).as_ref() == Some(level));
                let estimate = study.mean_on(transfer.scale(study), runs, |run| transfer.value(study, run));
                table.estimate([transfer.label, key, level], estimate.as_ref());
                let Some(estimate) = estimate else { continue };
                let interval = ends(&estimate);
                room.push(estimate.value);
                room.extend(interval.into_iter().flat_map(|(low, high)| [low, high]));
                let tip = format!("{title} = {level}: {}", spoken(&estimate));
                let point = Point { x: estimate.value, y: (levels.len() - 1 - row) as f64, interval, tip };
                let is_usual = usual.iter().any(|(other, usual)| *other == key && usual.as_ref() == Some(level));
                let shape = if is_usual { Shape::Circle } else { Shape::Ring };
                panel.marks.push(Mark::ErrorBar { point, colour: Colour::Masked(0), shape, along_x: true });
            }
            panels.push(panel);
        }
        panels.retain(|panel| !panel.is_empty());
        for panel in &mut panels {
            panel.x = Axis::tight(transfer.name(study), room.iter().copied());
        }
        let most = panels.iter().map(|panel| panel.y.ticks.len()).max().unwrap_or(1);
        let mut layout = Layout::new(panels, [1, 2]);
        layout.share_y = false;
        layout.height = Some(11.0 * most as f64);
        layout
    });
    Some(Figure {
        name: "settings",
        title: "What else was varied, one thing at a time".into(),
        caption: format!(
            "Masked transfer{} by each further setting, over the runs in which all the others have their usual value. A full mark \
             is the usual value of the setting itself. Bars are 95 % intervals over seeds.",
            in_masked(study)
        ),
        choosers,
        variants,
        table,
    })
}
