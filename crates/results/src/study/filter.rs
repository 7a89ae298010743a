//! Which cells of a study's grid are kept: the `[[where]]` tables of its file.
//!
//! ```toml
//! [[where]]
//! tokenizer.vocab = { below = 8192 }
//! [[where]]
//! mixture.lambda = [0.25, 0.5]
//! tokenizer.regime = { not = "balanced" }
//! ```
//! A cell is kept if any of the tables holds; a table holds if all its keys do. A key is a setting; it holds if the
//! setting is the value, one of a list, or stands to it as `below`, `at_most`, `above`, `at_least` or `not` say.

use invitro_base::dotted::{leaves, lookup, missing, show};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use toml::{Table, Value};

/// Keeps a cell if any of these tables holds; without tables, every cell.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Filter(Vec<Table>);

impl Filter {
    /// Out of tables as `key = value, …` in TOML, as options have them; a text needs no quotes where it stands alone.
    ///
    /// ```
    /// use invitro_results::Filter;
    /// let filter = Filter::parse(&["tokenizer.vocab = { below = 512 }", "tokenizer.regime=balanced"]).unwrap();
    /// assert_eq!(filter.describe(), ["tokenizer.vocab.below = 512", "tokenizer.regime = \"balanced\""]);
    /// ```
    pub fn parse(tables: &[impl AsRef<str>]) -> Result<Filter, String> {
        let parse = |text: &str| -> Result<Table, String> {
            let inline = |text: &str| format!("x = {{ {text} }}").parse::<Table>().ok()?.remove("x")?.try_into().ok();
            let quoted =
                || text.split_once('=').and_then(|(key, value)| inline(&format!("{key} = {:?}", value.trim())));
            inline(text).or_else(quoted).filter(|table: &Table| !table.is_empty()).ok_or_else(|| {
                format!("`{text}` is not of the form KEY=VALUE, as in 'language.distance = {{ below = 0.5 }}'")
            })
        };
        tables.iter().map(|text| parse(text.as_ref())).collect::<Result<_, _>>().map(Filter)
    }

    /// The settings that it looks at.
    pub(crate) fn keys(&self) -> Vec<String> {
        let keys = self.0.iter().flat_map(leaves).map(|(key, _)| relation(&key).0.to_owned());
        keys.collect()
    }

    /// Whether every cell is kept.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each table in a line, for people.
    pub fn describe(&self) -> Vec<String> {
        let line = |table: &Table| {
            let keys: Vec<String> = leaves(table).iter().map(|(key, value)| format!("{key} = {value}")).collect();
            keys.join(", ")
        };
        self.0.iter().map(line).collect()
    }

    /// Whether a complete config is kept; an unknown setting or values of two kinds are an error.
    pub fn holds(&self, config: &Table) -> Result<bool, String> {
        // Every table is looked at, so that a fault shows whatever comes before it.
        let held: Vec<bool> = self.0.iter().map(|table| all_hold(table, config)).collect::<Result<_, String>>()?;
        Ok(held.is_empty() || held.contains(&true))
    }
}

fn all_hold(table: &Table, config: &Table) -> Result<bool, String> {
    let held: Vec<bool> =
        leaves(table).iter().map(|(key, value)| holds(key, value, config)).collect::<Result<_, String>>()?;
    Ok(!held.contains(&false))
}

/// A key without the relation at its end, and that.
fn relation(key: &str) -> (&str, &str) {
    match key.rsplit_once('.') {
        Some((setting, relation @ ("below" | "at_most" | "above" | "at_least" | "not"))) => (setting, relation),
        _ => (key, "is"),
    }
}

fn holds(key: &str, value: &Value, config: &Table) -> Result<bool, String> {
    let (setting, relation) = relation(key);
    let fault = |why: String| format!("`where` has {key} = {value}, but {why}");
    let given = lookup(config, setting).ok_or_else(|| fault(missing(config, setting)))?;
    let is = |value: &Value| order(given, value) == Some(Ordering::Equal);
    // A list names the values of a setting, unless the setting is itself a list.
    let is_among = match value {
        Value::Array(values) if !given.is_array() => values.iter().any(is),
        value => is(value),
    };
    let order = || order(given, value).ok_or_else(|| fault(format!("`{setting}` is {}, of another kind", show(given))));
    Ok(match relation {
        "below" => order()?.is_lt(),
        "at_most" => order()?.is_le(),
        "above" => order()?.is_gt(),
        "at_least" => order()?.is_ge(),
        "not" => !is_among,
        _ => is_among,
    })
}

/// Numbers compare by value, whether written 1 or 1.0; lists are equal or not.
fn order(a: &Value, b: &Value) -> Option<Ordering> {
    let number = |value: &Value| value.as_float().or(value.as_integer().map(|integer| integer as f64));
    match (a, b) {
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        (Value::Boolean(a), Value::Boolean(b)) => Some(a.cmp(b)),
        (Value::Array(a), Value::Array(b)) => {
            let same = a.len() == b.len() && a.iter().zip(b).all(|(a, b)| order(a, b) == Some(Ordering::Equal));
            Some(if same { Ordering::Equal } else { Ordering::Less })
        }
        _ => number(a)?.partial_cmp(&number(b)?),
    }
}
