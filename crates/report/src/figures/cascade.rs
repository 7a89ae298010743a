//! The cascade: when every stage emerges, in every condition, on one time line.

use super::captions::{self, Runs};
use super::emergence::{Emerged, Threshold, threshold_chooser, thresholds};
use super::facets::{Facets, ends, label_in, named, pick, regime, split, variants};
use super::figure::{Chooser, Figure};
use super::groups::{self, Group, groups};
use super::progress::Progress;
use super::style::{self, STAGES};
use super::table::Table;
use crate::data::{Factor, Levels, Run, Study};
use crate::draw::{Axis, Mark, Point};
use invitro_results::{Crossing, Measure};

pub fn figure(study: &Study) -> Figure {
    let thresholds = thresholds(study);
    let (groups, progress) = (groups(study), Progress::all(study));
    let panel = pick(study, &[Factor::VOCAB], &[]);
    let chosen = regime(study, &[panel]);
    let choosers = vec![Chooser::levels(study, chosen), threshold_chooser(&thresholds), groups::chooser(&groups)];
    let header = [named(chosen), "threshold", named(panel), "condition", "stage", "emerged", "measured"];
    let mut table = Table::of_estimates(header);
    let panels = split(study, panel);
    let variants = variants(study, &choosers, Runs::Ended, |choice| {
        choice.cell.extend(study.comparable(&[panel, chosen]));
        let group = &groups[choice.options[2]];
        let mut facets = Facets::new(study, &mut table, axis(group));
        for (title, level) in &panels {
            facets.panel(title, progress[0].axis());
            let cell = [choice.cell.as_slice(), level].concat();
            timeline(study, &mut facets, &cell, &thresholds[choice.options[1]], group, [chosen, panel]);
        }
        let mut layout = facets.layout([1, panels.len().clamp(1, 3)]);
        layout.height = Some(8.8 * rows(group) as f64);
        layout.legend = style::markers(group.styles());
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
            captions::pooled(study, &[panel, chosen])
        ),
        choosers,
        variants,
        table,
    }
}

/// A group of rows per condition, with an empty row between them.
fn rows(group: &Group) -> usize {
    (group.conditions.len() * (STAGES.len() + 1)).max(1) - 1
}

/// The first condition is at the top.
fn height(rows: usize, condition: usize, stage: usize) -> f64 {
    (rows - 1 - condition * (STAGES.len() + 1) - stage) as f64
}

fn axis(group: &Group) -> Axis {
    let rows = rows(group);
    let mut axis = Axis::levels("", std::iter::repeat_n(String::new(), rows));
    axis.ticks = group
        .styles()
        .enumerate()
        .flat_map(|(place, style)| {
            let label = style.name.clone();
            let tick = move |(row, (_, stage)): (usize, (Measure, &str))| {
                (height(rows, place, row), format!("{label}: {stage}"))
            };
            STAGES.into_iter().enumerate().map(tick)
        })
        .collect();
    axis
}

fn timeline(
    study: &Study,
    facets: &mut Facets,
    cell: &Levels,
    threshold: &Threshold,
    group: &Group,
    factors: [Option<Factor>; 2],
) {
    let any = study.ended(cell).next().is_some();
    let [chosen, panel] = factors.map(|factor| label_in(study, cell, factor));
    for (place, (condition, style)) in group.conditions.iter().enumerate() {
        for (row, (measure, stage)) in STAGES.into_iter().enumerate() {
            let when = |run: &Run| run.emergence(measure, condition, threshold.of(run), Crossing::First);
            let emerged = Emerged::new(study, cell, when);
            let (runs, measured) = (emerged.runs.to_string(), emerged.measured.to_string());
            let keys = [chosen, &threshold.label, panel, &style.name, stage, &runs, &measured];
            facets.row(&keys, emerged.estimate.as_ref());
            let y = height(rows(group), place, row);
            let never = |text: &str| Mark::Label { x: f64::from(study.last_step()), y, text: text.into() };
            match emerged.estimate {
                _ if !any => {}
                Some(estimate) => {
                    let tip = emerged.tip(&format!("{stage} in {}", style.name), &estimate);
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
