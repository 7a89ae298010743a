//! One engine for ordinary figures. A figure is a [`Spec`] with choosers; for each choice a [`Plot`] says what is drawn: panels
//! × lines × x, each a list of [`Facet`]s. The engine reads the estimates, writes the table and draws.
//!
//! ```text
//! spec.draw(study, |choice| Plot {
//!     panels: levels(study, factor, "level"), // a panel for each level
//!     lines: cascade(),                       // a line for each metric
//!     ..Plot::new(X::Training(progress), Y::Axis(Axis::share("share of sentences")))
//! })
//! ```
//!
//! A facet adds levels, a condition or a measure to what is read, and cells to the rows of the table. A cell is found by the name
//! of its column; the options that are chosen, and the levels that they fix, are cells already.

use super::captions::{self, Runs};
use super::figure::{Choice, Chooser, Figure, Variant, choices};
use super::progress::ProgressAxis;
use super::spec::MeanCurve;
pub use super::spec::{
    Datum, Facet, Markers, Plot, ReadEstimate, Spec, Ticks, X, Y, cross, level_ticks, levels, ticks,
};
use super::style::{self, Style};
use super::table::FigureTable;
use crate::data::{Factor, FactorWords, Study};
use crate::draw::{Axis, AxisScale, Colour, FigureLayout, MarkerShape, PanelMark, PlotPanel, PlotPoint, plain_text};
use crate::wording::with_runs;
use invitro_results::FolderKind;
use invitro_results::claims::SEEDS;
use invitro_stats::Estimate;

impl Spec<'_> {
    /// A variant for every combination of the choosers' options.
    pub fn draw<'a>(self, study: &'a Study, plot: impl FnMut(&mut Choice) -> Plot<'a>) -> Figure {
        let table = FigureTable::of_estimates(self.columns.iter().copied());
        self.draw_into(study, table, plot)
    }

    /// The same with a table of other numbers.
    pub fn draw_into<'a>(
        self,
        study: &'a Study,
        mut table: FigureTable,
        mut plot: impl FnMut(&mut Choice) -> Plot<'a>,
    ) -> Figure {
        let Spec { name, title, caption, choosers, runs, columns } = self;
        let mut captions = Vec::new();
        let mut variants = variants(study, &choosers, runs, |choice| {
            let mut plot = plot(choice);
            captions.push(plot.caption.take());
            let mut all = Facet { levels: choice.cell.clone(), ..Facet::default() };
            let options = choosers.iter().zip(&choice.options);
            all.cells.extend(options.filter_map(|(by, option)| Some((by.name, by.options.get(*option)?.clone()))));
            let level = |(factor, level): &(Factor, usize)| (factor.name(), study.levels(*factor)[*level].clone());
            all.cells.extend(choice.cell.iter().map(level));
            let all = all.with(&plot.all);
            Drawer { study, table: &mut table, columns, plot: &plot, panels: Vec::new() }.layout(&all)
        });
        for (variant, caption) in variants.iter_mut().zip(captions) {
            variant.caption = caption;
        }
        Figure { name, title, caption, choosers, variants, table }
    }
}

/// A variant for every combination of the choosers' options. What `draw` adds to the cell of a choice is said to be held.
pub fn variants(
    study: &Study,
    choosers: &[Chooser],
    runs: Runs,
    mut draw: impl FnMut(&mut Choice) -> FigureLayout,
) -> Vec<Variant> {
    let variant = |mut choice: Choice| {
        let chosen = choice.cell.len();
        let layout = draw(&mut choice);
        let held = captions::held(study, &choice.cell[chosen..]);
        let runs = captions::runs(study, &choice.cell, runs) + &held;
        Variant { runs, drawing: Box::new(layout), choice: choice.options, caption: None }
    };
    choices(choosers).into_iter().map(variant).collect()
}

/// A variant that is being drawn.
struct Drawer<'d, 'a> {
    study: &'a Study,
    table: &'d mut FigureTable,
    columns: &'d [&'static str],
    plot: &'d Plot<'a>,
    panels: Vec<PlotPanel>,
}

