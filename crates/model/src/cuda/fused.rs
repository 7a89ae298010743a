//! Products joined with the SwiGLU or the norm beside them, on GPUs of compute capability 9.0: the launches of `hopper.cu`
//! and `rows.cu`.

use super::lane::Lane;
use super::launch::{Grid, Kernels};
use super::memory::Memory;
use super::{Gpu, compile, device_error};
use crate::{Result, Shape, Tensor};
use cudarc::driver::{result::DriverError, sys};

const NAMES: [&str; 5] = [
    "linear_swiglu",
    "linear_swiglu_backward",
    "linear_rms_norm_64",
    "linear_rms_norm_128",
    "linear_rms_norm_backward",
];

/// Columns of a tile, and of what the copy engine moves at once: a swizzled row of 128 bytes.
const COLUMNS: usize = 64;
/// Rows that a warp writes at once.
const WRITTEN: usize = 16;
/// The chunks of a block's matrices and what is written from there, to be aligned to 1024 bytes, and barriers.
const SHARED: usize = 1024 + (224 << 10) + 256;
/// Blocks that share what they fetch of the weights; the kernels' `CLUSTER`.
const CLUSTER: usize = 2;
/// Blocks that keep a GPU busy to the end, forward and backward; where rows make fewer, several share the tiles of one.
const BLOCKS: (usize, usize) = (264, 1024);

/// Whether the joined kernels exist for this GPU and shape.
pub fn possible(gpu: &Gpu, shape: &Shape) -> bool {
    let fits = |columns: usize| columns.is_multiple_of(COLUMNS);
    gpu.capability == (9, 0) && [128, 256].contains(&shape.width) && fits(shape.hidden)
}

/// Adds the joined kernels to the others.
pub fn load(kernels: &mut Kernels, gpu: &Gpu, shape: &Shape) -> Result<()> {
    kernels.load(&compile::hopper(gpu, shape)?, &NAMES)?;
    NAMES.iter().try_for_each(|name| kernels.allow_shared(name, SHARED))
}

/// Rows of a tile of whole rows: fewer where there would be too few tiles for all of the chip.
pub const TILE_ROWS: (usize, usize) = (64, 128);

/// A bf16 tensor `[members, rows, columns]` with `stride` elements from one member to the next.
struct Matrices {
    ptr: u64,
    rows: usize,
    columns: usize,
    stride: usize,
}

