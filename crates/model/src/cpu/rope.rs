//! Rotary positions, rotate-half: elements i and i + d/2 of a head are rotated by position · θ^(-2i/d).

use super::float::Float;
use super::simd::per_level;
use crate::Shape;
use invitro_base::settings::ModelKind;
use std::ops::Range;

/// Cosines and sines of every position, `[context, d / 2]` each.
pub struct Rope<F> {
    half: usize,
    cos: Vec<F>,
    sin: Vec<F>,
}

impl<F: Float> Rope<F> {
    pub fn new(shape: &Shape) -> Self {
        let (head_width, context) = (shape.head_width(), shape.context);
        let half = head_width / 2;
        let angle = |at: usize| {
            let (position, i) = (at / half, at % half);
            match shape.kind {
                ModelKind::Llama => position as f64 * libm::pow(shape.rope_theta, -2.0 * i as f64 / head_width as f64),
                // Nothing is rotated.
                ModelKind::Gpt2 => 0.0,
            }
        };
        let table = |function: fn(f64) -> f64| (0..context * half).map(|at| F::from_f64(function(angle(at)))).collect();
        Rope { half, cos: table(libm::cos), sin: table(libm::sin) }
    }

    /// out = scale · the row rotated to its position.
    pub fn rotate(&self, position: usize, row: &[F], scale: F, out: &mut [F]) {
        self.rotate_rows(position..position + 1, scale, scale, (row, 0), (out, 0));
    }

    /// The same for a row per position, `stride` apart. The sign of `sin_scale` is the direction: gradients of rotated rows
    /// are rotated back.
    pub fn rotate_rows(
        &self,
        positions: Range<usize>,
        scale: F,
        sin_scale: F,
        (source, stride): (&[F], usize),
        (out, out_stride): (&mut [F], usize),
    ) {
        let at = positions.start * self.half..positions.end * self.half;
        rotate_by(&self.cos[at.clone()], &self.sin[at], self.half, source, stride, scale, sin_scale, out, out_stride);
    }
}

/// Elements rotated together; heads that are a multiple of twice this have no remainder.
const TOGETHER: usize = 16;

per_level! {
    fn rotate_by<F>(
        cos: &[F], sin: &[F], half: usize, source: &[F], stride: usize, scale: F, sin_scale: F, out: &mut [F],
        out_stride: usize,
    ) {
        for (row, (cos, sin)) in cos.chunks_exact(half).zip(sin.chunks_exact(half)).enumerate() {
            let (x, y) = source[row * stride..][..2 * half].split_at(half);
            let (u, v) = out[row * out_stride..][..2 * half].split_at_mut(half);
            let whole = half / TOGETHER * TOGETHER;
            for at in (0..whole).step_by(TOGETHER) {
                let part = |from: &[F]| -> [F; TOGETHER] { std::array::from_fn(|i| from[at..][..TOGETHER][i]) };
                let (cos, sin, x, y) = (part(cos), part(sin), part(x), part(y));
                for i in 0..TOGETHER {
                    let (c, s) = (cos[i] * scale, sin[i] * sin_scale);
                    u[at..][..TOGETHER][i] = x[i] * c - y[i] * s;
                    v[at..][..TOGETHER][i] = y[i] * c + x[i] * s;
                }
            }
            for i in whole..half {
                let (c, s) = (cos[i] * scale, sin[i] * sin_scale);
                u[i] = x[i] * c - y[i] * s;
                v[i] = y[i] * c + x[i] * s;
            }
        }
    }
}
