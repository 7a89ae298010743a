//! What an ordinary figure is made of: a [`Spec`] with choosers, and for each choice a [`Plot`] of [`Facet`]s.

use super::captions::Runs;
use super::figure::Chooser;
use super::progress::ProgressAxis;
use super::style::Style;
use crate::data::{Factor, FactorWords, Levels, Run, Study};
use crate::draw::{Axis, Colour, LegendEntry, PlotPanel};
use invitro_results::{Condition, Measure, Moment, Quantity};
use invitro_stats::Estimate;
use std::sync::Arc;

/// What an ordinary figure is called, what can be chosen, and the columns of its table before the numbers. A column without a
/// name is left out.
pub struct Spec<'s> {
    pub name: &'static str,
    pub title: String,
    pub caption: String,
    pub choosers: Vec<Chooser>,
    pub runs: Runs,
    pub columns: &'s [&'static str],
}

/// One of several panels, lines, or places along x.
#[derive(Clone, Default)]
pub struct Facet {
    /// A panel's title, or what hovering calls it.
    pub title: String,
    /// The name of the row of panels.
    pub row: String,
    /// What stands at a tick, where that is not the title.
    pub label: String,
    /// Cells of the table by column.
    pub cells: Vec<(&'static str, String)>,
    pub style: Option<Style>,
    pub levels: Levels,
    pub measure: Option<Measure>,
    pub condition: Option<Condition>,
    pub pair: Option<[Arc<str>; 2]>,
    pub moment: Option<Moment>,
    pub ticks: Option<Arc<Ticks>>,
    /// An empty row between others.
    pub is_gap: bool,
}

/// An axis with a facet at each tick.
pub struct Ticks {
    pub label: String,
    pub facets: Vec<Facet>,
}

impl Facet {
    /// A line or a marker of a measure.
    pub fn of_measure(column: &'static str, name: &str, measure: Measure, style: Style) -> Facet {
        Facet { cells: vec![(column, name.into())], measure: Some(measure), style: Some(style), ..Facet::default() }
    }

    /// A facet inside this one: what both say is as the inner one has it.
    pub fn with(&self, inner: &Facet) -> Facet {
        let text = |outer: &String, inner: &String| if inner.is_empty() { outer } else { inner }.clone();
        Facet {
            title: text(&self.title, &inner.title),
            row: text(&self.row, &inner.row),
            label: text(&self.label, &inner.label),
            cells: [&self.cells[..], &inner.cells].concat(),
            style: inner.style.clone().or_else(|| self.style.clone()),
            levels: [&self.levels[..], &inner.levels].concat(),
            measure: inner.measure.or(self.measure),
            condition: inner.condition.clone().or_else(|| self.condition.clone()),
            pair: inner.pair.clone().or_else(|| self.pair.clone()),
            moment: inner.moment.or(self.moment),
            ticks: inner.ticks.clone().or_else(|| self.ticks.clone()),
            is_gap: inner.is_gap,
        }
    }

    /// The cell of a column.
    pub fn cell(&self, column: &str) -> &str {
        self.cells.iter().rev().find(|(own, _)| *own == column).map_or("", |(_, cell)| cell)
    }

    pub fn style(&self) -> Style {
        self.style.clone().unwrap_or_else(|| Style::line("", Colour::Level(0, 1)))
    }

    pub fn quantity(&self) -> Quantity {
        let measure = self.measure.expect("a plot names a measure");
        Quantity { measure, condition: self.condition.clone(), pair: self.pair.clone() }
    }

