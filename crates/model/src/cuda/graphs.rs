//! Recorded steps: a step with known sizes is one CUDA graph.
//!
//! Populations of one process share a CUDA context. Some calls synchronise the whole context (freeing memory, closing
//! cuBLASLt, unloading kernels), and a synchronised context invalidates every recording in it. Such calls wait for
//! recordings to end: see [`between_recordings`]. A recording that fails all the same is abandoned and its step issued again.

use super::gpu::Doing;
use super::staging::ByClass;
use crate::{Error, Result};
use cudarc::driver::{CudaGraph, CudaStream, result, sys};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The key of a sequence of launches: rows, room for spans of each class, and whether the step applies the last update or
/// updates that rows of the embedding missed.
pub type Key = (usize, ByClass, (bool, bool));

/// Read while a step is recorded, written by calls that synchronise the context.
static RECORDINGS: RwLock<()> = RwLock::new(());

static ABANDONED: AtomicUsize = AtomicUsize::new(0);
static INVALIDATED: AtomicBool = AtomicBool::new(false);

/// Whether every recording fails from now on, for the self-test.
pub fn invalidate_recordings(on: bool) {
    INVALIDATED.store(on, Ordering::Relaxed);
}

/// How many recordings of this process have failed, their steps issued again.
pub fn abandoned_recordings() -> usize {
    ABANDONED.load(Ordering::Relaxed)
}

/// Waits until no thread records a step; none begins before the guard is dropped. Must not be called while recording.
pub fn between_recordings() -> RwLockWriteGuard<'static, ()> {
    RECORDINGS.write().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Default)]
pub struct Graphs {
    /// Known sizes of steps; `None` until recorded.
    steps: HashMap<Key, Option<CudaGraph>>,
    recording: Option<Recording>,
}

struct Recording {
    key: Key,
    _guard: RwLockReadGuard<'static, ()>,
}

impl Graphs {
    /// Replays a recorded step and returns true, or begins a recording the second time.
    pub fn begin(&mut self, key: Key, stream: &Arc<CudaStream>) -> Result<bool> {
        match self.steps.get(&key) {
            Some(Some(graph)) => {
                graph.launch().doing("replaying a step")?;
                return Ok(true);
            }
            Some(None) => {
                let _guard = RECORDINGS.read().unwrap_or_else(PoisonError::into_inner);
                let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
                stream.begin_capture(mode).doing("recording a step")?;
                self.recording = Some(Recording { key, _guard });
                if INVALIDATED.load(Ordering::Relaxed) {
                    // Waiting for a stream that is recorded is an error, and invalidates the recording.
                    let _ = stream.synchronize();
                }
            }
            // The first time is not recorded: libraries load their kernels then.
            None => _ = self.steps.insert(key, None),
        }
        Ok(false)
    }

    /// Ends a recording, if any, and launches it.
    pub fn end(&mut self, stream: &Arc<CudaStream>) -> Result<()> {
        let Some(Recording { key, .. }) = self.recording else { return Ok(()) };
        let flags = sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
        let graph = stream.end_capture(flags).doing("recording a step")?;
        let graph = graph.ok_or_else(|| Error::Device("CUDA recorded no step".into()))?;
        self.recording = None;
        graph.launch().doing("replaying a step")?;
        self.steps.insert(key, Some(graph));
        Ok(())
    }

    /// Whether a step is being recorded: nothing of it has run.
    pub fn is_recording(&self) -> bool {
        self.recording.is_some()
    }

    /// Ends a recording that has failed. The next step of its sizes is recorded again.
    pub fn abandon(&mut self, stream: &Arc<CudaStream>) {
        // An invalid recording ends with an error, and may have ended already.
        // SAFETY: the stream is alive.
        let graph = unsafe { result::stream::end_capture(stream.cu_stream()) };
        if let Some(graph) = graph.ok().filter(|graph| !graph.is_null()) {
            // SAFETY: it came out whole just now, and nothing refers to it.
            let _ = unsafe { result::graph::destroy(graph) };
        }
        self.recording = None;
        ABANDONED.fetch_add(1, Ordering::Relaxed);
    }
}
