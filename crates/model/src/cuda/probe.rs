//! What only the self-test and the bench ask of a GPU: buffers in and out, the time of each kernel, and how long the
//! matmuls of a step take alone.

use super::bf16::Bf16;
use super::engine::{Buf, Cuda, Stat};
use super::gemm::{Matmul, Operands};
use super::memory::Ptr;
use crate::Result;
use crate::ops::Ops;
use crate::selftest::Inspect;
use crate::selftest::inputs::normals;
use std::collections::BTreeMap;
use std::time::Instant;

/// Values per buffer that are really random; the rest repeats them. Zeros would run faster than data does.
const PATTERN: usize = 1 << 20;

impl Inspect for Cuda {
    fn put(&mut self, buf: &mut Buf, values: &[f32]) -> Result<()> {
        let values: Vec<Bf16> = values.iter().map(|&value| Bf16::truncated(value)).collect();
        buf.write(0, &values, &self.streams.main)
    }

    fn get(&mut self, buf: &Buf) -> Result<Vec<f32>> {
        Ok(buf.read(0, buf.len(), &self.streams.main)?.into_iter().map(Bf16::f32).collect())
    }

    fn get_stat(&mut self, stat: &Stat) -> Result<Vec<f32>> {
        stat.read(0, stat.len(), &self.streams.main)
    }
}

impl Cuda {
    /// Waits until the GPU has done everything asked so far.
    pub fn wait(&self) -> Result<()> {
        self.streams.wait()
    }

    /// To be called before the first step: no matmul is fused with a norm or an activation, as on GPUs that have no kernels
    /// for that.
    pub fn disable_fusion(&mut self) {
        self.fused = false;
    }

    /// Times every kernel from now on; steps are issued one by one on one stream, not replayed.
    pub fn start_timing(&mut self) {
        self.streams.serial = true;
        self.kernels.timed = Some(Vec::new());
    }

    /// Milliseconds and launches per kernel.
    pub fn stop_timing(&mut self) -> Result<BTreeMap<String, (f64, usize)>> {
        self.streams.serial = false;
        self.kernels.stop_timing()
    }

    /// The GEMM ceiling: seconds that the matmuls of a step over `rows` rows per member take alone, the median of a few
    /// runs. A step cannot be faster.
    pub fn gemm_seconds(&mut self, rows: usize) -> Result<f64> {
        self.flush_update()?;
        self.wait()?;
        self.batch.rows = rows;
        // On one stream, one after the other.
        self.streams.serial = true;
        let widest = (2 * self.shape.hidden).max(self.shape.vocab).max(3 * self.shape.width);
        let total = self.members * rows * widest;
        let pattern = normals("ceiling", PATTERN, 1.0);
        let values: Vec<f32> = pattern.iter().cycle().take(total).copied().collect();
        let (mut x, mut y) = (self.buf(total)?, self.buf(total)?);
        self.put(&mut x, &values)?;
        self.put(&mut y, &values)?;
        let (x, y, none) = (x.ptr(), y.ptr(), Ptr::default());
        let weights: Vec<_> = self.layout.matrices().collect();
        let mut seconds = Vec::new();
        for _ in 0..6 {
            let start = Instant::now();
            for &weight in &weights {
                let left = self.parameters.weight(weight);
                let residual = if weight.rows == self.shape.width { x } else { none };
                self.matmul(Matmul::Forward, weight, Operands { left, right: x, residual, result: y })?;
                self.matmul(Matmul::Input, weight, Operands { left, right: y, residual: none, result: x })?;
                let result = self.parameters.gradient(weight);
                self.matmul(Matmul::Weight, weight, Operands { left: x, right: y, residual: none, result })?;
            }
            self.wait()?;
            seconds.push(start.elapsed().as_secs_f64());
        }
        self.streams.serial = false;
        // The first run loads the kernels.
        let mut seconds = seconds.split_off(1);
        seconds.sort_by(f64::total_cmp);
        Ok(seconds[seconds.len() / 2])
    }
}
