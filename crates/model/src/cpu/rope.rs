//! Rotary positions, rotate-half: elements i and i + d/2 of a head turn by position · θ^(-2i/d).

use super::Float;
use super::simd::per_level;

/// Cosines and sines of every position, `[context, d / 2]` each.
pub struct Rope<F> {
    half: usize,
    cos: Vec<F>,
    sin: Vec<F>,
}

impl<F: Float> Rope<F> {
    pub fn new(head_width: usize, context: usize, theta: f64) -> Self {
        let half = head_width / 2;
        let angle = |at: usize| {
            let (position, i) = (at / half, at % half);
            position as f64 * theta.powf(-2.0 * i as f64 / head_width as f64)
        };
        let table = |of: fn(f64) -> f64| (0..context * half).map(|at| F::of(of(angle(at)))).collect();
        Rope { half, cos: table(f64::cos), sin: table(f64::sin) }
    }

    /// out = scale · the row turned to its position.
    pub fn rotate(&self, position: usize, row: &[F], scale: F, out: &mut [F]) {
        self.rotate_rows(position, row, 0, scale, out, 2 * self.half, 1);
    }

    /// The same for `rows` rows, `stride` apart, into rows `out_stride` apart, the first at `position`.
    #[allow(clippy::too_many_arguments)]
    pub fn rotate_rows(
        &self,
        position: usize,
        source: &[F],
        stride: usize,
        scale: F,
        out: &mut [F],
        out_stride: usize,
        rows: usize,
    ) {
        let at = position * self.half..(position + rows) * self.half;
        turn(&self.cos[at.clone()], &self.sin[at], self.half, source, stride, scale, scale, out, out_stride);
    }

    /// From gradients of turned rows back to gradients of the rows themselves: turns the other way.
    #[allow(clippy::too_many_arguments)]
    pub fn unrotate_rows(
        &self,
        position: usize,
        source: &[F],
        stride: usize,
        scale: F,
        out: &mut [F],
        out_stride: usize,
        rows: usize,
    ) {
        let at = position * self.half..(position + rows) * self.half;
        turn(&self.cos[at.clone()], &self.sin[at], self.half, source, stride, scale, -scale, out, out_stride);
    }
}

/// Elements turned together; heads of a multiple of twice as many have no remainder.
const TOGETHER: usize = 16;

per_level! {
    fn turn<F>(
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
