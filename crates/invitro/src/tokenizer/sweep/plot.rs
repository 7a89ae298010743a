//! The sweep drawn: one plate each for fertility, continuation rate, overlap and bridge, against |V|, λ and d.

use super::{Factor, factors, mean};
use invitro_report::draw::{At, Axis, Entry, Ink, Mark, Panel, Plate, Shape, Target, Width};
use invitro_tokenizer::sweep::{Cell, Grid};

type Of = fn(&Cell) -> f64;

/// A line of a plate: what it is called, its value, and how it looks.
struct Line {
    label: String,
    of: Of,
    ink: Ink,
    shape: Shape,
    dash: &'static str,
    /// The regime it is drawn for.
    regime: usize,
}

const DASHES: [&str; 3] = ["", "3 2", "1 1.5"];

/// Every plate under its file name.
pub fn plates(grid: &Grid, cells: &[Cell]) -> Vec<(&'static str, String)> {
    let conditions: [(&str, Ink, Shape); 3] =
        [("A", Ink::A, Shape::Circle), ("B", Ink::B, Shape::Square), ("B†", Ink::Masked, Shape::Triangle)];
    let lines = |of: [(&str, Of, Ink, Shape); 3], count: usize| -> Vec<Line> {
        let regimes = grid.regime.iter().enumerate();
        regimes
            .flat_map(|(regime, r)| {
                of[..count].iter().map(move |&(label, of, ink, shape)| {
                    let label = [label, r.name()].into_iter().filter(|l| !l.is_empty()).collect::<Vec<_>>().join(", ");
                    Line { label, of, ink, shape, dash: DASHES[regime % DASHES.len()], regime }
                })
            })
            .collect()
    };
    let by_condition = |of: [Of; 3]| {
        let line = |i: usize| (conditions[i].0, of[i], conditions[i].1, conditions[i].2);
        lines([line(0), line(1), line(2)], 3)
    };
    let fertility = by_condition([
        |c| c.measures.text.a.fertility,
        |c| c.measures.text.b.fertility,
        |c| c.measures.text.b_masked.fertility,
    ]);
    let continuation = by_condition([
        |c| c.measures.text.a.continuation,
        |c| c.measures.text.b.continuation,
        |c| c.measures.text.b_masked.continuation,
    ]);
    let overlap: (&str, Of, Ink, Shape) = ("", |c| c.measures.text.overlap, Ink::Level(0, 2), Shape::Circle);
    let overlap = lines([overlap; 3], 1);
    let best: (&str, Of, Ink, Shape) = ("best", |c| c.bridge.jaccard, Ink::Level(0, 2), Shape::Circle);
    let cognate: (&str, Of, Ink, Shape) = ("cognate", |c| c.cognate_bridge.jaccard, Ink::Level(1, 2), Shape::Diamond);
    let bridge = lines([best, cognate, cognate], 2);
    vec![
        ("fertility.svg", plate(grid, cells, "fertility (pieces per word)", &fertility)),
        ("continuation.svg", plate(grid, cells, "continuation rate", &continuation)),
        ("overlap.svg", plate(grid, cells, "vocabulary overlap of A and B", &overlap)),
        ("bridge.svg", plate(grid, cells, "mean bridge (Jaccard)", &bridge)),
    ]
}

/// A panel per factor, the regimes as lines; each point is the mean over all other settings.
fn plate(grid: &Grid, cells: &[Cell], label: &str, lines: &[Line]) -> String {
    let mut panels = Vec::new();
    let mut values = Vec::new();
    let [vocab, lambda, distance, _] = factors(grid, cells);
    for Factor { symbol, levels } in [vocab, lambda, distance] {
        let axis = Axis::levels(italic(symbol), levels.iter().map(|(name, _)| name.clone()));
        let mut panel = Panel::new(format!("by {}", italic(symbol)), axis, Axis::share(label));
        for line in lines {
            let at = |(x, (_, cells)): (usize, &(String, Vec<&Cell>))| {
                let mine: Vec<&Cell> = cells.iter().copied().filter(|c| c.regime == grid.regime[line.regime]).collect();
                At { x: x as f64, y: mean(&mine, line.of), interval: None, tip: String::new() }
            };
            let points: Vec<At> = levels.iter().enumerate().map(at).collect();
            values.extend(points.iter().map(|p| p.y));
            panel.marks.push(Mark::Line { points, ink: line.ink, dash: line.dash, shape: Some(line.shape) });
        }
        panels.push(panel);
    }
    for panel in &mut panels {
        panel.y = Axis::around(label, values.iter().copied());
    }
    let mut plate = Plate::new(panels, [1, 3]);
    let entry = |line: &Line| Entry {
        label: line.label.clone(),
        ink: line.ink,
        line: Some(line.dash),
        shape: Some(line.shape),
    };
    plate.legend = lines.iter().map(entry).collect();
    let count = cells.len();
    plate.render(Width::Page, Target::File, &format!("{label} of {count} tokenizers, mean over all other settings"))
}

/// The symbol of a factor in the markup of the drawing layer.
fn italic(symbol: &str) -> String {
    if symbol == "|V|" { "|*V*|".into() } else { format!("*{symbol}*") }
}
