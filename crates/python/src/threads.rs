//! Threads to work with, in forked processes too: a fork copies none of the global pool's threads, so that work would
//! wait there for ever.

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use std::cell::RefCell;
use std::process;
use std::sync::OnceLock;

/// The process whose threads the global pool has.
static IMPORTED_IN: OnceLock<u32> = OnceLock::new();

thread_local! {
    /// The pool of a thread of a forked process, with the process. No two threads share one: a worker that waits would take
    /// up the other's work, which may wait for what the first is making.
    static POOL: RefCell<Option<(u32, ThreadPool)>> = const { RefCell::new(None) };
}

/// Called when Python imports the module.
pub fn remember_process() {
    IMPORTED_IN.get_or_init(process::id);
}

/// Works with the global pool in the process that imported the module, else with a pool of the calling thread's own.
pub fn of_this_process<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, ThreadPoolBuildError> {
    let process = process::id();
    if IMPORTED_IN.get().is_none_or(|&owner| owner == process) {
        return Ok(work());
    }
    // Taken out meanwhile: the work may call Python, which may call this.
    let pool = match POOL.take() {
        Some((owner, pool)) if owner == process => pool,
        other => {
            // Its threads are another process's: there is nothing to end.
            std::mem::forget(other);
            ThreadPoolBuilder::new().build()?
        }
    };
    let done = pool.install(work);
    POOL.set(Some((process, pool)));
    Ok(done)
}
