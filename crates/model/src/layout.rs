//! The layout of a member's tensors in one flat vector.
//!
//! Weights, gradients and both moments of a member are one vector each: first the matrices, then the gains.
//! So a population's parameters are `[N, size]`, every matmul is strided-batched with stride `size`, the optimizer is
//! one pass, and weight decay applies to the elements before `decayed`.

use crate::{Error, Result, Shape};

/// A matrix `[rows, cols]` (out, in), or a gain as one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tensor {
    pub offset: usize,
    pub rows: usize,
    pub cols: usize,
}

impl Tensor {
    pub fn len(&self) -> usize {
        self.rows * self.cols
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn range(&self) -> std::ops::Range<usize> {
        self.offset..self.offset + self.len()
    }
}

/// One layer's tensors. Query, key and value are rows of one matrix, in this order; so are gate and up.
#[derive(Clone, Debug)]
pub struct LayerLayout {
    pub norm1: Tensor,
    pub qkv: Tensor,
    pub out: Tensor,
    pub norm2: Tensor,
    pub gate_up: Tensor,
    pub down: Tensor,
}

#[derive(Clone, Debug)]
pub struct Layout {
    pub embed: Tensor,
    pub layers: Vec<LayerLayout>,
    pub norm: Tensor,
    pub head: Tensor,
    /// Elements before this one are matrices and decay; the gains after it do not.
    pub decayed: usize,
    /// Length of the flat vector, every tensor rounded up to [`ALIGN`] elements.
    pub size: usize,
}

/// Tensors start at multiples of this many elements: 256 bytes of bf16, which cuBLASLt assumes.
pub const ALIGN: usize = 128;

impl Layout {
    pub fn new(shape: &Shape) -> Self {
        let mut offset = 0;
        let mut place = |rows: usize, cols: usize| {
            let tensor = Tensor { offset, rows, cols };
            offset += tensor.len().next_multiple_of(ALIGN);
            tensor
        };
        let width = shape.width;
        let embed = place(shape.vocab, width);
        let matrices: Vec<_> = (0..shape.layers)
            .map(|_| {
                [
                    place(3 * width, width),
                    place(width, width),
                    place(2 * shape.hidden, width),
                    place(width, shape.hidden),
                ]
            })
            .collect();
        let head = place(shape.vocab, width);
        let decayed = head.offset + head.len().next_multiple_of(ALIGN);
        let layers = matrices
            .into_iter()
            .map(|[qkv, out, gate_up, down]| LayerLayout {
                norm1: place(1, width),
                qkv,
                out,
                norm2: place(1, width),
                gate_up,
                down,
            })
            .collect();
        let norm = place(1, width);
        Layout { embed, layers, norm, head, decayed, size: offset }
    }

    /// The matrices of matmuls: all but the embedding.
    pub fn matrices(&self) -> impl Iterator<Item = Tensor> {
        let layers = self.layers.iter();
        layers.flat_map(|layer| [layer.qkv, layer.out, layer.gate_up, layer.down]).chain([self.head])
    }

    /// Checks the length of a member's vector.
    pub fn check(&self, values: &[f32]) -> Result<()> {
        if values.len() == self.size {
            return Ok(());
        }
        Err(Error::Shape(format!("a vector of {} numbers: this shape has {}", values.len(), self.size)))
    }
}
