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

use crate::dotted::{leaves, lookup, missing, show};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use toml::{Table, Value};

/// Tables of which any must hold; without one, every cell is kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Filter(Vec<Table>);

impl Filter {
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
    pub(crate) fn holds(&self, config: &Table) -> Result<bool, String> {
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

fn holds(key: &str, value: &Value, config: &Table) -> Result<bool, String> {
    let (setting, relation) = match key.rsplit_once('.') {
        Some((setting, relation @ ("below" | "at_most" | "above" | "at_least" | "not"))) => (setting, relation),
        _ => (key, "is"),
    };
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

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(filter: &str) -> Result<bool, String> {
        #[derive(Deserialize)]
        struct File {
            r#where: Filter,
        }
        let config: Table = "
            [tokenizer]\nvocab = 2048\nregime = \"balanced\"\nsees_masked = false
            [mixture]\nlambda = 0.25\ntasks = [0.2, 0.4, 0.4]"
            .parse()
            .unwrap();
        toml::from_str::<File>(filter).unwrap().r#where.holds(&config)
    }

    #[test]
    fn comparisons() {
        for (filter, expected) in [
            ("tokenizer.vocab = 2048", true),
            ("tokenizer.vocab.below = 2048.5", true),
            ("tokenizer.vocab = { not = 2048 }", false),
            ("tokenizer.vocab = { at_least = 2048, at_most = 2048 }", true),
            ("tokenizer.vocab.at_least = 4096\n[[where]]\nmixture.lambda.above = 0.1", true),
            ("tokenizer.vocab.at_least = 4096\nmixture.lambda.above = 0.1", false),
            ("mixture.lambda = [0.05, 0.25]", true),
            ("mixture.lambda = { not = [0.05, 0.25] }", false),
            ("tokenizer.regime = [\"vanilla\", \"other\"]", false),
            ("tokenizer.sees_masked = false", true),
            ("mixture.tasks = [0.2, 0.4, 0.4]", true),
        ] {
            assert_eq!(holds(&format!("[[where]]\n{filter}")), Ok(expected), "{filter}");
        }
    }

    #[test]
    fn faults_say_what_was_found() {
        let fault = holds("[[where]]\ntokenizer.vokab = 1").unwrap_err();
        assert_eq!(fault, "`where` has tokenizer.vokab = 1, but there is no setting `tokenizer.vokab`");
        let fault = holds("[[where]]\ntokenizer.vocab.below = \"many\"").unwrap_err();
        assert!(fault.ends_with("but `tokenizer.vocab` is 2048, of another kind"), "{fault}");
    }
}
