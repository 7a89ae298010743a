//! The update, deferred: it runs while the next batch goes forward.
//!
//! AdamW is bound by memory bandwidth, the matmuls that come next by arithmetic, so each leaves room for the other. A step
//! ends with all that its update needs: the gradients, and by how much to clip them. The next forward pass starts the
//! update, on a stream of low priority, in the order in which weights are needed, and waits for each part of them before
//! it is read.
//!
//! Most rows of a large embedding are read by no token of a batch. They are left out, and make the updates that they missed
//! when a token reads them, with the same result to the last bit (`adamw_embedding` in `update.cu`).

use super::gpu::{Doing, Gpu};
use super::kernels::{AdamW, AdamWEmbedding, Clip, Grid, Kernels, SquareSums, UpdateNumbers};
use super::memory::{Memory, Ptr};
use super::parameters::Parameters;
use super::sizes::{NORM_CHUNK, THREADS, UPDATE_LOG, WARPS};
use super::streams::{Streams, event};
use crate::ops::ModelPart;
use crate::{Layout, Result, Tensor};
use cudarc::driver::{CudaEvent, CudaStream};
use std::ops::Range;
use std::sync::Arc;

pub struct DeferredUpdate {
    members: usize,
    stream: Arc<CudaStream>,
    fork: CudaEvent,
    /// A member's parameters in the order in which they are needed, and the event after each: the embedding, the gains,
    /// every layer, the head.
    parts: Vec<(Range<usize>, CudaEvent)>,
    /// How many parts need not be waited for any more.
    done: usize,
    /// Whether there is an update to be made.
    pub pending: bool,
    /// Updates so far, the pending one included.
    pub count: u32,
    embedding: Tensor,
    /// Whether rows of the embedding may have missed updates.
    pub behind: bool,
    /// Updates that each row of the embedding has made, `[N, V]`, and whether the last batch read it.
    made: Memory<u32>,
    pub was_read: Memory<u8>,
    /// Sums of squares of the gradients, `[N, squares]`.
    square_partials: Memory<f32>,
    /// By how much each member's gradients are scaled, the update's numbers, and those of the last updates.
    scales: Memory<f32>,
    numbers: Memory<UpdateNumbers>,
    log: Memory<UpdateNumbers>,
}

/// The embedding and the gains, which are needed first.
const FIRST: usize = 2;

fn squares(range: &Range<usize>) -> usize {
    range.len().div_ceil(NORM_CHUNK)
}

impl DeferredUpdate {
    pub fn new(gpu: &Gpu, layout: &Layout, members: usize) -> Result<Self> {
        let context = &gpu.context;
        let starts: Vec<usize> =
            layout.layers.iter().map(|layer| layer.qkv.offset).chain([layout.head.offset, layout.decayed]).collect();
        let matrices = starts.windows(2).map(|pair| pair[0]..pair[1]);
        let ranges = [0..starts[0], layout.decayed..layout.size].into_iter().chain(matrices);
        let parts = ranges.map(|range| Ok((range, event(context)?))).collect::<Result<Vec<_>>>()?;
        let count: usize = parts.iter().map(|(range, _)| squares(range)).sum();
        Ok(DeferredUpdate {
            members,
            stream: context.new_stream().doing("making a stream")?,
            fork: event(context)?,
            done: parts.len(),
            parts,
            pending: false,
            count: 0,
            embedding: layout.embed,
            behind: false,
            made: Memory::new(gpu, members * layout.embed.rows)?,
            was_read: Memory::new(gpu, members * layout.embed.rows)?,
            square_partials: Memory::new(gpu, members * count)?,
            scales: Memory::new(gpu, members)?,
            numbers: Memory::new(gpu, 1)?,
            log: Memory::new(gpu, UPDATE_LOG)?,
        })
    }

    /// Waits for what its stream was asked. A failure has no one to tell.
    pub fn wait(&self) {
        let _ = self.stream.synchronize();
    }

    /// Where a part is among `parts`.
    fn index(&self, part: ModelPart) -> usize {
        match part {
            ModelPart::Embedding => 0,
            ModelPart::Gains => 1,
            ModelPart::Layer(layer) => FIRST + layer,
            ModelPart::Head => self.parts.len() - 1,
        }
    }

    /// After a recorded step was replayed, which made the last update and left one of its own.
    pub fn replayed(&mut self) {
        (self.pending, self.behind, self.done) = (true, true, self.parts.len());
        self.count += 1;
    }

