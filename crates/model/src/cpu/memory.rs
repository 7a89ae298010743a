//! Memory that is allocated once: aligned buffers, per-thread scratch, and a slice that tasks write disjointly.

use super::float::Float;
use std::cell::RefCell;
use std::marker::PhantomData;

/// A zeroed buffer that starts on a cache line. Untouched pages cost nothing.
pub struct Buffer<F> {
    data: Vec<F>,
    start: usize,
    len: usize,
}

const LINE: usize = 64;
/// A large page: one TLB entry instead of 512.
const PAGE: usize = 2 << 20;

impl<F: Float> Buffer<F> {
    pub fn new(len: usize) -> Self {
        let align = if len * size_of::<F>() >= 2 * PAGE { PAGE } else { LINE };
        let spare = align / size_of::<F>();
        let data = vec![F::ZERO; len + spare];
        let start = data.as_ptr().align_offset(align).min(spare);
        if align == PAGE {
            prefer_large_pages(data[start..].as_ptr() as usize, len * size_of::<F>());
        }
        Buffer { data, start, len }
    }
}

/// Advises the system to use large pages; the result is ignored.
#[cfg(target_os = "linux")]
fn prefer_large_pages(address: usize, bytes: usize) {
    unsafe extern "C" {
        fn madvise(address: *mut std::ffi::c_void, length: usize, advice: i32) -> i32;
    }
    const MADV_HUGEPAGE: i32 = 14;
    // SAFETY: the range is whole pages within an allocation, and the advice changes no contents.
    unsafe { madvise(address as *mut std::ffi::c_void, bytes / PAGE * PAGE, MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
fn prefer_large_pages(_address: usize, _bytes: usize) {}

impl<F> std::ops::Deref for Buffer<F> {
    type Target = [F];

    fn deref(&self) -> &[F] {
        &self.data[self.start..self.start + self.len]
    }
}

impl<F> std::ops::DerefMut for Buffer<F> {
    fn deref_mut(&mut self) -> &mut [F] {
        &mut self.data[self.start..self.start + self.len]
    }
}

#[derive(Clone, Copy)]
#[repr(align(64))]
struct CacheLine(#[allow(dead_code, reason = "only its bytes are used")] [u8; LINE]);

thread_local! {
    static SCRATCH: RefCell<Vec<CacheLine>> = const { RefCell::new(Vec::new()) };
}

/// Lends this thread's scratch memory, uninitialised. It grows to the largest request and is never freed. `work` must not
/// wait for other tasks: none may run on this thread meanwhile.
pub fn with_scratch<F: Float, R>(len: usize, work: impl FnOnce(&mut [F]) -> R) -> R {
    SCRATCH.with(|cell| {
        let mut lines = cell.borrow_mut();
        let needed = (len * size_of::<F>()).div_ceil(LINE);
        if lines.len() < needed {
            lines.resize(needed, CacheLine([0; LINE]));
        }
        // SAFETY: the lines are initialised bytes, aligned to 64, at least `len` floats long; any bytes are a float;
        // the borrow of the cell excludes other users.
        work(unsafe { std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast::<F>(), len) })
    })
}

/// A slice that parallel tasks write, each its own part.
#[derive(Clone, Copy)]
pub struct DisjointSlice<'a, F> {
    start: *mut F,
    len: usize,
    slice: PhantomData<&'a mut [F]>,
}

// SAFETY: the pointer is only used through `slice` and `at`, whose callers use disjoint parts, like a `&mut [F]` per task.
unsafe impl<F: Send> Send for DisjointSlice<'_, F> {}
// SAFETY: as above.
unsafe impl<F: Send> Sync for DisjointSlice<'_, F> {}

impl<'a, F> DisjointSlice<'a, F> {
    pub fn new(slice: &'a mut [F]) -> Self {
        DisjointSlice { start: slice.as_mut_ptr(), len: slice.len(), slice: PhantomData }
    }

    /// A pointer to an element. Writes through it must stay within the slice and the task's own part.
    pub fn at(&self, offset: usize) -> *mut F {
        assert!(offset < self.len, "element {offset} of {}", self.len);
        // SAFETY: within the slice, as just checked.
        unsafe { self.start.add(offset) }
    }

    /// # Safety
    /// No other task may touch this part while the result lives.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn slice(&self, offset: usize, len: usize) -> &'a mut [F] {
        assert!(offset <= self.len && len <= self.len - offset, "{len} elements from {offset} on of {}", self.len);
        // SAFETY: within the slice, as just checked; the caller guarantees that no other task uses it.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(offset), len) }
    }
}
