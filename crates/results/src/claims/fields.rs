//! Tables of a claims file, read key by key: what is unknown is named, with the nearest known name.

use toml::{Table, Value};

/// What is wrong with claims, in a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ClaimError(pub String);

pub(super) type Result<T> = std::result::Result<T, ClaimError>;

/// The nearest of the known names to one that is not known.
pub(super) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known.into_iter().min_by_key(|other| strsim::damerau_levenshtein(name, other))
}

/// `` `grammatcal` is not a measure; the nearest known one is `grammatical` ``
pub(super) fn unknown<'a>(name: &str, what: &str, known: impl IntoIterator<Item = &'a str>) -> ClaimError {
    let hint = nearest(name, known).map_or(String::new(), |near| format!("; the nearest known one is `{near}`"));
    ClaimError(format!("`{name}` is not {what}{hint}"))
}

/// A table whose keys are taken one by one.
pub(super) struct Fields {
    table: Table,
    known: Vec<&'static str>,
}

impl Fields {
    pub fn new(value: Value) -> Result<Fields> {
        match value {
            Value::Table(table) => Ok(Fields { table, known: Vec::new() }),
            other => Err(ClaimError(format!("{other} must be a table"))),
        }
    }

    pub fn take(&mut self, key: &'static str) -> Option<Value> {
        self.known.push(key);
        self.table.remove(key)
    }

    /// A value of this key, as `parse` reads it; errors name the key.
    pub fn parse<T>(&mut self, key: &'static str, parse: impl FnOnce(Value) -> Result<T>) -> Result<Option<T>> {
        let in_key = |ClaimError(why)| ClaimError(format!("`{key}`: {why}"));
        self.take(key).map(|value| parse(value).map_err(in_key)).transpose()
    }

    pub fn text(&mut self, key: &'static str) -> Result<Option<String>> {
        self.parse(key, text)
    }

    pub fn flag(&mut self, key: &'static str) -> Result<bool> {
        let flag = self
            .parse(key, |value| value.as_bool().ok_or_else(|| ClaimError(format!("{value} must be true or false"))))?;
        Ok(flag.unwrap_or(false))
    }

    /// Fails where a key was not taken.
    pub fn finish(self) -> Result<()> {
        match self.table.keys().next() {
            Some(key) => Err(unknown(key, "a known key", self.known)),
            None => Ok(()),
        }
    }
}

pub(super) fn text(value: Value) -> Result<String> {
    match value {
        Value::String(text) => Ok(text),
        other => Err(ClaimError(format!("{other} must be a text"))),
    }
}

pub(super) fn number(value: &Value) -> Result<f64> {
    let number = value.as_float().or(value.as_integer().map(|whole| whole as f64));
    number.ok_or_else(|| ClaimError(format!("{value} must be a number")))
}

/// One value, or a list of them.
pub(super) fn one_or_many(value: Value) -> Vec<Value> {
    match value {
        Value::Array(values) => values,
        one => vec![one],
    }
}

pub(super) fn texts(value: Value) -> Result<Vec<String>> {
    one_or_many(value).into_iter().map(text).collect()
}