impl Drawer<'_, '_> {
    fn layout(mut self, all: &Facet) -> FigureLayout {
        let plot = self.plot;
        for facet in &plot.panels {
            let facet = all.with(facet);
            let lines: Vec<Facet> = plot.lines.iter().map(|line| facet.with(line)).collect();
            let mut panel = PlotPanel::new(&facet.title, Axis::share(""), Axis::share(""));
            panel.row = facet.row.clone();
            match &plot.x {
                X::Training(progress) => self.curves(&mut panel, progress, lines),
                X::Ticks(markers, apart) => self.ticks(&mut panel, &facet, &lines, *markers, *apart),
                X::Map(x, y) => self.map(&mut panel, &lines[0], x, y),
            }
            self.panels.push(panel);
        }
        self.panels.retain(|panel| !panel.is_empty());
        self.fit();
        let top = self.colour_cells();
        let across = plot.across.unwrap_or_else(|| across(plot.panels.len()));
        let styles: Vec<Style> = plot.lines.iter().filter_map(|line| line.style.clone()).collect();
        let legend = match plot.x {
            X::Training(_) if styles.iter().all(|style| !style.marked) => style::lines(&styles),
            X::Training(_) | X::Ticks(Markers::Joined, _) => style::marked_lines(&styles),
            _ => style::markers(&styles),
        };
        FigureLayout {
            ratio: plot.ratio,
            height: plot.height,
            legend: plot.legend.clone().unwrap_or(legend),
            scale: plot.scale.clone().map(|name| (name, "0".into(), top)),
            share_y: !matches!(plot.y, Y::Own | Y::Tight(_)),
            ..FigureLayout::new(self.panels, across)
        }
    }

    fn curves(&mut self, panel: &mut PlotPanel, progress: &ProgressAxis, lines: Vec<Facet>) {
        panel.x = progress.axis();
        let read = |line: &Facet| match &self.plot.curve {
            Some(read) => read(line),
            None => {
                let curve = self.study.mean_curve(self.study.at(&line.levels), &line.quantity());
                (progress.per_step(self.study, &line.levels), curve)
            }
        };
        let read = |line: Facet| {
            let (per_step, curve) = read(&line);
            (per_step, (line, curve))
        };
        let (per_step, lines): (Vec<f64>, Vec<(Facet, MeanCurve)>) = lines.into_iter().map(read).unzip();
        if let Y::Own = self.plot.y {
            // What was measured once is no curve.
            if lines.iter().all(|(_, curve)| curve.len() < 2) {
                return;
            }
            let values = lines.iter().flat_map(|(_, curve)| curve).map(|(_, estimate)| estimate.value);
            let is_share = lines[0].0.quantity().measure.scale() == invitro_stats::Scale::Share;
            panel.y = if is_share { Axis::share("share") } else { Axis::around("nats", values.chain([0.0])) };
        }
        for ((line, curve), per_step) in lines.iter().zip(per_step) {
            for (step, estimate) in curve.iter().filter(|_| progress.first) {
                self.write(line, &[("step", step.to_string())], Some(estimate));
            }
            let style = line.style();
            let at = |(step, estimate): &(u32, Estimate)| {
                let name = joined(&[&style.name, &format!("step {step}")]);
                let mut point = self.point(f64::from(*step) * per_step, estimate, &name);
                point.tip.truncate(if progress.first { usize::MAX } else { 0 });
                point
            };
            let points = curve.iter().map(at).filter(|point| point.x >= progress.from).collect();
            panel.marks.push(curve_mark(panel.x.scale, points, &style));
        }
        if let Some(finish) = &self.plot.finish {
            finish(panel, &lines);
        }
    }

    fn ticks(&mut self, panel: &mut PlotPanel, facet: &Facet, lines: &[Facet], markers: Markers, apart: f64) {
        let ticks = facet.ticks.clone().expect("a panel has ticks");
        let last = ticks.facets.len().saturating_sub(1);
        let is_lying = markers == Markers::Lying;
        // The first tick is at the top where they go down the panel.
        let place = |tick: usize| if is_lying { last - tick } else { tick };
        let mut axis = Axis::levels(&ticks.label, ticks.facets.iter().map(|_| String::new()));
        let named = ticks.facets.iter().enumerate().filter(|(_, tick)| !tick.is_gap);
        axis.ticks = named.map(|(at, tick)| (place(at) as f64, tick_label(tick).clone())).collect();
        *(if is_lying { &mut panel.y } else { &mut panel.x }) = axis;
        let offset = |line: usize| dodge(line, lines.len(), apart) * if is_lying { -1.0 } else { 1.0 };
        if markers == Markers::Joined {
            for (at, line) in lines.iter().enumerate() {
                let style = line.style();
                let points = ticks.facets.iter().enumerate().filter_map(|(x, tick)| {
                    let estimate = self.datum(&line.with(tick)).estimate?;
                    Some(self.point(x as f64 + offset(at), &estimate, &joined(&[&style.name, &tick.title])))
                });
                let points = points.collect();
                panel.marks.push(PanelMark::Line {
                    points,
                    colour: style.colour,
                    dash: style.dash,
                    shape: Some(style.shape),
                });
            }
            return;
        }
        for (at, tick) in ticks.facets.iter().enumerate().filter(|(_, tick)| !tick.is_gap) {
            for (place, at) in
                lines.iter().enumerate().map(|(line, facet)| (facet.with(tick), place(at) as f64 + offset(line)))
            {
                self.marker(panel, &place, tick, at, is_lying);
            }
        }
    }

