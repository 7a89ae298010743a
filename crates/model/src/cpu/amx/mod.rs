//! Matrix products on Intel's tile unit (AMX), f32 in and out.
//!
//! The unit multiplies bf16. Every f32 is exactly the sum of three bf16 numbers, x = x₁ + x₂ + x₃, each at most 2⁻⁸ of the
//! one before; of the nine products of two such sums, the six largest are added up. The others are below 2⁻²³ of the whole
//! and mostly far smaller, where f32 rounds away up to 2⁻²⁴ at every addition. That is six passes, and still faster than
//! fused multiply-adds, which real numbers (unlike constants) hold to three quarters of their peak.
//!
//! Both factors are cut into blocks of 32 × 32, each [`BLOCK`] bytes: three parts of two tiles of 16 rows of 16 pairs; a
//! pair's two numbers are neighbours along the inner dimension. A block of C is one chain over the blocks of the inner
//! dimension, so its bits depend on neither threads nor neighbours.

mod arrange;
mod unit;

pub use unit::available;

use super::memory::{Shared, with_scratch};
use arrange::{ACROSS, ALONG, arrange};
use rayon::prelude::*;
use unit::Unit;

/// Rows and columns of a block.
const EDGE: usize = 32;
/// Bytes of a tile, and of a block's six.
const TILE: usize = 1024;
const BLOCK: usize = 6 * TILE;
/// Numbers of f32 that fill a block.
const WORDS: usize = BLOCK / 4;
/// Blocks of the inner dimension that are gone through at once, so that what is multiplied stays in the caches.
const DEPTH: usize = 8;
/// The same where both factors are packed block by block.
const GRADIENT_DEPTH: usize = 4;
/// Rows of C per task.
const ROWS: usize = 128;

/// Numbers of f32 that a factor fills when it is cut into blocks.
pub fn packed_len(rows: usize, columns: usize) -> usize {
    rows.div_ceil(EDGE) * columns.div_ceil(EDGE) * WORDS
}

/// Packs wᵀ, w being `[n, k]`, as a right factor: `[n / 32][k / 32]` blocks.
pub fn pack_transposed(w: &[f32], n: usize, k: usize, out: &mut [f32]) {
    let steps = k.div_ceil(EDGE);
    out[..packed_len(n, k)].par_chunks_mut(steps * WORDS).enumerate().for_each(|(panel, out)| {
        for (step, block) in out.chunks_exact_mut(WORDS).enumerate() {
            arrange::<ALONG, true>(w, (n, k), (panel * EDGE, step * EDGE), block);
        }
    });
}

/// Packs b, `[k, n]`, as a right factor: `[n / 32][k / 32]` blocks.
pub fn pack(b: &[f32], k: usize, n: usize, out: &mut [f32]) {
    let (steps, panels) = (k.div_ceil(EDGE), n.div_ceil(EDGE));
    let out = Shared::new(&mut out[..packed_len(k, n)]);
    (0..steps).into_par_iter().for_each(|step| {
        for panel in 0..panels {
            // Sound: each task has its own blocks.
            let block = unsafe { out.slice((panel * steps + step) * WORDS, WORDS) };
            arrange::<ACROSS, false>(b, (k, n), (step * EDGE, panel * EDGE), block);
        }
    });
}

