//! Row lookups: embedding and positions, their gradients, and rows picked for the head.

use super::float::Float;
use super::reduce::ROW_BLOCK;
use crate::Span;
use rayon::prelude::*;

/// out\[i\] = table\[rows\[i\]\], rows of `width` each.
pub fn gather<F: Float>(width: usize, table: &[F], rows: &[u32], out: &mut [F]) {
    out.par_chunks_mut(ROW_BLOCK * width).zip(rows.par_chunks(ROW_BLOCK)).for_each(|(out, rows)| {
        for (out, &row) in out.chunks_exact_mut(width).zip(rows) {
            out.copy_from_slice(&table[row as usize * width..][..width]);
        }
    });
}

/// out\[i\] += table\[rows\[i\]\]
pub fn gather_add<F: Float>(width: usize, table: &[F], rows: &[u32], out: &mut [F]) {
    out.par_chunks_mut(ROW_BLOCK * width).zip(rows.par_chunks(ROW_BLOCK)).for_each(|(out, rows)| {
        for (out, &row) in out.chunks_exact_mut(width).zip(rows) {
            out.iter_mut().zip(&table[row as usize * width..][..width]).for_each(|(sum, &x)| *sum += x);
        }
    });
}

/// grad\[position\] = sum of dx over the spans that are long enough, in order.
pub fn sum_positions<F: Float>(width: usize, spans: &[Span], dx: &[F], grad: &mut [F]) {
    grad.par_chunks_mut(width).enumerate().for_each(|(position, grad)| {
        grad.fill(F::ZERO);
        for span in spans.iter().filter(|span| position < span.len as usize) {
            let dx = &dx[(span.start as usize + position) * width..][..width];
            grad.iter_mut().zip(dx).for_each(|(sum, &d)| *sum += d);
        }
    });
}

/// grad\[token\] = sum of dx over the token's rows in order, added to what is there if `add`. `rows` is sorted by token;
/// token v has `rows[starts[v]..starts[v + 1]]`.
pub fn scatter_add<F: Float>(width: usize, starts: &[u32], rows: &[u32], dx: &[F], add: bool, grad: &mut [F]) {
    grad.par_chunks_mut(ROW_BLOCK * width).enumerate().for_each(|(block, grad)| {
        for (i, grad) in grad.chunks_exact_mut(width).enumerate() {
            let token = block * ROW_BLOCK + i;
            if !add {
                grad.fill(F::ZERO);
            }
            for &row in &rows[starts[token] as usize..starts[token + 1] as usize] {
                let dx = &dx[row as usize * width..][..width];
                grad.iter_mut().zip(dx).for_each(|(sum, &d)| *sum += d);
            }
        }
    });
}
