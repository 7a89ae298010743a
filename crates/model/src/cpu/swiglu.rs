//! SwiGLU, row by row.

use super::float::Float;
use super::reduce::ROW_BLOCK;
use super::simd::per_level;
use rayon::prelude::*;

/// out = silu(gate) · up for `[rows, 2 · hidden]`.
pub fn forward<F: Float>(hidden: usize, gate_up: &[F], out: &mut [F]) {
    out.par_chunks_mut(ROW_BLOCK * hidden).zip(gate_up.par_chunks(ROW_BLOCK * 2 * hidden)).for_each(
        |(out, gate_up)| {
            for (out, gate_up) in out.chunks_exact_mut(hidden).zip(gate_up.chunks_exact(2 * hidden)) {
                let (gate, up) = gate_up.split_at(hidden);
                forward_row(gate, up, out);
            }
        },
    );
}

/// The gradient of `gate_up` from that of `out`.
pub fn backward<F: Float>(hidden: usize, gate_up: &[F], dout: &[F], dgate_up: &mut [F]) {
    dgate_up
        .par_chunks_mut(ROW_BLOCK * 2 * hidden)
        .zip(gate_up.par_chunks(ROW_BLOCK * 2 * hidden))
        .zip(dout.par_chunks(ROW_BLOCK * hidden))
        .for_each(|((dgate_up, gate_up), dout)| {
            let rows = dgate_up.chunks_exact_mut(2 * hidden).zip(gate_up.chunks_exact(2 * hidden));
            for ((dgate_up, gate_up), dout) in rows.zip(dout.chunks_exact(hidden)) {
                let (gate, up) = gate_up.split_at(hidden);
                let (dgate, dup) = dgate_up.split_at_mut(hidden);
                backward_row(gate, up, dout, dgate, dup);
            }
        });
}

per_level! {
    fn forward_row<F>(gate: &[F], up: &[F], out: &mut [F]) {
        let len = out.len();
        let (gate, up) = (&gate[..len], &up[..len]);
        for i in 0..len {
            out[i] = gate[i] * up[i] / (F::ONE + (-gate[i]).exp());
        }
    }

    fn backward_row<F>(gate: &[F], up: &[F], dout: &[F], dgate: &mut [F], dup: &mut [F]) {
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