    /// Starts the update that is to be made, if there is one, and waits for what is needed first. Of the embedding, the rows
    /// with a gradient are updated and those that are read next: `first` [N, V + 1] counts the tokens before each row's.
    pub fn start(
        &mut self,
        first: Ptr<u32>,
        parameters: &Parameters,
        kernels: &mut Kernels,
        streams: &Streams,
    ) -> Result<()> {
        if !std::mem::take(&mut self.pending) {
            // An evaluation may have made the update, for the rows that it read.
            return if self.behind {
                self.update_embedding(first, false, parameters, kernels, &streams.main)
            } else {
                Ok(())
            };
        }
        self.behind = true;
        let stream = if streams.serial { &streams.main } else { &self.stream };
        if !streams.serial {
            self.fork.record(&streams.main).doing("starting an update")?;
            stream.wait(&self.fork).doing("starting an update")?;
        }
        let (embedding, others) = self.parts.split_first().expect("the embedding is the first part");
        self.update_embedding(first, false, parameters, kernels, stream)?;
        embedding.1.record(stream).doing("starting an update")?;
        for (range, after) in others {
            let (from, to) = (range.start / 4, range.end / 4);
            let (bf16, residual_bits) = parameters.weights();
            let kernel = AdamW {
                bf16,
                residual_bits,
                means: parameters.means.ptr(),
                variances: parameters.variances.ptr(),
                gradients: parameters.gradients.ptr(),
                scales: self.scales.ptr(),
                pending: self.numbers.ptr(),
                from: from as u32,
                to: to as u32,
            };
            let grid = Grid::new([(to - from).div_ceil(THREADS), self.members, 1], THREADS);
            // SAFETY: `from` and `to` are within each member's parameters. Whoever reads them on the main stream waits for
            // the event first; nobody writes them or the gradients before the forward pass is through.
            unsafe { kernels.launch(&kernel, grid, stream)? };
            after.record(stream).doing("starting an update")?;
        }
        self.done = 0;
        self.await_parts(FIRST, &streams.main)
    }

    /// Updates the rows of the embedding that have a gradient or are read next, or `all` that have missed an update.
    fn update_embedding(
        &self,
        first: Ptr<u32>,
        all: bool,
        parameters: &Parameters,
        kernels: &mut Kernels,
        stream: &Arc<CudaStream>,
    ) -> Result<()> {
        let (bf16, residual_bits) = parameters.weights();
        let kernel = AdamWEmbedding {
            bf16,
            residual_bits,
            means: parameters.means.ptr(),
            variances: parameters.variances.ptr(),
            gradients: parameters.gradients.ptr(),
            scales: self.scales.ptr(),
            pending: self.numbers.ptr(),
            log: self.log.ptr(),
            made: self.made.ptr(),
            was_read: self.was_read.ptr(),
            first,
            offset: self.embedding.offset as u64,
            all: all as i32,
        };
        let grid = Grid::new([self.embedding.rows.div_ceil(WARPS), self.members, 1], THREADS);
        // SAFETY: the rows are within each member's parameters, which are waited for as those of `start`; `first` has a
        // place for every row and one more.
        unsafe { kernels.launch(&kernel, grid, stream) }
    }

    /// Makes the main stream wait for a part's update.
    pub fn await_part(&mut self, part: ModelPart, main: &CudaStream) -> Result<()> {
        self.await_parts(self.index(part) + 1, main)
    }

    /// Makes the update that is to be made, if there is one: to be called before weights are read or written from outside.
    /// No row of the embedding is left behind.
    pub fn flush(
        &mut self,
        first: Ptr<u32>,
        parameters: &Parameters,
        kernels: &mut Kernels,
        streams: &Streams,
    ) -> Result<()> {
        self.start(first, parameters, kernels, streams)?;
        self.await_parts(self.parts.len(), &streams.main)?;
        if std::mem::take(&mut self.behind) {
            self.update_embedding(first, true, parameters, kernels, &streams.main)?;
        }
        Ok(())
    }

    fn await_parts(&mut self, count: usize, main: &CudaStream) -> Result<()> {
        if count > self.done {
            let last = &self.parts[count - 1].1;
            main.wait(last).doing("waiting for an update")?;
            self.done = count;
        }
        Ok(())
    }

    /// Sums the squares of a part's gradients, for their norm.
    pub fn square(
        &self,
        part: ModelPart,
        parameters: &Parameters,
        kernels: &mut Kernels,
        stream: &Arc<CudaStream>,
    ) -> Result<()> {
        let index = self.index(part);
        let before: usize = self.parts[..index].iter().map(|(range, _)| squares(range)).sum();
        let range = &self.parts[index].0;
        let kernel = SquareSums {
            gradients: parameters.gradients.ptr(),
            partials: self.square_partials.ptr(),
            was_read: self.was_read.ptr(),
            from: (range.start / 8) as u32,
            to: (range.end / 8) as u32,
            first: before as i32,
            count: (self.square_partials.len() / self.members) as i32,
        };
        let variant = usize::from(part == ModelPart::Embedding);
        let grid = Grid { variant, ..Grid::new([squares(range), self.members, 1], THREADS) };
        // SAFETY: the range is within each member's gradients, and each part has its own places among the partial sums.
        unsafe { kernels.launch(&kernel, grid, stream) }
    }

    /// Adds up every member's norm, to the last of its `sums`, keeps those in the `history`, and leaves the update to be made
    /// with these numbers.
    pub fn defer(
        &mut self,
        update: Ptr<UpdateNumbers>,
        sums: Ptr<f32>,
        history: Ptr<f32>,
        kernels: &mut Kernels,
        main: &Arc<CudaStream>,
    ) -> Result<()> {
        let kernel = Clip {
            partials: self.square_partials.ptr(),
            blocks: (self.square_partials.len() / self.members) as i32,
            update,
            sums,
            scales: self.scales.ptr(),
            pending: self.numbers.ptr(),
            log: self.log.ptr(),
            history,
        };
        // SAFETY: `scales`, `sums` and every place of the history have room for each member; the update before has read
        // `numbers` and `scales`.
        unsafe { kernels.launch(&kernel, Grid::new([self.members, 1, 1], THREADS), main)? };
        self.pending = true;
        self.count += 1;
        Ok(())
    }
}
