//! A population on one GPU: its parameters, its streams, the recorded steps, and the memory of a step.

use super::attention;
use super::bf16::Bf16;
use super::compile;
use super::gemm::{Gemm, Matmul, Operands, Size};
use super::gpu::Gpu;
use super::graphs::Graphs;
use super::kernels::{Attention, AttentionBackward, FUSED_KERNELS, Grid, Kernel, Kernels};
use super::memory::{Memory, Pinned, Ptr};
use super::parameters::{self, Parameters};
use super::sizes::{EMBED_ROWS, FUSED_SHARED, LARGE_TILE};
use super::span_class::CLASSES;
use super::staging::{FULL_ROWS, Sections, Staging};
use super::streams::Streams;
use super::update::{DeferredUpdate, UpdateProgress};
use crate::history::{HISTORY, Ring};
use crate::inference::CachedSpan;
use crate::ops::GROUPS;
use crate::{Error, Layout, Result, Shape, Tensor, transformer};
use invitro_base::settings::ModelKind;

/// Activations, and statistics of rows.
pub(super) type Buf = Memory<Bf16>;
pub(super) type Stat = Memory<f32>;

pub struct Cuda {
    pub(super) gpu: Gpu,
    pub(super) shape: Shape,
    pub(super) layout: Layout,
    pub(super) members: usize,
    pub(super) kernels: Kernels,
    /// Whether matmuls are fused with the adjacent SwiGLU or norm.
    pub(super) fused: bool,
    pub(super) gemm: Gemm,
    pub(super) streams: Streams,
    pub(super) graphs: Graphs,
    pub(super) update: DeferredUpdate,
    pub(super) parameters: Parameters,
    pub(super) scratch: Scratch,
    pub(super) staging: Staging,
    pub(super) batch: LoadedBatch,
    pub(super) reading: LoadedReading,
    pub(super) steps: Steps,
    /// The updates and steps before the step that is being issued.
    pub(super) before_step: Option<(UpdateProgress, Ring)>,
}

/// The host's record of the steps in the history.
pub(super) struct Steps {
    pub ring: Ring,
    /// `counts` of each step's batch.
    pub counts: Vec<Vec<[u64; GROUPS]>>,
}

/// Scratch memory of a step.
pub(super) struct Scratch {
    /// Cosines and sines of the rotary angles, `[context, head width / 2]`, ordered as `attention.cu` says.
    pub angles: Memory<[f32; 2]>,
    /// Partial sums of the gradients of gains and biases, and of the embedding's.
    pub gain_partials: Memory<f32>,
    pub embed_partials: Memory<f32>,
    pub row_losses: Memory<f32>,
    /// `[N, GROUPS + 1]`: loss sums and the gradient's norm.
    pub sums: Memory<f32>,
    /// `[HISTORY, N, GROUPS + 1]`: the same of the last steps.
    pub history: Memory<f32>,
    /// The host copy of either.
    pub sums_host: Pinned,
}

/// The loaded batch or forward-only pass.
pub(super) struct LoadedBatch {
    pub sections: Sections,
    /// Rows per member; the number of picks after a pass's rows are selected.
    pub rows: usize,
    pub tokens: Ptr<u32>,
    /// Of learned positions, where there are any.
    pub positions: Ptr<u32>,
    /// Targets per member and group.
    pub counts: Vec<[u64; GROUPS]>,
    /// Whether the members' updates were loaded with it.
    pub has_updates: bool,
}

/// The other inputs of a forward-only pass.
#[derive(Default)]
pub(super) struct LoadedReading {
    pub memory: Option<Memory<u32>>,
    /// The host copy, which must live until the copy finishes.
    pub host: Vec<u32>,
    pub spans: Ptr<CachedSpan>,
    pub spans_per_member: usize,
    pub pick_rows: Ptr<u32>,
    pub pick_sets: Ptr<u32>,
    pub sets: Ptr<u32>,
    /// The offset of the targets in `memory`.
    pub targets_at: usize,
    pub picks: usize,
    pub answers: Option<Memory<u32>>,
    /// For rows that are read or overwritten by number.
    pub row_numbers: Option<Memory<u32>>,
    pub row_values: Option<Memory<Bf16>>,
}

// SAFETY: CUDA's objects may move between threads, and only one thread uses the engine at a time: methods take &mut or wait.
unsafe impl Send for Cuda {}

