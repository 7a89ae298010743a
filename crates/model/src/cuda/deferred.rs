//! The update, put off: it runs while the next batch goes forward.
//!
//! AdamW moves bytes, the products that come next mostly multiply, so each leaves room for the other. A step ends with all
//! that its update needs, the gradients and how they are clipped. Whoever asks for weights next starts the update, on a
//! stream that gives way to others, in the order in which weights are needed, and waits for those it is about to read.

use super::aside::event;
use super::device_error;
use super::lane::{Lane, NORM_CHUNK};
use super::launch::Grid;
use super::memory::Memory;
use crate::{Layout, Result, Tensor};
use cudarc::driver::{CudaContext, CudaEvent, CudaStream};
use std::ops::Range;
use std::sync::Arc;

pub struct Deferred {
    stream: Arc<CudaStream>,
    fork: CudaEvent,
    /// A member's parameters in the order of need, and the event after each: the embedding, the gains, every layer, the
    /// head.
    parts: Vec<(Range<usize>, CudaEvent)>,
    /// How many parts need not be waited for any more.
    done: usize,
    /// Whether there is an update to be made.
    pub pending: bool,
    /// By how much each member's gradients are clipped, and the update's numbers.
    pub scales: Memory,
    pub numbers: Memory,
}

/// The embedding and the gains are needed first.
const FIRST: usize = 2;
/// Bytes of an update's numbers.
const NUMBERS: usize = 32;

impl Deferred {
    pub fn new(context: &Arc<CudaContext>, layout: &Layout, members: usize) -> Result<Self> {
        let starts: Vec<usize> =
            layout.layers.iter().map(|layer| layer.qkv.offset).chain([layout.head.offset, layout.decayed]).collect();
        let stretches = starts.windows(2).map(|pair| pair[0]..pair[1]);
        let ranges = [0..starts[0], layout.decayed..layout.size].into_iter().chain(stretches);
        let parts = ranges.map(|range| Ok((range, event(context)?))).collect::<Result<Vec<_>>>()?;
        Ok(Deferred {
            stream: context.new_stream().map_err(|e| device_error("making a stream", e))?,
            fork: event(context)?,
            done: parts.len(),
            parts,
            pending: false,
            scales: Memory::new(context, 4 * members)?,
            numbers: Memory::new(context, NUMBERS)?,
        })
    }

    /// How many sums of squares a member's gradients make.
    pub fn squares(&self) -> usize {
        self.parts.iter().map(|(range, _)| range.len().div_ceil(NORM_CHUNK)).sum()
    }

    /// The part that a tensor is in.
    fn part_of(&self, tensor: Tensor) -> usize {
        let part = self.parts.iter().position(|(range, _)| range.contains(&tensor.offset));
        part.expect("the parts hold all tensors")
    }

    /// After a recorded step was replayed, which made the last update and left one of its own.
    pub fn replayed(&mut self) {
        (self.pending, self.done) = (true, self.parts.len());
    }
}

impl Lane {
    /// Starts the update that is to be made, if there is one, and waits for what is needed first.
    pub(super) fn start_update(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.deferred.pending) {
            return Ok(());
        }
        let failed = |e| device_error("starting an update", e);
        let timing = self.kernels.is_timing();
        let stream = if timing { self.stream.clone() } else { self.deferred.stream.clone() };
        if !timing {
            self.deferred.fork.record(&self.stream).map_err(failed)?;
            stream.wait(&self.deferred.fork).map_err(failed)?;
        }
        for (range, after) in &self.deferred.parts {
            let (from, to) = (range.start / 4, range.end / 4);
            let args = [
                self.halves.ptr,
                self.rests.ptr,
                self.means.ptr,
                self.variances.ptr,
                self.gradients.ptr,
                self.deferred.scales.ptr,
                self.deferred.numbers.ptr,
                from as u64,
                to as u64,
            ];
            let grid = Grid { blocks: ((to - from).div_ceil(256), self.members, 1), threads: 256, shared: 0 };
            self.kernels.launch("adamw", grid, &[], &args, &stream)?;
            after.record(&stream).map_err(failed)?;
        }
        self.deferred.done = 0;
        self.await_parts(FIRST)
    }

    /// Sums the squares of the gradients of the part that a tensor is in, for their norm.
    pub(super) fn square(&mut self, tensor: Tensor, aside: bool) -> Result<()> {
        let blocks = |range: &Range<usize>| range.len().div_ceil(NORM_CHUNK);
        let (parts, part) = (&self.deferred.parts, self.deferred.part_of(tensor));
        let range = &parts[part].0;
        let before: usize = parts[..part].iter().map(|(range, _)| blocks(range)).sum();
        let count = self.deferred.squares();
        let args = [
            self.gradients.ptr,
            self.square_partials.ptr,
            (range.start / 8) as u64,
            (range.end / 8) as u64,
            before as u64,
            count as u64,
        ];
        let grid = Grid { blocks: (blocks(range), self.members, 1), threads: 256, shared: 0 };
        if !aside || self.kernels.is_timing() {
            return self.kernels.launch("square_sums", grid, &[], &args, &self.stream);
        }
        let kernels = &mut self.kernels;
        self.aside.follow(|stream| kernels.launch("square_sums", grid, &[], &args, stream))
    }

    /// To be called before a product reads a weight.
    pub(super) fn about_to_read(&mut self, weight: Tensor) -> Result<()> {
        let part = self.deferred.part_of(weight);
        self.await_parts(part + 1)
    }

    /// Makes the update that is to be made: to be called before weights are read or written from outside.
    pub(super) fn settle(&mut self) -> Result<()> {
        self.start_update()?;
        self.await_parts(self.deferred.parts.len())
    }

    fn await_parts(&mut self, count: usize) -> Result<()> {
        if count > self.deferred.done {
            let last = &self.deferred.parts[count - 1].1;
            self.stream.wait(last).map_err(|e| device_error("waiting for an update", e))?;
            self.deferred.done = count;
        }
        Ok(())
    }
}
