//! The cascade: when every metric emerges, in A, B and B†, on one time line.

use super::common::{self, CONDITIONS};
use super::emergence::{THRESHOLDS, threshold_chooser};
use super::{Figure, Table};
use crate::data::{Factor, Study};
use crate::draw::{At, Axis, Mark, Panel, Plate, Shape};
use crate::findings::stages::{Emerged, Stage};

pub fn figure(study: &Study) -> Figure {
    let (mut choosers, choices) = common::choices(study, &[Factor::Regime]);
    choosers.push(threshold_chooser());
    let mut table = Table::of_estimates(["regime", "threshold", "vocab", "condition", "stage", "emerged", "measured"]);
    let mut variants = Vec::new();
    for choice in &choices {
        for (option, threshold) in THRESHOLDS.into_iter().enumerate() {
            let columns = common::split(study, Factor::Vocab);
            let mut panels = Vec::new();
            for (title, vocab) in &columns {
                let cell = [choice.cell.as_slice(), vocab].concat();
                panels.push(timeline(study, title, &cell, threshold, &mut table));
            }
            let mut plate = Plate::new(panels, [1, columns.len().clamp(1, 3)]);
            plate.height = Some(8.8 * row_count() as f64);
            plate.legend = common::condition_legend(false);
            let options = [choice.options.as_slice(), &[option]].concat();
            variants.push(common::variant(options, plate, common::counted(study, &choice.cell, true)));
        }
    }
    Figure {
        name: "cascade",
        title: "The cascade: when each skill emerges".into(),
        caption: format!(
            "Mean step at which each stage first exceeds the threshold, over the runs in which it did; a ring where in some runs it \
             never did. Reachability counts from where the share of targets reachable exceeds the unigram model's by the threshold, \
             the last stage from where allowed targets lie above forbidden ones with their interval over subjects, to stay. Bars are 95 % \
             intervals over seeds.{}",
            common::pooled(study, &[Factor::Vocab, Factor::Regime])
        ),
        choosers,
        variants,
        table,
    }
}

fn row_count() -> usize {
    CONDITIONS.len() * (Stage::ALL.len() + 1) - 1
}

fn timeline(study: &Study, title: &str, cell: &[(Factor, usize)], threshold: f64, table: &mut Table) -> Panel {
    // Three groups with an empty row between them, the first at the top.
    let rows = row_count();
    let places: Vec<(usize, usize, Stage)> = (0..CONDITIONS.len())
        .flat_map(|condition| Stage::ALL.into_iter().enumerate().map(move |(row, stage)| (condition, row, stage)))
        .collect();
    let height = |condition: usize, row: usize| (rows - 1 - condition * (Stage::ALL.len() + 1) - row) as f64;
    let last = study.last_step();
    let mut axis = Axis::levels("", std::iter::repeat_n(String::new(), rows));
    axis.ticks = places
        .iter()
        .map(|(condition, row, stage)| {
            (height(*condition, *row), format!("{}: {}", CONDITIONS[*condition].label, stage.label()))
        })
        .collect();
    let mut panel = Panel::new(title, Axis::steps(last), axis);
    for (condition, row, stage) in &places {
        let y = height(*condition, *row);
        let condition = &CONDITIONS[*condition];
        let when = |run: &crate::data::Run| stage.emerged(study, run, condition.key, threshold);
        let measured = study.ended(cell).filter(|run| when(run).is_some()).count();
        let step = |run: &crate::data::Run| match when(run) {
            Some(Emerged::At(step)) => Some(f64::from(step)),
            _ => None,
        };
        let estimate = study.mean(study.ended(cell), step);
        let emerged = estimate.map_or(0, |estimate| estimate.runs);
        let level = |factor| common::label_in(study, cell, factor);
        let (text, counts) = (threshold.to_string(), [emerged.to_string(), measured.to_string()]);
        let keys = [
            level(Factor::Regime),
            &text,
            level(Factor::Vocab),
            condition.label,
            stage.label(),
            &counts[0],
            &counts[1],
        ];
        table.estimate(keys, estimate.as_ref());
        match estimate {
            Some(estimate) => {
                let tip = format!(
                    "{} in {}: step {}, emerged in {emerged} of {}",
                    stage.label(),
                    condition.label,
                    common::spoken(&estimate),
                    common::count(measured)
                );
                let interval = estimate.interval.map(|interval| (interval.low, interval.high));
                let shape = if emerged == measured { condition.shape } else { Shape::Ring };
                panel.marks.push(Mark::Dot {
                    at: At { x: estimate.value, y, interval, tip },
                    ink: condition.ink,
                    shape,
                    along_x: true,
                });
            }
            None if measured > 0 => panel.marks.push(Mark::Word { x: f64::from(last), y, text: "never".into() }),
            None => panel.marks.push(Mark::Word { x: f64::from(last), y, text: "not measured".into() }),
        }
    }
    if study.ended(cell).next().is_none() {
        panel.marks.clear();
    }
    panel
}
