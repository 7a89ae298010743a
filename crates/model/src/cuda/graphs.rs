//! Recorded steps: a step with known sizes is one CUDA graph.
//! A recording that fails is abandoned, and its step issued again.

use super::gpu::Doing;
use super::recordings;
use super::staging::ByClass;
use crate::{Error, Result};
use cudarc::driver::{CudaGraph, CudaStream, result, sys};
use std::collections::HashMap;
use std::sync::{Arc, RwLockReadGuard};

/// The key of a sequence of launches: rows, room for spans of each class, and whether the step applies the last update or
/// updates that rows of the embedding missed.
pub type Key = (usize, ByClass, (bool, bool));

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
                let _guard = recordings::begin();
                let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
                stream.begin_capture(mode).doing("recording a step")?;
                self.recording = Some(Recording { key, _guard });
                if recordings::are_invalidated() {
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
        recordings::count_abandoned();
    }
}
