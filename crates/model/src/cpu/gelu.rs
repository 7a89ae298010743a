//! GELU by its approximation with tanh, `gelu_new` in `transformers`: x · sigmoid(2 u) with
//! u = sqrt(2 / π) · (x + 0.044715 x³).

use super::float::Float;
use super::reduce::ROW_BLOCK;
use super::simd::per_level;
use rayon::prelude::*;

/// 2 · sqrt(2 / π)
const DOUBLE_ROOT: f64 = 1.595_769_121_605_730_9;
const CUBIC: f64 = 0.044_715;

/// out = gelu(x) for `[rows, hidden]`.
pub fn forward<F: Float>(hidden: usize, x: &[F], out: &mut [F]) {
    let block = ROW_BLOCK * hidden;
    out.par_chunks_mut(block).zip(x.par_chunks(block)).for_each(|(out, x)| forward_rows(x, out));
}

/// The gradient of `x` from that of `out`.
pub fn backward<F: Float>(hidden: usize, x: &[F], dout: &[F], dx: &mut [F]) {
    let block = ROW_BLOCK * hidden;
    dx.par_chunks_mut(block)
        .zip(x.par_chunks(block))
        .zip(dout.par_chunks(block))
        .for_each(|((dx, x), dout)| backward_rows(x, dout, dx));
}

per_level! {
    fn forward_rows<F>(x: &[F], out: &mut [F]) {
        let (root, cubic) = (F::from_f64(DOUBLE_ROOT), F::from_f64(CUBIC));
        for (out, &x) in out.iter_mut().zip(x) {
            *out = x / (F::ONE + (-(root * (x + cubic * x * x * x))).exp());
        }
    }

    fn backward_rows<F>(x: &[F], dout: &[F], dx: &mut [F]) {
        let (root, cubic) = (F::from_f64(DOUBLE_ROOT), F::from_f64(CUBIC));
        let slope = F::from_f64(3.0 * CUBIC);
        for ((dx, &x), &dout) in dx.iter_mut().zip(x).zip(dout) {
            let sigmoid = F::ONE / (F::ONE + (-(root * (x + cubic * x * x * x))).exp());
            *dx = dout * (sigmoid + x * sigmoid * (F::ONE - sigmoid) * root * (F::ONE + slope * x * x));
        }
    }
}
