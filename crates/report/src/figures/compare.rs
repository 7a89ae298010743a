//! Runs that are compared: a panel per condition, a line per run.

use super::captions::Runs;
use super::facets::{Facets, across, variants};
use super::figure::{Chooser, Figure};
use super::groups::{self, groups};
use super::progress::Progress;
use super::style::{self, Style};
use super::table::Table;
use crate::data::Study;
use crate::draw::{Axis, Colour, Point, Shape};
use invitro_results::{COMPARED, Comparison, Quantity};
use invitro_stats::digits;

const SHAPES: [Shape; 5] = [Shape::Circle, Shape::Square, Shape::Diamond, Shape::Triangle, Shape::Down];

pub fn figure(study: &Study, comparison: &Comparison) -> Figure {
    let (groups, progress) = (groups(study), Progress::all(study));
    let measures = Chooser::new("measure", "measure", COMPARED.map(|it| it.name));
    let choosers = vec![measures, groups::chooser(&groups), Progress::chooser(&progress)];
    let mut drawn = Table::default();
    // Five colours, and then the same with other marks.
    let style = |(place, name): (usize, &String)| {
        Style::marked(name, Colour::Language(place % 5), SHAPES[(place / 5) % SHAPES.len()])
    };
    let styles: Vec<Style> = comparison.names.iter().enumerate().map(style).collect();
    let variants = variants(study, &choosers, Runs::Measured, |choice| {
        let compared = COMPARED[choice.options[0]];
        let mut facets = Facets::new(study, &mut drawn, Axis::share(compared.name)).fitted(&[0.0]);
        let conditions = &groups[choice.options[1]].conditions;
        let progress = &progress[choice.options[2]];
        for (condition, _) in conditions {
            facets.panel(condition.label(), progress.axis());
            for (run, style) in comparison.runs.iter().zip(&styles) {
                let points = run.curve(&Quantity::of(compared.measure, condition)).points();
                let at = |point: &invitro_results::Point| Point {
                    x: f64::from(point.step) * progress.per_step_of(run),
                    y: point.value,
                    interval: None,
                    tip: format!("{}, step {}: {}", style.name, point.step, digits(point.value)),
                };
                let finite = points.iter().filter(|point| point.value.is_finite());
                facets.line(finite.map(at).collect(), style);
            }
        }
        let mut layout = facets.layout(across(conditions.len()));
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
        table: numbers(comparison),
    }
    .trimmed()
}

/// Every point of every curve that the figure can show.
fn numbers(comparison: &Comparison) -> Table {
    let mut table = Table::new(["measure", "condition", "run", "step", "value"]);
    for (compared, condition) in comparison.measured() {
        let quantity = Quantity::of(compared.measure, &condition);
        for (name, run) in comparison.names.iter().zip(&comparison.runs) {
            for point in run.curve(&quantity).points() {
                let place = [compared.name.to_owned(), condition.label(), name.clone()];
                table.row(place.into_iter().chain([point.step.to_string(), point.value.to_string()]));
            }
        }
    }
    table
}
