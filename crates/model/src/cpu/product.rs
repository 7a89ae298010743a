//! Matrix products over packed panels, in parallel.
//!
//! B is packed into panels of `nr` columns, `[panel][k][nr]`, the last one filled up with zeros. A is read where it
//! lies when its rows are contiguous, and packed in blocks when it is a transposed activation (gradients of weights).

use super::Float;
use super::memory::{Shared, with_scratch};
use super::pack::{pack, pack_columns, packed_len};
use super::tile::{Kernel, TILE_MAX};
use rayon::prelude::*;

/// k is cut into blocks of this many, so that a panel's block stays in the first cache.
const K_BLOCK: usize = 256;
/// Rows of A per task.
const ROW_BLOCK: usize = 48;

/// The left factor: a pointer to contiguous rows, or to contiguous columns, and how far apart they are; or to packed
/// tiles of `mr` rows, and how many columns they have.
#[derive(Clone, Copy)]
pub enum Left<F> {
    Rows(*const F, usize),
    Columns(*const F, usize),
    Tiles(*const F, usize),
}

/// c\[m, n\] = init + a · B on one thread, for `k` of the packed panels' depth; panels are `panel_stride` apart.
///
/// # Safety
/// `a` reaches m × k, `panels` all panels of n columns, `c` and a non-null `init`
/// m × n with theirs.
pub unsafe fn block<F: Float>(
    kernel: &Kernel<F>,
    (m, n, k): (usize, usize, usize),
    a: Left<F>,
    (panels, panel_stride): (*const F, usize),
    (c, ldc): (*mut F, usize),
    (init, ldi): (*const F, usize),
) {
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
                    // The last panel is wider than C: through a tile of its own.
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

/// y\[m, n\] = x\[m, k\] · B, plus `residual` where given, B packed.
pub fn rows_product<F: Float>(
    kernel: &Kernel<F>,
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
    // Few rows, as in decoding: the columns are split as well, so that every thread has work.
    let column_groups = (4 * rayon::current_num_threads()).div_ceil(row_blocks.max(1)).min(all_panels);
    let group = all_panels.div_ceil(column_groups);
    let y = Shared::new(y);
    (0..row_blocks * column_groups).into_par_iter().for_each(|task| {
        let (row, first) = (task / column_groups * ROW_BLOCK, task % column_groups * group);
        let rows = ROW_BLOCK.min(m - row);
        let columns = (group * kernel.nr).min(n.saturating_sub(first * kernel.nr));
        let at = row * n + first * kernel.nr;
        for from in (0..k).step_by(K_BLOCK) {
            let depth = K_BLOCK.min(k - from);
            // Sound: sizes asserted above; each task has its own rows and columns of y.
            unsafe {
                let c = y.at(at);
                let init = match residual {
                    _ if from > 0 => c as *const F,
                    Some(residual) => residual.as_ptr().wrapping_add(at),
                    None => std::ptr::null(),
                };
                block(
                    kernel,
                    (rows, columns, depth),
                    Left::Rows(x.as_ptr().add(row * k + from), k),
                    (panels.as_ptr().wrapping_add((first * k + from) * kernel.nr), k * kernel.nr),
                    (c, n),
                    (init, n),
                );
            }
        }
    });
}

/// grad\[n, k\] = dyᵀ · x over `rows` rows, dy being `[rows, n]` and x `[rows, k]`; `panels` is scratch for x packed.
pub fn weight_gradient<F: Float>(
    kernel: &Kernel<F>,
    (rows, n, k): (usize, usize, usize),
    dy: &[F],
    x: &[F],
    panels: &mut [F],
    grad: &mut [F],
) {
    assert!(dy.len() >= rows * n && x.len() >= rows * k && grad.len() >= n * k);
    if rows == 0 {
        return grad[..n * k].fill(F::ZERO);
    }
    // Block by block of rows, so that a block's panels lie together.
    let wide = packed_len(kernel, 1, k);
    panels[..rows * wide]
        .par_chunks_mut(K_BLOCK * wide)
        .zip(x[..rows * k].par_chunks(K_BLOCK * k))
        .for_each(|(panels, x)| pack(kernel, x, x.len() / k, k, panels));
    let mr = kernel.mr();
    let tiles = n.div_ceil(mr);
    // Wide tasks read dy in long runs, and x seldom; the tiles of one still fit the second cache.
    let per_task = tiles.div_ceil(rayon::current_num_threads()).clamp(1, 64);
    let panels = &*panels;
    grad[..n * k].par_chunks_mut(per_task * mr * k).enumerate().for_each(|(task, grad)| {
        let first = task * per_task * mr;
        let columns = grad.len() / k;
        with_scratch::<F, _>(per_task * mr * K_BLOCK, |packed| {
            for from in (0..rows).step_by(K_BLOCK) {
                let depth = K_BLOCK.min(rows - from);
                pack_columns(&dy[from * n..], depth, n, first..first + columns, mr, packed);
                let c = grad.as_mut_ptr();
                let init = if from > 0 { c as *const F } else { std::ptr::null() };
                // Sound: sizes asserted above, and `packed` holds all columns' tiles.
                unsafe {
                    block(
                        kernel,
                        (columns, k, depth),
                        Left::Tiles(packed.as_ptr(), depth),
                        (panels.as_ptr().add(from * wide), depth * kernel.nr),
                        (c, k),
                        (init, k),
                    );
                }
            }
        });
    });
}

#[cfg(test)]
mod tests {
    use super::super::pack::pack_transposed;
    use super::*;

    fn numbers(len: usize, seed: usize) -> Vec<f64> {
        (0..len).map(|i| ((i * 7919 + seed * 104_729) % 1009) as f64 / 1009.0 - 0.5).collect()
    }

    /// c[i][j] = sum of a(i, p) b(p, j), the obvious way.
    fn naive(
        (m, n, k): (usize, usize, usize),
        a: impl Fn(usize, usize) -> f64,
        b: impl Fn(usize, usize) -> f64,
    ) -> Vec<f64> {
        (0..m * n).map(|at| (0..k).map(|p| a(at / n, p) * b(p, at % n)).sum()).collect()
    }

    fn close(got: &[f64], expected: &[f64]) {
        assert_eq!(got.len(), expected.len());
        for (g, e) in got.iter().zip(expected) {
            assert!((g - e).abs() < 1e-12, "{g} is not {e}");
        }
    }

    #[test]
    fn products_equal_three_loops_at_awkward_sizes() {
        for (m, n, k) in [(1, 1, 1), (5, 7, 3), (49, 33, 40), (13, 100, 600), (60, 16, 1100)] {
            let kernel = f64::kernel();
            let (x, w, r) = (numbers(m * k, 1), numbers(n * k, 2), numbers(m * n, 3));
            let mut panels = vec![0.0; packed_len(&kernel, k, n)];
            let mut y = vec![0.0; m * n];
            pack_transposed(&kernel, &w, n, k, &mut panels);
            rows_product(&kernel, (m, n, k), &x, &panels, Some(&r), &mut y);
            let mut expected = naive((m, n, k), |i, p| x[i * k + p], |p, j| w[j * k + p]);
            expected.iter_mut().zip(&r).for_each(|(e, r)| *e += r);
            close(&y, &expected);

            let mut panels = vec![0.0; packed_len(&kernel, n, k)];
            let mut dx = vec![0.0; m * k];
            pack(&kernel, &w, n, k, &mut panels);
            rows_product(&kernel, (m, k, n), &y, &panels, None, &mut dx);
            close(&dx, &naive((m, k, n), |i, p| y[i * n + p], |p, j| w[p * k + j]));

            let mut panels = vec![0.0; packed_len(&kernel, m, k)];
            let mut grad = vec![0.0; n * k];
            weight_gradient(&kernel, (m, n, k), &y, &x, &mut panels, &mut grad);
            close(&grad, &naive((n, k, m), |i, p| y[p * n + i], |p, j| x[p * k + j]));
        }
    }
}
