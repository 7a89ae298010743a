//! Initial weights: matrices from N(0, init_std), gains one, biases zero.
//!
//! Every matrix of the exported model has its own stream under the model seed; query, key, value, gate and up of Llama are
//! separate, although stored in joint tensors. So the same (shape, seed) gives the same weights on any device, and a model
//! with one more layer has the same first layers.

use crate::export::{ExportedTensor, exported_tensors};
use crate::{Layout, Shape};
use invitro_base::random::Rng;

/// A model's flat vector of initial weights.
pub fn initial_weights(shape: &Shape, seed: u64) -> Vec<f32> {
    let layout = Layout::new(shape);
    let mut weights = vec![0.0; layout.size];
    for ExportedTensor { own: name, tensor, .. } in exported_tensors(shape, &layout) {
        let own = &mut weights[tensor.range()];
        if tensor.offset >= layout.decayed {
            own.fill(if name.ends_with("bias") { 0.0 } else { 1.0 });
            continue;
        }
        let mut stream = Rng::keyed(&format!("init.{name}"), [seed, 0, 0]);
        for pair in own.chunks_mut(2) {
            for (weight, normal) in pair.iter_mut().zip(stream.normals()) {
                *weight = (normal * shape.init_std) as f32;
            }
        }
    }
    weights
}
