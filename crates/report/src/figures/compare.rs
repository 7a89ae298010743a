//! Runs that are compared: a panel per condition, a line per run.

use super::captions::Runs;
use super::facets::{Facets, across, variants};
use super::figure::{Chooser, Figure};
use super::style::{self, Style};
use super::table::Table;
use crate::data::Study;
use crate::draw::{Axis, Colour, Point, Shape};
use invitro_results::{COMPARED, Comparison, Quantity, digits};

const SHAPES: [Shape; 5] = [Shape::Circle, Shape::Square, Shape::Diamond, Shape::Triangle, Shape::Down];

pub fn figure(study: &Study, comparison: &Comparison) -> Figure {
    let choosers = vec![Chooser::new("measure", "measure", COMPARED.map(|it| it.name))];
    let mut drawn = Table::default();
    // Five colours, and then the same with other marks.
    let style = |(place, name): (usize, &String)| {
        Style::marked(name, Colour::Language(place % 5), SHAPES[(place / 5) % SHAPES.len()])
    };
    let styles: Vec<Style> = comparison.names.iter().enumerate().map(style).collect();
    let variants = variants(study, &choosers, Runs::Measured, |choice| {
        let compared = COMPARED[choice.options[0]];
        let mut facets = Facets::new(study, &mut drawn, Axis::share(compared.name)).fitted(&[0.0]);
        for condition in study.conditions() {
            facets.panel(condition.label(), Axis::steps(study.last_step()));
            for (run, style) in comparison.runs.iter().zip(&styles) {
                let points = run.curve(&Quantity::of(compared.measure, condition)).points();
                let at = |point: &invitro_results::Point| Point {
                    x: f64::from(point.step),
                    y: point.value,
                    interval: None,
                    tip: format!("{}, step {}: {}", style.name, point.step, digits(point.value)),
                };
                let finite = points.iter().filter(|point| point.value.is_finite());
                facets.line(finite.map(at).collect(), style);
            }
        }
        let mut layout = facets.layout(across(study.conditions().len()));
        layout.ratio = 0.85;
        layout.legend = style::marked_lines(&styles);
        layout
    });
    Figure {
        name: "compare",
        title: "The runs over training".into(),
        caption:
            "A line per run, a panel per condition. Each run has one seed: differences between them may be chance."
                .into(),
        choosers,
        variants,
        // The page has the numbers, and it stands alone.
        table: Table::default(),
    }
}
