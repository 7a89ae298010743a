//! The streams of a step: the main one, and those for work that it need not wait for.
//!
//! - Nothing in the backward pass waits for the gradients of the weights: their matmuls run on a stream of their own. What
//!   such a matmul reads must not be overwritten before it is done, so whoever writes a buffer asks [`Streams::release`]
//!   first.
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
    /// Losses per group and the gains' gradients: small, and not needed before the update.
    pub reductions: SideStream,
    /// Attention over the classes of longer spans: all classes run at the same time.
    pub longer_spans: Vec<SideStream>,
    weight_gradients: WeightGradients,
    /// Everything on the main stream, so that kernels can be timed one by one.
    pub serial: bool,
}

/// The stream of the weights' gradients.
struct WeightGradients {
    stream: Arc<CudaStream>,
    gemm: Gemm,
    fork: CudaEvent,
    /// Work under way: the address of the buffer it reads, and the event that follows it.
    pending: Vec<(u64, CudaEvent)>,
    free: Vec<CudaEvent>,
}

/// A stream for kernels that need not wait for later ones of the main stream, nor those for them.
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

    /// Waits until the GPU has done everything that the main stream was asked so far.
    pub fn wait(&self) -> Result<()> {
        self.main.synchronize().doing("waiting")
    }

    /// Waits until the GPU has done everything that any of these streams was asked. Never for the whole context: another
    /// population may be recording a step in it, which such a wait would break.
    pub fn wait_for_all(&self) {
        let side = self.longer_spans.iter().chain([&self.reductions]).map(|side| &side.stream);
        let side = side.chain([&self.weight_gradients.stream]);
        for stream in side.chain([&self.main]) {
            // A failure has no one to tell.
            let _ = stream.synchronize();
        }
    }

    /// Starts a matmul on the weight-gradient stream, after everything asked of the main one so far. `at.right` is the
    /// buffer that will be written again.
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
        // SAFETY: the caller answers for the operands; this workspace is used on this stream alone.
        kernels.time(name, stream, || unsafe { side.gemm.run(size, at, stream) })?;
        self.track(at.right.address)
    }

    /// Starts something else on the weight-gradient stream, after what it was asked so far.
    pub fn after_weight_gradients(&mut self, start: impl FnOnce(&Arc<CudaStream>) -> Result<()>) -> Result<()> {
        start(if self.serial { &self.main } else { &self.weight_gradients.stream })?;
        self.track(0)
    }

    /// Notes that what the weight-gradient stream was asked so far reads a buffer.
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

    /// Makes the main stream wait for the weight gradients that read the buffer at this address, or for all.
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

    /// The stream, whose work from here on comes after everything asked of `main` so far.
    pub fn fork(&mut self, main: &CudaStream) -> Result<&Arc<CudaStream>> {
        self.pending = true;
        self.fork.record(main).doing("forking a stream")?;
        self.stream.wait(&self.fork).doing("forking a stream")?;
        Ok(&self.stream)
    }

    /// What `main` is asked from here on comes after it.
    pub fn join(&mut self, main: &CudaStream) -> Result<()> {
        if !std::mem::take(&mut self.pending) {
            return Ok(());
        }
        self.done.record(&self.stream).doing("joining a stream")?;
        main.wait(&self.done).doing("joining a stream")
    }
}

/// A stream of the highest priority: others give way to it.
fn urgent_stream(context: &Arc<CudaContext>) -> Result<Arc<CudaStream>> {
    context.bind_to_thread().doing("making a stream")?;
    let (_, greatest) = result::stream::get_priority_range().doing("making a stream")?;
    context.new_stream_with_priority(greatest).doing("making a stream")
}

pub fn event(context: &Arc<CudaContext>) -> Result<CudaEvent> {
    let flags = sys::CUevent_flags::CU_EVENT_DISABLE_TIMING;
    context.new_event(Some(flags)).doing("making an event")
}
