//! Validity, grammaticality, type constraints and Γ over training: the cascade of the unscrambling task.

use super::captions::{self, BANDS, Runs};
use super::facets::{Facets, across, label_in, split, variants};
use super::figure::{Chooser, Figure};
use super::style;
use super::table::Table;
use crate::data::{Factor, Study};
use crate::draw::Axis;
use invitro_results::{Measure, Quantity};

pub fn figure(study: &Study) -> Figure {
    // The masked conditions first: they are what the figure is asked for.
    let conditions: Vec<_> = study.conditions().iter().rev().collect();
    let choosers = vec![
        Chooser::levels(study, Factor::Regime),
        Chooser::new("condition", "condition", conditions.iter().map(|condition| condition.label())),
    ];
    let mut table = Table::of_estimates(["regime", "condition", "vocab", "metric", "step"]);
    let vocabs = split(study, Factor::Vocab);
    let metrics = style::cascade();
    let variants = variants(study, &choosers, Runs::Measured, |choice| {
        let condition = conditions.get(choice.options[1]);
        let label = condition.map_or(String::new(), |condition| condition.label());
        let regime = label_in(study, &choice.cell, Factor::Regime);
        let mut facets = Facets::new(study, &mut table, Axis::share(format!("share of sentences in {label}")));
        for (title, vocab) in &vocabs {
            facets.panel(title, Axis::steps(study.last_step()));
            let cell = [choice.cell.as_slice(), vocab].concat();
            for (metric, style) in &metrics {
                let keys = [regime, &label, label_in(study, vocab, Factor::Vocab), metric.name()];
                let condition = condition.copied().cloned();
                facets.curve(&keys, style, &cell, &Quantity { measure: Measure::unscrambling(*metric), condition });
            }
        }
        let mut layout = facets.layout(across(vocabs.len()));
        layout.ratio = 0.85;
        layout.legend = style::lines(metrics.iter().map(|(_, style)| style));
        layout
    });
    Figure {
        name: "dynamics",
        title: "Validity, grammaticality and type constraints over training".into(),
        caption: format!(
            "Greedy unscrambling (T₁). Each metric is nested in the one before: a sentence counts as grammatical only if it is valid, \
             and so on to Γ.{} {BANDS}",
            captions::pooled(study, &[Factor::Vocab, Factor::Regime])
        ),
        choosers,
        variants,
        table,
    }
}
