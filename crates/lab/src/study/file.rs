//! A study file: its base experiment, resolved, and its cells. The format is [`Plan`]'s.

use crate::error::{Error, Result};
use crate::experiment::named_files::{keep, keep_all};
use crate::experiment::read::{lay_over, override_with, parse_override};
use crate::experiment::{Experiment, PRESETS};
use invitro_base::dotted::leaves;
use invitro_base::settings::names_file;
use invitro_results::{Plan, Varied};
use std::path::Path;
use toml::{Table, Value};

/// One run of a study.
#[derive(Debug, Clone)]
pub struct Cell {
    /// The identity of its experiment: the name of its run's folder.
    pub id: String,
    /// `tokenizer.vocab=512 language.distance=0.5 seeds 0/1`
    pub label: String,
    pub experiment: Experiment,
    /// Cells with equal keys may train as one population.
    pub population_key: String,
    pub data_seed: u64,
}

/// The plan of a file, `overrides` (`key=value`) laid over its base.
pub fn read(path: &Path, overrides: &[String]) -> Result<Plan> {
    let wrong = |why: String| Error::Study { path: path.to_owned(), why };
    let text =
        invitro_base::limits::read_text_file(path).map_err(|error| wrong(format!("it cannot be read: {error}")))?;
    parse(&text, path, overrides)
}

/// `path` is where the text stands: a relative base is looked for next to it, and errors name it.
pub fn parse(text: &str, path: &Path, overrides: &[String]) -> Result<Plan> {
    let overrides: Vec<(&String, String, Value)> = overrides
        .iter()
        .map(|given| parse_override(given).map(|(key, value)| (given, key, value)))
        .collect::<Result<_>>()?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut plan = Plan::parse(text, path, |base, mut over| {
        let mut table = base_table(base, path)?;
        keep_all(&mut over, folder)?;
        let origin = format!("the base of the study `{}`", path.display());
        lay_over(&mut table, over, &origin)?;
        for (given, key, value) in &overrides {
            override_with(&mut table, key, keep(key, value.clone(), Path::new(""))?, given)?;
        }
        let base = Experiment::from_table(&table, &origin)?;
        Ok::<Table, Error>(base.to_table())
    })?;
    for factor in plan.grids.iter_mut().flatten() {
        for level in &mut factor.levels {
            *level = keep(&factor.key, level.clone(), folder)?;
        }
    }
    let factors = plan.factor_keys();
    let base = Experiment::from_table(&plan.base, &format!("the base of the study `{}`", path.display()))?;
    // A setting of one arm is used where arms are a factor, though the base may be another.
    let in_arms = |key: &str| key.starts_with("tokenizer.share") && factors.contains(&"tokenizer.share");
    factors.iter().filter(|key| !in_arms(key)).try_for_each(|key| base.check_used(key))?;
    match overrides.iter().find(|(_, key, _)| factors.contains(&key.as_str())) {
        Some((given, ..)) => {
            let why = format!("`{given}` cannot be set: it is a factor of this study");
            Err(Error::Study { path: path.to_owned(), why })
        }
        None => Ok(plan),
    }
}

/// The files that the experiments of a plan name.
pub fn files(plan: &Plan) -> Vec<String> {
    let levels = |factor: &Varied| factor.levels.iter().map(|level| (factor.key.clone(), level.clone())).collect();
    let settings = leaves(&plan.base).into_iter().chain(plan.grids.iter().flatten().flat_map::<Vec<_>, _>(levels));
    let named = settings.filter(|(key, value)| names_file(key, value));
    named.filter_map(|(_, value)| value.as_str().map(str::to_owned)).collect()
}

fn base_table(base: Option<&str>, study: &Path) -> Result<Table> {
    let name = base.unwrap_or(PRESETS[0].0);
    if !name.ends_with(".toml") {
        return Ok(Experiment::preset(name)?.to_table());
    }
    let path = study.parent().unwrap_or(Path::new(".")).join(name);
    Ok(Experiment::load(None, Some(&path), &[])?.to_table())
}

/// The cells of a plan, in the order they are to be run. `path` is named in errors.
pub fn cells(plan: &Plan, path: &Path) -> Result<Vec<Cell>> {
    let origin = format!("a cell of the study `{}`", path.display());
    let wrong = |why: String| Error::Study { path: path.to_owned(), why };
    plan.map_cells(wrong, |cell| {
        let experiment = Experiment::from_table(&cell.config, &origin)?;
        let (label, population_key) = (cell.label(), experiment.population_key());
        Ok(Cell { id: cell.id, label, experiment, population_key, data_seed: cell.data_seed })
    })
}
