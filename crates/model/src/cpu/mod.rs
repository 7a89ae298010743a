//! The operations on a CPU: f32 (or f64, the twin for finite differences), all cores, memory laid out once.
//!
//! - [`simd`], `float`: loops compiled per instruction set, over two number types
//! - `tile`, `pack`, `product`, `amx`: matrix products whose bits depend on neither threads nor neighbours; `products`
//!   picks among them
//! - `attention`, `cached`, `pointwise`, `loss`, `adamw`: the rest of a step
//!
//! Filler rows are skipped, not computed: what stands in them after an operation means nothing. A member's results
//! depend on its own weights and sequences alone, bit for bit.

mod adamw;
#[cfg(target_arch = "x86_64")]
mod amx;
mod attention;
mod cached;
mod float;
mod infer;
mod loss;
mod memory;
mod operations;
mod pack;
mod pointwise;
mod product;
mod products;
mod rope;
pub mod simd;
mod tile;

pub use float::Float;
pub use memory::Buffer;

use crate::ops::{Slot, Update};
use crate::reading::CachedSpan;
use crate::{Batch, Error, Layout, Result, Shape, Span, Tensor};
use attention::Heads;
use products::Products;
use rope::Rope;
use tile::Kernel;

/// Loss groups a batch may have.
const GROUPS: usize = 256;

/// A population on the CPU.
pub struct Cpu<F: Float> {
    shape: Shape,
    layout: Layout,
    members: usize,
    kernel: Kernel<F>,
    products: Products<F>,
    rope: Rope<F>,
    weights: Buffer<F>,
    gradients: Buffer<F>,
    mean: Buffer<F>,
    variance: Buffer<F>,
    packed: Packed<F>,
    loaded: Loaded,
    /// The other factor of a product, packed.
    panels: Buffer<F>,
    /// Partial sums over blocks of rows, and of a norm.
    row_partials: Buffer<F>,
    norm_partials: Vec<f64>,
    losses: Vec<Losses>,
}

/// Every matrix packed for the way forward, kept until the weights change.
struct Packed<F> {
    /// Offset of the tensor in the layout, and of its panels in a member's part of `data`.
    tensors: Vec<(usize, usize)>,
    size: usize,
    data: Buffer<F>,
    /// `[members, tensors]`
    fresh: Vec<bool>,
}

/// The batch that the operations work on; its vectors keep their memory from step to step.
#[derive(Default)]
struct Loaded {
    /// Rows per member, filler included, and without it.
    rows: usize,
    real: Vec<usize>,
    tokens: Vec<u32>,
    targets: Vec<i32>,
    groups: Vec<u8>,
    spans: Vec<Vec<Span>>,
    /// Rows sorted by token: token v of member m has `by_token[m * rows..][starts[v]..starts[v + 1]]`, `starts` being
    /// `[members, vocab + 1]`.
    starts: Vec<u32>,
    by_token: Vec<u32>,
    update: Option<Update>,
    /// A forward-only batch's spans and picks.
    cached: Vec<Vec<CachedSpan>>,
    picks: usize,
    real_picks: Vec<usize>,
    pick_rows: Vec<u32>,
    pick_targets: Vec<u32>,
}

struct Losses {
    sum: [f64; GROUPS],
    count: [u64; GROUPS],
    by_row: Vec<f64>,
    grad_norm: f64,
}

impl<F: Float> Cpu<F> {
    /// All vectors of `members` models, zeroed, and scratch for batches of up to `capacity` rows each.
    pub fn new(shape: &Shape, members: usize, capacity: usize) -> Result<Self> {
        shape.validate()?;
        let layout = Layout::new(shape);
        let products = Products::<F>::pick();
        let matrices: Vec<Tensor> = layout
            .layers
            .iter()
            .flat_map(|layer| [layer.qkv, layer.out, layer.gate_up, layer.down])
            .chain([layout.head])
            .collect();
        let mut packed_size = 0;
        let tensors = matrices.iter().map(|tensor| {
            let at = packed_size;
            packed_size += products.packed_len(tensor.cols, tensor.rows);
            (tensor.offset, at)
        });
        let tensors: Vec<_> = tensors.collect();
        let panels = matrices.iter().map(|t| products.packed_len(capacity.max(t.rows), t.cols)).max().unwrap_or(0);
        let size = members * layout.size;
        Ok(Cpu {
            members,
            kernel: F::kernel(),
            products,
            rope: Rope::new(shape.head_width(), shape.context, shape.rope_theta),
            weights: Buffer::new(size),
            gradients: Buffer::new(size),
            mean: Buffer::new(size),
            variance: Buffer::new(size),
            packed: Packed {
                size: packed_size,
                data: Buffer::new(members * packed_size),
                fresh: vec![false; members * tensors.len()],
                tensors,
            },
            loaded: Loaded {
                spans: vec![Vec::new(); members],
                starts: vec![0; members * (shape.vocab + 1)],
                by_token: vec![0; members * capacity],
                cached: vec![Vec::new(); members],
                ..Loaded::default()
            },
            panels: Buffer::new(panels),
            row_partials: Buffer::new(capacity.div_ceil(pointwise::BLOCK) * shape.width),
            norm_partials: vec![0.0; adamw::partials(layout.size)],
            losses: (0..members)
                .map(|_| Losses { sum: [0.0; GROUPS], count: [0; GROUPS], by_row: vec![0.0; capacity], grad_norm: 0.0 })
                .collect(),
            shape: shape.clone(),
            layout,
        })
    }

