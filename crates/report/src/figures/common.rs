//! What figures share: the three conditions, choosers over levels, and the words of captions and hovers.

use super::{Chooser, Variant};
use crate::data::{Factor, Study};
use crate::draw::{At, Axis, Entry, Ink, Plate, Shape};
use crate::stats::Estimate;

pub struct Condition {
    /// As the metrics spell it.
    pub key: &'static str,
    pub label: &'static str,
    pub ink: Ink,
    pub shape: Shape,
}

pub const CONDITIONS: [Condition; 3] = [
    Condition { key: "A", label: "A", ink: Ink::A, shape: Shape::Circle },
    Condition { key: "B", label: "B", ink: Ink::B, shape: Shape::Square },
    Condition { key: "B_masked", label: "B†", ink: Ink::Masked, shape: Shape::Triangle },
];

/// The cascade of the unscrambling task: each metric is nested in the one before.
pub const CASCADE: [(&str, &str); 4] =
    [("validity", "validity"), ("grammaticality", "grammaticality"), ("types", "type constraints"), ("facts", "Γ")];

/// One choice of levels: the option at each chooser, the cell of the study, and its name in words.
#[derive(Clone)]
pub struct Choice {
    pub options: Vec<usize>,
    pub cell: Vec<(Factor, usize)>,
}

/// Every combination of levels of these factors. A factor the study does not record is not asked for.
pub fn choices(study: &Study, factors: &[Factor]) -> (Vec<Chooser>, Vec<Choice>) {
    let mut choosers = Vec::new();
    let mut all = vec![Choice { options: Vec::new(), cell: Vec::new() }];
    for &factor in factors {
        let levels = study.levels(factor);
        if levels.is_empty() {
            continue;
        }
        let options = levels.iter().map(|level| level.label.clone()).collect();
        choosers.push(Chooser { name: factor.name(), label: factor.symbol().into(), options });
        let extend = |choice: &Choice, level: usize| {
            let mut choice = choice.clone();
            choice.options.push(level);
            choice.cell.push((factor, level));
            choice
        };
        all = all.iter().flat_map(|choice| (0..levels.len()).map(move |level| extend(choice, level))).collect();
    }
    (choosers, all)
}

/// The levels of a factor as cells, or one cell of everything where the study does not record it.
pub fn split(study: &Study, factor: Factor) -> Vec<(String, Vec<(Factor, usize)>)> {
    let levels = study.levels(factor);
    if levels.is_empty() {
        return vec![(String::new(), Vec::new())];
    }
    let cell = |(place, level): (usize, &crate::data::Level)| (titled(factor, &level.label), vec![(factor, place)]);
    levels.iter().enumerate().map(cell).collect()
}

/// The level a cell fixes for a factor, or nothing.
pub fn label_in<'a>(study: &'a Study, cell: &[(Factor, usize)], factor: Factor) -> &'a str {
    cell.iter().find(|(other, _)| *other == factor).map_or("", |(_, level)| &study.levels(factor)[*level].label)
}

/// `|V| = 2048`, `λ = 0.05`; a regime is its own name.
pub fn titled(factor: Factor, label: &str) -> String {
    if factor == Factor::Regime { label.to_owned() } else { format!("{} = {label}", factor.symbol()) }
}

pub fn level_axis(study: &Study, factor: Factor) -> Axis {
    Axis::levels(factor.symbol(), study.levels(factor).iter().map(|level| level.label.clone()))
}

/// The legend of a factor's levels along the ordered ramp.
pub fn level_legend(study: &Study, factor: Factor) -> Vec<Entry> {
    let levels = study.levels(factor);
    let entry = |(place, level): (usize, &crate::data::Level)| Entry {
        label: titled(factor, &level.label),
        ink: Ink::Level(place, levels.len()),
        line: Some(""),
        shape: None,
    };
    levels.iter().enumerate().map(entry).collect()
}

pub fn condition_legend(line: bool) -> Vec<Entry> {
    let entry = |condition: &Condition| Entry {
        label: condition.label.into(),
        ink: condition.ink,
        line: line.then_some(""),
        shape: Some(condition.shape),
    };
    CONDITIONS.iter().map(entry).collect()
}

