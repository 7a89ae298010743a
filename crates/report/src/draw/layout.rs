//! The layout of a figure: panels in rows under one legend, at column width, at page width or for a phone.
//!
//! Sizes are points on paper: 7 pt labels in a column of 77 mm or a page of 160 mm (the paper's own format), so a
//! figure is included at 100 % and reads as large as its caption.

use super::canvas::{Canvas, DrawTarget, MarkerShape, short};
use super::palette::Colour;
use super::panel::{Area, LABEL, LINE, PlotPanel, TICK};
use super::text::{escape, plain_text, width_of};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// A narrow screen: in a page of 420 px the smallest text is 11 px high.
    Phone,
    Column,
    Page,
}

impl Width {
    pub fn millimetres(self) -> f64 {
        match self {
            Width::Phone => 74.0,
            Width::Column => 77.0,
            Width::Page => 160.0,
        }
    }

    pub fn points(self) -> f64 {
        self.millimetres() / 25.4 * 72.0
    }

    pub fn name(self) -> &'static str {
        match self {
            Width::Phone => "phone",
            Width::Column => "column",
            Width::Page => "page",
        }
    }
}

/// One entry of the legend.
#[derive(Debug, Clone)]
pub struct LegendEntry {
    pub label: String,
    pub colour: Colour,
    /// A line in this dash, or no line.
    pub line: Option<&'static str>,
    pub shape: Option<MarkerShape>,
}

#[derive(Debug, Clone)]
pub struct FigureLayout {
    pub panels: Vec<PlotPanel>,
    /// Panels side by side: in a column, on a page.
    pub across: [usize; 2],
    /// Height of a plotting area over its width.
    pub ratio: f64,
    /// The height of a plotting area in points, instead of the ratio, where rows of text decide it.
    pub height: Option<f64>,
    pub legend: Vec<LegendEntry>,
    /// For heat maps: what the colours mean, lowest and highest.
    pub scale: Option<(String, String, String)>,
    /// Whether panels of a row share their y axis.
    pub share_y: bool,
}

const EDGE: f64 = 3.0;
const GAP: f64 = 11.0;
/// How much wider bold text is.
const BOLD: f64 = 1.06;

/// Sizes that hold for the whole figure.
struct PanelSizes {
    across: usize,
    /// Whether each row of panels has a name of its own, written at its right.
    facets: bool,
    /// For the y ticks and the y label.
    room: f64,
    width: f64,
    height: f64,
}

impl FigureLayout {
    pub fn new(panels: Vec<PlotPanel>, across: [usize; 2]) -> Self {
        Self { panels, across, ratio: 0.75, height: None, legend: Vec::new(), scale: None, share_y: true }
    }

    /// What the panels show says nothing yet.
    pub fn is_empty(&self) -> bool {
        self.panels.iter().all(PlotPanel::is_empty)
    }

    /// The whole SVG element.
    pub fn render(&self, width: Width, target: DrawTarget, description: &str) -> String {
        let mut canvas = Canvas::new(target);
        let legend = self.draw_legend(&mut canvas, width.points());
        let sizes = self.sizes(width);
        let rows: Vec<&[PlotPanel]> = self.panels.chunks(sizes.across).collect();
        let mut top = legend;
        let (mut first, mut last) = (None, 0.0);
        for (row, panels) in rows.iter().enumerate() {
            let above = |place: usize| row.checked_sub(1).map(|row| &rows[row][place]);
            let below = |place: usize| rows.get(row + 1).and_then(|below| below.get(place));
            // The lowest panel of a column of panels carries the x labels of those above it; the highest, their title.
            let labelled = |place: usize| below(place).is_none_or(|below| below.x != panels[place].x);
            let title = |place: usize| {
                let panel = &panels[place];
                if !sizes.facets && !panel.row.is_empty() {
                    format!("{}, {}", panel.row, panel.title).trim_end_matches(", ").to_owned()
                } else if above(place).is_some_and(|above| above.title == panel.title) {
                    String::new()
                } else {
                    panel.title.clone()
                }
            };
            let titles: Vec<Vec<String>> =
                (0..panels.len()).map(|place| broken(&title(place), sizes.width + GAP - 2.0)).collect();
            let over = |place: usize| titles[place].len().max(1) - 1 + panels[place].notes.len();
            let lines = (0..panels.len()).map(over).max().unwrap_or(0);
            top += if titles.iter().all(Vec::is_empty) { 5.0 } else { 11.0 } + LINE * lines as f64;
            for (place, panel) in panels.iter().enumerate() {
                let spaces = if self.share_y { 1.0 } else { place as f64 + 1.0 };
                let left = EDGE + spaces * sizes.room + place as f64 * (sizes.width + GAP);
                let area = Area { left, top, width: sizes.width, height: sizes.height };
                panel.draw(&mut canvas, area, &titles[place], labelled(place), place == 0 || !self.share_y);
                if labelled(place) && !panel.x.label.is_empty() {
                    let middle = (left + sizes.width / 2.0, top + sizes.height + 17.5);
                    canvas.text(middle, "middle", LABEL, Colour::Text, &panel.x.label);
                }
                if sizes.facets && place + 1 == panels.len() {
                    let middle = (left + sizes.width + 8.5, top + sizes.height / 2.0);
                    canvas.turned(middle, LABEL, Colour::Text, &panel.row);
                }
            }
            first.get_or_insert(top);
            last = top + sizes.height;
            let tall = (0..panels.len()).any(|place| labelled(place) && !panels[place].x.label.is_empty());
            let ticked = (0..panels.len()).any(labelled);
            top += sizes.height
                + if tall {
                    21.0
                } else if ticked {
                    11.5
                } else {
                    3.0
                };
        }
        // One label for all rows, in the middle of them.
        if let (Some(first), Some(panel), true) = (first, self.panels.first(), self.share_y) {
            let x = EDGE + 6.5;
            canvas.turned((x, (first + last) / 2.0), LABEL, Colour::Text, &panel.y.label);
        }
        frame(canvas, width, top, description)
    }

