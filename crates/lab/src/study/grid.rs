//! From a study to its cells, in an order every prefix of which is a balanced study.
//!
//! Seeds are outermost: all combinations with the first pair of seeds, then with the next. Within them the factors
//! advance together along a diagonal, so that a study stopped early has seen every level about equally often. With
//! factors x, y of 3 levels: 00 11 22, 01 12 20, 02 10 21. Pairs of seeds are ordered the same way.

use super::file::{Factor, Study, lookup};
use crate::error::{Error, Result};
use crate::experiment::{Experiment, set};
use rayon::prelude::*;
use std::collections::HashSet;
use std::path::Path;
use toml::{Table, Value};

/// One run of a study.
#[derive(Debug, Clone)]
pub struct Cell {
    /// The hash of the complete config: the run's identity and the name of its folder.
    pub id: String,
    pub experiment: Experiment,
    /// Cells with equal keys may train as one population.
    pub population_key: String,
    /// What sets it apart in its study: each factor with its level.
    pub levels: Vec<(String, Value)>,
    pub data_seed: u64,
    pub model_seed: u64,
}

impl Cell {
    /// `tokenizer.vocab=512 language.distance=0.5 seeds 0/1`
    pub fn label(&self) -> String {
        let level = |(key, value): &(String, Value)| format!("{key}={} ", super::file::show(value));
        let levels: String = self.levels.iter().map(level).collect();
        format!("{levels}seeds {}/{}", self.data_seed, self.model_seed)
    }
}

/// The cells of a study, in the order they are to be run. `path` is named in errors.
pub fn cells(study: &Study, path: &Path) -> Result<Vec<Cell>> {
    let keys = study.factor_keys();
    let seed_pairs = diagonal(&[study.data_seeds.len(), study.model_seeds.len()]);
    let combinations = spread(study);
    let planned: Vec<(u64, u64, &Vec<(&Factor, usize)>)> = seed_pairs
        .iter()
        .flat_map(|pair| {
            let (data, model) = (study.data_seeds[pair[0]], study.model_seeds[pair[1]]);
            combinations.iter().map(move |combination| (data, model, combination))
        })
        .collect();
    let made: Vec<Option<Cell>> = planned
        .par_iter()
        .map(|&(data, model, combination)| cell(study, &keys, path, data, model, combination))
        .collect::<Result<_>>()?;
    let mut seen = HashSet::new();
    Ok(made.into_iter().flatten().filter(|cell| seen.insert(cell.id.clone())).collect())
}

/// The combinations of all grids, each grid spread over the whole length.
fn spread(study: &Study) -> Vec<Vec<(&Factor, usize)>> {
    let mut placed = Vec::new();
    for grid in &study.grids {
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

/// Every combination of levels once, along the diagonal: the digits of a counter, each shifted by the sum of the
/// faster ones before it. The map is triangular, so it stays one to one.
fn diagonal(sizes: &[usize]) -> Vec<Vec<usize>> {
    let count: usize = sizes.iter().product();
    (0..count)
        .map(|mut number| {
            let mut shift = 0;
            sizes
                .iter()
                .map(|&size| {
                    shift += number % size;
                    number /= size;
                    shift % size
                })
                .collect()
        })
        .collect()
}

fn cell(
    study: &Study,
    keys: &[&str],
    path: &Path,
    data_seed: u64,
    model_seed: u64,
    combination: &[(&Factor, usize)],
) -> Result<Option<Cell>> {
    let wrong = |why: String| Error::Study { path: path.to_owned(), why };
    let mut config = study.base.clone();
    for (factor, level) in combination {
        put(&mut config, &factor.key, factor.levels[*level].clone());
    }
    put(&mut config, "seeds.data", Value::Integer(data_seed as i64));
    put(&mut config, "seeds.model", Value::Integer(model_seed as i64));
    put(&mut config, "name", Value::String(study.name.clone()));
    for filter in &study.filters {
        let fault = |why| wrong(format!("the filter `{}` is wrong: {why}", filter.text()));
        if !filter.holds(&config).map_err(fault)? {
            return Ok(None);
        }
    }
    let levels = keys.iter().filter_map(|key| Some(((*key).to_owned(), lookup(&config, key)?.clone()))).collect();
    let experiment = Experiment::from_table(&config, &format!("a cell of the study `{}`", path.display()))?;
    Ok(Some(Cell {
        id: experiment.id(),
        population_key: experiment.population_key(),
        experiment,
        levels,
        data_seed,
        model_seed,
    }))
}

fn put(config: &mut Table, key: &str, value: Value) {
    let key: Vec<String> = key.split('.').map(str::to_owned).collect();
    set(config, &key, value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn worked_example() {
        let text: Vec<String> = diagonal(&[3, 3]).iter().map(|pair| format!("{}{}", pair[0], pair[1])).collect();
        assert_eq!(text.join(" "), "00 11 22 01 12 20 02 10 21");
    }

    proptest! {
        /// Every combination once, and in every prefix the levels of every factor are about equally frequent.
        #[test]
        fn every_prefix_is_balanced(sizes in prop::collection::vec(1usize..6, 1..5)) {
            let order = diagonal(&sizes);
            let distinct: HashSet<&Vec<usize>> = order.iter().collect();
            prop_assert_eq!(distinct.len(), sizes.iter().product::<usize>());
            for (factor, &size) in sizes.iter().enumerate() {
                let mut counts = vec![0usize; size];
                for (at, levels) in order.iter().enumerate() {
                    counts[levels[factor]] += 1;
                    let (low, high) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
                    // A lead grows by at most one with each digit of the counter, never with the length.
                    let slack = 1 + sizes.iter().sum::<usize>();
                    prop_assert!(high - low <= slack, "after {at}: {counts:?} of {sizes:?}");
                }
            }
        }
    }
}
