//! Causal attention within packed spans, with rotary positions.
//!
//! One task per span. Rotated keys and values are packed per head, and queries are processed in blocks of [`QUERIES`]:
//! only a block's scores are stored, in scratch. The backward pass recomputes them from the log-sum-exp saved per row.

use super::float::Float;
use super::matmul::{Left, MatmulKernel, block, copy_lines, packed_len, product, transpose};
use super::memory::{DisjointSlice, with_scratch};
use super::reduce::{self, LANES};
use super::rope::Rope;
use super::simd::per_level;
use crate::{Shape, Span};
use rayon::prelude::*;

/// Queries per block of scores.
const QUERIES: usize = 48;

/// The settings of attention.
pub struct Attention<'a, F> {
    pub kernel: &'a MatmulKernel<F>,
    pub shape: &'a Shape,
    pub rope: &'a Rope<F>,
}

/// The inputs of the backward pass for one member.
pub struct Backward<'a, F> {
    pub qkv: &'a [F],
    pub out: &'a [F],
    pub log_sum: &'a [F],
    pub dout: &'a [F],
}

impl<F: Float> Attention<'_, F> {
    /// Computes out and log_sum of all `spans` of one member from its rows of `qkv`.
    pub fn forward(&self, spans: &[Span], qkv: &[F], out: &mut [F], log_sum: &mut [F]) {
        let (out, log_sum) = (DisjointSlice::new(out), DisjointSlice::new(log_sum));
        let &Shape { width, heads, .. } = self.shape;
        spans.par_iter().for_each(|span| {
            let (start, len) = (span.start as usize, span.len as usize);
            let qkv = &qkv[start * 3 * width..][..len * 3 * width];
            // SAFETY: the spans of a batch are disjoint rows, so no other task touches these.
            let (out, log_sum) =
                unsafe { (out.slice(start * width, len * width), log_sum.slice(start * heads, len * heads)) };
            for head in 0..heads {
                self.forward_head(head, len, qkv, out, log_sum);
            }
        });
    }

    fn forward_head(&self, head: usize, len: usize, qkv: &[F], out: &mut [F], log_sum: &mut [F]) {
        let &Attention { kernel, shape, rope } = self;
        let (width, d, nr) = (shape.width, shape.head_width(), kernel.nr);
        let padded = len.next_multiple_of(LANES);
        let sizes = [len * d, len * d, padded * d, packed_len(kernel, len, d), QUERIES * padded];
        with_scratch::<F, _>(sizes.iter().sum(), |scratch| {
            let [queries, rotated, keys, values, scores] = split(scratch, sizes);
            let scale = F::from_f64(1.0 / (d as f64).sqrt());
            rope.rotate_rows(0..len, scale, scale, (&qkv[head * d..], 3 * width), (queries, d));
            rope.rotate_rows(0..len, F::ONE, F::ONE, (&qkv[width + head * d..], 3 * width), (rotated, d));
            transpose_panels(nr, rotated, d, len, d, keys);
            pack_panels(nr, &qkv[2 * width + head * d..], 3 * width, len, d, values);
            for first in (0..len).step_by(QUERIES) {
                let rows = QUERIES.min(len - first);
                for_tiles(kernel, rows, |row, tall| {
                    let (at, limit) = (first + row, first + row + tall);
                    let columns = limit.next_multiple_of(nr);
                    let left = (&queries[at * d..], d);
                    product(kernel, (tall, columns, d), left, (keys, d * nr), (&mut scores[row * padded..], padded));
                    let log_sum = &mut log_sum[at * shape.heads + head..];
                    softmax(&mut scores[row * padded..][..tall * padded], padded, at + 1, log_sum, shape.heads);
                    let left = (&scores[row * padded..], padded);
                    let out = (&mut out[at * width + head * d..], width);
                    product(kernel, (tall, d, limit), left, (values, len * nr), out);
                });
            }
        });
    }

    /// Computes dqkv of all `spans` of one member.
    pub fn backward(&self, spans: &[Span], given: &Backward<F>, dqkv: &mut [F]) {
        let dqkv = DisjointSlice::new(dqkv);
        let &Shape { width, heads, .. } = self.shape;
        spans.par_iter().for_each(|span| {
            let (start, len) = (span.start as usize, span.len as usize);
            let given = Backward {
                qkv: &given.qkv[start * 3 * width..][..len * 3 * width],
                out: &given.out[start * width..][..len * width],
                log_sum: &given.log_sum[start * heads..][..len * heads],
                dout: &given.dout[start * width..][..len * width],
            };
            // SAFETY: the spans of a batch are disjoint rows, so no other task touches these.
            let dqkv = unsafe { dqkv.slice(start * 3 * width, len * 3 * width) };
            for head in 0..heads {
                self.backward_head(head, len, &given, dqkv);
            }
        });
    }

    fn backward_head(&self, head: usize, len: usize, given: &Backward<F>, dqkv: &mut [F]) {
        let &Attention { kernel, shape, rope } = self;
        let (width, d, nr) = (shape.width, shape.head_width(), kernel.nr);
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
            let scale = F::from_f64(1.0 / (d as f64).sqrt());
            rope.rotate_rows(0..len, scale, scale, (&given.qkv[head * d..], 3 * width), (queries, d));
            pack_panels(nr, queries, d, len, d, queries_p);
            rope.rotate_rows(0..len, F::ONE, F::ONE, (&given.qkv[width + head * d..], 3 * width), (dkeys, d));
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
                    let size = (tall, columns, d);
                    let left = (&queries[at * d..], d);
                    product(kernel, size, left, (keys_t, d * nr), (&mut probs[row * padded..], padded));
                    let left = (&given.dout[at * width + head * d..], width);
                    product(kernel, size, left, (values_t, d * nr), (&mut grads[row * padded..], padded));
                    softmax_backward(
                        &mut probs[row * padded..][..tall * padded],
                        &mut grads[row * padded..][..tall * padded],
                        padded,
                        at + 1,
                        (&given.log_sum[at * shape.heads + head..], shape.heads),
                        (&given.out[at * width + head * d..], &given.dout[at * width + head * d..], width, d),
                    );
                    let left = (&grads[row * padded..], padded);
                    product(kernel, (tall, d, limit), left, (keys, len * nr), (&mut dqueries[row * wide..], wide));
                });
                let out = &mut dqkv[first * 3 * width + head * d..];
                rope.rotate_rows(first..end, scale, -scale, (dqueries, wide), (out, 3 * width));
                // Keys and values sum over the block's queries; a tile of keys skips earlier queries.
                for_tiles(kernel, end, |key, tall| {
                    let skipped = key.saturating_sub(first);
                    for (left, right, into) in [(&*grads, &*queries_p, &mut *dkeys), (&*probs, &*dout_p, &mut *dvalues)]
                    {
                        // SAFETY: rows `skipped..rows` of the block's scores, whose columns `key..key + tall` are below `end`
                        // and so below `padded`; the same rows of the panels; `into` has `len` rows of `wide`.
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
            rope.rotate_rows(0..len, F::ONE, -F::ONE, (dkeys, wide), (&mut dqkv[width + head * d..], 3 * width));
            for (row, dvalue) in dvalues.chunks_exact(wide).enumerate() {
                dqkv[row * 3 * width + 2 * width + head * d..][..d].copy_from_slice(&dvalue[..d]);
            }
        });
    }
}

