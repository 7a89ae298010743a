//! Specification curves: each of the paper's claims under every reading.

use super::captions::{BARS, Runs};
use super::facets::{ends, variants};
use super::figure::{Chooser, Figure};
use super::style::{self, Style};
use super::table::Table;
use crate::data::Study;
use crate::draw::{Axis, Colour, Layout, Mark, Panel, Point, Shape, plain};
use crate::findings::specifications::{self, Choice, Specification, SpecificationCurve};
use crate::wording::{counted, spoken};
use invitro_results::Verdict;

/// What a claim comes to, as it is drawn.
const VERDICTS: [(&str, Colour); 3] =
    [("agrees", Colour::Language(0)), ("cannot tell", Colour::Null), ("differs", Colour::Language(1))];

/// What is not judged looks like what cannot be told.
fn colour(verdict: Verdict) -> Colour {
    let own = VERDICTS.iter().find(|(name, _)| *name == verdict.of_claim());
    own.map_or(Colour::Null, |(_, colour)| *colour)
}

/// `None` where no claim has more than one reading.
pub fn figure(study: &Study) -> Option<Figure> {
    let curves = specifications::all(study);
    if curves.is_empty() {
        return None;
    }
    let mut table = Table::of_estimates(["claim", "reading", "verdict"]);
    for curve in &curves {
        for one in &curve.specifications {
            table.estimate([&curve.paper[..], &plain(&text(one)), one.verdict.of_claim()], Some(&one.estimate));
        }
    }
    let claims = std::iter::once("all claims".to_owned()).chain(curves.iter().map(|curve| plain(&curve.paper)));
    let choosers = vec![Chooser::new("claim", "claim", claims)];
    let variants = variants(study, &choosers, Runs::Ended, |choice| {
        let mut layout = match choice.options[0] {
            0 => Layout::new(curves.iter().map(panel).collect(), [1, 3]),
            one => {
                let (curve, choices) = (&curves[one - 1], choices(&curves[one - 1]));
                let mut layout = Layout::new(vec![panel(curve), matrix(curve, &choices)], [1, 1]);
                layout.height = Some(9.0 * choices.len().max(8) as f64);
                layout
            }
        };
        layout.share_y = false;
        let styles = VERDICTS.map(|(name, colour)| Style::marked(name, colour, Shape::Circle));
        layout.legend = style::markers(&styles);
        layout
    });
    let (readings, without) =
        curves.iter().fold((0, 0), |sums, curve| (sums.0 + curve.specifications.len(), sums.1 + curve.without));
    let without = match without {
        0 => String::new(),
        without => {
            format!(" {} more give no estimate: nearly all runs are at a bound of the measure, or alike.", without)
        }
    };
    Some(Figure {
        name: "specifications",
        title: "The paper's claims under every reading".into(),
        caption: format!(
            "Each mark is one reading, sorted by what it comes to: how runs were made, where this study varies that, *K*, any target \
             or the share of targets, the peak or the end; of orders, the first or the lasting crossing. {} in all.{without} A mark agrees with \
             the claim where its interval lies wholly on the claimed side of the broken line, and differs where it lies on the other side or \
             within 0.1 of no effect. {BARS} Below a single claim, how each mark was read. The readings are of the same runs and not \
             independent of each other.",
            counted(readings, "reading"),
        ),
        choosers,
        variants,
        table,
    })
}

fn text(one: &Specification) -> String {
    one.choices.iter().map(|(what, how)| format!("{what}: {how}")).collect::<Vec<_>>().join("; ")
}

fn ranks(curve: &SpecificationCurve) -> Axis {
    Axis { ticks: Vec::new(), ..Axis::linear("", 0.5, curve.specifications.len() as f64 + 0.5) }
}

/// The estimates with their intervals, by rank. The frame fits the estimates and as much again of the intervals.
fn panel(curve: &SpecificationCurve) -> Panel {
    let values = || curve.specifications.iter().map(|one| one.estimate.value).chain([curve.neutral]);
    let (low, high) =
        values().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    let room = (high - low) / 2.0;
    let bounds = curve.specifications.iter().filter_map(|one| ends(&one.estimate)).flat_map(|(low, high)| [low, high]);
    let bounds = bounds.map(|bound| bound.clamp(low - room, high + room));
    let mut panel = Panel::new(curve.paper.clone(), ranks(curve), Axis::around("", values().chain(bounds)));
    let [agree, differ, untold] = curve.counts();
    panel.notes = vec![curve.measured.clone(), format!("agree: {agree}, differ: {differ}, cannot tell: {untold}")];
    let last = curve.specifications.len() as f64 + 0.5;
    let (from, to) = ((0.5, curve.neutral), (last, curve.neutral));
    panel.marks.push(Mark::Segment { from, to, colour: Colour::Muted, dash: "2 2" });
    for (place, one) in curve.specifications.iter().enumerate() {
        let (x, colour) = (place as f64 + 1.0, colour(one.verdict));
        if let Some((low, high)) = ends(&one.estimate) {
            panel.marks.push(Mark::Segment { from: (x, low), to: (x, high), colour, dash: "" });
        }
        let tip = format!("{}: {}", plain(&text(one)), spoken(&one.estimate));
        let point = Point { x, y: one.estimate.value, interval: None, tip };
        panel.marks.push(Mark::Point { point, colour, shape: Shape::Circle });
    }
    panel
}

/// What the readings of a claim differ in, in order.
fn choices(curve: &SpecificationCurve) -> Vec<Choice> {
    let mut found: Vec<Choice> = Vec::new();
    for choice in curve.specifications.iter().flat_map(|one| &one.choices) {
        if !found.contains(choice) {
            found.push(choice.clone());
        }
    }
    found.sort();
    let all = found.clone();
    found.retain(|(what, _)| all.iter().filter(|(other, _)| other == what).count() > 1);
    found
}

/// Which choices each reading made.
fn matrix(curve: &SpecificationCurve, choices: &[Choice]) -> Panel {
    let labels = choices.iter().rev().map(|(what, how)| format!("{what}: {how}"));
    let mut panel = Panel::new("", ranks(curve), Axis::levels("", labels));
    for (place, one) in curve.specifications.iter().enumerate() {
        for (row, choice) in choices.iter().enumerate().filter(|(_, choice)| one.choices.contains(choice)) {
            let y = (choices.len() - 1 - row) as f64;
            let point = Point {
                x: place as f64 + 1.0,
                y,
                interval: None,
                tip: format!("{}: {}", plain(&choice.0), plain(&choice.1)),
            };
            panel.marks.push(Mark::Point { point, colour: colour(one.verdict), shape: Shape::Circle });
        }
    }
    panel
}
