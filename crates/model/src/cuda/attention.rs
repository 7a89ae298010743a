//! Attention over spans, class by class: which kernel takes a class, and its launch.

use super::engine::Cuda;
use super::kernels::{FlatSpan, Grid, Kernel};
use super::memory::Ptr;
use super::sizes::{LONG_WARPS, SHORT_WARPS};
use super::streams::Streams;
use crate::{Result, Shape};

/// The longest span of each class: spans are put into classes by length, each with its own launch.
pub const CLASSES: [usize; 5] = [32, 48, 64, 128, usize::MAX];
/// The first classes, whose spans a block of SHORT_WARPS warps takes.
const SHORT_CLASSES: usize = 3;
/// The class of all short spans where they do not fill a GPU class by class.
const MERGED_CLASS: usize = SHORT_CLASSES - 1;
/// The first classes, forward and backward, of which a warp takes a head of a span alone: as many rows as its registers hold. Each
/// has a variant of the kernel; the others' variants follow.
const WARP_CLASSES: (usize, usize) = (3, 2);
/// The heads for which that is faster.
const NARROW: usize = 32;

/// The class of a span of so many rows, in a small batch or not.
pub fn class_of(rows: usize, small: bool) -> usize {
    let class = CLASSES.iter().position(|&most| rows <= most).unwrap_or(CLASSES.len() - 1);
    if small { class.max(MERGED_CLASS) } else { class }
}

/// The launch of the forward pass over `count` spans of a class, a multiple of 8, of a small batch or not.
pub fn forward(class: usize, count: usize, shape: &Shape, small: bool) -> Grid {
    if !small && class < WARP_CLASSES.0 && shape.head_width() == NARROW {
        return by_warps(class, count, shape);
    }
    let variant = WARP_CLASSES.0 + usize::from(class >= SHORT_CLASSES);
    staged(class, count, shape, variant, staged_bytes(shape, staged_rows(class, shape), 3, 1))
}

/// The same of the backward pass.
pub fn backward(class: usize, count: usize, shape: &Shape, small: bool) -> Grid {
    if !small && class < WARP_CLASSES.1 && shape.head_width() == NARROW {
        return by_warps(class, count, shape);
    }
    let rows = staged_rows(class, shape);
    let tiles = rows / 16;
    // The gradients of the scores of all pairs of tiles; for the longest spans 16 rows for each warp.
    let more = if class + 1 < CLASSES.len() {
        512 * staged_heads(shape) * (tiles * (tiles + 1) / 2)
    } else {
        2 * 16 * LONG_WARPS * (shape.head_width() + 8)
    };
    let variant = WARP_CLASSES.1 + class.saturating_sub(MERGED_CLASS);
    staged(class, count, shape, variant, staged_bytes(shape, rows, 4, 2) + more)
}

/// A warp takes a head of a span.
fn by_warps(class: usize, count: usize, shape: &Shape) -> Grid {
    let blocks = [count * shape.heads / SHORT_WARPS, 1, 1];
    Grid { variant: class, blocks, threads: 32 * SHORT_WARPS, shared: 0 }
}

/// A block takes [`staged_heads`] heads of a span, in shared memory.
fn staged(class: usize, count: usize, shape: &Shape, variant: usize, shared: usize) -> Grid {
    let warps = if class < SHORT_CLASSES { SHORT_WARPS } else { LONG_WARPS };
    let blocks = [count * shape.heads.div_ceil(staged_heads(shape)), 1, 1];
    Grid { variant, blocks, threads: 32 * warps, shared }
}

/// Heads of a block that stages a span in shared memory: those that share a cache line of a row.
fn staged_heads(shape: &Shape) -> usize {
    (64 / shape.head_width()).max(1)
}

/// The longest span of a class under a context, in whole tiles.
fn staged_rows(class: usize, shape: &Shape) -> usize {
    CLASSES[class].min(shape.context).next_multiple_of(16)
}

/// Bytes of a span's matrices in shared memory, and of as many numbers per row.
fn staged_bytes(shape: &Shape, rows: usize, matrices: usize, numbers: usize) -> usize {
    let heads = staged_heads(shape);
    let apart = if heads > 1 { 32 } else { 0 };
    heads * (2 * matrices * (rows * (shape.head_width() + 8) + apart) + 4 * numbers * rows)
}

impl Cuda {
    /// Attention over each class of spans with the kernel made for it. All classes run at the same time.
    pub(super) fn attend<K: Kernel>(
        &mut self,
        launch: impl Fn(usize, usize, &Shape, bool) -> Grid,
        kernel: impl Fn(Ptr<FlatSpan>) -> K,
    ) -> Result<()> {
        let (parallel, small) = (!self.streams.serial, self.underfilled());
        let classes = self.batch.sections.classes;
        for (class, &count) in classes.iter().enumerate().rev() {
            if count == 0 {
                continue;
            }
            let before: usize = classes[..class].iter().sum();
            let kernel = kernel(self.staging.at(self.batch.sections.spans).add(before));
            let grid = launch(class, count, &self.shape, small);
            if parallel && before > 0 {
                let stream = self.streams.longer_spans[class - 1].fork(&self.streams.main)?;
                // SAFETY: as in `Cuda::run`; each span has its own rows of the result, and the stream is joined below.
                unsafe { self.kernels.launch(&kernel, grid, stream)? };
            } else {
                self.run(kernel, grid)?;
            }
        }
        let Streams { longer_spans, main, .. } = &mut self.streams;
        longer_spans.iter_mut().try_for_each(|stream| stream.join(main))
    }
}
