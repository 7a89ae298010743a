//! Launches of matmuls fused with the adjacent SwiGLU or norm (`linear_swiglu.cu`, `linear_rms_norm.cu`), on GPUs of compute
//! capability 9.0.

use super::bf16::Bf16;
use super::engine::{Buf, Cuda, Stat};
use super::gpu::Doing;
use super::kernels::{Grid, Kernel, LinearRmsNorm, LinearRmsNormBackward, LinearSwiglu, LinearSwigluBackward, Map};
use super::memory::Ptr;
use super::sizes::{
    CHUNK, CLUSTER, FUSED_SHARED, LARGE_TILE, MATMUL_WARPS, SMALL_TILE, SWIGLU_BACKWARD_ROWS, SWIGLU_ROWS,
};
use crate::{Result, Tensor};
use cudarc::driver::sys;

/// Rows per write of a warp.
const WRITTEN: usize = 16;
/// Blocks that keep a GPU busy, forward and backward; with fewer blocks of rows, several share their tiles.
const BLOCKS: (usize, usize) = (264, 1024);

impl Cuda {
    /// The copy engine's map of matrices `[members, rows, columns]` with `stride` elements per member, moving `moved` rows
    /// at once. It reads zeros beyond the last row and writes nothing there.
    fn map(&self, ptr: Ptr<Bf16>, [rows, columns, stride]: [usize; 3], moved: usize) -> Result<Map> {
        let mut map = Map { opaque: [0; 16] };
        let sizes = [columns as u64, rows as u64, self.members as u64];
        let strides = [2 * columns as u64, 2 * stride as u64];
        let (moved, every) = ([CHUNK as u32, moved as u32, 1], [1u32; 3]);
        // SAFETY: only describes the matrices; all arrays have the three (strides: two) elements that are read.
        let made = unsafe {
            sys::cuTensorMapEncodeTiled(
                &mut map,
                sys::CUtensorMapDataType_enum::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                3,
                ptr.address as *mut _,
                sizes.as_ptr(),
                strides.as_ptr(),
                moved.as_ptr(),
                every.as_ptr(),
                sys::CUtensorMapInterleave_enum::CU_TENSOR_MAP_INTERLEAVE_NONE,
                sys::CUtensorMapSwizzle_enum::CU_TENSOR_MAP_SWIZZLE_128B,
                sys::CUtensorMapL2promotion_enum::CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                sys::CUtensorMapFloatOOBfill_enum::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
            )
        };
        made.result().doing("describing a matrix")?;
        Ok(map)
    }

    /// The map of a buffer of `columns` columns.
    fn rows_map(&self, buffer: &Buf, columns: usize, moved: usize) -> Result<Map> {
        let rows = self.batch.rows;
        self.map(buffer.ptr(), [rows, columns, rows * columns], moved)
    }

    /// The map of a weight.
    fn weight_map(&self, weight: Tensor, moved: usize) -> Result<Map> {
        self.map(self.parameters.weight(weight), [weight.rows, weight.cols, self.layout.size], moved)
    }

    /// gate_up = x · weightᵀ and gated = silu(gate) · up.
    pub(super) fn fused_swiglu(&mut self, x: &Buf, weight: Tensor, gate_up: &Buf, gated: &Buf) -> Result<()> {
        let (width, hidden) = (self.shape.width, self.shape.hidden);
        let kernel = LinearSwiglu {
            x: self.rows_map(x, width, SWIGLU_ROWS)?,
            weight: self.weight_map(weight, CHUNK)?,
            gate_up: self.rows_map(gate_up, 2 * hidden, WRITTEN)?,
            gated: self.rows_map(gated, hidden, WRITTEN)?,
        };
        self.run_tiles(kernel, SWIGLU_ROWS, MATMUL_WARPS + 1, BLOCKS.0)
    }

