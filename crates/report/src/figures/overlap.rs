//! Overlap of the pieces that the languages use, by λ and by d, for each |V| and both regimes.

use super::captions::{BANDS, Runs};
use super::facets::{Facets, level_axis, split, variants};
use super::figure::Figure;
use super::style::{self, Style};
use super::table::Table;
use crate::data::{Factor, Study};
use crate::draw::Axis;
use crate::wording::listed;
use invitro_results::{Measure, Quantity, TokenizerMetric, Words};

pub fn figure(study: &Study) -> Figure {
    let mut table = Table::of_estimates(["regime", "by", "level", "vocab"]);
    let languages = study.conditions().iter().filter(|condition| !condition.masked);
    let axis = format!("vocabulary overlap of {}", listed(&languages.map(|it| it.label()).collect::<Vec<_>>()));
    let overlap = Quantity::overall(Measure::Tokenizer(Words::Text, TokenizerMetric::Overlap));
    let vocabs: Vec<Style> =
        style::levels(study, Factor::Vocab).into_iter().map(|style| Style { marked: true, ..style }).collect();
    let variants = variants(study, &[], Runs::Measured, |_| {
        let mut facets = Facets::new(study, &mut table, Axis::share(&axis)).fitted(&[]);
        for (regime, cell) in split(study, Factor::Regime) {
            for factor in [Factor::Lambda, Factor::Distance] {
                facets.panel(&regime, level_axis(study, factor));
                for (vocab, style) in vocabs.iter().enumerate() {
                    let keys: (&[&str], &[&str]) = (&[&regime, factor.name()], &[&study.levels(Factor::Vocab)[vocab]]);
                    facets.levels(keys, style, factor, 0.0, |level| {
                        let cell = [cell.as_slice(), &[(Factor::Vocab, vocab)], level].concat();
                        study.mean(study.at(&cell), |run| run.once(&overlap))
                    });
                }
            }
        }
        let mut layout = facets.layout([2, 4]);
        layout.ratio = 1.0;
        layout.legend = style::lines(&vocabs);
        layout
    });
    Figure {
        name: "overlap",
        title: "Vocabulary overlap by *λ* and by *d*".into(),
        caption: format!("Pieces used by both languages over pieces used by either, for each |*V*|. {BANDS}"),
        choosers: Vec::new(),
        variants,
        table,
    }
}
