//! For the self-test and the bench: copies of buffers, the time of each kernel, and the time of a step's matmuls alone.

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

/// Random values per buffer, repeated to fill it. Zeros would run faster than data.
const PATTERN: usize = 1 << 20;

impl Inspect for Cuda {
    fn upload(&mut self, buf: &mut Buf, values: &[f32]) -> Result<()> {
        let values: Vec<Bf16> = values.iter().map(|&value| Bf16::truncated(value)).collect();
        buf.write(0, &values, &self.streams.main)
    }

    fn download(&mut self, buf: &Buf) -> Result<Vec<f32>> {
        Ok(buf.read(0, buf.len(), &self.streams.main)?.into_iter().map(Bf16::f32).collect())
    }

    fn download_stat(&mut self, stat: &Stat) -> Result<Vec<f32>> {
        stat.read(0, stat.len(), &self.streams.main)
    }
}

impl Cuda {
    /// Waits until the GPU has finished all work so far.
    pub fn wait(&self) -> Result<()> {
        self.streams.wait()
    }

    /// Disables fused matmuls, as on older GPUs; to be called before the first step.
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

    /// The GEMM ceiling: the seconds of a step's matmuls alone over `rows` rows per member, the median of a few runs.
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
        self.upload(&mut x, &values)?;
        self.upload(&mut y, &values)?;
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
