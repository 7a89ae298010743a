//! A study file: a base experiment, factors with their levels, seeds, and filters.
//!
//! ```toml
//! name = "cognates"
//! base = "quick"                        # a preset, or an experiment file beside this one
//! where = ["tokenizer.vocab < 1024 or mixture.lambda > 0.1"]
//! experiment = { train.steps = 2000 }   # laid over the base
//! [factors]                             # every combination of these
//! tokenizer.vocab = [512, 1024]
//! language.distance = [0.0, 0.5]
//! [seeds]
//! data = [0, 1]
//! model = [0]
//! ```
//! Several `[[grids]]` instead of `[factors]` are joined; a cell two of them name is one cell.

use super::filter::Filter;
use crate::error::{Error, Result};
use crate::experiment::{Experiment, PRESETS, Seeds, lay_over, leaves, parse_override, set, table_of};
use serde::{Deserialize, Serialize};
use std::path::Path;
use toml::{Table, Value};

/// One factor: a setting and the levels it takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Factor {
    pub key: String,
    pub levels: Vec<Value>,
}

/// A study as its file states it, the base experiment resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct Study {
    pub name: String,
    /// The complete experiment every cell starts from.
    pub base: Table,
    /// Each a full factorial; the study is their union.
    pub grids: Vec<Vec<Factor>>,
    pub data_seeds: Vec<u64>,
    pub model_seeds: Vec<u64>,
    pub filters: Vec<Filter>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base: Option<String>,
    #[serde(default, rename = "where", skip_serializing_if = "Vec::is_empty")]
    filters: Vec<String>,
    #[serde(default, skip_serializing_if = "Table::is_empty")]
    experiment: Table,
    #[serde(default, skip_serializing_if = "Table::is_empty")]
    factors: Table,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    grids: Vec<Table>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seeds: Option<SeedLists>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SeedLists {
    #[serde(default)]
    data: Seeds,
    #[serde(default)]
    model: Seeds,
}

impl Study {
    /// The study of a file, `overrides` (`key=value`) laid over its base.
    pub fn read(path: &Path, overrides: &[String]) -> Result<Study> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| Error::Study { path: path.to_owned(), why: format!("it cannot be read: {error}") })?;
        Study::parse(&text, path, overrides)
    }

    /// `path` is where the text stands: a relative base is looked for beside it, and errors name it.
    pub fn parse(text: &str, path: &Path, overrides: &[String]) -> Result<Study> {
        let wrong = |why: String| Error::Study { path: path.to_owned(), why };
        let file: File = toml::from_str(text).map_err(|error| wrong(one_sentence(text, &error)))?;
        let is_name = |char: char| char.is_ascii_alphanumeric() || char == '-' || char == '_';
        if file.name.is_empty() || !file.name.chars().all(is_name) {
            return Err(wrong(format!("the name `{}` must be letters, digits, - and _", file.name)));
        }
        let mut base = base_table(file.base.as_deref(), path)?;
        lay_over(&mut base, file.experiment);
        for given in overrides {
            let (key, value) = parse_override(given)?;
            let in_file = leaves(&file.factors).into_iter().chain(file.grids.iter().flat_map(leaves));
            if in_file.map(|(factor, _)| factor).any(|factor| factor == key.join(".")) {
                return Err(wrong(format!("`{given}` cannot be set: it is a factor of this study")));
            }
            set(&mut base, &key, value);
        }
        let base = Experiment::from_table(&base, &format!("the base of the study `{}`", path.display()))?;
        let (data_seeds, model_seeds) = match file.seeds {
            Some(seeds) => (seeds.data.0, seeds.model.0),
            None => (base.seeds.data.0.clone(), base.seeds.model.0.clone()),
        };
        for (key, seeds) in [("seeds.data", &data_seeds), ("seeds.model", &model_seeds)] {
            let distinct = seeds.iter().collect::<std::collections::BTreeSet<_>>().len();
            if seeds.is_empty() || distinct != seeds.len() {
                return Err(wrong(format!("{key} is {seeds:?}, but must be one or more different seeds")));
            }
        }
        if !file.factors.is_empty() && !file.grids.is_empty() {
            return Err(wrong("it has both [factors] and [[grids]]; put the factors into a grid of their own".into()));
        }
        let tables = if file.grids.is_empty() { vec![file.factors] } else { file.grids };
        let grids = tables.iter().map(|table| factors(table).map_err(wrong)).collect::<Result<_>>()?;
        let filter =
            |text: &String| Filter::parse(text).map_err(|why| wrong(format!("the filter `{text}` is wrong: {why}")));
        let filters = file.filters.iter().map(filter).collect::<Result<_>>()?;
        Ok(Study { name: file.name, base: table_of(&base), grids, data_seeds, model_seeds, filters })
    }

    /// The study as a file that needs no other: the base experiment complete, so that neither an edit of the base
    /// file nor a new default can change what the cells are.
    pub fn to_toml(&self) -> String {
        let grid = |factors: &Vec<Factor>| {
            factors.iter().map(|factor| (factor.key.clone(), Value::Array(factor.levels.clone()))).collect::<Table>()
        };
        let seeds = SeedLists { data: Seeds(self.data_seeds.clone()), model: Seeds(self.model_seeds.clone()) };
        let file = File {
            name: self.name.clone(),
            base: None,
            filters: self.filters.iter().map(|filter| filter.text().to_owned()).collect(),
            experiment: self.base.clone(),
            factors: Table::new(),
            grids: self.grids.iter().map(grid).collect(),
            seeds: Some(seeds),
        };
        toml::to_string(&file).expect("a study is plain data")
    }

    /// Every key that some factor varies, once.
    pub fn factor_keys(&self) -> Vec<&str> {
        let mut keys: Vec<&str> = Vec::new();
        for factor in self.grids.iter().flatten() {
            if !keys.contains(&factor.key.as_str()) {
                keys.push(&factor.key);
            }
        }
        keys
    }
}