/// Calls `each` with (first row, rows) of every tile of the kernel.
fn for_tiles<F>(kernel: &MatmulKernel<F>, rows: usize, mut each: impl FnMut(usize, usize)) {
    for row in (0..rows).step_by(kernel.mr()) {
        each(row, kernel.mr().min(rows - row));
    }
}

fn split<const N: usize, F>(mut scratch: &mut [F], sizes: [usize; N]) -> [&mut [F]; N] {
    sizes.map(|size| {
        let (part, remaining) = std::mem::take(&mut scratch).split_at_mut(size);
        scratch = remaining;
        part
    })
}

/// Rows of a head, `stride` apart, transposed into panels of `nr` rows, `[panel][d][nr]`.
fn transpose_panels<F: Float>(nr: usize, source: &[F], stride: usize, len: usize, d: usize, out: &mut [F]) {
    for (panel, out) in out.chunks_exact_mut(nr * d).enumerate().take(len.div_ceil(nr)) {
        transpose(&source[panel * nr * stride..], stride, nr.min(len - panel * nr), d, nr, out);
    }
}

/// Rows of a head, in panels of `nr` columns, `[panel][len][nr]`.
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
    /// Turns rows of scores into probabilities. The first row has `valid` scores, each later row one more; the others become
    /// 0. Saves each row's log-sum-exp, `stride` apart.
    fn softmax<F>(scores: &mut [F], padded: usize, valid: usize, log_sum: &mut [F], stride: usize) {
        for (i, row) in scores.chunks_exact_mut(padded).enumerate() {
            let valid = valid + i;
            let (row, masked) = row.split_at_mut(valid.next_multiple_of(LANES));
            masked.fill(F::ZERO);
            row[valid..].fill(F::NEG_INFINITY);
            let max = reduce::max(row);
            lanes(row).iter_mut().for_each(|chunk| chunk.iter_mut().for_each(|s| *s = (*s - max).exp()));
            row[valid..].fill(F::ZERO);
            let mut sums = [F::ZERO; LANES];
            lanes(row).iter().for_each(|chunk| sums.iter_mut().zip(chunk).for_each(|(sum, &e)| *sum += e));
            let sum = reduce::fold(sums);
            let inverse = F::ONE / sum;
            lanes(row).iter_mut().for_each(|chunk| chunk.iter_mut().for_each(|s| *s = *s * inverse));
            log_sum[i * stride] = max + sum.ln();
        }
    }

    /// Turns rows of scores into probabilities, and the probabilities' gradient into the scores'; `valid` as above.
    fn softmax_backward<F>(
        scores: &mut [F], grads: &mut [F], padded: usize, valid: usize, log_sum: (&[F], usize),
        outs: (&[F], &[F], usize, usize),
    ) {
        let (out, dout, stride, d) = outs;
        for (i, (row, grads)) in scores.chunks_exact_mut(padded).zip(grads.chunks_exact_mut(padded)).enumerate() {
            let valid = valid + i;
            let (out, dout) = (&out[i * stride..][..d], &dout[i * stride..][..d]);
            let dot = reduce::sum(d, |i| out[i] * dout[i]);
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
