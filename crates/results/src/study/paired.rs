//! How much more one group of runs has than another: within the seeds that both have, or of independent samples.

use crate::claims::SEEDS;
use invitro_stats::{Estimate, Scale, Seed, seeds};
use std::collections::{BTreeMap, BTreeSet};

/// The mean of the second less that of the first, and whether it is taken within seeds that both have.
pub(super) fn difference(scale: Scale, first: &[(Seed, f64)], second: &[(Seed, f64)]) -> Option<Estimate> {
    match pairing(first, second) {
        Some(pairing) => seeds::mean(scale, within(&pairing.of(first), &pairing.of(second))),
        None => seeds::unpaired(scale, first, second),
    }
}

/// The data seeds within which a difference is taken; `None` where it is that of independent samples.
pub(super) fn shared(first: &[(Seed, f64)], second: &[(Seed, f64)]) -> Option<usize> {
    let pairing = pairing(first, second)?;
    Some(data_seeds(&within(&pairing.of(first), &pairing.of(second))))
}

pub(super) fn data_seeds(rows: &[(Seed, f64)]) -> usize {
    rows.iter().map(|row| row.0.data).collect::<BTreeSet<_>>().len()
}

/// What runs of two groups must share to be compared with each other.
#[derive(Clone, Copy)]
enum Pairing {
    /// Data seed and model seed.
    Both,
    /// The data seed; values are means over model seeds.
    Data,
}

impl Pairing {
    fn of(self, rows: &[(Seed, f64)]) -> BTreeMap<Seed, f64> {
        let key = |seed: Seed| if let Pairing::Data = self { Seed { model: 0, ..seed } } else { seed };
        let mut sums: BTreeMap<Seed, (f64, f64)> = BTreeMap::new();
        for (seed, value) in rows {
            let (sum, count) = sums.entry(key(*seed)).or_default();
            *sum += value;
            *count += 1.0;
        }
        sums.into_iter().map(|(seed, (sum, count))| (seed, sum / count)).collect()
    }
}

/// The differences within seeds that both have.
fn within(first: &BTreeMap<Seed, f64>, second: &BTreeMap<Seed, f64>) -> Vec<(Seed, f64)> {
    second.iter().filter_map(|(seed, value)| Some((*seed, value - first.get(seed)?))).collect()
}

/// How two groups are paired: by both seeds, else by data seeds, where [`SEEDS`] data seeds or all are in common.
fn pairing(first: &[(Seed, f64)], second: &[(Seed, f64)]) -> Option<Pairing> {
    [Pairing::Both, Pairing::Data].into_iter().find(|pairing| {
        let (first, second) = (pairing.of(first), pairing.of(second));
        let shared = data_seeds(&within(&first, &second));
        shared >= SEEDS || (shared > 0 && first.keys().eq(second.keys()))
    })
}
