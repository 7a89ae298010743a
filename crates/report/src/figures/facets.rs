//! Small multiples: variants over choosers, a panel per level or condition, lines or points in each, every estimate in
//! the table, one y axis for all.
//!
//! ```text
//! let variants = variants(study, &choosers, Runs::Ended, |choice| {
//!     let mut facets = Facets::new(study, &mut table, Axis::share("share of targets")).fitted(&[0.0]);
//!     for (condition, style) in style::conditions(study) {
//!         facets.panel(style.name.clone(), Axis::steps(study.last_step()));
//!         facets.curve(&[&style.name], &style, &choice.cell, &Quantity::of(measure, &condition));
//!     }
//!     facets.layout([3, 3])
//! });
//! ```

use super::captions::{self, Runs};
use super::figure::{Choice, Chooser, Variant, choices};
use super::style::{Style, titled};
use super::table::Table;
use crate::data::{Cell, Factor, Study};
use crate::draw::{Axis, Layout, Mark, Panel, Point, Scale, plain};
use crate::stats::Estimate;
use crate::wording::spoken;
use invitro_results::Quantity;

/// A variant for every combination of the choosers' options.
pub fn variants(
    study: &Study,
    choosers: &[Chooser],
    runs: Runs,
    mut draw: impl FnMut(&Choice) -> Layout,
) -> Vec<Variant> {
    let variant = |choice: Choice| {
        let layout = draw(&choice);
        Variant { runs: captions::runs(study, &choice.cell, runs), drawing: Box::new(layout), choice: choice.options }
    };
    choices(choosers).into_iter().map(variant).collect()
}

/// The panels of one variant.
pub struct Facets<'a> {
    study: &'a Study,
    table: &'a mut Table,
    y: Axis,
    room: Option<Vec<f64>>,
    /// Whether the y axis makes room for intervals too.
    pub room_for_intervals: bool,
    panels: Vec<Panel>,
}

