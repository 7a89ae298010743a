//! The difference between two arms, word by word: the same words, in runs that differ in one setting alone.
//!
//! Words are compared within strata: runs of the same seeds and the same other settings, and words of as many letters and
//! pieces. The difference is the mean over strata of the difference of means, weighted by n₁n₂/(n₁ + n₂); where every word is
//! in both arms that is the mean difference of a word with itself.
//!
//! p is of the null that, in these very models, it does not matter in which arm a word's contrast was taken: then the two
//! values of a word could change places, and so could those of words that a stratum has of one arm alone. It says whether
//! the words tell these models apart, not what other data seeds would give: two models of one arm can differ as well. That
//! is what the interval over seeds is for, and verdicts go by it.

use crate::Estimate;
use crate::seeds::{self, Scale, Seed};
use invitro_base::random::Rng;
use std::collections::BTreeMap;

/// A word in a run of one of two arms.
#[derive(Debug, Clone, Copy)]
pub struct ArmValue {
    /// Whether it is in the second arm.
    pub second: bool,
    /// The run's seeds.
    pub seed: Seed,
    /// The run's other settings, as a number.
    pub settings: usize,
    /// Words of one kind are compared: as many letters, as many pieces.
    pub kind: usize,
    /// The word; the same number in both arms.
    pub word: usize,
    pub value: f64,
}

/// The first arm less the second.
#[derive(Debug, Clone, Copy)]
pub struct ArmDifference {
    /// With its interval over seeds.
    pub estimate: Estimate,
    /// Two-sided, from permutations within strata.
    pub p: f64,
    /// Words that were compared, of both arms together.
    pub values: usize,
}

/// Permutations that are drawn: p is never below 1 in 2,000.
const DRAWS: usize = 1999;

/// Values that may change places, and what each counts in the first and in the second arm. The first ones are in the
/// first arm.
struct ArmBlock {
    values: Vec<f64>,
    first: usize,
    weights: [f64; 2],
}

impl ArmBlock {
    /// What it adds to the difference.
    fn sum(&self) -> f64 {
        let (first, second) = self.values.split_at(self.first);
        self.weights[0] * first.iter().sum::<f64>() - self.weights[1] * second.iter().sum::<f64>()
    }

    fn is_fixed(&self) -> bool {
        self.first == 0 || self.first == self.values.len()
    }
}

/// One stratum: its weight, its part of the difference, and what may change places in it.
fn blocks(values: &[&ArmValue]) -> Option<(f64, Vec<ArmBlock>)> {
    let [first, second] = [false, true].map(|arm| values.iter().filter(|it| it.second == arm).count() as f64);
    let weight = first * second / (first + second);
    if weight == 0.0 {
        return None;
    }
    let weights = [weight / first, weight / second];
    let mut words: BTreeMap<usize, [Vec<f64>; 2]> = BTreeMap::new();
    for it in values {
        words.entry(it.word).or_default()[usize::from(it.second)].push(it.value);
    }
    let block = |[first, second]: &[Vec<f64>; 2]| ArmBlock {
        values: first.iter().chain(second).copied().collect(),
        first: first.len(),
        weights,
    };
    let (paired, alone): (Vec<_>, Vec<_>) = words.into_values().partition(|arms| arms.iter().all(|it| !it.is_empty()));
    let mut blocks: Vec<ArmBlock> = paired.iter().map(block).collect();
    let alone = alone.into_iter().fold([Vec::new(), Vec::new()], |mut all, arms| {
        all.iter_mut().zip(arms).for_each(|(all, mut arm)| all.append(&mut arm));
        all
    });
    blocks.extend((!alone.iter().all(Vec::is_empty)).then(|| block(&alone)));
    Some((weight, blocks))
}

/// The difference of two arms. `name` names the stream of permutations. `None` where no stratum has words of both.
pub fn difference(name: &str, values: &[ArmValue]) -> Option<ArmDifference> {
    let mut strata: BTreeMap<(Seed, usize, usize), Vec<&ArmValue>> = BTreeMap::new();
    values.iter().for_each(|it| strata.entry((it.seed, it.settings, it.kind)).or_default().push(it));
    let mut runs: BTreeMap<(Seed, usize), [f64; 2]> = BTreeMap::new();
    let (mut all, mut compared) = (Vec::new(), 0);
    for ((seed, settings, _), values) in &strata {
        let Some((weight, blocks)) = blocks(values) else { continue };
        let [weights, sum] = runs.entry((*seed, *settings)).or_default();
        *weights += weight;
        *sum += blocks.iter().map(ArmBlock::sum).sum::<f64>();
        compared += values.len();
        all.extend(blocks);
    }
    let runs = runs.into_iter().map(|((seed, _), sums)| (seed, sums));
    let estimate = seeds::estimate(Scale::Plain, runs, |[weight, sum]| Some(sum / weight))?;
    // Each is of two runs.
    let estimate = Estimate { runs: 2 * estimate.runs, ..estimate };
    Some(ArmDifference { estimate, p: permuted(&mut Rng::keyed(name, [0; 3]), &all), values: compared })
}

fn permuted(rng: &mut Rng, blocks: &[ArmBlock]) -> f64 {
    let fixed: f64 = blocks.iter().filter(|block| block.is_fixed()).map(ArmBlock::sum).sum();
    let observed = blocks.iter().map(ArmBlock::sum).sum::<f64>().abs();
    // A word that is once in each arm is a pair of sums: as it is, and with the two changed.
    let (mut pairs, mut larger) = (Vec::new(), Vec::new());
    for block in blocks.iter().filter(|block| !block.is_fixed()) {
        match block.values[..] {
            [one, other] => pairs.push([block.sum(), block.weights[0] * other - block.weights[1] * one]),
            _ => larger.push((block, block.values.clone())),
        }
    }
    let mut as_large = 0;
    for _ in 0..DRAWS {
        let mut sum = fixed;
        for chunk in pairs.chunks(64) {
            let bits = rng.wide_bits();
            sum += chunk.iter().enumerate().map(|(place, pair)| pair[(bits >> place & 1) as usize]).sum::<f64>();
        }
        for (block, values) in &mut larger {
            rng.shuffle(values);
            let (first, second) = values.split_at(block.first);
            sum += block.weights[0] * first.iter().sum::<f64>() - block.weights[1] * second.iter().sum::<f64>();
        }
        // The tolerance lets an arrangement equal to the observed one count, whatever order its sum was taken in.
        as_large += usize::from(sum.abs() >= observed * (1.0 - 1e-9));
    }
    (as_large + 1) as f64 / (DRAWS + 1) as f64
}
