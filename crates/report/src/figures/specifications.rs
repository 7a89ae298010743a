//! Specification curves: claims under every reading.

use super::captions::{BARS, Runs};
use super::engine::{ends, variants};
use super::figure::{Chooser, Figure};
use super::style::{self, Style};
use super::table::FigureTable;
use crate::claims::{ClaimAnswers, Rendered, statistic};
use crate::data::{Study, setting_name};
use crate::draw::{Axis, Colour, FigureLayout, MarkerShape, PanelMark, PlotPanel, PlotPoint, plain_text};
use crate::wording::{counted, with_runs};
use invitro_results::claims::{Answer, Specification, Test, Verdict};
use invitro_results::{Moment, Statistic};
use invitro_stats::Estimate;

/// What a claim comes to, as it is drawn. What was not tested looks like what is inconclusive.
const VERDICTS: [(&str, Colour); 4] = [
    ("supported", Colour::Language(0)),
    ("inconclusive", Colour::Null),
    ("equivalent", Colour::Language(2)),
    ("contradicted", Colour::Language(1)),
];

fn colour(verdict: &Verdict) -> Colour {
    VERDICTS.iter().find(|(name, _)| *name == verdict.name()).map_or(Colour::Null, |(_, colour)| *colour)
}

/// A choice that was left open, and how it was made.
type Decision = (String, String);

fn choices_of(one: &Specification) -> Vec<Decision> {
    let mut all: Vec<Decision> = one.settings.iter().map(|(key, value)| (setting_name(key), value.clone())).collect();
    let mut add = |what: &str, how: Option<String>| all.extend(how.map(|how| (what.to_owned(), how)));
    add("*K*", one.top.map(|top| format!("{top} |*V*|")));
    add("counted", one.counted.map(|it| if it == Statistic::Any { "any target" } else { "share" }.to_owned()));
    add(
        "read",
        one.moment.map(|moment| match moment {
            Moment::Peak => "at the peak".to_owned(),
            Moment::End => "at the end".to_owned(),
            other => other.name(),
        }),
    );
    add("crossing", one.crossing.map(|crossing| crossing.name().to_owned()));
    all
}

/// A claim under each reading that gives an estimate, from the lowest to the highest.
struct SpecificationCurve<'a> {
    /// The claim, without a full stop: a title.
    title: String,
    /// What was computed.
    measured: String,
    /// Where a claim begins to hold.
    neutral: f64,
    answer: &'a Answer,
}

impl SpecificationCurve<'_> {
    fn specifications(&self) -> &[Specification] {
        &self.answer.specifications
    }
}

fn estimate(one: &Specification) -> Estimate {
    one.estimated.estimate.expect("a reading without an estimate is left out")
}

/// `None` where no claim has more than one reading.
pub fn figure<'a>(study: &Study, answers: &'a ClaimAnswers) -> Option<Figure> {
    let curve = |answer: &'a Answer| {
        let says = Rendered::new(study, answer).says;
        let measured = match &answer.claim.test {
            Test::Estimand(estimand) => statistic(estimand),
            Test::All(_) => String::new(),
        };
        let neutral = answer.claim.expect.map_or(0.0, |expect| expect.neutral());
        SpecificationCurve { title: says.trim_end_matches('.').to_owned(), measured, neutral, answer }
    };
    let curves: Vec<SpecificationCurve> =
        answers.answers.iter().filter(|answer| answer.specifications.len() > 1).map(curve).collect();
    if curves.is_empty() {
        return None;
    }
    let mut table = FigureTable::of_estimates(["claim", "reading", "verdict"]);
    for curve in &curves {
        for one in curve.specifications() {
            table.estimate([&curve.title[..], &plain_text(&text(one)), one.verdict.name()], Some(&estimate(one)));
        }
    }
    let claims = std::iter::once("all claims".to_owned()).chain(curves.iter().map(|curve| plain_text(&curve.title)));
    let choosers = vec![Chooser::new("claim", "claim", claims)];
    let variants = variants(study, &choosers, Runs::Ended, |choice| {
        let mut layout = match choice.options[0] {
            0 => FigureLayout::new(curves.iter().map(panel).collect(), [1, 3]),
            one => {
                let (curve, choices) = (&curves[one - 1], choices(&curves[one - 1]));
                let mut layout = FigureLayout::new(vec![panel(curve), matrix(curve, &choices)], [1, 1]);
                layout.height = Some(9.0 * choices.len().max(8) as f64);
                layout
            }
        };
        layout.share_y = false;
        let styles = VERDICTS.map(|(name, colour)| Style::marked(name, colour, MarkerShape::Circle));
        layout.legend = style::markers(&styles);
        layout
    });
    let (readings, without) = curves
        .iter()
        .fold((0, 0), |sums, curve| (sums.0 + curve.specifications().len(), sums.1 + curve.answer.without));
    let without = match without {
        0 => String::new(),
        without => {
            format!(" {without} more give no estimate: nearly all runs are at a bound of the measure, or alike.")
        }
    };
    Some(Figure {
        name: "specifications",
        title: "Claims under every reading".into(),
        caption: format!(
            "Each mark is one reading, sorted by its estimate. A reading chooses how runs were made, where this study varies that; *K*; any target \
             or the share of targets; the peak or the end; of orders, the first or the lasting crossing. There are {}.{without} A claim is \
             supported where the interval lies wholly on the claimed side of the broken line, contradicted where it lies on the other side, and \
             equivalent to no effect where it lies within 0.1 of none. {BARS} Below a single claim, the choices of each mark. The readings are of the \
             same runs and not independent of each other.",
            counted(readings, "reading"),
        ),
        choosers,
        variants,
        table,
    })
}

