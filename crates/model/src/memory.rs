//! How much memory a population takes on a device, known before anything is allocated.

use crate::cuda::{Cuda, ROUND};
use crate::{Device, Layout, Shape, decode, inference, score, shard, transformer};

/// Bytes of device memory that `members` models of a shape take, about: their parameters, training steps of up to `rows`
/// rows each, and decoding and scoring beside them.
pub fn population_bytes(device: Device, shape: &Shape, members: usize, rows: usize) -> usize {
    let round = if device == Device::Cpu { 1 } else { ROUND };
    let regions = shard::regions(shape, round);
    let scored = score::rows(shape.context);
    let (activations, logits) =
        inference::elements(shape, scored.max(regions + decode::PROMPT_ROWS), regions * shape.context, scored);
    match device {
        Device::Cuda(_) => {
            Cuda::bytes(shape, members, rows.next_multiple_of(ROUND)) + members * (2 * activations + 4 * logits)
        }
        Device::Cpu => {
            let (per_row, statistics) = transformer::elements_per_row(shape);
            // Weights, gradients, two moments, and the weights once more, packed.
            let parameters = 5 * Layout::new(shape).size;
            4 * members * (parameters + rows * (per_row + statistics) + activations + logits)
        }
    }
}