/// y\[m, n\] = x\[m, k\] · B, plus `residual` where given, B packed.
pub fn rows_product(
    (m, n, k): (usize, usize, usize),
    x: &[f32],
    panels: &[f32],
    residual: Option<&[f32]>,
    y: &mut [f32],
) {
    assert!(x.len() >= m * k && y.len() >= m * n && panels.len() >= packed_len(n, k));
    assert!(residual.is_none_or(|r| r.len() >= m * n));
    let (row_blocks, all_panels, steps) = (m.div_ceil(ROWS), n.div_ceil(EDGE), k.div_ceil(EDGE));
    // Few rows, as in decoding: the columns are split as well, so that every thread has work.
    let column_groups = (4 * rayon::current_num_threads()).div_ceil(row_blocks.max(1)).min(all_panels);
    let group = all_panels.div_ceil(column_groups);
    let y = Shared::new(y);
    (0..row_blocks * column_groups).into_par_iter().for_each(|task| {
        let (first, panel) = (task / column_groups * ROWS, task % column_groups * group);
        let (last, end) = ((first + ROWS).min(m), (panel + group).min(all_panels));
        with_scratch::<f32, _>(ROWS / EDGE * DEPTH * WORDS, |left| {
            let unit = Unit::start();
            for from in (0..steps).step_by(DEPTH) {
                let depth = DEPTH.min(steps - from);
                let places =
                    (first..last).step_by(EDGE).flat_map(|row| (from..from + depth).map(move |step| (row, step)));
                for ((row, step), block) in places.zip(left.chunks_exact_mut(WORDS)) {
                    arrange::<ALONG, false>(x, (m, k), (row, step * EDGE), block);
                }
                for panel in panel..end {
                    let right = &panels[(panel * steps + from) * WORDS..][..depth * WORDS];
                    for (row, left) in (first..last).step_by(EDGE).zip(left.chunks_exact(depth * WORDS)) {
                        let (column, at) = (panel * EDGE, row * n + panel * EDGE);
                        let size = (EDGE.min(m - row), EDGE.min(n - column));
                        // Sound: sizes asserted above; each task has its own rows and columns of y.
                        unsafe {
                            let c = y.at(at);
                            let init = match residual {
                                _ if from > 0 => c as *const f32,
                                Some(residual) => residual.as_ptr().add(at),
                                None => std::ptr::null(),
                            };
                            unit.multiply(left, right, size, (c, n), init);
                        }
                    }
                }
            }
        });
    });
}

/// grad\[n, k\] = dyᵀ · x over `rows` rows, dy being `[rows, n]` and x `[rows, k]`.
pub fn weight_gradient((rows, n, k): (usize, usize, usize), dy: &[f32], x: &[f32], grad: &mut [f32]) {
    assert!(dy.len() >= rows * n && x.len() >= rows * k && grad.len() >= n * k);
    if rows == 0 {
        return grad[..n * k].fill(0.0);
    }
    // Every task packs what it reads: the fewer and the squarer, the better.
    let (steps, mut tall, mut wide) = (rows.div_ceil(EDGE), n.div_ceil(EDGE), k.div_ceil(EDGE));
    let (rows_of_tiles, columns_of_tiles) = (tall, wide);
    let tasks = |tall: usize, wide: usize| rows_of_tiles.div_ceil(tall) * columns_of_tiles.div_ceil(wide);
    while tasks(tall, wide) < rayon::current_num_threads() && tall * wide > 1 {
        (tall, wide) = if tall >= wide { (tall.div_ceil(2), wide) } else { (tall, wide.div_ceil(2)) };
    }
    let across = columns_of_tiles.div_ceil(wide);
    let grad = Shared::new(grad);
    (0..tasks(tall, wide)).into_par_iter().for_each(|task| {
        let lefts = tiles(task / across * tall, tall, n);
        let rights = tiles(task % across * wide, wide, k);
        with_scratch::<f32, _>((tall + wide) * GRADIENT_DEPTH * WORDS, |scratch| {
            let unit = Unit::start();
            for from in (0..steps).step_by(GRADIENT_DEPTH) {
                let depth = GRADIENT_DEPTH.min(steps - from);
                let (left, right) = scratch.split_at_mut(tall * depth * WORDS);
                for step in 0..depth {
                    let row = (from + step) * EDGE;
                    for (tile, column) in lefts.clone().enumerate() {
                        let block = &mut left[(tile * depth + step) * WORDS..][..WORDS];
                        arrange::<ACROSS, true>(dy, (rows, n), (row, column), block);
                    }
                    for (tile, column) in rights.clone().enumerate() {
                        let block = &mut right[(tile * depth + step) * WORDS..][..WORDS];
                        arrange::<ACROSS, false>(x, (rows, k), (row, column), block);
                    }
                }
                for (column, right) in rights.clone().zip(right.chunks_exact(depth * WORDS)) {
                    for (row, left) in lefts.clone().zip(left.chunks_exact(depth * WORDS)) {
                        let size = (EDGE.min(n - row), EDGE.min(k - column));
                        // Sound: sizes asserted above; each task has its own blocks of the gradient.
                        unsafe {
                            let c = grad.at(row * k + column);
                            let init = if from > 0 { c as *const f32 } else { std::ptr::null() };
                            unit.multiply(left, right, size, (c, k), init);
                        }
                    }
                }
            }
        });
    });
}

