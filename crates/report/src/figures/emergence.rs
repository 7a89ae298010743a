//! When grammaticality and the rest emerge: by language for each |V|, and by |V| in B†.

use super::common::{self, CASCADE, CONDITIONS, Choice};
use super::{Chooser, Figure, Table};
use crate::data::{Factor, Key, Study};
use crate::draw::{At, Axis, Entry, Ink, Mark, Panel, Plate, Shape};
use crate::stats::Estimate;

/// The paper's threshold first.
pub(super) const THRESHOLDS: [f64; 3] = [0.02, 0.1, 0.5];

pub(super) fn threshold_chooser() -> Chooser {
    let options = THRESHOLDS.map(|threshold| threshold.to_string()).into();
    Chooser { name: "threshold", label: "threshold".into(), options }
}

/// The mean emergence step of the runs in which it emerged, and how many there were of how many.
struct Mean {
    estimate: Option<Estimate>,
    emerged: usize,
    measured: usize,
}

fn mean(study: &Study, cell: &[(Factor, usize)], key: Option<Key>, threshold: f64) -> Mean {
    let measured = || study.ended(cell).filter(|run| !run.curve(key).is_empty());
    Mean {
        estimate: study.mean(measured(), |run| run.emergence(key, threshold).map(f64::from)),
        emerged: measured().filter(|run| run.emergence(key, threshold).is_some()).count(),
        measured: measured().count(),
    }
}

impl Mean {
    /// A full mark where it emerged in every run, a ring where in some.
    fn mark(&self, x: f64, stage: usize, name: &str) -> Option<Mark> {
        let estimate = self.estimate?;
        let interval = estimate.interval.map(|interval| (interval.low, interval.high));
        let tip = format!(
            "{name}: step {}, emerged in {} of {}",
            common::spoken(&estimate),
            self.emerged,
            common::count(self.measured)
        );
        let shape = if self.emerged == self.measured { Shape::Circle } else { Shape::Ring };
        let at = At { x, y: estimate.value, interval, tip };
        Some(Mark::Dot { at, ink: Ink::Level(stage, CASCADE.len()), shape, along_x: false })
    }

    fn top(&self) -> f64 {
        self.estimate.map_or(0.0, |estimate| estimate.interval.map_or(estimate.value, |interval| interval.high))
    }
}

/// Side by side around the middle of a level.
fn dodge(stage: usize) -> f64 {
    (stage as f64 - (CASCADE.len() as f64 - 1.0) / 2.0) * 0.17
}

fn legend() -> Vec<Entry> {
    super::dynamics::legend()
        .into_iter()
        .map(|entry| Entry { line: None, shape: Some(Shape::Circle), ..entry })
        .collect()
}

pub fn by_language(study: &Study) -> Figure {
    let mut table = Table::of_estimates(["regime", "threshold", "vocab", "condition", "metric", "emerged", "measured"]);
    let conditions = || CONDITIONS.iter().map(|condition| condition.label.to_owned());
    let (choosers, variants) = per_choice(study, |choice, threshold| {
        let columns = common::split(study, Factor::Vocab);
        let mut top = 0.0f64;
        let mut panels = Vec::new();
        for (title, vocab) in &columns {
            let cell = [choice.cell.as_slice(), vocab].concat();
            let mut panel = Panel::new(title, Axis::levels("", conditions()), Axis::share(""));
            for (place, condition) in CONDITIONS.iter().enumerate() {
                for (stage, (metric, name)) in CASCADE.into_iter().enumerate() {
                    let mean = mean(study, &cell, study.key(condition.key, "T1", metric), threshold);
                    top = top.max(mean.top());
                    let name = format!("{name} in {}", condition.label);
                    panel.marks.extend(mean.mark(place as f64 + dodge(stage), stage, &name));
                    let level = |factor| common::label_in(study, &cell, factor);
                    let counts = [mean.emerged.to_string(), mean.measured.to_string()];
                    let keys = [
                        level(Factor::Regime),
                        &threshold.to_string(),
                        level(Factor::Vocab),
                        condition.label,
                        metric,
                        &counts[0],
                        &counts[1],
                    ];
                    table.estimate(keys, mean.estimate.as_ref());
                }
            }
            panels.push(panel);
        }
        (panels, top, common::across(columns.len()))
    });
    Figure {
        name: "emergence-by-language",
        title: "Emergence by language".into(),
        caption: caption(study, &[Factor::Vocab, Factor::Regime]),
        choosers,
        variants,
        table,
    }
}

pub fn by_vocabulary(study: &Study) -> Figure {
    let mut table = Table::of_estimates(["regime", "threshold", "condition", "vocab", "metric", "emerged", "measured"]);
    let (choosers, variants) = per_choice(study, |choice, threshold| {
        let mut top = 0.0f64;
        let mut panels = Vec::new();
        for condition in CONDITIONS.iter().rev() {
            let mut panel = Panel::new(condition.label, common::level_axis(study, Factor::Vocab), Axis::share(""));
            for (place, vocab) in study.levels(Factor::Vocab).iter().enumerate() {
                let cell = [choice.cell.as_slice(), &[(Factor::Vocab, place)]].concat();
                for (stage, (metric, name)) in CASCADE.into_iter().enumerate() {
                    let mean = mean(study, &cell, study.key(condition.key, "T1", metric), threshold);
                    top = top.max(mean.top());
                    let name = format!("{name} in {}, |V| = {}", condition.label, vocab.label);
                    panel.marks.extend(mean.mark(place as f64 + dodge(stage), stage, &name));
                    let regime = common::label_in(study, &cell, Factor::Regime);
                    let counts = [mean.emerged.to_string(), mean.measured.to_string()];
                    let keys =
                        [regime, &threshold.to_string(), condition.label, &vocab.label, metric, &counts[0], &counts[1]];
                    table.estimate(keys, mean.estimate.as_ref());
                }
            }
            panels.push(panel);
        }
        (panels, top, [3, 3])
    });
    Figure {
        name: "emergence-by-vocabulary",
        title: "Emergence by |*V*|".into(),
        caption: caption(study, &[Factor::Vocab, Factor::Regime]),
        choosers,
        variants,
        table,
    }
}

fn per_choice(
    study: &Study,
    mut panels: impl FnMut(&Choice, f64) -> (Vec<Panel>, f64, [usize; 2]),
) -> (Vec<Chooser>, Vec<super::Variant>) {
    let (mut choosers, choices) = common::choices(study, &[Factor::Regime]);
    choosers.push(threshold_chooser());
    let mut variants = Vec::new();
    for choice in &choices {
        for (place, threshold) in THRESHOLDS.into_iter().enumerate() {
            let (mut panels, top, across) = panels(choice, threshold);
            for panel in &mut panels {
                panel.y = Axis { label: "emergence step".into(), ..Axis::steps((1.05 * top).ceil().max(1.0) as u32) };
            }
            let mut plate = Plate::new(panels, across);
            plate.ratio = 0.85;
            plate.legend = legend();
            let options = [choice.options.as_slice(), &[place]].concat();
            variants.push(common::variant(options, plate, common::counted(study, &choice.cell, true)));
        }
    }
    (choosers, variants)
}

fn caption(study: &Study, shown: &[Factor]) -> String {
    format!(
        "The first evaluated step at which a metric of T₁ exceeds the threshold (the paper's is 0.02), averaged over the runs in \
         which it did; lower is earlier. A ring means that in some runs it never did: hover for how many. Bars are 95 % intervals \
         over seeds.{}",
        common::pooled(study, shown)
    )
}
