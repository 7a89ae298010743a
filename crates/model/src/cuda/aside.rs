//! A second stream for the weights' gradients: nothing on the way back waits for them, so they run beside it.
//!
//! What such a product reads must not be overwritten before it is done: whoever writes a buffer asks [`Aside::release`]
//! first. All is joined again before the update.

use super::device_error;
use super::gemm::{Gemm, Operands, Size};
use crate::Result;
use cudarc::driver::{CudaContext, CudaEvent, CudaStream, result, sys};
use std::sync::Arc;

pub struct Aside {
    stream: Arc<CudaStream>,
    gemm: Gemm,
    fork: CudaEvent,
    /// Products under way: the buffer each reads, and the event that follows it.
    pending: Vec<(u64, CudaEvent)>,
    free: Vec<CudaEvent>,
}

impl Aside {
    pub fn new(context: &Arc<CudaContext>) -> Result<Self> {
        Ok(Aside {
            stream: urgent_stream(context)?,
            gemm: Gemm::new(context)?,
            fork: event(context)?,
            pending: Vec::new(),
            free: Vec::new(),
        })
    }

    /// Starts a product after everything asked of `main` so far; `reads` is the buffer that will be written again.
    pub fn run(&mut self, main: &CudaStream, size: Size, at: Operands, reads: u64) -> Result<()> {
        let failed = |e| device_error("running a product aside", e);
        self.fork.record(main).map_err(failed)?;
        self.stream.wait(&self.fork).map_err(failed)?;
        self.gemm.run(size, at, self.stream.cu_stream())?;
        self.note(reads)
    }

    /// Starts something else after the products so far.
    pub fn follow(&mut self, start: impl FnOnce(&Arc<CudaStream>) -> Result<()>) -> Result<()> {
        start(&self.stream)?;
        self.note(0)
    }

    /// What the stream was asked so far is under way and reads a buffer.
    fn note(&mut self, reads: u64) -> Result<()> {
        let done = self.free.pop().map_or_else(|| event(self.stream.context()), Ok)?;
        done.record(&self.stream).map_err(|e| device_error("running a product aside", e))?;
        self.pending.push((reads, done));
        Ok(())
    }

    /// Makes `main` wait for the products that read `buffer`, or for all.
    pub fn release(&mut self, main: &CudaStream, buffer: Option<u64>) -> Result<()> {
        let mut i = 0;
        while i < self.pending.len() {
            if buffer.is_none_or(|ptr| ptr == self.pending[i].0) {
                let (_, done) = self.pending.remove(i);
                main.wait(&done).map_err(|e| device_error("waiting for a product", e))?;
                self.free.push(done);
            } else {
                i += 1;
            }
        }
        Ok(())
    }
}

/// A stream for kernels that need not wait for those of the main one, nor those for them.
pub struct Beside {
    pub stream: Arc<CudaStream>,
    fork: CudaEvent,
    done: CudaEvent,
    pending: bool,
}

impl Beside {
    pub fn new(context: &Arc<CudaContext>) -> Result<Self> {
        let stream = urgent_stream(context)?;
        Ok(Beside { stream, fork: event(context)?, done: event(context)?, pending: false })
    }

    /// What the stream is asked from here on comes after everything asked of `main` so far.
    pub fn begin(&mut self, main: &CudaStream) -> Result<()> {
        let failed = |e| device_error("beginning beside", e);
        self.pending = true;
        self.fork.record(main).map_err(failed)?;
        self.stream.wait(&self.fork).map_err(failed)
    }

    /// What `main` is asked from here on comes after it.
    pub fn end(&mut self, main: &CudaStream) -> Result<()> {
        if !std::mem::take(&mut self.pending) {
            return Ok(());
        }
        let failed = |e| device_error("ending beside", e);
        self.done.record(&self.stream).map_err(failed)?;
        main.wait(&self.done).map_err(failed)
    }
}

/// A stream to which those without a word about it give way.
pub fn urgent_stream(context: &Arc<CudaContext>) -> Result<Arc<CudaStream>> {
    let failed = |e| device_error("making a stream", e);
    context.bind_to_thread().map_err(failed)?;
    let (_, greatest) = result::stream::get_priority_range().map_err(failed)?;
    context.new_stream_with_priority(greatest).map_err(failed)
}

pub fn event(context: &Arc<CudaContext>) -> Result<CudaEvent> {
    let flags = sys::CUevent_flags::CU_EVENT_DISABLE_TIMING;
    context.new_event(Some(flags)).map_err(|e| device_error("making an event", e))
}