/// Where `count` tiles from `first` on begin, of `length` numbers.
fn tiles(first: usize, count: usize, length: usize) -> impl Iterator<Item = usize> + Clone {
    (first * EDGE..((first + count) * EDGE).min(length)).step_by(EDGE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::Stream;

    fn normals(len: usize, seed: u64) -> Vec<f32> {
        let mut stream = Stream::new("amx", [seed, 0, 0]);
        // Of very different sizes, as gradients are.
        (0..len).map(|_| ((stream.uniform() - 0.5) * (10.0 * stream.uniform()).exp()) as f32).collect()
    }

    /// Sums in f64, and of absolute values, by which rounding is measured.
    fn naive(
        (m, n, k): (usize, usize, usize),
        a: impl Fn(usize, usize) -> f32,
        b: impl Fn(usize, usize) -> f32,
    ) -> Vec<(f64, f64)> {
        let at = |i: usize, j: usize| {
            let terms = (0..k).map(|p| a(i, p) as f64 * b(p, j) as f64);
            terms.fold((0.0, 0.0), |(sum, size), term| (sum + term, size + term.abs()))
        };
        (0..m * n).map(|i| at(i / n, i % n)).collect()
    }

    /// As exact as f32 is: within a few of its roundings of the terms' sizes.
    fn exact_as_f32(got: &[f32], expected: &[(f64, f64)]) {
        assert_eq!(got.len(), expected.len());
        for (&got, &(sum, size)) in got.iter().zip(expected) {
            assert!((got as f64 - sum).abs() <= 8.0 * f32::EPSILON as f64 * size, "{got} is not {sum} of {size}");
        }
    }

    #[test]
    fn products_are_as_exact_as_f32_at_awkward_sizes() {
        if !std::arch::is_x86_feature_detected!("avx512bw") || !available() {
            return eprintln!("this machine has no tile unit: nothing to test");
        }
        for (m, n, k) in [(1, 1, 1), (5, 7, 3), (49, 33, 40), (70, 100, 600), (64, 64, 64), (33, 96, 288)] {
            let (x, w, r, dy) = (normals(m * k, 1), normals(n * k, 2), normals(m * n, 3), normals(m * n, 4));
            let mut panels = vec![f32::NAN; packed_len(n, k)];
            let mut y = vec![f32::NAN; m * n];
            pack_transposed(&w, n, k, &mut panels);
            rows_product((m, n, k), &x, &panels, Some(&r), &mut y);
            let mut expected = naive((m, n, k), |i, p| x[i * k + p], |p, j| w[j * k + p]);
            for (expected, &r) in expected.iter_mut().zip(&r) {
                *expected = (expected.0 + r as f64, expected.1 + r.abs() as f64);
            }
            exact_as_f32(&y, &expected);

            let mut panels = vec![f32::NAN; packed_len(n, k)];
            let mut dx = vec![f32::NAN; m * k];
            pack(&w, n, k, &mut panels);
            rows_product((m, k, n), &dy, &panels, None, &mut dx);
            exact_as_f32(&dx, &naive((m, k, n), |i, p| dy[i * n + p], |p, j| w[p * k + j]));

            let mut grad = vec![f32::NAN; n * k];
            weight_gradient((m, n, k), &dy, &x, &mut grad);
            exact_as_f32(&grad, &naive((n, k, m), |i, p| dy[p * n + i], |p, j| x[p * k + j]));
        }
    }
}
