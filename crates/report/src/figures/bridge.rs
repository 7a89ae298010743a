//! Bridge against peak masked reachability: over all runs, and within each |V|.

use super::common;
use super::{Chooser, Figure, Table};
use crate::data::{Factor, Run, Study};
use crate::draw::{At, Axis, Entry, Ink, Mark, Panel, Plate, Shape, plain};
use crate::findings::Outcome;
use crate::stats::correlation::pearson;
use crate::stats::{deviation, mean, seeds};

/// Chooser label, column, axis.
const BRIDGES: [(&str, &str, &str); 2] = [
    ("any unmasked word (the paper's)", "bridge.jaccard", "mean bridge *β̂*"),
    ("the word's own cognate in A", "cognate_bridge.jaccard", "mean cognate bridge"),
];

pub fn figure(study: &Study) -> Figure {
    let (choosers, variants, table) = scatter(study, &Outcome::ALL, &BRIDGES);
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

/// Scatter plots of outcomes against bridges, one variant per pair.
pub(super) fn scatter(
    study: &Study,
    outcomes: &[Outcome],
    bridges: &[(&str, &str, &str)],
) -> (Vec<Chooser>, Vec<super::Variant>, Table) {
    let mut table =
        Table::new(["outcome", "bridge", "run", "vocab", "regime", "lambda", "d", "data_seed", "model_seed", "x", "y"]);
    let mut variants = Vec::new();
    for (row, outcome) in outcomes.iter().enumerate() {
        for (column, (name, field, axis)) in bridges.iter().enumerate() {
            let runs: Vec<(&Run, f64, f64)> = study
                .ended(&[])
                .filter_map(|run| Some((run, run.number(field)?, outcome.value(study, run)?)))
                .collect();
            for (run, x, y) in &runs {
                let seed = |column: &str| run.number(column).map_or(String::new(), |seed| seed.to_string());
                let mut cells = vec![outcome.label().to_owned(), (*name).to_owned(), run.id.clone()];
                cells.extend(Factor::ALL.map(|factor| level(study, run, factor)));
                cells.extend([seed("seeds.data"), seed("seeds.model"), x.to_string(), y.to_string()]);
                table.row(cells);
            }
            let levels = study.levels(Factor::Vocab);
            let y_axis = Axis::tight(outcome.name(), runs.iter().map(|run| run.2));
            let mut panels = vec![panel(study, "all |*V*|", axis, &y_axis, &runs)];
            if levels.len() > 1 {
                for (place, level) in levels.iter().enumerate() {
                    let within: Vec<_> = runs
                        .iter()
                        .filter(|(run, ..)| run.levels[Factor::Vocab as usize] == Some(place))
                        .copied()
                        .collect();
                    panels.push(panel(study, &common::titled(Factor::Vocab, &level.label), axis, &y_axis, &within));
                }
            }
            let count = panels.len();
            let mut plate = Plate::new(panels, [2.min(count), if count == 5 { 3 } else { count.clamp(1, 4) }]);
            plate.ratio = 1.0;
            plate.legend = common::level_legend(study, Factor::Vocab)
                .into_iter()
                .map(|entry| Entry { line: None, shape: Some(Shape::Circle), ..entry })
                .collect();
            variants.push(common::variant(
                vec![row, column],
                plate,
                format!("{} that ended", common::count(runs.len())),
            ));
        }
    }
    let choosers = vec![
        Chooser {
            name: "outcome",
            label: "transfer as".into(),
            options: outcomes.iter().map(|it| it.label().to_owned()).collect(),
        },
        Chooser {
            name: "bridge",
            label: "bridge to".into(),
            options: bridges.iter().map(|it| it.0.to_owned()).collect(),
        },
    ];
    (choosers, variants, table)
}

fn panel(study: &Study, title: &str, axis: &str, y_axis: &Axis, runs: &[(&Run, f64, f64)]) -> Panel {
    let x_axis = Axis::tight(axis, runs.iter().map(|run| run.1));
    let mut panel = Panel::new(title, x_axis, y_axis.clone());
    let vocabs = study.levels(Factor::Vocab).len();
    for (run, x, y) in runs {
        let ink = run.levels[Factor::Vocab as usize].map_or(Ink::Text, |place| Ink::Level(place, vocabs));
        // What hovering says is most of the page's size; thousands of marks lie on each other anyway.
        let tip = if runs.len() > 2000 {
            String::new()
        } else {
            let [vocab, regime, lambda, distance] = Factor::ALL.map(|factor| level(study, run, factor));
            let (x, y) = (common::digits(*x), common::digits(*y));
            format!("|V| {vocab}, {regime}, λ {lambda}, d {distance}: {x}, {y}")
        };
        panel.marks.push(Mark::Speck { at: At { x: *x, y: *y, interval: None, tip }, ink, shape: Shape::Circle });
    }
    let (x, y): (Vec<f64>, Vec<f64>) = runs.iter().map(|(_, x, y)| (*x, *y)).unzip();
    let Some(found) = pearson(&x, &y) else { return panel };
    let slope = found.r * deviation(&y) / deviation(&x);
    let line = |at: f64| mean(&y) + slope * (at - mean(&x));
    let (low, high) = x.iter().fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(*x), high.max(*x)));
    panel.marks.push(Mark::Rule { from: (low, line(low)), to: (high, line(high)), ink: Ink::Text, dash: "" });
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

fn level(study: &Study, run: &Run, factor: Factor) -> String {
    run.levels[factor as usize].map_or(String::new(), |place| plain(&study.levels(factor)[place].label))
}
