//! The settings in which runs differ, and short names for them.

use super::factors::is_setting;
use crate::{Run, Value};
use invitro_base::settings::neutral_value;
use std::collections::{BTreeMap, BTreeSet};

/// A setting that is not the same in all runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Differing {
    /// Its key.
    pub key: String,
    /// The shortest end of the key that no other differing setting ends with: `distance` of `language.distance`.
    pub short: String,
    /// Its value in each run or group; `None` where one does not have it.
    pub values: Vec<Option<Value>>,
}

/// The settings of a run that count. A setting at the value at which it changes nothing is left out, so that an older run
/// without that setting is not another experiment.
pub(super) fn settings(run: &Run) -> BTreeMap<&str, &Value> {
    let counts = |(key, value): &(&str, &Value)| {
        is_setting(key) && neutral_value(key).is_none_or(|neutral| Value::from(&neutral) != **value)
    };
    run.columns.iter().filter(counts).collect()
}

/// Settings that differ between these runs, seeds last. A setting that is neutral in a run is given with that value.
pub fn differing<'a>(runs: impl Iterator<Item = &'a Run>) -> Vec<Differing> {
    let all: Vec<BTreeMap<&str, &Value>> = runs.map(settings).collect();
    let keys: BTreeSet<&str> = all.iter().flat_map(|own| own.keys().copied()).collect();
    let differs = |key: &&str| all.iter().any(|own| own.get(key) != all[0].get(key));
    let mut keys: Vec<&str> = keys.into_iter().filter(differs).collect();
    keys.sort_by_key(|key| key.starts_with("seeds."));
    let value = |own: &BTreeMap<&str, &Value>, key: &str| {
        own.get(key).map(|value| (*value).clone()).or_else(|| neutral_value(key).as_ref().map(Value::from))
    };
    keys.iter()
        .map(|key| Differing {
            key: (*key).to_owned(),
            short: short(key, &keys),
            values: all.iter().map(|own| value(own, key)).collect(),
        })
        .collect()
}

fn short(key: &str, among: &[&str]) -> String {
    let ends = key.match_indices('.').map(|(dot, _)| &key[dot + 1..]).collect::<Vec<_>>();
    let is_own = |end: &&&str| {
        let others = among.iter().filter(|other| **other != key);
        others.into_iter().all(|other| other != *end && !other.ends_with(&format!(".{end}")))
    };
    ends.iter().rev().find(is_own).unwrap_or(&key).to_string()
}
