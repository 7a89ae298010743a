//! Causal attention within packed spans, rotary positions applied on the way.
//!
//! One task per span; per head the rotated keys and the values are packed, and queries go through in blocks of
//! [`QUERIES`]: a block's scores live in scratch, never the whole score matrix. The way back recomputes them from the
//! log-sum-exp kept per row.

use super::memory::{Shared, with_scratch};
use super::product::{Left, block, packed_len};
use super::simd::{self, per_level};
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
    let padded = len.next_multiple_of(kernel.nr);
    let sizes = [len * d, len * d, padded * d, packed_len(kernel, len, d), QUERIES * padded];
    with_scratch::<F, _>(sizes.iter().sum(), |scratch| {
        let [queries, turned, keys, values, scores] = split(scratch, sizes);
        let scale = F::of(1.0 / (d as f64).sqrt());
        load_rows(rope, qkv, 3 * width, head * d, d, scale, queries);
        load_rows(rope, qkv, 3 * width, width + head * d, d, F::ONE, turned);
        load_columns(kernel.nr, turned, d, 0, d, len, keys);
        pack_values(kernel.nr, qkv, 3 * width, 2 * width + head * d, d, len, values);
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
                for i in 0..tall {
                    let line = &mut scores[(row + i) * padded..][..limit];
                    log_sum[(at + i) * heads.heads + head] = softmax(line, at + i + 1);
                }
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
    let padded = len.next_multiple_of(nr);
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
        load_rows(rope, given.qkv, 3 * width, head * d, d, scale, queries);
        pack_values(nr, queries, d, 0, d, len, queries_p);
        load_rows(rope, given.qkv, 3 * width, width + head * d, d, F::ONE, &mut dkeys[..len * d]);
        pack_values(nr, dkeys, d, 0, d, len, keys);
        load_columns(nr, dkeys, d, 0, d, len, keys_t);
        load_columns(nr, given.qkv, 3 * width, 2 * width + head * d, d, len, values_t);
        pack_values(nr, given.dout, width, head * d, d, len, dout_p);
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
                for i in 0..tall {
                    let query = at + i;
                    softmax_backward(
                        &mut probs[(row + i) * padded..][..end],
                        &mut grads[(row + i) * padded..][..end],
                        query + 1,
                        given.log_sum[query * heads.heads + head],
                        &given.out[query * width + head * d..][..d],
                        &given.dout[query * width + head * d..][..d],
                    );
                }
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
            rope.unrotate(first, dqueries, wide, scale, dqkv, 3 * width, first, head * d, rows);
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
        rope.unrotate(0, dkeys, wide, F::ONE, dqkv, 3 * width, 0, width + head * d, len);
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

/// Rotated and scaled rows of one head, `[len, d]`, from rows `stride` apart.
fn load_rows<F: Float>(rope: &Rope<F>, source: &[F], stride: usize, offset: usize, d: usize, scale: F, out: &mut [F]) {
    for (position, out) in out.chunks_exact_mut(d).enumerate() {
        rope.rotate(position, &source[position * stride + offset..][..d], scale, out);
    }
}

/// The transposed rows of one head as panels of `nr` rows, `[panel][d][nr]`.
fn load_columns<F: Float>(nr: usize, source: &[F], stride: usize, offset: usize, d: usize, len: usize, out: &mut [F]) {
    for (panel, out) in out.chunks_exact_mut(nr * d).enumerate() {
        for j in 0..nr {
            let row = panel * nr + j;
            if row < len {
                for (slot, &value) in out[j..].iter_mut().step_by(nr).zip(&source[row * stride + offset..][..d]) {
                    *slot = value;
                }
            } else {
                out[j..].iter_mut().step_by(nr).for_each(|slot| *slot = F::ZERO);
            }
        }
    }
}

/// The rows of one head as panels of `nr` columns, `[panel][len][nr]`.
fn pack_values<F: Float>(nr: usize, source: &[F], stride: usize, offset: usize, d: usize, len: usize, out: &mut [F]) {
    for panel in 0..d.div_ceil(nr) {
        let columns = nr.min(d - panel * nr);
        for row in 0..len {
            let line = &mut out[(panel * len + row) * nr..][..nr];
            line[..columns].copy_from_slice(&source[row * stride + offset + panel * nr..][..columns]);
            line[columns..].fill(F::ZERO);
        }
    }
}

per_level! {
    /// Turns the first `valid` scores into probabilities and the rest into zeros; returns their log-sum-exp.
    fn softmax<F>(scores: &mut [F], valid: usize) -> F {
        let (scores, rest) = scores.split_at_mut(valid);
        rest.fill(F::ZERO);
        let max = simd::max(scores);
        scores.iter_mut().for_each(|s| *s = (*s - max).exp());
        let sum = simd::sum(valid, |i| scores[i]);
        let inverse = F::ONE / sum;
        scores.iter_mut().for_each(|s| *s = *s * inverse);
        max + F::of(sum.f64().ln())
    }

    /// From scores to probabilities, and from the probabilities' gradient to the scores'; zeros after `valid`.
    fn softmax_backward<F>(scores: &mut [F], grads: &mut [F], valid: usize, log_sum: F, out: &[F], dout: &[F]) {
        let dot = simd::sum(out.len(), |i| out[i] * dout[i]);
        for (p, g) in scores[..valid].iter_mut().zip(&mut grads[..valid]) {
            *p = (*p - log_sum).exp();
            *g = *p * (*g - dot);
        }
        scores[valid..].fill(F::ZERO);
        grads[valid..].fill(F::ZERO);
    }
}
