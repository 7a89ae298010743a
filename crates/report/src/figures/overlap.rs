//! Overlap of the pieces that the languages use, by λ and by d, for each |V| and both regimes; or by what else varies.

use super::captions::{self, BANDS, Runs};
use super::facets::{Facets, label_in, level_axis, named, pick, regime, split, variants};
use super::figure::{Chooser, Figure};
use super::fragmentation;
use super::style::{self, Style};
use super::table::Table;
use crate::data::{Factor, FactorWords, Study};
use crate::draw::Axis;
use invitro_results::{Measure, Quantity, TokenizerMetric, Words};

/// `None` where no factor varies.
pub fn figure(study: &Study) -> Option<Figure> {
    let over = fragmentation::levels(study, &[]);
    let line = pick(study, &[Factor::VOCAB], &over);
    let row = regime(study, &[over.as_slice(), &[line]].concat());
    over.first()?;
    let pairs = pairs(study);
    let chooser =
        Chooser::new("languages", "of", pairs.iter().filter(|_| pairs.len() > 1).map(|(name, _)| name.clone()));
    let choosers = vec![chooser];
    let mut table =
        Table::of_estimates([if pairs.len() > 1 { "of" } else { "" }, named(row), "by", "level", named(line)]);
    let lines: Vec<Style> =
        style::levels(study, line).into_iter().map(|style| Style { marked: true, ..style }).collect();
    let shown = [over.as_slice(), &[line, row]].concat();
    let variants = variants(study, &choosers, Runs::Measured, |choice| {
        let (pair, overlap) = &pairs[choice.options[0]];
        choice.cell.extend(study.comparable(&shown));
        let mut facets = Facets::new(study, &mut table, Axis::share("vocabulary overlap")).fitted(&[]);
        for (title, row_cell) in split(study, row) {
            for factor in over.iter().flatten().copied() {
                facets.panel(&title, level_axis(study, factor));
                for (style, (_, cell)) in lines.iter().zip(split(study, line)) {
                    let cell = [choice.cell.as_slice(), &row_cell, &cell].concat();
                    let [row, line] = [row, line].map(|factor| label_in(study, &cell, factor));
                    facets.levels((&[pair, row, factor.name()], &[line]), style, factor, 0.0, |level| {
                        study.mean_on(OVERLAP.scale(), study.at(&[cell.as_slice(), level].concat()), |run| {
                            overlap.as_ref().map_or_else(|| run.over_pairs(OVERLAP), |overlap| run.once(overlap))
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
        caption: match &pairs[..] {
            [(languages, _)] => format!("Pieces used by both of {languages} over pieces used by either. {BANDS}"),
            _ => {
                format!("Pieces used by both of two languages over pieces used by either, for the same words. {BANDS}")
            }
        },
        choosers,
        variants,
        table,
    })
}

/// Whose overlap is shown: of two languages theirs; of more the mean over all pairs, or that of one pair, the first
/// language's first.
fn pairs(study: &Study) -> Vec<(String, Option<Quantity>)> {
    let languages: Vec<String> =
        study.conditions().iter().filter(|condition| !condition.masked).map(|condition| condition.label()).collect();
    if languages.len() < 3 {
        return vec![(languages.join(" and "), None)];
    }
    let mut all = vec![("all pairs, mean".to_owned(), None)];
    for (place, one) in languages.iter().enumerate() {
        for other in &languages[place + 1..] {
            all.push((format!("{one} and {other}"), Some(Quantity::between(OVERLAP, one, other))));
        }
    }
    let is_measured = |quantity: &Quantity| study.runs.iter().any(|run| run.once(quantity).is_some());
    all.retain(|(_, quantity)| quantity.as_ref().is_none_or(is_measured));
    all.truncate(MOST);
    all
}

const OVERLAP: Measure = Measure::Tokenizer(Words::Text, TokenizerMetric::Overlap);

/// So many pairs are on the page; all are in the table of runs.
const MOST: usize = 29;
