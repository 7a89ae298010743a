//! The rows of an evaluation: one per step, condition and measure; `metrics.jsonl` while a run trains, then
//! `metrics.parquet`.

mod names;
mod short;

pub(crate) use short::ShortRows;

use crate::error::{At, Error, Result};
use crate::table::{self, Column, ColumnBatch, TableReader};
use crate::{Condition, Curve, CurvePoint, Measure, Quantity, SortedMap};
use invitro_stats::Interval;
use names::NameCursor;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::path::Path;
use std::sync::Arc;

/// One measured number.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The step after which it was measured.
    pub step: u64,
    /// What was measured.
    pub quantity: Quantity,
    /// The number.
    pub value: f64,
    /// A 95 % interval, where there is one.
    pub interval: Option<Interval>,
    /// How many sentences, subjects, words or tokens the value is a mean of.
    pub n: u64,
}

/// A line of `metrics.jsonl`, and the columns of `metrics.parquet`.
#[derive(Serialize, Deserialize)]
struct MetricLine {
    run: String,
    step: u64,
    condition: String,
    task: String,
    metric: String,
    value: f64,
    #[serde(default)]
    low: Option<f64>,
    #[serde(default)]
    high: Option<f64>,
    #[serde(default)]
    n: Option<u64>,
}

const COLUMNS: [&str; 9] = ["run", "step", "condition", "task", "metric", "value", "low", "high", "n"];

/// Collects the rows of one evaluation.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    step: u64,
    /// What was collected.
    pub list: Vec<Row>,
}

impl Rows {
    /// Nothing yet, of an evaluation after this step.
    pub fn new(step: u64) -> Rows {
        Rows { step, list: Vec::new() }
    }

    /// A value in a condition, or over all where there is none. One that is not finite (a mean of nothing, or of a
    /// model that diverged) makes no row.
    pub fn push(&mut self, condition: Option<&Condition>, measure: Measure, value: f64, n: usize) {
        self.push_interval(condition, measure, value, None, n);
    }

    /// A value of any quantity.
    pub fn push_quantity(&mut self, quantity: Quantity, value: f64, n: usize) {
        if value.is_finite() {
            self.list.push(Row { step: self.step, quantity, value, interval: None, n: n as u64 });
        }
    }

    /// The same with an interval.
    pub fn push_interval(
        &mut self,
        condition: Option<&Condition>,
        measure: Measure,
        value: f64,
        interval: Option<Interval>,
        n: usize,
    ) {
        if value.is_finite() {
            let quantity = Quantity { measure, condition: condition.cloned(), pair: None };
            self.list.push(Row { step: self.step, quantity, value, interval, n: n as u64 });
        }
    }
}

/// The rows as lines of `metrics.jsonl`.
pub fn to_lines(run: &str, rows: &[Row]) -> Vec<impl Serialize + use<>> {
    let line = |row: &Row| {
        let (condition, task, metric) = row.quantity.columns();
        let (low, high) = (row.interval.map(|it| it.low), row.interval.map(|it| it.high));
        let (run, task) = (run.to_owned(), task.to_owned());
        MetricLine { run, step: row.step, condition, task, metric, value: row.value, low, high, n: Some(row.n) }
    };
    rows.iter().map(line).collect()
}

/// Turns what `metrics.jsonl` holds so far into rows. A last line without its newline is still being written; rows of
/// measures this version does not know are passed over, and so is what was written twice.
pub fn read_lines(path: &Path) -> Result<Vec<Row>> {
    let text = match invitro_base::files::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        text => text.reading(path)?,
    };
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let mut cursor = NameCursor::default();
    let mut names = names::known();
    let (mut rows, mut seen) = (Vec::new(), HashSet::new());
    for (at, line) in whole.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
        let wrong = |error: serde_json::Error| Error::Line { path: path.into(), line: at + 1, why: error.to_string() };
        let line: MetricLine = serde_json::from_str(line).map_err(wrong)?;
        let texts = [&line.condition, &line.task, &line.metric].map(|text| text.as_bytes());
        let place = cursor.find(&mut names, texts);
        let Some(place) = names.name(place).quantity else { continue };
        if !seen.insert((line.step, place)) {
            continue;
        }
        let quantity = (*names.quantity(place).quantity).clone();
        let interval = line.low.zip(line.high).map(|(low, high)| Interval { low, high });
        rows.push(Row { step: line.step, quantity, value: line.value, interval, n: line.n.unwrap_or(0) });
    }
    Ok(rows)
}

