//! Fertility and continuation rate of every condition, by λ and by d, for each |V|.

use super::captions::{self, BANDS, Runs};
use super::facets::{Facets, across, label_in, level_axis, split, variants};
use super::figure::{Chooser, Figure};
use super::style;
use super::table::Table;
use crate::data::{Factor, Study};
use crate::draw::Axis;
use invitro_results::{Measure, Quantity, TokenizerMetric, Words};

pub fn fertility(study: &Study) -> Figure {
    let what = "Pieces per word of running text in";
    figure(study, TokenizerMetric::Fertility, "Fertility", "fertility (pieces per word)", what)
}

pub fn continuation(study: &Study) -> Figure {
    let what = "Share of the words of running text that take more than one piece, in";
    figure(study, TokenizerMetric::Continuation, "Continuation rate", "continuation rate", what)
}

fn figure(study: &Study, metric: TokenizerMetric, title: &str, axis: &str, what: &str) -> Figure {
    let choosers = vec![Chooser::levels(study, Factor::Regime)];
    let mut table = Table::of_estimates(["regime", "vocab", "by", "level", "condition"]);
    let conditions = style::conditions(study);
    let vocabs = split(study, Factor::Vocab);
    let variants = variants(study, &choosers, Runs::Measured, |choice| {
        let regime = label_in(study, &choice.cell, Factor::Regime);
        let mut facets = Facets::new(study, &mut table, Axis::share(axis)).fitted(&[]);
        for factor in [Factor::Lambda, Factor::Distance] {
            for (name, cell) in &vocabs {
                facets.panel(name, level_axis(study, factor));
                for (condition, style) in &conditions {
                    let quantity = Quantity::of(Measure::Tokenizer(Words::Text, metric), condition);
                    let vocab = label_in(study, cell, Factor::Vocab);
                    facets.levels((&[regime, vocab, factor.name()], &[&style.name]), style, factor, 0.0, |level| {
                        let cell = [choice.cell.as_slice(), cell, level].concat();
                        study.mean(study.at(&cell), |run| run.once(&quantity))
                    });
                }
            }
        }
        let mut layout = facets.layout(across(vocabs.len()));
        layout.legend = style::marked_lines(conditions.iter().map(|(_, style)| style));
        layout
    });
    Figure {
        name: metric.name(),
        title: format!("{title} by condition, *λ*, *d* and |*V*|"),
        caption: format!(
            "{what} {}, by *λ* (top, over all *d*) and by *d* (bottom, over all *λ*). {BANDS}",
            captions::conditions(study)
        ),
        choosers,
        variants,
        table,
    }
}