fn text(one: &Specification) -> String {
    choices_of(one).iter().map(|(what, how)| format!("{what}: {how}")).collect::<Vec<_>>().join("; ")
}

fn ranks(curve: &SpecificationCurve) -> Axis {
    Axis { ticks: Vec::new(), ..Axis::linear("", 0.5, curve.specifications().len() as f64 + 0.5) }
}

/// The estimates with their intervals, by rank. The frame fits the estimates and as much again of the intervals.
fn panel(curve: &SpecificationCurve) -> PlotPanel {
    let values = || curve.specifications().iter().map(|one| estimate(one).value).chain([curve.neutral]);
    let (low, high) =
        values().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    let room = (high - low) / 2.0;
    let bounds =
        curve.specifications().iter().filter_map(|one| ends(&estimate(one))).flat_map(|(low, high)| [low, high]);
    let bounds = bounds.map(|bound| bound.clamp(low - room, high + room));
    let mut panel = PlotPanel::new(curve.title.clone(), ranks(curve), Axis::around("", values().chain(bounds)));
    let count = |name: &str| curve.specifications().iter().filter(|one| one.verdict.name() == name).count();
    let counts = VERDICTS.map(|(name, _)| (name, count(name))).into_iter().filter(|(_, count)| *count > 0);
    let counts: Vec<String> = counts.map(|(name, count)| format!("{name}: {count}")).collect();
    panel.notes = vec![curve.measured.clone(), counts.join(", ")];
    let last = curve.specifications().len() as f64 + 0.5;
    let (from, to) = ((0.5, curve.neutral), (last, curve.neutral));
    panel.marks.push(PanelMark::Segment { from, to, colour: Colour::Muted, dash: "2 2" });
    for (place, one) in curve.specifications().iter().enumerate() {
        let (x, colour) = (place as f64 + 1.0, colour(&one.verdict));
        if let Some((low, high)) = ends(&estimate(one)) {
            panel.marks.push(PanelMark::Segment { from: (x, low), to: (x, high), colour, dash: "" });
        }
        let tip = format!("{}: {}", plain_text(&text(one)), with_runs(&estimate(one)));
        let point = PlotPoint { x, y: estimate(one).value, interval: None, tip };
        panel.marks.push(PanelMark::Point { point, colour, shape: MarkerShape::Circle });
    }
    panel
}

/// What the readings of a claim differ in, in order.
fn choices(curve: &SpecificationCurve) -> Vec<Decision> {
    let mut found: Vec<Decision> = Vec::new();
    for choice in curve.specifications().iter().flat_map(choices_of) {
        if !found.contains(&choice) {
            found.push(choice);
        }
    }
    found.sort();
    let all = found.clone();
    found.retain(|(what, _)| all.iter().filter(|(other, _)| other == what).count() > 1);
    found
}

/// Which choices each reading made.
fn matrix(curve: &SpecificationCurve, choices: &[Decision]) -> PlotPanel {
    let labels = choices.iter().rev().map(|(what, how)| format!("{what}: {how}"));
    let mut panel = PlotPanel::new("", ranks(curve), Axis::levels("", labels));
    for (place, one) in curve.specifications().iter().enumerate() {
        let own = choices_of(one);
        for (row, choice) in choices.iter().enumerate().filter(|(_, choice)| own.contains(choice)) {
            let y = (choices.len() - 1 - row) as f64;
            let point = PlotPoint {
                x: place as f64 + 1.0,
                y,
                interval: None,
                tip: format!("{}: {}", plain_text(&choice.0), plain_text(&choice.1)),
            };
            panel.marks.push(PanelMark::Point { point, colour: colour(&one.verdict), shape: MarkerShape::Circle });
        }
    }
    panel
}
