//! The operations on a CPU: f32 (or f64 for finite differences), all cores, memory allocated once.
//!
//! - [`simd`], `float`, `reduce`: loops compiled per instruction set, over two floating-point types
//! - `matmul`: matrix multiplications whose bits depend on neither threads nor other rows
//! - `embedding`, `rms_norm`, `layer_norm`, `rope`, `attention`, `bias`, `swiglu`, `gelu`, `logits`, `adamw`: the other steps
//!   of training
//! - `kv_cache`: attention for decoding and scoring
//! - `ops`, `infer_ops`: the traits that the transformer uses
//!
//! Filler rows are skipped; their contents are undefined. A member's results depend only on its own weights and sequences,
//! bit for bit.

mod adamw;
mod attention;
mod bias;
mod embedding;
mod float;
mod gelu;
mod infer_ops;
mod kv_cache;
mod layer_norm;
pub(crate) mod logits;
mod matmul;
mod memory;
mod ops;
mod reduce;
mod rms_norm;
mod rope;
pub mod simd;
mod swiglu;

pub use float::Float;
pub use matmul::{MatmulFloat, copy_lines, transpose};
pub use memory::Buffer;

use crate::history::{HISTORY, Ring};
use crate::inference::Pass;
use crate::ops::{GROUPS, Loss, Update, Vector};
use crate::{Layout, Result, Shape, Span, Tensor};
use invitro_base::settings::ModelKind;
use matmul::{MatmulKernel, packed_len};
use reduce::ROW_BLOCK;
use rope::Rope;

/// A population on the CPU.
pub struct Cpu<F: Float> {
    shape: Shape,
    layout: Layout,
    members: usize,
    kernel: MatmulKernel<F>,
    rope: Rope<F>,
    /// In the order of [`Vector`].
    vectors: [Buffer<F>; 4],
    packed: Packed<F>,
    loaded: CpuBatch,
    /// The right factor of a matmul, packed.
    panels: Buffer<F>,
    /// Partial sums over blocks of rows, and of a norm.
    row_partials: Buffer<F>,
    norm_partials: Vec<f64>,
    /// By member; and by row of the current member.
    losses: Vec<Loss>,
    row_losses: Vec<f64>,
    /// `losses` of the last steps.
    history: Vec<Vec<Loss>>,
    ring: Ring,
}

/// Every matrix packed for the forward pass, until the weights change.
struct Packed<F> {
    /// Offset of the tensor in the layout, and of its panels in a member's part of `data`.
    tensors: Vec<(usize, usize)>,
    size: usize,
    data: Buffer<F>,
    /// `[members, tensors]`
    fresh: Vec<bool>,
}

/// Partial sums of a block of rows: of gains, or of gains and biases.
fn widest_partial(shape: &Shape) -> usize {
    match shape.kind {
        ModelKind::Llama => shape.width,
        ModelKind::Gpt2 => shape.hidden.max(3 * shape.width),
    }
}

/// The loaded batch; its vectors reuse their memory.
#[derive(Default)]
struct CpuBatch {
    /// Rows per member, filler included, and without it.
    rows: usize,
    real: Vec<usize>,
    tokens: Vec<u32>,
    /// Of rows in their sequences, for learned positions.
    positions: Vec<u32>,
    targets: Vec<i32>,
    groups: Vec<u8>,
    spans: Vec<Vec<Span>>,
    /// Rows sorted by token: token v of member m has `by_token[m * rows..][starts[v]..starts[v + 1]]`, `starts` being
    /// `[members, vocab + 1]`.
    starts: Vec<u32>,
    by_token: Vec<u32>,
    /// One per member.
    updates: Vec<Update>,
    /// The loaded forward-only pass.
    pass: Pass,
}

impl<F: Float> Cpu<F> {
    /// Zeroed vectors of `members` models, and scratch for batches of up to `capacity` rows each.
    pub fn new(shape: &Shape, members: usize, capacity: usize) -> Result<Self>
    where
        F: MatmulFloat,
    {
        shape.validate()?;
        let layout = Layout::new(shape);
        let kernel = F::kernel();
        let mut packed_size = 0;
        let tensors = layout.matrices().map(|tensor| {
            let at = packed_size;
            packed_size += packed_len(&kernel, tensor.cols, tensor.rows);
            (tensor.offset, at)
        });
        let tensors: Vec<_> = tensors.collect();
        let panels = layout.matrices().map(|t| packed_len(&kernel, t.rows, t.cols)).max().unwrap_or(0);
        let losses = vec![Loss { sum: vec![0.0; GROUPS], count: vec![0; GROUPS], grad_norm: 0.0 }; members];
        Ok(Cpu {
            members,
            kernel,
            rope: Rope::new(shape),
            vectors: std::array::from_fn(|_| Buffer::new(members * layout.size)),
            packed: Packed {
                size: packed_size,
                data: Buffer::new(members * packed_size),
                fresh: vec![false; members * tensors.len()],
                tensors,
            },
            loaded: CpuBatch {
                spans: vec![Vec::new(); members],
                starts: vec![0; members * (shape.vocab + 1)],
                by_token: vec![0; members * capacity],
                ..CpuBatch::default()
            },
            panels: Buffer::new(panels),
            row_partials: Buffer::new(capacity.div_ceil(ROW_BLOCK) * widest_partial(shape)),
            norm_partials: vec![0.0; adamw::partials(layout.size)],
            history: vec![losses.clone(); HISTORY],
            losses,
            row_losses: vec![0.0; capacity],
            ring: Ring::default(),
            shape: shape.clone(),
            layout,
        })
    }

    /// One member's vector, in the CPU's number type.
    pub fn vector(&self, member: usize, vector: Vector) -> &[F] {
        &self.vectors[vector as usize][member * self.layout.size..][..self.layout.size]
    }

    /// The same, mutable.
    pub fn vector_mut(&mut self, member: usize, vector: Vector) -> &mut [F] {
        if vector == Vector::Weights {
            let tensors = self.packed.tensors.len();
            self.packed.fresh[member * tensors..][..tensors].fill(false);
        }
        &mut self.vectors[vector as usize][member * self.layout.size..][..self.layout.size]
    }

    /// The range of a member's tensor in a population's vector.
    fn place(&self, member: usize, tensor: Tensor) -> std::ops::Range<usize> {
        let start = member * self.layout.size;
        start + tensor.offset..start + tensor.offset + tensor.len()
    }

    /// A member's rows of a buffer that is `wide` per row, without filler.
    fn rows(&self, member: usize, wide: usize) -> std::ops::Range<usize> {
        let start = member * self.loaded.rows * wide;
        start..start + self.loaded.real[member] * wide
    }
}
