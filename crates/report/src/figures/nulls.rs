//! Reachability against its nulls: what Γ allows, what it forbids, other classes, and n-gram models.

use super::captions::{self, BANDS, Runs};
use super::facets::{Facets, across, dodge, level_axis, variants};
use super::figure::{Chooser, Figure};
use super::style::{self, Style};
use super::table::Table;
use crate::data::{Factor, Run, Study};
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
    (Statistic::Any, "any target", "subjects with a reachable target"),
    (Statistic::Share, "share of targets", "share of targets reachable"),
];

/// At the end of training; an n-gram model is measured once.
fn at_end(run: &Run, quantity: &Quantity, scorer: Scorer) -> Option<f64> {
    let curve = run.curve(quantity);
    if scorer == Scorer::Network { curve.end() } else { curve.peak().map(|point| point.value) }
}

pub fn figure(study: &Study) -> Figure {
    let fractions: Vec<Fraction> = Fraction::ALL.into_iter().rev().collect();
    let choosers = vec![
        Chooser::new("reading", "reading", STATISTICS.map(|(_, name, _)| name)),
        Chooser::new("k", "*K*", fractions.iter().map(|fraction| format!("{fraction} |V|"))),
    ];
    let mut table = Table::of_estimates(["reading", "K", "condition", "vocab", "who"]);
    let series = series();
    let variants = variants(study, &choosers, Runs::Ended, |choice| {
        let (statistic, name, axis) = STATISTICS[choice.options[0]];
        let top = fractions[choice.options[1]];
        let mut facets = Facets::new(study, &mut table, Axis::share(axis));
        if statistic == Statistic::Share {
            facets = facets.fitted(&[0.0]);
        }
        for condition in study.conditions() {
            facets.panel(condition.label(), level_axis(study, Factor::Vocab));
            for (place, vocab) in study.levels(Factor::Vocab).iter().enumerate() {
                for (slot, (scorer, targets, style)) in series.iter().enumerate() {
                    let measure = Measure::reach_at(*scorer, *targets, statistic, top);
                    let quantity = Quantity::of(measure, condition);
                    let cell = [(Factor::Vocab, place)];
                    let estimate = study.mean(study.ended(&cell), |run| at_end(run, &quantity, *scorer));
                    let keys = [name, &top.to_string(), &condition.label(), vocab, &format!("{scorer}.{targets}")];
                    let x = place as f64 + dodge(slot, series.len(), 0.16);
                    facets.error_bar(&keys, style, x, &format!("{}, |V| = {vocab}", style.name), estimate.as_ref());
                }
            }
        }
        let mut layout = facets.layout(across(study.conditions().len()));
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
            captions::pooled(study, &[Factor::Vocab])
        ),
        choosers,
        variants,
        table,
    }
}
