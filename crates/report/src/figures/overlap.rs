//! Overlap of the pieces that the languages use, by λ and by d, for each |V| and both regimes; or by what else varies.

use super::captions::{self, BANDS, Runs};
use super::facets::{Facets, label_in, level_axis, named, pick, regime, split, variants};
use super::figure::Figure;
use super::fragmentation;
use super::style::{self, Style};
use super::table::Table;
use crate::data::{Factor, Study};
use crate::draw::Axis;
use crate::wording::listed;
use invitro_results::{Measure, Quantity, TokenizerMetric, Words};

/// `None` where no factor varies.
pub fn figure(study: &Study) -> Option<Figure> {
    let over = fragmentation::levels(study, &[]);
    let line = pick(study, &[Factor::Vocab], &over);
    let row = regime(study, &[over.as_slice(), &[line]].concat());
    over.first()?;
    let mut table = Table::of_estimates([named(row), "by", "level", named(line)]);
    let languages = study.conditions().iter().filter(|condition| !condition.masked);
    let languages = listed(&languages.map(|it| it.label()).collect::<Vec<_>>());
    let overlap = Quantity::overall(Measure::Tokenizer(Words::Text, TokenizerMetric::Overlap));
    let lines: Vec<Style> =
        style::levels(study, line).into_iter().map(|style| Style { marked: true, ..style }).collect();
    let shown = [over.as_slice(), &[line, row]].concat();
    let variants = variants(study, &[], Runs::Measured, |choice| {
        choice.cell.extend(study.comparable(&shown));
        let mut facets = Facets::new(study, &mut table, Axis::share("vocabulary overlap")).fitted(&[]);
        for (title, row_cell) in split(study, row) {
            for factor in over.iter().flatten().copied() {
                facets.panel(&title, level_axis(study, factor));
                for (style, (_, cell)) in lines.iter().zip(split(study, line)) {
                    let cell = [choice.cell.as_slice(), &row_cell, &cell].concat();
                    let [row, line] = [row, line].map(|factor| label_in(study, &cell, factor));
                    facets.levels((&[row, factor.name()], &[line]), style, factor, 0.0, |level| {
                        study.mean_on(overlap.measure.scale(), study.at(&[cell.as_slice(), level].concat()), |run| {
                            run.once(&overlap)
                        })
                    });
                }
            }
        }
        let mut layout = facets.layout([2, 4]);
        layout.ratio = 0.85;
        layout.legend = style::lines(&lines);
        layout
    });
    Some(Figure {
        name: "overlap",
        title: format!("Vocabulary overlap{}", captions::by(&[over.as_slice(), &[line]].concat())),
        caption: format!("Pieces used by all of {languages} over pieces used by any. {BANDS}"),
        choosers: Vec::new(),
        variants,
        table,
    })
}
