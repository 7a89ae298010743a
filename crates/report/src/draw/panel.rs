//! One panel: two axes, a title and marks.

use super::axis::{Axis, AxisScale};
use super::canvas::{Canvas, MarkerShape, short};
use super::palette::{Colour, DARK_CELL, heat_class};

/// A value with its interval and what hovering over it says.
#[derive(Debug, Clone, Default)]
pub struct PlotPoint {
    pub x: f64,
    pub y: f64,
    pub interval: Option<(f64, f64)>,
    pub tip: String,
}

#[derive(Debug, Clone)]
pub enum PanelMark {
    /// A curve through the points, with a band where they have intervals.
    Line { points: Vec<PlotPoint>, colour: Colour, dash: &'static str, shape: Option<MarkerShape> },
    /// A marker with an error bar, vertical or along x.
    ErrorBar { point: PlotPoint, colour: Colour, shape: MarkerShape, along_x: bool },
    /// One point of a scatter plot.
    Point { point: PlotPoint, colour: Colour, shape: MarkerShape },
    /// One cell of a heat map, by level of x and of y; `None` is a missing one.
    Cell { x: usize, y: usize, share: Option<f64>, label: String, tip: String },
    /// A straight line between two points.
    Segment { from: (f64, f64), to: (f64, f64), colour: Colour, dash: &'static str },
    /// A text that ends at a point.
    Label { x: f64, y: f64, text: String },
}

#[derive(Debug, Clone)]
pub struct PlotPanel {
    pub title: String,
    /// The row of panels it belongs to, where rows have names.
    pub row: String,
    /// Lines under the title.
    pub notes: Vec<String>,
    pub x: Axis,
    pub y: Axis,
    pub marks: Vec<PanelMark>,
}

pub const TICK: f64 = 6.2;
pub const LABEL: f64 = 7.0;
/// From one line above a panel to the next.
pub(super) const LINE: f64 = 7.4;

/// Where a panel's plotting area lies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Area {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

impl Area {
    fn at(&self, panel: &PlotPanel, x: f64, y: f64) -> (f64, f64) {
        let (x, y) = (panel.x.place(x), panel.y.place(y));
        (self.left + x * self.width, self.top + (1.0 - y) * self.height)
    }

    /// As [`Area::at`], but kept inside the frame.
    fn inside(&self, panel: &PlotPanel, x: f64, y: f64) -> (f64, f64) {
        let (x, y) = (panel.x.place(x).clamp(0.0, 1.0), panel.y.place(y).clamp(0.0, 1.0));
        (self.left + x * self.width, self.top + (1.0 - y) * self.height)
    }
}

impl PlotPanel {
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { title: title.into(), row: String::new(), notes: Vec::new(), x, y, marks: Vec::new() }
    }

    fn is_heat_map(&self) -> bool {
        self.marks.iter().any(|mark| matches!(mark, PanelMark::Cell { .. }))
    }

    /// Whether anything was drawn from data.
    pub fn is_empty(&self) -> bool {
        let least = if matches!(self.x.scale, AxisScale::Levels(_)) { 1 } else { 2 };
        !self.marks.iter().any(|mark| match mark {
            // One point is no curve over training, and a reference alone says nothing.
            PanelMark::Line { points, dash, .. } => points.len() >= least && dash.is_empty(),
            PanelMark::Cell { share, .. } => share.is_some(),
            PanelMark::ErrorBar { .. } | PanelMark::Point { .. } | PanelMark::Label { .. } => true,
            PanelMark::Segment { .. } => false,
        })
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, area: Area, title: &[String], x_labels: bool, y_labels: bool) {
        let middle = area.left + area.width / 2.0;
        let notes = self.notes.len() as f64;
        for (row, line) in title.iter().rev().enumerate() {
            let y = area.top - 4.0 - LINE * (notes + row as f64);
            canvas.bold((middle, y), "middle", LABEL, Colour::Text, line);
        }
        for (row, note) in self.notes.iter().enumerate() {
            canvas.text(
                (middle, area.top - 4.0 - LINE * (notes - 1.0 - row as f64)),
                "middle",
                TICK,
                Colour::Muted,
                note,
            );
        }
        self.draw_axes(canvas, area, x_labels, y_labels);
        // No band hides a curve.
        self.draw_bands(canvas, area);
        for mark in &self.marks {
            self.draw_mark(canvas, area, mark);
        }
        if self.is_empty() {
            let centre = (area.left + area.width / 2.0, area.top + area.height / 2.0 + 2.0);
            canvas.text(centre, "middle", LABEL, Colour::Muted, "not measured");
        }
    }

    fn draw_axes(&self, canvas: &mut Canvas, area: Area, x_labels: bool, y_labels: bool) {
        let (right, bottom) = (area.left + area.width, area.top + area.height);
        let map = self.is_heat_map();
        for (value, label) in &self.y.ticks {
            let (_, y) = area.at(self, 0.0, *value);
            if !map {
                canvas.line((area.left, y), (right, y), Colour::Grid, 0.5, "");
            }
            if y_labels {
                canvas.text((area.left - 3.5, y + 2.2), "end", TICK, Colour::Muted, label);
            }
        }
        let stride = self.tick_stride(area.width);
        for (place, (value, label)) in self.x.ticks.iter().enumerate() {
            let (x, _) = area.at(self, *value, 0.0);
            if !map {
                canvas.line((x, bottom), (x, bottom + 2.0), Colour::Muted, 0.5, "");
            }
            // Where a log axis has no room for all, powers of ten are labelled.
            let labelled = match self.x.scale {
                AxisScale::Log { .. } if stride > 1 => *value == 0.0 || label.trim_end_matches(['0', 'k', 'M']) == "1",
                _ => place % stride == 0,
            };
            if x_labels && labelled {
                // The labels at the edges keep clear of the next panel's.
                let (anchor, shift) = match () {
                    _ if map => ("middle", 0.0),
                    _ if x > right - 1.0 => ("end", 4.0),
                    _ if x < area.left + 1.0 => ("start", -4.0),
                    _ => ("middle", 0.0),
                };
                canvas.text((x + shift, bottom + 8.5), anchor, TICK, Colour::Muted, label);
            }
        }
        if !map {
            canvas.line((area.left, bottom), (right, bottom), Colour::Muted, 0.6, "");
        }
    }

    /// Every how many-th tick has room for its label.
    fn tick_stride(&self, width: f64) -> usize {
        let ticks: Vec<(f64, f64)> = self
            .x
            .ticks
            .iter()
            .map(|(value, label)| (self.x.place(*value) * width, super::text::width_of(label) * TICK))
            .collect();
        let fits = |every: usize| {
            let labelled: Vec<_> = ticks.iter().step_by(every).collect();
            labelled.windows(2).all(|pair| pair[1].0 - pair[0].0 >= (pair[0].1 + pair[1].1) / 2.0 + 2.5)
        };
        (1..=ticks.len().max(1)).find(|every| fits(*every)).unwrap_or(1)
    }

    fn draw_mark(&self, canvas: &mut Canvas, area: Area, mark: &PanelMark) {
        match mark {
            PanelMark::Line { points, colour, dash, shape } => {
                self.draw_line(canvas, area, points, *colour, dash, *shape)
            }
            PanelMark::ErrorBar { point: at, colour, shape, along_x } => {
                if let Some((low, high)) = at.interval {
                    let end = |value: f64| {
                        if *along_x { area.inside(self, value, at.y) } else { area.inside(self, at.x, value) }
                    };
                    canvas.line(end(low), end(high), *colour, 0.9, "");
                }
                let (x, y) = area.inside(self, at.x, at.y);
                canvas.shape(*shape, (x, y), 2.3, *colour, 1.0, "");
                canvas.target(x, y, 5.0, &at.tip);
            }
            PanelMark::Point { point: at, colour, shape } => {
                let (x, y) = area.inside(self, at.x, at.y);
                canvas.shape(*shape, (x, y), 1.5, *colour, 0.6, &at.tip);
            }
            PanelMark::Cell { x, y, share, label, tip } => self.draw_cell(canvas, area, (*x, *y), *share, label, tip),
            PanelMark::Segment { from, to, colour, dash } => {
                canvas.line(area.inside(self, from.0, from.1), area.inside(self, to.0, to.1), *colour, 0.8, dash);
            }
            PanelMark::Label { x, y, text } => {
                let (x, y) = area.inside(self, *x, *y);
                canvas.text((x, y + 2.2), "end", TICK, Colour::Muted, text);
            }
        }
    }

    /// A band over the points of a curve that have an interval; where points are marked they have bars instead. The more
    /// bands lie on each other, the fainter they are.
    fn draw_bands(&self, canvas: &mut Canvas, area: Area) {
        let curves = self.marks.iter().filter_map(|mark| match mark {
            PanelMark::Line { points, colour, shape: None, .. } => Some((points, *colour)),
            _ => None,
        });
        let banded = |points: &[PlotPoint]| points.iter().filter(|at| at.interval.is_some()).count() > 1;
        let curves: Vec<_> = curves.filter(|(points, _)| banded(points)).collect();
        let opacity = 0.16 / (curves.len() as f64).max(1.0).sqrt();
        for (points, colour) in curves {
            let ends: Vec<(f64, (f64, f64))> = points.iter().filter_map(|at| Some((at.x, at.interval?))).collect();
            let mut outline: Vec<_> = ends.iter().map(|(x, (_, high))| area.inside(self, *x, *high)).collect();
            outline.extend(ends.iter().rev().map(|(x, (low, _))| area.inside(self, *x, *low)));
            canvas.area(&format!("{}Z", path(&outline)), colour, opacity);
        }
    }

    fn draw_line(
        &self,
        canvas: &mut Canvas,
        area: Area,
        points: &[PlotPoint],
        colour: Colour,
        dash: &str,
        shape: Option<MarkerShape>,
    ) {
        let places: Vec<_> = points.iter().map(|at| area.inside(self, at.x, at.y)).collect();
        if places.len() > 1 {
            canvas.stroke(&path(&places), colour, 1.1, dash);
        }
        for (at, (x, y)) in points.iter().zip(&places) {
            if let Some(shape) = shape.or((points.len() == 1).then_some(MarkerShape::Circle)) {
                if let Some((low, high)) = at.interval {
                    canvas.line(area.inside(self, at.x, low), area.inside(self, at.x, high), colour, 0.8, "");
                }
                canvas.shape(shape, (*x, *y), 2.0, colour, 1.0, "");
            }
            canvas.target(*x, *y, 3.5, &at.tip);
        }
    }

    fn draw_cell(
        &self,
        canvas: &mut Canvas,
        area: Area,
        cell: (usize, usize),
        share: Option<f64>,
        label: &str,
        tip: &str,
    ) {
        let (AxisScale::Levels(columns), AxisScale::Levels(rows)) = (self.x.scale, self.y.scale) else { return };
        let (width, height) = (area.width / columns as f64, area.height / rows as f64);
        let (x, y) = area.at(self, cell.0 as f64, cell.1 as f64);
        let (left, top) = (x - width / 2.0 + 0.3, y - height / 2.0 + 0.3);
        let (width, height) = (width - 0.6, height - 0.6);
        match share {
            Some(share) => {
                canvas.rect(left, top, width, height, Colour::Heat(share), tip);
                let colour = if heat_class(share) >= DARK_CELL { Colour::Background } else { Colour::Text };
                canvas.raw("<g pointer-events=\"none\">");
                canvas.text((x, y + 2.2), "middle", TICK, colour, label);
                canvas.raw("</g>");
            }
            None => {
                // Missing is drawn as missing: an empty cell, crossed out.
                canvas.rect(left, top, width, height, Colour::Background, tip);
                let d = format!(
                    "M{l} {t}H{r}V{b}H{l}ZM{l} {b}L{r} {t}",
                    l = short(left),
                    t = short(top),
                    r = short(left + width),
                    b = short(top + height)
                );
                canvas.stroke(&d, Colour::Muted, 0.4, "");
            }
        }
    }
}

fn path(points: &[(f64, f64)]) -> String {
    let corner = |(place, (x, y)): (usize, &(f64, f64))| {
        format!("{}{} {}", if place == 0 { "M" } else { "L" }, short(*x), short(*y))
    };
    points.iter().enumerate().map(corner).collect()
}
