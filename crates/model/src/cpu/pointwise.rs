//! RMSNorm and SwiGLU, row by row.

use super::Float;
use super::memory::Shared;
use super::simd::{self, per_level};
use rayon::prelude::*;

/// Rows per task. Sums over rows are first taken within such a block, so that they do not depend on threads.
pub const BLOCK: usize = 64;

/// out = x · inv_rms · gain for `[rows, width]`.
pub fn rms_norm<F: Float>(width: usize, eps: f64, x: &[F], gain: &[F], out: &mut [F], inv_rms: &mut [F]) {
    out.par_chunks_mut(BLOCK * width)
        .zip(x.par_chunks(BLOCK * width))
        .zip(inv_rms.par_chunks_mut(BLOCK))
        .for_each(|((out, x), inv_rms)| norm_rows(width, F::of(eps), x, gain, out, inv_rms));
}

/// The gradient of the rows into `dx`, and of the gain into `dgain`; `partial` holds one row per block.
#[allow(clippy::too_many_arguments)]
pub fn rms_norm_backward<F: Float>(
    width: usize,
    dy: &[F],
    x: &[F],
    inv_rms: &[F],
    gain: &[F],
    dx: &mut [F],
    add: bool,
    partial: &mut [F],
    dgain: &mut [F],
) {
    let blocks = inv_rms.len().div_ceil(BLOCK);
    let partial = &mut partial[..blocks * width];
    dx.par_chunks_mut(BLOCK * width)
        .zip(dy.par_chunks(BLOCK * width))
        .zip(x.par_chunks(BLOCK * width))
        .zip(inv_rms.par_chunks(BLOCK))
        .zip(partial.par_chunks_mut(width))
        .for_each(|((((dx, dy), x), inv_rms), dgain)| {
            dgain.fill(F::ZERO);
            norm_rows_backward(width, dy, x, inv_rms, gain, dx, add, dgain);
        });
    dgain.fill(F::ZERO);
    for block in partial.chunks_exact(width) {
        dgain.iter_mut().zip(block).for_each(|(sum, &part)| *sum += part);
    }
}

/// out = silu(gate) · up for `[rows, 2 · hidden]`.
pub fn swiglu<F: Float>(hidden: usize, gate_up: &[F], out: &mut [F]) {
    out.par_chunks_mut(BLOCK * hidden).zip(gate_up.par_chunks(BLOCK * 2 * hidden)).for_each(|(out, gate_up)| {
        for (out, gate_up) in out.chunks_exact_mut(hidden).zip(gate_up.chunks_exact(2 * hidden)) {
            let (gate, up) = gate_up.split_at(hidden);
            swiglu_row(gate, up, out);
        }
    });
}

pub fn swiglu_backward<F: Float>(hidden: usize, gate_up: &[F], dout: &[F], dgate_up: &mut [F]) {
    dgate_up
        .par_chunks_mut(BLOCK * 2 * hidden)
        .zip(gate_up.par_chunks(BLOCK * 2 * hidden))
        .zip(dout.par_chunks(BLOCK * hidden))
        .for_each(|((dgate_up, gate_up), dout)| {
            let rows = dgate_up.chunks_exact_mut(2 * hidden).zip(gate_up.chunks_exact(2 * hidden));
            for ((dgate_up, gate_up), dout) in rows.zip(dout.chunks_exact(hidden)) {
                let (gate, up) = gate_up.split_at(hidden);
                let (dgate, dup) = dgate_up.split_at_mut(hidden);
                swiglu_row_backward(gate, up, dout, dgate, dup);
            }
        });
}

/// out\[row\] = table\[token\[row\]\]
pub fn embed<F: Float>(width: usize, table: &[F], tokens: &[u32], out: &mut [F]) {
    out.par_chunks_mut(BLOCK * width).zip(tokens.par_chunks(BLOCK)).for_each(|(out, tokens)| {
        for (out, &token) in out.chunks_exact_mut(width).zip(tokens) {
            out.copy_from_slice(&table[token as usize * width..][..width]);
        }
    });
}

