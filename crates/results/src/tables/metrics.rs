//! The rows of an evaluation: one per step, condition and measure; `metrics.jsonl` while a run trains, then
//! `metrics.parquet`.

use crate::error::{At, Error, Result};
use crate::schema::measure::REACH;
use crate::table::{self, Column, ColumnBatch, TableReader};
use crate::{Condition, Curve, CurvePoint, Measure, Quantity};
use invitro_stats::Interval;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

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
    let mut names = Names::default();
    let (mut rows, mut seen) = (Vec::new(), HashSet::new());
    for (at, line) in whole.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
        let wrong = |error: serde_json::Error| Error::Line { path: path.into(), line: at + 1, why: error.to_string() };
        let line: MetricLine = serde_json::from_str(line).map_err(wrong)?;
        let Some(place) = names.place(&line.condition, &line.task, &line.metric) else { continue };
        if !seen.insert((line.step, place)) {
            continue;
        }
        let quantity = names.quantities[place].clone();
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

/// Quantities by the texts that name them: each is parsed once per file, however many rows it has.
#[derive(Default)]
struct Names {
    places: HashMap<String, Option<usize>>,
    quantities: Vec<Quantity>,
    scratch: String,
}

impl Names {
    /// The place of a quantity among those seen; `None` for a name this version does not know, or that nothing shows.
    fn place(&mut self, condition: &str, task: &str, metric: &str) -> Option<usize> {
        self.scratch.clear();
        for part in [condition, "\t", task, "\t", metric] {
            self.scratch.push_str(part);
        }
        if let Some(known) = self.places.get(&self.scratch) {
            return *known;
        }
        let place = parsed(condition, task, metric).map(|quantity| {
            self.quantities.push(quantity);
            self.quantities.len() - 1
        });
        self.places.insert(self.scratch.clone(), place);
        place
    }
}

thread_local! {
    /// What texts name, over all files: runs of a study have the same measures.
    static PARSED: RefCell<HashMap<[String; 3], Option<Quantity>>> = RefCell::default();
}

/// What the columns `condition`, `task` and `metric` name; `None` for what this version does not know.
fn parsed(condition: &str, task: &str, metric: &str) -> Option<Quantity> {
    PARSED.with_borrow_mut(|known| {
        let texts = [condition, task, metric].map(str::to_owned);
        known.entry(texts).or_insert_with(|| Quantity::from_columns(condition, task, metric).ok()).clone()
    })
}

/// Points by run and by the place of their quantity, out of a part of a table.
#[derive(Default)]
struct Gathered {
    names: Names,
    runs: HashMap<String, Vec<Vec<CurvePoint>>>,
    /// The run of the last row, which the next is likely of too.
    current: (String, Vec<Vec<CurvePoint>>),
}

impl Gathered {
    fn add(&mut self, columns: &[ColumnBatch], rows: usize) {
        let Gathered { names, runs, current } = self;
        for row in 0..rows {
            let text = |column: usize| columns[column].text(row).unwrap_or_default();
            let number = |column: usize| columns[column].number(row).unwrap_or(f64::NAN);
            let Some(place) = names.place(text(2), text(3), text(4)) else { continue };
            if names.quantities[place].measure.is_detail() {
                continue;
            }
            let run = text(0);
            if current.0 != run {
                runs.insert(std::mem::take(&mut current.0), std::mem::take(&mut current.1));
                *current = (run.to_owned(), runs.remove(run).unwrap_or_default());
            }
            if current.1.len() <= place {
                current.1.resize_with(place + 1, Vec::new);
            }
            let (low, high) = (number(6) as f32, number(7) as f32);
            current.1[place].push(CurvePoint { step: number(1) as u32, value: number(5), low, high });
        }
    }
}

