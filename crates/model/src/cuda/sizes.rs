//! The sizes that Rust and the kernels share. Each is defined here or in the shape and passed to NVRTC as a `-D` option.

use crate::layout::ALIGN;
use crate::ops::GROUPS;
use crate::{Error, Layout, Result, Shape};
use invitro_base::settings::ModelKind;

/// Rows per member are rounded up to multiples of this, for few sizes to record and little filler.
pub const ROUND: usize = 64;

/// The default threads per block: a warp per row, or a thread per eight elements.
pub const THREADS: usize = 256;
pub const WARPS: usize = THREADS / 32;
/// Threads of the block that sums a member's losses.
pub const LOSS_THREADS: usize = 512;
/// Warps per block of attention: over short spans, long spans, and a cache.
pub const SHORT_WARPS: usize = 4;
pub const LONG_WARPS: usize = 8;
pub const CACHED_WARPS: usize = 4;
/// Rows that read one token are summed in pieces of this size.
pub const EMBED_ROWS: usize = 64;
/// Logged updates: rows of the embedding that no token reads are updated at least this often.
pub const UPDATE_LOG: usize = 32;
/// Gradients per block of the sum of squares.
pub const NORM_CHUNK: usize = 16384;
/// The flag of filler in the length of a span.
pub const FILLER: u32 = 1 << 31;

/// Columns of a tile of the fused kernels and of one copy: a swizzled row of 128 bytes.
pub const CHUNK: usize = 64;
/// Blocks that share fetched weights.
pub const CLUSTER: usize = 2;
/// Multiplying warps per block in the matmuls fused with SwiGLU, and rows per block forward and backward.
pub const MATMUL_WARPS: usize = 8;
pub const SWIGLU_ROWS: usize = 256;
pub const SWIGLU_BACKWARD_ROWS: usize = 128;
/// Rows per block of the matmuls fused with a norm: fewer if there would be too few blocks.
pub const SMALL_TILE: usize = 64;
pub const LARGE_TILE: usize = 128;

/// Bytes of shared memory of the fused kernels: alignment to 1024 bytes, the chunks of a block's matrices, and barriers.
pub const FUSED_SHARED: usize = 1024 + (224 << 10) + 256;

/// The widest model whose norm gradients fit into a block's 48 KiB.
const WIDEST: usize = 1536;

/// Threads of the block that turns a row of logits into its gradient.
pub fn cross_entropy_threads(vocab: usize) -> usize {
    if vocab <= 4096 { 128 } else { 256 }
}

/// An error if CUDA does not support the shape.
pub fn check(shape: &Shape) -> Result<()> {
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
    Ok(())
}

/// The NVRTC options of the common program; an error if CUDA does not support the shape.
pub fn options(shape: &Shape, layout: &Layout) -> Result<Vec<String>> {
    check(shape)?;
    let sizes = [
        ("D", shape.width),
        ("HEADS", shape.heads),
        ("HD", shape.head_width()),
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
        ("GPT2", usize::from(shape.kind == ModelKind::Gpt2)),
    ];
    Ok(defined(shape, &sizes).chain([format!("-DFILLER={FILLER}u")]).collect())
}

/// The NVRTC options of the fused kernels.
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
