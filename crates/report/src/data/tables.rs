//! The tables of collected results: `runs.parquet` and `metrics.parquet`.

use super::columns::Table;
use super::curves::{Key, Keys, Point};
use super::run::{Run, Value};
use crate::error::Result;
use std::collections::HashMap;
use std::path::Path;

/// `runs.parquet`: every column, one run per row.
pub(super) fn runs(path: &Path) -> Result<Vec<Run>> {
    let table = Table::open(path)?;
    let names = table.names();
    let wanted: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut runs = Vec::new();
    table.batches(&wanted, |columns, rows| {
        for row in 0..rows {
            let mut run = Run::default();
            for (name, column) in names.iter().zip(columns) {
                let text = || column.text(row).map(|text| Value::Text(text.to_owned()));
                if let Some(value) = column.number(row).map(Value::Number).or_else(text) {
                    run.columns.insert(name.clone(), value);
                }
            }
            run.id = run.text("run").unwrap_or_default().to_owned();
            runs.push(run);
        }
    })?;
    Ok(runs)
}

/// Gives each run its rows of `metrics.parquet`; the number of rows that belong to none of them.
pub(super) fn metrics(path: &Path, runs: &mut [Run], keys: &mut Keys) -> Result<usize> {
    let places: HashMap<String, usize> = runs.iter().enumerate().map(|(i, run)| (run.id.clone(), i)).collect();
    let mut strays = 0;
    let mut last = (String::new(), None);
    each_metric(path, keys, |run, key, point| {
        if last.0 != run {
            last = (run.to_owned(), places.get(run).copied());
        }
        match last.1 {
            Some(place) => runs[place].curves.push(key, point),
            None => strays += 1,
        }
    })?;
    runs.iter_mut().for_each(|run| run.curves.finish());
    Ok(strays)
}

pub(super) fn each_metric(path: &Path, keys: &mut Keys, mut each: impl FnMut(&str, Key, Point)) -> Result<()> {
    let mut scratch = String::new();
    let wanted = ["run", "step", "condition", "task", "metric", "value", "low", "high"];
    Table::open(path)?.batches(&wanted, |columns, rows| {
        for row in 0..rows {
            let text = |column: usize| columns[column].text(row).unwrap_or_default();
            let Some(key) = keys.intern(text(2), text(3), text(4), &mut scratch) else { continue };
            let number = |column: usize| columns[column].number(row).unwrap_or(f64::NAN);
            let (low, high) = (number(6) as f32, number(7) as f32);
            each(text(0), key, Point { step: number(1) as u32, value: number(5), low, high });
        }
    })
}

/// Adds to each run the columns that only the table has.
pub(super) fn merge_columns(runs: &mut [Run], collected: Vec<Run>) {
    let mut known: HashMap<String, Run> = collected.into_iter().map(|run| (run.id.clone(), run)).collect();
    for run in runs {
        for (name, value) in known.remove(&run.id).map(|run| run.columns).unwrap_or_default() {
            run.columns.entry(name).or_insert(value);
        }
    }
}
