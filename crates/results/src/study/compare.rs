//! Groups of runs side by side: the settings in which they differ, and the main measures with their differences.
//!
//! Runs that differ in their seeds alone are one group; a single run is a group of one. Means have intervals over data seeds, as
//! everywhere, from [`SEEDS`] of them on. The difference of two groups is taken within seeds that both have, as claims do; where
//! they have fewer than [`SEEDS`] in common, it is that of two independent samples of data seeds.

use super::differing::Differing;
use super::grouping::{RunGroup, given_runs, groups};
use super::paired;
use crate::claims::SEEDS;
use crate::error::Result;
use crate::{
    Condition, Filter, FolderKind, Loss, Measure, Moment, Quantity, Results, Run, Scorer, Statistic, Study, Targets,
    TaskMetric,
};
use invitro_stats::{Estimate, Scale, Seed};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Groups of runs.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// All runs, placed among their seeds.
    pub study: Study,
    /// The folder of each run, or that of the tables it is a row of.
    pub paths: Vec<PathBuf>,
    /// The groups: in the order of the folders that were named, and of their settings in each.
    pub groups: Vec<RunGroup>,
    /// Settings that are not the same in all groups, with their value in each.
    pub differing: Vec<Differing>,
    /// What the reader should know about the data.
    pub notes: Vec<String>,
}

/// A measure that runs are compared by.
#[derive(Debug, Clone, Copy)]
pub struct ComparedMeasure {
    /// For people.
    pub name: &'static str,
    /// The same where there is little room.
    pub short: &'static str,
    /// What is measured, in every condition.
    pub measure: Measure,
    /// Whether more is better, so that its peak means something.
    pub rises: bool,
}

/// The measures that runs are compared by.
pub const COMPARED: [ComparedMeasure; 7] = [
    unscrambled("T1 grammatical", "grammatical", TaskMetric::Grammaticality),
    unscrambled("T1 types hold", "types hold", TaskMetric::Types),
    unscrambled("T1 facts hold", "facts hold", TaskMetric::Facts),
    unscrambled("T1 same words", "same words", TaskMetric::SameWords),
    ComparedMeasure {
        name: "reachable share",
        short: "reachable",
        measure: Measure::reach(Scorer::Network, Targets::Allowed, Statistic::Share),
        rises: true,
    },
    ComparedMeasure { name: "contrast of facts, nats", short: "facts, nats", measure: Measure::KNOWLEDGE, rises: true },
    ComparedMeasure {
        name: "bits per character",
        short: "bits/char.",
        measure: Measure::Loss(Loss::BitsPerChar),
        rises: false,
    },
];

/// A share of the answers to T1.
const fn unscrambled(name: &'static str, short: &'static str, metric: TaskMetric) -> ComparedMeasure {
    ComparedMeasure { name, short, measure: Measure::unscrambling(metric), rises: true }
}

impl Comparison {
    /// Reads the runs at or below these folders: runs, folders of runs, and studies. A run that is named itself is taken as it
    /// stands; of others, only those that are done. Of all these, the filter decides which. Results of different schemas are not put beside each other.
    pub fn read(folders: &[PathBuf], filter: &Filter) -> Result<Comparison> {
        let (given, notes) = given_runs(folders, filter)?;
        let (groups, differing) = groups(&given, folders);
        let (runs, paths): (Vec<Run>, Vec<PathBuf>) = given.into_iter().map(|one| (one.run, one.path)).unzip();
        let name = groups.iter().map(|group| group.name.as_str()).collect::<Vec<_>>().join(" · ");
        let study = Study::new(Results { runs, ..Results::new(name, Path::new(""), FolderKind::Study) });
        Ok(Comparison { study, paths, groups, differing, notes })
    }

    /// The runs of a group.
    pub fn runs<'a>(&'a self, group: &'a RunGroup) -> impl Iterator<Item = &'a Run> + 'a {
        group.runs.iter().map(|place| &self.study.runs[*place])
    }

    /// How many data seeds a group has.
    pub fn data_seeds(&self, group: &RunGroup) -> usize {
        self.runs(group).map(|run| run.seed.data).collect::<BTreeSet<_>>().len()
    }

    /// Every measure that any run has, in a condition.
    pub fn measured(&self) -> Vec<(ComparedMeasure, Condition)> {
        let all = COMPARED.into_iter().flat_map(|it| self.study.conditions().iter().map(move |in_| (it, in_.clone())));
        let has = |(compared, condition): &(ComparedMeasure, Condition)| {
            let quantity = Quantity::in_condition(compared.measure, condition);
            self.study.runs.iter().any(|run| !run.curve(&quantity).is_empty())
        };
        all.filter(has).collect()
    }

    /// The mean of a measure over a group, with its interval from [`SEEDS`] data seeds on.
    pub fn mean(&self, group: &RunGroup, quantity: &Quantity, moment: Moment) -> Option<Estimate> {
        self.study.read(self.runs(group), quantity, moment).map(with_enough_seeds)
    }

    /// How much more a group has than another, with its interval where both have [`SEEDS`] data seeds.
    pub fn difference(
        &self,
        group: &RunGroup,
        from: &RunGroup,
        quantity: &Quantity,
        moment: Moment,
    ) -> Option<Estimate> {
        let [first, second] = [from, group].map(|group| {
            let value = |run: &Run| run.curve(quantity).at(moment).filter(|value| value.is_finite());
            self.runs(group).filter_map(|run| Some((run.seed, value(run)?))).collect::<Vec<(Seed, f64)>>()
        });
        let scale = if quantity.measure.scale() == Scale::Share { Scale::Signed } else { Scale::Plain };
        let estimate = paired::difference(scale, &first, &second)?;
        let is_enough = [&first, &second].into_iter().all(|rows| paired::data_seeds(rows) >= SEEDS);
        Some(if is_enough { with_enough_seeds(estimate) } else { without_interval(estimate) })
    }

    /// The data seeds within which the differences of two groups are taken, since both have them; `None` where differences are
    /// those of independent samples.
    pub fn shared_seeds(&self, group: &RunGroup, from: &RunGroup) -> Option<usize> {
        let rows = |group| self.runs(group).map(|run| (run.seed, 0.0)).collect::<Vec<_>>();
        paired::shared(&rows(from), &rows(group))
    }
}

fn without_interval(estimate: Estimate) -> Estimate {
    Estimate { interval: None, of_two: None, spread: None, ..estimate }
}

/// No interval is given on fewer data seeds than claims need.
fn with_enough_seeds(estimate: Estimate) -> Estimate {
    if estimate.data_seeds < SEEDS { without_interval(estimate) } else { Estimate { of_two: None, ..estimate } }
}
