//! Attention of new rows over a cache of keys and values, for decoding and scoring.
//!
//! A cache row is \[rotated key | value\], `2 · width` wide. All rows are stored first, so that a span's prefix may be
//! computed in the same pass. Each row is computed separately, so results do not depend on the rest of the batch.

use super::float::Float;
use super::memory::{DisjointSlice, with_scratch};
use super::reduce;
use super::rope::Rope;
use super::simd::per_level;
use crate::Shape;
use crate::inference::CachedSpan;
use rayon::prelude::*;

/// Stores every row's rotated key and value in its slot of one member's cache.
pub fn store<F: Float>(shape: &Shape, rope: &Rope<F>, spans: &[CachedSpan], qkv: &[F], cache: &mut [F]) {
    let (width, d) = (shape.width, shape.head_width());
    let cache = DisjointSlice::new(cache);
    spans.par_iter().for_each(|span| {
        for i in 0..span.len as usize {
            let row = &qkv[(span.start as usize + i) * 3 * width..][..3 * width];
            // SAFETY: the spans of a pass store in slots of their own, which loading it checked.
            let slot = unsafe { cache.slice((span.slot as usize + i) * 2 * width, 2 * width) };
            for head in (0..width).step_by(d) {
                let position = span.prefix_len as usize + i;
                rope.rotate(position, &row[width + head..][..d], F::ONE, &mut slot[head..][..d]);
            }
            slot[width..].copy_from_slice(&row[2 * width..]);
        }
    });
}

/// Computes out of every row from its query and the slots it attends to.
pub fn attend<F: Float>(shape: &Shape, rope: &Rope<F>, spans: &[CachedSpan], qkv: &[F], cache: &[F], out: &mut [F]) {
    let (width, d) = (shape.width, shape.head_width());
    let out = DisjointSlice::new(out);
    spans.par_iter().for_each(|span| {
        let most = (span.prefix_len + span.len) as usize;
        with_scratch::<F, _>(d + most, |scratch| {
            let (query, scores) = scratch.split_at_mut(d);
            for i in 0..span.len as usize {
                let row = span.start as usize + i;
                let prefix = &cache[span.prefix as usize * 2 * width..][..span.prefix_len as usize * 2 * width];
                let own = &cache[span.slot as usize * 2 * width..][..(i + 1) * 2 * width];
                // SAFETY: the spans of a pass are disjoint rows, which loading it checked.
                let out = unsafe { out.slice(row * width, width) };
                for head in (0..width).step_by(d) {
                    let scale = F::from_f64(1.0 / (d as f64).sqrt());
                    let position = span.prefix_len as usize + i;
                    rope.rotate(position, &qkv[row * 3 * width + head..][..d], scale, query);
                    attend_row(query, prefix, own, width, head, scores, &mut out[head..][..d]);
                }
            }
        });
    });
}

per_level! {
    /// Attention of one query over the keys and values of two runs of slots.
    fn attend_row<F>(
        query: &[F], prefix: &[F], own: &[F], width: usize, head: usize, scores: &mut [F], out: &mut [F],
    ) {
        let d = query.len();
        let slots = || prefix.chunks_exact(2 * width).chain(own.chunks_exact(2 * width));
        let mut count = 0;
        for (score, slot) in scores.iter_mut().zip(slots()) {
            let key = &slot[head..][..d];
            *score = reduce::sum(d, |i| query[i] * key[i]);
            count += 1;
        }
        let scores = &mut scores[..count];
        let max = reduce::max(scores);
        scores.iter_mut().for_each(|s| *s = (*s - max).exp());
        let inverse = F::ONE / reduce::sum(count, |i| scores[i]);
        out.fill(F::ZERO);
        for (&score, slot) in scores.iter().zip(slots()) {
            let value = &slot[width + head..][..d];
            let weight = score * inverse;
            for i in 0..d {
                out[i] = weight.mul_add(value[i], out[i]);
            }
        }
    }
}
