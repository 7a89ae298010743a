//! The table of paired sentences: the same symbolic sentence in A and in B, pieces coloured by who uses them.
//!
//! A piece that stands on both sides of its row is shared. Without paired sentences in the folder the masked words and
//! their cognates are shown instead, which the word table always has.

use super::{Drawing, Figure, Table, Variant};
use crate::data::Study;
use crate::draw::{Canvas, Ink, Target, Width, frame};

/// Words, each a list of pieces; one side of a row.
type Side = Vec<Vec<String>>;

pub struct Sentences {
    rows: Vec<[Side; 2]>,
}

const MOST: usize = 16;

pub fn figure(study: &Study) -> Figure {
    let (rows, what): (Vec<[Side; 2]>, &str) = if study.pairs.is_empty() {
        // Longest shared first would flatter; evenly spaced words are what the tokenizer does.
        let one = study.words.first().map_or(0, |word| word.run);
        let whole = |word: &&crate::data::Word| word.run == one && word.pieces.iter().all(|side| !side.is_empty());
        let words: Vec<_> = study.words.iter().filter(whole).collect();
        let stride = words.len().div_ceil(MOST).max(1);
        let row = |word: &&crate::data::Word| [vec![word.pieces[0].clone()], vec![word.pieces[1].clone()]];
        (words.iter().step_by(stride).map(row).collect(), "masked words and their cognates")
    } else {
        (study.pairs.iter().take(MOST).map(|pair| pair.sides.clone()).collect(), "sentences")
    };
    let mut table = Table::new(["A", "B"]);
    for row in &rows {
        table.row(row.iter().map(|side| side.iter().map(|word| word.join("·")).collect::<Vec<_>>().join(" ")));
    }
    Figure {
        name: "sentences",
        title: format!("Paired {what}"),
        caption: format!(
            "The same {} in A (left) and in B (right) under one tokenizer. Pieces on both sides of a row are shared; the others are used \
             by A only or by B only.",
            if study.pairs.is_empty() { "masked symbols" } else { "symbolic sentences" }
        ),
        choosers: Vec::new(),
        variants: vec![Variant {
            choice: Vec::new(),
            runs: "One tokenizer".into(),
            drawing: Box::new(Sentences { rows }),
        }],
        table,
    }
}

const SIZE: f64 = 6.4;
/// The advance of a monospaced letter.
const LETTER: f64 = 0.602 * SIZE;
const LEADING: f64 = 11.0;

impl Drawing for Sentences {
    fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn render(&self, width: Width, target: Target, description: &str) -> String {
        let total = width.points();
        let half = total / 2.0;
        let mut canvas = Canvas::new(target);
        let mut y = 9.0;
        for (place, (label, ink)) in [("A", Ink::A), ("B", Ink::B)].into_iter().enumerate() {
            canvas.bold((3.0 + half * place as f64, y), "start", 7.5, ink, label);
        }
        y += 5.0;
        for [a, b] in &self.rows {
            canvas.line((3.0, y - 1.0), (total - 3.0, y - 1.0), Ink::Grid, 0.5, "");
            let shared = |piece: &String| [a, b].iter().all(|side| side.iter().flatten().any(|other| other == piece));
            let ends = [(a, Ink::A), (b, Ink::B)].into_iter().enumerate().map(|(place, (side, ink))| {
                draw_side(&mut canvas, side, ink, &shared, (3.0 + half * place as f64, y), half - 8.0)
            });
            y = ends.fold(y, f64::max) + 4.0;
        }
        y = legend(&mut canvas, y + 4.0);
        frame(canvas, width, y + 3.0, description)
    }
}

/// Draws the words of one side and returns where they end.
fn draw_side(
    canvas: &mut Canvas,
    side: &Side,
    own: Ink,
    shared: &dyn Fn(&String) -> bool,
    from: (f64, f64),
    room: f64,
) -> f64 {
    let (mut x, mut y) = (from.0, from.1);
    for word in side {
        let length: f64 = word.iter().map(|piece| piece.chars().count() as f64 * LETTER + 1.0).sum();
        if x + length > from.0 + room && x > from.0 {
            (x, y) = (from.0, y + LEADING);
        }
        for piece in word {
            let width = piece.chars().count() as f64 * LETTER;
            let ink = if shared(piece) { None } else { Some(own) };
            draw_piece(canvas, piece, ink, (x, y), width);
            x += width + 1.0;
        }
        x += 4.0;
    }
    y + LEADING
}

/// A shared piece stands in a filled box, one of A or B alone on a line of its colour: told apart without colour too.
fn draw_piece(canvas: &mut Canvas, piece: &str, own: Option<Ink>, at: (f64, f64), width: f64) {
    match own {
        None => canvas.rect(at.0, at.1, width, 9.0, Ink::Heat(0.28), ""),
        Some(ink) => canvas.line((at.0, at.1 + 8.6), (at.0 + width, at.1 + 8.6), ink, 1.3, ""),
    }
    canvas.raw("<g font-family=\"Menlo, Consolas, 'DejaVu Sans Mono', monospace\">");
    canvas.text((at.0, at.1 + 6.6), "start", SIZE, Ink::Text, &piece.replace('*', "∗"));
    canvas.raw("</g>");
}

fn legend(canvas: &mut Canvas, y: f64) -> f64 {
    let mut x = 3.0;
    for (label, ink) in [("shared", None), ("A only", Some(Ink::A)), ("B only", Some(Ink::B))] {
        let width = label.chars().count() as f64 * LETTER;
        draw_piece(canvas, label, ink, (x, y), width);
        x += width + 10.0;
    }
    y + LEADING
}
