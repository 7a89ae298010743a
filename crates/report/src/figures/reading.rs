//! What a drawing says, in a sentence for those who cannot see it, and whether it says anything.

use crate::draw::{AxisScale, Colour, FigureLayout, MarkerShape, PanelMark, PlotPanel, PlotPoint, plain_text};
use invitro_stats::{digits, grouped, with_interval};

/// A sentence has no more letters.
const LONGEST: usize = 300;

/// The values drawn, those of masked conditions first, as many as a sentence holds.
pub fn finding(layout: &FigureLayout) -> String {
    let mut all: Vec<String> = layout.panels.iter().flat_map(|panel| statements(layout, panel)).collect();
    all.sort_by_key(|statement| !statement.contains('†'));
    let mut sentence = layout.panels.first().map_or(String::new(), measured);
    for (place, statement) in all.iter().enumerate() {
        if sentence.len() + statement.len() > LONGEST - 40 && place > 0 {
            sentence.push_str(&format!("; and {} more", all.len() - place));
            break;
        }
        if place > 0 {
            sentence.push_str("; ");
        }
        sentence.push_str(statement);
    }
    sentence
}

/// What the values are: `Share of targets reachable: `. Scatter plots and maps say it themselves.
fn measured(panel: &PlotPanel) -> String {
    let axis = panel.marks.iter().find_map(|mark| match mark {
        PanelMark::Line { .. } => Some(&panel.y),
        PanelMark::ErrorBar { along_x, .. } => Some(if *along_x { &panel.x } else { &panel.y }),
        _ => None,
    });
    let label = axis.map_or(String::new(), |axis| plain_text(&axis.label));
    let mut letters = label.chars();
    let first = letters.next().map_or(String::new(), |letter| letter.to_uppercase().to_string());
    if first.is_empty() { first } else { format!("{first}{}: ", letters.as_str()) }
}

/// What the legend calls a mark.
fn name(layout: &FigureLayout, colour: Colour, shape: Option<MarkerShape>) -> String {
    let same = |by_shape: bool| {
        let is_same = |entry: &&crate::draw::LegendEntry| {
            entry.colour == colour && (!by_shape || entry.shape.is_none() || entry.shape == shape)
        };
        layout.legend.iter().find(is_same)
    };
    same(true).or_else(|| same(false)).map_or(String::new(), |entry| plain_text(&entry.label))
}

fn joined(parts: &[&str]) -> String {
    parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(", ")
}

fn statements(layout: &FigureLayout, panel: &PlotPanel) -> Vec<String> {
    let place = joined(&[&plain_text(&panel.row), &plain_text(&panel.title)]);
    let statement = |name: &str, what: String| match joined(&[&place, name]) {
        head if head.is_empty() => what,
        head => format!("{head}: {what}"),
    };
    if panel.marks.iter().any(|mark| matches!(mark, PanelMark::Point { .. })) {
        let what = plain_text(&panel.notes.join(", "));
        return if what.is_empty() { Vec::new() } else { vec![statement("", what)] };
    }
    let mut all = Vec::new();
    for mark in &panel.marks {
        match mark {
            PanelMark::Line { points, colour, dash: "", shape } if !points.is_empty() => {
                all.push(statement(&name(layout, *colour, *shape), course(panel, points)));
            }
            PanelMark::ErrorBar { point, colour, shape, along_x } => {
                let (axis, at, value) =
                    if *along_x { (&panel.y, point.y, point.x) } else { (&panel.x, point.x, point.y) };
                let nearest = axis.ticks.iter().min_by(|a, b| (a.0 - at).abs().total_cmp(&(b.0 - at).abs()));
                let row = nearest.map_or(String::new(), |tick| plain_text(&tick.1));
                let value = point.interval.map_or(digits(value), |(low, high)| with_interval(value, low, high));
                let name = name(layout, *colour, Some(*shape));
                let name = if row.starts_with(&format!("{name}:")) { row } else { joined(&[&row, &name]) };
                all.push(statement(&name, value));
            }
            _ => {}
        }
    }
    all.extend(map(panel).map(|what| statement("", what)));
    all
}

/// A curve over training by its start, its end, and the peak or else the lowest point between them; over levels by the
/// first and the last.
fn course(panel: &PlotPanel, points: &[PlotPoint]) -> String {
    let [first, .., last] = points else { return digits(points[0].y) };
    if let AxisScale::Levels(_) = panel.x.scale {
        let level = |point: &PlotPoint| {
            let label = panel.x.ticks.get(point.x.round().max(0.0) as usize).map_or("", |tick| &tick.1);
            format!("{} at {} {}", digits(point.y), plain_text(&panel.x.label), plain_text(label))
        };
        return format!("{}, {}", level(first), level(last));
    }
    let inner = |name: &str, further: fn(f64, f64) -> bool| {
        let found = points.iter().reduce(|best, point| if further(point.y, best.y) { point } else { best })?;
        let unit = if panel.x.label.starts_with("tokens") { "tokens" } else { "step" };
        let is_between = further(found.y, first.y) && further(found.y, last.y);
        is_between.then(|| format!(", {name} {} at {unit} {}", digits(found.y), grouped(found.x)))
    };
    let turn = inner("peak", |a, b| a > b).or_else(|| inner("lowest", |a, b| a < b)).unwrap_or_default();
    format!("{} at first{turn}, {} at the end", digits(first.y), digits(last.y))
}

/// The smallest and the largest cell of a heat map.
fn map(panel: &PlotPanel) -> Option<String> {
    let cells = panel.marks.iter().filter_map(|mark| match mark {
        PanelMark::Cell { x, y, share: Some(share), label, .. } => Some((*share, *x, *y, label)),
        _ => None,
    });
    let cells: Vec<_> = cells.collect();
    let described = |(_, x, y, label): &(f64, usize, usize, &String)| {
        let level = |axis: &crate::draw::Axis, at: usize| {
            format!("{} {}", plain_text(&axis.label), axis.ticks.get(at).map_or("", |tick| &tick.1))
        };
        format!("{label} at {}, {}", level(&panel.x, *x), level(&panel.y, *y))
    };
    let low = cells.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let high = cells.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(format!("from {} to {}", described(low), described(high)))
}

/// Whether what is drawn varies: not the same everywhere, nor nearly all at 0 or 1. Of curves over training the later half
/// counts, since nearly all begin at 0.
pub fn varies(layout: &FigureLayout) -> bool {
    let mut values = Vec::new();
    for panel in &layout.panels {
        for mark in &panel.marks {
            match mark {
                PanelMark::Line { points, dash: "", .. } => {
                    let levels = matches!(panel.x.scale, AxisScale::Levels(_));
                    let last = points.last().map_or(0.0, |point| point.x);
                    let counts = |point: &&PlotPoint| levels || 2.0 * point.x >= last;
                    values.extend(points.iter().filter(counts).map(|point| point.y));
                }
                PanelMark::ErrorBar { point, along_x, .. } => values.push(if *along_x { point.x } else { point.y }),
                PanelMark::Point { point, .. } => values.push(point.y),
                PanelMark::Cell { share: Some(share), .. } => values.push(*share),
                _ => {}
            }
        }
    }
    let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(*v), high.max(*v)));
    let extreme = values.iter().filter(|value| **value >= 0.99 || **value <= 0.01).count();
    let share = low >= 0.0 && high <= 1.0;
    high - low > 1e-6 && !(share && extreme as f64 > 0.9 * values.len() as f64)
}
