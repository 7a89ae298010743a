//! Bridge against masked transfer: over all runs, and within each |V| or each level of another factor that varies.

use super::engine::{Facet, levels, pick};
use super::figure::{Chooser, Figure, Variant, choices};
use super::outcomes::{BRIDGE, COGNATE, KNOWLEDGE, TRANSFERS, Transfer, bridge_of, in_masked};
use super::parts::styles;
use super::style;
use super::table::FigureTable;
use crate::data::{Factor, FactorWords, Run, Study};
use crate::draw::{Axis, Colour, FigureLayout, MarkerShape, PanelMark, PlotPanel, PlotPoint, plain_text};
use crate::wording::{counted, p_text};
use invitro_results::{Measure, column};
use invitro_stats::correlation::pearson;
use invitro_stats::digits;
use invitro_stats::{deviation, mean, seeds};

/// `None` with few runs: their marks lie on a line by themselves.
pub fn figure(study: &Study) -> Option<Figure> {
    let bridges = [
        (BRIDGE, "any unmasked word (the paper's)", "mean bridge *β̂*"),
        (COGNATE, "the word's own cognate", "mean cognate bridge"),
    ];
    let (choosers, variants, table) = scatter(study, &TRANSFERS, &bridges)?;
    Some(Figure {
        name: "bridge",
        title: "Bridges against masked transfer".into(),
        caption: format!(
            "One mark per run that ended{} *r* is Pearson's with its 95 % interval over seeds, *p* from Student's *t* over runs as if \
             independent.",
            pick(study, &[Factor::VOCAB], &[]).map_or(".".to_owned(), |by| format!(
                ", over all runs and within each level of {0}: is it more than a difference between levels of {0}?",
                by.symbol()
            ))
        ),
        choosers,
        variants,
        table,
    })
}

/// Bridges against the contrast of facts.
pub fn against_knowledge(study: &Study) -> Option<Figure> {
    let bridges =
        [(COGNATE, "the word's own cognate", "mean cognate bridge"), (BRIDGE, "any unmasked word", "mean bridge *β̂*")];
    let (choosers, variants, table) = scatter(study, &[KNOWLEDGE], &bridges)?;
    Some(Figure {
        name: "contrast-bridge",
        title: "Which bridge correlates with knowledge?".into(),
        caption: format!(
            "The contrast of facts{} at the end of training against the mean bridge of the masked words: to their own cognate \
             in {}, or to any unmasked word. One mark per run that ended; *r* with its 95 % interval over seeds, \
             *p* over runs as if independent.",
            in_masked(study),
            if study.conditions().iter().filter(|it| !it.masked).count() > 2 {
                "the other language that has the most similar one"
            } else {
                "the other language"
            }
        ),
        choosers,
        variants,
        table,
    })
}

