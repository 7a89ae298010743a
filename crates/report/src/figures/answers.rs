//! The figure of the first screen: the numbers behind the primary claims, a panel for each.
//!
//! A panel shows what its claim is about rather than the estimate alone: an effect of a setting as means over its levels, a
//! difference as the arms it compares, a mean beside the conditions that the claim names. Every number is estimated as claims
//! are.

use super::captions::Runs;
use super::engine::{across, ends, variants};
use super::figure::Figure;
use super::style::{self, Style};
use super::table::FigureTable;
use crate::claims::{ClaimAnswers, describe, describe_short, held, predictor_symbol, statistic, unit};
use crate::data::{Factor, FactorWords, Study};
use crate::draw::{Axis, AxisScale, Colour, FigureLayout, MarkerShape, PanelMark, PlotPanel, PlotPoint, plain_text};
use crate::wording::with_runs;
use invitro_results::claims::{Answer, Estimand, EstimandKind, Predictor, Scope, Test};
use invitro_results::{Condition, Levels, Moment};
use invitro_stats::Estimate;

/// A mark of a panel: where along x, what it is called, how it looks, and its value.
struct ClaimPoint {
    place: usize,
    name: String,
    style: Style,
    estimate: Estimate,
}

/// The panel of one claim.
struct ClaimPanel {
    title: String,
    /// Of the places along x.
    label: String,
    places: Vec<String>,
    points: Vec<ClaimPoint>,
    /// Whether places are levels of a number, so that a line may join them.
    is_ordered: bool,
}

/// `None` where no claim is primary, or none has a number; and where one is about a decline, which curves over training show.
pub fn figure(study: &Study, answers: &ClaimAnswers) -> Option<Figure> {
    let primary: Vec<&Answer> = answers.answers.iter().filter(|answer| answer.claim.primary).collect();
    let parts = primary.iter().flat_map(|answer| match &answer.claim.test {
        Test::All(ids) => ids.iter().filter_map(|id| answers.by_id(id)).collect(),
        Test::Estimand(_) => vec![*answer],
    });
    // What is compared with a truth has a figure of its own.
    let claims: Vec<(&Answer, &Estimand)> = parts
        .filter(|answer| answer.claim.against.is_none())
        .filter_map(|answer| match &answer.claim.test {
            Test::Estimand(estimand) => Some((answer, estimand)),
            Test::All(_) => None,
        })
        .collect();
    let declines = |(_, estimand): &(&Answer, &Estimand)| estimand.value.first.moment == Moment::Decline;
    if claims.iter().any(declines) {
        return None;
    }
    let taken: Vec<Factor> = claims.iter().flat_map(|(_, estimand)| factors(estimand)).collect();
    let panels = claims.iter().map(|(answer, estimand)| ClaimPanel::new(study, answer, estimand, &taken));
    let mut panels: Vec<ClaimPanel> = panels.filter(|panel| !panel.points.is_empty()).collect();
    merge(&mut panels);
    if panels.is_empty() {
        return None;
    }
    let mut table = FigureTable::of_estimates(["panel", "at", "of"]);
    for panel in &panels {
        for point in &panel.points {
            let at = plain_text(&panel.places[point.place]);
            table.estimate([&plain_text(&panel.title)[..], &at, &plain_text(&point.name)], Some(&point.estimate));
        }
    }
    let variants = variants(study, &[], Runs::Ended, |_| {
        let mut styles: Vec<Style> = Vec::new();
        for point in panels.iter().flat_map(|panel| &panel.points) {
            if styles.iter().all(|own| own.name != point.style.name) {
                styles.push(point.style.clone());
            }
        }
        let mut layout = FigureLayout::new(panels.iter().map(draw).collect(), across(panels.len().min(4)));
        layout.legend = if styles.len() > 1 { style::markers(&styles) } else { Vec::new() };
        layout.share_y = false;
        layout.height = Some(64.0);
        layout
    });
    let title = "The numbers behind the primary claims".into();
    let caption = "Means over runs, or estimates over all runs, with their 95 % intervals over seeds.".into();
    Some(Figure { name: "answers", title, caption, choosers: Vec::new(), variants, table })
}

