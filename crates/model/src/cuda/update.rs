//! The deferred update: it runs during the next forward pass.
//!
//! AdamW is bound by memory bandwidth, the next matmuls by arithmetic, so they run well together. A step ends with the
//! gradients and their clip factors. The next forward pass starts the update on a low-priority stream, in the order in which
//! weights are needed, and waits for each part before reading it.
//!
//! A batch reads few rows of a large embedding, unless it is the head too. The other rows are skipped, and make up missed
//! updates when a token reads them, with the same result to the last bit (`adamw_embedding` in `update.cu`).

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
    /// A member's parameters in the order of use, each part with its range and the event after its update: the embedding, the
    /// gains and biases, learned positions, every layer, and the head unless it is the embedding.
    parts: Vec<(ModelPart, Range<usize>, CudaEvent)>,
    /// The number of parts that are already waited for.
    done: usize,
    /// Whether an update is pending.
    pub pending: bool,
    /// Updates so far, the pending one included.
    pub count: u32,
    embedding: Tensor,
    /// Whether rows of the embedding that no token reads have no gradient. In a tied model the head gives them one.
    pub sparse: bool,
    /// Whether rows of the embedding may have missed updates.
    pub behind: bool,
    /// Updates of each row of the embedding, `[N, V]`, and whether the last batch read it.
    made: Memory<u32>,
    pub was_read: Memory<u8>,
    /// Sums of squares of the gradients, `[N, squares]`.
    square_partials: Memory<f32>,
    /// Each member's clip factor, the numbers of its update, and `[UPDATE_LOG, N]` those of the last updates.
    scales: Memory<f32>,
    numbers: Memory<UpdateNumbers>,
    log: Memory<UpdateNumbers>,
}

/// The host's record of the updates at a step: see the fields of [`DeferredUpdate`].
#[derive(Clone, Copy)]
pub struct UpdateProgress {
    done: usize,
    pending: bool,
    count: u32,
    behind: bool,
}

fn squares(range: &Range<usize>) -> usize {
    range.len().div_ceil(NORM_CHUNK)
}

impl DeferredUpdate {
    pub fn new(gpu: &Gpu, layout: &Layout, members: usize) -> Result<Self> {
        let context = &gpu.context;
        let sparse = layout.head.weight != layout.embed;
        let layers = layout.layers.iter().enumerate();
        let matrices: Vec<(ModelPart, usize)> = [(ModelPart::Embedding, layout.embed.offset)]
            .into_iter()
            .chain(layout.positions.map(|positions| (ModelPart::Positions, positions.offset)))
            .chain(layers.map(|(l, layer)| (ModelPart::Layer(l), layer.qkv.weight.offset)))
            .chain(sparse.then_some((ModelPart::Head, layout.head.weight.offset)))
            .collect();
        let ends = matrices.iter().skip(1).map(|(_, start)| *start).chain([layout.decayed]);
        let mut ranges: Vec<_> = matrices.iter().zip(ends).map(|(&(part, start), end)| (part, start..end)).collect();
        ranges.insert(1, (ModelPart::Gains, layout.decayed..layout.size));
        let parts = ranges.into_iter().map(|(part, range)| Ok((part, range, event(context)?)));
        let parts = parts.collect::<Result<Vec<_>>>()?;
        let count: usize = parts.iter().map(|(_, range, _)| squares(range)).sum();
        Ok(DeferredUpdate {
            members,
            stream: context.new_stream().doing("making a stream")?,
            fork: event(context)?,
            done: parts.len(),
            parts,
            pending: false,
            count: 0,
            embedding: layout.embed,
            sparse,
            behind: false,
            made: Memory::new(gpu, members * layout.embed.rows)?,
            was_read: Memory::new(gpu, members * layout.embed.rows)?,
            square_partials: Memory::new(gpu, members * count)?,
            scales: Memory::new(gpu, members)?,
            numbers: Memory::new(gpu, members)?,
            log: Memory::new(gpu, UPDATE_LOG * members)?,
        })
    }

