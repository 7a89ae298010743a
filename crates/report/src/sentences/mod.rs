//! Paired sentences with their pieces coloured: the same sentence in two languages, side by side, as SVG, HTML or LaTeX. A
//! piece that stands on both sides of its row is shared; the others are of one language only.
//!
//! ```text
//! A  Labzvae   fekoc   x uc bo p z h by iw            Labzvae, x, uc, bo, p, z, iw shared
//! B  Labzvae   foc     enux x uc bo p z hi v iw big
//! ```

mod html;
mod latex;
mod pair;

pub use pair::{Pair, Side};

use pair::{Use, legend};

use crate::draw::{Canvas, Colour, Target, Width, frame};

/// A table of paired sentences.
pub struct PairedSentences {
    /// The two languages.
    pub names: [String; 2],
    pub pairs: Vec<Pair>,
}

const SIZE: f64 = 6.4;
/// The advance of a monospaced letter.
const LETTER: f64 = 0.602 * SIZE;
const LEADING: f64 = 11.0;

impl PairedSentences {
    /// A page of its own, for light and dark. `caption` stands above the table.
    pub fn html(&self, caption: &str) -> String {
        html::render(&self.names, &self.pairs, caption)
    }

    /// A LaTeX document that compiles as it stands.
    pub fn latex(&self, caption: &str) -> String {
        latex::render(&self.names, &self.pairs, caption)
    }

    /// A picture. Pieces are laid out here, in letters of one width, so that it looks the same wherever it is shown.
    pub fn svg(&self, width: Width, target: Target, description: &str) -> String {
        let total = width.points();
        let half = total / 2.0;
        let start = |place: usize| 3.0 + half * place as f64;
        let mut canvas = Canvas::new(target);
        let mut y = 9.0;
        for (place, name) in self.names.iter().enumerate() {
            canvas.bold((start(place), y), "start", 7.5, Colour::Text, name);
        }
        y += 5.0;
        for Pair(sides) in &self.pairs {
            canvas.line((3.0, y - 1.0), (total - 3.0, y - 1.0), Colour::Grid, 0.5, "");
            let ends =
                sides.iter().enumerate().map(|(i, side)| draw_side(&mut canvas, side, (start(i), y), half - 8.0));
            y = ends.fold(y, f64::max) + 4.0;
        }
        y += 4.0;
        let mut x = 3.0;
        for (used, label) in legend(&self.names) {
            draw_piece(&mut canvas, &label, used, (x, y));
            x += width_of(&label) + 10.0;
        }
        frame(canvas, width, y + LEADING + 3.0, description)
    }
}

fn width_of(piece: &str) -> f64 {
    piece.chars().count() as f64 * LETTER
}

/// Draws the words of one side and returns where they end.
fn draw_side(canvas: &mut Canvas, side: &[Vec<(String, Use)>], from: (f64, f64), room: f64) -> f64 {
    let (mut x, mut y) = from;
    for word in side {
        let length: f64 = word.iter().map(|(piece, _)| width_of(piece) + 1.0).sum();
        if x + length > from.0 + room && x > from.0 {
            (x, y) = (from.0, y + LEADING);
        }
        for (piece, used) in word {
            draw_piece(canvas, piece, *used, (x, y));
            x += width_of(piece) + 1.0;
        }
        x += 4.0;
    }
    y + LEADING
}

/// A shared piece stands in a filled box, one of a single language on a line of its colour: told apart without colour too.
fn draw_piece(canvas: &mut Canvas, piece: &str, used: Use, (x, y): (f64, f64)) {
    let width = width_of(piece);
    match used {
        Use::Shared => canvas.rect(x, y, width, 9.0, Colour::Heat(0.28), ""),
        Use::First => canvas.line((x, y + 8.6), (x + width, y + 8.6), Colour::Language(0), 1.3, ""),
        Use::Second => canvas.line((x, y + 8.6), (x + width, y + 8.6), Colour::Language(1), 1.3, ""),
    }
    canvas.raw("<g font-family=\"Menlo, Consolas, 'DejaVu Sans Mono', monospace\">");
    canvas.text((x, y + 6.6), "start", SIZE, Colour::Text, &piece.replace('*', "∗"));
    canvas.raw("</g>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_formats_say_the_same() {
        let words = |words: &[&[&str]]| words.iter().map(|word| word.iter().map(|p| p.to_string()).collect()).collect();
        let pair = Pair::new([words(&[&["Lab"], &["fe", "koc"]]), words(&[&["Lab"], &["koc"]])]);
        assert_eq!(pair.shared_share(), 4.0 / 5.0);
        assert_eq!(pair.text(), ["Lab fe·koc", "Lab koc"]);
        let table = PairedSentences { names: ["A", "B"].map(str::to_owned), pairs: vec![pair] };
        let tex = table.latex("Caption.");
        assert!(tex.contains(r"\tokbox{tokAOnly}{fe}\tokbox{tokShared}{koc}\wordend"), "{tex}");
        let html = table.html("Caption.");
        assert!(html.contains("<i class=\"a\">fe</i><i class=\"s\">koc</i>"), "{html}");
        let svg = table.svg(Width::Page, Target::File, "Description.");
        assert_eq!(svg.matches(">koc<").count(), 2, "{svg}");
        let boxes = svg.matches("height=\"9\"").count();
        assert_eq!(boxes, 5, "four shared pieces, and the legend");
    }
}
