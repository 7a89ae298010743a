//! Strided-batched bf16 products by cuBLASLt, f32 inside, one plan per size.
//!
//! cuBLASLt sees matrices column by column; ours lie row by row, so each is its own transpose there. The plan is the
//! heuristic's first choice, a function of the sizes alone: timing candidates would make results differ between runs.

use super::memory::Memory;
use super::out_of_memory;
use crate::{Error, Result};
use cudarc::cublaslt::{result, sys};
use cudarc::driver::CudaContext;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::Arc;

/// Which of the three products of a linear layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Product {
    /// y \[rows, out\] = x \[rows, in\] · wᵀ (+ residual)
    Forward,
    /// dx \[rows, in\] = dy \[rows, out\] · w
    Input,
    /// dw \[out, in\] = dyᵀ · x
    Weight,
    /// Like `Forward`, but y in f32.
    Logits,
}

/// Sizes of one product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Size {
    pub product: Product,
    pub members: usize,
    pub rows: usize,
    pub inputs: usize,
    pub outputs: usize,
    /// Elements from one member's weights to the next's.
    pub stride: usize,
    pub residual: bool,
}

/// Device addresses of the operands, the first member's.
pub struct Operands {
    pub left: u64,
    pub right: u64,
    pub residual: u64,
    pub result: u64,
}

struct Plan {
    desc: sys::cublasLtMatmulDesc_t,
    a: sys::cublasLtMatrixLayout_t,
    b: sys::cublasLtMatrixLayout_t,
    d: sys::cublasLtMatrixLayout_t,
    algo: sys::cublasLtMatmulAlgo_t,
}

pub struct Gemm {
    handle: sys::cublasLtHandle_t,
    workspace: Memory,
    plans: HashMap<Size, Plan>,
}

// The handle is used by the one thread that drives the lane at a time.
unsafe impl Send for Gemm {}

const WORKSPACE: usize = 32 << 20;

fn blas(doing: &str, error: result::CublasError) -> Error {
    if error.0 == sys::cublasStatus_t::CUBLAS_STATUS_ALLOC_FAILED {
        return out_of_memory(doing);
    }
    Error::Device(format!("cuBLASLt failed {doing}: {:?}", error.0))
}

impl Gemm {
    pub fn new(context: &Arc<CudaContext>) -> Result<Self> {
        if !unsafe { sys::is_culib_present() } {
            return Err(Error::Device(
                "cuBLASLt (libcublasLt) was not found: install a CUDA 12 or newer toolkit or use the device cpu".into(),
            ));
        }
        let workspace = Memory::new(context, WORKSPACE)?;
        let handle = result::create_handle().map_err(|e| blas("starting", e))?;
        Ok(Gemm { handle, workspace, plans: HashMap::new() })
    }

    pub fn run(&mut self, size: Size, at: Operands, stream: cudarc::driver::sys::CUstream) -> Result<()> {
        if !self.plans.contains_key(&size) {
            let plan = self.plan(size)?;
            self.plans.insert(size, plan);
        }
        let plan = &self.plans[&size];
        let (alpha, beta) = (1f32, if size.residual { 1f32 } else { 0f32 });
        let c = if size.residual { at.residual } else { at.result };
        unsafe {
            result::matmul(
                self.handle,
                plan.desc,
                (&raw const alpha) as *const c_void,
                (&raw const beta) as *const c_void,
                at.left as *const c_void,
                plan.a,
                at.right as *const c_void,
                plan.b,
                c as *const c_void,
                plan.d,
                at.result as *mut c_void,
                plan.d,
                &plan.algo,
                self.workspace.ptr as *mut c_void,
                WORKSPACE,
                stream as *mut _,
            )
        }
        .map_err(|e| blas("multiplying", e))
    }

    fn plan(&self, size: Size) -> Result<Plan> {
        let Size { product, members, rows, inputs, outputs, stride, .. } = size;
        use sys::cudaDataType::{CUDA_R_16BF as BF16, CUDA_R_32F as F32};
        // (rows and columns as cuBLASLt sees them, batch stride) of left, right and result
        let weight = (inputs, outputs, stride);
        let (x, y) = ((inputs, rows, rows * inputs), (outputs, rows, rows * outputs));
        let (left, right, result, transposed, kind) = match product {
            Product::Forward => (weight, x, y, (true, false), BF16),
            Product::Logits => (weight, x, y, (true, false), F32),
            Product::Input => (weight, y, x, (false, false), BF16),
            Product::Weight => (x, y, weight, (false, true), BF16),
        };
        let failed = |e| blas(&format!("planning {size:?}"), e);
        unsafe {
            let desc = result::create_matmul_desc(sys::cublasComputeType_t::CUBLAS_COMPUTE_32F, F32).map_err(failed)?;
            for (attribute, on) in [
                (sys::cublasLtMatmulDescAttributes_t::CUBLASLT_MATMUL_DESC_TRANSA, transposed.0),
                (sys::cublasLtMatmulDescAttributes_t::CUBLASLT_MATMUL_DESC_TRANSB, transposed.1),
            ] {
                let op = on as i32;
                result::set_matmul_desc_attribute(desc, attribute, (&raw const op) as *const _, 4).map_err(failed)?;
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
            let a = layout(BF16, left).map_err(failed)?;
            let b = layout(BF16, right).map_err(failed)?;
            let d = layout(kind, result).map_err(failed)?;
            let preference = result::create_matmul_pref().map_err(failed)?;
            let attribute = sys::cublasLtMatmulPreferenceAttributes_t::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
            let bytes = WORKSPACE;
            result::set_matmul_pref_attribute(preference, attribute, (&raw const bytes) as *const _, 8)
                .map_err(failed)?;
            let best = result::get_matmul_algo_heuristic(self.handle, desc, a, b, d, d, preference).map_err(failed)?;
            result::destroy_matmul_pref(preference).map_err(failed)?;
            Ok(Plan { desc, a, b, d, algo: best.algo })
        }
    }
}

impl Drop for Gemm {
    fn drop(&mut self) {
        // Failures to free have no one to tell.
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
