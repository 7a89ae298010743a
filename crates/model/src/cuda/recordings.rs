//! Populations of one process share a CUDA context. Some calls synchronise the whole context (freeing memory, closing
//! cuBLASLt, unloading kernels), and a synchronised context invalidates every recording in it. Such calls wait for
//! recordings to end.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Read while a step is recorded, written by calls that synchronise the context.
static RECORDINGS: RwLock<()> = RwLock::new(());
static ABANDONED: AtomicUsize = AtomicUsize::new(0);
static INVALIDATED: AtomicBool = AtomicBool::new(false);

/// Begins a recording, which ends when the guard is dropped.
pub fn begin() -> RwLockReadGuard<'static, ()> {
    RECORDINGS.read().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until no thread records a step; none begins before the guard is dropped. Must not be called while recording.
pub fn between_recordings() -> RwLockWriteGuard<'static, ()> {
    RECORDINGS.write().unwrap_or_else(PoisonError::into_inner)
}

/// Counts a recording that has failed, its step issued again.
pub fn count_abandoned() {
    ABANDONED.fetch_add(1, Ordering::Relaxed);
}

/// How many recordings of this process have failed.
pub fn abandoned_recordings() -> usize {
    ABANDONED.load(Ordering::Relaxed)
}

/// Whether every recording fails from now on, for the self-test.
pub fn invalidate_recordings(on: bool) {
    INVALIDATED.store(on, Ordering::Relaxed);
}

/// Whether recordings are to fail.
pub fn are_invalidated() -> bool {
    INVALIDATED.load(Ordering::Relaxed)
}