/// A value as hovers write it.
pub fn digits(value: f64) -> String {
    let text = if value.abs() >= 100.0 { format!("{value:.0}") } else { format!("{value:.3}") };
    text.replace('-', "−")
}

pub fn count(runs: usize) -> String {
    if runs == 1 { "1 run".into() } else { format!("{runs} runs") }
}

/// `0.412 [0.380, 0.450], 9 runs`.
pub fn spoken(estimate: &Estimate) -> String {
    format!("{}, {}", bounded(estimate), count(estimate.runs))
}

/// `0.412 [0.380, 0.450]`.
pub fn bounded(estimate: &Estimate) -> String {
    let interval = estimate.interval.map_or(String::new(), |it| format!(" [{}, {}]", digits(it.low), digits(it.high)));
    digits(estimate.value) + &interval
}

/// The estimate as a mark at x.
pub fn at(x: f64, estimate: &Estimate, name: &str) -> At {
    let interval = estimate.interval.map(|interval| (interval.low, interval.high));
    let tip = format!("{}: {}", crate::draw::plain(name), spoken(estimate));
    At { x, y: estimate.value, interval, tip }
}

/// Every number a list of marks needs room for.
pub fn extent(points: &[At]) -> impl Iterator<Item = f64> + '_ {
    points.iter().flat_map(|at| [at.y, at.interval.map_or(at.y, |it| it.0), at.interval.map_or(at.y, |it| it.1)])
}

/// A mean curve as points over steps.
pub fn curve(study: &Study, cell: &[(Factor, usize)], key: Option<crate::data::Key>, name: &str) -> Vec<At> {
    let name = crate::draw::plain(name);
    let point = |(step, estimate): &(u32, Estimate)| at(f64::from(*step), estimate, &format!("{name}, step {step}"));
    study.mean_curve(study.at(cell), key).iter().map(point).collect()
}

/// "288 runs", "12 runs that ended, of 288", or "40 runs that were measured, of 288".
pub fn counted(study: &Study, cell: &[(Factor, usize)], ended: bool) -> String {
    let all = study.at(cell).count();
    let (shown, which) = if ended {
        (study.ended(cell).count(), "that ended")
    } else {
        (study.at(cell).filter(|run| run.measured()).count(), "that were measured")
    };
    if shown == all { count(all) } else { format!("{} {which}, of {all}", count(shown)) }
}

/// What a figure pools over, for its caption.
pub fn pooled(study: &Study, shown: &[Factor]) -> String {
    let hidden = Factor::ALL.into_iter().filter(|factor| !shown.contains(factor) && study.levels(*factor).len() > 1);
    let mut names: Vec<String> = hidden.map(|factor| factor.symbol().to_owned()).collect();
    names.extend(study.other_factors().into_iter().map(str::to_owned));
    match names.len() {
        0 => String::new(),
        _ => format!(" Pooled over {}.", listed(&names)),
    }
}

/// `a`, `a and b`, `a, b and c`.
pub fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// What the intervals mean, for captions.
pub const BANDS: &str = "Bands and bars are 95 % intervals over data seeds and model seeds: each is left out in turn, and Student's *t* allows for their number.";

pub fn variant(options: Vec<usize>, plate: Plate, runs: String) -> Variant {
    Variant { choice: options, drawing: Box::new(plate), runs }
}

/// Panels side by side for a row of `count`: in a column at most three, on a page at most four.
pub fn across(count: usize) -> [usize; 2] {
    let column = match count {
        0..=3 => count,
        4 => 2,
        _ => 3,
    };
    [column.max(1), count.clamp(1, 4)]
}

/// The conditions as the metrics spell them and as they are written.
pub fn conditions() -> impl Iterator<Item = (&'static str, &'static str)> {
    CONDITIONS.iter().map(|condition| (condition.key, condition.label))
}

/// The colour of a condition.
pub fn ink(condition: &str) -> Ink {
    CONDITIONS.iter().find(|it| it.key == condition).map_or(Ink::Text, |it| it.ink)
}
