//! Causal attention within packed spans, rotary positions applied on the way.
//!
//! One task per span; per head the rotated keys and the values are packed, and queries go through in blocks of
//! [`QUERIES`]: a block's scores live in scratch, never the whole score matrix. The way back recomputes them from the
//! log-sum-exp kept per row.

use super::memory::{Shared, with_scratch};
use super::pack::{copy_lines, packed_len, transpose};
use super::product::{Left, block};
use super::simd::{self, LANES, per_level};
use super::tile::Kernel;
use super::{Float, rope::Rope};
use crate::Span;
use rayon::prelude::*;

/// Queries per block of scores.
const QUERIES: usize = 48;

/// Sizes that all spans of a batch share.
#[derive(Clone, Copy)]
pub struct Heads {
    pub heads: usize,
    pub head_width: usize,
}

impl Heads {
    pub fn width(&self) -> usize {
        self.heads * self.head_width
    }
}

/// out and log_sum of all `spans` of one member, from its rows of `qkv`.
pub fn forward<F: Float>(
    kernel: &Kernel<F>,
    heads: Heads,
    rope: &Rope<F>,
    spans: &[Span],
    qkv: &[F],
    out: &mut [F],
    log_sum: &mut [F],
) {
    let (out, log_sum) = (Shared::new(out), Shared::new(log_sum));
    spans.par_iter().for_each(|span| {
        let (start, len) = (span.start as usize, span.len as usize);
        let width = heads.width();
        let qkv = &qkv[start * 3 * width..][..len * 3 * width];
        // Sound: spans are disjoint rows.
        let (out, log_sum) =
            unsafe { (out.slice(start * width, len * width), log_sum.slice(start * heads.heads, len * heads.heads)) };
        for head in 0..heads.heads {
            forward_head(kernel, heads, rope, head, len, qkv, out, log_sum);
        }
    });
}

#[allow(clippy::too_many_arguments)]
fn forward_head<F: Float>(
    kernel: &Kernel<F>,
    heads: Heads,
    rope: &Rope<F>,
    head: usize,
    len: usize,
    qkv: &[F],
    out: &mut [F],
    log_sum: &mut [F],
) {
    let (width, d) = (heads.width(), heads.head_width);
    let padded = len.next_multiple_of(LANES);
    let sizes = [len * d, len * d, padded * d, packed_len(kernel, len, d), QUERIES * padded];
    with_scratch::<F, _>(sizes.iter().sum(), |scratch| {
        let [queries, turned, keys, values, scores] = split(scratch, sizes);
        let scale = F::of(1.0 / (d as f64).sqrt());
        rope.rotate_rows(0, &qkv[head * d..], 3 * width, scale, queries, d, len);
        rope.rotate_rows(0, &qkv[width + head * d..], 3 * width, F::ONE, turned, d, len);
        transpose_panels(kernel.nr, turned, d, len, d, keys);
        pack_panels(kernel.nr, &qkv[2 * width + head * d..], 3 * width, len, d, values);
        for first in (0..len).step_by(QUERIES) {
            let rows = QUERIES.min(len - first);
            for_tiles(kernel, rows, |row, tall| {
                let (at, limit) = (first + row, first + row + tall);
                // Sound: `limit` columns of whole panels fit in a row of scores; out's rows are `width` apart.
                unsafe {
                    let tile = scores.as_mut_ptr().add(row * padded);
                    block(
                        kernel,
                        (tall, limit.next_multiple_of(kernel.nr), d),
                        Left::Rows(queries.as_ptr().add(at * d), d),
                        (keys.as_ptr(), d * kernel.nr),
                        (tile, padded),
                        (std::ptr::null(), 0),
                    );
                }
                let log_sum = &mut log_sum[at * heads.heads + head..];
                softmax(&mut scores[row * padded..][..tall * padded], padded, at + 1, log_sum, heads.heads);
                unsafe {
                    block(
                        kernel,
                        (tall, d, limit),
                        Left::Rows(scores.as_ptr().add(row * padded), padded),
                        (values.as_ptr(), len * kernel.nr),
                        (out.as_mut_ptr().add(at * width + head * d), width),
                        (std::ptr::null(), 0),
                    );
                }
            });
        }
    });
}

/// What the way back reads, all of one member.
pub struct Backward<'a, F> {
    pub qkv: &'a [F],
    pub out: &'a [F],
    pub log_sum: &'a [F],
    pub dout: &'a [F],
}