/// The curves of many runs out of one `metrics.parquet`, by run.
pub fn read(path: &Path) -> Result<HashMap<String, HashMap<Quantity, Curve>>> {
    let parts = TableReader::open(path)?.gather(&COLUMNS[..8], Gathered::add)?;
    let mut runs: HashMap<String, HashMap<&Quantity, Vec<CurvePoint>>> = HashMap::new();
    let names: Vec<Vec<Quantity>> = parts.iter().map(|part| part.names.quantities.clone()).collect();
    for (Gathered { runs: of_part, current, .. }, names) in parts.into_iter().zip(&names) {
        for (run, by_place) in of_part.into_iter().chain([current]).filter(|(run, _)| !run.is_empty()) {
            let points = runs.entry(run).or_default();
            for (quantity, mut more) in names.iter().zip(by_place).filter(|(_, more)| !more.is_empty()) {
                // A run whose rows lie in several parts has them in the order of the table.
                points.entry(quantity).or_default().append(&mut more);
            }
        }
    }
    Ok(runs.into_par_iter().map(|(run, points)| (run, complete(points))).collect())
}

/// The curves of a run's rows.
pub fn curves(rows: &[Row]) -> HashMap<Quantity, Curve> {
    let mut points: HashMap<&Quantity, Vec<CurvePoint>> = HashMap::new();
    for row in rows {
        let (low, high) = row.interval.map_or((f32::NAN, f32::NAN), |it| (it.low as f32, it.high as f32));
        let point = CurvePoint { step: row.step as u32, value: row.value, low, high };
        points.entry(&row.quantity).or_default().push(point);
    }
    complete(points)
}

/// Where a condition's task was evaluated at a step and a measure has no row there, there was nothing to count: NaN.
/// N-gram models do not train and are measured once.
fn complete(points: HashMap<&Quantity, Vec<CurvePoint>>) -> HashMap<Quantity, Curve> {
    fn group(quantity: &Quantity) -> (Option<&Condition>, &'static str) {
        (quantity.condition.as_ref(), quantity.measure.columns().0)
    }
    let trains = |quantity: &Quantity| !quantity.measure.is_baseline();
    let mut steps: HashMap<(Option<&Condition>, &str), BTreeSet<u32>> = HashMap::new();
    for (quantity, points) in &points {
        steps.entry(group(quantity)).or_default().extend(points.iter().map(|point| point.step));
    }
    let curve = |(quantity, mut points): (&Quantity, Vec<CurvePoint>)| {
        let all = &steps[&group(quantity)];
        if trains(quantity) && points.len() < all.len() {
            let have: BTreeSet<u32> = points.iter().map(|point| point.step).collect();
            points.extend(all.difference(&have).map(|step| CurvePoint::without_interval(*step, f64::NAN)));
        }
        (quantity.clone(), Curve::new(points))
    };
    points.into_iter().map(curve).collect()
}

/// Rows that a report on a study shows, with less in them: losses and log-probabilities in single precision, and the run's
/// own interval only where the report reads it.
#[derive(Default)]
pub(crate) struct ShortRows {
    names: HashMap<String, Option<usize>>,
    measured: Vec<Measured>,
    runs: Vec<String>,
    /// By run: its place, and the last step at which its words were reached for.
    places: HashMap<String, usize>,
    ends: Vec<u64>,
    rows: Vec<ShortRow>,
}

/// The texts of the columns `condition`, `task` and `metric`, and what they name.
struct Measured {
    texts: [String; 3],
    measure: Measure,
}

struct ShortRow {
    run: usize,
    measured: usize,
    step: u64,
    value: f64,
    low: f64,
    high: f64,
    n: f64,
}

impl ShortRows {
    /// Those of one group of rows.
    pub(crate) fn read(table: &TableReader, group: usize) -> Result<ShortRows> {
        let mut short = ShortRows::default();
        table.group_batches(group, &COLUMNS, |columns, rows| short.add(columns, rows))?;
        let ShortRows { measured, ends, rows, .. } = &mut short;
        rows.retain(|row| !measured[row.measured].measure.is_shown_at_end() || ends[row.run] == row.step);
        Ok(short)
    }