    /// One member's vector, in the CPU's own numbers.
    pub fn vector(&self, member: usize, slot: Slot) -> &[F] {
        let range = member * self.layout.size..(member + 1) * self.layout.size;
        match slot {
            Slot::Weights => &self.weights[range],
            Slot::Gradients => &self.gradients[range],
            Slot::Mean => &self.mean[range],
            Slot::Variance => &self.variance[range],
        }
    }

    /// The same to write in.
    pub fn vector_mut(&mut self, member: usize, slot: Slot) -> &mut [F] {
        let range = member * self.layout.size..(member + 1) * self.layout.size;
        if slot == Slot::Weights {
            let tensors = self.packed.tensors.len();
            self.packed.fresh[member * tensors..][..tensors].fill(false);
        }
        match slot {
            Slot::Weights => &mut self.weights[range],
            Slot::Gradients => &mut self.gradients[range],
            Slot::Mean => &mut self.mean[range],
            Slot::Variance => &mut self.variance[range],
        }
    }

    fn heads(&self) -> Heads {
        Heads { heads: self.shape.heads, head_width: self.shape.head_width() }
    }

    /// Where a tensor of a member lies in a population's vector.
    fn place(&self, member: usize, tensor: Tensor) -> std::ops::Range<usize> {
        let start = member * self.layout.size;
        start + tensor.offset..start + tensor.offset + tensor.len()
    }

    /// A member's rows of a buffer that is `wide` per row, without filler.
    fn rows(&self, member: usize, wide: usize) -> std::ops::Range<usize> {
        let start = member * self.loaded.rows * wide;
        start..start + self.loaded.real[member] * wide
    }

    fn load_batch(&mut self, batch: &Batch, update: &Update) -> Result<()> {
        self.check_tokens(&batch.tokens)?;
        if let Some(target) = batch.targets.iter().find(|&&target| target >= self.shape.vocab as i32) {
            return Err(Error::Batch(format!("target {target}: the vocabulary has {} tokens", self.shape.vocab)));
        }
        let spans = batch.spans.iter().flatten();
        if let Some(span) = spans.into_iter().find(|span| span.len as usize > self.shape.context) {
            return Err(Error::Batch(format!("a span of {}: the context is {}", span.len, self.shape.context)));
        }
        let loaded = &mut self.loaded;
        loaded.rows = batch.rows;
        loaded.real.clone_from(&batch.real);
        loaded.tokens.clone_from(&batch.tokens);
        loaded.targets.clone_from(&batch.targets);
        loaded.groups.clone_from(&batch.groups);
        loaded.update = Some(*update);
        for (own, given) in loaded.spans.iter_mut().zip(&batch.spans) {
            own.clone_from(given);
        }
        let vocab = self.shape.vocab;
        if loaded.by_token.len() < self.members * batch.rows {
            loaded.by_token.resize(self.members * batch.rows, 0);
        }
        for member in 0..self.members {
            let tokens = &loaded.tokens[member * batch.rows..][..batch.real[member]];
            let starts = &mut loaded.starts[member * (vocab + 1)..][..vocab + 1];
            let by_token = &mut loaded.by_token[member * batch.rows..][..batch.rows];
            sort_by_token(tokens, starts, by_token);
        }
        Ok(())
    }

    fn check_tokens(&self, tokens: &[u32]) -> Result<()> {
        match tokens.iter().find(|&&token| token as usize >= self.shape.vocab) {
            Some(token) => Err(Error::Batch(format!("token {token}: the vocabulary has {} tokens", self.shape.vocab))),
            None => Ok(()),
        }
    }
}

/// Counting sort of rows by token, in row order within a token.
fn sort_by_token(tokens: &[u32], starts: &mut [u32], by_token: &mut [u32]) {
    starts.fill(0);
    for &token in tokens {
        starts[token as usize + 1] += 1;
    }
    for v in 1..starts.len() {
        starts[v] += starts[v - 1];
    }
    // Filling moves every start to the next token's; the last pass moves them back.
    for (row, &token) in tokens.iter().enumerate() {
        by_token[starts[token as usize] as usize] = row as u32;
        starts[token as usize] += 1;
    }
    for v in (1..starts.len()).rev() {
        starts[v] = starts[v - 1];
    }
    starts[0] = 0;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_by_token_in_order() {
        let (mut starts, mut rows) = (vec![9; 5], vec![9; 6]);
        sort_by_token(&[2, 0, 2, 3, 0, 2], &mut starts, &mut rows);
        assert_eq!(starts, [0, 2, 2, 5, 6]);
        assert_eq!(rows, [1, 4, 0, 2, 5, 3]);
    }
}
