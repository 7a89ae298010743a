//! One run out of its folder, and many: only those that changed are read again.

use super::stamp::run_stamp;
use crate::error::{At, Error, Result};
use crate::folder::{CONFIG, METRICS, METRICS_TABLE, SUMMARY, read_text};
use crate::run::{Run, Value, column, shared};
use crate::summary::{END, is_of_curve};
use crate::{Curve, CurvePoint, Quantity, State, Status, metrics};
use invitro_base::dotted::leaves;
use rayon::prelude::*;
use serde::Deserializer;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Runs parsed before, by folder, with the files' state they were parsed from.
#[derive(Default)]
pub struct ReadCache {
    pub(super) runs: HashMap<PathBuf, (u64, Run)>,
    pub(super) known: Option<(u64, Vec<Run>)>,
}

/// The runs in these folders, without columns that say something of their curves; of those in the cache, only those whose
/// files have changed are read.
pub(super) fn cached_runs(folders: &[PathBuf], cache: Option<&mut ReadCache>) -> Vec<Result<Run>> {
    let whole = |folder: &PathBuf| run_folder(folder, |column| !is_of_curve(column));
    let Some(cache) = cache else { return folders.par_iter().map(whole).collect() };
    let known = &cache.runs;
    let read = |folder: &PathBuf| {
        let now = run_stamp(folder);
        match known.get(folder) {
            Some((then, run)) if *then == now => Ok((now, run.clone())),
            _ => whole(folder).map(|run| (now, run)),
        }
    };
    let found: Vec<Result<(u64, Run)>> = folders.par_iter().map(read).collect();
    let mut keep = |(folder, found): (&PathBuf, Result<(u64, Run)>)| {
        let (now, run) = found?;
        cache.runs.insert(folder.clone(), (now, run.clone()));
        Ok(run)
    };
    folders.iter().zip(found).map(&mut keep).collect()
}

/// A finished run, of every curve that its summary has only the end: the summary has its settings too, so that neither its
/// metrics nor its config are read. Any other run is read whole.
pub(super) fn run_with_ends(folder: &Path) -> Result<Run> {
    let Some(mut status) = Status::read(folder)?.filter(|status| status.state == State::Done) else {
        return run_folder(folder, |_| true);
    };
    let Some(summary) = status.files.get(SUMMARY).filter(|_| status.files.contains_key(METRICS_TABLE)) else {
        return run_folder(folder, |_| true);
    };
    let path = folder.join(SUMMARY);
    let summary = summary.read(&path)?;
    status.files.iter().filter(|(name, _)| [CONFIG, METRICS_TABLE].contains(&name.as_str())).try_for_each(
        // Their lengths: nothing is taken from them.
        |(name, seal)| status.check_quickly(folder, name, seal, false),
    )?;
    let last = status.step as u32;
    status.files.clear();
    let mut columns = Vec::new();
    flatten("", &serde_json::to_value(&status).reading(folder)?, &mut columns);
    add_columns(&summary, |_| true, &mut columns).reading(&path)?;
    let mut run = Run { id: status.run, columns: columns.into_iter().collect(), ..Run::default() };
    let ends = run.columns.starting_at(END).take_while(|(name, _)| name.starts_with(END));
    let curve = |(name, value): (&str, &Value)| match value {
        Value::Number(value) => Some((parsed(name)?, Curve::new(vec![CurvePoint::without_interval(last, *value)]))),
        Value::Text(_) => None,
    };
    run.curves = ends.filter_map(curve).collect();
    Ok(run)
}

thread_local! {
    /// What names of columns mean: runs have the same.
    static PARSED: RefCell<HashMap<Arc<str>, Option<Arc<Quantity>>>> = RefCell::default();
}

/// The quantity whose end a column has.
fn parsed(name: &str) -> Option<Arc<Quantity>> {
    PARSED.with_borrow_mut(|known| {
        if let Some(quantity) = known.get(name) {
            return quantity.clone();
        }
        let quantity = name.strip_prefix(END).and_then(|name| name.parse().ok()).map(Arc::new);
        known.insert(name.into(), quantity.clone());
        quantity
    })
}

/// A run with those of its columns that are wanted.
pub(super) fn run_folder(folder: &Path, wanted: fn(&str) -> bool) -> Result<Run> {
    let id = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut columns = Vec::new();
    let config = folder.join(CONFIG);
    if let Some(text) = read_text(&config)? {
        let table: toml::Table = text
            .parse()
            .map_err(|error: toml::de::Error| Error::Read { path: config.clone(), why: error.message().to_owned() })?;
        columns.extend(leaves(&table).iter().map(|(key, value)| (shared(key), Value::from(value))));
    }
    let table = folder.join(METRICS_TABLE);
    let metrics = if table.exists() { METRICS_TABLE } else { METRICS };
    if let Some(mut status) = Status::read(folder)? {
        [CONFIG, SUMMARY, metrics].iter().try_for_each(|name| status.check(folder, name))?;
        status.files.clear();
        flatten("", &serde_json::to_value(&status).reading(folder)?, &mut columns);
    }
    let summary = folder.join(SUMMARY);
    if let Some(text) = read_text(&summary)? {
        add_columns(text.as_bytes(), wanted, &mut columns).reading(&summary)?;
    }
    let mut run = Run { id, columns: columns.into_iter().collect(), ..Run::default() };
    if let Some(id) = run.text(column::RUN) {
        run.id = id.to_owned();
    }
    run.curves = if table.exists() {
        metrics::read(&table)?.remove(&run.id).unwrap_or_default()
    } else {
        metrics::curves(&metrics::read_lines(&folder.join(METRICS))?)
    };
    Ok(run)
}

/// Values by name; of one that is there twice the last counts.
type NamedValues = Vec<(Arc<str>, Value)>;

/// Adds the wanted columns of a `summary.json`.
fn add_columns(text: &[u8], wanted: fn(&str) -> bool, columns: &mut NamedValues) -> serde_json::Result<()> {
    let mut text = serde_json::Deserializer::from_slice(text);
    text.deserialize_map(Summary { wanted, columns })?;
    text.end()
}

struct Summary<'a> {
    wanted: fn(&str) -> bool,
    columns: &'a mut NamedValues,
}

impl<'de> Visitor<'de> for Summary<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> std::result::Result<(), A::Error> {
        while let Some(name) = fields.next_key::<String>()? {
            if (self.wanted)(&name) {
                flatten(&name, &fields.next_value()?, self.columns);
            } else {
                fields.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// Nested objects as dotted columns.
fn flatten(prefix: &str, value: &serde_json::Value, columns: &mut NamedValues) {
    match value {
        serde_json::Value::Object(fields) => {
            for (name, value) in fields {
                let name = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
                flatten(&name, value, columns);
            }
        }
        serde_json::Value::Null => {}
        value => columns.push((shared(prefix), Value::from(value))),
    }
}
