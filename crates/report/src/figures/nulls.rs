//! Reachability against its nulls: what Γ allows, what it forbids, other classes, and n-gram models.

use super::captions::{self, BANDS, Runs};
use super::facets::{Facets, across, dodge, label_in, named, pick, split, variants};
use super::figure::{Chooser, Figure};
use super::groups::{self, groups};
use super::style::{self, Style};
use super::table::Table;
use crate::data::{Factor, FactorWords, Run, Study};
use crate::draw::{Axis, Colour, Shape};
use invitro_results::{Fraction, Measure, Quantity, Scorer, Statistic, Targets};

/// Who reaches which set, and how it is drawn. The n-gram models are broken lines, since they do not train.
pub(super) fn series() -> [(Scorer, Targets, Style); 5] {
    let null = |scorer, name, shape, dash| {
        (scorer, Targets::Allowed, Style { dash, ..Style::marked(name, Colour::Null, shape) })
    };
    let network =
        |targets, name, place, shape| (Scorer::Network, targets, Style::marked(name, Colour::Level(place, 3), shape));
    [
        network(Targets::Allowed, "network, allowed by Γ", 0, Shape::Circle),
        network(Targets::Forbidden, "network, forbidden", 1, Shape::Square),
        network(Targets::Other, "network, other classes", 2, Shape::Triangle),
        null(Scorer::Bigram, "bigram, allowed", Shape::Diamond, "3 1.5"),
        null(Scorer::Unigram, "unigram, allowed", Shape::Ring, "1 1.5"),
    ]
}

/// What the statistics are called, and the axis.
const STATISTICS: [(Statistic, &str, &str); 2] = [
    (Statistic::Share, "share of targets", "share of targets reachable"),
    (Statistic::Any, "any target", "subjects with a reachable target"),
];

/// At the end of training; an n-gram model is measured once.
fn at_end(run: &Run, quantity: &Quantity, scorer: Scorer) -> Option<f64> {
    let curve = run.curve(quantity);
    if scorer == Scorer::Network { curve.end() } else { curve.peak().map(|point| point.value) }
}

pub fn figure(study: &Study) -> Figure {
    let by = pick(study, &[Factor::VOCAB], &[]);
    let groups = groups(study);
    let fractions: Vec<Fraction> = Fraction::ALL.into_iter().rev().collect();
    let choosers = vec![
        Chooser::new("reading", "reading", STATISTICS.map(|(_, name, _)| name)),
        Chooser::new("k", "*K*", fractions.iter().map(|fraction| format!("{fraction} |V|"))),
        groups::chooser(&groups),
    ];
    let mut table = Table::of_estimates(["reading", "K", "condition", named(by), "who"]);
    let series = series();
    let variants = variants(study, &choosers, Runs::Ended, |choice| {
        let (statistic, name, axis) = STATISTICS[choice.options[0]];
        let top = fractions[choice.options[1]];
        let conditions = &groups[choice.options[2]].conditions;
        choice.cell.extend(study.comparable(&[by]));
        let mut facets = Facets::new(study, &mut table, Axis::share(axis)).fitted_share();
        let levels = split(study, by);
        for (condition, _) in conditions {
            let labels = levels.iter().map(|(_, cell)| by.map_or("", |by| label_in(study, cell, by)).to_owned());
            facets.panel(condition.label(), Axis::levels(by.map_or(String::new(), |by| by.symbol()), labels));
            for (place, (title, level)) in levels.iter().enumerate() {
                let cell = [choice.cell.as_slice(), level].concat();
                for (slot, (scorer, targets, style)) in series.iter().enumerate() {
                    let measure = Measure::reach_at(*scorer, *targets, statistic, top);
                    let quantity = Quantity::of(measure, condition);
                    let estimate =
                        study.mean_on(measure.scale(), study.ended(&cell), |run| at_end(run, &quantity, *scorer));
                    let who = format!("{scorer}.{targets}");
                    let keys = [name, &top.to_string(), &condition.label(), label_in(study, level, by), &who];
                    let x = place as f64 + dodge(slot, series.len(), 0.16);
                    let tip = [style.name.as_str(), title].join(if title.is_empty() { "" } else { ", " });
                    facets.error_bar(&keys, style, x, &tip, estimate.as_ref());
                }
            }
        }
        let mut layout = facets.layout(across(conditions.len()));
        layout.ratio = 0.9;
        layout.legend = style::markers(series.iter().map(|(.., style)| style));
        layout
    });
    Figure {
        name: "nulls",
        title: "Reachability against its nulls".into(),
        caption: format!(
            "Reachability at the end of training of three target sets of equal size per subject (descriptors Γ allows it, descriptors \
             of its own class that Γ forbids it, descriptors of other classes), and of the allowed set under bigram and unigram \
             models of the training text. Only the part above the nulls can be knowledge.{} {BANDS}",
            captions::pooled(study, &[by])
        ),
        choosers,
        variants,
        table,
    }
}
