//! A run as one flat row, for tables over many runs: `summary.json`, and a row of `runs.parquet`.
//!
//! Columns are dotted names: settings, measures of the languages and the tokenizer, and of every curve its peak (`max.…`),
//! its end (`final.…`) and its emergence. A value that does not exist is null.

use crate::error::{At, Error};
use crate::folder::Status;
use crate::run::column;
use crate::table::{self, Column, Columns, Items, Kind, TableWriter};
use crate::{Curve, Emergence, Loss, Measure, Quantity, Reach, Row, Scorer, State, Statistic, Targets, metrics};
use invitro_base::settings::{self, ValueKind};
use serde_json::{Value, json};
use std::borrow::Cow;
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
            // A list of shares or of seeds is one text in `summary.json`.
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

/// Rows as columns, those that tell runs apart first, each of the kind that holds all its values.
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
struct Kinds(BTreeMap<String, Kind>);

impl Kinds {
    fn see(&mut self, row: &Columns) {
        for (name, value) in row {
            let kind = Kind::of(&typed(name, value));
            match self.0.get_mut(name) {
                Some(known) => *known = known.join(kind),
                None => drop(self.0.insert(name.clone(), kind)),
            }
        }
    }

    fn columns(&self, rows: &[Columns]) -> Vec<(String, Column)> {
        const FIRST: [&str; 3] = [column::RUN, column::STUDY, column::STATE];
        let mut all: Vec<(&String, &Kind)> = self.0.iter().collect();
        all.sort_by_key(|(name, _)| FIRST.iter().position(|first| first == name).unwrap_or(FIRST.len()));
        let column = |(name, kind): (&String, &Kind)| {
            let values = || rows.iter().map(|row| row.get(name));
            let column = match kind {
                Kind::Flag | Kind::List(_) => {
                    let typed: Vec<Option<Cow<Value>>> = values().map(|value| Some(typed(name, value?))).collect();
                    with_items(name, *kind).column(typed.iter().map(Option::as_deref))
                }
                kind => kind.column(values()),
            };
            (name.clone(), column)
        };
        all.into_iter().map(column).collect()
    }
}

/// A setting's value in its own kind: `summary.json` has lists as text, tables of older versions truth values too.
fn typed<'a>(name: &str, value: &'a Value) -> Cow<'a, Value> {
    let Value::String(text) = value else { return Cow::Borrowed(value) };
    if settings::find(name).is_none_or(|setting| setting.kind == ValueKind::Text) {
        return Cow::Borrowed(value);
    }
    // Only what is written as the same text again.
    let is_same = |own: &Value| serde_json::to_string(own).is_ok_and(|same| same == *text);
    match serde_json::from_str::<Value>(text) {
        Ok(own) if (own.is_boolean() || own.is_array()) && is_same(&own) => Cow::Owned(own),
        _ => Cow::Borrowed(value),
    }
}

/// Lists that are all empty hold what the setting's would.
fn with_items(name: &str, kind: Kind) -> Kind {
    match (kind, settings::find(name).map(|setting| setting.kind)) {
        (Kind::List(Items::Nothing), Some(ValueKind::Wholes)) => Kind::List(Items::Whole),
        (Kind::List(Items::Nothing), Some(ValueKind::Fractions)) => Kind::List(Items::Number),
        (kind, _) => kind,
    }
}
