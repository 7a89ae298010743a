//! Validity, grammaticality, type constraints and Γ over training: the cascade of the unscrambling task.

use super::captions::{BANDS, Runs};
use super::facets::{Facets, across, compared, label_in, split, variants};
use super::figure::{Chooser, Figure};
use super::progress::Progress;
use super::style;
use super::table::Table;
use crate::data::Study;
use crate::draw::Axis;
use invitro_results::{Measure, Quantity};

pub fn figure(study: &Study) -> Figure {
    // The masked conditions first: they are what the figure is asked for.
    let mut conditions: Vec<_> = study.conditions().iter().collect();
    conditions.sort_by_key(|condition| !condition.masked);
    let (by, progress) = (study.varying(), Progress::all(study));
    let choosers = vec![
        Chooser::by(&by),
        Chooser::new("condition", "condition", conditions.iter().map(|condition| condition.label())),
        Progress::chooser(&progress),
    ];
    let mut table = Table::of_estimates(["by", "level", "condition", "metric", "step"]);
    let metrics = style::cascade();
    let variants = variants(study, &choosers, Runs::Measured, |choice| {
        let factor = by.get(choice.options[0]).copied();
        choice.cell.extend(study.comparable(&[factor]));
        let condition = conditions.get(choice.options[1]);
        let label = condition.map_or(String::new(), |condition| condition.label());
        let progress = &progress[choice.options[2]];
        let axis = Axis::share(format!("share of sentences in {label}"));
        let mut facets = Facets::new(study, &mut table, axis).over(progress);
        let levels = split(study, factor);
        for (title, level) in &levels {
            facets.panel(title, progress.axis());
            let cell = [choice.cell.as_slice(), level].concat();
            for (metric, style) in &metrics {
                let by = compared(factor);
                let keys = [&by, label_in(study, &cell, factor), &label, metric.name()];
                let condition = condition.copied().cloned();
                facets.curve(
                    &keys,
                    style,
                    &cell,
                    &Quantity { measure: Measure::unscrambling(*metric), condition, pair: None },
                );
            }
        }
        let mut layout = facets.layout(across(levels.len()));
        layout.ratio = 0.85;
        layout.legend = style::lines(metrics.iter().map(|(_, style)| style));
        layout
    });
    Figure {
        name: "dynamics",
        title: "Validity, grammaticality and type constraints over training".into(),
        caption: format!(
            "Greedy unscrambling (T₁). Each metric is nested in the one before: a sentence counts as grammatical only if it is valid, \
             and so on to Γ. Each curve is the mean over the factors not shown. {BANDS}"
        ),
        choosers,
        variants,
        table,
    }
}