    fn sizes(&self, width: Width) -> PanelSizes {
        let across = match width {
            Width::Phone => self.across[0].min(2),
            Width::Column => self.across[0],
            Width::Page => self.across[1],
        };
        let across = across.min(self.panels.len()).max(1);
        let facets = self
            .panels
            .chunks(across)
            .all(|row| !row[0].row.is_empty() && row.iter().all(|panel| panel.row == row[0].row));
        let tick_room = |panel: &PlotPanel| {
            let widest = panel.y.ticks.iter().map(|tick| width_of(&tick.1)).fold(0.0, f64::max);
            widest * TICK + if panel.y.label.is_empty() { 5.0 } else { 14.0 }
        };
        let room = self.panels.iter().map(tick_room).fold(0.0, f64::max);
        let rooms = if self.share_y { 1 } else { across };
        let right = if facets { 13.0 } else { 6.0 };
        let free = width.points() - EDGE - right - room * rooms as f64 - GAP * (across - 1) as f64;
        // A lone panel on a page need not fill it, and a row must be as tall as its label is long.
        let panel_width = (free / across as f64).min(230.0);
        let rows = self.panels.len().div_ceil(across).max(1) as f64;
        let label = self.panels.first().map_or(0.0, |panel| width_of(&panel.y.label) * LABEL) + 4.0;
        // Rows of wide panels would fill more than a screen.
        let ratio = if rows > 1.0 && panel_width > 150.0 { 0.7 * self.ratio } else { self.ratio };
        let height = self.height.unwrap_or((panel_width * ratio).max((label - 14.0 * (rows - 1.0)) / rows));
        PanelSizes { across, facets, room, width: panel_width, height }
    }

    /// Draws the legend and returns where the panels may begin.
    fn draw_legend(&self, canvas: &mut Canvas, total: f64) -> f64 {
        if self.legend.is_empty() && self.scale.is_none() {
            return 0.0;
        }
        let (mut x, mut y) = (EDGE, 8.0);
        for entry in &self.legend {
            let length = 16.0 + width_of(&entry.label) * LABEL + 8.0;
            if x + length > total && x > EDGE {
                (x, y) = (EDGE, y + 10.0);
            }
            if let Some(dash) = entry.line {
                canvas.line((x, y - 2.3), (x + 13.0, y - 2.3), entry.colour, 1.3, dash);
            }
            if let Some(shape) = entry.shape {
                canvas.shape(shape, (x + 6.5, y - 2.3), 2.3, entry.colour, 1.0, "");
            }
            canvas.text((x + 16.0, y), "start", LABEL, Colour::Text, &entry.label);
            x += length;
        }
        if let Some((label, low, high)) = &self.scale {
            canvas.text((x, y), "start", LABEL, Colour::Text, label);
            x += width_of(label) * LABEL + 6.0;
            canvas.text((x, y), "start", TICK, Colour::Muted, low);
            x += width_of(low) * TICK + 3.0;
            for step in 0..9 {
                canvas.rect(
                    x + 6.0 * f64::from(step),
                    y - 5.6,
                    6.0,
                    6.4,
                    Colour::Heat((f64::from(step) + 0.5) / 9.0),
                    "",
                );
            }
            canvas.text((x + 57.0, y), "start", TICK, Colour::Muted, high);
        }
        y + 3.0
    }
}

/// A title in as many lines as its panel needs, about equally long.
fn broken(title: &str, room: f64) -> Vec<String> {
    if title.is_empty() {
        return Vec::new();
    }
    let lines = (width_of(title) * LABEL * BOLD / room).ceil().max(1.0) as usize;
    let mut broken = Vec::new();
    let mut rest = title;
    for left in (2..=lines).rev() {
        let spaces = rest.match_indices(' ').map(|(at, _)| at);
        let Some(at) = spaces.min_by_key(|at| at.abs_diff(rest.len() / left)) else { break };
        broken.push(rest[..at].to_owned());
        rest = &rest[at + 1..];
    }
    broken.push(rest.to_owned());
    broken
}

/// The SVG element around a drawing of that width, its height in points.
pub fn frame(canvas: Canvas, width: Width, height: f64, description: &str) -> String {
    let target = canvas.target;
    let (w, h) = (short(width.points()), short(height));
    let description = escape(&plain_text(description));
    let body = canvas.into_body();
    match target {
        DrawTarget::Page => {
            format!("<svg viewBox=\"0 0 {w} {h}\" role=\"img\" aria-label=\"{description}\">{body}</svg>")
        }
        DrawTarget::File => format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}mm\" \
             height=\"{}mm\" viewBox=\"0 0 {w} {h}\" font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\">\
             <title>{description}</title><rect width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>{body}</svg>\n",
            short(width.millimetres()),
            short(height / 72.0 * 25.4)
        ),
    }
}