    /// A marker with its interval.
    fn marker(&mut self, panel: &mut PlotPanel, facet: &Facet, tick: &Facet, at: f64, along_x: bool) {
        let style = facet.style();
        let datum = self.datum(facet);
        let Some(estimate) = datum.estimate else {
            if !datum.instead.is_empty() {
                let x = f64::from(self.study.last_step());
                panel.marks.push(PanelMark::Label { x, y: at, text: datum.instead.into() });
            }
            return;
        };
        let name = if tick.style.is_some() { tick.title.clone() } else { joined(&[&style.name, &tick.title]) };
        let mut point = self.point(at, &estimate, &name);
        point.tip.push_str(&datum.tip);
        if along_x {
            (point.x, point.y) = (estimate.value, at);
        }
        let shape = if datum.is_partial { MarkerShape::Ring } else { style.shape };
        panel.marks.push(PanelMark::ErrorBar { point, colour: style.colour, shape, along_x });
    }

    fn map(&mut self, panel: &mut PlotPanel, line: &Facet, across: &Ticks, up: &Ticks) {
        [panel.x, panel.y] =
            [across, up].map(|ticks| Axis::levels(&ticks.label, ticks.facets.iter().map(|it| it.label.clone())));
        for (x, column) in across.facets.iter().enumerate() {
            for (y, row) in up.facets.iter().enumerate() {
                let estimate = self.datum(&line.with(column).with(row)).estimate;
                let value = estimate.as_ref().map_or("no run ended".into(), with_runs);
                panel.marks.push(PanelMark::Cell {
                    x,
                    y,
                    share: estimate.map(|estimate| estimate.value),
                    label: estimate.map_or(String::new(), |estimate| brief(estimate.value)),
                    tip: plain_text(&format!("{}, {}, {}: {value}", line.title, column.title, row.title)),
                });
            }
        }
    }

    /// The value of a heat map that is farthest from 0 has the darkest colour, where it is no map of shares. Returns what stands there.
    fn colour_cells(&mut self) -> String {
        if matches!(self.plot.y, Y::Share(_)) {
            return "1".into();
        }
        let cells = self.panels.iter_mut().flat_map(|panel| &mut panel.marks).filter_map(|mark| match mark {
            PanelMark::Cell { share: Some(value), .. } => Some(value),
            _ => None,
        });
        let cells: Vec<&mut f64> = cells.collect();
        let top = cells.iter().map(|value| value.abs()).fold(0.0, f64::max);
        cells.into_iter().filter(|_| top > 0.0).for_each(|value| *value /= top);
        brief(top)
    }

    /// Reads an estimate and writes its row of the table.
    fn datum(&mut self, facet: &Facet) -> Datum {
        let datum = match &self.plot.read {
            Some(read) => read(facet),
            None => facet.estimate(self.study).into(),
        };
        self.write(facet, &datum.cells, datum.estimate.as_ref());
        datum
    }

