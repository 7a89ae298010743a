//! What methods estimate beside the truth that they should find: claims that are `against` another.

use super::captions::{BARS, Runs};
use super::engine::{ends, variants};
use super::figure::Figure;
use super::style::{self, Style};
use super::table::FigureTable;
use crate::claims::{ClaimAnswers, unit};
use crate::data::Study;
use crate::draw::{Axis, Colour, FigureLayout, MarkerShape, PanelMark, PlotPanel, PlotPoint, plain_text};
use crate::wording::with_runs;
use invitro_results::claims::{Answer, Estimand, Scope};
use invitro_stats::Estimate;

/// A method: what it estimates, the truth, and its error.
struct Method<'a> {
    answer: &'a Answer,
    estimand: &'a Estimand,
    estimate: Estimate,
    truth: Estimate,
}

impl Method<'_> {
    /// `None` of a claim that is not against another, or where one of the two has no number.
    fn new(answer: &Answer) -> Option<Method<'_>> {
        let ([(estimand, own), (_, truth), ..], Some(_)) = (&answer.beside[..], &answer.claim.against) else {
            return None;
        };
        Some(Method { answer, estimand, estimate: own.estimate?, truth: truth.estimate? })
    }

    fn covers(&self) -> bool {
        self.estimate.interval.is_some_and(|interval| interval.contains(self.truth.value))
    }
}

/// A panel for each truth, with a row for each method. `None` where no claim is against another.
pub fn figure(study: &Study, answers: &ClaimAnswers) -> Option<Figure> {
    let methods: Vec<Method> = answers.answers.iter().filter_map(Method::new).collect();
    let truth_of = |method: &Method| method.answer.claim.against.clone();
    let mut truths: Vec<_> = methods.iter().map(truth_of).collect();
    truths.dedup();
    let numbers =
        ["estimate", "truth", "error"].map(|name| [name.to_owned(), format!("{name}_low"), format!("{name}_high")]);
    let header: Vec<String> = numbers.concat();
    let header =
        ["against", "method"].into_iter().chain(header.iter().map(String::as_str)).chain(["covers_truth", "runs"]);
    let mut table = FigureTable::new(header);
    let mut panels = Vec::new();
    for truth in &truths {
        let own: Vec<&Method> = methods.iter().filter(|method| truth_of(method) == *truth).collect();
        let name = truth.as_deref().unwrap_or_default();
        for method in &own {
            let error = method.answer.estimated.estimate;
            let all = [Some(method.estimate), Some(method.truth), error];
            let cells = all.into_iter().flat_map(|estimate| {
                let [low, high] =
                    estimate.and_then(|it| it.interval).map_or([None; 2], |it| [Some(it.low), Some(it.high)]);
                [estimate.map(|it| it.value), low, high].map(|it| it.map_or(String::new(), |number| number.to_string()))
            });
            let names = [name.to_owned(), method.answer.claim.id.clone()];
            let last = [method.covers().to_string(), method.estimate.runs.to_string()];
            table.row(names.into_iter().chain(cells).chain(last));
        }
        panels.push(panel(study, name, &own));
    }
    let most = panels.iter().map(|panel| panel.y.ticks.len()).max()?;
    let variants = variants(study, &[], Runs::Ended, |_| {
        let mut layout = FigureLayout::new(panels.clone(), [1, panels.len().min(2)]);
        let legend = [("covers the truth", MarkerShape::Circle), ("misses it", MarkerShape::Ring)];
        layout.legend = style::markers(&legend.map(|(name, shape)| Style::marked(name, Colour::Text, shape)));
        layout.share_y = false;
        layout.height = Some(10.0 * most.max(3) as f64);
        layout
    });
    let caption = format!(
        "What each method estimates of an effect that was planted. The line is the effect itself, the broken lines its interval. {BARS}"
    );
    Some(Figure {
        name: "methods",
        title: "Methods beside the truth".into(),
        caption,
        choosers: Vec::new(),
        variants,
        table,
    })
}

fn panel(study: &Study, name: &str, methods: &[&Method]) -> PlotPanel {
    let truth = methods[0].truth;
    let shown = methods.iter().map(|method| method.estimate).chain([truth]);
    let extent: Vec<f64> = shown
        .flat_map(|it| ends(&it).map_or(vec![it.value], |(low, high)| vec![low, it.value, high]))
        .chain([0.0])
        .collect();
    let unit = unit(Scope::new(study).measure(&methods[0].estimand.value.first)).trim();
    let y = Axis::levels("", methods.iter().rev().map(|method| method.answer.claim.id.clone()));
    let mut panel = PlotPanel::new(name, Axis::around(unit, extent.into_iter()), y);
    let rows = methods.len() as f64 - 0.5;
    let mut line = |x: f64, colour, dash| {
        panel.marks.push(PanelMark::Segment { from: (x, -0.5), to: (x, rows), colour, dash });
    };
    line(0.0, Colour::Muted, "");
    line(truth.value, Colour::Masked(0), "");
    for end in ends(&truth).into_iter().flat_map(|(low, high)| [low, high]) {
        line(end, Colour::Masked(0), "2 2");
    }
    for (row, method) in methods.iter().rev().enumerate() {
        let point = PlotPoint {
            x: method.estimate.value,
            y: row as f64,
            interval: ends(&method.estimate),
            tip: plain_text(&format!("{}: {}", method.answer.claim.id, with_runs(&method.estimate))),
        };
        let shape = if method.covers() { MarkerShape::Circle } else { MarkerShape::Ring };
        panel.marks.push(PanelMark::ErrorBar { point, colour: Colour::Text, shape, along_x: true });
    }
    panel
}
