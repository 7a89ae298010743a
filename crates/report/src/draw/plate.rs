//! A plate: panels in rows under one legend, at column width or at page width.
//!
//! Sizes are points on paper: 7 pt labels in a column of 77 mm or a page of 160 mm (the paper's own format), so a
//! figure is included at 100 % and reads as large as its caption.

use super::canvas::{Canvas, Shape, Target, short};
use super::ink::Ink;
use super::panel::{Area, LABEL, Panel, TICK};
use super::text::{escape, plain, width_of};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    Column,
    Page,
}

impl Width {
    pub fn millimetres(self) -> f64 {
        match self {
            Width::Column => 77.0,
            Width::Page => 160.0,
        }
    }

    pub fn points(self) -> f64 {
        self.millimetres() / 25.4 * 72.0
    }

    pub fn name(self) -> &'static str {
        match self {
            Width::Column => "column",
            Width::Page => "page",
        }
    }
}

/// One entry of the legend.
#[derive(Debug, Clone)]
pub struct Entry {
    pub label: String,
    pub ink: Ink,
    /// A line in this dash, or no line.
    pub line: Option<&'static str>,
    pub shape: Option<Shape>,
}

#[derive(Debug, Clone)]
pub struct Plate {
    pub panels: Vec<Panel>,
    /// Panels side by side: in a column, on a page.
    pub across: [usize; 2],
    /// Height of a plotting area over its width.
    pub ratio: f64,
    /// The height of a plotting area in points, instead of the ratio, where rows of text decide it.
    pub height: Option<f64>,
    pub legend: Vec<Entry>,
    /// For maps: what the colours mean, lowest and highest.
    pub scale: Option<(String, String, String)>,
    /// Whether panels of a row share their y axis.
    pub share_y: bool,
}

const EDGE: f64 = 3.0;
const GAP: f64 = 9.0;

impl Plate {
    pub fn new(panels: Vec<Panel>, across: [usize; 2]) -> Self {
        Self { panels, across, ratio: 0.75, height: None, legend: Vec::new(), scale: None, share_y: true }
    }

    /// What the panels show says nothing yet.
    pub fn is_empty(&self) -> bool {
        self.panels.iter().all(Panel::is_empty)
    }

    /// The whole SVG element.
    pub fn render(&self, width: Width, target: Target, description: &str) -> String {
        let total = width.points();
        let across = self.across[usize::from(width == Width::Page)].min(self.panels.len()).max(1);
        let mut canvas = Canvas::new(target);
        let mut top = self.draw_legend(&mut canvas, total);

        let tick_room = |panel: &Panel| {
            let widest = panel.y.ticks.iter().map(|tick| width_of(&tick.1)).fold(0.0, f64::max);
            widest * TICK + if panel.y.label.is_empty() { 5.0 } else { 14.0 }
        };
        let room = self.panels.iter().map(tick_room).fold(0.0, f64::max);
        let rooms = if self.share_y { 1 } else { across };
        let free = total - 2.0 * EDGE - room * rooms as f64 - GAP * (across - 1) as f64;
        // A lone panel on a page need not fill it.
        let panel_width = (free / across as f64).min(230.0);
        let panel_height = self.height.unwrap_or(panel_width * self.ratio);

        let rows: Vec<&[Panel]> = self.panels.chunks(across).collect();
        for (row, panels) in rows.iter().enumerate() {
            let titled = panels.iter().any(|panel| !panel.title.is_empty());
            top += if titled { 11.0 } else { 4.0 };
            for (place, panel) in panels.iter().enumerate() {
                let own_y = place == 0 || !self.share_y;
                let spaces = if self.share_y { 1.0 } else { place as f64 + 1.0 };
                let left = EDGE + spaces * room + place as f64 * (panel_width + GAP);
                let area = Area { left, top, width: panel_width, height: panel_height };
                // The lowest panel of each column of panels carries the x labels of those above it.
                let same_below =
                    rows.get(row + 1).and_then(|below| below.get(place)).is_some_and(|below| below.x == panel.x);
                panel.draw(&mut canvas, area, !same_below, own_y);
                if own_y && !panel.y.label.is_empty() {
                    let x = left - room + 6.5;
                    canvas.turned((x, top + panel_height / 2.0), LABEL, Ink::Text, &panel.y.label);
                }
                if !same_below && !panel.x.label.is_empty() {
                    let middle = left + panel_width / 2.0;
                    canvas.text((middle, top + panel_height + 17.5), "middle", LABEL, Ink::Text, &panel.x.label);
                }
            }
            let below = rows.get(row + 1);
            let labelled = panels.iter().enumerate().any(|(place, panel)| {
                !below.and_then(|below| below.get(place)).is_some_and(|below| below.x == panel.x)
            });
            top += panel_height + if labelled { 21.0 } else { 3.0 };
        }
        frame(canvas, width, top, description)
    }

    /// Draws the legend and returns where the panels may begin.
    fn draw_legend(&self, canvas: &mut Canvas, total: f64) -> f64 {
        if self.legend.is_empty() && self.scale.is_none() {
            return 0.0;
        }
        let (mut x, mut y) = (EDGE, 8.0);
        for entry in &self.legend {
            let length = 16.0 + width_of(&entry.label) * LABEL + 9.0;
            if x + length > total && x > EDGE {
                (x, y) = (EDGE, y + 10.0);
            }
            if let Some(dash) = entry.line {
                canvas.line((x, y - 2.3), (x + 13.0, y - 2.3), entry.ink, 1.3, dash);
            }
            if let Some(shape) = entry.shape {
                canvas.shape(shape, x + 6.5, y - 2.3, 2.3, entry.ink, 1.0, "");
            }
            canvas.text((x + 16.0, y), "start", LABEL, Ink::Text, &entry.label);
            x += length;
        }
        if let Some((label, low, high)) = &self.scale {
            canvas.text((x, y), "start", LABEL, Ink::Text, label);
            x += width_of(label) * LABEL + 6.0;
            canvas.text((x, y), "start", TICK, Ink::Muted, low);
            x += width_of(low) * TICK + 3.0;
            for step in 0..9 {
                canvas.rect(x + 6.0 * f64::from(step), y - 5.6, 6.0, 6.4, Ink::Heat((f64::from(step) + 0.5) / 9.0), "");
            }
            canvas.text((x + 57.0, y), "start", TICK, Ink::Muted, high);
        }
        y + 3.0
    }
}

/// The SVG element around a drawing of that width, its height in points.
pub fn frame(canvas: Canvas, width: Width, height: f64, description: &str) -> String {
    let target = canvas.target;
    let (w, h) = (short(width.points()), short(height));
    let description = escape(&plain(description));
    let body = canvas.into_body();
    match target {
        Target::Page => format!("<svg viewBox=\"0 0 {w} {h}\" role=\"img\" aria-label=\"{description}\">{body}</svg>"),
        Target::File => format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}mm\" \
             height=\"{}mm\" viewBox=\"0 0 {w} {h}\" font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\">\
             <title>{description}</title><rect width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>{body}</svg>\n",
            short(width.millimetres()),
            short(height / 72.0 * 25.4)
        ),
    }
}
