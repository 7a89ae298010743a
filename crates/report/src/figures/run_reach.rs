//! One run: reachability of the allowed set over training, with the forbidden set and the n-gram models beside it.

use super::captions::Runs;
use super::facets::{Facets, across, variants};
use super::figure::{Chooser, Figure};
use super::groups::{self, groups};
use super::nulls::series;
use super::progress::Progress;
use super::reachability::READINGS;
use super::style;
use super::table::Table;
use crate::data::Study;
use crate::draw::Axis;
use invitro_results::{Measure, Quantity};

pub fn figure(study: &Study) -> Figure {
    let (groups, progress) = (groups(study), Progress::all(study));
    let readings = Chooser::new("reading", "reading", READINGS.map(|(_, name, _)| name));
    let choosers = vec![readings, groups::chooser(&groups), Progress::chooser(&progress)];
    let mut table = Table::of_estimates(["reading", "condition", "who", "step"]);
    let series = series().map(|(scorer, targets, style)| (scorer, targets, style.unmarked()));
    let variants = variants(study, &choosers, Runs::Ended, |choice| {
        let (statistic, name, axis) = READINGS[choice.options[0]];
        let conditions = &groups[choice.options[1]].conditions;
        let progress = &progress[choice.options[2]];
        let mut facets = Facets::new(study, &mut table, Axis::share(axis)).fitted_share().over(progress);
        for (condition, _) in conditions {
            facets.panel(condition.label(), progress.axis());
            for (scorer, targets, style) in &series {
                let keys = [name, &condition.label(), &format!("{scorer}.{targets}")];
                let quantity = Quantity::of(Measure::reach(*scorer, *targets, statistic), condition);
                facets.curve(&keys, style, &[], &quantity);
            }
        }
        let mut layout = facets.layout(across(conditions.len()));
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
