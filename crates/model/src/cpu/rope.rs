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
        let at = position * self.half..(position + 1) * self.half;
        turn(&self.cos[at.clone()], &self.sin[at], F::ONE, row, scale, out);
    }

    /// Gradients of `rows` turned rows, `wide` apart, back to gradients of the rows themselves, into rows `stride`
    /// apart from row `row` on at column `offset`. The first row's position is `first`.
    #[allow(clippy::too_many_arguments)]
    pub fn unrotate(
        &self,
        first: usize,
        turned: &[F],
        wide: usize,
        scale: F,
        out: &mut [F],
        stride: usize,
        row: usize,
        offset: usize,
        rows: usize,
    ) {
        for i in 0..rows {
            let at = (first + i) * self.half..(first + i + 1) * self.half;
            let line = &turned[i * wide..][..2 * self.half];
            let out = &mut out[(row + i) * stride + offset..][..2 * self.half];
            turn(&self.cos[at.clone()], &self.sin[at], -F::ONE, line, scale, out);
        }
    }
}

per_level! {
    /// Turns by an angle, or back by it where `sign` is -1.
    fn turn<F>(cos: &[F], sin: &[F], sign: F, row: &[F], scale: F, out: &mut [F]) {
        let half = cos.len();
        let (x, y) = row.split_at(half);
        let (u, v) = out.split_at_mut(half);
        let (sin, y, u, v) = (&sin[..half], &y[..half], &mut u[..half], &mut v[..half]);
        for i in 0..half {
            let (c, s) = (cos[i] * scale, sin[i] * scale * sign);
            u[i] = x[i] * c - y[i] * s;
            v[i] = y[i] * c + x[i] * s;
        }
    }
}