impl<'a> Facets<'a> {
    pub fn new(study: &'a Study, table: &'a mut Table, y: Axis) -> Facets<'a> {
        Facets { study, table, y, room: None, room_for_intervals: true, panels: Vec::new() }
    }

    /// With a y axis that makes room for these values and for all that is drawn.
    pub fn fitted(self, values: &[f64]) -> Facets<'a> {
        Facets { room: Some(values.to_vec()), ..self }
    }

    /// Begins a panel.
    pub fn panel(&mut self, title: impl Into<String>, x: Axis) -> &mut Panel {
        self.panels.push(Panel::new(title, x, self.y.clone()));
        self.panels.last_mut().expect("a panel was pushed")
    }

    /// Draws into the panel that was begun last.
    pub fn mark(&mut self, mark: Mark) {
        if let Some(room) = &mut self.room {
            let points = match &mark {
                Mark::Line { points, .. } => points.as_slice(),
                Mark::ErrorBar { point, .. } => std::slice::from_ref(point),
                _ => &[],
            };
            room.extend(points.iter().map(|point| point.y));
            if self.room_for_intervals {
                room.extend(points.iter().filter_map(|point| point.interval).flat_map(|(low, high)| [low, high]));
            }
        }
        self.panels.last_mut().expect("a panel comes before its marks").marks.push(mark);
    }

    /// The mean curve of the runs in a cell. In the table: the keys, then the step.
    pub fn curve(&mut self, keys: &[&str], style: &Style, cell: &[(Factor, usize)], quantity: &Quantity) {
        let curve = self.study.mean_curve(self.study.at(cell), quantity);
        for (step, estimate) in &curve {
            let step = step.to_string();
            self.table.estimate(keys.iter().copied().chain([step.as_str()]), Some(estimate));
        }
        let name = plain(&style.name);
        let at =
            |(step, estimate): &(u32, Estimate)| point(f64::from(*step), estimate, &format!("{name}, step {step}"));
        self.line(curve.iter().map(at).collect(), style);
    }

    /// A line through points over steps.
    pub fn line(&mut self, mut points: Vec<Point>, style: &Style) {
        let scale = self.panels.last().map(|panel| panel.x.scale);
        // A reference that was measured once holds throughout.
        if let ([only], Some(Scale::Linear { low, high } | Scale::Log { low, high })) = (points.as_slice(), scale)
            && !style.dash.is_empty()
        {
            points = [low, high].map(|x| Point { x, ..only.clone() }).into();
        }
        if let Some(Scale::Log { .. }) = scale {
            points.retain(|point| point.x > 0.0);
        }
        let shape = style.marked.then_some(style.shape);
        self.mark(Mark::Line { points, colour: style.colour, dash: style.dash, shape });
    }

    /// A marked line over the levels of a factor, moved aside by `dodge`. In the table: the keys around the level.
    pub fn levels(
        &mut self,
        (before, after): (&[&str], &[&str]),
        style: &Style,
        factor: Factor,
        dodge: f64,
        estimate: impl Fn(&[(Factor, usize)]) -> Option<Estimate>,
    ) {
        let mut points = Vec::new();
        for (place, level) in self.study.levels(factor).iter().enumerate() {
            let estimate = estimate(&[(factor, place)]);
            let name = format!("{}, {}", style.name, titled(factor, level));
            points.extend(estimate.as_ref().map(|it| point(place as f64 + dodge, it, &name)));
            let keys = before.iter().copied().chain([level.as_str()]).chain(after.iter().copied());
            self.table.estimate(keys, estimate.as_ref());
        }
        self.mark(Mark::Line { points, colour: style.colour, dash: style.dash, shape: Some(style.shape) });
    }

    /// One estimate as a marker with its interval.
    pub fn error_bar(&mut self, keys: &[&str], style: &Style, x: f64, name: &str, estimate: Option<&Estimate>) {
        self.table.estimate(keys.iter().copied(), estimate);
        if let Some(estimate) = estimate {
            let point = point(x, estimate, name);
            self.mark(Mark::ErrorBar { point, colour: style.colour, shape: style.shape, along_x: false });
        }
    }

    /// A row of the table without a mark.
    pub fn row(&mut self, keys: &[&str], estimate: Option<&Estimate>) {
        self.table.estimate(keys.iter().copied(), estimate);
    }

    /// The panels as a layout, so many side by side in a column and on a page.
    pub fn layout(mut self, across: [usize; 2]) -> Layout {
        if let Some(room) = self.room {
            let y = Axis::around(self.y.label, room.into_iter());
            self.panels.iter_mut().for_each(|panel| panel.y = y.clone());
        }
        Layout::new(self.panels, across)
    }
}

/// The estimate as a point at x.
pub fn point(x: f64, estimate: &Estimate, name: &str) -> Point {
    let tip = format!("{}: {}", plain(name), spoken(estimate));
    Point { x, y: estimate.value, interval: ends(estimate), tip }
}

/// The ends of an estimate's interval.
pub fn ends(estimate: &Estimate) -> Option<(f64, f64)> {
    estimate.interval.map(|interval| (interval.low, interval.high))
}

/// The levels of a factor with their titles, as cells; one cell of everything where the study does not record it.
pub fn split(study: &Study, factor: Factor) -> Vec<(String, Cell)> {
    let levels = study.levels(factor);
    if levels.is_empty() {
        return vec![(String::new(), Vec::new())];
    }
    levels.iter().enumerate().map(|(place, level)| (titled(factor, level), vec![(factor, place)])).collect()
}

/// The level a cell fixes for a factor, or nothing.
pub fn label_in<'a>(study: &'a Study, cell: &[(Factor, usize)], factor: Factor) -> &'a str {
    cell.iter().find(|(other, _)| *other == factor).map_or("", |(_, level)| &study.levels(factor)[*level])
}

pub fn level_axis(study: &Study, factor: Factor) -> Axis {
    Axis::levels(factor.symbol(), study.levels(factor).iter().cloned())
}

/// So far aside is one of several markers around the middle of a level.
pub fn dodge(place: usize, of: usize, apart: f64) -> f64 {
    (place as f64 - (of as f64 - 1.0) / 2.0) * apart
}

/// Panels side by side for a row of `count`: in a column at most three, on a page at most four.
pub fn across(count: usize) -> [usize; 2] {
    let column = match count {
        0..=3 => count,
        4 => 2,
        _ => 3,
    };
    [column.max(1), count.clamp(1, 4)]
}
