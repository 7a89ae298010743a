//! The table as a picture at the width of a page. Pieces are laid out here, in letters of one width, so that it looks the
//! same wherever it is shown.

use super::html::escape;
use super::{COLOURS, LEGEND, Piece, Row, Table, colour};
use std::fmt::Write;

/// Points: the page of the paper, and its smallest type.
const WIDTH: f64 = 453.5;
const SIZE: f64 = 6.6;
/// The advance of a letter in a monospaced type.
const LETTER: f64 = 0.6 * SIZE;
const LINE: f64 = 11.0;
const EDGE: f64 = 4.0;
const GUTTER: f64 = 10.0;

pub fn render(table: &Table) -> String {
    let mut body = String::new();
    let column = (WIDTH - 2.0 * EDGE - GUTTER) / 2.0;
    let starts = [EDGE, EDGE + column + GUTTER];
    let mut y = EDGE + 8.0;
    let mut x = EDGE;
    for (kind, label) in LEGEND.iter().enumerate() {
        x += piece(&mut body, x, y, label, kind) + 8.0;
    }
    y += LINE + 3.0;
    for (start, name) in starts.iter().zip(["A", "B"]) {
        writeln!(body, "<text class=\"h\" x=\"{start}\" y=\"{y:.1}\">{name}</text>").expect("a string takes all");
    }
    y += 4.0;
    for row in &table.rows {
        rule(&mut body, y);
        let heights = [0, 1].map(|side| cell(&mut body, row, side, starts[side], y + LINE - 1.5, column));
        y += heights[0].max(heights[1]) + 4.0;
    }
    rule(&mut body, y);
    let height = y + EDGE;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}pt\" height=\"{height:.1}pt\" viewBox=\"0 0 {WIDTH} {height:.1}\">\n\
         <title>{}</title>\n<style>text {{ font: {SIZE}px Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #1c2530 }} \
         .h {{ font: bold 8px Helvetica, Arial, sans-serif }} .e {{ fill: #8a94a0 }}</style>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{body}</svg>\n",
        table.caption()
    )
}

fn rule(body: &mut String, y: f64) {
    let right = WIDTH - EDGE;
    writeln!(body, "<path d=\"M{EDGE} {y:.1}H{right}\" stroke=\"#d8dee6\" stroke-width=\".5\"/>")
        .expect("a string takes all");
}

/// Draws the words of one side from the baseline `y` on, and returns the height they take.
fn cell(body: &mut String, row: &Row, side: usize, left: f64, y: f64, room: f64) -> f64 {
    let (mut x, mut line) = (left, 0.0);
    for word in &row[side] {
        let wide: f64 = word.iter().map(|p| width(&p.text) + 0.8).sum::<f64>() + LETTER;
        if x > left && x + wide > left + room {
            (x, line) = (left, line + LINE);
        }
        for Piece { text, shade } in word {
            x += piece(body, x, y + line, text, colour(*shade, side)) + 0.8;
        }
        writeln!(body, "<text class=\"e\" x=\"{x:.1}\" y=\"{:.1}\">␣</text>", y + line).expect("a string takes all");
        x += LETTER + 2.4;
    }
    line + LINE
}

fn width(text: &str) -> f64 {
    text.chars().count() as f64 * LETTER + 1.2
}

fn piece(body: &mut String, x: f64, y: f64, text: &str, kind: usize) -> f64 {
    let wide = width(text);
    writeln!(
        body,
        "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"{wide:.1}\" height=\"9\" rx=\"1\" fill=\"#{}\"/><text x=\"{:.1}\" y=\"{y:.1}\" \
         textLength=\"{:.1}\" lengthAdjust=\"spacingAndGlyphs\">{}</text>",
        y - 6.6,
        COLOURS[kind],
        x + 0.6,
        wide - 1.2,
        escape(text)
    )
    .expect("a string takes all");
    wide
}
