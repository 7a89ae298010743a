//! The tidy rows of a run: one per (step, condition, task, metric).

use crate::error::Result;
use crate::table::{self, Column};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// One measured number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The identity of the run.
    pub run: String,
    pub step: u64,
    /// `A`, `B`, `B_masked`, or `all`.
    pub condition: String,
    /// `T0`, `T1`, `T2`, `reach` or `loss`.
    pub task: String,
    pub metric: String,
    pub value: f64,
    /// A 95 % interval, where there is one.
    #[serde(default)]
    pub low: Option<f64>,
    #[serde(default)]
    pub high: Option<f64>,
    /// How many sentences, subjects or tokens the value is a mean of.
    #[serde(default)]
    pub n: Option<u64>,
}

/// Collects the rows of one evaluation.
pub struct Rows {
    run: String,
    step: u64,
    pub list: Vec<Row>,
}

impl Rows {
    pub fn new(run: &str, step: u64) -> Rows {
        Rows { run: run.to_owned(), step, list: Vec::new() }
    }

    pub fn push(&mut self, condition: &str, task: &str, metric: impl Into<String>, value: f64, n: usize) {
        self.push_interval(condition, task, metric, value, None, n);
    }

    /// A value that is no number (of nothing, or of a model gone wrong) makes no row.
    pub fn push_interval(
        &mut self,
        condition: &str,
        task: &str,
        metric: impl Into<String>,
        value: f64,
        interval: Option<(f64, f64)>,
        n: usize,
    ) {
        if !value.is_finite() {
            return;
        }
        self.list.push(Row {
            run: self.run.clone(),
            step: self.step,
            condition: condition.to_owned(),
            task: task.to_owned(),
            metric: metric.into(),
            value,
            low: interval.map(|(low, _)| low),
            high: interval.map(|(_, high)| high),
            n: Some(n as u64),
        });
    }
}

/// The place of the metric's name among the columns of [`write_parquet`].
pub const METRIC: usize = 4;

/// Writes rows as `metrics.parquet`.
pub fn write_parquet(path: &Path, rows: &[Row]) -> Result<()> {
    let text = |field: fn(&Row) -> &String| Column::Text(rows.iter().map(|row| Some(field(row).clone())).collect());
    let number = |field: fn(&Row) -> Option<f64>| Column::Number(rows.iter().map(field).collect());
    table::write(
        path,
        &[
            ("run", text(|row| &row.run)),
            ("step", Column::Whole(rows.iter().map(|row| Some(row.step as i64)).collect())),
            ("condition", text(|row| &row.condition)),
            ("task", text(|row| &row.task)),
            ("metric", text(|row| &row.metric)),
            ("value", number(|row| Some(row.value))),
            ("low", number(|row| row.low)),
            ("high", number(|row| row.high)),
            ("n", Column::Whole(rows.iter().map(|row| row.n.map(|n| n as i64)).collect())),
        ],
    )
}
