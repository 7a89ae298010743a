//! Matrix multiplication over packed panels, in parallel.
//!
//! B is packed into panels of `nr` columns, `[panel][k][nr]`, the last one padded with zeros. A is read in place if its
//! rows are contiguous, and packed in blocks if it is a transposed activation (gradients of weights).

mod kernel;
mod packing;

pub use kernel::{MatmulFloat, MatmulKernel};
pub use packing::{copy_lines, pack, pack_transposed, packed_len, transpose};

use super::float::Float;
use super::memory::{DisjointSlice, with_scratch};
use kernel::TILE_MAX;
use packing::pack_columns;
use rayon::prelude::*;

/// The block size of k: a panel's block fits the L1 cache.
const K_BLOCK: usize = 256;
/// Rows of A per task.
const ROW_BLOCK: usize = 48;
/// The most tiles of a transposed A per task: they fit the L2 cache.
const TASK_TILES: usize = 64;

/// The left factor: a pointer to contiguous rows or columns and their stride, or to packed tiles of `mr` rows and their
/// number of columns.
#[derive(Clone, Copy)]
pub enum Left<F> {
    Rows(*const F, usize),
    Columns(*const F, usize),
    Tiles(*const F, usize),
}

/// c\[m, n\] = init + a · B on one thread, for `k` of the packed panels' depth; panels are `panel_stride` apart.
///
/// # Safety
/// `a` has m × k elements, `panels` all panels of n columns to depth k, `c` and a non-null `init` m × n, each with its own
/// stride. `c` may be `init`, and otherwise overlaps no input.
pub unsafe fn block<F: Float>(
    kernel: &MatmulKernel<F>,
    (m, n, k): (usize, usize, usize),
    a: Left<F>,
    (panels, panel_stride): (*const F, usize),
    (c, ldc): (*mut F, usize),
    (init, ldi): (*const F, usize),
) {
    // SAFETY: rows and columns stay within m and n, which the caller guarantees. The smallest tile has one row, so one is
    // always found.
    unsafe {
        for panel in 0..n.div_ceil(kernel.nr) {
            let column = panel * kernel.nr;
            let columns = kernel.nr.min(n - column);
            let b = panels.add(panel * panel_stride);
            let mut row = 0;
            while row < m {
                let tiles = kernel.tiles.iter().find(|tiles| tiles.rows <= m - row).unwrap_unchecked();
                let rows = tiles.rows;
                let (tile, a, lda) = match a {
                    Left::Rows(a, lda) => (tiles.by_rows, a.add(row * lda), lda),
                    Left::Columns(a, lda) => (tiles.by_columns, a.add(row), lda),
                    Left::Tiles(a, depth) => {
                        let mr = kernel.mr();
                        (tiles.by_columns, a.add(row / mr * mr * depth + row % mr), mr)
                    }
                };
                let c = c.add(row * ldc + column);
                let from = if init.is_null() { init } else { init.add(row * ldi + column) };
                if columns == kernel.nr {
                    tile(k, a, lda, b, c, ldc, from, ldi);
                } else {
                    // The last panel is wider than C, so it needs a separate tile.
                    let mut whole = [F::ZERO; TILE_MAX];
                    if !from.is_null() {
                        for i in 0..rows {
                            for j in 0..columns {
                                whole[i * kernel.nr + j] = *from.add(i * ldi + j);
                            }
                        }
                    }
                    tile(k, a, lda, b, whole.as_mut_ptr(), kernel.nr, whole.as_ptr(), kernel.nr);
                    for i in 0..rows {
                        for j in 0..columns {
                            *c.add(i * ldc + j) = whole[i * kernel.nr + j];
                        }
                    }
                }
                row += rows;
            }
        }
    }
}

/// c\[m, n\] = a · B on one thread, for slices with strides.
pub fn product<F: Float>(
    kernel: &MatmulKernel<F>,
    (m, n, k): (usize, usize, usize),
    (a, lda): (&[F], usize),
    (panels, panel_stride): (&[F], usize),
    (c, ldc): (&mut [F], usize),
) {
    let count = n.div_ceil(kernel.nr);
    assert!(m > 0 && count > 0 && a.len() >= (m - 1) * lda + k && c.len() >= (m - 1) * ldc + n);
    assert!(panels.len() >= (count - 1) * panel_stride + k * kernel.nr);
    let (left, init) = (Left::Rows(a.as_ptr(), lda), (std::ptr::null(), 0));
    // SAFETY: as asserted; c is borrowed exclusively.
    unsafe { block(kernel, (m, n, k), left, (panels.as_ptr(), panel_stride), (c.as_mut_ptr(), ldc), init) };
}

