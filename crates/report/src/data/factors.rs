//! Factors of a study: the four of the paper by their names, any other setting that is varied by its key.

use invitro_results::{Plan, Run, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// A setting with levels to compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Factor {
    Vocab,
    Regime,
    Lambda,
    Distance,
    /// Any other setting, by its key.
    Other(&'static str),
}

/// Levels, each of another factor: the runs of a study that have them all.
pub type Cell = Vec<(Factor, usize)>;

/// The regimes of the paper, in its order.
pub const VANILLA: &str = "vanilla";
pub const BALANCED: &str = "balanced";

/// The setting of how long a run trains.
pub const TRAIN_STEPS: &str = "train.steps";

impl Factor {
    /// Those of the paper.
    pub const ALL: [Factor; 4] = [Factor::Vocab, Factor::Regime, Factor::Lambda, Factor::Distance];

    /// The factor of a setting.
    pub fn of(key: &str) -> Factor {
        // A factor is copied everywhere, so its key lives on; there are no more than a config has settings.
        static KEYS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
        if let Some(known) = Factor::ALL.into_iter().find(|factor| factor.key() == key) {
            return known;
        }
        let mut keys = KEYS.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = keys.get(key).copied().unwrap_or_else(|| Box::leak(key.into()));
        keys.insert(kept);
        Factor::Other(kept)
    }

    /// The setting.
    pub fn key(self) -> &'static str {
        match self {
            Factor::Vocab => "tokenizer.vocab",
            Factor::Regime => "tokenizer.regime",
            Factor::Lambda => "mixture.lambda",
            Factor::Distance => "language.distance",
            Factor::Other(key) => key,
        }
    }

    /// The paper's notation, `*` around what is italic; the last part of another setting's key.
    pub fn symbol(self) -> &'static str {
        match self {
            Factor::Vocab => "|*V*|",
            Factor::Regime => "regime",
            Factor::Lambda => "*λ*",
            Factor::Distance => "*d*",
            Factor::Other(key) => key.rsplit('.').next().unwrap_or(key),
        }
    }

    /// A name for file names, tables and controls.
    pub fn name(self) -> &'static str {
        match self {
            Factor::Vocab => "vocab",
            Factor::Regime => "regime",
            Factor::Lambda => "lambda",
            Factor::Distance => "d",
            Factor::Other(key) => key,
        }
    }
}

/// The paper's factors, then the other settings that were varied, seeds aside.
pub(super) fn factors(varied: &[(String, Vec<String>)]) -> Vec<Factor> {
    let others = varied.iter().map(|(key, _)| key.as_str()).filter(|key| is_other(key)).map(Factor::of);
    Factor::ALL.into_iter().chain(others).collect()
}

/// The levels that runs take or the plan names, in order: numbers by size; regimes as the paper has them, then by name.
pub(super) fn levels(factor: Factor, runs: &[Run], plan: Option<&Plan>) -> Vec<Value> {
    let planned = plan.iter().flat_map(|plan| plan.grids.iter().flatten()).filter(|it| it.key == factor.key());
    let planned = planned.flat_map(|it| it.levels.iter().map(Value::from));
    let taken = runs.iter().filter_map(|run| run.columns.get(factor.key()).cloned());
    let mut levels: Vec<Value> = taken.chain(planned).collect();
    let rank = |value: &Value| [VANILLA, BALANCED].iter().position(|name| value.to_string() == *name).unwrap_or(2);
    levels.sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| a.order(b)));
    levels.dedup();
    levels
}

/// Sections of the config; other columns are measured, not chosen.
const SECTIONS: [&str; 7] = ["language.", "mixture.", "tokenizer.", "model.", "train.", "eval.", "seeds."];

/// The settings that take more than one value in the runs that have begun, with their values in order.
pub(super) fn varied(runs: &[Run]) -> Vec<(String, Vec<String>)> {
    let mut values: BTreeMap<&String, Vec<&Value>> = BTreeMap::new();
    for (key, value) in runs.iter().filter(|run| run.begun()).flat_map(|run| &run.columns) {
        if SECTIONS.iter().any(|section| key.starts_with(section)) {
            let seen = values.entry(key).or_default();
            if !seen.contains(&value) {
                seen.push(value);
            }
        }
    }
    values.retain(|_, values| values.len() > 1);
    let in_order = |(key, mut values): (&String, Vec<&Value>)| {
        values.sort_by(|a, b| a.order(b));
        (key.clone(), values.iter().map(ToString::to_string).collect())
    };
    values.into_iter().map(in_order).collect()
}

/// Whether a setting is neither a factor nor a seed.
pub(super) fn is_other(key: &str) -> bool {
    !key.starts_with("seeds.") && Factor::ALL.iter().all(|factor| factor.key() != key)
}

/// Whether a tokenizer depends on the setting.
pub fn shapes_tokenizer(key: &str) -> bool {
    key.starts_with("language.") || key.starts_with("tokenizer.")
}

/// The distinct numbers of a column, in order.
pub(super) fn distinct(runs: &[Run], column: &str) -> Vec<f64> {
    let mut values: Vec<f64> = runs.iter().filter_map(|run| run.number(column)).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}
