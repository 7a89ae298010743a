//! Products joined with the SwiGLU beside them, on GPUs of compute capability 9.0: the launches of `hopper.cu`.

use super::lane::Lane;
use super::launch::{Grid, Kernels};
use super::memory::Memory;
use super::{Gpu, compile, device_error};
use crate::{Result, Shape, Tensor};
use cudarc::driver::{result::DriverError, sys};

const NAMES: [&str; 2] = ["linear_swiglu", "linear_swiglu_backward"];

/// Columns of a tile, and of what the copy engine moves at once: a swizzled row of 128 bytes.
const COLUMNS: usize = 64;
/// Rows that a warp writes at once.
const WRITTEN: usize = 16;
/// The chunks of a block's matrices and what is written from there, to be aligned to 1024 bytes, and barriers.
const SHARED: usize = 1024 + (224 << 10) + 256;
/// Blocks that keep a GPU busy to the end; where rows make fewer, several share the tiles of one.
const BLOCKS: usize = 512;

/// Whether the joined kernels exist for this GPU and shape.
pub fn possible(gpu: &Gpu, shape: &Shape) -> bool {
    let fits = |columns: usize| columns.is_multiple_of(COLUMNS);
    gpu.capability == (9, 0) && fits(shape.width) && shape.width <= 256 && fits(shape.hidden)
}

/// Adds the joined kernels to the others.
pub fn load(kernels: &mut Kernels, gpu: &Gpu, shape: &Shape) -> Result<()> {
    kernels.load(&compile::hopper(gpu, shape)?, &NAMES)?;
    NAMES.iter().try_for_each(|name| kernels.allow_shared(name, SHARED))
}

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
        self.run_fused("linear_swiglu", ROWS, 9, &maps)
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
        self.run_fused("linear_swiglu_backward", ROWS, 10, &maps)
    }

    fn run_fused(&mut self, name: &'static str, rows: usize, warps: usize, maps: &[sys::CUtensorMap]) -> Result<()> {
        let (tiles, down) = (self.shape.hidden / COLUMNS, self.rows().div_ceil(rows));
        let shares = BLOCKS.div_ceil(down * self.members).min(tiles);
        let grid = Grid { blocks: (shares, down, self.members), threads: 32 * warps, shared: SHARED };
        self.kernels.launch(name, grid, maps, &self.stream)
    }
}
