//! A run as one flat row, for tables over many runs: `summary.json`, and a row of `runs.parquet`.
//!
//! Columns are dotted names: settings, measures of the languages and the tokenizer, and of every curve its peak (`max.…`),
//! its end (`final.…`) and its emergence. A value that does not exist is null.

use crate::error::{At, Error};
use crate::folder::Status;
use crate::run::column;
use crate::table::{self, Column, Columns, TableWriter};
use crate::{Curve, Emergence, Loss, Measure, Quantity, Reach, Row, Scorer, State, Statistic, Targets, metrics};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// The columns of a run that may not be done.
pub fn describe(run: &str, state: State, status: Option<&Status>, settings: &[(String, toml::Value)]) -> Columns {
    let mut out = Columns::new();
    out.insert(column::RUN.into(), json!(run));
    out.insert(column::STATE.into(), json!(state));
    if let Some(status) = status {
        out.insert(column::STEPS.into(), json!(status.step));
        out.insert(column::DEVICE.into(), json!(status.device));
        out.insert(column::VERSION.into(), json!(status.version));
        out.insert(column::COMMIT.into(), json!(status.commit));
        out.insert(column::SCHEMA.into(), json!(status.schema));
        out.extend(status.error.as_ref().map(|error| (column::ERROR.to_owned(), json!(error))));
    }
    for (key, value) in settings {
        let value = match serde_json::to_value(value) {
            // A list of shares or of seeds is one text in a table.
            Ok(list @ Value::Array(_)) => json!(list.to_string()),
            Ok(value) => value,
            Err(_) => Value::Null,
        };
        out.insert(key.clone(), value);
    }
    out
}

/// Measures that stand once per run; of what there is nothing to count, null.
pub fn add_measures(out: &mut Columns, measures: &[(Quantity, f64)]) {
    out.extend(measures.iter().map(|(quantity, value)| (quantity.to_string(), json!(value))));
}

/// A finished run.
pub fn add_results(out: &mut Columns, status: &Status, rows: &[Row], threshold: f64) {
    let seconds = &status.seconds;
    let parts = [seconds.prepare, seconds.train, seconds.eval, seconds.save];
    out.extend(column::SECONDS.into_iter().zip(parts).map(|(name, value)| (name.to_owned(), json!(value))));
    out.insert(column::STEPS.into(), json!(status.steps));
    let curves = metrics::curves(rows);
    for (quantity, curve) in curves.iter().filter(|(quantity, _)| is_summarised(quantity.measure)) {
        add_curve(out, quantity, curve, &curves, threshold);
    }
}

fn add_curve(out: &mut Columns, quantity: &Quantity, curve: &Curve, curves: &HashMap<Quantity, Curve>, threshold: f64) {
    out.insert(format!("max.{quantity}"), json!(curve.peak().map(|point| point.value)));
    // Null where there was nothing to count at the last step.
    out.insert(format!("final.{quantity}"), json!(curve.end()));
    let step = |emergence: Option<Emergence>| json!(emergence.and_then(Emergence::step));
    match quantity.measure {
        Measure::Task(..) => {
            out.insert(format!("emergence.{quantity}"), step(curve.emergence(threshold)));
            out.insert(format!("emergence.{quantity}.lasting"), step(curve.lasting_emergence(threshold)));
        }
        Measure::Reach(reach)
            if (reach.targets, reach.statistic, reach.masked_elsewhere)
                == (Targets::Allowed, Statistic::Share, false) =>
        {
            let null = Quantity { measure: over_unigram(reach), ..quantity.clone() };
            let null = curves.get(&null).and_then(Curve::peak).map_or(0.0, |point| point.value);
            out.insert(format!("emergence.{quantity}.over_unigram"), step(curve.emergence(null + threshold)));
        }
        _ => {}
    }
}

/// The null of a network's reachability: the unigram model's, which is the same at every step.
pub fn over_unigram(reach: Reach) -> Measure {
    Measure::Reach(Reach { scorer: Scorer::Unigram, ..reach })
}

fn is_summarised(measure: Measure) -> bool {
    match measure {
        Measure::Loss(loss) => matches!(loss, Loss::Loss | Loss::BitsPerChar | Loss::Floor),
        measure => !measure.is_detail() && !measure.is_baseline(),
    }
}

/// Rows as columns, those that tell runs apart first: whole numbers, numbers, or text where any value is.
pub fn columns(rows: &[Columns]) -> Vec<(String, Column)> {
    let mut kinds = Kinds::default();
    rows.iter().for_each(|row| kinds.see(row));
    kinds.columns(rows)
}

/// Writes rows that are made part by part, so that only one part is in memory: each is made twice, first to see what
/// columns there are.
pub fn write<P, E: From<Error>>(
    path: &Path,
    parts: impl Iterator<Item = P> + Clone,
    make: impl Fn(P) -> std::result::Result<Vec<Columns>, E>,
) -> std::result::Result<(), E> {
    let mut kinds = Kinds::default();
    for part in parts.clone() {
        make(part)?.iter().for_each(|row| kinds.see(row));
    }
    table::write_with(path, |out| {
        let mut writer = TableWriter::new(out, &kinds.columns(&[])).writing(path)?;
        for part in parts {
            writer.group(&kinds.columns(&make(part)?)).writing(path)?;
        }
        writer.seal();
        Ok(writer.finish().writing(path)?)
    })
}

/// The columns of a table, by name, and what each must hold.
#[derive(Default)]
struct Kinds(BTreeMap<String, ColumnKind>);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ColumnKind {
    Whole,
    Number,
    Text,
}

impl Kinds {
    fn see(&mut self, row: &Columns) {
        for (name, value) in row {
            let kind = match value {
                Value::Null => ColumnKind::Whole,
                value if value.is_i64() => ColumnKind::Whole,
                value if value.is_number() => ColumnKind::Number,
                _ => ColumnKind::Text,
            };
            match self.0.get_mut(name) {
                Some(known) => *known = kind.max(*known),
                None => drop(self.0.insert(name.clone(), kind)),
            }
        }
    }

    fn columns(&self, rows: &[Columns]) -> Vec<(String, Column)> {
        const FIRST: [&str; 3] = [column::RUN, column::STUDY, column::STATE];
        let mut all: Vec<(&String, &ColumnKind)> = self.0.iter().collect();
        all.sort_by_key(|(name, _)| FIRST.iter().position(|first| first == name).unwrap_or(FIRST.len()));
        let column = |(name, kind): (&String, &ColumnKind)| {
            let values = rows.iter().map(|row| row.get(name).filter(|value| !value.is_null()));
            let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let column = match kind {
                ColumnKind::Whole => Column::Whole(values.map(|value| value.and_then(Value::as_i64)).collect()),
                ColumnKind::Number => Column::Number(values.map(|value| value.and_then(Value::as_f64)).collect()),
                ColumnKind::Text => Column::Text(values.map(|value| value.map(text)).collect()),
            };
            (name.clone(), column)
        };
        all.into_iter().map(column).collect()
    }
}
