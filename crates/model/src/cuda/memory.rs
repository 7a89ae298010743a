//! Memory of the GPU and page-locked memory of the host, freed when dropped.

use super::device_error;
use crate::Result;
use cudarc::driver::{CudaContext, result, sys};
use std::sync::Arc;

/// Bytes on the GPU.
pub struct Memory {
    context: Arc<CudaContext>,
    pub ptr: u64,
    pub bytes: usize,
}

impl Memory {
    /// Allocates and zeroes.
    pub fn new(context: &Arc<CudaContext>, bytes: usize) -> Result<Self> {
        let bytes = bytes.max(16);
        let doing = format!("allocating {:.1} MB", bytes as f64 / 1e6);
        context.bind_to_thread().map_err(|e| device_error(&doing, e))?;
        let ptr = unsafe { result::malloc_sync(bytes) }.map_err(|e| device_error(&doing, e))?;
        let memory = Memory { context: context.clone(), ptr, bytes };
        unsafe { result::memset_d8_sync(ptr, 0, bytes) }.map_err(|e| device_error(&doing, e))?;
        // Despite its name the driver may still be at it, and our streams do not wait for it.
        context.synchronize().map_err(|e| device_error(&doing, e))?;
        Ok(memory)
    }

    /// A block holding `values`.
    pub fn from_slice<T: Copy>(context: &Arc<CudaContext>, values: &[T]) -> Result<Self> {
        let memory = Self::new(context, size_of_val(values))?;
        let doing = "copying to the GPU";
        unsafe { result::memcpy_htod_sync(memory.ptr, values) }.map_err(|e| device_error(doing, e))?;
        context.synchronize().map_err(|e| device_error(doing, e))?;
        Ok(memory)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // A failure here has no one to tell, and the context reports it at its next use.
        if self.context.bind_to_thread().is_ok() {
            let _ = unsafe { result::free_sync(self.ptr) };
        }
    }
}

/// Page-locked host memory the GPU copies from while the host goes on.
pub struct Pinned {
    context: Arc<CudaContext>,
    ptr: *mut u8,
    bytes: usize,
}

// The pointer is owned, and handed out by &mut only.
unsafe impl Send for Pinned {}

impl Pinned {
    pub fn new(context: &Arc<CudaContext>, bytes: usize) -> Result<Self> {
        let doing = "allocating page-locked memory";
        context.bind_to_thread().map_err(|e| device_error(doing, e))?;
        let ptr =
            unsafe { result::malloc_host(bytes, sys::CU_MEMHOSTALLOC_PORTABLE) }.map_err(|e| device_error(doing, e))?;
        unsafe { std::ptr::write_bytes(ptr as *mut u8, 0, bytes) };
        Ok(Pinned { context: context.clone(), ptr: ptr as *mut u8, bytes })
    }

    pub fn bytes(&mut self) -> &mut [u8] {
        unsafe { std::slice::from_raw_parts_mut(self.ptr, self.bytes) }
    }

    /// `len` values from byte `at`, which must be a multiple of their alignment.
    pub fn slice<T: Copy>(&mut self, at: usize, len: usize) -> &mut [T] {
        assert!(at.is_multiple_of(align_of::<T>()) && at + len * size_of::<T>() <= self.bytes);
        unsafe { std::slice::from_raw_parts_mut(self.ptr.add(at) as *mut T, len) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if self.context.bind_to_thread().is_ok() {
            let _ = unsafe { result::free_host(self.ptr as *mut _) };
        }
    }
}
