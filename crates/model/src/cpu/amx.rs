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

use super::memory::{Shared, with_scratch};
use rayon::prelude::*;
use std::arch::asm;
use std::arch::x86_64::*;

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

/// Whether the processor has the unit and the system lets this process use it.
pub fn available() -> bool {
    let leaf = __cpuid_count(7, 0);
    let (bf16, tile) = (leaf.edx >> 22 & 1, leaf.edx >> 24 & 1);
    bf16 == 1 && tile == 1 && permitted()
}

/// Linux gives the unit's large registers only to who asks.
#[cfg(target_os = "linux")]
fn permitted() -> bool {
    unsafe extern "C" {
        fn syscall(number: i64, ...) -> i64;
    }
    const ARCH_PRCTL: i64 = 158;
    const ARCH_REQ_XCOMP_PERM: i64 = 0x1023;
    const XTILEDATA: i64 = 18;
    // Sound: the call only asks for leave.
    unsafe { syscall(ARCH_PRCTL, ARCH_REQ_XCOMP_PERM, XTILEDATA) == 0 }
}

#[cfg(not(target_os = "linux"))]
fn permitted() -> bool {
    false
}

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

/// The unit, set up on this thread for tiles of 16 rows of 64 bytes until it is dropped.
struct Unit;

impl Unit {
    fn start() -> Self {
        #[repr(C, align(64))]
        struct Setup {
            palette: [u8; 16],
            row_bytes: [u16; 16],
            rows: [u8; 16],
        }
        let each = |i: usize| i < 8;
        let setup = Setup {
            palette: std::array::from_fn(|i| (i == 0) as u8),
            row_bytes: std::array::from_fn(|i| if each(i) { 64 } else { 0 }),
            rows: std::array::from_fn(|i| if each(i) { 16 } else { 0 }),
        };
        // Sound: only reached where `available`.
        unsafe { asm!("ldtilecfg [{}]", in(reg) &setup, options(nostack, readonly)) };
        Unit
    }

    /// A block of C, `size` of it, = init + left · right; `init` is null for zero, or lies like C.
    ///
    /// # Safety
    /// `c` and a non-null `init` reach `size` with rows `stride` apart.
    unsafe fn multiply(
        &self,
        left: &[f32],
        right: &[f32],
        (rows, columns): (usize, usize),
        (c, stride): (*mut f32, usize),
        init: *const f32,
    ) {
        assert_eq!(left.len(), right.len());
        unsafe {
            if (rows, columns) == (EDGE, EDGE) {
                return chain(left, right, c, stride, init);
            }
            // Less than a block: through one of its own.
            let mut whole = [0f32; EDGE * EDGE];
            if !init.is_null() {
                for i in 0..rows {
                    init.add(i * stride).copy_to_nonoverlapping(whole.as_mut_ptr().add(i * EDGE), columns);
                }
            }
            chain(left, right, whole.as_mut_ptr(), EDGE, whole.as_ptr());
            for i in 0..rows {
                whole.as_ptr().add(i * EDGE).copy_to_nonoverlapping(c.add(i * stride), columns);
            }
        }
    }
}

impl Drop for Unit {
    fn drop(&mut self) {
        // Sound: as `start`.
        unsafe { asm!("tilerelease", options(nostack, nomem)) };
    }
}