/// y\[m, n\] = x\[m, k\] · B (+ `residual`), with B packed.
pub fn rows<F: Float>(
    kernel: &MatmulKernel<F>,
    (m, n, k): (usize, usize, usize),
    x: &[F],
    panels: &[F],
    residual: Option<&[F]>,
    y: &mut [F],
) {
    assert!(x.len() >= m * k && y.len() >= m * n && panels.len() >= packed_len(kernel, k, n));
    assert!(residual.is_none_or(|r| r.len() >= m * n));
    let row_blocks = m.div_ceil(ROW_BLOCK);
    let all_panels = n.div_ceil(kernel.nr);
    // With few rows, as in decoding, the columns are split too, so that every thread has work.
    let column_groups = (4 * rayon::current_num_threads()).div_ceil(row_blocks.max(1)).min(all_panels);
    let group = all_panels.div_ceil(column_groups);
    let y = DisjointSlice::new(y);
    (0..row_blocks * column_groups).into_par_iter().for_each(|task| {
        let (row, first) = (task / column_groups * ROW_BLOCK, task % column_groups * group);
        let rows = ROW_BLOCK.min(m - row);
        let columns = (group * kernel.nr).min(n.saturating_sub(first * kernel.nr));
        if columns == 0 {
            return;
        }
        let at = row * n + first * kernel.nr;
        for from in (0..k).step_by(K_BLOCK) {
            let depth = K_BLOCK.min(k - from);
            // SAFETY: the sizes are asserted above, and each task has its own rows and columns of y.
            unsafe {
                let c = y.at(at);
                let init = match residual {
                    _ if from > 0 => c as *const F,
                    Some(residual) => residual.as_ptr().add(at),
                    None => std::ptr::null(),
                };
                block(
                    kernel,
                    (rows, columns, depth),
                    Left::Rows(x.as_ptr().add(row * k + from), k),
                    (panels.as_ptr().add((first * k + from) * kernel.nr), k * kernel.nr),
                    (c, n),
                    (init, n),
                );
            }
        }
    });
}

/// grad\[n, k\] = dyᵀ · x over `rows` rows, dy being `[rows, n]` and x `[rows, k]`.
pub fn weight_gradient<F: Float>(
    kernel: &MatmulKernel<F>,
    (rows, n, k): (usize, usize, usize),
    dy: &[F],
    x: &[F],
    grad: &mut [F],
) {
    assert!(dy.len() >= rows * n && x.len() >= rows * k && grad.len() >= n * k);
    if rows == 0 {
        return grad[..n * k].fill(F::ZERO);
    }
    let (mr, nr) = (kernel.mr(), kernel.nr);
    let tiles = n.div_ceil(mr);
    // Wide tasks read dy in long runs and x rarely; every thread has the same number of tasks.
    let threads = rayon::current_num_threads();
    let tasks = threads * tiles.div_ceil(threads * TASK_TILES);
    let per_task = tiles.div_ceil(tasks);
    grad[..n * k].par_chunks_mut(per_task * mr * k).enumerate().for_each(|(task, grad)| {
        let first = task * per_task * mr;
        let rows_of_grad = grad.len() / k;
        with_scratch::<F, _>((nr + per_task * mr) * K_BLOCK, |scratch| {
            let (panel, packed) = scratch.split_at_mut(nr * K_BLOCK);
            for from in (0..rows).step_by(K_BLOCK) {
                let depth = K_BLOCK.min(rows - from);
                pack_columns(&dy[from * n..], depth, n, first..first + rows_of_grad, mr, packed);
                for column in (0..k).step_by(nr) {
                    // Each task packs its own panels of x: a panel in the L1 cache costs less than a shared one in memory.
                    let columns = nr.min(k - column);
                    copy_lines(&x[from * k + column..], k, columns, nr, &mut panel[..depth * nr]);
                    let c = grad[column..].as_mut_ptr();
                    let init = if from > 0 { c as *const F } else { std::ptr::null() };
                    // SAFETY: the sizes are asserted above, `packed` holds the tiles of all rows of `grad`, which is this
                    // task's, and `panel` the block's rows of these columns of x.
                    unsafe {
                        block(
                            kernel,
                            (rows_of_grad, columns, depth),
                            Left::Tiles(packed.as_ptr(), depth),
                            (panel.as_ptr(), 0),
                            (c, k),
                            (init, k),
                        );
                    }
                }
            }
        });
    });
}
