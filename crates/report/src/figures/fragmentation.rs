//! Fertility and continuation rate of every condition, by λ and by d, for each |V|; or by what else varies.

use super::captions::{self, BANDS, Runs};
use super::facets::{Facets, across, label_in, level_axis, named, pick, regime, split, variants};
use super::figure::{Chooser, Figure};
use super::groups::{self, groups};
use super::style;
use super::table::Table;
use crate::data::{Factor, FactorWords, Study};
use crate::draw::Axis;
use invitro_results::{Measure, Quantity, TokenizerMetric, Words};

pub fn fertility(study: &Study) -> Option<Figure> {
    let what = "Pieces per word of running text in";
    figure(study, TokenizerMetric::Fertility, "Fertility", "fertility (pieces per word)", what)
}

pub fn continuation(study: &Study) -> Option<Figure> {
    let what = "Share of the words of running text that take more than one piece, in";
    figure(study, TokenizerMetric::Continuation, "Continuation rate", "continuation rate", what)
}

fn figure(study: &Study, metric: TokenizerMetric, title: &str, axis: &str, what: &str) -> Option<Figure> {
    let over = levels(study, &[]);
    let column = pick(study, &[Factor::VOCAB], &over);
    let chosen = regime(study, &[over.as_slice(), &[column]].concat());
    let (first, groups) = (over.first().copied()??, groups(study));
    let choosers = vec![Chooser::levels(study, chosen), groups::chooser(&groups)];
    let mut table = Table::of_estimates([named(chosen), named(column), "by", "level", "condition"]);
    let columns = split(study, column);
    let shown = [over.as_slice(), &[column, chosen]].concat();
    let variants = variants(study, &choosers, Runs::Measured, |choice| {
        choice.cell.extend(study.comparable(&shown));
        let group = &groups[choice.options[1]];
        let mut facets = Facets::new(study, &mut table, Axis::share(axis)).fitted(&[]);
        for factor in over.iter().flatten().copied() {
            for (title, cell) in &columns {
                facets.panel(title, level_axis(study, factor));
                let cell = [choice.cell.as_slice(), cell].concat();
                let [chosen, column] = [chosen, column].map(|factor| label_in(study, &cell, factor));
                for (condition, style) in &group.conditions {
                    let quantity = Quantity::of(Measure::Tokenizer(Words::Text, metric), condition);
                    let before = [chosen, column, factor.name()];
                    facets.levels((&before, &[&style.name]), style, factor, 0.0, |level| {
                        let cell = [cell.as_slice(), level].concat();
                        study.mean_on(quantity.measure.scale(), study.at(&cell), |run| run.once(&quantity))
                    });
                }
            }
        }
        let mut layout = facets.layout(across(columns.len()));
        layout.legend = style::marked_lines(group.styles());
        layout
    });
    let each = match over.get(1).copied().flatten() {
        Some(second) => {
            format!("by {0} (top, over all {1}) and by {1} (bottom, over all {0})", first.symbol(), second.symbol())
        }
        None => format!("by {}", first.symbol()),
    };
    Some(Figure {
        name: metric.name(),
        title: format!("{title}{}", captions::by(&[over.as_slice(), &[column]].concat())),
        caption: format!("{what} {}, {each}. {BANDS}", captions::conditions(study)),
        choosers,
        variants,
        table,
    })
}

/// At most two factors to show a measure of tokenizers over: λ and d where they vary, else what does. One level of |V|
/// beside another is a panel, unless nothing else varies.
pub(super) fn levels(study: &Study, taken: &[Option<Factor>]) -> Vec<Option<Factor>> {
    let mut over: Vec<Option<Factor>> = Vec::new();
    for _ in 0..2 {
        let taken = [taken, &over].concat();
        let others: Vec<Factor> = study
            .varying()
            .into_iter()
            .filter(|factor| ![Factor::VOCAB, Factor::REGIME].contains(factor) && factor.shapes_tokenizer())
            .collect();
        let wanted = [&[Factor::LAMBDA, Factor::DISTANCE], others.as_slice()].concat();
        let found = pick(study, &wanted, &taken).filter(|found| over.is_empty() || wanted.contains(found));
        over.extend(found.map(Some));
    }
    over
}
