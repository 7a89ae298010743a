//! The layout of a member's tensors in one flat vector.
//!
//! Weights, gradients and both moments of a member are one vector each: first the matrices, then the gains and biases.
//! So a population's parameters are `[N, size]`, every matmul is strided-batched with stride `size`, the optimizer is
//! one pass, and weight decay applies to the elements before `decayed`.

use crate::{Error, Result, Shape};
use invitro_base::settings::ModelKind;

/// A matrix `[rows, cols]` (out, in), or a gain or a bias as one row.
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

/// y = x · weightᵀ (+ bias)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear {
    pub weight: Tensor,
    pub bias: Option<Tensor>,
}

/// RMSNorm, or LayerNorm where there is a bias.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Norm {
    pub gain: Tensor,
    pub bias: Option<Tensor>,
}

/// One layer's tensors. Query, key and value are rows of one matrix, in this order; so are gate and up. GPT-2 has no gate.
#[derive(Clone, Copy, Debug)]
pub struct LayerLayout {
    pub norm1: Norm,
    pub qkv: Linear,
    pub out: Linear,
    pub norm2: Norm,
    pub gate_up: Linear,
    pub down: Linear,
}

#[derive(Clone, Debug)]
pub struct Layout {
    pub embed: Tensor,
    /// Learned positions, `[context, width]`.
    pub positions: Option<Tensor>,
    pub layers: Vec<LayerLayout>,
    pub norm: Norm,
    /// Of a tied model, the matrix of the embedding.
    pub head: Linear,
    /// Elements before this one are matrices and decay; the gains and biases after it do not.
    pub decayed: usize,
    /// Length of the flat vector, every tensor rounded up to [`ALIGN`] elements.
    pub size: usize,
}

/// Tensors start at multiples of this many elements: 256 bytes of bf16, which cuBLASLt assumes.
pub const ALIGN: usize = 128;

/// Places tensors one after the other.
struct Placement {
    offset: usize,
    has_biases: bool,
}

impl Placement {
    fn matrix(&mut self, rows: usize, cols: usize) -> Tensor {
        let tensor = Tensor { offset: self.offset, rows, cols };
        self.offset += tensor.len().next_multiple_of(ALIGN);
        tensor
    }

    fn bias(&mut self, len: usize) -> Option<Tensor> {
        self.has_biases.then(|| self.matrix(1, len))
    }

    fn norm(&mut self, width: usize) -> Norm {
        Norm { gain: self.matrix(1, width), bias: self.bias(width) }
    }

    fn linear(&mut self, weight: Tensor) -> Linear {
        Linear { weight, bias: self.bias(weight.rows) }
    }
}

impl Layout {
    pub fn new(shape: &Shape) -> Self {
        let mut place = Placement { offset: 0, has_biases: shape.kind == ModelKind::Gpt2 };
        let width = shape.width;
        let embed = place.matrix(shape.vocab, width);
        let positions = shape.learned_positions().map(|context| place.matrix(context, width));
        let matrices: Vec<_> = (0..shape.layers)
            .map(|_| {
                [
                    place.matrix(3 * width, width),
                    place.matrix(width, width),
                    place.matrix(shape.up_width(), width),
                    place.matrix(width, shape.hidden),
                ]
            })
            .collect();
        let head = if shape.tied { embed } else { place.matrix(shape.vocab, width) };
        let decayed = place.offset;
        let layers = matrices
            .into_iter()
            .map(|[qkv, out, gate_up, down]| LayerLayout {
                norm1: place.norm(width),
                qkv: place.linear(qkv),
                out: place.linear(out),
                norm2: place.norm(width),
                gate_up: place.linear(gate_up),
                down: place.linear(down),
            })
            .collect();
        let norm = place.norm(width);
        let head = Linear { weight: head, bias: None };
        Layout { embed, positions, layers, norm, head, decayed, size: place.offset }
    }

    /// The matrices of matmuls: all but the embedding of an untied model and the positions.
    pub fn matrices(&self) -> impl Iterator<Item = Tensor> {
        let layers = self.layers.iter();
        layers
            .flat_map(|layer| [layer.qkv, layer.out, layer.gate_up, layer.down])
            .chain([self.head])
            .map(|linear| linear.weight)
    }

    /// The tensors of a layer, each with its name.
    pub fn of_layer(&self, layer: usize) -> Vec<(&'static str, Tensor)> {
        let LayerLayout { norm1, qkv, out, norm2, gate_up, down } = self.layers[layer];
        let named = [
            ("norm1", Some(norm1.gain)),
            ("norm1.bias", norm1.bias),
            ("qkv", Some(qkv.weight)),
            ("qkv.bias", qkv.bias),
            ("out", Some(out.weight)),
            ("out.bias", out.bias),
            ("norm2", Some(norm2.gain)),
            ("norm2.bias", norm2.bias),
            ("gate_up", Some(gate_up.weight)),
            ("gate_up.bias", gate_up.bias),
            ("down", Some(down.weight)),
            ("down.bias", down.bias),
        ];
        named.into_iter().filter_map(|(name, tensor)| Some((name, tensor?))).collect()
    }

    /// Checks the length of a member's vector.
    pub fn check(&self, values: &[f32]) -> Result<()> {
        if values.len() == self.size {
            return Ok(());
        }
        Err(Error::Shape(format!("a vector of {} numbers: this shape has {}", values.len(), self.size)))
    }
}