fn base_table(base: Option<&str>, study: &Path) -> Result<Table> {
    let name = base.unwrap_or(PRESETS[0].0);
    if !name.ends_with(".toml") {
        return Ok(table_of(&Experiment::preset(name)?));
    }
    let path = study.parent().unwrap_or(Path::new(".")).join(name);
    Ok(table_of(&Experiment::load(None, Some(&path), &[])?))
}

/// The factors of a grid, whether written `"a.b" = [..]` or `a.b = [..]`.
fn factors(table: &Table) -> std::result::Result<Vec<Factor>, String> {
    leaves(table)
        .into_iter()
        .map(|(key, value)| match value {
            Value::Array(levels) if !levels.is_empty() => {
                let twice = levels.iter().enumerate().find(|(at, level)| levels[..*at].contains(level));
                match twice {
                    Some((_, level)) => Err(format!("the factor {key} has the level {} twice", show(level))),
                    None if key.starts_with("seeds.") => Err(format!("{key} is no factor; list it under [seeds]")),
                    None => Ok(Factor { key, levels }),
                }
            }
            other => Err(format!("the factor {key} is {}, but must be a list of levels", show(&other))),
        })
        .collect()
}

/// The value under a dotted key.
pub(super) fn lookup<'a>(table: &'a Table, key: &str) -> Option<&'a Value> {
    match key.split_once('.') {
        None => table.get(key),
        Some((section, rest)) => lookup(table.get(section)?.as_table()?, rest),
    }
}

/// A value as people write it: `0.5`, `balanced`, `[0, 1]`.
pub fn show(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What is wrong with a study's text, and with which line of it.
fn one_sentence(text: &str, error: &toml::de::Error) -> String {
    let why = error.message().lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let Some(before) = error.span().and_then(|span| text.get(..span.start)) else { return why };
    let at = before.matches('\n').count();
    format!("line {}, `{}`: {why}", at + 1, text.lines().nth(at).unwrap_or_default().trim())
}