/// Tiles 0 to 3 are the block of C, 4 and 5 of the left factor, 6 and 7 of the right one.
unsafe fn chain(left: &[f32], right: &[f32], c: *mut f32, stride: usize, init: *const f32) {
    unsafe {
        let below = 16 * stride;
        if init.is_null() {
            asm!("tilezero tmm0", "tilezero tmm1", "tilezero tmm2", "tilezero tmm3", options(nostack, nomem));
        } else {
            asm!(
                "tileloadd tmm0, [{upper} + {stride}]",
                "tileloadd tmm1, [{upper} + {stride} + 64]",
                "tileloadd tmm2, [{lower} + {stride}]",
                "tileloadd tmm3, [{lower} + {stride} + 64]",
                upper = in(reg) init,
                lower = in(reg) init.add(below),
                stride = in(reg) 4 * stride,
                options(nostack, readonly),
            );
        }
        for (step, (left, right)) in left.as_chunks::<WORDS>().0.iter().zip(right.as_chunks::<WORDS>().0).enumerate() {
            // What is stored in the end is fetched meanwhile, a few rows a step.
            for row in 4 * step..(4 * step + 4).min(EDGE) {
                _mm_prefetch::<_MM_HINT_T1>(c.add(row * stride).cast());
                _mm_prefetch::<_MM_HINT_T1>(c.add(row * stride + 16).cast());
            }
            macro_rules! four {
                () => {
                    "tdpbf16ps tmm0, tmm4, tmm6
                     tdpbf16ps tmm1, tmm4, tmm7
                     tdpbf16ps tmm2, tmm5, tmm6
                     tdpbf16ps tmm3, tmm5, tmm7"
                };
            }
            // Parts lie 2048 bytes apart. In this order few tiles are loaded again:
            // x₁w₃, x₁w₂, x₁w₁, x₃w₁, x₂w₁, x₂w₂.
            asm!(
                "tileloadd tmm4, [{x} + {row}]",
                "tileloadd tmm5, [{x} + {row} + 1024]",
                "tileloadd tmm6, [{w} + {row} + 4096]",
                "tileloadd tmm7, [{w} + {row} + 5120]",
                four!(),
                "tileloadd tmm6, [{w} + {row} + 2048]",
                "tileloadd tmm7, [{w} + {row} + 3072]",
                four!(),
                "tileloadd tmm6, [{w} + {row}]",
                "tileloadd tmm7, [{w} + {row} + 1024]",
                four!(),
                "tileloadd tmm4, [{x} + {row} + 4096]",
                "tileloadd tmm5, [{x} + {row} + 5120]",
                four!(),
                "tileloadd tmm4, [{x} + {row} + 2048]",
                "tileloadd tmm5, [{x} + {row} + 3072]",
                four!(),
                "tileloadd tmm6, [{w} + {row} + 2048]",
                "tileloadd tmm7, [{w} + {row} + 3072]",
                four!(),
                x = in(reg) left,
                w = in(reg) right,
                row = in(reg) 64usize,
                options(nostack, readonly),
            );
        }
        asm!(
            "tilestored [{upper} + {stride}], tmm0",
            "tilestored [{upper} + {stride} + 64], tmm1",
            "tilestored [{lower} + {stride}], tmm2",
            "tilestored [{lower} + {stride} + 64], tmm3",
            upper = in(reg) c,
            lower = in(reg) c.add(below),
            stride = in(reg) 4 * stride,
            options(nostack),
        );
    }
}

/// Pairs are neighbours in a row of the source, or in a column.
const ALONG: bool = false;
const ACROSS: bool = true;

