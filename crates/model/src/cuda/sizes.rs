//! The sizes that Rust and the kernels share. Each has one home, here or in the shape, and reaches the kernels as a `-D`
//! option of NVRTC.

use crate::layout::ALIGN;
use crate::ops::GROUPS;
use crate::{Error, Layout, Result, Shape};

/// Rows per member are rounded up to multiples of this: fewer sizes of step to record, little filler.
pub const ROUND: usize = 64;

/// Threads of a block, where nothing else is said: a warp per row, or a thread per eight elements.
pub const THREADS: usize = 256;
pub const WARPS: usize = THREADS / 32;
/// Threads of the block that sums a member's losses.
pub const LOSS_THREADS: usize = 512;
/// Warps of a block of attention: over short spans, over long ones, and over a cache.
pub const SHORT_WARPS: usize = 4;
pub const LONG_WARPS: usize = 8;
pub const CACHED_WARPS: usize = 4;
/// Rows that read one token are summed in pieces of so many.
pub const EMBED_ROWS: usize = 64;
/// Updates whose numbers are kept: rows of the embedding that no token reads are updated at least so often.
pub const UPDATE_LOG: usize = 32;
/// Gradients whose squares a block sums.
pub const NORM_CHUNK: usize = 16384;
/// Set in the length of a span that is filler.
pub const FILLER: u32 = 1 << 31;

/// Columns of a tile of the fused kernels, and of what the copy engine moves at once: a swizzled row of 128 bytes.
pub const CHUNK: usize = 64;
/// Blocks that share what they fetch of the weights.
pub const CLUSTER: usize = 2;
/// Warps of a block that multiply, in the matmuls fused with SwiGLU, and the block's rows forward and backward.
pub const MATMUL_WARPS: usize = 8;
pub const SWIGLU_ROWS: usize = 256;
pub const SWIGLU_BACKWARD_ROWS: usize = 128;
/// Rows of a block of the matmuls fused with a norm: fewer where there would be too few blocks for all of the chip.
pub const SMALL_TILE: usize = 64;
pub const LARGE_TILE: usize = 128;

/// Bytes of shared memory of the fused kernels: the chunks of a block's matrices and what is written from there, to be
/// aligned to 1024 bytes, and barriers.
pub const FUSED_SHARED: usize = 1024 + (224 << 10) + 256;

/// The widest model whose norm's gradients have room beside each other in a block's 48 KiB.
const WIDEST: usize = 1536;

/// Threads of the block that turns a row of logits into its gradient.
pub fn cross_entropy_threads(vocab: usize) -> usize {
    if vocab <= 4096 { 128 } else { 256 }
}

/// The options of the program that every GPU runs, or why there are none for this shape.
pub fn options(shape: &Shape, layout: &Layout) -> Result<Vec<String>> {
    let head = shape.head_width();
    if ![32, 64, 128].contains(&head) || !shape.hidden.is_multiple_of(8) {
        return Err(Error::Shape(format!(
            "width {} over {} heads with hidden {}: on CUDA a head is 32, 64 or 128 wide and hidden a multiple of 8",
            shape.width, shape.heads, shape.hidden
        )));
    }
    if shape.width > WIDEST {
        return Err(Error::Shape(format!("width {}: on CUDA it is at most {WIDEST}", shape.width)));
    }
    let sizes = [
        ("D", shape.width),
        ("HEADS", shape.heads),
        ("HD", head),
        ("HIDDEN", shape.hidden),
        ("V", shape.vocab),
        ("CONTEXT", shape.context),
        ("SIZE", layout.size),
        ("DECAYED", layout.decayed),
        ("GAIN_STRIDE", shape.width.next_multiple_of(ALIGN)),
        ("GROUPS", GROUPS),
        ("THREADS", THREADS),
        ("LOSS_THREADS", LOSS_THREADS),
        ("CE_THREADS", cross_entropy_threads(shape.vocab)),
        ("SHORT_WARPS", SHORT_WARPS),
        ("LONG_WARPS", LONG_WARPS),
        ("CACHED_WARPS", CACHED_WARPS),
        ("EMBED_ROWS", EMBED_ROWS),
        ("NORM_CHUNK", NORM_CHUNK),
        ("UPDATE_LOG", UPDATE_LOG),
    ];
    Ok(defined(shape, &sizes).chain([format!("-DFILLER={FILLER}u")]).collect())
}

/// The options of the fused kernels.
pub fn fused_options(shape: &Shape) -> Vec<String> {
    let sizes = [
        ("D", shape.width),
        ("HIDDEN", shape.hidden),
        ("CHUNK", CHUNK),
        ("CLUSTER", CLUSTER),
        ("MATMUL_WARPS", MATMUL_WARPS),
        ("SWIGLU_ROWS", SWIGLU_ROWS),
        ("SWIGLU_BACKWARD_ROWS", SWIGLU_BACKWARD_ROWS),
        ("SMALL_TILE", SMALL_TILE),
        ("LARGE_TILE", LARGE_TILE),
    ];
    defined(shape, &sizes).collect()
}

fn defined(shape: &Shape, sizes: &[(&str, usize)]) -> impl Iterator<Item = String> {
    let epsilon = format!("-DEPS={:e}f", shape.norm_eps);
    sizes.iter().map(|(name, value)| format!("-D{name}={value}")).chain([epsilon])
}
