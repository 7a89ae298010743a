//! Initial weights: matrices from N(0, init_std), gains one.
//!
//! Every matrix of the exported model has its own stream under the model seed; query, key, value, gate and up are
//! separate though they lie in joint tensors. So the same (shape, seed) gives the same weights on any device, and a
//! model with one more layer has the same first ones.

use crate::stream::Stream;
use crate::{Layout, Shape, Tensor};

/// A model's flat vector of weights before any training.
pub fn initial_weights(shape: &Shape, seed: u64) -> Vec<f32> {
    let layout = Layout::new(shape);
    let mut weights = vec![0.0; layout.size];
    let mut draw = |name: String, tensor: Tensor, part: usize, parts: usize| {
        let len = tensor.len() / parts;
        let mut stream = Stream::new(&format!("init.{name}"), [seed, 0, 0]);
        for pair in weights[tensor.offset + part * len..][..len].chunks_mut(2) {
            for (weight, normal) in pair.iter_mut().zip(stream.normals()) {
                *weight = (normal * shape.init_std) as f32;
            }
        }
    };
    draw("embed".into(), layout.embed, 0, 1);
    draw("head".into(), layout.head, 0, 1);
    for (l, layer) in layout.layers.iter().enumerate() {
        for (part, name) in ["q", "k", "v"].into_iter().enumerate() {
            draw(format!("layers.{l}.{name}"), layer.qkv, part, 3);
        }
        for (part, name) in ["gate", "up"].into_iter().enumerate() {
            draw(format!("layers.{l}.{name}"), layer.gate_up, part, 2);
        }
        draw(format!("layers.{l}.out"), layer.out, 0, 1);
        draw(format!("layers.{l}.down"), layer.down, 0, 1);
    }
    let norms = layout.layers.iter().flat_map(|layer| [layer.norm1, layer.norm2]).chain([layout.norm]);
    norms.for_each(|gain| weights[gain.range()].fill(1.0));
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(layers: usize) -> Shape {
        Shape { layers, width: 32, heads: 2, hidden: 48, vocab: 100, ..Shape::paper(100) }
    }

    #[test]
    fn matrices_are_normal_and_gains_one() {
        let shape = shape(2);
        let (layout, weights) = (Layout::new(&shape), initial_weights(&shape, 7));
        let matrix = &weights[layout.layers[1].gate_up.range()];
        let mean = matrix.iter().sum::<f32>() / matrix.len() as f32;
        let spread = (matrix.iter().map(|w| w * w).sum::<f32>() / matrix.len() as f32).sqrt();
        assert!(mean.abs() < 2e-3 && (spread - 0.02).abs() < 1e-3, "mean {mean}, spread {spread}");
        assert!(weights[layout.layers[0].norm2.range()].iter().all(|&gain| gain == 1.0));
        assert!(weights[layout.norm.range()].iter().all(|&gain| gain == 1.0));
    }

    #[test]
    fn streams_do_not_move_each_other() {
        let (one, two) = (shape(1), shape(2));
        let (a, b) = (initial_weights(&one, 3), initial_weights(&two, 3));
        let (la, lb) = (Layout::new(&one), Layout::new(&two));
        assert_eq!(a[la.head.range()], b[lb.head.range()]);
        assert_eq!(a[la.layers[0].qkv.range()], b[lb.layers[0].qkv.range()]);
        assert_ne!(b[lb.layers[0].qkv.range()], b[lb.layers[1].qkv.range()]);
        assert_ne!(initial_weights(&one, 4), a);
    }

    /// These numbers must never change: a seed means the same model in every version.
    #[test]
    fn a_seed_means_the_same_weights_for_ever() {
        let weights = initial_weights(&shape(1), 0);
        let bits: Vec<u32> = weights[..4].iter().map(|w| w.to_bits()).collect();
        assert_eq!(bits, FIRST);
    }

    const FIRST: [u32; 4] = [1012314765, 3161597872, 1007118262, 3157115635];
}