/// Two claims about the same arms, or of numbers of the same kind, need one panel.
fn merge(panels: &mut Vec<ClaimPanel>) {
    let mut merged: Vec<ClaimPanel> = Vec::new();
    for panel in panels.drain(..) {
        let is_same = |own: &&mut ClaimPanel| own.title == panel.title && own.label == panel.label;
        let Some(own) = merged.iter_mut().find(is_same) else {
            merged.push(panel);
            continue;
        };
        for point in panel.points {
            let name = &panel.places[point.place];
            if !own.places.contains(name) {
                own.places.push(name.clone());
                own.points.push(ClaimPoint { place: own.places.len() - 1, ..point });
            }
        }
    }
    *panels = merged;
}

/// The settings whose levels show what a claim is about.
fn factors(estimand: &Estimand) -> Vec<Factor> {
    match &estimand.kind {
        EstimandKind::Difference { of, .. } => of.iter().map(|(factor, _)| *factor).collect(),
        EstimandKind::Effect(of) => match &of[..] {
            [one] => setting(one).into_iter().collect(),
            _ => Vec::new(),
        },
        EstimandKind::Bend(factor) => vec![*factor],
        _ => Vec::new(),
    }
}

fn setting(predictor: &Predictor) -> Option<Factor> {
    match predictor {
        Predictor::Setting(factor) => Some(*factor),
        Predictor::Similarity => Some(Factor::DISTANCE),
        Predictor::Measure(_) => None,
    }
}

impl ClaimPanel {
    /// `taken` are the settings that panels of other claims show already.
    fn new(study: &Study, answer: &Answer, estimand: &Estimand, taken: &[Factor]) -> ClaimPanel {
        let scope = Scope { masked: answer.masked.as_ref(), ..Scope::new(study) };
        let own = factors(estimand);
        let varies = |factor: &Factor| study.varying().contains(factor);
        match &estimand.kind {
            EstimandKind::Mean if answer.claim.by.iter().rev().any(|by| varies(by) && !taken.contains(by)) => {
                let by = answer.claim.by.iter().rev().find(|by| varies(by) && !taken.contains(by)).copied();
                ClaimPanel::by_level(&scope, estimand, &of_conditions(answer, estimand), by.as_slice())
            }
            EstimandKind::Mean => ClaimPanel::side_by_side(&scope, estimand, &of_conditions(answer, estimand)),
            EstimandKind::Words { .. } | EstimandKind::Jump { .. } if answer.claim.by.iter().any(varies) => {
                let by: Vec<Factor> = answer.claim.by.iter().copied().filter(varies).take(2).collect();
                let panel = ClaimPanel::by_level(&scope, estimand, std::slice::from_ref(estimand), &by);
                ClaimPanel { title: statistic(estimand), ..panel }
            }
            _ if !own.is_empty() && own.iter().all(varies) => {
                let mean = Estimand { kind: EstimandKind::Mean, ..estimand.clone() };
                ClaimPanel::by_level(&scope, &mean, std::slice::from_ref(&mean), &own)
            }
            _ => ClaimPanel::of_estimates(&scope, answer, estimand, &separate(estimand)),
        }
    }

    /// Means over the levels of a setting; of a second one, a colour for each level.
    fn by_level(scope: &Scope, shown: &Estimand, of: &[Estimand], factors: &[Factor]) -> ClaimPanel {
        let (first, second) = (factors[0], factors.get(1).copied());
        let study = scope.study;
        let places: Vec<String> = study.levels(first).to_vec();
        let mut points = Vec::new();
        for (place, _) in places.iter().enumerate() {
            let mut levels: Vec<(Levels, Option<Style>)> = vec![(vec![(first, place)], None)];
            if let Some(second) = second {
                let names = study.levels(second);
                let level = |(at, name): (usize, &String)| {
                    let style =
                        Style::marked(second.with_level(name), Colour::Level(at, names.len()), MarkerShape::Circle);
                    (vec![(first, place), (second, at)], Some(style))
                };
                levels = names.iter().enumerate().map(level).collect();
            }
            for (mut levels, style) in levels {
                let held = study.comparable(factors).into_iter();
                levels.extend(held.filter(|(factor, _)| shown.at.iter().all(|(named, _)| named != factor)));
                for estimand in of {
                    let Some(estimate) = scope.at(&levels).estimate(estimand).estimate else { continue };
                    let style = style.clone().unwrap_or_else(|| condition_style(scope, estimand));
                    points.push(ClaimPoint { place, name: style.name.clone(), style, estimate });
                }
            }
        }
        let is_ordered = places.iter().all(|level| level.parse::<f64>().is_ok());
        ClaimPanel { title: title(scope, shown, of), label: first.symbol(), places, points, is_ordered }
    }