    /// Waits for its stream. Errors are ignored.
    pub fn wait(&self) {
        let _ = self.stream.synchronize();
    }

    /// The index of a part; the head of a tied model is the embedding, the first.
    fn index(&self, part: ModelPart) -> usize {
        self.parts.iter().position(|(own, _, _)| *own == part).unwrap_or(0)
    }

    /// What a step that is issued changes on the host; [`DeferredUpdate::restore`] undoes it.
    pub fn progress(&self) -> UpdateProgress {
        UpdateProgress { done: self.done, pending: self.pending, count: self.count, behind: self.behind }
    }

    pub fn restore(&mut self, to: UpdateProgress) {
        (self.done, self.pending, self.count, self.behind) = (to.done, to.pending, to.count, to.behind);
    }

    /// Must be called after a recorded step is replayed: it applied the last update and left a new one.
    pub fn replayed(&mut self) {
        (self.pending, self.behind, self.done) = (true, self.sparse, self.parts.len());
        self.count += 1;
    }

    /// Starts a pending update and waits for the first parts. Of the embedding, updates the rows with a gradient and those
    /// read next: `first` [N, V + 1] counts the tokens before each row's.
    pub fn start(
        &mut self,
        first: Ptr<u32>,
        parameters: &Parameters,
        kernels: &mut Kernels,
        streams: &Streams,
    ) -> Result<()> {
        if !std::mem::take(&mut self.pending) {
            // An evaluation may have updated only the rows that it read.
            return if self.behind {
                self.update_embedding(first, false, parameters, kernels, &streams.main)
            } else {
                Ok(())
            };
        }
        self.behind = self.sparse;
        let stream = if streams.serial { &streams.main } else { &self.stream };
        if !streams.serial {
            self.fork.record(&streams.main).doing("starting an update")?;
            stream.wait(&self.fork).doing("starting an update")?;
        }
        for (part, range, after) in &self.parts {
            if *part == ModelPart::Embedding && self.sparse {
                self.update_embedding(first, false, parameters, kernels, stream)?;
                after.record(stream).doing("starting an update")?;
                continue;
            }
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
            // SAFETY: `from` and `to` are within each member's parameters. Readers on the main stream wait for
            // the event first; nothing writes them or the gradients before the forward pass ends.
            unsafe { kernels.launch(&kernel, grid, stream)? };
            after.record(stream).doing("starting an update")?;
        }
        self.done = 0;
        // The first operation needs all parts before the layers.
        self.await_parts(self.index(ModelPart::Layer(0)), &streams.main)
    }

    /// Updates the rows of the embedding with a gradient or read next, or `all` that missed an update.
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

    /// Applies a pending update to all rows; must be called before weights are read or written from outside.
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
            let last = &self.parts[count - 1].2;
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
        let before: usize = self.parts[..index].iter().map(|(_, range, _)| squares(range)).sum();
        let range = &self.parts[index].1;
        let kernel = SquareSums {
            gradients: parameters.gradients.ptr(),
            partials: self.square_partials.ptr(),
            was_read: self.was_read.ptr(),
            from: (range.start / 8) as u32,
            to: (range.end / 8) as u32,
            first: before as i32,
            count: (self.square_partials.len() / self.members) as i32,
        };
        let variant = usize::from(part == ModelPart::Embedding && self.sparse);
        let grid = Grid { variant, ..Grid::new([squares(range), self.members, 1], THREADS) };
        // SAFETY: the range is within each member's gradients, and each part has its own places among the partial sums.
        unsafe { kernels.launch(&kernel, grid, stream) }
    }

    /// Computes every member's norm into the last of its `sums`, copies these to the `history`, and defers the update.
    pub fn defer(
        &mut self,
        updates: Ptr<UpdateNumbers>,
        sums: Ptr<f32>,
        history: Ptr<f32>,
        kernels: &mut Kernels,
        main: &Arc<CudaStream>,
    ) -> Result<()> {
        let kernel = Clip {
            partials: self.square_partials.ptr(),
            blocks: (self.square_partials.len() / self.members) as i32,
            updates,
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
