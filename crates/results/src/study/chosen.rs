//! Which runs that were found are looked at: those whose settings a filter holds for.

use super::factors::is_setting;
use super::filter::Filter;
use crate::{Run, Value};
use invitro_base::dotted;
use invitro_base::settings::neutral_value;
use toml::Table;

/// The places of the runs that the filter keeps. A setting that no run has is an error; a run without one that others have
/// is not kept, unless the setting has a value that is as if it were not there.
pub fn chosen<'a>(runs: impl Iterator<Item = &'a Run>, filter: &Filter) -> Result<Vec<usize>, String> {
    if filter.is_empty() {
        return Ok((0..runs.count()).collect());
    }
    let mut tables: Vec<Table> = runs.map(settings_table).collect();
    let keys = filter.keys();
    for key in &keys {
        if let Some(neutral) = neutral_value(key) {
            let without = tables.iter_mut().filter(|table| dotted::lookup(table, key).is_none());
            without.for_each(|table| dotted::set(table, key, neutral.clone()));
        }
        if !tables.is_empty() && tables.iter().all(|table| dotted::lookup(table, key).is_none()) {
            return Err(format!("no run has a setting `{key}`, which `where` is about"));
        }
    }
    let mut kept = Vec::new();
    for (place, table) in tables.iter().enumerate() {
        let has_all = keys.iter().all(|key| dotted::lookup(table, key).is_some());
        if has_all && filter.holds(table)? {
            kept.push(place);
        }
    }
    Ok(kept)
}

/// The settings of a run as its config has them, whether they come from that or from a table.
fn settings_table(run: &Run) -> Table {
    let mut table = Table::new();
    for (key, value) in run.columns.iter().filter(|(key, _)| is_setting(key)) {
        dotted::set(&mut table, key, in_toml(value));
    }
    table
}

/// Truth values and lists are texts in a table.
fn in_toml(value: &Value) -> toml::Value {
    match value {
        Value::Number(number) => (*number).into(),
        Value::Text(text) => match text.parse::<toml::Value>() {
            Ok(parsed @ (toml::Value::Boolean(_) | toml::Value::Array(_))) => parsed,
            _ => text.as_ref().into(),
        },
    }
}
