//! Small multiples: variants over choosers, a panel per level or condition, lines or points in each, every estimate in
//! the table, one y axis for all.
//!
//! ```text
//! let variants = variants(study, &choosers, Runs::Ended, |choice| {
//!     let mut facets = Facets::new(study, &mut table, Axis::share("share of targets")).fitted(&[0.0]).over(&progress);
//!     for (condition, style) in style::conditions(study) {
//!         facets.panel(style.name.clone(), progress.axis());
//!         facets.curve(&[&style.name], &style, &choice.cell, &Quantity::of(measure, &condition));
//!     }
//!     facets.layout([3, 3])
//! });
//! ```

use super::captions::{self, Runs};
use super::figure::{Choice, Chooser, Variant, choices};
use super::progress::Progress;
use super::style::{Style, titled};
use super::table::Table;
use crate::data::{Factor, FactorWords, Levels, Study};
use crate::draw::{Axis, Layout, Mark, Panel, Point, Scale, plain};
use crate::wording::spoken;
use invitro_results::Quantity;
use invitro_results::claims::SEEDS;
use invitro_stats::Estimate;

/// A variant for every combination of the choosers' options. What `draw` adds to the cell of a choice is said to be held.
pub fn variants(
    study: &Study,
    choosers: &[Chooser],
    runs: Runs,
    mut draw: impl FnMut(&mut Choice) -> Layout,
) -> Vec<Variant> {
    let variant = |mut choice: Choice| {
        let chosen = choice.cell.len();
        let layout = draw(&mut choice);
        let held = captions::held(study, &choice.cell[chosen..]);
        let runs = captions::runs(study, &choice.cell, runs) + &held;
        Variant { runs, drawing: Box::new(layout), choice: choice.options }
    };
    choices(choosers).into_iter().map(variant).collect()
}

/// The panels of one variant.
pub struct Facets<'a> {
    study: &'a Study,
    table: &'a mut Table,
    y: Axis,
    /// Whether the frame makes room for bands as it does for bars.
    pub room_for_bands: bool,
    /// What the y axis has to show beside what is drawn, where it is fitted.
    room: Option<Vec<f64>>,
    /// Where values and intervals end.
    bounds: (f64, f64),
    progress: Option<Progress>,
    panels: Vec<Panel>,
}

