//! A second stream for the weights' gradients: nothing on the way back waits for them, so they run beside it.
//!
//! What such a product reads must not be overwritten before it is done: whoever writes a buffer asks [`Aside::release`]
//! first. All is joined again before the update.

use super::device_error;
use super::gemm::{Gemm, Operands, Size};
use crate::Result;
use cudarc::driver::{CudaContext, CudaEvent, CudaStream, sys};
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
            stream: context.new_stream().map_err(|e| device_error("making a stream", e))?,
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
        let done = self.free.pop().map_or_else(|| event(main.context()), Ok)?;
        done.record(&self.stream).map_err(failed)?;
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

fn event(context: &Arc<CudaContext>) -> Result<CudaEvent> {
    let flags = sys::CUevent_flags::CU_EVENT_DISABLE_TIMING;
    context.new_event(Some(flags)).map_err(|e| device_error("making an event", e))
}