    /// The conditions of a mean.
    fn side_by_side(scope: &Scope, shown: &Estimand, of: &[Estimand]) -> ClaimPanel {
        let mut points = Vec::new();
        let mut places = Vec::new();
        for estimand in of {
            let Some(estimate) = scope.estimate(estimand).estimate else { continue };
            let style = condition_style(scope, estimand);
            points.push(ClaimPoint { place: places.len(), name: style.name.clone(), style: style.clone(), estimate });
            places.push(style.name);
        }
        ClaimPanel { title: title(scope, shown, of), label: String::new(), places, points, is_ordered: false }
    }

    /// Estimates that are numbers of their own: those of a claim about two, one by one; else the claim's, what stands beside
    /// it, and the same within each level.
    fn of_estimates(scope: &Scope, answer: &Answer, estimand: &Estimand, separate: &[Estimand]) -> ClaimPanel {
        let mut shown: Vec<(String, Estimate)> = Vec::new();
        if separate.is_empty() {
            shown.extend(answer.estimated.estimate.map(|it| (name(scope, estimand), it)));
            let further = answer.beside.iter().filter(|(other, _)| is_within(other));
            shown.extend(further.filter_map(|(_, it)| Some(("within levels".into(), it.estimate?))));
        }
        for one in separate {
            shown.extend(scope.estimate(one).estimate.map(|it| (name(scope, one), it)));
        }
        let style = condition_style(scope, estimand);
        let points = shown.iter().enumerate().map(|(place, (name, estimate))| ClaimPoint {
            place,
            name: name.clone(),
            style: style.clone(),
            estimate: *estimate,
        });
        let points = points.collect();
        let title = match &estimand.kind {
            EstimandKind::Effect(_) => "standardised effect".into(),
            EstimandKind::Combined(of) if !separate.is_empty() => {
                let shown = Estimand { at: Vec::new(), ..of.of.clone() };
                title(scope, &shown, std::slice::from_ref(&shown))
            }
            _ => statistic(separate.first().unwrap_or(estimand)),
        };
        let places = shown.into_iter().map(|(name, _)| name).collect();
        ClaimPanel { title, label: String::new(), places, points, is_ordered: false }
    }
}

/// What an estimate of its own is called along x.
fn name(scope: &Scope, estimand: &Estimand) -> String {
    match &estimand.kind {
        EstimandKind::Effect(of) | EstimandKind::Correlation { with: of, .. } => predictor_symbol(&of[0]),
        EstimandKind::Slope { with, .. } => predictor_symbol(with),
        EstimandKind::Order(_) => format!("{} first", condition_style(scope, estimand).name),
        _ if !estimand.at.is_empty() => held(estimand).collect::<Vec<_>>().join(", "),
        _ => "all".into(),
    }
}

fn is_within(estimand: &Estimand) -> bool {
    matches!(&estimand.kind, EstimandKind::Correlation { within, .. } if !within.is_empty())
}

/// The parts of a claim that compares two effects, correlations or means.
fn separate(estimand: &Estimand) -> Vec<Estimand> {
    let with_kind = |kind: EstimandKind| Estimand { kind, ..estimand.clone() };
    match &estimand.kind {
        EstimandKind::Effect(of) if of.len() > 1 => {
            of.iter().map(|one| with_kind(EstimandKind::Effect(vec![one.column()]))).collect()
        }
        EstimandKind::Correlation { with, within } if with.len() > 1 => {
            let each = |one: &Predictor| EstimandKind::Correlation { with: vec![one.clone()], within: within.clone() };
            with.iter().map(|one| with_kind(each(one))).collect()
        }
        EstimandKind::Combined(of) if of.times.is_none() && of.parts().all(|part| part.kind == EstimandKind::Mean) => {
            of.parts().cloned().collect()
        }
        _ => Vec::new(),
    }
}

