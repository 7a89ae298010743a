//! Packs the factors of a matmul so that the inner kernel reads them in order.

use super::kernel::MatmulKernel;
use crate::cpu::float::Float;
use crate::cpu::memory::DisjointSlice;
use crate::cpu::simd::per_level;
use rayon::prelude::*;

/// Rows copied together, for long runs of reads and writes.
const GROUP: usize = 16;

/// The packed size of a right factor `[k, n]`.
pub fn packed_len<F>(kernel: &MatmulKernel<F>, k: usize, n: usize) -> usize {
    n.next_multiple_of(kernel.nr) * k
}

/// Packs wᵀ for w `[n, k]`: the weights in the forward pass.
pub fn pack_transposed<F: Float>(kernel: &MatmulKernel<F>, w: &[F], n: usize, k: usize, out: &mut [F]) {
    let nr = kernel.nr;
    out[..packed_len(kernel, k, n)].par_chunks_mut(k * nr).enumerate().for_each(|(panel, out)| {
        let rows = nr.min(n - panel * nr);
        transpose(&w[panel * nr * k..], k, rows, k, nr, out);
    });
}

/// Packs b, `[k, n]`: the weights in the backward pass, and activations.
pub fn pack<F: Float>(kernel: &MatmulKernel<F>, b: &[F], k: usize, n: usize, out: &mut [F]) {
    let nr = kernel.nr;
    let out = DisjointSlice::new(&mut out[..packed_len(kernel, k, n)]);
    (0..k.div_ceil(4 * GROUP)).into_par_iter().for_each(|group| {
        let (from, to) = (group * 4 * GROUP, k.min((group + 1) * 4 * GROUP));
        for rows in (from..to).step_by(GROUP) {
            for panel in 0..n.div_ceil(nr) {
                let count = GROUP.min(to - rows);
                // SAFETY: each task has its own rows of every panel.
                let lines = unsafe { out.slice((panel * k + rows) * nr, count * nr) };
                copy_lines(&b[rows * n + panel * nr..], n, nr.min(n - panel * nr), nr, lines);
            }
        }
    });
}

/// Packs columns of a transposed left factor `[depth, n]` into tiles of `mr` columns, `[tile][depth][mr]`.
pub fn pack_columns<F: Float>(
    source: &[F],
    depth: usize,
    n: usize,
    columns: std::ops::Range<usize>,
    mr: usize,
    out: &mut [F],
) {
    for from in (0..depth).step_by(GROUP) {
        let count = GROUP.min(depth - from);
        for (tile, column) in columns.clone().step_by(mr).enumerate() {
            let lines = &mut out[(tile * depth + from) * mr..][..count * mr];
            copy_lines(&source[from * n + column..], n, mr.min(columns.end - column), mr, lines);
        }
    }
}

/// Copies lines of W elements, a compile-time constant.
#[inline(always)]
fn copy_whole<F: Float, const W: usize>(source: &[F], stride: usize, lines: &mut [F]) {
    for (row, line) in lines.as_chunks_mut::<W>().0.iter_mut().enumerate() {
        if let Some(source) = source[row * stride..].first_chunk::<W>() {
            *line = *source;
        }
    }
}

per_level! {
    /// Copies lines of `width` elements, `stride` apart, into lines of `wide`, padded with zeros.
    pub fn copy_lines<F>(source: &[F], stride: usize, width: usize, wide: usize, lines: &mut [F]) {
        match (width == wide, wide) {
            (true, 32) => copy_whole::<F, 32>(source, stride, lines),
            (true, 16) => copy_whole::<F, 16>(source, stride, lines),
            (true, 12) => copy_whole::<F, 12>(source, stride, lines),
            (true, 8) => copy_whole::<F, 8>(source, stride, lines),
            _ => {
                for (row, line) in lines.chunks_exact_mut(wide).enumerate() {
                    line[..width].copy_from_slice(&source[row * stride..][..width]);
                    line[width..].fill(F::ZERO);
                }
            }
        }
    }

    /// Transposes `rows` rows of `columns` elements, `stride` apart: out is `[columns, wide]`, zeros after `rows`.
    pub fn transpose<F>(source: &[F], stride: usize, rows: usize, columns: usize, wide: usize, out: &mut [F]) {
        const SIDE: usize = 8;
        for left in (0..columns).step_by(SIDE) {
            for top in (0..rows).step_by(SIDE) {
                if left + SIDE <= columns && top + SIDE <= rows {
                    // A square at a time: each row and column is within a cache line.
                    let mut square = [[F::ZERO; SIDE]; SIDE];
                    for (i, row) in square.iter_mut().enumerate() {
                        row.copy_from_slice(&source[(top + i) * stride + left..][..SIDE]);
                    }
                    for j in 0..SIDE {
                        let mut column = [F::ZERO; SIDE];
                        for i in 0..SIDE {
                            column[i] = square[i][j];
                        }
                        out[(left + j) * wide + top..][..SIDE].copy_from_slice(&column);
                    }
                } else {
                    for i in top..rows.min(top + SIDE) {
                        for j in left..columns.min(left + SIDE) {
                            out[j * wide + i] = source[i * stride + j];
                        }
                    }
                }
            }
        }
        if rows < wide {
            out.chunks_exact_mut(wide).for_each(|line| line[rows..].fill(F::ZERO));
        }
    }
}