/// Scatter plots of transfer against bridges (with what they are called, and the axis), one variant per pair.
fn scatter(
    study: &Study,
    transfers: &[Transfer],
    bridges: &[(Measure, &str, &str)],
) -> Option<(Vec<Chooser>, Vec<Variant>, FigureTable)> {
    if study.ended(study.baseline()).count() < FEWEST {
        return None;
    }
    let choosers = vec![
        Chooser::new("outcome", "transfer as", transfers.iter().map(|transfer| transfer.label)),
        Chooser::new("bridge", "bridge to", bridges.iter().map(|(_, name, _)| *name)),
    ];
    let by = pick(study, &[Factor::VOCAB], &[]);
    let by_level: Vec<Facet> = levels(study, by, "").into_iter().filter(|level| !level.levels.is_empty()).collect();
    let further = study.varying().into_iter().filter(|factor| !Factor::PAPER.contains(factor));
    let factors: Vec<Factor> = Factor::PAPER.into_iter().chain(further).collect();
    let names = ["outcome", "bridge", "run"].into_iter().chain(factors.iter().map(|factor| factor.name()));
    let mut table = FigureTable::new(names.chain(["data_seed", "model_seed", "x", "y"]));
    let mut variants = Vec::new();
    for choice in choices(&choosers) {
        let transfer = transfers[choice.options[0]];
        let (bridge, name, axis) = bridges[choice.options[1]];
        let values = |run| Some((run, bridge_of(study, run, bridge)?, transfer.value(study, run)?));
        let runs: Vec<(&Run, f64, f64)> = study.ended(study.baseline()).filter_map(values).collect();
        for (run, x, y) in &runs {
            let seed = |column: &str| run.number(column).map_or(String::new(), |seed| seed.to_string());
            let mut cells = vec![transfer.label.to_owned(), name.to_owned(), run.id.clone()];
            cells.extend(factors.iter().map(|factor| study.level(run, *factor).to_owned()));
            cells.extend([seed(column::DATA_SEED), seed(column::MODEL_SEED), x.to_string(), y.to_string()]);
            table.row(cells);
        }
        let y_axis = Axis::tight(transfer.name(study), runs.iter().map(|run| run.2));
        let mut panels = vec![panel(study, by, "all runs", axis, &y_axis, &runs)];
        for level in &by_level {
            let is_within = |(run, ..): &&(&Run, f64, f64)| run.is_at(&level.levels);
            let within: Vec<_> = runs.iter().filter(is_within).copied().collect();
            if within.len() >= FEWEST {
                panels.push(panel(study, by, &level.title, axis, &y_axis, &within));
            }
        }
        panels.retain(|panel| !panel.is_empty());
        let count = panels.len();
        let mut layout = FigureLayout::new(panels, [2.min(count), if count == 5 { 3 } else { count.clamp(1, 4) }]);
        layout.ratio = 1.0;
        layout.legend = style::markers(&styles(&by_level));
        let runs = format!("{} that ended", counted(runs.len(), "run"));
        variants.push(Variant { choice: choice.options, drawing: Box::new(layout), runs, caption: None });
    }
    Some((choosers, variants, table))
}

/// So many runs make a panel.
const FEWEST: usize = 5;

type Marks<'a> = [(&'a Run, f64, f64)];

fn panel(study: &Study, by: Option<Factor>, title: &str, axis: &str, y_axis: &Axis, runs: &Marks) -> PlotPanel {
    let x_axis = Axis::tight(axis, runs.iter().map(|run| run.1));
    let mut panel = PlotPanel::new(title, x_axis, y_axis.clone());
    let factors = study.varying();
    for (run, x, y) in runs {
        let level = by.and_then(|by| Some(Colour::Level(run.level(by)?, study.levels(by).len())));
        let colour = level.unwrap_or(Colour::Level(0, 1));
        // What hovering says is most of the page's size; thousands of marks lie on each other anyway.
        let tip = if runs.len() > 2000 {
            String::new()
        } else {
            let levels = factors.iter().map(|factor| plain_text(&factor.with_level(study.level(run, *factor))));
            format!("{}: {}, {}", levels.collect::<Vec<_>>().join(", "), digits(*x), digits(*y))
        };
        let point = PlotPoint { x: *x, y: *y, interval: None, tip };
        panel.marks.push(PanelMark::Point { point, colour, shape: MarkerShape::Circle });
    }
    let (x, y): (Vec<f64>, Vec<f64>) = runs.iter().map(|(_, x, y)| (*x, *y)).unzip();
    let Some(found) = pearson(&x, &y) else { return panel };
    let slope = found.r * deviation(&y) / deviation(&x);
    let line = |at: f64| mean(&y) + slope * (at - mean(&x));
    let (low, high) = x.iter().fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(*x), high.max(*x)));
    panel.marks.push(PanelMark::Segment {
        from: (low, line(low)),
        to: (high, line(high)),
        colour: Colour::Text,
        dash: "",
    });
    let estimate = seeds::pearson(runs.iter().map(|(run, x, y)| (run.seed, *x, *y)));
    let interval = estimate.and_then(|estimate| estimate.interval);
    let interval = interval.map_or(String::new(), |it| format!(" [{}, {}]", two(it.low), two(it.high)));
    panel.notes = vec![format!("*r* = {}{interval}", two(found.r)), p_text(found.p)];
    panel
}

fn two(value: f64) -> String {
    format!("{value:.2}").replace('-', "−")
}