    /// The usual estimate: the mean of a curve at a moment over the runs that ended, or of a value that is measured once over
    /// all runs.
    pub fn estimate(&self, study: &Study) -> Option<Estimate> {
        let quantity = self.quantity();
        if quantity.measure.is_curve() {
            return study.read(study.ended(&self.levels), &quantity, self.moment.unwrap_or(Moment::End));
        }
        let value = |run: &Run| match (&quantity.condition, &quantity.pair) {
            (None, None) => run.over_pairs(quantity.measure),
            _ => run.once(&quantity),
        };
        study.mean_on(quantity.measure.scale(), study.at(&self.levels), value)
    }
}

/// An estimate with what else a figure shows of it.
#[derive(Default)]
pub struct Datum {
    pub estimate: Option<Estimate>,
    /// Further cells of the table.
    pub cells: Vec<(&'static str, String)>,
    /// Whether the marker is a ring, since the estimate leaves runs out.
    pub is_partial: bool,
    /// What hovering adds.
    pub tip: String,
    /// What is written where there is no estimate.
    pub instead: &'static str,
}

impl From<Option<Estimate>> for Datum {
    fn from(estimate: Option<Estimate>) -> Datum {
        Datum { estimate, ..Datum::default() }
    }
}

/// A mean over runs at each step.
pub type MeanCurve = Vec<(u32, Estimate)>;

/// What is along x.
pub enum X<'a> {
    /// Training: a curve for each line.
    Training(&'a ProgressAxis),
    /// The ticks of the panel, with the markers of several lines so far apart.
    Ticks(Markers, f64),
    /// A heat map over two axes.
    Map(Arc<Ticks>, Arc<Ticks>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Markers {
    /// A line goes through the markers.
    Joined,
    Upright,
    /// Ticks go down the panel, intervals along x.
    Lying,
}

/// The axis of the values.
pub enum Y {
    Axis(Axis),
    /// With room for what is drawn and for these values.
    Around(String, Vec<f64>),
    /// The same for shares, with 0; it does not go beyond 0 and 1.
    Share(String),
    /// Around what is drawn alone.
    Tight(String),
    /// Training steps, as far as needed.
    Steps(&'static str),
    /// Of every panel its own, by the unit of its measure.
    Own,
}

/// How an estimate or a curve is read, where it is not in the usual way. A curve comes with how far one step goes along x.
pub type ReadEstimate<'a> = Box<dyn Fn(&Facet) -> Datum + 'a>;
pub type ReadCurve<'a> = Box<dyn Fn(&Facet) -> (f64, MeanCurve) + 'a>;
pub type Finish<'a> = Box<dyn Fn(&mut PlotPanel, &[(Facet, MeanCurve)]) + 'a>;

/// One variant of a figure.
pub struct Plot<'a> {
    /// What all panels and lines have in common.
    pub all: Facet,
    pub panels: Vec<Facet>,
    pub lines: Vec<Facet>,
    pub x: X<'a>,
    pub y: Y,
    pub read: Option<ReadEstimate<'a>>,
    pub curve: Option<ReadCurve<'a>>,
    /// Adds to a panel, given its curves.
    pub finish: Option<Finish<'a>>,
    /// Whether a broken line shows where values are 0.
    pub zero: bool,
    /// Panels side by side in a column and on a page; by their number where it is not given.
    pub across: Option<[usize; 2]>,
    pub ratio: f64,
    /// The height of a panel, where rows of text decide it.
    pub height: Option<f64>,
    /// Made of the lines where it is not given.
    pub legend: Option<Vec<LegendEntry>>,
    /// For heat maps: what the colours mean.
    pub scale: Option<String>,
    /// The caption of this variant, if the options change it.
    pub caption: Option<String>,
}

impl<'a> Plot<'a> {
    pub fn new(x: X<'a>, y: Y) -> Plot<'a> {
        Plot {
            all: Facet::default(),
            panels: vec![Facet::default()],
            lines: vec![Facet::default()],
            x,
            y,
            read: None,
            curve: None,
            finish: None,
            zero: false,
            across: None,
            ratio: 0.75,
            height: None,
            legend: None,
            scale: None,
            caption: None,
        }
    }

    /// A plot over training with a fixed axis.
    pub fn training(progress: &'a ProgressAxis, y: Axis) -> Plot<'a> {
        Plot { ratio: 0.85, ..Plot::new(X::Training(progress), Y::Axis(y)) }
    }
}

/// The levels of a factor that varies, along the ordered ramp, each with its name in this column; else one facet of everything.
pub fn levels(study: &Study, factor: impl Into<Option<Factor>>, column: &'static str) -> Vec<Facet> {
    let factor = factor.into();
    let names = factor.map_or(&[][..], |factor| study.levels(factor));
    let Some(factor) = factor.filter(|_| names.len() > 1) else {
        return vec![Facet { style: Some(Style::line("", Colour::Level(0, 1))), ..Facet::default() }];
    };
    let level = |(place, name): (usize, &String)| Facet {
        title: factor.with_level(name),
        label: name.clone(),
        cells: vec![(column, name.clone())],
        style: Some(Style::line(factor.with_level(name), Colour::Level(place, names.len()))),
        levels: vec![(factor, place)],
        ..Facet::default()
    };
    names.iter().enumerate().map(level).collect()
}

/// An axis of the levels of a factor.
pub fn level_ticks(study: &Study, factor: impl Into<Option<Factor>> + Copy, column: &'static str) -> Arc<Ticks> {
    let label = factor.into().map_or(String::new(), |factor| factor.symbol());
    ticks(&label, levels(study, factor, column))
}

/// An axis of these. Lines have styles, ticks have none.
pub fn ticks(label: &str, facets: Vec<Facet>) -> Arc<Ticks> {
    let facets = facets.into_iter().map(|facet| Facet { style: None, ..facet }).collect();
    Arc::new(Ticks { label: label.to_owned(), facets })
}

/// Every inner facet in every outer one.
pub fn cross(outer: &[Facet], inner: &[Facet]) -> Vec<Facet> {
    outer.iter().flat_map(|outer| inner.iter().map(|inner| outer.with(inner))).collect()
}
