//! An opened GPU, and messages for CUDA's errors.

use crate::{Error, Result};
use cudarc::cublaslt::{result::CublasError, sys::cublasStatus_t};
use cudarc::driver::{CudaContext, result::DriverError, sys};
use std::fmt::Display;
use std::sync::Arc;

/// An opened GPU.
#[derive(Clone)]
pub struct Gpu {
    pub(super) context: Arc<CudaContext>,
    pub name: String,
    /// Compute capability, major and minor.
    pub capability: (i32, i32),
}

/// The message without a driver. A static program cannot open libraries: musl's `dlopen` always fails.
const MISSING: &str = if cfg!(all(target_env = "musl", target_feature = "crt-static")) {
    "this is the static build of invitro, which cannot open CUDA: use the build for glibc (linux-gnu) or the device cpu"
} else {
    "no CUDA driver (libcuda) on this machine: install NVIDIA's driver or use the device cpu"
};

impl Gpu {
    /// Whether the machine has a CUDA driver.
    pub fn driver_present() -> bool {
        // SAFETY: only tries to open the driver's library.
        unsafe { sys::is_culib_present() }
    }

    /// The number of usable GPUs; an error if there is none.
    pub fn count() -> Result<usize> {
        if !Self::driver_present() {
            return Err(Error::Device(MISSING.into()));
        }
        match CudaContext::device_count().doing("counting GPUs")? {
            0 => Err(Error::Device(format!("this machine has no GPU{}: use the device cpu", visible()))),
            count => Ok(count as usize),
        }
    }

    /// Opens the GPU with this number.
    pub fn open(ordinal: usize) -> Result<Self> {
        let count = Self::count()?;
        if ordinal >= count {
            let from = if count == 1 { "cuda:0 alone".into() } else { format!("cuda:0 to cuda:{}", count - 1) };
            return Err(Error::Device(format!("no GPU number {ordinal}: there is {from}{}", visible())));
        }
        let context = CudaContext::new(ordinal).doing("opening the GPU")?;
        // SAFETY: tracking orders cudarc's slices between streams. We have none: our memory is `Memory`, and our
        // streams wait for each other by events.
        unsafe { context.disable_event_tracking() };
        let name = context.name().doing("asking for the GPU's name")?;
        let capability = context.compute_capability().doing("asking for the capability")?;
        if capability.0 < 8 {
            return Err(Error::Device(format!(
                "{name} has compute capability {}.{}, but bf16 matmuls need 8.0 or newer: use the device cpu",
                capability.0, capability.1
            )));
        }
        Ok(Gpu { context, name, capability })
    }

    /// Free and total memory in bytes.
    pub fn memory(&self) -> Result<(usize, usize)> {
        self.context.mem_get_info().doing("asking for free memory")
    }

    /// Makes this GPU current for the calling thread.
    pub(super) fn bind(&self) -> Result<()> {
        self.context.bind_to_thread().doing("using the GPU")
    }
}

/// The setting of `CUDA_VISIBLE_DEVICES`, for messages.
fn visible() -> String {
    let set = std::env::var("CUDA_VISIBLE_DEVICES").ok();
    set.map_or(String::new(), |set| format!(" (CUDA_VISIBLE_DEVICES is {set:?})"))
}

/// Converts an error of CUDA or cuBLASLt into a message with the failed action; out of memory says what to change.
pub(super) trait Doing<T> {
    fn doing(self, what: impl Display) -> Result<T>;
}

impl<T> Doing<T> for std::result::Result<T, DriverError> {
    fn doing(self, what: impl Display) -> Result<T> {
        self.map_err(|error| {
            let text = error.error_string().map(|text| text.to_string_lossy().into_owned());
            let text = text.unwrap_or_else(|_| format!("{error:?}"));
            failure("CUDA", error.0 == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY, what, text)
        })
    }
}

impl<T> Doing<T> for std::result::Result<T, CublasError> {
    fn doing(self, what: impl Display) -> Result<T> {
        self.map_err(|CublasError(status)| {
            failure("cuBLASLt", status == cublasStatus_t::CUBLAS_STATUS_ALLOC_FAILED, what, format!("{status:?}"))
        })
    }
}

fn failure(library: &str, out_of_memory: bool, doing: impl Display, text: String) -> Error {
    if out_of_memory {
        return Error::OutOfMemory(format!(
            "out of GPU memory {doing}: train fewer models at once (N) or a smaller batch"
        ));
    }
    Error::Device(format!("{library} failed {doing}: {text}"))
}
