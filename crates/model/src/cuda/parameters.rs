//! The parameters of a population on the GPU, `[N, size]` each: weights, gradients and moments.

use super::bf16::{Bf16, join, split};
use super::gpu::Gpu;
use super::memory::{Memory, Ptr};
use crate::ops::Vector;
use crate::{Error, Layout, Result, Tensor};
use cudarc::driver::CudaStream;

/// A weight is 32 bits: its bf16 copy, which matmuls read, and its residual bits. Gradients are bf16, the moments f32.
pub struct Parameters {
    size: usize,
    pub bf16: Memory<Bf16>,
    pub residual_bits: Memory<u16>,
    pub gradients: Memory<Bf16>,
    pub means: Memory<f32>,
    pub variances: Memory<f32>,
}

/// Bytes of a parameter and its gradient and moments.
pub const BYTES: usize = 2 + 2 + 2 + 4 + 4;

impl Parameters {
    pub fn new(gpu: &Gpu, layout: &Layout, members: usize) -> Result<Self> {
        let len = members * layout.size;
        Ok(Parameters {
            size: layout.size,
            bf16: Memory::new(gpu, len)?,
            residual_bits: Memory::new(gpu, len)?,
            gradients: Memory::new(gpu, len)?,
            means: Memory::new(gpu, len)?,
            variances: Memory::new(gpu, len)?,
        })
    }

    /// All weights: their bf16 and their residual bits.
    pub fn weights(&self) -> (Ptr<Bf16>, Ptr<u16>) {
        (self.bf16.ptr(), self.residual_bits.ptr())
    }

    /// The first member's bf16 weights of a tensor.
    pub fn weight(&self, tensor: Tensor) -> Ptr<Bf16> {
        self.bf16.ptr().add(tensor.offset)
    }

    /// The first member's gradients of a tensor.
    pub fn gradient(&self, tensor: Tensor) -> Ptr<Bf16> {
        self.gradients.ptr().add(tensor.offset)
    }

    pub fn read(&self, member: usize, vector: Vector, stream: &CudaStream) -> Result<Vec<f32>> {
        let (at, len) = (member * self.size, self.size);
        Ok(match vector {
            Vector::Weights => {
                let bf16 = self.bf16.read(at, len, stream)?;
                let residual_bits = self.residual_bits.read(at, len, stream)?;
                bf16.into_iter().zip(residual_bits).map(|(bf16, bits)| join(bf16, bits)).collect()
            }
            Vector::Gradients => self.gradients.read(at, len, stream)?.into_iter().map(Bf16::f32).collect(),
            Vector::Mean => self.means.read(at, len, stream)?,
            Vector::Variance => self.variances.read(at, len, stream)?,
        })
    }

    pub fn write(&self, member: usize, vector: Vector, values: &[f32], stream: &CudaStream) -> Result<()> {
        let at = member * self.size;
        match vector {
            Vector::Weights => {
                let (bf16, residual_bits): (Vec<Bf16>, Vec<u16>) = values.iter().map(|&value| split(value)).unzip();
                self.bf16.write(at, &bf16, stream)?;
                self.residual_bits.write(at, &residual_bits, stream)
            }
            Vector::Mean => self.means.write(at, values, stream),
            Vector::Variance => self.variances.write(at, values, stream),
            Vector::Gradients => {
                Err(Error::Device("gradients are computed by the backward pass and cannot be written".into()))
            }
        }
    }
}
