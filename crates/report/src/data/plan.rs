//! What a study set out to run, read from its `study.toml`: so that levels nobody has run yet are shown as missing,
//! and runs that other studies keep in the same store are left out.
//!
//! Only what the report needs is read: `[factors]` or `[[grids]]`, `[seeds]`, and the complete `[experiment]`.

use super::run::{Run, Value};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

/// A setting and the values it may take.
type Levels = BTreeMap<String, Vec<Value>>;

#[derive(Debug, Clone, Default)]
pub struct Plan {
    grids: Vec<Levels>,
    seeds: Levels,
    base: BTreeMap<String, Value>,
    filtered: bool,
}

impl Plan {
    /// An unreadable or older file gives an empty plan, which holds every run.
    pub fn parse(text: &str) -> Self {
        let Ok(table) = text.parse::<toml::Table>() else { return Self::default() };
        let Ok(Json::Object(file)) = serde_json::to_value(table) else { return Self::default() };
        let levels = |value: &Json| lists(value);
        let mut grids: Vec<Levels> = match file.get("grids") {
            Some(Json::Array(grids)) => grids.iter().map(levels).collect(),
            _ => file.get("factors").map(levels).into_iter().collect(),
        };
        grids.retain(|grid| !grid.is_empty());
        let mut base = BTreeMap::new();
        file.get("experiment")
            .inspect(|value| leaves("", value, &mut |key, leaf| drop(base.insert(key, leaf.clone()))));
        let base = base.into_iter().filter_map(|(key, leaf)| Some((key, value(&leaf)?))).collect();
        let seeds = file.get("seeds").map(levels).unwrap_or_default();
        let seeds = seeds.into_iter().map(|(key, values)| (format!("seeds.{key}"), values)).collect();
        Self { grids, seeds, base, filtered: file.contains_key("where") }
    }

    /// The levels planned for a setting.
    pub fn levels(&self, key: &str) -> impl Iterator<Item = &Value> {
        self.grids.iter().chain([&self.seeds]).filter_map(move |levels| levels.get(key)).flatten()
    }

    /// How many runs are planned, where the file says it without filters and with one grid.
    pub fn runs(&self) -> Option<usize> {
        let product = |levels: &Levels| levels.values().map(Vec::len).product::<usize>();
        match self.grids.as_slice() {
            [grid] if !self.filtered => Some(product(grid) * product(&self.seeds)),
            _ => None,
        }
    }

    /// Whether the run is one of this study's: its seeds and levels are in the plan, and all else is as in the base.
    pub fn holds(&self, run: &Run) -> bool {
        let fits = |levels: &Levels, key: &String| {
            levels.get(key).is_none_or(|levels| run.columns.get(key).is_none_or(|value| levels.contains(value)))
        };
        let seeded = self.seeds.keys().all(|key| fits(&self.seeds, key));
        let settled = |grid: &Levels| {
            let factors = grid.keys().all(|key| fits(grid, key));
            let rest = self.base.iter().filter(|(key, _)| !grid.contains_key(*key) && decides(key));
            factors && rest.into_iter().all(|(key, value)| run.columns.get(key).is_none_or(|own| own == value))
        };
        seeded && (self.grids.is_empty() || self.grids.iter().any(settled))
    }
}

/// Whether a setting decides what a run is; its name, its evaluation and its checkpoints do not.
fn decides(key: &str) -> bool {
    ["language.", "mixture.", "tokenizer.", "model.", "train."].iter().any(|section| key.starts_with(section))
}

/// Every list in the table, by its dotted key.
fn lists(table: &Json) -> Levels {
    let mut levels = Levels::new();
    leaves("", table, &mut |key, leaf| {
        let values = match leaf {
            Json::Array(values) => values.iter().filter_map(value).collect(),
            single => value(single).into_iter().collect(),
        };
        levels.insert(key, values);
    });
    levels
}

fn leaves(prefix: &str, value: &Json, each: &mut impl FnMut(String, &Json)) {
    let Json::Object(fields) = value else { return };
    let fields: &Map<String, Json> = fields;
    for (name, value) in fields {
        let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        if value.is_object() { leaves(&key, value, each) } else { each(key, value) }
    }
}

/// A setting as a run's column holds it.
pub(super) fn value(leaf: &Json) -> Option<Value> {
    match leaf {
        Json::Null | Json::Object(_) => None,
        Json::Bool(flag) => Some(Value::Text(flag.to_string())),
        Json::Number(number) => number.as_f64().map(Value::Number),
        Json::String(text) => Some(Value::Text(text.clone())),
        Json::Array(_) => Some(Value::Text(leaf.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "
        name = \"cognates\"
        [experiment.tokenizer]
        vocab = 2048
        kind = \"bpe\"
        [factors]
        tokenizer.vocab = [512, 1024]
        \"language.distance\" = [0.0, 0.5]
        [seeds]
        data = [0, 1]
        model = 0";

    fn run(columns: &[(&str, Value)]) -> Run {
        let columns = columns.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        Run { columns, ..Run::default() }
    }

    #[test]
    fn levels_and_membership() {
        let plan = Plan::parse(FILE);
        assert_eq!(plan.levels("tokenizer.vocab").count(), 2);
        assert_eq!(plan.levels("language.distance").count(), 2);
        assert_eq!(plan.runs(), Some(8));
        let number = Value::Number;
        let kind = |name: &str| ("tokenizer.kind", Value::Text(name.to_owned()));
        assert!(plan.holds(&run(&[("tokenizer.vocab", number(512.0)), ("seeds.data", number(1.0)), kind("bpe")])));
        assert!(!plan.holds(&run(&[("tokenizer.vocab", number(2048.0)), kind("bpe")])));
        assert!(!plan.holds(&run(&[("tokenizer.vocab", number(512.0)), ("seeds.data", number(2.0))])));
        assert!(!plan.holds(&run(&[("tokenizer.vocab", number(512.0)), kind("unigram")])));
        assert!(Plan::parse("nonsense =").holds(&run(&[])));
    }
}