/// Arranges the block at (row, column) of a source `[rows, columns]`; what the source lacks is zero. A tile's rows run over
/// the source's rows if pairs lie along them and over the pairs if they lie across; transposed, the other way round.
fn arrange<const PAIRS: bool, const TRANSPOSED: bool>(
    source: &[f32],
    (rows, columns): (usize, usize),
    (row, column): (usize, usize),
    out: &mut [f32],
) {
    let out: &mut [f32; WORDS] = out.try_into().expect("a block");
    let (tall, wide) = (EDGE.min(rows - row), EDGE.min(columns - column));
    let source = &source[row * columns + column..(row + tall - 1) * columns + column + wide];
    // Sound: only reached where `available`, on processors that have AVX-512 too; a whole block lies within the source.
    if (tall, wide) == (EDGE, EDGE) {
        return unsafe { arrange_whole::<PAIRS, TRANSPOSED>(source.as_ptr(), columns, out) };
    }
    let mut whole = [0f32; EDGE * EDGE];
    for (line, source) in whole.chunks_exact_mut(EDGE).zip(source.chunks(columns)) {
        line[..wide].copy_from_slice(&source[..wide]);
    }
    unsafe { arrange_whole::<PAIRS, TRANSPOSED>(whole.as_ptr(), EDGE, out) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn arrange_whole<const PAIRS: bool, const TRANSPOSED: bool>(
    source: *const f32,
    stride: usize,
    out: &mut [f32; WORDS],
) {
    // Sound: the source is a whole block with rows `stride` apart, and every line of `out` holds a vector.
    unsafe {
        let upper = _mm512_loadu_si512(UPPER.as_ptr().cast());
        let tiles = out.as_chunks_mut::<16>().0.as_chunks_mut::<16>().0;
        for (half, line) in (0..32).map(|i| (i / 16, i % 16)) {
            let (from, next) = match PAIRS {
                ALONG => ((16 * half + line) * stride, 16),
                ACROSS => (2 * line * stride + 16 * half, stride),
            };
            let (one, other) = (_mm512_loadu_ps(source.add(from)), _mm512_loadu_ps(source.add(from + next)));
            for (part, (one, other)) in parts(one).into_iter().zip(parts(other)).enumerate() {
                let pairs = match PAIRS {
                    ALONG => _mm512_permutex2var_epi16(one, upper, other),
                    ACROSS => _mm512_or_si512(_mm512_srli_epi32(one, 16), other),
                };
                _mm512_storeu_si512(tiles[2 * part + half][line].as_mut_ptr().cast(), pairs);
            }
        }
        if TRANSPOSED {
            tiles.iter_mut().for_each(|tile| transpose(tile));
        }
    }
}

/// The upper halves of 16 + 16 words, in order.
const UPPER: [u16; 32] = {
    let mut upper = [0; 32];
    let mut i = 0;
    while i < 32 {
        upper[i] = 2 * i as u16 + 1;
        i += 1;
    }
    upper
};

/// x₁, x₂, x₃: each the upper half of its word, the nearest to what the ones before leave; the lower halves are zero.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn parts(x: __m512) -> [__m512i; 3] {
    let upper = |x: __m512| {
        let rounded = _mm512_add_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(0x8000));
        _mm512_and_si512(rounded, _mm512_set1_epi32(0xffff_0000_u32 as i32))
    };
    let first = upper(x);
    let rest = _mm512_sub_ps(x, _mm512_castsi512_ps(first));
    let second = upper(rest);
    // At most eight of a number's 24 bits are left.
    [first, second, _mm512_castps_si512(_mm512_sub_ps(rest, _mm512_castsi512_ps(second)))]
}

/// 16 × 16 words, by exchanging quarters, then quarters of those, down to single words.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn transpose(tile: &mut [[f32; 16]; 16]) {
    // Sound: every line holds a vector.
    let mut rows: [__m512i; 16] = std::array::from_fn(|i| unsafe { _mm512_loadu_si512(tile[i].as_ptr().cast()) });
    let lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    for distance in [8, 4, 2, 1] {
        let far = _mm512_set1_epi32(distance as i32);
        let upper = _mm512_test_epi32_mask(lanes, far);
        // From the second of two rows come the lanes 16 and on.
        let first = _mm512_mask_add_epi32(lanes, upper, lanes, _mm512_sub_epi32(_mm512_set1_epi32(16), far));
        let second = _mm512_mask_add_epi32(_mm512_add_epi32(lanes, far), upper, lanes, _mm512_set1_epi32(16));
        for i in (0..16).filter(|i| i & distance == 0) {
            let (a, b) = (rows[i], rows[i + distance]);
            rows[i] = _mm512_permutex2var_epi32(a, first, b);
            rows[i + distance] = _mm512_permutex2var_epi32(a, second, b);
        }
    }
    for (line, row) in tile.iter_mut().zip(rows) {
        unsafe { _mm512_storeu_si512(line.as_mut_ptr().cast(), row) };
    }
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