/// Rows per block of the norm's backward, for batches that underfill the GPU and for others.
const NORM_ROWS: (usize, usize) = (16, 64);

impl Cuda {
    /// Allocates all memory but activations for `members` models and batches of up to `capacity` rows each.
    pub fn new(gpu: &Gpu, shape: &Shape, members: usize, capacity: usize) -> Result<Self> {
        shape.validate()?;
        let layout = Layout::new(shape);
        let needed = Self::bytes(shape, members, capacity);
        let (free, _) = gpu.memory()?;
        if needed > free {
            return Err(Error::OutOfMemory(format!(
                "{members} models need {:.1} GB of GPU memory and {:.1} GB are free on {}: train fewer models at once (N) or a smaller batch",
                needed as f64 / 1e9,
                free as f64 / 1e9,
                gpu.name
            )));
        }
        let kernels = compile::load(gpu, shape)?;
        let fused = compile::can_fuse(gpu, shape);
        if fused {
            let mut names = FUSED_KERNELS.iter().flat_map(|(names, _)| *names);
            names.try_for_each(|name| kernels.allow_shared(name, FUSED_SHARED))?;
        }
        for class in 0..CLASSES.len() {
            let (forward, backward) =
                (attention::forward(class, 0, shape, true), attention::backward(class, 0, shape, true));
            kernels.allow_shared(Attention::NAMES[forward.variant], forward.shared)?;
            kernels.allow_shared(AttentionBackward::NAMES[backward.variant], backward.shared)?;
        }
        let staging = Staging::new(gpu, Sections::most(members, capacity, shape))?;
        let sections = Sections::new(members, 0, Default::default(), shape);
        Ok(Cuda {
            fused,
            gemm: Gemm::new(gpu)?,
            streams: Streams::new(gpu)?,
            graphs: Graphs::default(),
            update: DeferredUpdate::new(gpu, &layout, members)?,
            parameters: Parameters::new(gpu, &layout, members)?,
            scratch: Scratch::new(gpu, shape, &layout, members, capacity)?,
            batch: LoadedBatch {
                tokens: staging.at(sections.tokens),
                positions: staging.at(sections.positions),
                sections,
                rows: 0,
                counts: vec![[0; GROUPS]; members],
                has_updates: false,
            },
            staging,
            reading: LoadedReading::default(),
            steps: Steps { ring: Ring::default(), counts: vec![vec![[0; GROUPS]; members]; HISTORY] },
            before_step: None,
            gpu: gpu.clone(),
            shape: shape.clone(),
            layout,
            members,
            kernels,
        })
    }

    /// The bytes of training with the transformer's activations.
    pub fn bytes(shape: &Shape, members: usize, capacity: usize) -> usize {
        let layout = Layout::new(shape);
        let (activations, statistics) = transformer::elements_per_row(shape);
        let rows = members * capacity;
        let partials = gain_partials(&layout, members, capacity) + embed_partials(shape, members, capacity);
        rows * (2 * activations + 4 * (statistics + 1))
            + members * layout.size * parameters::BYTES
            + 4 * partials
            + Sections::most(members, capacity, shape)
            + 5 * members * shape.vocab
            + (64 << 20)
    }

    /// Launches a kernel on the main stream.
    pub(super) fn run<K: Kernel>(&mut self, kernel: K, grid: Grid) -> Result<()> {
        // SAFETY: all addresses are of memory that the engine or the caller's buffers own, which were laid out for the rows
        // that a batch may have (checked when it is loaded) and are freed only after the GPU is idle. What the main stream
        // writes while another reads is released first (`Streams::release`, `DeferredUpdate::await_part`).
        unsafe { self.kernels.launch(&kernel, grid, &self.streams.main) }
    }

    /// Launches a small kernel whose result is not needed before the update.
    pub(super) fn run_reduction<K: Kernel>(&mut self, kernel: K, grid: Grid) -> Result<()> {
        if self.streams.serial {
            return self.run(kernel, grid);
        }
        let stream = self.streams.reductions.fork(&self.streams.main)?;
        // SAFETY: as in `run`; what it reads is not written again before the streams are joined at the end of backward.
        unsafe { self.kernels.launch(&kernel, grid, stream) }
    }

