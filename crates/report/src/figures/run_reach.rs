//! One run: reachability of the allowed set over training, with the forbidden set and the n-gram models beside it.

use super::captions::Runs;
use super::facets::{Facets, across, variants};
use super::figure::{Chooser, Figure};
use super::nulls::series;
use super::reachability::READINGS;
use super::style;
use super::table::Table;
use crate::data::Study;
use crate::draw::Axis;
use invitro_results::{Measure, Quantity, Statistic};

pub fn figure(study: &Study) -> Figure {
    let choosers = vec![Chooser::new("reading", "reading", READINGS.map(|(_, name, _)| name))];
    let mut table = Table::of_estimates(["reading", "condition", "who", "step"]);
    let series = series().map(|(scorer, targets, style)| (scorer, targets, style.unmarked()));
    let variants = variants(study, &choosers, Runs::Ended, |choice| {
        let (statistic, name, axis) = READINGS[choice.options[0]];
        let mut facets = Facets::new(study, &mut table, Axis::share(axis));
        if statistic == Statistic::Share {
            facets = facets.fitted(&[0.0]);
        }
        for condition in study.conditions() {
            facets.panel(condition.label(), Axis::steps(study.last_step()));
            for (scorer, targets, style) in &series {
                let keys = [name, &condition.label(), &format!("{scorer}.{targets}")];
                let quantity = Quantity::of(Measure::reach(*scorer, *targets, statistic), condition);
                facets.curve(&keys, style, &[], &quantity);
            }
        }
        let mut layout = facets.layout(across(study.conditions().len()));
        layout.ratio = 0.85;
        layout.legend = style::lines(series.iter().map(|(.., style)| style));
        layout
    });
    Figure {
        name: "reach",
        title: "Reachability against its nulls over training".into(),
        caption: "Top-*K* reachability (*K* = 0.1 |*V*|) of descriptors Γ allows the subject, of ones it forbids, of other classes, and of \
                  the allowed set under n-gram models of the training text."
            .into(),
        choosers,
        variants,
        table,
    }
}