/// dqkv of all `spans` of one member.
pub fn backward<F: Float>(
    kernel: &Kernel<F>,
    heads: Heads,
    rope: &Rope<F>,
    spans: &[Span],
    given: &Backward<F>,
    dqkv: &mut [F],
) {
    let dqkv = Shared::new(dqkv);
    spans.par_iter().for_each(|span| {
        let (start, len) = (span.start as usize, span.len as usize);
        let width = heads.width();
        let given = Backward {
            qkv: &given.qkv[start * 3 * width..][..len * 3 * width],
            out: &given.out[start * width..][..len * width],
            log_sum: &given.log_sum[start * heads.heads..][..len * heads.heads],
            dout: &given.dout[start * width..][..len * width],
        };
        // Sound: spans are disjoint rows.
        let dqkv = unsafe { dqkv.slice(start * 3 * width, len * 3 * width) };
        for head in 0..heads.heads {
            backward_head(kernel, heads, rope, head, len, &given, dqkv);
        }
    });
}

fn backward_head<F: Float>(
    kernel: &Kernel<F>,
    heads: Heads,
    rope: &Rope<F>,
    head: usize,
    len: usize,
    given: &Backward<F>,
    dqkv: &mut [F],
) {
    let (width, d, nr) = (heads.width(), heads.head_width, kernel.nr);
    let padded = len.next_multiple_of(LANES);
    let packed = packed_len(kernel, len, d);
    let wide = d.next_multiple_of(nr);
    // Queries and dout both as rows (left factors) and as panels (right factors); keys and values likewise.
    let sizes = [
        len * d,
        padded * d,
        padded * d,
        packed,
        packed,
        packed,
        QUERIES * padded,
        QUERIES * padded,
        len * wide,
        len * wide,
        QUERIES * wide,
    ];
    with_scratch::<F, _>(sizes.iter().sum(), |scratch| {
        let [queries, keys_t, values_t, keys, queries_p, dout_p, probs, grads, dkeys, dvalues, dqueries] =
            split(scratch, sizes);
        let scale = F::of(1.0 / (d as f64).sqrt());
        rope.rotate_rows(0, &given.qkv[head * d..], 3 * width, scale, queries, d, len);
        pack_panels(nr, queries, d, len, d, queries_p);
        rope.rotate_rows(0, &given.qkv[width + head * d..], 3 * width, F::ONE, dkeys, d, len);
        pack_panels(nr, dkeys, d, len, d, keys);
        transpose_panels(nr, dkeys, d, len, d, keys_t);
        transpose_panels(nr, &given.qkv[2 * width + head * d..], 3 * width, len, d, values_t);
        pack_panels(nr, &given.dout[head * d..], width, len, d, dout_p);
        dkeys.fill(F::ZERO);
        dvalues.fill(F::ZERO);
        for first in (0..len).step_by(QUERIES) {
            let rows = QUERIES.min(len - first);
            let end = first + rows;
            for_tiles(kernel, rows, |row, tall| {
                let (at, limit) = (first + row, first + row + tall);
                let columns = limit.next_multiple_of(nr);
                // Sound: as on the way forward.
                unsafe {
                    block(
                        kernel,
                        (tall, columns, d),
                        Left::Rows(queries.as_ptr().add(at * d), d),
                        (keys_t.as_ptr(), d * nr),
                        (probs.as_mut_ptr().add(row * padded), padded),
                        (std::ptr::null(), 0),
                    );
                    block(
                        kernel,
                        (tall, columns, d),
                        Left::Rows(given.dout.as_ptr().add(at * width + head * d), width),
                        (values_t.as_ptr(), d * nr),
                        (grads.as_mut_ptr().add(row * padded), padded),
                        (std::ptr::null(), 0),
                    );
                }
                softmax_backward(
                    &mut probs[row * padded..][..tall * padded],
                    &mut grads[row * padded..][..tall * padded],
                    padded,
                    at + 1,
                    (&given.log_sum[at * heads.heads + head..], heads.heads),
                    (&given.out[at * width + head * d..], &given.dout[at * width + head * d..], width, d),
                );
                unsafe {
                    block(
                        kernel,
                        (tall, d, limit),
                        Left::Rows(grads.as_ptr().add(row * padded), padded),
                        (keys.as_ptr(), len * nr),
                        (dqueries.as_mut_ptr().add(row * wide), wide),
                        (std::ptr::null(), 0),
                    );
                }
            });
            let out = &mut dqkv[first * 3 * width + head * d..];
            rope.unrotate_rows(first, dqueries, wide, scale, out, 3 * width, rows);
            // Keys and values gather from the block's queries; a tile of keys skips the queries before it.
            for_tiles(kernel, end, |key, tall| {
                let skipped = key.saturating_sub(first);
                for (left, right, into) in [(&*grads, &*queries_p, &mut *dkeys), (&*probs, &*dout_p, &mut *dvalues)] {
                    // Sound: rows skipped..rows of the block's scores, and the same rows of the panels.
                    unsafe {
                        let c = into.as_mut_ptr().add(key * wide);
                        block(
                            kernel,
                            (tall, d, rows - skipped),
                            Left::Columns(left.as_ptr().add(skipped * padded + key), padded),
                            (right.as_ptr().add((first + skipped) * nr), len * nr),
                            (c, wide),
                            (c, wide),
                        );
                    }
                }
            });
        }
        rope.unrotate_rows(0, dkeys, wide, F::ONE, &mut dqkv[width + head * d..], 3 * width, len);
        for (row, dvalue) in dvalues.chunks_exact(wide).enumerate() {
            dqkv[row * 3 * width + 2 * width + head * d..][..d].copy_from_slice(&dvalue[..d]);
        }
    });
}