impl Matrices {
    /// How the copy engine sees it, moving `rows` rows at once. It reads zeros beyond the last row and writes nothing there.
    fn map(&self, members: usize, rows: usize) -> Result<sys::CUtensorMap> {
        let mut map = sys::CUtensorMap { opaque: [0; 16] };
        let sizes = [self.columns as u64, self.rows as u64, members as u64];
        let strides = [2 * self.columns as u64, 2 * self.stride as u64];
        let (moved, every) = ([COLUMNS as u32, rows as u32, 1], [1u32; 3]);
        let made = unsafe {
            sys::cuTensorMapEncodeTiled(
                &mut map,
                sys::CUtensorMapDataType_enum::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                3,
                self.ptr as *mut _,
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
        made.result().map_err(|e: DriverError| device_error("describing a matrix", e))?;
        Ok(map)
    }
}

impl Lane {
    fn activations(&self, memory: &Memory, columns: usize) -> Matrices {
        Matrices { ptr: memory.ptr, rows: self.rows(), columns, stride: self.rows() * columns }
    }

    fn halves_of(&self, weight: Tensor) -> Matrices {
        Matrices { ptr: self.halves_at(weight), rows: weight.rows, columns: weight.cols, stride: self.layout.size }
    }

    /// gate_up = x · weightᵀ and gated = silu(gate) · up.
    pub(super) fn fused_swiglu(&mut self, x: &Memory, weight: Tensor, gate_up: &Memory, gated: &Memory) -> Result<()> {
        const ROWS: usize = 256;
        let (width, hidden, members) = (self.shape.width, self.shape.hidden, self.members);
        let maps = [
            self.activations(x, width).map(members, ROWS)?,
            self.halves_of(weight).map(members, COLUMNS)?,
            self.activations(gate_up, 2 * hidden).map(members, WRITTEN)?,
            self.activations(gated, hidden).map(members, WRITTEN)?,
        ];
        self.run_fused("linear_swiglu", ROWS, 9, BLOCKS.0, &maps)
    }

    /// dgate_up from the gradient dy · weight of silu(gate) · up.
    pub(super) fn fused_swiglu_backward(
        &mut self,
        dy: &Memory,
        weight: Tensor,
        gate_up: &Memory,
        dgate_up: &Memory,
    ) -> Result<()> {
        const ROWS: usize = 128;
        let (width, hidden, members) = (self.shape.width, self.shape.hidden, self.members);
        let maps = [
            self.activations(dy, width).map(members, ROWS)?,
            self.halves_of(weight).map(members, COLUMNS)?,
            self.activations(gate_up, 2 * hidden).map(members, ROWS)?,
            self.activations(dgate_up, 2 * hidden).map(members, WRITTEN)?,
        ];
        self.run_fused("linear_swiglu_backward", ROWS, 10, BLOCKS.1, &maps)
    }

    fn run_fused(
        &mut self,
        name: &'static str,
        rows: usize,
        warps: usize,
        blocks: usize,
        maps: &[sys::CUtensorMap],
    ) -> Result<()> {
        let (tiles, down) = (self.shape.hidden / COLUMNS, self.rows().div_ceil(rows));
        let shares = blocks.div_ceil(down * self.members).min(tiles);
        let grid = Grid { blocks: (shares, down, self.members), threads: 32 * warps, shared: SHARED };
        self.kernels.launch(name, grid, maps, &[], &self.stream)
    }

    /// y = x · weightᵀ + residual, norm = y · inv_rms · gain; `at` are x, residual, y and norm.
    pub(super) fn fused_rms_norm(
        &mut self,
        at: [&Memory; 4],
        weight: Tensor,
        gain: Tensor,
        inv_rms: &Memory,
    ) -> Result<()> {
        let tile = if self.few() { TILE_ROWS.0 } else { TILE_ROWS.1 };
        let (width, members) = (self.shape.width, self.members);
        let [x, residual, y, norm] = at;
        let maps = [
            self.activations(x, weight.cols).map(members, tile)?,
            self.halves_of(weight).map(members, width / 2)?,
            self.activations(residual, width).map(members, tile)?,
            self.activations(y, width).map(members, WRITTEN)?,
            self.activations(norm, width).map(members, WRITTEN)?,
        ];
        let words = [&self.gains_at(gain)[..], &[inv_rms.ptr], &self.row_sizes(weight.cols)].concat();
        let name = if self.few() { "linear_rms_norm_64" } else { "linear_rms_norm_128" };
        self.run_rows(name, tile, &maps, &words)
    }

    /// dx (+)= the way back through x · inv_rms · gain from dy · weight; `at` are dy, x and dx.
    pub(super) fn fused_rms_norm_backward(
        &mut self,
        at: [&Memory; 3],
        weight: Tensor,
        gain: Tensor,
        inv_rms: &Memory,
        add: bool,
    ) -> Result<()> {
        let (width, members, tile) = (self.shape.width, self.members, TILE_ROWS.1);
        let [dy, x, dx] = at;
        let maps = [
            self.activations(dy, weight.rows).map(members, tile)?,
            self.halves_of(weight).map(members, COLUMNS)?,
            self.activations(x, width).map(members, tile)?,
            self.activations(dx, width).map(members, tile)?,
            self.activations(dx, width).map(members, WRITTEN)?,
        ];
        let gains = self.layout.size - self.layout.decayed;
        let partials = self.gain_partials.ptr + 4 * (gain.offset - self.layout.decayed) as u64;
        let [halves, rests] = self.gains_at(gain);
        let words = [halves, rests, inv_rms.ptr, partials, gains as u64, add as u64];
        let words = [&words[..], &self.row_sizes(weight.rows)].concat();
        self.run_rows("linear_rms_norm_backward", tile, &maps, &words)
    }

    /// Where the first member's gains are: halves and rests.
    fn gains_at(&self, gain: Tensor) -> [u64; 2] {
        [&self.halves, &self.rests].map(|memory| memory.ptr + 2 * gain.offset as u64)
    }

    /// Rows, chunks of the inner dimension, and elements from one member's weights to the next's.
    fn row_sizes(&self, inner: usize) -> [u64; 3] {
        [self.rows() as u64, inner.div_ceil(COLUMNS) as u64, self.layout.size as u64]
    }

    fn run_rows(&mut self, name: &'static str, tile: usize, maps: &[sys::CUtensorMap], words: &[u64]) -> Result<()> {
        let blocks = (self.rows().div_ceil(tile).next_multiple_of(CLUSTER), self.members, 1);
        let grid = Grid { blocks, threads: 2 * tile + 32, shared: SHARED };
        self.kernels.launch(name, grid, maps, words, &self.stream)
    }
}
