//! The matrix products of a training step alone: what a step could not be faster than.

use super::gemm::{Operands, Product};
use super::lane::Lane;
use super::memory::Memory;
use crate::ops::Ops;
use crate::selftest::{Inspect, normals};
use crate::{Result, Tensor};
use std::time::Instant;

/// Values per buffer that are really random; the rest repeats them. Zeros would run faster than data does.
const PATTERN: usize = 1 << 20;

impl Lane {
    /// Seconds that all products of a step over `rows` rows per member take, the median of a few runs.
    pub fn products_alone(&mut self, rows: usize) -> Result<f64> {
        self.settle()?;
        self.wait()?;
        self.parts.rows = rows;
        let widest = (2 * self.shape.hidden).max(self.shape.vocab).max(3 * self.shape.width);
        let total = self.members * rows * widest;
        let pattern = normals("ceiling", PATTERN, 1.0);
        let random = |lane: &mut Lane| -> Result<Memory> {
            let mut buf = lane.buf(total)?;
            let values: Vec<f32> = pattern.iter().cycle().take(total).copied().collect();
            lane.put(&mut buf, &values)?;
            Ok(buf)
        };
        let (x, y) = (random(self)?, random(self)?);
        let layers = self.layout.layers.iter();
        let mut weights: Vec<Tensor> =
            layers.flat_map(|layer| [layer.qkv, layer.out, layer.gate_up, layer.down]).collect();
        weights.push(self.layout.head);
        let mut seconds = Vec::new();
        for _ in 0..6 {
            let start = Instant::now();
            for &weight in &weights {
                let left = self.halves_at(weight);
                let residual = if weight.rows == self.shape.width { x.ptr } else { 0 };
                self.product(Product::Forward, weight, Operands { left, right: x.ptr, residual, result: y.ptr })?;
                self.product(Product::Input, weight, Operands { left, right: y.ptr, residual: 0, result: x.ptr })?;
                let result = self.gradients.ptr + 2 * weight.offset as u64;
                self.product(Product::Weight, weight, Operands { left: x.ptr, right: y.ptr, residual: 0, result })?;
            }
            self.wait()?;
            seconds.push(start.elapsed().as_secs_f64());
        }
        // The first run loads the kernels.
        let mut seconds = seconds.split_off(1);
        seconds.sort_by(f64::total_cmp);
        Ok(seconds[seconds.len() / 2])
    }
}
