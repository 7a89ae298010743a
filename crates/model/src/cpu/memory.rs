//! Memory that is laid out once: aligned buffers, per-thread scratch, and a pointer that disjoint tasks may share.

use super::Float;
use std::cell::RefCell;

/// A zeroed buffer that starts on a cache line. Pages that are never touched cost nothing.
pub struct Buffer<F> {
    data: Vec<F>,
    start: usize,
    len: usize,
}

const LINE: usize = 64;
/// A large page: one entry of the processor's address tables instead of 512.
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

/// Asks for large pages where the system leaves that to programs. Advice: nothing depends on the answer.
#[cfg(target_os = "linux")]
fn prefer_large_pages(address: usize, bytes: usize) {
    unsafe extern "C" {
        fn madvise(address: *mut std::ffi::c_void, length: usize, advice: i32) -> i32;
    }
    const MADV_HUGEPAGE: i32 = 14;
    // Sound: the range is whole pages within an allocation, and the advice changes no contents.
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
struct Line(#[allow(dead_code, reason = "only its bytes are used")] [u8; LINE]);

thread_local! {
    static SCRATCH: RefCell<Vec<Line>> = const { RefCell::new(Vec::new()) };
}

/// Lends this thread's scratch memory, whatever is in it. It grows to the largest request and stays.
/// Within `work` no other task may run on this thread, so it must not wait for others.
pub fn with_scratch<F: Float, R>(len: usize, work: impl FnOnce(&mut [F]) -> R) -> R {
    SCRATCH.with(|cell| {
        let mut lines = cell.borrow_mut();
        let needed = (len * size_of::<F>()).div_ceil(LINE);
        if lines.len() < needed {
            lines.resize(needed, Line([0; LINE]));
        }
        // Sound: the lines are initialised bytes, aligned to 64, at least `len` numbers long, and any bytes are a number.
        work(unsafe { std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast::<F>(), len) })
    })
}

/// A pointer into memory of which every parallel task writes its own part.
#[derive(Clone, Copy)]
pub struct Shared<F>(*mut F);

unsafe impl<F: Send> Send for Shared<F> {}
unsafe impl<F: Send> Sync for Shared<F> {}

impl<F> Shared<F> {
    pub fn new(slice: &mut [F]) -> Self {
        Shared(slice.as_mut_ptr())
    }

    /// # Safety
    /// Within the slice this was made of, whose borrow must still last.
    pub unsafe fn at(&self, offset: usize) -> *mut F {
        unsafe { self.0.add(offset) }
    }

    /// # Safety
    /// As [`Shared::at`], and no other task touches this part.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn slice(&self, offset: usize, len: usize) -> &mut [F] {
        unsafe { std::slice::from_raw_parts_mut(self.0.add(offset), len) }
    }
}