/// Writes the rows of a run as `metrics.parquet`.
pub fn write(path: &Path, run: &str, rows: &[Row]) -> Result<()> {
    let names: Vec<_> = rows.iter().map(|row| row.quantity.columns()).collect();
    let number = |of: fn(&Row) -> Option<f64>| Column::Number(rows.iter().map(of).collect());
    let whole = |of: fn(&Row) -> u64| Column::Whole(rows.iter().map(|row| Some(of(row) as i64)).collect());
    let columns = [
        Column::Text(vec![Some(run.to_owned()); rows.len()]),
        whole(|row| row.step),
        Column::Text(names.iter().map(|(condition, ..)| Some(condition.clone())).collect()),
        Column::Text(names.iter().map(|(_, task, _)| Some((*task).to_owned())).collect()),
        Column::Text(names.iter().map(|(.., metric)| Some(metric.clone())).collect()),
        number(|row| Some(row.value)),
        number(|row| row.interval.map(|it| it.low)),
        number(|row| row.interval.map(|it| it.high)),
        whole(|row| row.n),
    ];
    table::write(path, &COLUMNS.into_iter().zip(columns).collect::<Vec<_>>())
}

/// The points of a group of a table's rows, by run.
#[derive(Default)]
struct GatheredRows {
    cursor: NameCursor,
    runs: Vec<(String, Vec<GatheredPoint>)>,
    places: HashMap<String, usize>,
    /// The run of the last row, which the next is likely of too.
    current: usize,
}

/// A point of a curve, with the place of its quantity.
struct GatheredPoint {
    place: u32,
    step: u32,
    value: f64,
    low: f32,
    high: f32,
}

impl GatheredRows {
    fn add(&mut self, columns: &[ColumnBatch], rows: usize) {
        let mut names = names::known();
        for row in 0..rows {
            let number = |column: usize| columns[column].number(row).unwrap_or(f64::NAN);
            let place = self.cursor.find_row(&mut names, columns, row);
            let Some(place) = names.name(place).quantity else { continue };
            if names.quantity(place).quantity.measure.is_detail() {
                continue;
            }
            if self.runs.get(self.current).is_none_or(|(run, _)| run.as_bytes() != columns[0].bytes(row)) {
                let run = columns[0].text(row).unwrap_or_default();
                self.current = *self.places.entry(run.to_owned()).or_insert(self.runs.len());
                if self.current == self.runs.len() {
                    self.runs.push((run.to_owned(), Vec::new()));
                }
            }
            let (low, high) = (number(6) as f32, number(7) as f32);
            let point = GatheredPoint { place: place as u32, step: number(1) as u32, value: number(5), low, high };
            self.runs[self.current].1.push(point);
        }
    }

    /// The curves of each run, each with the place of its quantity.
    fn curves(self) -> Vec<(String, Vec<(u32, Curve)>)> {
        let point =
            |&GatheredPoint { step, value, low, high, .. }: &GatheredPoint| CurvePoint { step, value, low, high };
        let of_place = |points: &[GatheredPoint]| (points[0].place, Curve::new(points.iter().map(point).collect()));
        let of_run = |(run, mut points): (String, Vec<GatheredPoint>)| {
            points.sort_by_key(|point| point.place);
            (run, points.chunk_by(|a, b| a.place == b.place).map(of_place).collect())
        };
        self.runs.into_iter().map(of_run).collect()
    }
}

