//! The bias of a linear layer, and its gradient.

use super::float::Float;
use super::reduce::{ROW_BLOCK, sum_blocks};
use rayon::prelude::*;

/// Adds `bias` to every row of `y`.
pub fn add<F: Float>(bias: &[F], y: &mut [F]) {
    let width = bias.len();
    y.par_chunks_mut(ROW_BLOCK * width).for_each(|rows| {
        for row in rows.chunks_exact_mut(width) {
            row.iter_mut().zip(bias).for_each(|(y, &bias)| *y += bias);
        }
    });
}

/// dbias = the sum of the rows of `dy`; `partial` is scratch with one row per block.
pub fn backward<F: Float>(dy: &[F], partial: &mut [F], dbias: &mut [F]) {
    let width = dbias.len();
    let partial = &mut partial[..dy.len().div_ceil(ROW_BLOCK * width) * width];
    partial.par_chunks_mut(width).zip(dy.par_chunks(ROW_BLOCK * width)).for_each(|(sum, rows)| {
        sum_blocks(rows.chunks_exact(width), sum);
    });
    sum_blocks(partial.chunks_exact(width), dbias);
}
