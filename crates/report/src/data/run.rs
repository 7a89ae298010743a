//! One run: its columns, its curves, and the few summaries figures ask of it.

use super::curves::{Curves, Key, Point};
use crate::stats::Seed;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Number(f64),
    Text(String),
}

impl Value {
    pub(super) fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Value::Number(a), Value::Number(b)) => a.total_cmp(b),
            (Value::Text(a), Value::Text(b)) => a.cmp(b),
            (Value::Number(_), Value::Text(_)) => Ordering::Less,
            (Value::Text(_), Value::Number(_)) => Ordering::Greater,
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

#[derive(Debug, Clone, Default)]
pub struct Run {
    /// The hash of its config.
    pub id: String,
    pub columns: BTreeMap<String, Value>,
    pub curves: Curves,
    /// Its place among the study's seeds.
    pub seed: Seed,
    /// Its place among the levels of each factor, in the order of `Factor::ALL`.
    pub levels: [Option<usize>; 4],
}

impl Run {
    pub fn number(&self, column: &str) -> Option<f64> {
        match self.columns.get(column) {
            Some(Value::Number(number)) => Some(*number),
            _ => None,
        }
    }

    pub fn text(&self, column: &str) -> Option<&str> {
        match self.columns.get(column) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    pub fn state(&self) -> &str {
        self.text("state").unwrap_or("unknown")
    }

    /// Whether it ran to its end. Peaks, ends and emergence of a run that did not would be too low or too late.
    pub fn done(&self) -> bool {
        matches!(self.state(), "done" | "finished" | "complete" | "completed")
    }

    /// Whether it has anything to show.
    pub fn begun(&self) -> bool {
        self.done() || self.measured()
    }

    /// Whether anything was evaluated.
    pub fn measured(&self) -> bool {
        self.curves.last_step().is_some()
    }

    pub fn curve(&self, key: Option<Key>) -> &[Point] {
        key.map_or(&[], |key| self.curves.get(key))
    }

    /// The largest value a curve reached.
    pub fn peak(&self, key: Option<Key>) -> Option<f64> {
        self.curve(key).iter().map(|point| point.value).filter(|value| value.is_finite()).reduce(f64::max)
    }

    pub fn last(&self, key: Option<Key>) -> Option<f64> {
        self.curve(key).last().map(|point| point.value).filter(|value| value.is_finite())
    }

    /// The first evaluated step at which the metric exceeds the threshold. `None` where it never did.
    pub fn emergence(&self, key: Option<Key>, threshold: f64) -> Option<u32> {
        self.curve(key).iter().find(|point| point.value > threshold).map(|point| point.step)
    }
}