    fn add(&mut self, columns: &[ColumnBatch], rows: usize) {
        for row in 0..rows {
            let text = |column: usize| columns[column].text(row).unwrap_or_default();
            let number = |column: usize| columns[column].number(row).unwrap_or(f64::NAN);
            let run = self.run(text(0));
            if text(3) == REACH {
                self.ends[run] = self.ends[run].max(number(1) as u64);
            }
            let texts = [text(2), text(3), text(4)];
            let Some(place) = self.place(texts) else { continue };
            let measure = self.measured[place].measure;
            if !measure.is_in_study_report() {
                continue;
            }
            // Shares are compared with thresholds, where they may be equal.
            let short = |value: f64| if measure.is_in_nats() { f64::from(value as f32) } else { value };
            let has_interval = [Measure::KNOWLEDGE, Measure::KNOWLEDGE.masked_elsewhere()].contains(&measure);
            let bound = |column: usize| if has_interval { short(number(column)) } else { f64::NAN };
            self.rows.push(ShortRow {
                run,
                measured: place,
                step: number(1) as u64,
                value: short(number(5)),
                low: bound(6),
                high: bound(7),
                n: number(8),
            });
        }
    }

    fn run(&mut self, name: &str) -> usize {
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        self.runs.push(name.to_owned());
        self.ends.push(0);
        self.places.insert(name.to_owned(), self.runs.len() - 1);
        self.runs.len() - 1
    }

    fn place(&mut self, texts: [&str; 3]) -> Option<usize> {
        let name = texts.join("\t");
        if let Some(known) = self.names.get(&name) {
            return *known;
        }
        let [condition, task, metric] = texts;
        let place = parsed(condition, task, metric).map(|quantity| {
            self.measured.push(Measured { texts: texts.map(str::to_owned), measure: quantity.measure });
            self.measured.len() - 1
        });
        self.names.insert(name, place);
        place
    }

    /// All of them as columns. Similar values come next to each other: shares, many of them equal, before losses and
    /// log-probabilities; then by metric, task and condition.
    pub(crate) fn columns(groups: &[ShortRows]) -> Vec<(&'static str, Column)> {
        let mut rows: Vec<(&ShortRow, &Measured, &str)> = Vec::new();
        for group in groups {
            rows.extend(
                group.rows.iter().map(|row| (row, &group.measured[row.measured], group.runs[row.run].as_str())),
            );
        }
        let key = |it: &Measured| (it.measure.is_in_nats(), [2, 1, 0].map(|column| it.texts[column].clone()));
        let ranks: BTreeSet<_> = groups.iter().flat_map(|group| &group.measured).map(key).collect();
        let ranks: HashMap<_, usize> = ranks.into_iter().enumerate().map(|(rank, key)| (key, rank)).collect();
        let rank_of: HashMap<*const Measured, usize> = groups
            .iter()
            .flat_map(|group| &group.measured)
            .map(|it| (std::ptr::from_ref(it), ranks[&key(it)]))
            .collect();
        rows.sort_by_key(|(_, measured, _)| rank_of[&std::ptr::from_ref(*measured)]);
        let text = |of: &(dyn Fn(&(&ShortRow, &Measured, &str)) -> String + Sync)| {
            Column::Text(rows.iter().map(|row| Some(of(row))).collect())
        };
        let number = |of: fn(&ShortRow) -> f64| {
            Column::Number(rows.iter().map(|(row, ..)| Some(of(row)).filter(|value| !value.is_nan())).collect())
        };
        let columns = [
            text(&|(.., run)| (*run).to_owned()),
            Column::Whole(rows.iter().map(|(row, ..)| Some(row.step as i64)).collect()),
            text(&|(_, measured, _)| measured.texts[0].clone()),
            text(&|(_, measured, _)| measured.texts[1].clone()),
            text(&|(_, measured, _)| measured.texts[2].clone()),
            number(|row| row.value),
            number(|row| row.low),
            number(|row| row.high),
            Column::Whole(rows.iter().map(|(row, ..)| (!row.n.is_nan()).then_some(row.n as i64)).collect()),
        ];
        COLUMNS.into_iter().zip(columns).collect()
    }
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
