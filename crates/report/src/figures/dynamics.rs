//! Validity, grammaticality, type constraints and Γ over training: the cascade of the unscrambling task.

use super::common::{self, BANDS, CASCADE, CONDITIONS};
use super::{Chooser, Figure, Table};
use crate::data::{Factor, Study};
use crate::draw::{Axis, Entry, Ink, Mark, Panel, Plate};

pub fn figure(study: &Study) -> Figure {
    let (mut choosers, choices) = common::choices(study, &[Factor::Regime]);
    let masked_first = [2, 1, 0].map(|place: usize| &CONDITIONS[place]);
    let options = masked_first.map(|condition| condition.label.to_owned()).into();
    choosers.push(Chooser { name: "condition", label: "condition".into(), options });
    let mut table = Table::of_estimates(["regime", "condition", "vocab", "metric", "step"]);
    let mut variants = Vec::new();
    for choice in &choices {
        for (place, condition) in masked_first.into_iter().enumerate() {
            let columns = common::split(study, Factor::Vocab);
            let mut panels = Vec::new();
            for (title, vocab) in &columns {
                let mut panel = Panel::new(
                    title,
                    Axis::steps(study.last_step()),
                    Axis::share(format!("share of sentences in {}", condition.label)),
                );
                let cell = [choice.cell.as_slice(), vocab].concat();
                for (stage, (metric, name)) in CASCADE.into_iter().enumerate() {
                    let key = study.key(condition.key, "T1", metric);
                    for (step, estimate) in study.mean_curve(study.at(&cell), key) {
                        let level = |factor| common::label_in(study, &cell, factor);
                        let step = step.to_string();
                        let keys = [level(Factor::Regime), condition.label, level(Factor::Vocab), metric, &step];
                        table.estimate(keys, Some(&estimate));
                    }
                    let points = common::curve(study, &cell, key, name);
                    panel.marks.push(Mark::Line {
                        points,
                        ink: Ink::Level(stage, CASCADE.len()),
                        dash: "",
                        shape: None,
                    });
                }
                panels.push(panel);
            }
            let mut plate = Plate::new(panels, common::across(columns.len()));
            plate.ratio = 0.85;
            plate.legend = legend();
            let options = [choice.options.as_slice(), &[place]].concat();
            variants.push(common::variant(options, plate, common::counted(study, &choice.cell, false)));
        }
    }
    Figure {
        name: "dynamics",
        title: "Validity, grammaticality and type constraints over training".into(),
        caption: format!(
            "Greedy unscrambling (T₁). Each metric is nested in the one before: a sentence counts as grammatical only if it is valid, \
             and so on to Γ.{} {BANDS}",
            common::pooled(study, &[Factor::Vocab, Factor::Regime])
        ),
        choosers,
        variants,
        table,
    }
}

pub(super) fn legend() -> Vec<Entry> {
    let entry = |(stage, (_, name)): (usize, (&str, &str))| Entry {
        label: name.into(),
        ink: Ink::Level(stage, CASCADE.len()),
        line: Some(""),
        shape: None,
    };
    CASCADE.into_iter().enumerate().map(entry).collect()
}
