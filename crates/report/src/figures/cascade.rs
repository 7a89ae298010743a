//! The cascade: when every stage emerges, in every condition, on one time line.

use super::captions::{self, Runs};
use super::emergence::{Emerged, Threshold, threshold_chooser, thresholds};
use super::facets::{Facets, ends, label_in, split, variants};
use super::figure::{Chooser, Figure};
use super::style;
use super::table::Table;
use crate::data::{Cell, Factor, Run, Study};
use crate::draw::{Axis, Mark, Point};
use crate::findings::stages::Stage;

pub fn figure(study: &Study) -> Figure {
    let thresholds = thresholds(study);
    let choosers = vec![Chooser::levels(study, Factor::Regime), threshold_chooser(&thresholds)];
    let mut table = Table::of_estimates(["regime", "threshold", "vocab", "condition", "stage", "emerged", "measured"]);
    let conditions = style::conditions(study);
    let vocabs = split(study, Factor::Vocab);
    let rows = rows(study);
    let variants = variants(study, &choosers, Runs::Ended, |choice| {
        let mut facets = Facets::new(study, &mut table, axis(study, rows));
        for (title, vocab) in &vocabs {
            facets.panel(title, Axis::steps(study.last_step()));
            let cell = [choice.cell.as_slice(), vocab].concat();
            timeline(study, &mut facets, &cell, &thresholds[choice.options[1]]);
        }
        let mut layout = facets.layout([1, vocabs.len().clamp(1, 3)]);
        layout.height = Some(8.8 * rows as f64);
        layout.legend = style::markers(conditions.iter().map(|(_, style)| style));
        layout
    });
    Figure {
        name: "cascade",
        title: "The cascade: when each skill emerges".into(),
        caption: format!(
            "Mean step at which each stage first exceeds the threshold, over the runs in which it did; a ring where in some runs it \
             never did. Reachability counts from where the share of targets reachable exceeds the unigram model's by the threshold, \
             the last stage from where allowed targets lie above forbidden ones with their interval over pairs of subjects, to stay. Bars are 95 % \
             intervals over seeds.{}",
            captions::pooled(study, &[Factor::Vocab, Factor::Regime])
        ),
        choosers,
        variants,
        table,
    }
}

/// A group of rows per condition, with an empty row between them.
fn rows(study: &Study) -> usize {
    (study.conditions().len() * (Stage::ALL.len() + 1)).max(1) - 1
}

/// The first condition is at the top.
fn height(rows: usize, condition: usize, stage: usize) -> f64 {
    (rows - 1 - condition * (Stage::ALL.len() + 1) - stage) as f64
}

fn axis(study: &Study, rows: usize) -> Axis {
    let mut axis = Axis::levels("", std::iter::repeat_n(String::new(), rows));
    let conditions = study.conditions().iter().enumerate();
    axis.ticks = conditions
        .flat_map(|(place, condition)| {
            let label = condition.label();
            let tick =
                move |(row, stage): (usize, Stage)| (height(rows, place, row), format!("{label}: {}", stage.label()));
            Stage::ALL.into_iter().enumerate().map(tick)
        })
        .collect();
    axis
}

fn timeline(study: &Study, facets: &mut Facets, cell: &Cell, threshold: &Threshold) {
    let any = study.ended(cell).next().is_some();
    let [regime, vocab] = [Factor::Regime, Factor::Vocab].map(|factor| label_in(study, cell, factor));
    for (place, (condition, style)) in style::conditions(study).into_iter().enumerate() {
        for (row, stage) in Stage::ALL.into_iter().enumerate() {
            let when = |run: &Run| stage.emergence(run, &condition, threshold.of(run));
            let emerged = Emerged::new(study, cell, when);
            let (runs, measured) = (emerged.runs.to_string(), emerged.measured.to_string());
            let keys = [regime, &threshold.label, vocab, &style.name, stage.label(), &runs, &measured];
            facets.row(&keys, emerged.estimate.as_ref());
            let y = height(rows(study), place, row);
            let never = |text: &str| Mark::Label { x: f64::from(study.last_step()), y, text: text.into() };
            match emerged.estimate {
                _ if !any => {}
                Some(estimate) => {
                    let tip = emerged.tip(&format!("{} in {}", stage.label(), style.name), &estimate);
                    let point = Point { x: estimate.value, y, interval: ends(&estimate), tip };
                    let shape = emerged.shape(style.shape);
                    facets.mark(Mark::ErrorBar { point, colour: style.colour, shape, along_x: true });
                }
                None if emerged.measured > 0 => facets.mark(never("never")),
                None => facets.mark(never("not measured")),
            }
        }
    }
}