/// Rows in tiles as the kernel takes them: (first row, rows).
fn for_tiles<F>(kernel: &Kernel<F>, rows: usize, mut each: impl FnMut(usize, usize)) {
    for row in (0..rows).step_by(kernel.mr()) {
        each(row, kernel.mr().min(rows - row));
    }
}

fn split<const N: usize, F>(mut scratch: &mut [F], sizes: [usize; N]) -> [&mut [F]; N] {
    sizes.map(|size| {
        let (part, rest) = std::mem::take(&mut scratch).split_at_mut(size);
        scratch = rest;
        part
    })
}

/// Rows of a head, `stride` apart, transposed into panels of `nr` rows, `[panel][d][nr]`.
fn transpose_panels<F: Float>(nr: usize, source: &[F], stride: usize, len: usize, d: usize, out: &mut [F]) {
    for (panel, out) in out.chunks_exact_mut(nr * d).enumerate().take(len.div_ceil(nr)) {
        transpose(&source[panel * nr * stride..], stride, nr.min(len - panel * nr), d, nr, out);
    }
}

/// Rows of a head as they lie, in panels of `nr` columns, `[panel][len][nr]`.
fn pack_panels<F: Float>(nr: usize, source: &[F], stride: usize, len: usize, d: usize, out: &mut [F]) {
    for (panel, out) in out.chunks_exact_mut(nr * len).enumerate() {
        copy_lines(&source[panel * nr..], stride, nr.min(d - panel * nr), nr, out);
    }
}

/// Rows of scores are `padded` apart, a multiple of [`LANES`], so that loops over them have no remainder.
#[inline(always)]
fn lanes<F>(row: &mut [F]) -> &mut [[F; LANES]] {
    row.as_chunks_mut().0
}

per_level! {
    /// Turns rows of scores into probabilities, of which the first row has `valid`, each next one more; zeros after
    /// them. Keeps each row's log-sum-exp, `stride` apart.
    fn softmax<F>(scores: &mut [F], padded: usize, valid: usize, log_sum: &mut [F], stride: usize) {
        for (i, row) in scores.chunks_exact_mut(padded).enumerate() {
            let valid = valid + i;
            let (row, rest) = row.split_at_mut(valid.next_multiple_of(LANES));
            rest.fill(F::ZERO);
            row[valid..].fill(F::NEG_INFINITY);
            let max = simd::max(row);
            lanes(row).iter_mut().for_each(|chunk| chunk.iter_mut().for_each(|s| *s = (*s - max).exp()));
            row[valid..].fill(F::ZERO);
            let mut sums = [F::ZERO; LANES];
            lanes(row).iter().for_each(|chunk| sums.iter_mut().zip(chunk).for_each(|(sum, &e)| *sum += e));
            let sum = simd::fold(sums);
            let inverse = F::ONE / sum;
            lanes(row).iter_mut().for_each(|chunk| chunk.iter_mut().for_each(|s| *s = *s * inverse));
            log_sum[i * stride] = max + sum.ln();
        }
    }

    /// From rows of scores to probabilities, and from the probabilities' gradient to the scores'; valid as above.
    fn softmax_backward<F>(
        scores: &mut [F], grads: &mut [F], padded: usize, valid: usize, log_sum: (&[F], usize),
        outs: (&[F], &[F], usize, usize),
    ) {
        let (out, dout, stride, d) = outs;
        for (i, (row, grads)) in scores.chunks_exact_mut(padded).zip(grads.chunks_exact_mut(padded)).enumerate() {
            let valid = valid + i;
            let (out, dout) = (&out[i * stride..][..d], &dout[i * stride..][..d]);
            let dot = simd::sum(d, |i| out[i] * dout[i]);
            let log_sum = log_sum.0[i * log_sum.1];
            let whole = valid.next_multiple_of(LANES);
            for (row, grads) in lanes(&mut row[..whole]).iter_mut().zip(lanes(&mut grads[..whole])) {
                for (p, g) in row.iter_mut().zip(grads) {
                    *p = (*p - log_sum).exp();
                    *g = *p * (*g - dot);
                }
            }
            row[valid..].fill(F::ZERO);
            grads[valid..].fill(F::ZERO);
        }
    }
}
