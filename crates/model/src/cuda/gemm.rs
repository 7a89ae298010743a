//! Strided-batched bf16 matmuls (GEMM) by cuBLASLt, f32 inside, one plan per size.
//!
//! cuBLASLt is column-major and our matrices are row-major, so each is transposed there. The plan is the heuristic's first
//! choice, a function of the sizes alone: timing candidates would make results differ between runs.

use super::bf16::Bf16;
use super::gpu::{Doing, Gpu};
use super::memory::{Memory, Ptr};
use super::recordings::between_recordings;
use crate::{Error, Result};
use cudarc::cublaslt::{result, sys};
use cudarc::driver::CudaStream;
use std::collections::HashMap;
use std::ffi::c_void;

/// A matmul of a linear layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Matmul {
    /// y \[rows, out\] = x \[rows, in\] · wᵀ (+ residual)
    Forward,
    /// dx \[rows, in\] = dy \[rows, out\] · w
    Input,
    /// dw \[out, in\] = dyᵀ · x
    Weight,
    /// Like `Forward`, but y in f32.
    Logits,
}

/// The sizes of one matmul.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Size {
    pub matmul: Matmul,
    pub members: usize,
    pub rows: usize,
    pub inputs: usize,
    pub outputs: usize,
    /// Elements per member's weights.
    pub stride: usize,
    pub residual: bool,
}

/// The first member's operands.
#[derive(Clone, Copy)]
pub struct Operands {
    pub left: Ptr<Bf16>,
    pub right: Ptr<Bf16>,
    /// Read if [`Size::residual`] is set.
    pub residual: Ptr<Bf16>,
    /// f32 for [`Matmul::Logits`].
    pub result: Ptr<Bf16>,
}

struct GemmPlan {
    desc: sys::cublasLtMatmulDesc_t,
    a: sys::cublasLtMatrixLayout_t,
    b: sys::cublasLtMatrixLayout_t,
    d: sys::cublasLtMatrixLayout_t,
    algo: sys::cublasLtMatmulAlgo_t,
}

pub struct Gemm {
    handle: sys::cublasLtHandle_t,
    workspace: Memory<u8>,
    plans: HashMap<Size, GemmPlan>,
}

// SAFETY: the handle and the plans may move between threads, and are used through &mut, by one at a time.
unsafe impl Send for Gemm {}

const WORKSPACE: usize = 32 << 20;

impl Gemm {
    pub fn new(gpu: &Gpu) -> Result<Self> {
        // SAFETY: only tries to open the library.
        if !unsafe { sys::is_culib_present() } {
            return Err(Error::Device(
                "cuBLASLt (libcublasLt) was not found: install a CUDA 12 or newer toolkit or use the device cpu".into(),
            ));
        }
        let workspace = Memory::new(gpu, WORKSPACE)?;
        let _guard = between_recordings();
        let handle = result::create_handle().doing("starting")?;
        Ok(Gemm { handle, workspace, plans: HashMap::new() })
    }

    /// Launches a matmul on a stream. A [`Gemm`] has one workspace and must not be used on two streams at once.
    ///
    /// # Safety
    /// The operands must be in memory of this GPU with these sizes that lives until the matmul ends, and no other stream may
    /// write them at the same time.
    pub unsafe fn run(&mut self, size: Size, at: Operands, stream: &CudaStream) -> Result<()> {
        if !self.plans.contains_key(&size) {
            let plan = self.plan(size).doing(format_args!("planning {size:?}"))?;
            self.plans.insert(size, plan);
        }
        let plan = &self.plans[&size];
        let (alpha, beta) = (1f32, if size.residual { 1f32 } else { 0f32 });
        let c = if size.residual { at.residual } else { at.result };
        // SAFETY: handle and plan are live, the plan has these sizes, and the caller guarantees the operands.
        unsafe {
            result::matmul(
                self.handle,
                plan.desc,
                (&raw const alpha) as *const c_void,
                (&raw const beta) as *const c_void,
                at.left.address as *const c_void,
                plan.a,
                at.right.address as *const c_void,
                plan.b,
                c.address as *const c_void,
                plan.d,
                at.result.address as *mut c_void,
                plan.d,
                &plan.algo,
                self.workspace.ptr().address as *mut c_void,
                WORKSPACE,
                stream.cu_stream() as *mut _,
            )
        }
        .doing("multiplying")
    }

    fn plan(&self, size: Size) -> std::result::Result<GemmPlan, result::CublasError> {
        let Size { matmul, members, rows, inputs, outputs, stride, .. } = size;
        use sys::cudaDataType::{CUDA_R_16BF as BF16, CUDA_R_32F as F32};
        // (rows and columns as cuBLASLt sees them, batch stride) of left, right and result
        let weight = (inputs, outputs, stride);
        let (x, y) = ((inputs, rows, rows * inputs), (outputs, rows, rows * outputs));
        let (left, right, result, transposed, kind) = match matmul {
            Matmul::Forward => (weight, x, y, (true, false), BF16),
            Matmul::Logits => (weight, x, y, (true, false), F32),
            Matmul::Input => (weight, y, x, (false, false), BF16),
            Matmul::Weight => (x, y, weight, (false, true), BF16),
        };
        // SAFETY: every attribute is read from a live value of the size given; what is made is destroyed in `drop`.
        unsafe {
            let desc = result::create_matmul_desc(sys::cublasComputeType_t::CUBLAS_COMPUTE_32F, F32)?;
            for (attribute, on) in [
                (sys::cublasLtMatmulDescAttributes_t::CUBLASLT_MATMUL_DESC_TRANSA, transposed.0),
                (sys::cublasLtMatmulDescAttributes_t::CUBLASLT_MATMUL_DESC_TRANSB, transposed.1),
            ] {
                let op = on as i32;
                result::set_matmul_desc_attribute(desc, attribute, (&raw const op) as *const _, 4)?;
            }
            let layout = |kind, (rows, columns, stride): (usize, usize, usize)| {
                let layout = result::create_matrix_layout(kind, rows as u64, columns as u64, rows as i64)?;
                let (count, stride) = (members as i32, stride as i64);
                use sys::cublasLtMatrixLayoutAttribute_t as Attribute;
                let attribute = Attribute::CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT;
                result::set_matrix_layout_attribute(layout, attribute, (&raw const count) as *const _, 4)?;
                let attribute = Attribute::CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET;
                result::set_matrix_layout_attribute(layout, attribute, (&raw const stride) as *const _, 8)?;
                Ok(layout)
            };
            let a = layout(BF16, left)?;
            let b = layout(BF16, right)?;
            let d = layout(kind, result)?;
            let preference = result::create_matmul_pref()?;
            let attribute = sys::cublasLtMatmulPreferenceAttributes_t::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
            let bytes = WORKSPACE;
            result::set_matmul_pref_attribute(preference, attribute, (&raw const bytes) as *const _, 8)?;
            let best = result::get_matmul_algo_heuristic(self.handle, desc, a, b, d, d, preference)?;
            result::destroy_matmul_pref(preference)?;
            Ok(GemmPlan { desc, a, b, d, algo: best.algo })
        }
    }
}

impl Drop for Gemm {
    fn drop(&mut self) {
        // Closing the library synchronises the context.
        let _guard = between_recordings();
        // SAFETY: created in `plan` and `new`, destroyed once. Errors are ignored.
        unsafe {
            for plan in self.plans.values() {
                let _ = result::destroy_matmul_desc(plan.desc);
                for layout in [plan.a, plan.b, plan.d] {
                    let _ = result::destroy_matrix_layout(layout);
                }
            }
            let _ = result::destroy_handle(self.handle);
        }
    }
}
