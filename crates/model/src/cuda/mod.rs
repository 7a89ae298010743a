//! The operations on one NVIDIA GPU of compute capability 8.0 or newer.
//!
//! Nothing of CUDA is needed to build: the driver, NVRTC and cuBLASLt are opened when a device is. Matmuls are bf16 with
//! f32 accumulation by cuBLASLt; where the GPU is of compute capability 9.0, those beside a SwiGLU or a norm are fused
//! with it. A step whose sizes were seen before is recorded as a graph and replayed.
//!
//! - `gpu`, `memory`, `bf16`: the device, typed memory on it, and its number formats
//! - `sizes`, `compile`, `kernels`: the `.cu` programs, compiled for a shape, and their typed arguments
//! - `gemm`, `attention`: matmuls, and attention over spans
//! - `streams`, `update`, `graphs`: what runs at the same time as what, and recorded steps
//! - `parameters`, `staging`: what stays on the GPU, and what goes there every step
//! - `engine`: all of it together; `ops`, `fused`, `infer`: the operations over it
//! - `probe`: what only the self-test and the bench ask for
//!
//! A member's result is bitwise the same whoever trains beside it as long as the population has as many members and its
//! batches as many rows: cuBLASLt picks its algorithm by those sizes.

mod attention;
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
pub mod sizes;
mod span_class;
mod staging;
mod streams;
mod update;

pub use engine::Cuda;
pub use gpu::Gpu;
pub use sizes::ROUND;