    /// dgate_up from the gradient dy · weight of silu(gate) · up.
    pub(super) fn fused_swiglu_backward(
        &mut self,
        dy: &Buf,
        weight: Tensor,
        gate_up: &Buf,
        dgate_up: &Buf,
    ) -> Result<()> {
        let (width, hidden) = (self.shape.width, self.shape.hidden);
        let kernel = LinearSwigluBackward {
            dy: self.rows_map(dy, width, SWIGLU_BACKWARD_ROWS)?,
            weight: self.weight_map(weight, CHUNK)?,
            gate_up: self.rows_map(gate_up, 2 * hidden, SWIGLU_BACKWARD_ROWS)?,
            dgate_up: self.rows_map(dgate_up, 2 * hidden, WRITTEN)?,
        };
        self.run_tiles(kernel, SWIGLU_BACKWARD_ROWS, MATMUL_WARPS + 2, BLOCKS.1)
    }

    /// Launches blocks of `rows` rows, which share the tiles of the hidden width to keep the GPU busy.
    fn run_tiles<K: Kernel>(&mut self, kernel: K, rows: usize, warps: usize, blocks: usize) -> Result<()> {
        let (tiles, down) = (self.shape.hidden / CHUNK, self.batch.rows.div_ceil(rows));
        let shares = blocks.div_ceil(down * self.members).min(tiles);
        let blocks = [shares, down, self.members];
        self.run(kernel, Grid { variant: 0, blocks, threads: 32 * warps, shared: FUSED_SHARED })
    }

    /// y = x · weightᵀ + residual, norm = y · inv_rms · gain; `at` are x, residual, y and norm.
    pub(super) fn fused_rms_norm(&mut self, at: [&Buf; 4], weight: Tensor, gain: Tensor, inv_rms: &Stat) -> Result<()> {
        let (variant, tile) = if self.underfilled() { (0, SMALL_TILE) } else { (1, LARGE_TILE) };
        let width = self.shape.width;
        let [x, residual, y, norm] = at;
        let kernel = LinearRmsNorm {
            x: self.rows_map(x, weight.cols, tile)?,
            weight: self.weight_map(weight, width / 2)?,
            residual: self.rows_map(residual, width, tile)?,
            y: self.rows_map(y, width, WRITTEN)?,
            norm: self.rows_map(norm, width, WRITTEN)?,
            bf16: self.parameters.weight(gain),
            residual_bits: self.parameters.residual_bits.ptr().add(gain.offset),
            inv_rms: inv_rms.ptr(),
            rows: self.batch.rows as i32,
            chunks: weight.cols.div_ceil(CHUNK) as i32,
            stride: self.layout.size as u64,
        };
        self.run_rows(kernel, variant, tile)
    }

    /// dx (+)= the backward of x · inv_rms · gain from dy · weight; `at` are dy, x and dx.
    pub(super) fn fused_rms_norm_backward(
        &mut self,
        at: [&Buf; 3],
        weight: Tensor,
        gain: Tensor,
        inv_rms: &Stat,
        add: bool,
    ) -> Result<()> {
        let (width, tile) = (self.shape.width, LARGE_TILE);
        let [dy, x, dx] = at;
        let kernel = LinearRmsNormBackward {
            dy: self.rows_map(dy, weight.rows, tile)?,
            weight: self.weight_map(weight, CHUNK)?,
            x: self.rows_map(x, width, tile)?,
            old: self.rows_map(dx, width, tile)?,
            dx: self.rows_map(dx, width, WRITTEN)?,
            bf16: self.parameters.weight(gain),
            residual_bits: self.parameters.residual_bits.ptr().add(gain.offset),
            inv_rms: inv_rms.ptr(),
            partials: self.scratch.gain_partials.ptr().add(gain.offset - self.layout.decayed),
            gains_of_member: (self.layout.size - self.layout.decayed) as i32,
            add: add as i32,
            rows: self.batch.rows as i32,
            chunks: weight.rows.div_ceil(CHUNK) as i32,
            stride: self.layout.size as u64,
        };
        self.run_rows(kernel, 0, tile)
    }

    /// Launches blocks of a tile of whole rows, in clusters.
    fn run_rows<K: Kernel>(&mut self, kernel: K, variant: usize, tile: usize) -> Result<()> {
        let blocks = [self.batch.rows.div_ceil(tile).next_multiple_of(CLUSTER), self.members, 1];
        self.run(kernel, Grid { variant, blocks, threads: 2 * tile + 32, shared: FUSED_SHARED })
    }
}
