//! Computed from logits: cross-entropy and its gradient, scores of given tokens, argmax.

use super::float::Float;
use super::reduce::{self, LANES, ROW_BLOCK};
use super::simd::per_level;
use crate::inference::Score;
use rayon::prelude::*;

/// Turns the logits of each row into the gradient of `weight` · its cross-entropy (0 without a target), with targets smoothed
/// by `smoothing`, and writes the cross-entropy of each row, without smoothing.
pub fn cross_entropy<F: Float>(
    vocab: usize,
    targets: &[i32],
    (weight, smoothing): (f64, f64),
    logits: &mut [F],
    losses: &mut [f64],
) {
    let [weight, of_target, of_each] =
        [weight, weight * (1.0 - smoothing), weight * smoothing / vocab as f64].map(F::from_f64);
    logits
        .par_chunks_mut(ROW_BLOCK * vocab)
        .zip(targets.par_chunks(ROW_BLOCK))
        .zip(losses.par_chunks_mut(ROW_BLOCK))
        .for_each(|((logits, targets), losses)| {
            for ((row, &target), loss) in logits.chunks_exact_mut(vocab).zip(targets).zip(losses) {
                if target < 0 {
                    row.fill(F::ZERO);
                    *loss = 0.0;
                    continue;
                }
                let target = target as usize;
                let at_target = row[target];
                let (max, sum) = exponentials(row);
                *loss = max.f64() + libm::log(sum.f64()) - at_target.f64();
                let scale = weight / sum;
                row.iter_mut().for_each(|e| *e = *e * scale - of_each);
                row[target] -= of_target;
            }
        });
}

/// The log-probability and rank of a row's target. `set`, a bit per token, restricts the ranked tokens.
pub fn score<F: Float>(row: &[F], target: u32, set: Option<&[u32]>) -> Score {
    let at = row[target as usize];
    let (max, sum) = log_sum(row);
    let rank = match set {
        None => above(row, at),
        Some(set) => row.iter().enumerate().map(|(i, &x)| (x > at) as u32 & set[i / 32] >> (i % 32)).sum(),
    };
    Score { logprob: (at.f64() - max.f64() - libm::log(sum.f64())) as f32, rank }
}

/// The index of the largest logit; the first of equals.
pub fn argmax<F: Float>(row: &[F]) -> u32 {
    let max = largest(row);
    row.iter().position(|&x| x == max).unwrap_or(0) as u32
}

per_level! {
    /// Turns a row x into exp(x - max); returns max and the sum.
    fn exponentials<F>(row: &mut [F]) -> (F, F) {
        let max = reduce::max(row);
        let mut lanes = [F::ZERO; LANES];
        let mut chunks = row.chunks_exact_mut(LANES);
        for chunk in &mut chunks {
            for (x, lane) in chunk.iter_mut().zip(&mut lanes) {
                *x = (*x - max).exp();
                *lane += *x;
            }
        }
        for (x, lane) in chunks.into_remainder().iter_mut().zip(&mut lanes) {
            *x = (*x - max).exp();
            *lane += *x;
        }
        (max, reduce::fold(lanes))
    }

    /// The same without changes to the row.
    fn log_sum<F>(row: &[F]) -> (F, F) {
        let max = reduce::max(row);
        (max, reduce::sum(row.len(), |i| (row[i] - max).exp()))
    }

    fn above<F>(row: &[F], at: F) -> u32 {
        row.iter().map(|&x| (x > at) as u32).sum()
    }

    fn largest<F>(row: &[F]) -> F {
        reduce::max(row)
    }
}
