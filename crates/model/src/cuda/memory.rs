//! Memory of the GPU and page-locked memory of the host, typed, freed when dropped.

use super::gpu::{Doing, Gpu};
use super::recordings::between_recordings;
use crate::Result;
use cudarc::driver::{CudaContext, CudaStream, result, sys};
use std::marker::PhantomData;
use std::sync::Arc;

/// An address on the GPU of one `T` or several.
#[repr(transparent)]
pub struct Ptr<T> {
    pub address: u64,
    of: PhantomData<*const T>,
}

impl<T> Clone for Ptr<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Ptr<T> {}

/// Null.
impl<T> Default for Ptr<T> {
    fn default() -> Self {
        Ptr { address: 0, of: PhantomData }
    }
}

impl<T> Ptr<T> {
    /// Advances by `elements`.
    pub fn add(self, elements: usize) -> Self {
        Ptr { address: self.address + (elements * size_of::<T>()) as u64, of: PhantomData }
    }

    pub fn cast<U>(self) -> Ptr<U> {
        Ptr { address: self.address, of: PhantomData }
    }
}

/// Elements on the GPU. `T` is plain old data; any bits are a valid value.
pub struct Memory<T> {
    context: Arc<CudaContext>,
    address: u64,
    len: usize,
    of: PhantomData<T>,
}

impl<T: Copy> Memory<T> {
    /// Allocates and zeroes.
    pub fn new(gpu: &Gpu, len: usize) -> Result<Self> {
        let bytes = (len * size_of::<T>()).max(16);
        let doing = format!("allocating {:.1} MB", bytes as f64 / 1e6);
        gpu.context.bind_to_thread().doing(&doing)?;
        let _guard = between_recordings();
        // SAFETY: a context is bound; the memory is freed in `drop` and only there.
        let address = unsafe { result::malloc_sync(bytes) }.doing(&doing)?;
        let memory = Memory { context: gpu.context.clone(), address, len, of: PhantomData };
        // SAFETY: these bytes were just allocated.
        unsafe { result::memset_d8_sync(address, 0, bytes) }.doing(&doing)?;
        // Despite its name, the call may return early, and our streams do not wait for it.
        default_stream_done(&doing)?;
        Ok(memory)
    }

    /// Allocates memory with these values.
    pub fn from_slice(gpu: &Gpu, values: &[T]) -> Result<Self> {
        let memory = Self::new(gpu, values.len())?;
        let _guard = between_recordings();
        // SAFETY: there is room for all values.
        unsafe { result::memcpy_htod_sync(memory.address, values) }.doing("copying to the GPU")?;
        default_stream_done("copying to the GPU")?;
        Ok(memory)
    }

    pub fn ptr(&self) -> Ptr<T> {
        Ptr { address: self.address, of: PhantomData }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// Copies `values` to element `at` and waits for the stream.
    pub fn write(&self, at: usize, values: &[T], stream: &CudaStream) -> Result<()> {
        // SAFETY: the values outlive the copy, which is waited for.
        unsafe { self.start_write(at, values, stream)? };
        stream.synchronize().doing("copying to the GPU")
    }

    /// Starts a copy on the stream.
    ///
    /// # Safety
    /// The values must not move or change until the stream is waited for.
    pub unsafe fn start_write(&self, at: usize, values: &[T], stream: &CudaStream) -> Result<()> {
        assert!(at + values.len() <= self.len, "a copy must end within its memory");
        // SAFETY: within this memory by the check; the caller guarantees the values.
        unsafe { result::memcpy_htod_async(self.ptr().add(at).address, values, stream.cu_stream()) }
            .doing("copying to the GPU")
    }

    /// Waits for the stream, then copies `len` elements from element `at` on to the host.
    pub fn read(&self, at: usize, len: usize, stream: &CudaStream) -> Result<Vec<T>>
    where
        T: Default,
    {
        assert!(at + len <= self.len, "a copy must start and end within its memory");
        let mut values = vec![T::default(); len];
        // SAFETY: within this memory by the check, any bits are a `T`, and the copy is waited for.
        unsafe { result::memcpy_dtoh_async(&mut values, self.ptr().add(at).address, stream.cu_stream()) }
            .doing("copying from the GPU")?;
        stream.synchronize().doing("copying from the GPU")?;
        Ok(values)
    }
}

/// Waits for the default stream of the bound context, but not for the streams of other populations.
fn default_stream_done(doing: &str) -> Result<()> {
    // SAFETY: the default stream is always there.
    unsafe { result::stream::synchronize(std::ptr::null_mut()) }.doing(doing)
}

impl<T> Drop for Memory<T> {
    fn drop(&mut self) {
        // Errors are ignored here; the context reports them at its next use.
        if self.context.bind_to_thread().is_ok() {
            let _guard = between_recordings();
            // SAFETY: allocated in `new`, and nothing uses it after its owner.
            let _ = unsafe { result::free_sync(self.address) };
        }
    }
}

/// Page-locked host memory for asynchronous copies.
pub struct Pinned {
    context: Arc<CudaContext>,
    ptr: *mut u8,
    bytes: usize,
}

// SAFETY: the pointer is owned, and its memory is lent by &mut only.
unsafe impl Send for Pinned {}

impl Pinned {
    pub fn new(gpu: &Gpu, bytes: usize) -> Result<Self> {
        gpu.context.bind_to_thread().doing("allocating page-locked memory")?;
        let _guard = between_recordings();
        // SAFETY: a context is bound; the memory is freed in `drop` and only there.
        let ptr = unsafe { result::malloc_host(bytes, sys::CU_MEMHOSTALLOC_PORTABLE) }
            .doing("allocating page-locked memory")? as *mut u8;
        // SAFETY: these bytes were just allocated.
        unsafe { std::ptr::write_bytes(ptr, 0, bytes) };
        Ok(Pinned { context: gpu.context.clone(), ptr, bytes })
    }

    /// `len` values from byte `at`, which must be a multiple of their alignment. `T` is plain old data.
    pub fn slice<T: Copy>(&mut self, at: usize, len: usize) -> &mut [T] {
        assert!(at.is_multiple_of(align_of::<T>()) && at + len * size_of::<T>() <= self.bytes);
        // SAFETY: aligned and within the memory by the check (it starts at a page), initialised, and borrowed by &mut.
        unsafe { std::slice::from_raw_parts_mut(self.ptr.add(at) as *mut T, len) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if self.context.bind_to_thread().is_ok() {
            let _guard = between_recordings();
            // SAFETY: allocated in `new`, and no slice of it outlives its owner.
            let _ = unsafe { result::free_host(self.ptr as *mut _) };
        }
    }
}