    fn write(&mut self, facet: &Facet, more: &[(&'static str, String)], estimate: Option<&Estimate>) {
        let cell = |column: &&'static str| {
            more.iter().find(|(own, _)| own == column).map_or_else(|| facet.cell(column), |(_, cell)| cell)
        };
        self.table.estimate(self.columns.iter().map(cell), estimate);
    }

    fn point(&self, x: f64, estimate: &Estimate, name: &str) -> PlotPoint {
        // A run that is read alone has its own intervals.
        let own = estimate.interval.filter(|_| self.study.kind == FolderKind::Run).map(|it| (it.low, it.high));
        let tip = format!("{}: {}", plain_text(name), with_runs(estimate));
        PlotPoint { x, y: estimate.value, interval: own.or_else(|| ends(estimate)), tip }
    }

    /// Makes the axes that fit what was drawn, and the line at 0.
    fn fit(&mut self) {
        let plot = self.plot;
        let axis = match &plot.y {
            Y::Axis(axis) => Some(axis.clone()),
            Y::Around(label, values) => Some(Axis::around(label, self.extent(values.clone()).into_iter())),
            Y::Tight(label) => Some(Axis::tight(label, self.extent(Vec::new()).into_iter())),
            Y::Share(label) => {
                let values = self.extent(vec![0.0]).into_iter().map(|value| value.clamp(0.0, 1.0));
                let mut axis = Axis::around(label, values);
                if let AxisScale::Linear { low, high } = &mut axis.scale {
                    (*low, *high) = (low.max(0.0), high.min(1.05));
                }
                Some(axis)
            }
            Y::Steps(label) => {
                let top = self.extent(vec![0.0]).into_iter().fold(0.0, f64::max);
                Some(Axis { label: (*label).into(), ..Axis::steps((1.05 * top).ceil().max(1.0) as u32) })
            }
            Y::Own => None,
        };
        let is_lying = matches!(plot.x, X::Ticks(Markers::Lying, _));
        for panel in &mut self.panels {
            match &axis {
                Some(axis) if is_lying => panel.x = axis.clone(),
                Some(axis) if !matches!(plot.x, X::Map(..)) => panel.y = axis.clone(),
                _ => {}
            }
            let (from, to) = match if is_lying { panel.y.scale } else { panel.x.scale } {
                AxisScale::Levels(count) => (-0.5, count as f64 - 0.5),
                AxisScale::Linear { high, .. } | AxisScale::Log { high, .. } => (0.0, high),
            };
            let [from, to] = [from, to].map(|at| if is_lying { (0.0, at) } else { (at, 0.0) });
            if plot.zero {
                panel.marks.insert(0, PanelMark::Segment { from, to, colour: Colour::Muted, dash: "2 2" });
            }
        }
    }

    /// All values drawn and, of bars, as much as leaves the values visible. Bands over few seeds are wide, and have no say.
    fn extent(&self, mut room: Vec<f64>) -> Vec<f64> {
        let mut ends = Vec::new();
        for mark in self.panels.iter().flat_map(|panel| &panel.marks) {
            let (points, has_bars, along_x) = match mark {
                PanelMark::Line { points, shape, .. } => {
                    (&points[..], shape.is_some() || self.study.kind == FolderKind::Run, false)
                }
                PanelMark::ErrorBar { point, along_x, .. } => (std::slice::from_ref(point), true, *along_x),
                _ => (&[][..], false, false),
            };
            room.extend(points.iter().map(|point| if along_x { point.x } else { point.y }));
            ends.extend(points.iter().filter(|_| has_bars).filter_map(|point| point.interval));
        }
        let (low, high) = room.iter().fold((f64::MAX, f64::MIN), |(low, high), at| (low.min(*at), high.max(*at)));
        let span = (high - low).max(0.0);
        let within = |at: f64| at.clamp(low.min(high) - span, high.max(low) + span);
        room.extend(ends.into_iter().flat_map(|(low, high)| [within(low), within(high)]));
        room
    }
}

/// A line through points over training.
fn curve_mark(x: AxisScale, mut points: Vec<PlotPoint>, style: &Style) -> PanelMark {
    // A reference that was measured once holds throughout.
    if let ([only], AxisScale::Linear { low, high } | AxisScale::Log { low, high }) = (points.as_slice(), x)
        && !style.dash.is_empty()
    {
        // From the edge, where progress by powers has its 0.
        points = [low.min(only.x), high].map(|x| PlotPoint { x, ..only.clone() }).into();
    }
    PanelMark::Line { points, colour: style.colour, dash: style.dash, shape: style.marked.then_some(style.shape) }
}

/// The ends of an estimate's interval.
pub fn ends(estimate: &Estimate) -> Option<(f64, f64)> {
    // Of fewer seeds an interval says little and fills the frame.
    estimate.interval.filter(|_| estimate.data_seeds >= SEEDS).map(|interval| (interval.low, interval.high))
}

fn tick_label(tick: &Facet) -> &String {
    if tick.label.is_empty() { &tick.title } else { &tick.label }
}

fn joined(names: &[&str]) -> String {
    names.iter().filter(|name| !name.is_empty()).copied().collect::<Vec<_>>().join(", ")
}

/// How far aside one of several markers is from the middle of a level.
fn dodge(place: usize, count: usize, apart: f64) -> f64 {
    (place as f64 - (count as f64 - 1.0) / 2.0) * apart
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

/// Two decimals without the leading zero: `.87`, `1.0`, `−.12`.
fn brief(value: f64) -> String {
    let text = format!("{:.2}", value.abs());
    let text =
        if value.abs() < 0.995 { text.trim_start_matches('0').to_owned() } else { format!("{:.1}", value.abs()) };
    if value < -0.005 { format!("−{text}") } else { text }
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

/// The column of a factor in a table; none where there is no factor.
pub fn named(factor: Option<Factor>) -> &'static str {
    factor.map_or("", Factor::name)
}
