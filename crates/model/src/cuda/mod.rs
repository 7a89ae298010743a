//! The operations on one NVIDIA GPU of compute capability 8.0 or newer.
//!
//! Building needs no CUDA: the driver, NVRTC and cuBLASLt are opened with the device. Matmuls are bf16 with f32 accumulation
//! by cuBLASLt; on compute capability 9.0, those adjacent to a SwiGLU or a norm are fused with it. A step with known sizes
//! is recorded as a graph and replayed.
//!
//! - `gpu`, `memory`, `bf16`: the device, typed memory on it, and its number formats
//! - `sizes`, `compile`, `kernels`: the `.cu` programs, compiled for a shape, and their typed arguments
//! - `gemm`, `attention`: matmuls, and attention over spans
//! - `streams`, `update`, `graphs`: concurrency and recorded steps
//! - `parameters`, `staging`: permanent data on the GPU, and data copied every step
//! - `engine`: a population on one GPU; `ops`, `fused`, `infer`: its operations
//! - `probe`: for the self-test and the bench
//!
//! A member's result is bitwise independent of the other members for a given number of members and rows: cuBLASLt selects
//! its algorithm by these sizes.

pub(crate) mod attention;
pub mod bf16;
pub mod compile;
mod engine;
mod fused;
mod gemm;
mod gpu;
mod graphs;
mod infer;
pub mod kernels;
mod memory;
mod ops;
mod parameters;
mod probe;
mod recordings;
pub mod sizes;
mod span_class;
mod staging;
mod streams;
mod update;

pub use engine::Cuda;
pub use gpu::Gpu;
pub use recordings::{abandoned_recordings, invalidate_recordings};
pub use sizes::ROUND;
