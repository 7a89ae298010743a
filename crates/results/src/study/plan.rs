//! The plan of a study: a complete base experiment, factors with their levels, seeds, filters; and its cells.
//!
//! ```toml
//! name = "cognates"
//! question = "…"                        # and claims: see [`crate::claims`]
//! base = "quick"                        # a preset, or an experiment file beside this one
//! experiment = { train.steps = 2000 }   # laid over the base
//! [factors]                             # every combination of these
//! tokenizer.vocab = [512, 1024]
//! language.distance = [0.0, 0.5]
//! [[where]]                             # of which these are kept
//! tokenizer.vocab = { below = 1024 }
//! [seeds]
//! data = [0, 1]
//! model = [0]
//! [until]                               # where it plans itself: see [`Until`]
//! seeds = [0, 1, 2, 3, 4, 5]
//! ```
//! Several `[[grids]]` instead of `[factors]` are joined; a cell two of them name is one cell. In a study's folder
//! `study.toml` has no base, and its experiment is complete.

use crate::Factor;
use crate::claims::{ClaimError, Claims};
use crate::error::{Error, Result};
use crate::identity::identity;
use crate::run::Value as Level;
use crate::study::as_in_runs;
use crate::study::diagonal::diagonal;
use crate::study::filter::Filter;
use invitro_base::dotted::{LIST, assign, leaves, lookup, set, show};
use invitro_base::limits;
use invitro_base::settings::Seeds;
use invitro_stats::sequential::LOOKS;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use toml::{Table, Value};

/// A setting that the plan varies, and the levels it takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Varied {
    /// The setting's dotted key.
    pub key: String,
    /// Its levels, in the file's order.
    pub levels: Vec<Value>,
}

/// A study as its file states it, the base experiment resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// A label.
    pub name: String,
    /// The complete experiment every cell starts from.
    pub base: Table,
    /// Each a full factorial; the study is their union.
    pub grids: Vec<Vec<Varied>>,
    /// Data seeds.
    pub data_seeds: Vec<u64>,
    /// Model seeds, each with every data seed.
    pub model_seeds: Vec<u64>,
    /// Which cells are kept.
    pub filter: Filter,
    /// Its question and its claims, as its file states them.
    pub claims: Table,
    /// Of a study that plans itself: which data seeds it may take, and when it stops.
    pub until: Option<Until>,
}

/// The rule of a study that plans itself: it takes one data seed after the other, until every primary claim is settled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Until {
    /// The data seeds it may take, in this order; the plan's are those it has taken.
    pub seeds: Vec<u64>,
    /// A claim is settled by an interval this narrow, too: half of its width.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_width: Option<f64>,
}

