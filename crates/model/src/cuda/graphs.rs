//! Recorded steps: a step with known sizes is one CUDA graph.

use super::gpu::Doing;
use super::staging::ByClass;
use crate::{Error, Result};
use cudarc::driver::{CudaGraph, CudaStream, sys};
use std::collections::HashMap;
use std::sync::Arc;

/// The key of a sequence of launches: rows, room for spans of each class, and whether the step applies the last update or
/// updates that rows of the embedding missed.
pub type Key = (usize, ByClass, (bool, bool));

#[derive(Default)]
pub struct Graphs {
    /// Known sizes of steps; `None` until recorded.
    steps: HashMap<Key, Option<CudaGraph>>,
    recording: Option<Key>,
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
                let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
                stream.begin_capture(mode).doing("recording a step")?;
                self.recording = Some(key);
            }
            // The first time is not recorded: libraries load their kernels then.
            None => _ = self.steps.insert(key, None),
        }
        Ok(false)
    }

    /// Ends a recording, if any, and launches it.
    pub fn end(&mut self, stream: &Arc<CudaStream>) -> Result<()> {
        let Some(key) = self.recording.take() else { return Ok(()) };
        let flags = sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
        let graph = stream.end_capture(flags).doing("recording a step")?;
        let graph = graph.ok_or_else(|| Error::Device("CUDA recorded no step".into()))?;
        graph.launch().doing("replaying a step")?;
        self.steps.insert(key, Some(graph));
        Ok(())
    }
}
