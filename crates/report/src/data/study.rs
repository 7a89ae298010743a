//! A study as the figures see it: runs placed among seeds and levels.

use super::curves::{Key, Keys};
use super::factors::{self, Factor, Level};
use super::plan::Plan;
use super::run::Run;
use super::words::{Pair, Word};
use crate::stats::{Estimate, Seed, seeds};
use serde_json::{Map, Value as Json};
use std::collections::BTreeSet;
use std::path::PathBuf;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Study,
    Run,
}

#[derive(Debug, Clone)]
pub struct Study {
    pub name: String,
    pub folder: PathBuf,
    pub kind: Kind,
    /// Runs with anything measured or planned, in the order of their columns.
    pub runs: Vec<Run>,
    pub keys: Keys,
    /// The pairs of data seed and model seed that any run has measured or ended with, in order.
    pub seed_pairs: Vec<(f64, f64)>,
    /// The study's or the run's own file, as it is.
    pub config: Option<String>,
    pub words: Vec<Word>,
    /// How many masked words the folder holds; `words` may be an even sample of them.
    pub words_in_all: usize,
    pub pairs: Vec<Pair>,
    pub samples: Vec<Map<String, Json>>,
    /// What the reader should know about the data.
    pub notes: Vec<String>,
    /// How many runs the study's file asks for, where it says so plainly.
    pub planned: Option<usize>,
    levels: [Vec<Level>; 4],
    varied: Vec<(String, Vec<String>)>,
}

/// What was read, before runs are placed.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub runs: Vec<Run>,
    pub keys: Keys,
    pub config: Option<String>,
    pub words: Vec<Word>,
    pub words_in_all: usize,
    pub pairs: Vec<Pair>,
    pub samples: Vec<Map<String, Json>>,
    pub notes: Vec<String>,
}

impl Study {
    pub(super) fn new(name: String, folder: PathBuf, kind: Kind, plan: &Plan, mut parts: Parts) -> Self {
        let [data, model] = ["seeds.data", "seeds.model"].map(|column| distinct(&parts.runs, column));
        let place = |seeds: &[f64], seed: Option<f64>| {
            seed.and_then(|seed| seeds.iter().position(|other| *other == seed)).unwrap_or(0)
        };
        for run in &mut parts.runs {
            run.seed =
                Seed { data: place(&data, run.number("seeds.data")), model: place(&model, run.number("seeds.model")) };
        }
        let begun: BTreeSet<Seed> = parts.runs.iter().filter(|run| run.begun()).map(|run| run.seed).collect();
        let named = |seeds: &[f64], place: usize| seeds.get(place).copied().unwrap_or(0.0);
        let seed_pairs = begun.iter().map(|seed| (named(&data, seed.data), named(&model, seed.model))).collect();
        let mut levels: [Vec<Level>; 4] = Default::default();
        for (slot, factor) in Factor::ALL.into_iter().enumerate() {
            let (found, places) = factors::levels(factor, &parts.runs, plan);
            levels[slot] = found;
            for (run, place) in parts.runs.iter_mut().zip(places) {
                run.levels[slot] = place;
            }
        }
        Study {
            name,
            folder,
            kind,
            varied: factors::varied(&parts.runs),
            runs: parts.runs,
            keys: parts.keys,
            seed_pairs,
            config: parts.config,
            words: parts.words,
            words_in_all: parts.words_in_all,
            pairs: parts.pairs,
            samples: parts.samples,
            notes: parts.notes,
            planned: plan.runs(),
            levels,
        }
    }

    pub fn levels(&self, factor: Factor) -> &[Level] {
        &self.levels[factor as usize]
    }

    /// Config keys with more than one value, and the values.
    pub fn varied(&self) -> &[(String, Vec<String>)] {
        &self.varied
    }

    /// Varied keys beside the four factors and the seeds: figures pool over them, and say so.
    pub fn other_factors(&self) -> Vec<&str> {
        let known = |key: &str| key.starts_with("seeds.") || Factor::ALL.iter().any(|factor| factor.column() == key);
        self.varied.iter().map(|(key, _)| key.as_str()).filter(|key| !known(key)).collect()
    }

    pub fn key(&self, condition: &str, task: &str, metric: &str) -> Option<Key> {
        self.keys.find(condition, task, metric)
    }

    /// The runs at these levels.
    pub fn at<'a>(&'a self, cell: &'a [(Factor, usize)]) -> impl Iterator<Item = &'a Run> + 'a {
        self.runs
            .iter()
            .filter(move |run| cell.iter().all(|(factor, level)| run.levels[*factor as usize] == Some(*level)))
    }

    /// As [`Study::at`], but only runs that ended; a run folder read alone is taken as it stands.
    pub fn ended<'a>(&'a self, cell: &'a [(Factor, usize)]) -> impl Iterator<Item = &'a Run> + 'a {
        self.at(cell).filter(|run| run.done() || self.kind == Kind::Run)
    }

    /// The mean over runs of a value each may have, with its interval over seeds.
    pub fn mean<'a>(
        &self,
        runs: impl Iterator<Item = &'a Run>,
        value: impl Fn(&Run) -> Option<f64>,
    ) -> Option<Estimate> {
        let with = |run: &'a Run| value(run).filter(|value| value.is_finite()).map(|value| (run.seed, value));
        seeds::mean(runs.filter_map(with))
    }

    /// The mean curve of the runs, one estimate per step that any of them was evaluated at.
    pub fn mean_curve<'a>(&self, runs: impl Iterator<Item = &'a Run>, key: Option<Key>) -> Vec<(u32, Estimate)> {
        let mut points: Vec<(u32, Seed, f64)> = runs
            .flat_map(|run| run.curve(key).iter().map(|point| (point.step, run.seed, point.value)))
            .filter(|point| point.2.is_finite())
            .collect();
        points.sort_by_key(|point| point.0);
        let steps = points.chunk_by(|a, b| a.0 == b.0);
        steps.filter_map(|same| Some((same[0].0, seeds::mean(same.iter().map(|p| (p.1, p.2)))?))).collect()
    }

    /// The last step any run was evaluated at, or 1.
    pub fn last_step(&self) -> u32 {
        self.runs.iter().filter_map(|run| run.curves.last_step()).max().unwrap_or(1).max(1)
    }
}

fn distinct(runs: &[Run], column: &str) -> Vec<f64> {
    let mut values: Vec<f64> = runs.iter().filter_map(|run| run.number(column)).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}
