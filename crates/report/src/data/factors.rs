//! The four factors of the paper, the levels a study gives them, and what else it varies.

use super::plan::Plan;
use super::run::{Run, Value};
use std::collections::BTreeSet;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Factor {
    Vocab,
    Regime,
    Lambda,
    Distance,
}

/// One level of a factor, in ascending order in the study; regimes are ordered vanilla, balanced, then by name.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    pub label: String,
    pub value: f64,
}

impl Factor {
    pub const ALL: [Factor; 4] = [Factor::Vocab, Factor::Regime, Factor::Lambda, Factor::Distance];

    pub fn column(self) -> &'static str {
        match self {
            Factor::Vocab => "tokenizer.vocab",
            Factor::Regime => "tokenizer.regime",
            Factor::Lambda => "mixture.lambda",
            Factor::Distance => "language.distance",
        }
    }

    /// The paper's notation, `*` around what is italic.
    pub fn symbol(self) -> &'static str {
        match self {
            Factor::Vocab => "|*V*|",
            Factor::Regime => "regime",
            Factor::Lambda => "*λ*",
            Factor::Distance => "*d*",
        }
    }

    /// A name for file names and controls.
    pub fn name(self) -> &'static str {
        match self {
            Factor::Vocab => "vocab",
            Factor::Regime => "regime",
            Factor::Lambda => "lambda",
            Factor::Distance => "d",
        }
    }
}

/// The levels the runs take or the plan names, and each run's place among them.
pub(super) fn levels(factor: Factor, runs: &[Run], plan: &Plan) -> (Vec<Level>, Vec<Option<usize>>) {
    let column = factor.column();
    if factor == Factor::Regime {
        let rank = |name: &str| {
            (["vanilla", "balanced"].iter().position(|known| *known == name).unwrap_or(2), name.to_owned())
        };
        let planned = plan.levels(column).filter_map(|value| match value {
            Value::Text(name) => Some(rank(name)),
            Value::Number(_) => None,
        });
        let names: BTreeSet<_> = runs.iter().filter_map(|run| run.text(column)).map(rank).chain(planned).collect();
        let names: Vec<_> = names.into_iter().collect();
        let places =
            runs.iter().map(|run| run.text(column).and_then(|name| names.binary_search(&rank(name)).ok())).collect();
        let level =
            |(place, (_, label)): (usize, &(usize, String))| Level { label: label.clone(), value: place as f64 };
        return (names.iter().enumerate().map(level).collect(), places);
    }
    let planned = plan.levels(column).filter_map(|value| match value {
        Value::Number(number) => Some(*number),
        Value::Text(_) => None,
    });
    let mut values: Vec<f64> = runs.iter().filter_map(|run| run.number(column)).chain(planned).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let place = |run: &Run| run.number(column).and_then(|value| values.iter().position(|level| *level == value));
    let places = runs.iter().map(place).collect();
    (values.iter().map(|value| Level { label: format!("{value}"), value: *value }).collect(), places)
}

/// Sections of the config; other columns are measured, not chosen.
const SECTIONS: [&str; 7] = ["language.", "mixture.", "tokenizer.", "model.", "train.", "eval.", "seeds."];

/// The config keys that take more than one value in the runs that have begun, with their values in order.
pub(super) fn varied(runs: &[Run]) -> Vec<(String, Vec<String>)> {
    let runs: Vec<&Run> = runs.iter().filter(|run| run.begun()).collect();
    let keys: BTreeSet<&String> = runs.iter().flat_map(|run| run.columns.keys()).collect();
    let chosen = keys.into_iter().filter(|key| SECTIONS.iter().any(|section| key.starts_with(section)));
    let values = |key: &String| {
        let mut seen: Vec<&super::Value> = Vec::new();
        for value in runs.iter().filter_map(|run| run.columns.get(key)) {
            if !seen.contains(&value) {
                seen.push(value);
            }
        }
        seen.sort_by(|a, b| a.order(b));
        (key.clone(), seen.iter().map(|value| value.to_string()).collect::<Vec<_>>())
    };
    chosen.map(values).filter(|(_, values)| values.len() > 1).collect()
}