impl<'a> Facets<'a> {
    pub fn new(study: &'a Study, table: &'a mut Table, y: Axis) -> Facets<'a> {
        Facets {
            study,
            table,
            y,
            room_for_bands: false,
            room: None,
            bounds: (f64::MIN, f64::MAX),
            progress: None,
            panels: Vec::new(),
        }
    }

    /// With curves drawn over this measure of progress.
    pub fn over(self, progress: &Progress) -> Facets<'a> {
        Facets { progress: Some(progress.clone()), ..self }
    }

    /// With a y axis that makes room for these values and for all that is drawn.
    pub fn fitted(self, values: &[f64]) -> Facets<'a> {
        Facets { room: Some(values.to_vec()), ..self }
    }

    /// The same for shares: no frame goes beyond 0 or 1, whatever an interval does.
    pub fn fitted_share(self) -> Facets<'a> {
        Facets { bounds: (0.0, 1.0), ..self.fitted(&[0.0]) }
    }

    /// Begins a panel.
    pub fn panel(&mut self, title: impl Into<String>, x: Axis) -> &mut Panel {
        self.panels.push(Panel::new(title, x, self.y.clone()));
        self.panels.last_mut().expect("a panel was pushed")
    }

    /// Draws into the panel that was begun last.
    pub fn mark(&mut self, mark: Mark) {
        self.panels.last_mut().expect("a panel comes before its marks").marks.push(mark);
    }

    /// The mean curve of the runs in a cell. In the table: the keys, then the step.
    pub fn curve(&mut self, keys: &[&str], style: &Style, cell: &[(Factor, usize)], quantity: &Quantity) {
        let curve = self.study.mean_curve(self.study.at(cell), quantity);
        let first = self.progress.as_ref().is_none_or(|progress| progress.first);
        for (step, estimate) in curve.iter().filter(|_| first) {
            let step = step.to_string();
            self.table.estimate(keys.iter().copied().chain([step.as_str()]), Some(estimate));
        }
        let name = plain(&style.name);
        let per_step = self.progress.as_ref().map_or(1.0, |progress| progress.per_step(self.study, cell));
        let at = |(step, estimate): &(u32, Estimate)| {
            let name = if name.is_empty() { format!("step {step}") } else { format!("{name}, step {step}") };
            let mut point = point(f64::from(*step) * per_step, estimate, &name);
            point.tip.truncate(if first { usize::MAX } else { 0 });
            point
        };
        let from = self.progress.as_ref().map_or(0.0, |progress| progress.from);
        self.line(curve.iter().map(at).filter(|point| point.x >= from).collect(), style);
    }

    /// A line through points over steps.
    pub fn line(&mut self, mut points: Vec<Point>, style: &Style) {
        let scale = self.panels.last().map(|panel| panel.x.scale);
        // A reference that was measured once holds throughout.
        if let ([only], Some(Scale::Linear { low, high } | Scale::Log { low, high })) = (points.as_slice(), scale)
            && !style.dash.is_empty()
        {
            // From the edge, where progress by powers has its 0.
            points = [low.min(only.x), high].map(|x| Point { x, ..only.clone() }).into();
        }
        let shape = style.marked.then_some(style.shape);
        self.mark(Mark::Line { points, colour: style.colour, dash: style.dash, shape });
    }

    /// A marked line over the levels of a factor, moved aside by `dodge`. In the table: the keys around the level.
    pub fn levels(
        &mut self,
        (before, after): (&[&str], &[&str]),
        style: &Style,
        factor: Factor,
        dodge: f64,
        estimate: impl Fn(&[(Factor, usize)]) -> Option<Estimate>,
    ) {
        let mut points = Vec::new();
        for (place, level) in self.study.levels(factor).iter().enumerate() {
            let estimate = estimate(&[(factor, place)]);
            let name = format!("{}, {}", style.name, titled(factor, level));
            points.extend(estimate.as_ref().map(|it| point(place as f64 + dodge, it, &name)));
            let keys = before.iter().copied().chain([level.as_str()]).chain(after.iter().copied());
            self.table.estimate(keys, estimate.as_ref());
        }
        self.mark(Mark::Line { points, colour: style.colour, dash: style.dash, shape: Some(style.shape) });
    }

    /// One estimate as a marker with its interval.
    pub fn error_bar(&mut self, keys: &[&str], style: &Style, x: f64, name: &str, estimate: Option<&Estimate>) {
        self.table.estimate(keys.iter().copied(), estimate);
        if let Some(estimate) = estimate {
            let point = point(x, estimate, name);
            self.mark(Mark::ErrorBar { point, colour: style.colour, shape: style.shape, along_x: false });
        }
    }

    /// A row of the table without a mark.
    pub fn row(&mut self, keys: &[&str], estimate: Option<&Estimate>) {
        self.table.estimate(keys.iter().copied(), estimate);
    }

    /// All values drawn and, of bars, as much as leaves the values visible. Bands over few seeds are wide, and have no say.
    fn extent(&self, mut room: Vec<f64>) -> Vec<f64> {
        let mut ends = Vec::new();
        for mark in self.panels.iter().flat_map(|panel| &panel.marks) {
            let (points, barred) = match mark {
                Mark::Line { points, shape, .. } => (points.as_slice(), shape.is_some() || self.room_for_bands),
                Mark::ErrorBar { point, .. } => (std::slice::from_ref(point), true),
                _ => (&[][..], false),
            };
            room.extend(points.iter().map(|point| point.y));
            ends.extend(points.iter().filter(|_| barred).filter_map(|point| point.interval));
        }
        let (low, high) = room.iter().fold((f64::MAX, f64::MIN), |(low, high), at| (low.min(*at), high.max(*at)));
        let span = (high - low).max(0.0);
        let within = |at: f64| at.clamp(low.min(high) - span, high.max(low) + span);
        room.extend(ends.into_iter().flat_map(|(low, high)| [within(low), within(high)]));
        room.iter().map(|value| value.clamp(self.bounds.0, self.bounds.1)).collect()
    }

    /// The panels that show something as a layout, so many side by side in a column and on a page.
    pub fn layout(mut self, across: [usize; 2]) -> Layout {
        self.panels.retain(|panel| !panel.is_empty());
        if let Some(room) = self.room.take() {
            let mut y = Axis::around(self.y.label.clone(), self.extent(room).into_iter());
            if let Scale::Linear { low, high } = &mut y.scale {
                (*low, *high) = (low.max(self.bounds.0), high.min(self.bounds.1 + 0.05));
            }
            self.panels.iter_mut().for_each(|panel| panel.y = y.clone());
        }
        Layout::new(self.panels, across)
    }
}

