//! A run as read back: its columns, its curves, its state.

use crate::{Condition, Curve, Factor, Levels, Measure, Quantity, SortedMap};
use invitro_stats::Seed;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

invitro_base::named! {
    /// How a run stands, as its `status.json` and a table's `state` column say it.
    State {
        /// At work; if nobody holds the folder's lock, the process was killed.
        Running = "running",
        /// Interrupted; it can be resumed.
        Stopped = "stopped",
        /// Trained and measured to its end.
        Done = "done",
        /// Ended by an error.
        Failed = "failed",
        /// In a table of a study: not begun.
        Waiting = "waiting",
        /// In a table of a study: begun, and nobody is at work on it.
        Interrupted = "interrupted",
        /// In a table of a study: made by a version whose results cannot stand beside this one's.
        Stale = "stale",
        /// In a table of a study: its languages and tokenizer were measured, nothing was trained.
        Measured = "measured",
    }
}

/// The value of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number of any kind.
    Number(f64),
    /// A text; a truth value or a list is one too.
    Text(Arc<str>),
}

impl Value {
    /// Numbers by size, then texts by letter.
    pub fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Value::Number(a), Value::Number(b)) => a.total_cmp(b),
            (Value::Text(a), Value::Text(b)) => a.cmp(b),
            (Value::Number(_), Value::Text(_)) => Ordering::Less,
            (Value::Text(_), Value::Number(_)) => Ordering::Greater,
        }
    }
}

impl From<&serde_json::Value> for Value {
    fn from(value: &serde_json::Value) -> Value {
        match value {
            serde_json::Value::String(text) => Value::Text(shared(text)),
            value => value.as_f64().map_or_else(|| Value::Text(shared(&value.to_string())), Value::Number),
        }
    }
}

impl From<&toml::Value> for Value {
    fn from(value: &toml::Value) -> Value {
        match value {
            toml::Value::Float(number) => Value::Number(*number),
            toml::Value::Integer(number) => Value::Number(*number as f64),
            value => Value::from(&serde_json::to_value(value).unwrap_or_default()),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Value::Number(number) => write!(out, "{number}"),
            Value::Text(text) => out.write_str(text),
        }
    }
}

/// Columns of a table of runs that are neither settings nor measures.
pub mod column {
    #![allow(missing_docs, reason = "the names say it")]
    pub const RUN: &str = "run";
    pub const STUDY: &str = "study";
    pub const STATE: &str = "state";
    pub const STEPS: &str = "steps";
    pub const DEVICE: &str = "device";
    pub const VERSION: &str = "version";
    pub const COMMIT: &str = "commit";
    pub const SCHEMA: &str = "schema";
    pub const ERROR: &str = "error";
    /// Tokens that a step's loss is a mean of, on average.
    pub const TOKENS: &str = "tokens_per_step";
    pub const SECONDS: [&str; 4] = ["seconds.prepare", "seconds.train", "seconds.eval", "seconds.save"];
    /// Settings that label results everywhere.
    pub const DATA_SEED: &str = "seeds.data";
    pub const MODEL_SEED: &str = "seeds.model";
    pub const EMERGENCE: &str = "eval.emergence";
}

/// One run.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// Its identity.
    pub id: String,
    /// Settings under their dotted keys, measures that stand once under theirs, and what [`mod@column`] names.
    pub columns: SortedMap<str, Value>,
    /// What was evaluated over training.
    pub curves: SortedMap<Quantity, Curve>,
    /// In a study: its place among the study's seeds.
    pub seed: Seed,
    /// In a study: its place among the levels of each factor it has.
    pub levels: Levels,
    /// In a study: whether it ran to its end; a run folder read alone is taken as it stands.
    pub ended: bool,
}

thread_local! {
    /// Names and values of columns that this thread has read: runs have mostly the same.
    static TEXTS: RefCell<HashSet<Arc<str>>> = RefCell::default();
}

