//! SVG primitives in points, with the colours of a file or of the page.

use super::palette::Colour;
use super::text::{escape, parts};
use std::fmt::Write;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrawTarget {
    /// A file of its own: colours written out for a light background, physical size, nothing to hover over.
    File,
    /// Inside the page: colours are the page's variables, and marks carry what hovering shows.
    Page,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkerShape {
    Circle,
    Square,
    Triangle,
    /// A triangle that stands on its tip.
    Down,
    Diamond,
    /// A cross with thick arms.
    Cross,
    /// A hollow circle.
    Ring,
}

const CROSS: [(f64, f64); 12] = [
    (-0.4, -1.15),
    (0.4, -1.15),
    (0.4, -0.4),
    (1.15, -0.4),
    (1.15, 0.4),
    (0.4, 0.4),
    (0.4, 1.15),
    (-0.4, 1.15),
    (-0.4, 0.4),
    (-1.15, 0.4),
    (-1.15, -0.4),
    (-0.4, -0.4),
];

pub struct Canvas {
    body: String,
    pub target: DrawTarget,
}

/// A tenth of a point is finer than most printers, and keeps the page small; widths of lines have one more decimal.
pub(super) fn short(value: f64) -> String {
    let scale = if value.abs() < 2.0 { 100.0 } else { 10.0 };
    let rounded = (value * scale).round() / scale;
    format!("{}", if rounded == 0.0 { 0.0 } else { rounded })
}

impl Canvas {
    pub fn new(target: DrawTarget) -> Self {
        Self { body: String::new(), target }
    }

    pub fn into_body(self) -> String {
        self.body
    }

    pub(super) fn colour(&self, colour: Colour) -> String {
        match self.target {
            DrawTarget::File => colour.on_light().to_owned(),
            DrawTarget::Page => format!("var(--{})", colour.name()),
        }
    }

    fn push(&mut self, element: std::fmt::Arguments) {
        self.body.write_fmt(element).expect("writing to a string");
    }

    pub fn raw(&mut self, element: &str) {
        self.body.push_str(element);
    }

    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: Colour, width: f64, dash: &str) {
        let d = format!("M{} {}L{} {}", short(from.0), short(from.1), short(to.0), short(to.1));
        self.stroke(&d, colour, width, dash);
    }

    pub fn stroke(&mut self, d: &str, colour: Colour, width: f64, dash: &str) {
        let colour = self.colour(colour);
        let dash = if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") };
        let width = short(width);
        self.push(format_args!("<path d=\"{d}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"{dash}/>"));
    }

    pub fn area(&mut self, d: &str, colour: Colour, opacity: f64) {
        let colour = self.colour(colour);
        self.push(format_args!("<path d=\"{d}\" fill=\"{colour}\" fill-opacity=\"{}\"/>", short(opacity)));
    }

    pub fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, colour: Colour, tip: &str) {
        let colour = self.colour(colour);
        let tip = self.tip(tip);
        self.push(format_args!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{colour}\"{tip}/>",
            short(x),
            short(y),
            short(width),
            short(height)
        ));
    }

    pub fn shape(&mut self, shape: MarkerShape, at: (f64, f64), radius: f64, colour: Colour, opacity: f64, tip: &str) {
        let (x, y) = at;
        let colour = self.colour(colour);
        let mut attributes = self.tip(tip);
        if opacity < 1.0 {
            write!(attributes, " fill-opacity=\"{}\"", short(opacity)).expect("writing to a string");
        }
        let corners: &[(f64, f64)] = match shape {
            MarkerShape::Circle | MarkerShape::Ring => {
                let (cx, cy, r) = (short(x), short(y), short(radius));
                let fill = if shape == MarkerShape::Ring { self.colour(Colour::Background) } else { colour.clone() };
                let line = format!(" stroke=\"{colour}\" stroke-width=\"0.8\"");
                let line = if shape == MarkerShape::Ring { line.as_str() } else { "" };
                self.push(format_args!(
                    "<circle cx=\"{cx}\" cy=\"{cy}\" r=\"{r}\" fill=\"{fill}\"{line}{attributes}/>"
                ));
                return;
            }
            MarkerShape::Square => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
            MarkerShape::Triangle => &[(0.0, -1.2), (1.1, 0.85), (-1.1, 0.85)],
            MarkerShape::Down => &[(0.0, 1.2), (1.1, -0.85), (-1.1, -0.85)],
            MarkerShape::Diamond => &[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)],
            MarkerShape::Cross => &CROSS,
        };
        let corner = |(dx, dy): &(f64, f64)| format!("{} {}", short(x + dx * radius), short(y + dy * radius));
        let d = format!("M{}Z", corners.iter().map(corner).collect::<Vec<_>>().join("L"));
        self.push(format_args!("<path d=\"{d}\" fill=\"{colour}\"{attributes}/>"));
    }

    /// Text in markup; `anchor` is start, middle or end, and `turned` stands it on its side.
    pub fn text(&mut self, at: (f64, f64), anchor: &str, size: f64, colour: Colour, markup: &str) {
        self.write_text(at, anchor, size, colour, "", markup);
    }

    pub fn bold(&mut self, at: (f64, f64), anchor: &str, size: f64, colour: Colour, markup: &str) {
        self.write_text(at, anchor, size, colour, " font-weight=\"bold\"", markup);
    }

    pub fn turned(&mut self, at: (f64, f64), size: f64, colour: Colour, markup: &str) {
        let turn = format!(" transform=\"rotate(-90 {} {})\"", short(at.0), short(at.1));
        self.write_text(at, "middle", size, colour, &turn, markup);
    }

    /// Text of a given width, in any typeface.
    pub fn fitted(&mut self, at: (f64, f64), size: f64, colour: Colour, width: f64, markup: &str) {
        let fit = format!(" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\"", short(width));
        self.write_text(at, "start", size, colour, &fit, markup);
    }

    fn write_text(&mut self, at: (f64, f64), anchor: &str, size: f64, colour: Colour, more: &str, markup: &str) {
        let colour = self.colour(colour);
        let (x, y, size) = (short(at.0), short(at.1), short(size));
        let anchor = if anchor == "start" { String::new() } else { format!(" text-anchor=\"{anchor}\"") };
        self.push(format_args!("<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{colour}\"{anchor}{more}>"));
        for (italic, part) in parts(markup) {
            let part = escape(part);
            if italic {
                self.push(format_args!("<tspan font-style=\"italic\">{part}</tspan>"));
            } else {
                self.raw(&part);
            }
        }
        self.raw("</text>");
    }

    /// An invisible disc to hover over.
    pub fn target(&mut self, x: f64, y: f64, radius: f64, tip: &str) {
        if self.target == DrawTarget::Page && !tip.is_empty() {
            let tip = escape(tip);
            self.push(format_args!(
                "<circle class=\"h\" cx=\"{}\" cy=\"{}\" r=\"{}\" data-t=\"{tip}\"/>",
                short(x),
                short(y),
                short(radius)
            ));
        }
    }

    fn tip(&self, tip: &str) -> String {
        if self.target == DrawTarget::Page && !tip.is_empty() {
            format!(" data-t=\"{}\"", escape(tip))
        } else {
            String::new()
        }
    }
}