/// Whether there are few enough cells to be made.
fn check_size(grids: &[Vec<Varied>], seeds: usize) -> std::result::Result<(), String> {
    let levels = |factor: &Varied| factor.levels.len() as f64;
    let cells = seeds as f64 * grids.iter().map(|grid| grid.iter().map(levels).product::<f64>()).sum::<f64>();
    match cells > limits::CELLS as f64 {
        true => Err(format!("it has {cells:.0} cells; a study may have at most {}", limits::CELLS)),
        false => Ok(()),
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    question: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    claims_from: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    primary: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base: Option<String>,
    #[serde(default, rename = "where", skip_serializing_if = "Filter::is_empty")]
    filter: Filter,
    #[serde(default, skip_serializing_if = "Table::is_empty")]
    experiment: Table,
    #[serde(default, skip_serializing_if = "Table::is_empty")]
    factors: Table,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    grids: Vec<Table>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seeds: Option<SeedLists>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<Until>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    claims: Vec<Table>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SeedLists {
    #[serde(default)]
    data: Seeds,
    #[serde(default)]
    model: Seeds,
}

impl Plan {
    /// The plan in a study's folder; `None` where there is none.
    pub fn open(folder: &Path) -> Result<Option<Plan>> {
        let path = folder.join(crate::folder::STUDY);
        let text = crate::folder::read_study(folder)?;
        text.map(|text| Plan::parse(&text, &path, |_, experiment| Ok(experiment))).transpose()
    }

    /// The plan of a file's text. `path` is where it stands, for errors; `complete` makes the whole base experiment of
    /// the named base and of what is laid over it.
    pub fn parse<E: From<Error>>(
        text: &str,
        path: &Path,
        complete: impl FnOnce(Option<&str>, Table) -> std::result::Result<Table, E>,
    ) -> std::result::Result<Plan, E> {
        let wrong = |why: String| E::from(Error::Study { path: path.to_owned(), why });
        let file: File = toml::from_str(text).map_err(|error| wrong(one_sentence(text, &error)))?;
        let is_name = |char: char| char.is_ascii_alphanumeric() || char == '-' || char == '_';
        if file.name.is_empty() || !file.name.chars().all(is_name) {
            return Err(wrong(format!("the name `{}` must be letters, digits, - and _", file.name)));
        }
        if !file.factors.is_empty() && !file.grids.is_empty() {
            return Err(wrong("it has both [factors] and [[grids]]; put the factors into a grid of their own".into()));
        }
        let base = complete(file.base.as_deref(), file.experiment)?;
        let from_base = |key: &str| lookup(&base, key).cloned().and_then(|value| value.try_into().ok());
        let seeds = file.seeds.unwrap_or_else(|| SeedLists {
            data: from_base("seeds.data").unwrap_or_default(),
            model: from_base("seeds.model").unwrap_or_default(),
        });
        for (name, seeds) in [("data", &seeds.data), ("model", &seeds.model)] {
            if !seeds.are_distinct() {
                return Err(wrong(format!("seeds.{name} is {:?}, but must be one or more different seeds", seeds.0)));
            }
        }
        let tables = if file.grids.is_empty() { vec![file.factors] } else { file.grids };
        let grids: Vec<Vec<Varied>> =
            tables.iter().map(|table| factors(table).map_err(wrong)).collect::<std::result::Result<_, E>>()?;
        let (data_seeds, model_seeds) = (seeds.data.0, seeds.model.0);
        let most = file.until.as_ref().map_or(0, |until| until.seeds.len()).max(data_seeds.len());
        check_size(&grids, most * model_seeds.len()).map_err(wrong)?;
        let claims = claims_table(file.question, file.claims_from, file.primary, file.claims);
        let (name, filter, until) = (file.name, file.filter, file.until);
        let plan = Plan { name, base, grids, data_seeds, model_seeds, filter, claims, until };
        plan.check_claims().map_err(|error| wrong(error.to_string()))?;
        plan.check_until().map_err(wrong)?;
        Ok(plan)
    }

    /// Its question and its claims; `None` where it states neither.
    pub fn claims(&self) -> Option<Claims> {
        (!self.claims.is_empty()).then(|| Claims::from_table(self.claims.clone()).expect("checked when it was parsed"))
    }

    /// The same, where any of them is primary.
    pub fn primary_claims(&self) -> Option<Claims> {
        self.claims().filter(|claims| claims.claims.iter().any(|claim| claim.primary))
    }

    /// Whether its claims can be read, and its own are about settings and levels that it has.
    fn check_claims(&self) -> std::result::Result<(), ClaimError> {
        Claims::from_table(self.claims.clone())?;
        let own = Claims::from_table(self.claims.iter().filter(|(key, _)| *key == "claims").map(copied).collect());
        // What others decide may be in another file; it was checked above.
        let Ok(own) = own else { return Ok(()) };
        let mut levels: BTreeMap<String, Vec<Level>> =
            leaves(&self.base).into_iter().map(|(key, value)| (key, vec![Level::from(&value)])).collect();
        for varied in self.grids.iter().flatten() {
            levels.entry(varied.key.clone()).or_default().extend(varied.levels.iter().map(Level::from));
        }
        // A share of pieces drawn at random is an arm of its own.
        for (key, own) in levels.clone() {
            let (arm, own) = as_in_runs(Factor::new(&key), own);
            let with_shares = levels.get_mut(arm.key()).filter(|_| arm.key() != key);
            with_shares.into_iter().for_each(|levels| levels.extend(own.iter().cloned()));
        }
        own.check_settings(&levels)
    }

    /// The plan as a file that needs no other: the base experiment complete, so that neither an edit of the base file
    /// nor a new default can change what the cells are.
    pub fn to_toml(&self) -> String {
        let grid = |factors: &Vec<Varied>| {
            factors.iter().map(|factor| (factor.key.clone(), Value::Array(factor.levels.clone()))).collect::<Table>()
        };
        let seeds = SeedLists { data: Seeds(self.data_seeds.clone()), model: Seeds(self.model_seeds.clone()) };
        let claim_key = |key: &str| self.claims.get(key).cloned();
        let texts = |key: &str| claim_key(key).and_then(|value| value.try_into().ok()).unwrap_or_default();
        let file = File {
            name: self.name.clone(),
            question: claim_key("question").and_then(|value| value.try_into().ok()),
            claims_from: texts("claims_from"),
            primary: texts("primary"),
            claims: claim_key("claims").and_then(|value| value.try_into().ok()).unwrap_or_default(),
            base: None,
            filter: self.filter.clone(),
            experiment: self.base.clone(),
            factors: Table::new(),
            grids: self.grids.iter().map(grid).collect(),
            seeds: Some(seeds),
            until: self.until.clone(),
        };
        toml::to_string(&file).expect("a study is plain data")
    }

    /// The study as it plans itself: it begins with the first of its data seeds, as many as a look needs, and may take
    /// others up to `most`. Those that its file does not name follow the largest that it does.
    pub fn planning_itself(self, most: usize, half_width: Option<f64>) -> std::result::Result<Plan, String> {
        let further = self.data_seeds.iter().max().map_or(0, |largest| largest + 1)..;
        let seeds: Vec<u64> = self.data_seeds.iter().copied().chain(further).take(most).collect();
        let begun = seeds.iter().copied().take(*LOOKS.start()).collect();
        check_size(&self.grids, seeds.len() * self.model_seeds.len())?;
        let plan = Plan { data_seeds: begun, until: Some(Until { seeds, half_width }), ..self };
        plan.check_until().map(|()| plan)
    }

    /// The study with one more data seed; `None` where it may take no more.
    pub fn with_next_seed(&self) -> Option<Plan> {
        let next = *self.until.as_ref()?.seeds.get(self.data_seeds.len())?;
        let data_seeds = self.data_seeds.iter().copied().chain([next]).collect();
        Some(Plan { data_seeds, ..self.clone() })
    }

    /// Whether this is the same study as another, which plans itself and has taken as many data seeds or fewer.
    pub fn continues(&self, other: &Plan) -> bool {
        let is_further = self.until.is_some() && self.data_seeds.starts_with(&other.data_seeds);
        is_further && Plan { data_seeds: other.data_seeds.clone(), ..self.clone() } == *other
    }

    fn check_until(&self) -> std::result::Result<(), String> {
        let Some(until) = &self.until else { return Ok(()) };
        let (fewest, most, taken) = (*LOOKS.start(), *LOOKS.end(), until.seeds.len());
        if !(fewest..=most).contains(&taken) {
            return Err(format!(
                "a study that plans itself may take {fewest} to {most} data seeds, but `until` has {taken}"
            ));
        }
        if !Seeds(until.seeds.clone()).are_distinct() || !until.seeds.starts_with(&self.data_seeds) {
            return Err(format!(
                "until.seeds is {:?}, but must be different seeds that begin with seeds.data, {:?}",
                until.seeds, self.data_seeds
            ));
        }
        if until.half_width.is_some_and(|half_width| !(half_width.is_finite() && half_width > 0.0)) {
            return Err("until.half_width must be above 0".into());
        }
        if self.primary_claims().is_none() {
            return Err("it cannot plan itself: it names no primary claims (`primary = [\"ID\", …]`)".into());
        }
        Ok(())
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

    /// The cells, in an order whose every prefix is a balanced study.
    ///
    /// Seeds are outermost: all combinations with the first pair of seeds, then with the next. Within them the factors
    /// advance together along a diagonal, so that a study stopped early has seen every level about equally often. With
    /// factors x, y of 3 levels: 00 11 22, 01 12 20, 02 10 21. Pairs of seeds are ordered the same way.
    pub fn cells(&self) -> std::result::Result<Vec<PlannedRun>, String> {
        self.map_cells(|why| why, Ok)
    }

    /// How many cells there are.
    pub fn count(&self) -> std::result::Result<usize, String> {
        if let ([data, _, ..], [model, ..], true) =
            (&self.data_seeds[..], &self.model_seeds[..], self.filter.is_empty())
        {
            // As many with each pair of seeds.
            let one = Plan { data_seeds: vec![*data], model_seeds: vec![*model], ..self.clone() };
            return Ok(one.count()? * self.data_seeds.len() * self.model_seeds.len());
        }
        self.map_cells(|why| why, |_| Ok(())).map(|cells| cells.len())
    }

    /// What `make` makes of each cell, in the same order; `wrong` makes the error of a filter that cannot be applied.
    pub fn map_cells<T: Send, E: Send>(
        &self,
        wrong: impl Fn(String) -> E + Sync,
        make: impl Fn(PlannedRun) -> std::result::Result<T, E> + Sync,
    ) -> std::result::Result<Vec<T>, E> {
        let combinations = self.combinations();
        let seeds = diagonal(&[self.data_seeds.len(), self.model_seeds.len()]);
        let planned: Vec<(u64, u64, &Vec<(&Varied, usize)>)> = seeds
            .iter()
            .flat_map(|pair| {
                let (data, model) = (self.data_seeds[pair[0]], self.model_seeds[pair[1]]);
                combinations.iter().map(move |combination| (data, model, combination))
            })
            .collect();
        let keys = self.factor_keys();
        let made: Vec<Option<(String, T)>> = planned
            .par_iter()
            .map(|&(data, model, combination)| {
                let cell = self.cell(&keys, data, model, combination).map_err(&wrong)?;
                cell.map(|cell| Ok((cell.id.clone(), make(cell)?))).transpose()
            })
            .collect::<std::result::Result<_, E>>()?;
        let mut seen = HashSet::new();
        Ok(made.into_iter().flatten().filter(|(id, _)| seen.insert(id.clone())).map(|(_, made)| made).collect())
    }

    /// The combinations of all grids, each grid spread over the whole length.
    fn combinations(&self) -> Vec<Vec<(&Varied, usize)>> {
        let mut placed = Vec::new();
        for grid in &self.grids {
            let sizes: Vec<usize> = grid.iter().map(|factor| factor.levels.len()).collect();
            let order = diagonal(&sizes);
            let length = order.len() as f64;
            for (at, levels) in order.into_iter().enumerate() {
                placed.push((at as f64 / length, grid.iter().zip(levels).collect()));
            }
        }
        placed.sort_by(|a: &(f64, _), b| a.0.total_cmp(&b.0));
        placed.into_iter().map(|(_, combination)| combination).collect()
    }

    fn cell(
        &self,
        keys: &[&str],
        data_seed: u64,
        model_seed: u64,
        combination: &[(&Varied, usize)],
    ) -> std::result::Result<Option<PlannedRun>, String> {
        let mut config = self.base.clone();
        for (factor, level) in combination {
            assign(&mut config, &factor.key, factor.levels[*level].clone())?;
        }
        set(&mut config, "seeds.data", Value::Integer(data_seed as i64));
        set(&mut config, "seeds.model", Value::Integer(model_seed as i64));
        set(&mut config, "name", Value::String(self.name.clone()));
        if !self.filter.holds(&config)? {
            return Ok(None);
        }
        let levels = keys.iter().filter_map(|key| Some(((*key).to_owned(), lookup(&config, key)?.clone()))).collect();
        Ok(Some(PlannedRun { id: identity(&config), config, levels, data_seed, model_seed }))
    }
}

/// One planned run.
#[derive(Debug, Clone)]
pub struct PlannedRun {
    /// The identity of its experiment: the name of its run's folder.
    pub id: String,
    /// The complete experiment.
    pub config: Table,
    /// What sets it apart in its study: each factor with its level.
    pub levels: Vec<(String, Value)>,
    /// Its data seed.
    pub data_seed: u64,
    /// Its model seed.
    pub model_seed: u64,
}

impl PlannedRun {
    /// `tokenizer.vocab=512 language.distance=0.5 seeds 0/1`
    pub fn label(&self) -> String {
        let level = |(key, value): &(String, Value)| format!("{key}={} ", show(value));
        let levels: String = self.levels.iter().map(level).collect();
        format!("{levels}seeds {}/{}", self.data_seed, self.model_seed)
    }
}

fn copied((key, value): (&String, &Value)) -> (String, Value) {
    (key.clone(), value.clone())
}

/// The keys of a file that claims are made of, without those that are not there.
fn claims_table(question: Option<String>, from: Vec<String>, primary: Vec<String>, claims: Vec<Table>) -> Table {
    let list = |texts: Vec<String>| Value::Array(texts.into_iter().map(Value::String).collect());
    let own = Value::Array(claims.into_iter().map(Value::Table).collect());
    let lists = [("claims_from", list(from)), ("primary", list(primary)), ("claims", own)];
    let lists = lists.into_iter().filter(|(_, value)| value.as_array().is_some_and(|list| !list.is_empty()));
    let question = question.map(|question| ("question", Value::String(question)));
    question.into_iter().chain(lists).map(|(key, value)| (key.to_owned(), value)).collect()
}

/// The factors of a grid, whether written `"a.b" = [..]` or `a.b = [..]`.
fn factors(table: &Table) -> std::result::Result<Vec<Varied>, String> {
    leaves(table)
        .into_iter()
        .map(|(key, value)| match value {
            Value::Array(levels) if !levels.is_empty() => {
                let twice = levels.iter().enumerate().find(|(at, level)| levels[..*at].contains(level));
                match twice {
                    Some((_, level)) => Err(format!("the factor {key} has the level {} twice", show(level))),
                    None if key == LIST => Err(format!(
                        "{key} is no factor; vary a setting of one of its languages, as in {key}.B.distance"
                    )),
                    None if key.starts_with("seeds.") => Err(format!("{key} is no factor; list it under [seeds]")),
                    None => Ok(Varied { key, levels }),
                }
            }
            other => Err(format!("the factor {key} is {}, but must be a list of levels", show(&other))),
        })
        .collect()
}

/// An error in a study's text, with its line.
fn one_sentence(text: &str, error: &toml::de::Error) -> String {
    let why = error.message().lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let Some(before) = error.span().and_then(|span| text.get(..span.start)) else { return why };
    let at = before.matches('\n').count();
    format!("line {}, `{}`: {why}", at + 1, text.lines().nth(at).unwrap_or_default().trim())
}
