//! A study as the figures see it: its conditions, its runs placed among seeds and levels, means over them.

use super::factors::{self, Factor};
use crate::stats::{Estimate, Seed, seeds};
use invitro_results::words::{Pair, Sample, Word};
use invitro_results::{Condition, Kind, Quantity, Results, column};
use std::collections::BTreeSet;
use std::ops::Deref;

/// A run of a study.
#[derive(Debug, Clone)]
pub struct Run {
    run: invitro_results::Run,
    /// Its place among the study's seeds.
    pub seed: Seed,
    /// Its place among the levels of each factor, in the order of `Factor::ALL`.
    pub levels: [Option<usize>; 4],
}

impl Deref for Run {
    type Target = invitro_results::Run;

    fn deref(&self) -> &invitro_results::Run {
        &self.run
    }
}

/// All that is known of a study, or of a run that is read alone.
#[derive(Debug, Clone)]
pub struct Study {
    pub name: String,
    pub kind: Kind,
    /// Runs with anything measured or planned.
    pub runs: Vec<Run>,
    /// The pairs of data seed and model seed that any run has measured or ended with, in order.
    pub seed_pairs: Vec<(f64, f64)>,
    /// How many runs the study's plan has, where there is one.
    pub planned: Option<usize>,
    /// The study's or the run's own file, as it is.
    pub config: Option<String>,
    /// Masked words, each with its run's place.
    pub words: Vec<(usize, Word)>,
    /// How many masked words the folder holds; `words` may be an even sample of them.
    pub words_in_all: usize,
    pub pairs: Vec<Pair>,
    pub samples: Vec<Sample>,
    /// What the reader should know about the data.
    pub notes: Vec<String>,
    conditions: Vec<Condition>,
    levels: [Vec<String>; 4],
    varied: Vec<(String, Vec<String>)>,
}

impl Study {
    /// Places the runs of results.
    pub fn new(results: Results) -> Study {
        let Results { name, kind, runs, plan, config, words, words_in_all, pairs, samples, notes, .. } = results;
        let [data, model] =
            [column::DATA_SEED, column::MODEL_SEED].map(|column| (column, factors::distinct(&runs, column)));
        let levels = Factor::ALL.map(|factor| factors::levels(factor, &runs, plan.as_ref()));
        let (varied, conditions) = (factors::varied(&runs), conditions(&runs));
        let place = |run: invitro_results::Run| {
            let among = |(column, seeds): &(&str, Vec<f64>)| {
                run.number(column).and_then(|seed| seeds.iter().position(|other| *other == seed)).unwrap_or(0)
            };
            let seed = Seed { data: among(&data), model: among(&model) };
            let levels = Factor::ALL.map(|factor| {
                let own = run.columns.get(factor.key())?;
                levels[factor as usize].iter().position(|level| level == own)
            });
            Run { run, seed, levels }
        };
        let runs: Vec<Run> = runs.into_iter().map(place).collect();
        let begun: BTreeSet<Seed> = runs.iter().filter(|run| run.begun()).map(|run| run.seed).collect();
        let named = |seeds: &[f64], place: usize| seeds.get(place).copied().unwrap_or(0.0);
        Study {
            name,
            kind,
            seed_pairs: begun.iter().map(|seed| (named(&data.1, seed.data), named(&model.1, seed.model))).collect(),
            planned: plan.as_ref().and_then(|plan| plan.count().ok()),
            runs,
            config,
            words,
            words_in_all,
            pairs,
            samples,
            notes,
            conditions,
            levels: levels.map(|levels| levels.iter().map(ToString::to_string).collect()),
            varied,
        }
    }

    /// The conditions of its runs: languages first, then masked ones, each in the order of their names.
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// The conditions whose words were masked in training: what masked transfer is about.
    pub fn masked(&self) -> impl Iterator<Item = &Condition> {
        self.conditions.iter().filter(|condition| condition.masked)
    }

    /// The labels of a factor's levels.
    pub fn levels(&self, factor: Factor) -> &[String] {
        &self.levels[factor as usize]
    }

    /// The label of a run's level, empty where it has none.
    pub fn level(&self, run: &Run, factor: Factor) -> &str {
        run.levels[factor as usize].map_or("", |place| &self.levels(factor)[place])
    }

    /// Settings with more than one value, and the values.
    pub fn varied(&self) -> &[(String, Vec<String>)] {
        &self.varied
    }

    /// Varied settings beside the four factors and the seeds: figures pool over them, and say so.
    pub fn other_factors(&self) -> Vec<&str> {
        self.varied.iter().map(|(key, _)| key.as_str()).filter(|key| factors::is_other(key)).collect()
    }

    /// The runs at these levels.
    pub fn at<'a>(&'a self, cell: &'a [(Factor, usize)]) -> impl Iterator<Item = &'a Run> + 'a {
        let within = |run: &Run| cell.iter().all(|(factor, level)| run.levels[*factor as usize] == Some(*level));
        self.runs.iter().filter(move |run| within(run))
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
    pub fn mean_curve<'a>(&self, runs: impl Iterator<Item = &'a Run>, quantity: &Quantity) -> Vec<(u32, Estimate)> {
        let mut points: Vec<(u32, Seed, f64)> = runs
            .flat_map(|run| run.curve(quantity).points().iter().map(|point| (point.step, run.seed, point.value)))
            .filter(|point| point.2.is_finite())
            .collect();
        points.sort_by_key(|point| point.0);
        let steps = points.chunk_by(|a, b| a.0 == b.0);
        steps.filter_map(|same| Some((same[0].0, seeds::mean(same.iter().map(|p| (p.1, p.2)))?))).collect()
    }

    /// The last step any run was evaluated at, or 1.
    pub fn last_step(&self) -> u32 {
        self.runs.iter().filter_map(|run| run.last_step()).max().unwrap_or(1).max(1)
    }

    /// The threshold of emergence that all its experiments set; `None` where they differ.
    pub fn emergence_threshold(&self) -> Option<f64> {
        let mut thresholds = self.runs.iter().map(|run| run.emergence_threshold());
        let first = thresholds.next().unwrap_or_else(|| invitro_results::Run::default().emergence_threshold());
        thresholds.all(|other| other == first).then_some(first)
    }
}

/// Every condition that a curve or a column of any run is of.
fn conditions(runs: &[invitro_results::Run]) -> Vec<Condition> {
    let curves = runs.iter().flat_map(|run| run.curves.keys()).filter_map(|quantity| quantity.condition.clone());
    let columns: BTreeSet<&String> = runs.iter().flat_map(|run| run.columns.keys()).collect();
    let columns = columns.into_iter().filter_map(|name| name.parse::<Quantity>().ok()?.condition);
    let mut found: Vec<Condition> = curves.chain(columns).collect::<BTreeSet<_>>().into_iter().collect();
    found.sort_by_key(|condition| condition.masked);
    found
}
