//! LayerNorm, row by row.

use super::float::Float;
use super::reduce::{self, ROW_BLOCK, sum_blocks};
use super::simd::per_level;
use rayon::prelude::*;

/// out = (x - mean) · inverse · gain + bias for `[rows, width]`, inverse being 1 / sqrt(variance + ε).
pub fn forward<F: Float>(
    width: usize,
    eps: f64,
    x: &[F],
    (gain, bias): (&[F], &[F]),
    out: &mut [F],
    inverse: &mut [F],
) {
    out.par_chunks_mut(ROW_BLOCK * width)
        .zip(x.par_chunks(ROW_BLOCK * width))
        .zip(inverse.par_chunks_mut(ROW_BLOCK))
        .for_each(|((out, x), inverse)| norm_rows(width, F::from_f64(eps), x, gain, bias, out, inverse));
}

/// Computes the gradients `dx`, `dgain` and `dbias`; `partial` is scratch with two rows per block.
#[allow(clippy::too_many_arguments)]
pub fn backward<F: Float>(
    width: usize,
    dy: &[F],
    x: &[F],
    inverse: &[F],
    gain: &[F],
    dx: &mut [F],
    add: bool,
    partial: &mut [F],
    (dgain, dbias): (&mut [F], &mut [F]),
) {
    let blocks = inverse.len().div_ceil(ROW_BLOCK);
    let partial = &mut partial[..blocks * 2 * width];
    dx.par_chunks_mut(ROW_BLOCK * width)
        .zip(dy.par_chunks(ROW_BLOCK * width))
        .zip(x.par_chunks(ROW_BLOCK * width))
        .zip(inverse.par_chunks(ROW_BLOCK))
        .zip(partial.par_chunks_mut(2 * width))
        .for_each(|((((dx, dy), x), inverse), partial)| {
            partial.fill(F::ZERO);
            let (dgain, dbias) = partial.split_at_mut(width);
            norm_rows_backward(width, dy, x, inverse, gain, dx, add, dgain, dbias);
        });
    sum_blocks(partial.chunks_exact(2 * width).map(|block| &block[..width]), dgain);
    sum_blocks(partial.chunks_exact(2 * width).map(|block| &block[width..]), dbias);
}

per_level! {
    fn norm_rows<F>(width: usize, eps: F, x: &[F], gain: &[F], bias: &[F], out: &mut [F], inverse: &mut [F]) {
        let each = F::from_f64(1.0 / width as f64);
        let (gain, bias) = (&gain[..width], &bias[..width]);
        for ((x, out), inverse) in x.chunks_exact(width).zip(out.chunks_exact_mut(width)).zip(inverse) {
            let mean = reduce::sum(width, |i| x[i]) * each;
            let variance = reduce::sum(width, |i| (x[i] - mean) * (x[i] - mean)) * each;
            let scale = F::ONE / (variance + eps).sqrt();
            *inverse = scale;
            for i in 0..width {
                out[i] = (x[i] - mean) * scale * gain[i] + bias[i];
            }
        }
    }

    fn norm_rows_backward<F>(
        width: usize, dy: &[F], x: &[F], inverse: &[F], gain: &[F], dx: &mut [F], add: bool, dgain: &mut [F],
        dbias: &mut [F],
    ) {
        let each = F::from_f64(1.0 / width as f64);
        let (gain, dgain, dbias) = (&gain[..width], &mut dgain[..width], &mut dbias[..width]);
        let rows = dy.chunks_exact(width).zip(x.chunks_exact(width)).zip(dx.chunks_exact_mut(width)).zip(inverse);
        for (((dy, x), dx), &scale) in rows {
            let mean = reduce::sum(width, |i| x[i]) * each;
            // The parts of the gradient along a constant and along x, which the norm takes away.
            let constant = reduce::sum(width, |i| dy[i] * gain[i]) * each;
            let along = reduce::sum(width, |i| dy[i] * gain[i] * (x[i] - mean)) * scale * scale * each;
            for i in 0..width {
                dgain[i] += dy[i] * (x[i] - mean) * scale;
                dbias[i] += dy[i];
            }
            for i in 0..width {
                let own = (dy[i] * gain[i] - constant - (x[i] - mean) * along) * scale;
                dx[i] = if add { dx[i] + own } else { own };
            }
        }
    }
}