    /// Launches a matmul on the main stream, or on the weight-gradient stream.
    pub(super) fn matmul(&mut self, matmul: Matmul, weight: Tensor, at: Operands) -> Result<()> {
        let size = Size {
            matmul,
            members: self.members,
            rows: self.batch.rows,
            inputs: weight.cols,
            outputs: weight.rows,
            stride: self.layout.size,
            residual: at.residual.address != 0,
        };
        let name = || format!("matmul {matmul:?} {}x{}", weight.cols, weight.rows).to_lowercase();
        // SAFETY: as in `run`; a weight's gradient is read only after the streams are joined, and the buffers that its
        // matmul reads are released before they are written again.
        unsafe {
            if matmul == Matmul::Weight {
                return self.streams.run_weight_gradient(&mut self.kernels, name, size, at);
            }
            let (gemm, main) = (&mut self.gemm, &self.streams.main);
            self.kernels.time(name, main, || gemm.run(size, at, main))
        }
    }

    /// Must be called before a buffer is written in the backward pass.
    pub(super) fn about_to_write<T: Copy>(&mut self, buffer: &Memory<T>) -> Result<()> {
        self.streams.release(Some(buffer.ptr().address))
    }

    /// Applies a pending update before weights are read or written from outside.
    pub(super) fn flush_update(&mut self) -> Result<()> {
        let first = self.staging.at(self.batch.sections.first);
        self.update.flush(first, &self.parameters, &mut self.kernels, &self.streams)
    }

    /// Rows per member and of all members, for kernel arguments.
    pub(super) fn extent(&self) -> (i32, i32) {
        (self.batch.rows as i32, self.total() as i32)
    }

    /// Rows of all members.
    pub(super) fn total(&self) -> usize {
        self.members * self.batch.rows
    }

    /// Whether the loaded batch has too few rows to fill a GPU.
    pub(super) fn underfilled(&self) -> bool {
        self.total() < FULL_ROWS
    }

    /// Rows per block of the norm's backward for the loaded batch.
    pub(super) fn norm_rows(&self) -> usize {
        match (self.underfilled(), self.fused) {
            (true, _) => NORM_ROWS.0,
            (false, true) => LARGE_TILE,
            (false, false) => NORM_ROWS.1,
        }
    }

    /// Sets the rows per member, their tokens and their positions for the following operations.
    pub(super) fn set_rows(&mut self, rows: usize, tokens: Ptr<u32>, positions: Ptr<u32>) {
        (self.batch.rows, self.batch.tokens, self.batch.positions) = (rows, tokens, positions);
        // Long kernels gain nothing from an early start.
        self.kernels.overlap = self.gpu.capability >= (9, 0) && self.total() < 4 * FULL_ROWS;
    }
}

fn gain_partials(layout: &Layout, members: usize, capacity: usize) -> usize {
    members * capacity.div_ceil(NORM_ROWS.0) * (layout.size - layout.decayed)
}

fn embed_partials(shape: &Shape, members: usize, capacity: usize) -> usize {
    members * (capacity / EMBED_ROWS + 1) * shape.width
}

impl Scratch {
    fn new(gpu: &Gpu, shape: &Shape, layout: &Layout, members: usize, capacity: usize) -> Result<Self> {
        let half = shape.head_width() / 2;
        let lanes = half / 8;
        let angle = |i: usize| {
            let (position, place) = (i / half, i % half);
            let dim = place / 2 % lanes * 8 + place / 2 / lanes * 2 + place % 2;
            match shape.kind {
                ModelKind::Llama => {
                    position as f64 * shape.rope_theta.powf(-2.0 * dim as f64 / shape.head_width() as f64)
                }
                // Nothing is rotated.
                ModelKind::Gpt2 => 0.0,
            }
        };
        let angles: Vec<[f32; 2]> =
            (0..shape.context * half).map(|i| [angle(i).cos() as f32, angle(i).sin() as f32]).collect();
        Ok(Scratch {
            angles: Memory::from_slice(gpu, &angles)?,
            gain_partials: Memory::new(gpu, gain_partials(layout, members, capacity))?,
            embed_partials: Memory::new(gpu, embed_partials(shape, members, capacity))?,
            row_losses: Memory::new(gpu, members * capacity)?,
            sums: Memory::new(gpu, members * (GROUPS + 1))?,
            history: Memory::new(gpu, HISTORY * members * (GROUPS + 1))?,
            sums_host: Pinned::new(gpu, 4 * HISTORY * members * (GROUPS + 1))?,
        })
    }
}

impl Drop for Cuda {
    fn drop(&mut self) {
        // A running step reads memory that is freed with the engine.
        self.update.wait();
        self.streams.wait_for_all();
    }
}
