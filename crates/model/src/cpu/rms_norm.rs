//! RMSNorm, row by row.

use super::float::Float;
use super::reduce::{self, ROW_BLOCK, sum_blocks};
use super::simd::per_level;
use rayon::prelude::*;

/// out = x · inv_rms · gain for `[rows, width]`.
pub fn forward<F: Float>(width: usize, eps: f64, x: &[F], gain: &[F], out: &mut [F], inv_rms: &mut [F]) {
    out.par_chunks_mut(ROW_BLOCK * width)
        .zip(x.par_chunks(ROW_BLOCK * width))
        .zip(inv_rms.par_chunks_mut(ROW_BLOCK))
        .for_each(|((out, x), inv_rms)| norm_rows(width, F::from_f64(eps), x, gain, out, inv_rms));
}

/// Computes the gradients `dx` and `dgain`; `partial` is scratch with one row per block.
#[allow(clippy::too_many_arguments)]
pub fn backward<F: Float>(
    width: usize,
    dy: &[F],
    x: &[F],
    inv_rms: &[F],
    gain: &[F],
    dx: &mut [F],
    add: bool,
    partial: &mut [F],
    dgain: &mut [F],
) {
    let blocks = inv_rms.len().div_ceil(ROW_BLOCK);
    let partial = &mut partial[..blocks * width];
    dx.par_chunks_mut(ROW_BLOCK * width)
        .zip(dy.par_chunks(ROW_BLOCK * width))
        .zip(x.par_chunks(ROW_BLOCK * width))
        .zip(inv_rms.par_chunks(ROW_BLOCK))
        .zip(partial.par_chunks_mut(width))
        .for_each(|((((dx, dy), x), inv_rms), dgain)| {
            dgain.fill(F::ZERO);
            norm_rows_backward(width, dy, x, inv_rms, gain, dx, add, dgain);
        });
    sum_blocks(partial.chunks_exact(width), dgain);
}

per_level! {
    fn norm_rows<F>(width: usize, eps: F, x: &[F], gain: &[F], out: &mut [F], inv_rms: &mut [F]) {
        let each = F::from_f64(1.0 / width as f64);
        let gain = &gain[..width];
        for ((x, out), inv_rms) in x.chunks_exact(width).zip(out.chunks_exact_mut(width)).zip(inv_rms) {
            let inverse = F::ONE / (reduce::sum(width, |i| x[i] * x[i]) * each + eps).sqrt();
            *inv_rms = inverse;
            for i in 0..width {
                out[i] = x[i] * inverse * gain[i];
            }
        }
    }

    fn norm_rows_backward<F>(
        width: usize, dy: &[F], x: &[F], inv_rms: &[F], gain: &[F], dx: &mut [F], add: bool, dgain: &mut [F],
    ) {
        let each = F::from_f64(1.0 / width as f64);
        let (gain, dgain) = (&gain[..width], &mut dgain[..width]);
        let rows = dy.chunks_exact(width).zip(x.chunks_exact(width)).zip(dx.chunks_exact_mut(width)).zip(inv_rms);
        for (((dy, x), dx), &inverse) in rows {
            let dot = reduce::sum(width, |i| dy[i] * gain[i] * x[i]);
            let along = dot * inverse * inverse * inverse * each;
            for i in 0..width {
                dgain[i] += dy[i] * x[i] * inverse;
            }
            if add {
                for i in 0..width {
                    dx[i] += dy[i] * gain[i] * inverse - x[i] * along;
                }
            } else {
                for i in 0..width {
                    dx[i] = dy[i] * gain[i] * inverse - x[i] * along;
                }
            }
        }
    }
}