/// The estimate as a point at x.
pub fn point(x: f64, estimate: &Estimate, name: &str) -> Point {
    let tip = format!("{}: {}", plain(name), spoken(estimate));
    Point { x, y: estimate.value, interval: ends(estimate), tip }
}

/// The ends of an estimate's interval.
pub fn ends(estimate: &Estimate) -> Option<(f64, f64)> {
    // Of fewer seeds an interval says little and fills the frame.
    estimate.interval.filter(|_| estimate.data_seeds >= SEEDS).map(|interval| (interval.low, interval.high))
}

/// The factor that takes a part in a figure: the first of the wanted ones that varies, or else any other that does; none
/// that is taken, nor one whose levels were not run with theirs.
pub fn pick(study: &Study, wanted: &[Factor], taken: &[Option<Factor>]) -> Option<Factor> {
    let varying = study.varying();
    let is_free = |factor: &Factor| {
        let mut taken = taken.iter().flatten();
        taken.all(|other| other != factor && study.are_crossed(*other, *factor) && study.are_crossed(*factor, *other))
    };
    let wanted = wanted.iter().filter(|factor| varying.contains(factor));
    wanted.chain(&varying).copied().find(is_free)
}

/// The regime, where it varies and is not taken.
pub fn regime(study: &Study, taken: &[Option<Factor>]) -> Option<Factor> {
    pick(study, &[Factor::REGIME], taken).filter(|factor| *factor == Factor::REGIME)
}

/// The levels of a factor that varies with their titles, as cells; else one cell of everything.
pub fn split(study: &Study, factor: impl Into<Option<Factor>>) -> Vec<(String, Levels)> {
    match factor.into().map(|factor| (factor, study.levels(factor))) {
        Some((factor, levels)) if levels.len() > 1 => {
            let levels = levels.iter().enumerate();
            levels.map(|(place, level)| (titled(factor, level), vec![(factor, place)])).collect()
        }
        _ => vec![(String::new(), Vec::new())],
    }
}

/// The column of a factor in a table; none where there is no factor.
pub fn named(factor: Option<Factor>) -> &'static str {
    factor.map_or("", Factor::name)
}

/// What is compared by, as a chooser has it.
pub fn compared(factor: Option<Factor>) -> String {
    factor.map_or(String::new(), |factor| plain(&factor.symbol()))
}

/// The level a cell fixes for a factor; the only one where there is one, "all" where runs of all are pooled.
pub fn label_in<'a>(study: &'a Study, cell: &[(Factor, usize)], factor: impl Into<Option<Factor>>) -> &'a str {
    let Some(factor) = factor.into() else { return "" };
    let fixed = cell.iter().find(|(other, _)| *other == factor);
    match (fixed, study.levels(factor)) {
        (Some((_, level)), levels) => &levels[*level],
        (None, [only]) => only,
        (None, []) => "",
        (None, _) => "all",
    }
}

pub fn level_axis(study: &Study, factor: Factor) -> Axis {
    Axis::levels(factor.symbol(), study.levels(factor).iter().cloned())
}

/// So far aside is one of several markers around the middle of a level.
pub fn dodge(place: usize, of: usize, apart: f64) -> f64 {
    (place as f64 - (of as f64 - 1.0) / 2.0) * apart
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