/// A text that all runs that have it share.
pub(crate) fn shared(text: &str) -> Arc<str> {
    TEXTS.with_borrow_mut(|texts| match texts.get(text) {
        Some(known) => known.clone(),
        None => {
            let text: Arc<str> = text.into();
            texts.insert(text.clone());
            text
        }
    })
}

/// The curve of what was not measured.
static NOTHING: std::sync::LazyLock<Curve> = std::sync::LazyLock::new(Curve::default);

impl Run {
    /// Its place among the levels of a factor.
    pub fn level(&self, factor: Factor) -> Option<usize> {
        self.levels.iter().find(|(own, _)| *own == factor).map(|(_, level)| *level)
    }

    /// Whether it has all of these levels.
    pub fn is_at(&self, levels: &[(Factor, usize)]) -> bool {
        levels.iter().all(|(factor, level)| self.level(*factor) == Some(*level))
    }

    /// A column that holds a number.
    pub fn number(&self, column: &str) -> Option<f64> {
        match self.columns.get(column) {
            Some(Value::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// A column that holds a text.
    pub fn text(&self, column: &str) -> Option<&str> {
        match self.columns.get(column) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// A measure that stands once per run: of its languages or its tokenizer.
    pub fn once(&self, quantity: &Quantity) -> Option<f64> {
        self.number(&quantity.to_string())
    }

    /// The mean bridge of a masked condition: its own column where several languages have a mask, else the run's only one.
    pub fn bridge(&self, bridge: Measure, masked: &Condition) -> Option<f64> {
        self.once(&Quantity::in_condition(bridge, masked)).or_else(|| self.once(&Quantity::overall(bridge)))
    }

    /// A measure that stands once per pair of languages, such as the overlap, with the names of each pair; without names
    /// where there are two languages.
    pub fn of_pairs(&self, measure: Measure) -> Vec<(Option<[Arc<str>; 2]>, f64)> {
        let only = self.once(&Quantity::overall(measure)).map(|value| (None, value));
        let prefix = format!("{measure}.");
        let columns = self.columns.starting_at(&prefix).take_while(|(column, _)| column.starts_with(&prefix));
        let pair = |(column, value): (&str, &Value)| match (column.parse::<Quantity>().ok()?, value) {
            (Quantity { measure: of, pair: Some(pair), .. }, Value::Number(value)) if of == measure => {
                Some((Some(pair), *value))
            }
            _ => None,
        };
        only.into_iter().chain(columns.filter_map(pair)).collect()
    }

    /// The mean of such a measure over all pairs of languages.
    pub fn over_pairs(&self, measure: Measure) -> Option<f64> {
        let all = self.of_pairs(measure);
        (!all.is_empty()).then(|| all.iter().map(|(_, value)| value).sum::<f64>() / all.len() as f64)
    }

    /// A measure over training; empty where it was not evaluated.
    pub fn curve(&self, quantity: &Quantity) -> &Curve {
        self.curves.get(quantity).unwrap_or(&NOTHING)
    }

    /// How it stands, as it is written.
    pub fn state(&self) -> &str {
        self.text(column::STATE).unwrap_or("unknown")
    }

    /// Whether it ran to its end. Peaks, ends and emergence of a run that did not would be too low or too late.
    pub fn done(&self) -> bool {
        self.state() == State::Done.name()
    }

    /// Whether it has anything to show.
    pub fn begun(&self) -> bool {
        self.done() || self.measured() || self.state() == State::Measured.name()
    }

    /// Whether anything was evaluated.
    pub fn measured(&self) -> bool {
        !self.curves.is_empty()
    }

    /// The last step anything was evaluated at.
    pub fn last_step(&self) -> Option<u32> {
        self.curves.values().filter_map(Curve::last).map(|point| point.step).max()
    }

    /// The schema its tables were written under.
    pub fn schema(&self) -> Option<u32> {
        self.number(column::SCHEMA).map(|schema| schema as u32)
    }

    /// The threshold a metric has to exceed to have emerged, as its experiment sets it.
    pub fn emergence_threshold(&self) -> f64 {
        self.number(column::EMERGENCE).unwrap_or(0.02)
    }
}
