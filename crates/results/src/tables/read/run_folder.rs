//! One run out of its folder, and many: only those that changed are read again.

use super::stamp::run_stamp;
use crate::error::{At, Error, Result};
use crate::folder::{CONFIG, METRICS, METRICS_TABLE, SUMMARY, read_json, read_text};
use crate::run::{Run, Value, column};
use crate::summary::END;
use crate::{Curve, CurvePoint, Quantity, State, Status, metrics};
use invitro_base::dotted::leaves;
use rayon::prelude::*;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Runs parsed before, by folder, with the files' state they were parsed from.
#[derive(Default)]
pub struct ReadCache {
    pub(super) runs: HashMap<PathBuf, (u64, Run)>,
    pub(super) known: Option<(u64, Vec<Run>)>,
}

/// The runs in these folders; only those whose files have changed are read.
pub(super) fn cached_runs(folders: &[PathBuf], cache: &mut ReadCache) -> Vec<Result<Run>> {
    let known = &cache.runs;
    let read = |folder: &PathBuf| {
        let now = run_stamp(folder);
        match known.get(folder) {
            Some((then, run)) if *then == now => Ok((now, run.clone())),
            _ => run_folder(folder).map(|run| (now, run)),
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
        return run_folder(folder);
    };
    let Some(summary) = status.files.get(SUMMARY).filter(|_| status.files.contains_key(METRICS_TABLE)) else {
        return run_folder(folder);
    };
    let path = folder.join(SUMMARY);
    let summary = serde_json::from_slice(&summary.read(&path)?).reading(&path)?;
    status.files.iter().filter(|(name, _)| [CONFIG, METRICS_TABLE].contains(&name.as_str())).try_for_each(
        // Their lengths: nothing is taken from them.
        |(name, seal)| status.check_quickly(folder, name, seal, false),
    )?;
    let last = status.step as u32;
    status.files.clear();
    let mut run = Run { id: status.run.clone(), ..Run::default() };
    flatten("", &serde_json::to_value(&status).reading(folder)?, &mut run);
    flatten("", &summary, &mut run);
    let ends = run.columns.range(END.to_owned()..).take_while(|(name, _)| name.starts_with(END));
    let curve = |(name, value): (&String, &Value)| match value {
        Value::Number(value) => Some((parsed(name)?, Curve::new(vec![CurvePoint::without_interval(last, *value)]))),
        Value::Text(_) => None,
    };
    run.curves = ends.filter_map(curve).collect();
    Ok(run)
}

thread_local! {
    /// What names of columns mean: runs have the same.
    static PARSED: RefCell<HashMap<String, Option<Quantity>>> = RefCell::default();
}

/// The quantity whose end a column has.
fn parsed(name: &str) -> Option<Quantity> {
    PARSED.with_borrow_mut(|known| {
        if let Some(quantity) = known.get(name) {
            return quantity.clone();
        }
        let quantity = name.strip_prefix(END).and_then(|name| name.parse().ok());
        known.insert(name.to_owned(), quantity.clone());
        quantity
    })
}

pub(super) fn run_folder(folder: &Path) -> Result<Run> {
    let id = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut run = Run { id, ..Run::default() };
    let config = folder.join(CONFIG);
    if let Some(text) = read_text(&config)? {
        let table: toml::Table = text
            .parse()
            .map_err(|error: toml::de::Error| Error::Read { path: config.clone(), why: error.message().to_owned() })?;
        run.columns.extend(leaves(&table).iter().map(|(key, value)| (key.clone(), Value::from(value))));
    }
    let table = folder.join(METRICS_TABLE);
    let metrics = if table.exists() { METRICS_TABLE } else { METRICS };
    if let Some(mut status) = Status::read(folder)? {
        [CONFIG, SUMMARY, metrics].iter().try_for_each(|name| status.check(folder, name))?;
        status.files.clear();
        flatten("", &serde_json::to_value(&status).reading(folder)?, &mut run);
    }
    if let Some(summary) = read_json(&folder.join(SUMMARY))? {
        flatten("", &summary, &mut run);
    }
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

/// Nested objects as dotted columns.
fn flatten(prefix: &str, value: &serde_json::Value, run: &mut Run) {
    match value {
        serde_json::Value::Object(fields) => {
            for (name, value) in fields {
                let name = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
                flatten(&name, value, run);
            }
        }
        serde_json::Value::Null => {}
        value => drop(run.columns.insert(prefix.to_owned(), Value::from(value))),
    }
}
