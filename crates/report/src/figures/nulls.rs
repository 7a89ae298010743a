//! Reachability against its nulls: what Γ allows, what it forbids, other classes, and n-gram models.

use super::common::{self, BANDS, CONDITIONS};
use super::{Chooser, Figure, Table};
use crate::data::{Factor, Study};
use crate::draw::{Axis, Entry, Ink, Mark, Panel, Plate, Shape};

/// Who reaches which set, and how it is drawn.
pub(super) const SERIES: [(&str, &str, Ink, Shape); 5] = [
    ("network.allowed", "network, allowed by Γ", Ink::Level(0, 3), Shape::Circle),
    ("network.forbidden", "network, forbidden", Ink::Level(1, 3), Shape::Square),
    ("network.other", "network, other classes", Ink::Level(2, 3), Shape::Triangle),
    ("bigram.allowed", "bigram, allowed", Ink::Null, Shape::Diamond),
    ("unigram.allowed", "unigram, allowed", Ink::Null, Shape::Ring),
];

/// Chooser label, statistic, axis.
const STATISTICS: [(&str, &str, &str); 2] = [
    ("any target", "any", "subjects with a reachable target"),
    ("share of targets", "share", "share of targets reachable"),
];

const FRACTIONS: [&str; 4] = ["0.1", "0.05", "0.02", "0.01"];

pub fn figure(study: &Study) -> Figure {
    let mut table = Table::of_estimates(["reading", "K", "condition", "vocab", "who"]);
    let mut variants = Vec::new();
    let vocabs = study.levels(Factor::Vocab);
    for (row, (name, statistic, axis)) in STATISTICS.into_iter().enumerate() {
        for (column, fraction) in FRACTIONS.into_iter().enumerate() {
            let mut panels = Vec::new();
            let mut extent = vec![0.0];
            for condition in &CONDITIONS {
                let mut panel =
                    Panel::new(condition.label, common::level_axis(study, Factor::Vocab), Axis::share(axis));
                for (place, vocab) in vocabs.iter().enumerate() {
                    let cell = [(Factor::Vocab, place)];
                    for (slot, (who, label, ink, shape)) in SERIES.into_iter().enumerate() {
                        let key = study.key(condition.key, "reach", &format!("{who}.{statistic}@{fraction}"));
                        let estimate = study.mean(study.ended(&cell), |run| run.last(key));
                        let x = place as f64 + (slot as f64 - 2.0) * 0.16;
                        let said = format!("{label}, |V| = {}", vocab.label);
                        let dot = estimate.as_ref().map(|it| common::at(x, it, &said));
                        extent.extend(common::extent(dot.as_slice()));
                        panel.marks.extend(dot.map(|at| Mark::Dot { at, ink, shape, along_x: false }));
                        table.estimate([name, fraction, condition.label, &vocab.label, who], estimate.as_ref());
                    }
                }
                panels.push(panel);
            }
            if statistic == "share" {
                panels.iter_mut().for_each(|panel: &mut Panel| panel.y = Axis::around(axis, extent.iter().copied()));
            }
            let mut plate = Plate::new(panels, [3, 3]);
            plate.ratio = 0.9;
            plate.legend = legend();
            variants.push(common::variant(vec![row, column], plate, common::counted(study, &[], true)));
        }
    }
    let fraction = |fraction: &str| format!("{fraction} |V|");
    Figure {
        name: "nulls",
        title: "Reachability against its nulls".into(),
        caption: format!(
            "Reachability at the end of training of three target sets of equal size per subject (descriptors Γ allows it, descriptors \
             of its own class that Γ forbids it, descriptors of other classes), and of the allowed set under bigram and unigram \
             models of the training text. Only the part above the nulls can be knowledge.{} {BANDS}",
            common::pooled(study, &[Factor::Vocab])
        ),
        choosers: vec![
            Chooser { name: "reading", label: "reading".into(), options: STATISTICS.map(|it| it.0.to_owned()).into() },
            Chooser { name: "k", label: "*K*".into(), options: FRACTIONS.map(fraction).into() },
        ],
        variants,
        table,
    }
}

pub(super) fn legend() -> Vec<Entry> {
    let entry = |(_, label, ink, shape): (&str, &str, Ink, Shape)| Entry {
        label: label.into(),
        ink,
        line: None,
        shape: Some(shape),
    };
    SERIES.into_iter().map(entry).collect()
}
