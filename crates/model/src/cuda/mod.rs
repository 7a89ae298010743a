//! The operations on one NVIDIA GPU of compute capability 8.0 or newer.
//!
//! Nothing of CUDA is needed to build: the driver, NVRTC and cuBLASLt are opened when a device is. Products are bf16 with
//! f32 accumulation by cuBLASLt, everything else is in `kernels.cu`; where the GPU is of compute capability 9.0, products
//! beside a SwiGLU are in `hopper.cu` with it, those beside a norm in `rows.cu`. A step whose sizes were seen before is
//! recorded as a graph and replayed. Members that train together share a [`Lane`]: one graph per step, and a stream for
//! each thing that others need not wait for (`aside`, `deferred`).
//!
//! A member's result is bitwise the same whoever trains beside it as long as its lane has as many members and its
//! batches as many rows: cuBLASLt picks its product by those sizes.

mod aside;
mod ceiling;
mod compile;
mod deferred;
mod fused;
mod gemm;
mod halves;
mod infer;
mod lane;
mod launch;
mod memory;
mod ops;
mod staging;

pub use lane::Lane;

/// Rows per member are rounded up to multiples of this: fewer sizes of step to record, little filler.
pub const ROUND: usize = 64;

use crate::{Error, Result};
use cudarc::driver::{CudaContext, result::DriverError, sys};
use std::sync::Arc;

/// An opened GPU.
#[derive(Clone)]
pub struct Gpu {
    pub(crate) context: Arc<CudaContext>,
    pub name: String,
    /// Compute capability, major and minor.
    pub capability: (i32, i32),
}

impl Gpu {
    /// Whether the machine has a CUDA driver at all.
    pub fn driver_present() -> bool {
        unsafe { sys::is_culib_present() }
    }

    /// Opens the GPU with this number, or says why it cannot be used.
    pub fn open(ordinal: usize) -> Result<Self> {
        if !Self::driver_present() {
            return Err(Error::Device(
                "no CUDA driver (libcuda) on this machine: install NVIDIA's driver or use the device cpu".into(),
            ));
        }
        let count = CudaContext::device_count().map_err(|e| device_error("counting GPUs", e))?;
        if ordinal >= count as usize {
            return Err(Error::Device(format!("no GPU number {ordinal}: this machine has {count}")));
        }
        let context = CudaContext::new(ordinal).map_err(|e| device_error("opening the GPU", e))?;
        // Every lane works on a stream of its own and waits where it must: no tracking of our buffers is needed.
        unsafe { context.disable_event_tracking() };
        let name = context.name().map_err(|e| device_error("asking for the GPU's name", e))?;
        let capability = context.compute_capability().map_err(|e| device_error("asking for the capability", e))?;
        if capability.0 < 8 {
            return Err(Error::Device(format!(
                "{name} has compute capability {}.{}, but bf16 products need 8.0 or newer: use the device cpu",
                capability.0, capability.1
            )));
        }
        Ok(Gpu { context, name, capability })
    }

    /// Free and total memory in bytes.
    pub fn memory(&self) -> Result<(usize, usize)> {
        self.context.mem_get_info().map_err(|e| device_error("asking for free memory", e))
    }
}

/// A driver's error as a sentence; out of memory names what to change.
pub(crate) fn device_error(doing: &str, error: DriverError) -> Error {
    if error.0 == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY {
        return out_of_memory(doing);
    }
    let text = error.error_string().map(|s| s.to_string_lossy().into_owned()).unwrap_or_else(|_| format!("{error:?}"));
    Error::Device(format!("CUDA failed {doing}: {text}"))
}

fn out_of_memory(doing: &str) -> Error {
    Error::OutOfMemory(format!("out of GPU memory {doing}: train fewer models at once (N) or a smaller batch"))
}
