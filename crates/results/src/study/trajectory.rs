//! What a measure does over training in several runs: where it peaks, where it ends, and whether it fades in between.
//!
//! The largest of many noisy values lies above the last one even where nothing changes, so a run's own decline says little.
//! So each data seed's runs are read at the step where those of the *others* peak: what they have there is *before* the
//! decline, and the decline is that less the end. Where nothing changes, it is no more than the end on average.

use crate::{Curve, Moment};
use invitro_stats::Estimate;
use invitro_stats::seeds::{self, Scale, Seed};
use std::collections::{BTreeMap, BTreeSet};

/// One measure over runs before its decline, at the end, and the decline: the first less the second.
#[derive(Debug, Clone, PartialEq)]
pub struct Trajectory {
    /// The mean at the step where the runs of other data seeds peak; `None` with a single data seed.
    pub before: Option<Estimate>,
    /// The mean at the end.
    pub end: Estimate,
    /// How much less the end is; `None` with a single data seed.
    pub decline: Option<Estimate>,
    /// The steps at which the runs peak: the first, the middle one, the last.
    pub steps: [u32; 3],
    /// The means at the end, one per data seed.
    pub by_seed: Vec<f64>,
}

impl Trajectory {
    /// Of the runs in which it was measured more than once; `None` where there is none. `scale` is the measure's.
    pub fn new(scale: Scale, runs: &[(Seed, &Curve)]) -> Option<Trajectory> {
        let runs: Vec<(Seed, &Curve)> =
            runs.iter().copied().filter(|(_, curve)| curve.len() > 1 && curve.decline().is_some()).collect();
        let read = |moment| runs.iter().filter_map(move |(seed, curve)| Some((*seed, curve.at(moment)?)));
        let mut steps: Vec<u32> = runs.iter().filter_map(|(_, curve)| Some(curve.peak()?.step)).collect();
        steps.sort_unstable();
        let of_decline = if scale == Scale::Share { Scale::Signed } else { scale };
        let values = runs.iter().zip(before_decline(&runs));
        let values: Vec<(Seed, f64, f64)> =
            values.filter_map(|((seed, curve), before)| Some((*seed, before?, curve.end()?))).collect();
        let mean = |scale, value: fn(&(Seed, f64, f64)) -> f64| {
            let mean = seeds::mean(scale, values.iter().map(|one| (one.0, value(one))));
            mean.filter(|mean| mean.data_seeds > 1)
        };
        Some(Trajectory {
            before: mean(scale, |one| one.1),
            end: seeds::mean(scale, read(Moment::End))?,
            decline: mean(of_decline, |one| one.1 - one.2),
            steps: [*steps.first()?, steps[steps.len() / 2], *steps.last()?],
            by_seed: seeds::by_data_seed(read(Moment::End)),
        })
    }
}

/// What every run has at the step at which the runs of other data seeds peak.
pub fn before_decline(runs: &[(Seed, &Curve)]) -> Vec<Option<f64>> {
    let mut sums: BTreeMap<u32, BTreeMap<usize, (f64, f64)>> = BTreeMap::new();
    for (seed, curve) in runs {
        for point in curve.points().filter(|point| point.value.is_finite()) {
            let (sum, count) = sums.entry(point.step).or_default().entry(seed.data).or_default();
            *sum += point.value;
            *count += 1.0;
        }
    }
    let peak_without = |data: usize| {
        let mean = |of_seeds: &BTreeMap<usize, (f64, f64)>| {
            let remaining = of_seeds.iter().filter(|(other, _)| **other != data).map(|(_, sums)| sums);
            let (sum, count) = remaining.fold((0.0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1));
            (count > 0.0).then(|| sum / count)
        };
        let means = sums.iter().filter_map(|(step, of_seeds)| Some((*step, mean(of_seeds)?)));
        means.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(step, _)| step)
    };
    let data_seeds: BTreeSet<usize> = runs.iter().map(|(seed, _)| seed.data).collect();
    let peaks: BTreeMap<usize, Option<u32>> = data_seeds.into_iter().map(|data| (data, peak_without(data))).collect();
    runs.iter().map(|(seed, curve)| curve.value_at(peaks[&seed.data]?)).collect()
}
