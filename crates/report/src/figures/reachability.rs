//! Masked Top-K reachability over training, by each factor that varies.

use super::captions::{BANDS, Runs};
use super::facets::{Facets, across, compared, label_in, pick, regime, split, variants};
use super::figure::{Chooser, Figure};
use super::progress::Progress;
use super::style;
use super::table::Table;
use crate::data::{Factor, Study};
use crate::draw::Axis;
use crate::wording::listed;
use invitro_results::{Condition, Measure, Quantity, Scorer, Statistic, Targets};

/// The two readings of reachability: what they are called, and the axis. The paper's is at its top nearly everywhere.
pub(super) const READINGS: [(Statistic, &str, &str); 2] = [
    (Statistic::Share, "share of targets", "share of targets reachable"),
    (Statistic::Any, "any target (the paper's)", "Top-*K* reachability"),
];

pub fn figure(study: &Study) -> Figure {
    let masked: Vec<&Condition> = study.masked().collect();
    let (by, progress) = (study.varying(), Progress::all(study));
    let choosers = vec![
        Chooser::by(&by),
        Chooser::new("reading", "reading", READINGS.map(|(_, name, _)| name)),
        Chooser::new("condition", "condition", masked.iter().map(|condition| condition.label())),
        Progress::chooser(&progress),
    ];
    let mut table = Table::of_estimates(["reading", "condition", "by", "level", "panel", "row", "step"]);
    let variants = variants(study, &choosers, Runs::Measured, |choice| {
        let factor = by.get(choice.options[0]).copied();
        // Regimes are rows where there are two; |V| is columns, or λ where |V| is compared.
        let row = regime(study, &[factor]);
        let column = pick(study, &[Factor::VOCAB, Factor::LAMBDA], &[factor, row]);
        choice.cell.extend(study.comparable(&[factor, column, row]));
        let (statistic, name, axis) = READINGS[choice.options[1]];
        let condition = masked.get(choice.options[2]).copied().cloned();
        let label = condition.as_ref().map_or(String::new(), Condition::label);
        let progress = &progress[choice.options[3]];
        let quantity =
            Quantity { measure: Measure::reach(Scorer::Network, Targets::Allowed, statistic), condition, pair: None };
        let (columns, levels) = (split(study, column), style::levels(study, factor));
        let mut facets = Facets::new(study, &mut table, Axis::share(axis)).fitted_share().over(progress);
        for (row_title, row_cell) in split(study, row) {
            for (title, column_cell) in &columns {
                facets.panel(title, progress.axis()).row = row_title.clone();
                for (style, (_, level)) in levels.iter().zip(split(study, factor)) {
                    let cell = [&choice.cell, &row_cell, column_cell, &level].map(Vec::as_slice).concat();
                    let by = compared(factor);
                    let [level, column, row] = [factor, column, row].map(|factor| label_in(study, &cell, factor));
                    facets.curve(&[name, &label, &by, level, column, row], style, &cell, &quantity);
                }
            }
        }
        let mut layout = facets.layout(across(columns.len()));
        layout.legend = style::lines(&levels);
        layout
    });
    Figure {
        name: "reachability",
        title: "Masked Top-*K* reachability over training".into(),
        caption: format!(
            "Reachability of masked descriptors ({}) that Γ allows the subject, *K* = 0.1 |*V*|: the share of targets that are \
             reachable, or the share of subjects with any reachable target among those asked for (at most *eval.targets* a \
             subject). Each curve is the mean over the factors not shown. {BANDS}",
            listed(&masked.iter().map(|condition| condition.label()).collect::<Vec<_>>())
        ),
        choosers,
        variants,
        table,
    }
}
