//! Bridge against peak masked reachability: over all runs, and within each |V|.

use super::figure::{Chooser, Figure, Variant, choices};
use super::style::{self, titled};
use super::table::Table;
use crate::data::{Factor, Run, Study};
use crate::draw::{Axis, Colour, Layout, Mark, Panel, Point, Shape};
use crate::findings::Transfer;
use crate::findings::design::{BRIDGE, COGNATE};
use crate::stats::correlation::pearson;
use crate::stats::{deviation, mean, seeds};
use crate::wording::counted;
use invitro_results::{Measure, Quantity, column, digits};

pub fn figure(study: &Study) -> Figure {
    let bridges = [
        (BRIDGE, "any unmasked word (the paper's)", "mean bridge *β̂*"),
        (COGNATE, "the word's own cognate", "mean cognate bridge"),
    ];
    let (choosers, variants, table) = scatter(study, &Transfer::ALL, &bridges);
    Figure {
        name: "bridge",
        title: "Bridges against masked transfer".into(),
        caption: "One mark per run that ended, coloured by |*V*|, over all runs and within each |*V*|: is it more than a difference \
                  between vocabularies? *r* is Pearson's with its 95 % interval over seeds, *p* from Student's *t* over runs as if \
                  independent."
            .into(),
        choosers,
        variants,
        table,
    }
}

/// Scatter plots of transfer against bridges (with what they are called, and the axis), one variant per pair.
pub(super) fn scatter(
    study: &Study,
    transfers: &[Transfer],
    bridges: &[(Measure, &str, &str)],
) -> (Vec<Chooser>, Vec<Variant>, Table) {
    let choosers = vec![
        Chooser::new("outcome", "transfer as", transfers.iter().map(|transfer| transfer.label())),
        Chooser::new("bridge", "bridge to", bridges.iter().map(|(_, name, _)| *name)),
    ];
    let mut table =
        Table::new(["outcome", "bridge", "run", "vocab", "regime", "lambda", "d", "data_seed", "model_seed", "x", "y"]);
    let mut variants = Vec::new();
    for choice in choices(&choosers) {
        let transfer = transfers[choice.options[0]];
        let (bridge, name, axis) = bridges[choice.options[1]];
        let bridge = Quantity::overall(bridge);
        let runs: Vec<(&Run, f64, f64)> =
            study.ended(&[]).filter_map(|run| Some((run, run.once(&bridge)?, transfer.value(study, run)?))).collect();
        for (run, x, y) in &runs {
            let seed = |column: &str| run.number(column).map_or(String::new(), |seed| seed.to_string());
            let mut cells = vec![transfer.label().to_owned(), name.to_owned(), run.id.clone()];
            cells.extend(Factor::ALL.map(|factor| study.level(run, factor).to_owned()));
            cells.extend([seed(column::DATA_SEED), seed(column::MODEL_SEED), x.to_string(), y.to_string()]);
            table.row(cells);
        }
        let levels = study.levels(Factor::Vocab);
        let y_axis = Axis::tight(transfer.name(study), runs.iter().map(|run| run.2));
        let mut panels = vec![panel(study, "all |*V*|", axis, &y_axis, &runs)];
        for (place, level) in levels.iter().enumerate().filter(|_| levels.len() > 1) {
            let is_within = |(run, ..): &&(&Run, f64, f64)| run.levels[Factor::Vocab as usize] == Some(place);
            let within: Vec<_> = runs.iter().filter(is_within).copied().collect();
            panels.push(panel(study, &titled(Factor::Vocab, level), axis, &y_axis, &within));
        }
        let count = panels.len();
        let mut layout = Layout::new(panels, [2.min(count), if count == 5 { 3 } else { count.clamp(1, 4) }]);
        layout.ratio = 1.0;
        layout.legend = style::markers(&style::levels(study, Factor::Vocab));
        let runs = format!("{} that ended", counted(runs.len(), "run"));
        variants.push(Variant { choice: choice.options, drawing: Box::new(layout), runs });
    }
    (choosers, variants, table)
}

fn panel(study: &Study, title: &str, axis: &str, y_axis: &Axis, runs: &[(&Run, f64, f64)]) -> Panel {
    let x_axis = Axis::tight(axis, runs.iter().map(|run| run.1));
    let mut panel = Panel::new(title, x_axis, y_axis.clone());
    let vocabs = study.levels(Factor::Vocab).len();
    for (run, x, y) in runs {
        let place = run.levels[Factor::Vocab as usize];
        let colour = place.map_or(Colour::Text, |place| Colour::Level(place, vocabs));
        // What hovering says is most of the page's size; thousands of marks lie on each other anyway.
        let tip = if runs.len() > 2000 {
            String::new()
        } else {
            let [vocab, regime, lambda, distance] = Factor::ALL.map(|factor| study.level(run, factor));
            format!("|V| {vocab}, {regime}, λ {lambda}, d {distance}: {}, {}", digits(*x), digits(*y))
        };
        let point = Point { x: *x, y: *y, interval: None, tip };
        panel.marks.push(Mark::Point { point, colour, shape: Shape::Circle });
    }
    let (x, y): (Vec<f64>, Vec<f64>) = runs.iter().map(|(_, x, y)| (*x, *y)).unzip();
    let Some(found) = pearson(&x, &y) else { return panel };
    let slope = found.r * deviation(&y) / deviation(&x);
    let line = |at: f64| mean(&y) + slope * (at - mean(&x));
    let (low, high) = x.iter().fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(*x), high.max(*x)));
    panel.marks.push(Mark::Segment { from: (low, line(low)), to: (high, line(high)), colour: Colour::Text, dash: "" });
    let estimate = seeds::pearson(runs.iter().map(|(run, x, y)| (run.seed, *x, *y)));
    let interval = estimate.and_then(|estimate| estimate.interval);
    let interval = interval.map_or(String::new(), |it| format!(" [{}, {}]", two(it.low), two(it.high)));
    let p = if found.p < 0.0001 { "*p* < 0.0001".to_owned() } else { format!("*p* = {:.4}", found.p) };
    panel.notes = vec![format!("*r* = {}{interval}", two(found.r)), p];
    panel
}

fn two(value: f64) -> String {
    format!("{value:.2}").replace('-', "−")
}
