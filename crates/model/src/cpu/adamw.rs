//! Clipping and AdamW over a member's flat vector.

use super::float::Float;
use super::reduce;
use super::simd::per_level;
use crate::ops::Update;
use rayon::prelude::*;

/// Elements per task, and per partial sum of the norm.
const BLOCK: usize = 1 << 14;

/// The number of partial sums of [`norm`] for a vector of `len`.
pub fn partials(len: usize) -> usize {
    len.div_ceil(BLOCK)
}

/// The global norm: squares summed within blocks, then over blocks in order.
pub fn norm<F: Float>(gradients: &[F], partial: &mut [f64]) -> f64 {
    let partial = &mut partial[..partials(gradients.len())];
    partial.par_iter_mut().zip(gradients.par_chunks(BLOCK)).for_each(|(sum, block)| *sum = squares(block).f64());
    partial.iter().sum::<f64>().sqrt()
}

/// Updates a member's vectors; elements before `decayed` have weight decay.
pub fn update<F: Float>(
    weights: &mut [F],
    gradients: &[F],
    (mean, variance): (&mut [F], &mut [F]),
    norm: f64,
    decayed: usize,
    update: &Update,
) {
    let clip = if norm > update.clip { update.clip / norm } else { 1.0 };
    let corrected1 = 1.0 - libm::pow(update.beta1, update.step as f64);
    let corrected2 = 1.0 - libm::pow(update.beta2, update.step as f64);
    let shared = AdamStep {
        clip: F::from_f64(clip),
        beta1: F::from_f64(update.beta1),
        one_minus_beta1: F::from_f64(1.0 - update.beta1),
        beta2: F::from_f64(update.beta2),
        one_minus_beta2: F::from_f64(1.0 - update.beta2),
        rate: F::from_f64(update.lr / corrected1),
        root2: F::from_f64(1.0 / corrected2.sqrt()),
        eps: F::from_f64(update.eps),
    };
    let decay = F::from_f64(1.0 - update.lr * update.weight_decay);
    weights
        .par_chunks_mut(BLOCK)
        .zip(gradients.par_chunks(BLOCK))
        .zip(mean.par_chunks_mut(BLOCK))
        .zip(variance.par_chunks_mut(BLOCK))
        .enumerate()
        .for_each(|(block, (((weights, gradients), mean), variance))| {
            let matrices = decayed.saturating_sub(block * BLOCK).min(weights.len());
            let (w, w1) = weights.split_at_mut(matrices);
            let (g, g1) = gradients.split_at(matrices);
            let (m, m1) = mean.split_at_mut(matrices);
            let (v, v1) = variance.split_at_mut(matrices);
            step(&shared, decay, w, g, m, v);
            step(&shared, F::ONE, w1, g1, m1, v1);
        });
}

struct AdamStep<F> {
    clip: F,
    beta1: F,
    one_minus_beta1: F,
    beta2: F,
    one_minus_beta2: F,
    /// Learning rate over the first moment's bias correction.
    rate: F,
    /// Inverse root of the second moment's bias correction.
    root2: F,
    eps: F,
}

per_level! {
    fn squares<F>(block: &[F]) -> F {
        reduce::sum(block.len(), |i| block[i] * block[i])
    }

    fn step<F>(s: &AdamStep<F>, decay: F, weights: &mut [F], gradients: &[F], mean: &mut [F], variance: &mut [F]) {
        let len = weights.len();
        let (gradients, mean, variance) = (&gradients[..len], &mut mean[..len], &mut variance[..len]);
        for i in 0..len {
            let g = gradients[i] * s.clip;
            let m = s.beta1 * mean[i] + s.one_minus_beta1 * g;
            let v = s.beta2 * variance[i] + s.one_minus_beta2 * g * g;
            mean[i] = m;
            variance[i] = v;
            weights[i] = weights[i] * decay - s.rate * m / (v.sqrt() * s.root2 + s.eps);
        }
    }
}
