//! Sentences with their pieces coloured: the same sentence in two languages side by side, in more of them one under
//! another, as SVG, HTML or LaTeX. A piece that several languages of a row have is shared; the others are of one
//! language only.
//!
//! ```text
//! A  Labzvae   fekoc   x uc bo p z h by iw            Labzvae, x, uc, bo, p, z, iw shared
//! B  Labzvae   foc     enux x uc bo p z hi v iw big
//! ```

mod html;
mod latex;
mod pair;

pub use pair::{SentenceRow, Side};

use pair::{Use, legend};

use crate::draw::{Canvas, Colour, DrawTarget, Width, frame, width_of as label_width};

/// A table of sentences, each in every language.
pub struct PairedSentences {
    /// The languages, two or more.
    pub names: Vec<String>,
    /// The places of their colours in a picture.
    pub colours: Vec<usize>,
    pub pairs: Vec<SentenceRow>,
}

const SIZE: f64 = 6.4;
/// The advance of a monospaced letter.
const LETTER: f64 = 0.602 * SIZE;
const LEADING: f64 = 11.0;
/// Of a language's name.
const NAME: f64 = 7.5;

impl PairedSentences {
    /// A page of its own, for light and dark. `caption` is above the table.
    pub fn html(&self, caption: &str) -> String {
        html::render(&self.names, &self.pairs, caption)
    }

    /// A LaTeX document that compiles as it stands.
    pub fn latex(&self, caption: &str) -> String {
        latex::render(&self.names, &self.pairs, caption)
    }

    /// A picture. Pieces are laid out here, in letters of one width, so that it looks the same wherever it is shown.
    pub fn svg(&self, width: Width, target: DrawTarget, description: &str) -> String {
        let mut canvas = Canvas::new(target);
        let total = width.points();
        let mut y =
            if self.names.len() == 2 { self.abreast(&mut canvas, total) } else { self.stacked(&mut canvas, total) };
        y += 4.0;
        let mut x = 3.0;
        for (used, label) in legend(&self.names) {
            if x + width_of(&label) > total && x > 3.0 {
                (x, y) = (3.0, y + LEADING);
            }
            draw_piece(&mut canvas, &label, used, &self.colours, (x, y));
            x += width_of(&label) + 10.0;
        }
        frame(canvas, width, y + LEADING + 3.0, description)
    }

    /// Two languages side by side; where they end.
    fn abreast(&self, canvas: &mut Canvas, total: f64) -> f64 {
        let half = total / 2.0;
        let start = |place: usize| 3.0 + half * place as f64;
        let mut y = 9.0;
        for (place, name) in self.names.iter().enumerate() {
            canvas.bold((start(place), y), "start", NAME, Colour::Text, name);
        }
        y += 5.0;
        for SentenceRow(sides) in &self.pairs {
            canvas.line((3.0, y - 1.0), (total - 3.0, y - 1.0), Colour::Grid, 0.5, "");
            let ends = sides
                .iter()
                .enumerate()
                .map(|(i, side)| draw_side(canvas, side, &self.colours, (start(i), y), half - 8.0));
            y = ends.fold(y, f64::max) + 4.0;
        }
        y
    }

    /// Languages one under another, each line with its name; where they end.
    fn stacked(&self, canvas: &mut Canvas, total: f64) -> f64 {
        let names = self.names.iter().map(|name| label_width(name) * NAME * 1.06).fold(0.0, f64::max);
        let start = 3.0 + names + 7.0;
        let mut y = 4.0;
        for (row, SentenceRow(sides)) in self.pairs.iter().enumerate() {
            if row > 0 {
                canvas.line((3.0, y - 2.5), (total - 3.0, y - 2.5), Colour::Grid, 0.5, "");
            }
            for (at, side) in sides.iter().enumerate() {
                canvas.bold((3.0, y + 7.0), "start", NAME, Colour::Language(self.colours[at]), &self.names[at]);
                y = draw_side(canvas, side, &self.colours, (start, y), total - start - 5.0) + 1.0;
            }
            y += 5.0;
        }
        y
    }
}

fn width_of(piece: &str) -> f64 {
    piece.chars().count() as f64 * LETTER
}

/// Draws the words of one side and returns where they end.
fn draw_side(canvas: &mut Canvas, side: &[Vec<(String, Use)>], colours: &[usize], from: (f64, f64), room: f64) -> f64 {
    let (mut x, mut y) = from;
    for word in side {
        let length: f64 = word.iter().map(|(piece, _)| width_of(piece) + 1.0).sum();
        if x + length > from.0 + room && x > from.0 {
            (x, y) = (from.0, y + LEADING);
        }
        for (piece, used) in word {
            draw_piece(canvas, piece, *used, colours, (x, y));
            x += width_of(piece) + 1.0;
        }
        x += 4.0;
    }
    y + LEADING
}

/// A shared piece has a filled box, darker where all sides have it; one of a single language on a line of
/// its colour: told apart without colour too.
fn draw_piece(canvas: &mut Canvas, piece: &str, used: Use, colours: &[usize], (x, y): (f64, f64)) {
    let width = width_of(piece);
    match used {
        Use::All => canvas.rect(x, y, width, 9.0, Colour::Heat(if colours.len() == 2 { 0.28 } else { 0.4 }), ""),
        Use::Some => canvas.rect(x, y, width, 9.0, Colour::Heat(0.17), ""),
        Use::Own(place) => canvas.line((x, y + 8.6), (x + width, y + 8.6), Colour::Language(colours[place]), 1.3, ""),
    }
    // Letters of other alphabets come from faces of other widths: each piece keeps the room it was given.
    let fitted = !piece.is_ascii();
    canvas.raw("<g font-family=\"Menlo, Consolas, 'DejaVu Sans Mono', monospace\">");
    let shown = piece.replace('*', "∗");
    if fitted && shown.chars().any(char::is_alphabetic) {
        canvas.fitted((x, y + 6.6), SIZE, Colour::Text, width, &shown);
    } else {
        canvas.text((x, y + 6.6), "start", SIZE, Colour::Text, &shown);
    }
    canvas.raw("</g>");
}
