//! The streams of a step: the main stream, and side streams for concurrent work.
//!
//! - Nothing in the backward pass needs the gradients of the weights, so their matmuls run on the weight-gradient stream.
//!   Their inputs must not be overwritten early, so writers of a buffer call [`Streams::release`] first.
//! - Small reductions, and attention over each class of longer spans, have a stream each.
//!
//! All are joined with the main stream before the update.

use super::gemm::{Gemm, Operands, Size};
use super::gpu::{Doing, Gpu};
use super::kernels::Kernels;
use super::span_class::CLASSES;
use crate::Result;
use cudarc::driver::{CudaContext, CudaEvent, CudaStream, result, sys};
use std::sync::Arc;

pub struct Streams {
    pub main: Arc<CudaStream>,
    /// For losses per group and the gains' gradients, which are not needed before the update.
    pub reductions: SideStream,
    /// For attention over the classes of longer spans, which run concurrently.
    pub longer_spans: Vec<SideStream>,
    weight_gradients: WeightGradients,
    /// Runs everything on the main stream, to time single kernels.
    pub serial: bool,
}

/// The stream of the weights' gradients.
struct WeightGradients {
    stream: Arc<CudaStream>,
    gemm: Gemm,
    fork: CudaEvent,
    /// Work in progress: the address of the buffer it reads, and the event after it.
    pending: Vec<(u64, CudaEvent)>,
    free: Vec<CudaEvent>,
}

/// A stream for kernels that run concurrently with the main stream.
pub struct SideStream {
    stream: Arc<CudaStream>,
    fork: CudaEvent,
    done: CudaEvent,
    pending: bool,
}

impl Streams {
    pub fn new(gpu: &Gpu) -> Result<Self> {
        let context = &gpu.context;
        Ok(Streams {
            main: urgent_stream(context)?,
            reductions: SideStream::new(context)?,
            longer_spans: (1..CLASSES.len()).map(|_| SideStream::new(context)).collect::<Result<_>>()?,
            weight_gradients: WeightGradients {
                stream: urgent_stream(context)?,
                gemm: Gemm::new(gpu)?,
                fork: event(context)?,
                pending: Vec::new(),
                free: Vec::new(),
            },
            serial: false,
        })
    }

    /// Waits for the main stream.
    pub fn wait(&self) -> Result<()> {
        self.main.synchronize().doing("waiting")
    }

    /// Waits for all streams, but not for the whole context: that would break another population's recording.
    pub fn wait_for_all(&self) {
        let side = self.longer_spans.iter().chain([&self.reductions]).map(|side| &side.stream);
        let side = side.chain([&self.weight_gradients.stream]);
        for stream in side.chain([&self.main]) {
            // Errors are ignored.
            let _ = stream.synchronize();
        }
    }

    /// Launches a matmul on the weight-gradient stream, after the main stream's work so far. `at.right` is the buffer to
    /// release before it is written again.
    ///
    /// # Safety
    /// As for [`Gemm::run`].
    pub unsafe fn run_weight_gradient(
        &mut self,
        kernels: &mut Kernels,
        name: impl FnOnce() -> String,
        size: Size,
        at: Operands,
    ) -> Result<()> {
        let side = &mut self.weight_gradients;
        let stream = if self.serial { &self.main } else { &side.stream };
        if !self.serial {
            side.fork.record(&self.main).doing("starting a weight gradient")?;
            stream.wait(&side.fork).doing("starting a weight gradient")?;
        }
        // SAFETY: the caller guarantees the operands; this workspace is used on this stream only.
        kernels.time(name, stream, || unsafe { side.gemm.run(size, at, stream) })?;
        self.track(at.right.address)
    }

    /// Starts other work on the weight-gradient stream, after its work so far.
    pub fn after_weight_gradients(&mut self, start: impl FnOnce(&Arc<CudaStream>) -> Result<()>) -> Result<()> {
        start(if self.serial { &self.main } else { &self.weight_gradients.stream })?;
        self.track(0)
    }

    /// Records that the weight-gradient stream's work so far reads a buffer.
    fn track(&mut self, reads: u64) -> Result<()> {
        if self.serial {
            return Ok(());
        }
        let side = &mut self.weight_gradients;
        let done = side.free.pop().map_or_else(|| event(side.stream.context()), Ok)?;
        done.record(&side.stream).doing("starting a weight gradient")?;
        side.pending.push((reads, done));
        Ok(())
    }

    /// Makes the main stream wait for the weight gradients that read this buffer, or for all.
    pub fn release(&mut self, buffer: Option<u64>) -> Result<()> {
        let WeightGradients { pending, free, .. } = &mut self.weight_gradients;
        let mut i = 0;
        while i < pending.len() {
            if buffer.is_none_or(|address| address == pending[i].0) {
                let (_, done) = pending.remove(i);
                self.main.wait(&done).doing("waiting for a weight gradient")?;
                free.push(done);
            } else {
                i += 1;
            }
        }
        Ok(())
    }

    /// Forgets the work of a recording that was abandoned.
    pub fn abandon(&mut self) {
        let WeightGradients { pending, free, .. } = &mut self.weight_gradients;
        free.extend(pending.drain(..).map(|(_, done)| done));
        self.longer_spans.iter_mut().chain([&mut self.reductions]).for_each(|side| side.pending = false);
    }

    /// Makes the main stream wait for the weight gradients and the reductions.
    pub fn join(&mut self) -> Result<()> {
        self.release(None)?;
        self.reductions.join(&self.main)
    }
}

impl SideStream {
    fn new(context: &Arc<CudaContext>) -> Result<Self> {
        let stream = urgent_stream(context)?;
        Ok(SideStream { stream, fork: event(context)?, done: event(context)?, pending: false })
    }

    /// The stream; its later work waits for the work of `main` so far.
    pub fn fork(&mut self, main: &CudaStream) -> Result<&Arc<CudaStream>> {
        self.pending = true;
        self.fork.record(main).doing("forking a stream")?;
        self.stream.wait(&self.fork).doing("forking a stream")?;
        Ok(&self.stream)
    }

    /// Makes `main` wait for this stream.
    pub fn join(&mut self, main: &CudaStream) -> Result<()> {
        if !std::mem::take(&mut self.pending) {
            return Ok(());
        }
        self.done.record(&self.stream).doing("joining a stream")?;
        main.wait(&self.done).doing("joining a stream")
    }
}

/// A stream of the highest priority.
fn urgent_stream(context: &Arc<CudaContext>) -> Result<Arc<CudaStream>> {
    context.bind_to_thread().doing("making a stream")?;
    let (_, greatest) = result::stream::get_priority_range().doing("making a stream")?;
    context.new_stream_with_priority(greatest).doing("making a stream")
}

pub fn event(context: &Arc<CudaContext>) -> Result<CudaEvent> {
    let flags = sys::CUevent_flags::CU_EVENT_DISABLE_TIMING;
    context.new_event(Some(flags)).doing("making an event")
}
