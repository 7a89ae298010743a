//! Attention over spans by class: the kernel of a class, and the size of its launch.

use super::kernels::Grid;
use super::sizes::{LONG_WARPS, SHORT_WARPS};
use super::span_class::{CLASSES, MERGED_CLASS, SHORT_CLASSES};
use crate::{Error, Result, Shape};

/// The number of classes, forward and backward, in which one warp processes a head of a span in its registers. Each has a
/// variant of the kernel; the variants of the other classes follow.
const WARP_CLASSES: (usize, usize) = (3, 2);
/// The head width for which that is faster.
const NARROW: usize = 32;
/// Bytes of shared memory that a block may have on the GPUs with the most (compute capability 9.0 and 10.0).
const MOST_SHARED: usize = 227 << 10;

/// The launch of the forward pass over `count` spans of a class, a multiple of 8.
pub fn forward(class: usize, count: usize, shape: &Shape, small: bool) -> Grid {
    if !small && class < WARP_CLASSES.0 && shape.head_width() == NARROW {
        return by_warps(class, count, shape);
    }
    let variant = WARP_CLASSES.0 + usize::from(class >= SHORT_CLASSES);
    staged(class, count, shape, variant, staged_bytes(shape, staged_rows(class, shape), 3, 1))
}

/// The same for the backward pass.
pub fn backward(class: usize, count: usize, shape: &Shape, small: bool) -> Grid {
    if !small && class < WARP_CLASSES.1 && shape.head_width() == NARROW {
        return by_warps(class, count, shape);
    }
    let rows = staged_rows(class, shape);
    let tiles = rows / 16;
    // The score gradients of all pairs of tiles; for the longest spans, 16 rows per warp.
    let more = if class + 1 < CLASSES.len() {
        512 * staged_heads(shape) * (tiles * (tiles + 1) / 2)
    } else {
        2 * 16 * LONG_WARPS * (shape.head_width() + 8)
    };
    let variant = WARP_CLASSES.1 + class.saturating_sub(MERGED_CLASS);
    staged(class, count, shape, variant, staged_bytes(shape, rows, 4, 2) + more)
}

/// An error if no GPU has the shared memory that a block of either pass takes.
pub fn check(shape: &Shape) -> Result<()> {
    let most = |class| forward(class, 0, shape, true).shared.max(backward(class, 0, shape, true).shared);
    let shared = (0..CLASSES.len()).map(most).max().unwrap_or(0);
    if shared > MOST_SHARED {
        return Err(Error::Shape(format!(
            "heads {} wide and context {}: attention needs {shared} bytes of shared memory, and no GPU has more than {MOST_SHARED}: take more heads or a shorter context",
            shape.head_width(),
            shape.context
        )));
    }
    Ok(())
}

/// One warp per head of a span.
fn by_warps(class: usize, count: usize, shape: &Shape) -> Grid {
    let blocks = [count * shape.heads / SHORT_WARPS, 1, 1];
    Grid { variant: class, blocks, threads: 32 * SHORT_WARPS, shared: 0 }
}

/// One block per [`staged_heads`] heads of a span, in shared memory.
fn staged(class: usize, count: usize, shape: &Shape, variant: usize, shared: usize) -> Grid {
    let warps = if class < SHORT_CLASSES { SHORT_WARPS } else { LONG_WARPS };
    let blocks = [count * shape.heads.div_ceil(staged_heads(shape)), 1, 1];
    Grid { variant, blocks, threads: 32 * warps, shared }
}

/// Heads per block with shared memory: those that share a cache line of a row.
fn staged_heads(shape: &Shape) -> usize {
    (64 / shape.head_width()).max(1)
}

/// The longest span of a class under a context, in whole tiles.
fn staged_rows(class: usize, shape: &Shape) -> usize {
    CLASSES[class].min(shape.context).next_multiple_of(16)
}

/// Bytes of shared memory for a span's matrices and per-row numbers.
fn staged_bytes(shape: &Shape, rows: usize, matrices: usize, numbers: usize) -> usize {
    let heads = staged_heads(shape);
    let apart = if heads > 1 { 32 } else { 0 };
    heads * (2 * matrices * (rows * (shape.head_width() + 8) + apart) + 4 * numbers * rows)
}