/// The curves of many runs out of one `metrics.parquet`, by run.
pub fn read(path: &Path) -> Result<HashMap<String, SortedMap<Quantity, Curve>>> {
    let groups = TableReader::open(path)?.gather(&COLUMNS[..8], GatheredRows::add, GatheredRows::curves)?;
    let mut runs: HashMap<String, Vec<(u32, Curve)>> = HashMap::new();
    for (run, mut curves) in groups.into_iter().flatten().filter(|(run, _)| !run.is_empty()) {
        runs.entry(run).or_default().append(&mut curves);
    }
    let curves = |(run, mut curves): (String, Vec<(u32, Curve)>)| {
        // A run whose rows lie in several groups has its points in the order of the table.
        curves.sort_by_key(|(place, _)| *place);
        curves.dedup_by(|(next, further), (place, curve)| {
            let is_same = next == place;
            if is_same {
                *curve = curve.with(further.points());
            }
            is_same
        });
        let names = names::known();
        let named = |(place, curve): (u32, Curve)| {
            let named = names.quantity(place as usize);
            (named.quantity.clone(), named.group, curve)
        };
        (run, complete(curves.into_iter().map(named).collect()))
    };
    Ok(runs.into_par_iter().map(curves).collect())
}

/// The curves of a run's rows.
pub fn curves(rows: &[Row]) -> SortedMap<Quantity, Curve> {
    let mut points: HashMap<&Quantity, Vec<CurvePoint>> = HashMap::new();
    for row in rows {
        let (low, high) = row.interval.map_or((f32::NAN, f32::NAN), |it| (it.low as f32, it.high as f32));
        let point = CurvePoint { step: row.step as u32, value: row.value, low, high };
        points.entry(&row.quantity).or_default().push(point);
    }
    let group = |quantity: &Quantity| (quantity.condition.clone(), quantity.measure.columns().0);
    complete(points.into_iter().map(|(it, points)| (Arc::new(it.clone()), group(it), Curve::new(points))).collect())
}

/// Curves of quantities, each with a group: those of one condition and task. Where any of a group was evaluated at a step and
/// another has no row there, there was nothing to count: NaN. N-gram models do not train and are measured once.
fn complete<G: Eq + Hash>(curves: Vec<(Arc<Quantity>, G, Curve)>) -> SortedMap<Quantity, Curve> {
    let mut steps: HashMap<&G, Vec<u32>> = HashMap::new();
    for (_, group, curve) in &curves {
        let all = steps.entry(group).or_default();
        if *all != curve.steps() {
            all.extend(curve.steps());
            all.sort_unstable();
            all.dedup();
        }
    }
    let completed = |(quantity, group, curve): &(Arc<Quantity>, G, Curve)| {
        let all = &steps[group];
        let lacking = all.iter().filter(|step| curve.steps().binary_search(step).is_err());
        let is_whole = quantity.measure.is_baseline() || curve.len() == all.len();
        (!is_whole).then(|| curve.with(lacking.map(|step| CurvePoint::without_interval(*step, f64::NAN))))
    };
    let completed: Vec<Option<Curve>> = curves.iter().map(completed).collect();
    let pairs = curves.into_iter().zip(completed);
    pairs.map(|((quantity, _, curve), completed)| (quantity, completed.unwrap_or(curve))).collect()
}

/// Whether a row of `metrics.parquet` or a line of `metrics.jsonl` is of a model that does not train.
pub fn is_baseline(row: &table::Columns) -> bool {
    quantity(row).is_some_and(|quantity| quantity.measure.is_baseline())
}

fn quantity(row: &table::Columns) -> Option<Quantity> {
    Quantity::from_columns(text(row, 2), text(row, 3), text(row, 4)).ok()
}

fn text(row: &table::Columns, column: usize) -> &str {
    row.get(COLUMNS[column]).and_then(serde_json::Value::as_str).unwrap_or_default()
}
