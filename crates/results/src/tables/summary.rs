//! A run as one flat row, for tables over many runs: `summary.json`, and a row of `runs.parquet`.
//!
//! Columns are dotted names: settings, measures of the languages and the tokenizer, and of every curve its peak (`max.…`),
//! its end (`final.…`) and its emergence. A value that does not exist is null.

use crate::error::{At, Error};
use crate::folder::Status;
use crate::run::column;
use crate::table::{self, Column, Columns, Items, Kind, TableWriter};
use crate::{
    Curve, Emergence, Loss, Measure, Quantity, Reach, Row, Scorer, SortedMap, State, Statistic, Targets, metrics,
};
use invitro_base::settings::{self, ValueKind};
use invitro_stats::Scale;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::ops::Range;
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

/// What the column of a curve's end begins with.
pub(crate) const END: &str = "final.";

/// And that of its maximum.
const MAXIMUM: &str = "max.";

/// Whether a column says something of a curve, which a run that is read with its curves need not say again.
pub(crate) fn is_of_curve(column: &str) -> bool {
    [MAXIMUM, END, "emergence."].iter().any(|start| column.starts_with(start))
}

fn add_curve(
    out: &mut Columns,
    quantity: &Quantity,
    curve: &Curve,
    curves: &SortedMap<Quantity, Curve>,
    threshold: f64,
) {
    if !quantity.measure.is_inside() {
        out.insert(format!("{MAXIMUM}{quantity}"), json!(curve.peak().map(|point| point.value)));
    }
    // Null where there was nothing to count at the last step.
    out.insert(format!("{END}{quantity}"), json!(curve.end()));
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

/// A row with less in it: ends and maxima that are no shares to four decimals, as in a compact `metrics.parquet`.
pub fn shorten(row: &mut Columns) {
    for (name, value) in row.iter_mut() {
        let quantity = name.strip_prefix(END).or_else(|| name.strip_prefix(MAXIMUM));
        if quantity.and_then(|name| name.parse::<Quantity>().ok()).is_some_and(|it| it.measure.scale() == Scale::Plain)
        {
            table::shorten_value(value);
        }
    }
}

/// Rows as columns, those that tell runs apart first, each of the kind that holds all its values.
pub fn columns(rows: &[Columns]) -> Vec<(String, Column)> {
    let mut gathered = Gathered::default();
    rows.iter().for_each(|row| gathered.add(row.clone()));
    gathered.columns(0..rows.len())
}

/// Writes rows that are made part by part, each part a group of the table; `compact`: small rather than quick.
pub fn write<P, E: From<Error>>(
    path: &Path,
    compact: bool,
    parts: impl Iterator<Item = P>,
    make: impl Fn(P) -> std::result::Result<Vec<Columns>, E>,
) -> std::result::Result<(), E> {
    let mut gathered = Gathered::default();
    let mut groups = Vec::new();
    for part in parts {
        let start = gathered.rows;
        make(part)?.into_iter().for_each(|row| gathered.add(row));
        groups.push(start..gathered.rows);
    }
    table::write_with(path, |out| {
        let open = if compact { TableWriter::compact } else { TableWriter::new };
        let mut writer = open(out, &gathered.columns(0..0)).writing(path)?;
        for group in groups {
            writer.group(&gathered.columns(group)).writing(path)?;
        }
        writer.seal();
        Ok(writer.finish().writing(path)?)
    })
}

/// The columns of a table while its rows are gathered.
#[derive(Default)]
struct Gathered {
    rows: usize,
    columns: Vec<GatheredColumn>,
    places: HashMap<String, usize>,
}

struct GatheredColumn {
    name: String,
    kind: Kind,
    /// Shorter than the table where the last rows have none.
    values: Vec<Value>,
}

impl Gathered {
    fn add(&mut self, row: Columns) {
        let mut expected = 0;
        for (name, value) in row {
            let place = self.place(name, expected);
            expected = place + 1;
            let GatheredColumn { name, kind, values } = &mut self.columns[place];
            let value = typed(name, value);
            *kind = kind.join(Kind::of(&value));
            values.resize(self.rows, Value::Null);
            values.push(value);
        }
        self.rows += 1;
    }

    /// The place of a column, likely the one after the row's last.
    fn place(&mut self, name: String, expected: usize) -> usize {
        if self.columns.get(expected).is_some_and(|column| column.name == name) {
            return expected;
        }
        if let Some(&place) = self.places.get(&name) {
            return place;
        }
        self.places.insert(name.clone(), self.columns.len());
        self.columns.push(GatheredColumn { name, kind: Kind::Nothing, values: Vec::new() });
        self.columns.len() - 1
    }

    fn columns(&self, rows: Range<usize>) -> Vec<(String, Column)> {
        const FIRST: [&str; 3] = [column::RUN, column::STUDY, column::STATE];
        let mut all: Vec<&GatheredColumn> = self.columns.iter().collect();
        let place = |name: &str| FIRST.iter().position(|first| *first == name).unwrap_or(FIRST.len());
        all.sort_by_key(|column| (place(&column.name), &column.name));
        let column = |GatheredColumn { name, kind, values }: &GatheredColumn| {
            (name.clone(), with_items(name, *kind).column(rows.clone().map(|row| values.get(row))))
        };
        all.into_iter().map(column).collect()
    }
}

/// A setting's value in its own kind: `summary.json` has lists as text, tables of older versions truth values too.
fn typed(name: &str, value: Value) -> Value {
    let Value::String(text) = &value else { return value };
    if settings::find(name).is_none_or(|setting| setting.kind == ValueKind::Text) {
        return value;
    }
    // Only what is written as the same text again.
    let is_same = |own: &Value| serde_json::to_string(own).is_ok_and(|same| same == *text);
    match serde_json::from_str::<Value>(text) {
        Ok(own) if (own.is_boolean() || own.is_array()) && is_same(&own) => own,
        _ => value,
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