/// grad\[token\] = sum of dx over the token's rows in order. `rows` lists the rows by token, token v's being
/// `rows[starts[v]..starts[v + 1]]`.
pub fn embed_backward<F: Float>(width: usize, starts: &[u32], rows: &[u32], dx: &[F], grad: &mut [F]) {
    grad.par_chunks_mut(BLOCK * width).enumerate().for_each(|(block, grad)| {
        for (i, grad) in grad.chunks_exact_mut(width).enumerate() {
            let token = block * BLOCK + i;
            grad.fill(F::ZERO);
            for &row in &rows[starts[token] as usize..starts[token + 1] as usize] {
                let dx = &dx[row as usize * width..][..width];
                grad.iter_mut().zip(dx).for_each(|(sum, &d)| *sum += d);
            }
        }
    });
}

/// out\[i\] = x\[rows\[i\]\]
pub fn gather<F: Float>(width: usize, x: &[F], rows: &[u32], out: &mut [F]) {
    let out = Shared::new(out);
    rows.par_iter().enumerate().for_each(|(i, &row)| {
        // Sound: each task has its own row.
        unsafe { out.slice(i * width, width) }.copy_from_slice(&x[row as usize * width..][..width]);
    });
}

per_level! {
    fn norm_rows<F>(width: usize, eps: F, x: &[F], gain: &[F], out: &mut [F], inv_rms: &mut [F]) {
        let each = F::of(1.0 / width as f64);
        let gain = &gain[..width];
        for ((x, out), inv_rms) in x.chunks_exact(width).zip(out.chunks_exact_mut(width)).zip(inv_rms) {
            let inverse = F::ONE / (simd::sum(width, |i| x[i] * x[i]) * each + eps).sqrt();
            *inv_rms = inverse;
            for i in 0..width {
                out[i] = x[i] * inverse * gain[i];
            }
        }
    }

    fn norm_rows_backward<F>(
        width: usize, dy: &[F], x: &[F], inv_rms: &[F], gain: &[F], dx: &mut [F], add: bool, dgain: &mut [F],
    ) {
        let each = F::of(1.0 / width as f64);
        let (gain, dgain) = (&gain[..width], &mut dgain[..width]);
        let rows = dy.chunks_exact(width).zip(x.chunks_exact(width)).zip(dx.chunks_exact_mut(width)).zip(inv_rms);
        for (((dy, x), dx), &inverse) in rows {
            let dot = simd::sum(width, |i| dy[i] * gain[i] * x[i]);
            let along = dot * inverse * inverse * inverse * each;
            for i in 0..width {
                dgain[i] += dy[i] * x[i] * inverse;
            }
            if add {
                for i in 0..width {
                    dx[i] += dy[i] * gain[i] * inverse - x[i] * along;
                }
            } else {
                for i in 0..width {
                    dx[i] = dy[i] * gain[i] * inverse - x[i] * along;
                }
            }
        }
    }

    fn swiglu_row<F>(gate: &[F], up: &[F], out: &mut [F]) {
        let len = out.len();
        let (gate, up) = (&gate[..len], &up[..len]);
        for i in 0..len {
            out[i] = gate[i] * up[i] / (F::ONE + (-gate[i]).exp());
        }
    }

    fn swiglu_row_backward<F>(gate: &[F], up: &[F], dout: &[F], dgate: &mut [F], dup: &mut [F]) {
        let len = dout.len();
        let (gate, up, dgate, dup) = (&gate[..len], &up[..len], &mut dgate[..len], &mut dup[..len]);
        for i in 0..len {
            let sigmoid = F::ONE / (F::ONE + (-gate[i]).exp());
            let silu = gate[i] * sigmoid;
            dup[i] = dout[i] * silu;
            dgate[i] = dout[i] * up[i] * (sigmoid + silu * (F::ONE - sigmoid));
        }
    }
}
