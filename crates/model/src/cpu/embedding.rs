//! Row lookups: the embedding, its gradient, and rows picked for the head.

use super::float::Float;
use super::reduce::ROW_BLOCK;
use rayon::prelude::*;

/// out\[i\] = table\[rows\[i\]\], rows of `width` each.
pub fn gather<F: Float>(width: usize, table: &[F], rows: &[u32], out: &mut [F]) {
    out.par_chunks_mut(ROW_BLOCK * width).zip(rows.par_chunks(ROW_BLOCK)).for_each(|(out, rows)| {
        for (out, &row) in out.chunks_exact_mut(width).zip(rows) {
            out.copy_from_slice(&table[row as usize * width..][..width]);
        }
    });
}

/// grad\[token\] = sum of dx over the token's rows in order. `rows` is sorted by token; token v has
/// `rows[starts[v]..starts[v + 1]]`.
pub fn scatter_add<F: Float>(width: usize, starts: &[u32], rows: &[u32], dx: &[F], grad: &mut [F]) {
    grad.par_chunks_mut(ROW_BLOCK * width).enumerate().for_each(|(block, grad)| {
        for (i, grad) in grad.chunks_exact_mut(width).enumerate() {
            let token = block * ROW_BLOCK + i;
            grad.fill(F::ZERO);
            for &row in &rows[starts[token] as usize..starts[token + 1] as usize] {
                let dx = &dx[row as usize * width..][..width];
                grad.iter_mut().zip(dx).for_each(|(sum, &d)| *sum += d);
            }
        }
    });
}