/// A mean, and what its claim names beside it, as they are read: languages that saw the words first.
fn of_conditions(answer: &Answer, estimand: &Estimand) -> Vec<Estimand> {
    let further = answer.beside.iter().map(|(other, _)| other.clone());
    further.filter(|other| other.kind == EstimandKind::Mean).chain([estimand.clone()]).collect()
}

/// The look of the condition that an estimand is about.
fn condition_style(scope: &Scope, estimand: &Estimand) -> Style {
    let reading = &estimand.value.first;
    let found = scope.conditions(&reading.place, scope.measure(reading)).ok().flatten().unwrap_or_default();
    let is_own = |(condition, _): &(Condition, Style)| found.first() == Some(condition);
    let style = style::conditions(scope.study).into_iter().find(is_own);
    style.map_or_else(|| Style::marked("", Colour::Level(0, 1), MarkerShape::Circle), |(_, style)| style)
}

/// What the values are: with the condition where it is one.
fn title(scope: &Scope, shown: &Estimand, of: &[Estimand]) -> String {
    let words = describe(scope, shown);
    let unit = unit(scope.measure(&shown.value.first)).trim();
    let unit = if unit.is_empty() || shown.value.is_ratio { String::new() } else { format!(", {unit}") };
    let place = describe_short(scope, shown, shown);
    let words =
        if of.len() > 1 { words.replace(&format!(" in {place}"), "") } else { words.replace(" at the end", "") };
    format!("{words}{unit}")
}

fn draw(panel: &ClaimPanel) -> PlotPanel {
    let x = Axis::levels(&panel.label, panel.places.iter().cloned());
    let values = panel.points.iter().map(|point| point.estimate.value);
    let bounds = panel.points.iter().filter_map(|point| ends(&point.estimate)).flat_map(|(low, high)| [low, high]);
    let y = Axis::around("", values.chain(bounds).chain([0.0]));
    let mut drawn = PlotPanel::new(panel.title.clone(), x, y);
    let last = panel.places.len() as f64 - 0.5;
    let has_negative = matches!(drawn.y.scale, AxisScale::Linear { low, .. } if low < 0.0);
    drawn.marks.extend(has_negative.then_some(PanelMark::Segment {
        from: (-0.5, 0.0),
        to: (last, 0.0),
        colour: Colour::Muted,
        dash: "2 2",
    }));
    let mut names: Vec<&str> = panel.points.iter().map(|point| point.style.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    // Marks of one place stand side by side.
    let at_place = |point: &ClaimPoint| {
        let line = names.iter().position(|name| *name == point.style.name).unwrap_or(0) as f64;
        let are_together = panel.points.len() > panel.places.len();
        point.place as f64 + if are_together { 0.12 * (line - (names.len() as f64 - 1.0) / 2.0) } else { 0.0 }
    };
    for name in names.iter().filter(|_| panel.is_ordered) {
        let own = panel.points.iter().filter(|point| point.style.name == **name);
        let ends: Vec<(f64, f64, Colour)> =
            own.map(|point| (at_place(point), point.estimate.value, point.style.colour)).collect();
        for pair in ends.windows(2) {
            let [(x, y, colour), (to_x, to_y, _)] = pair else { continue };
            let (from, to) = ((*x, *y), (*to_x, *to_y));
            drawn.marks.push(PanelMark::Segment { from, to, colour: *colour, dash: "" });
        }
    }
    for point in &panel.points {
        let tip = format!("{}: {}", plain_text(&point.name), with_runs(&point.estimate));
        let at = PlotPoint {
            x: at_place(point),
            y: point.estimate.value,
            interval: ends(&point.estimate),
            tip: tip.trim_start_matches(": ").to_owned(),
        };
        let Style { colour, shape, .. } = point.style;
        drawn.marks.push(PanelMark::ErrorBar { point: at, colour, shape, along_x: false });
    }
    drawn
}
