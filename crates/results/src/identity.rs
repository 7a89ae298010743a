//! Which run a config stands for: the hash of every setting its results depend on.
//!
//! The name of an experiment is a label and not part of it.

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

/// What is to be known of results of an older schema, beside those of this one.
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

/// Every setting but the name under its dotted key, in TOML's notation.
pub fn settings(experiment: &Table) -> Vec<(String, String)> {
    let all = leaves(experiment).into_iter().filter(|(key, _)| key != "name");
    all.map(|(key, value)| (key, value.to_string())).collect()
}

/// A short hash of plain data.
pub fn hash(value: &serde_json::Value) -> String {
    blake3::hash(value.to_string().as_bytes()).to_hex()[..16].to_owned()
}

/// Every value of a table under its dotted key, in alphabetical order of sections.
pub fn leaves(table: &Table) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for (key, value) in table {
        match value {
            Value::Table(inner) => all.extend(leaves(inner).into_iter().map(|(k, v)| (format!("{key}.{k}"), v))),
            value => all.push((key.clone(), value.clone())),
        }
    }
    all
}

/// The value under a dotted key.
pub fn lookup<'a>(table: &'a Table, key: &str) -> Option<&'a Value> {
    match key.split_once('.') {
        None => table.get(key),
        Some((section, rest)) => lookup(table.get(section)?.as_table()?, rest),
    }
}

/// Puts a value under a dotted key. A whole number for a setting that holds a fraction becomes one.
pub fn set(table: &mut Table, key: &str, value: Value) {
    let Some((section, rest)) = key.split_once('.') else {
        let value = match (table.get(key), value) {
            (Some(Value::Float(_)), Value::Integer(whole)) => Value::Float(whole as f64),
            (_, value) => value,
        };
        table.insert(key.to_owned(), value);
        return;
    };
    let inner = table.entry(section.to_owned()).or_insert_with(|| Value::Table(Table::new()));
    if !inner.is_table() {
        *inner = Value::Table(Table::new());
    }
    if let Value::Table(inner) = inner {
        set(inner, rest, value);
    }
}

/// A value as people write it: `0.5`, `balanced`, `[0, 1]`.
pub fn show(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Whether results of a version may stand beside those of this one: they differ in no more than the patch number.
pub fn compatible(version: &str) -> bool {
    version.split('.').take(2).eq(env!("CARGO_PKG_VERSION").split('.').take(2))
}
