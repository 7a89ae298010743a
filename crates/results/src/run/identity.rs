//! The identity of the run that a config describes: the hash of every setting its results depend on.
//!
//! The name of an experiment is a label and not part of it.

use invitro_base::dotted::leaves;
use invitro_base::settings::is_neutral;
use serde_json::json;
use toml::{Table, Value};

/// Raised when a config of the same settings would give other results, or tables would mean something else.
pub const SCHEMA: u32 = 4;

/// What each schema measures otherwise than the one before.
const CHANGES: [(u32, &str); 3] = [
    (
        2,
        "contrasts are taken over pairs of subjects of one class, overlap over the same words of both languages, and a \
         run's time is its share of its population's",
    ),
    (
        3,
        "masked words are never words of another language, evaluation sentences are never trained on, contrasts have \
         words of their own (200 where the world has as many), evaluation sets do not depend on each other, and \
         fertility is over the same sentences in all languages",
    ),
    (
        4,
        "a run's own interval of a contrast allows for subjects that stand in several pairs, and every masked word has its own contrast",
    ),
];

/// Notes on results of older schemas.
pub fn outdated(schema: u32) -> Option<String> {
    let changes: Vec<&str> = CHANGES.iter().filter(|(since, _)| *since > schema).map(|(_, what)| *what).collect();
    let since = format!("measured under schema {schema}; this version measures under schema {SCHEMA}, in which");
    (!changes.is_empty()).then(|| format!("These results were {since} {}.", changes.join("; and ")))
}

/// The identity of a complete experiment of one data seed and one model seed: 16 hexadecimal digits.
pub fn identity(experiment: &Table) -> String {
    identity_under(SCHEMA, experiment)
}

/// The identity that a schema gave, or gives, the experiment.
pub fn identity_under(schema: u32, experiment: &Table) -> String {
    hash(&json!({ "schema": schema, "config": settings(experiment) }))
}

/// Values that had another spelling before, which is the one that counts.
const RENAMED: [(&str, &str, &str); 2] =
    [("mixture.withhold", "\"words\"", "true"), ("mixture.withhold", "\"nothing\"", "false")];

/// A value as it counts.
fn spelled(key: &str, value: &Value) -> String {
    let value = value.to_string();
    let renamed = RENAMED.iter().find(|(known, now, _)| *known == key && *now == value);
    renamed.map_or(value, |(_, _, before)| (*before).to_owned())
}

/// Every setting that counts under its dotted key, in TOML's notation: all but the name, which is a label, and those that
/// are neutral at their value. Languages of a list come in its order, which counts.
fn settings(experiment: &Table) -> Vec<(String, String)> {
    let counts = |(key, value): &(String, Value)| key != "name" && !is_neutral(key, value);
    leaves(experiment)
        .into_iter()
        .filter(counts)
        .map(|(key, value)| (spelled(&key, &value), key))
        .map(|(value, key)| (key, value))
        .collect()
}

/// A short hash of plain data.
pub fn hash(value: &serde_json::Value) -> String {
    blake3::hash(value.to_string().as_bytes()).to_hex()[..16].to_owned()
}

/// Earlier versions, without their patch numbers, that gave the same results under this schema: golden files did not
/// change since.
const ALIKE: [&str; 1] = ["0.1"];

/// Whether results of a version may stand beside those of this one, if their schema is the same: the two differ in no more
/// than the patch number, or it is known (`ALIKE`) to have given the same.
pub fn compatible(version: &str) -> bool {
    let minor = |version: &str| version.split('.').take(2).collect::<Vec<_>>().join(".");
    let made_by = minor(version);
    made_by == minor(env!("CARGO_PKG_VERSION")) || ALIKE.contains(&made_by.as_str())
}
