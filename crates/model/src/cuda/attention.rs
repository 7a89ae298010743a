//! Attention over spans, class by class: which kernel takes a class, and its launch.

use super::engine::Cuda;
use super::kernels::{FlatSpan, Grid, Kernel};
use super::memory::Ptr;
use super::sizes::{LONG_WARPS, SHORT_WARPS};
use super::streams::Streams;
use crate::{Result, Shape};

/// Spans are put into classes by length, each with its own launch.
pub struct SpanClass {
    /// The longest span of the class.
    pub rows: usize,
}

pub const CLASSES: [SpanClass; 5] = [
    SpanClass { rows: 32 },
    SpanClass { rows: 48 },
    SpanClass { rows: 64 },
    SpanClass { rows: 128 },
    SpanClass { rows: usize::MAX },
];
/// The class of all short spans where there are too few of them to fill a GPU class by class.
const MERGED_CLASS: usize = 2;
/// The class of a span of so many rows, in a small batch or not.
pub fn class_of(rows: usize, small: bool) -> usize {
    let fits = |class: &SpanClass| rows <= class.rows;
    let class = CLASSES.iter().position(fits).unwrap_or(CLASSES.len() - 1);
    if small { class.max(MERGED_CLASS) } else { class }
}

/// Classes of spans that a block of few warps takes.
const SHORT_CLASSES: usize = 3;

/// Variants of the kernels, forward and backward, that take a head of a span by a warp: one for each of the first classes.
const WARP_VARIANTS: (usize, usize) = (3, 2);

/// How the kernel for a class is launched.
pub struct SpanLaunch {
    /// Which of the kernel's variants.
    pub variant: usize,
    pub warps: usize,
    /// Heads of a span that a block takes.
    heads: usize,
    /// Bytes of shared memory.
    pub shared: usize,
}

/// The longest spans that a warp takes alone, forward and backward: of narrow heads as many rows as its registers hold. With
/// wider ones it gains nothing.
pub fn warp_rows(shape: &Shape) -> (usize, usize) {
    if shape.head_width() == 32 { (64, 48) } else { (16, 16) }
}

/// Heads of a block that stages a span in shared memory: those that share a cache line of a row.
fn staged_heads(shape: &Shape) -> usize {
    (64 / shape.head_width()).max(1)
}

/// Bytes of a span's matrices in shared memory, and of as many numbers per row.
fn staged_bytes(shape: &Shape, rows: usize, matrices: usize, numbers: usize) -> usize {
    let heads = staged_heads(shape);
    let apart = if heads > 1 { 32 } else { 0 };
    heads * (2 * matrices * (rows * (shape.head_width() + 8) + apart) + 4 * numbers * rows)
}

impl SpanClass {
    fn index(&self) -> usize {
        CLASSES.iter().position(|class| class.rows == self.rows).expect("one of the classes")
    }

    /// The longest span of the class under a context, in whole tiles.
    fn staged_rows(&self, shape: &Shape) -> usize {
        self.rows.min(shape.context).next_multiple_of(16)
    }

    /// A warp takes one head of a span: a variant of the kernel for each class.
    fn by_warps(&self) -> SpanLaunch {
        SpanLaunch { variant: self.index(), warps: SHORT_WARPS, heads: SHORT_WARPS, shared: 0 }
    }

    /// A block takes a few heads of a span, in shared memory.
    fn staged(&self, shape: &Shape, variant: usize, shared: usize) -> SpanLaunch {
        let warps = if self.index() < SHORT_CLASSES { SHORT_WARPS } else { LONG_WARPS };
        SpanLaunch { variant, warps, heads: staged_heads(shape), shared }
    }

    /// For a small batch or not.
    pub fn forward(&self, shape: &Shape, small: bool) -> SpanLaunch {
        if !small && self.rows <= warp_rows(shape).0 {
            return self.by_warps();
        }
        let variant = WARP_VARIANTS.0 + usize::from(self.index() >= SHORT_CLASSES);
        self.staged(shape, variant, staged_bytes(shape, self.staged_rows(shape), 3, 1))
    }

    pub fn backward(&self, shape: &Shape, small: bool) -> SpanLaunch {
        if !small && self.rows <= warp_rows(shape).1 {
            return self.by_warps();
        }
        let (rows, class) = (self.staged_rows(shape), self.index());
        let tiles = rows / 16;
        // The gradients of the scores of all pairs of tiles; for the longest spans 16 rows for each warp.
        let more = if class + 1 < CLASSES.len() {
            512 * staged_heads(shape) * (tiles * (tiles + 1) / 2)
        } else {
            2 * 16 * LONG_WARPS * (shape.head_width() + 8)
        };
        let variant = WARP_VARIANTS.1 + class.saturating_sub(SHORT_CLASSES - 1);
        self.staged(shape, variant, staged_bytes(shape, rows, 4, 2) + more)
    }
}

impl Cuda {
    /// Attention over each class of spans with the kernel made for it. Longer spans run at the same time as the shortest.
    pub(super) fn attend<K: Kernel>(
        &mut self,
        launch: impl Fn(&SpanClass, &Shape, bool) -> SpanLaunch,
        kernel: impl Fn(Ptr<FlatSpan>) -> K,
    ) -> Result<()> {
        let (parallel, small) = (!self.streams.serial, self.underfilled());
        for (index, class) in CLASSES.iter().enumerate().rev() {
            let count = self.batch.sections.classes[index];
            if count == 0 {
                continue;
            }
            let before: usize = self.batch.sections.classes[..index].iter().sum();
            let kernel = kernel(self.staging.at(self.batch.sections.spans).add(before));
            let SpanLaunch { variant, warps, heads, shared } = launch(class, &self.shape, small);
            // Staged heads may be fewer in a span's last block; those of warps fill theirs, since `count` is a multiple of 8.
            let blocks =
                if shared > 0 { count * self.shape.heads.div_ceil(heads) } else { count * self.shape.heads / heads };
            let grid = Grid { variant, blocks: [blocks, 1, 1], threads: 32 * warps, shared };
            if parallel && before > 0 {
                let stream = self.streams.longer_spans[index - 1].fork(&self.streams.main)?;
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
