//! Some members of a population on one GPU: their parameters, its streams, and the recorded steps.

use super::aside::{Aside, Beside, urgent_stream};
use super::compile::{self, GROUPS};
use super::deferred::Deferred;
use super::fused;
use super::gemm::Gemm;
use super::infer::Loaded;
use super::launch::{Grid, Kernels};
use super::memory::{Memory, Pinned};
use super::staging::{CLASSES, CROWD, MANY_ROWS, Parts, Staging, few};
use super::{Gpu, device_error};
use crate::{Error, Layout, Result, Shape};
use cudarc::driver::{CudaGraph, CudaStream, result};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

pub struct Lane {
    pub(super) gpu: Gpu,
    pub(super) shape: Shape,
    pub(super) layout: Layout,
    pub(super) members: usize,
    pub(super) stream: Arc<CudaStream>,
    pub(super) kernels: Kernels,
    /// Whether products are joined with the SwiGLU or the norm beside them.
    pub(super) fused: bool,
    pub(super) gemm: Gemm,
    pub(super) aside: Aside,
    pub(super) beside: Beside,
    /// For the longer spans where there are few rows.
    pub(super) longer: Beside,
    /// `[N, size]` each. A weight is 32 bits: its bf16 copy, which products read, and the rest; gradients are bf16, the
    /// moments f32.
    pub(super) halves: Memory,
    pub(super) rests: Memory,
    pub(super) gradients: Memory,
    pub(super) means: Memory,
    pub(super) variances: Memory,
    /// Cosines and sines of the rotary angles, `[context, head width / 2, 2]`.
    pub(super) angles: Memory,
    pub(super) deferred: Deferred,
    pub(super) gain_partials: Memory,
    pub(super) crowd_partials: Memory,
    pub(super) square_partials: Memory,
    pub(super) row_losses: Memory,
    /// `[N, GROUPS + 1]`: loss sums and the gradient's norm, and where they land on the host.
    pub(super) sums: Memory,
    pub(super) sums_host: Pinned,
    pub(super) staging: Staging,
    pub(super) parts: Parts,
    /// Where the loaded tokens lie.
    pub(super) tokens: u64,
    pub(super) loaded: Loaded,
    /// Targets per member and group of the loaded batch.
    pub(super) counts: Vec<Vec<u64>>,
    /// By the batch's sizes, and whether an update is made in the step.
    pub(super) steps: HashMap<(Parts, bool), Step>,
    pub(super) recording: Option<(Parts, bool)>,
}

/// A size of step: seen once, then recorded.
pub(super) enum Step {
    Seen,
    Recorded(CudaGraph),
}

// A lane is driven by one thread at a time; CUDA's objects may move between threads.
unsafe impl Send for Lane {}

/// Rows a block of the norm's backward takes, where there are few and where there are many.
pub(super) const NORM_ROWS: (usize, usize) = (16, 64);
/// Gradients a block of the norm's sum takes; `NORM_CHUNK` in the kernels.
pub(super) const NORM_CHUNK: usize = 16384;

impl Lane {
    /// Parameters and everything but activations for `members` models and batches of up to `capacity` rows each.
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
        let context = &gpu.context;
        let mut kernels = Kernels::new(&compile::module(gpu, shape, &layout)?)?;
        let fused = fused::possible(gpu, shape);
        if fused {
            fused::load(&mut kernels, gpu, shape)?;
        }
        let (short, long) = (CLASSES[0].min(shape.context), shape.context);
        for (name, rows, matrices, warps) in [
            ("attention_4", short, 3, 4),
            ("attention_8", long, 3, 8),
            ("attention_backward_4", short, 4, 4),
            ("attention_backward_8", long, 4, 8),
        ] {
            let shared = attention_shared(shape, rows, matrices, warps);
            if shared > 48 << 10 {
                kernels.allow_shared(name, shared)?;
            }
        }
        let parameters = members * layout.size;
        let half = shape.head_width() / 2;
        let angle = |i: usize| {
            let (position, pair) = (i / half, i % half);
            position as f64 * shape.rope_theta.powf(-2.0 * pair as f64 / shape.head_width() as f64)
        };
        let table: Vec<[f32; 2]> =
            (0..shape.context * half).map(|i| [angle(i).cos() as f32, angle(i).sin() as f32]).collect();
        let blocks = capacity.div_ceil(NORM_ROWS.0);
        let deferred = Deferred::new(context, &layout, members)?;
        let square_partials = Memory::new(context, 4 * members * deferred.squares())?;
        Ok(Lane {
            stream: urgent_stream(context)?,
            gemm: Gemm::new(context)?,
            aside: Aside::new(context)?,
            beside: Beside::new(context)?,
            longer: Beside::new(context)?,
            halves: Memory::new(context, 2 * parameters)?,
            rests: Memory::new(context, 2 * parameters)?,
            gradients: Memory::new(context, 2 * parameters)?,
            means: Memory::new(context, 4 * parameters)?,
            variances: Memory::new(context, 4 * parameters)?,
            angles: Memory::from_slice(context, &table)?,
            crowd_partials: Memory::new(context, 4 * members * (capacity / CROWD + 1) * shape.width)?,
            deferred,
            gain_partials: Memory::new(context, 4 * members * blocks * (layout.size - layout.decayed))?,
            square_partials,
            row_losses: Memory::new(context, 4 * members * capacity)?,
            sums: Memory::new(context, 4 * members * (GROUPS + 1))?,
            sums_host: Pinned::new(context, 4 * members * (GROUPS + 1))?,
            staging: Staging::new(context, Parts::most(members, capacity, shape.vocab))?,
            parts: Parts::default(),
            tokens: 0,
            loaded: Loaded::default(),
            counts: vec![vec![0; GROUPS]; members],
            steps: HashMap::new(),
            recording: None,
            gpu: gpu.clone(),
            shape: shape.clone(),
            layout,
            members,
            kernels,
            fused,
        })
    }

    /// Bytes a lane takes with its transformer's activations: known before anything is allocated.
    pub fn bytes(shape: &Shape, members: usize, capacity: usize) -> usize {
        let layout = Layout::new(shape);
        let (width, hidden, rows) = (shape.width, shape.hidden, members * capacity);
        let per_layer = 2 * (8 * width + 3 * hidden) + 4 * (2 + shape.heads);
        let backward = 2 * (6 * width + 3 * hidden);
        let activations = rows * (shape.layers * per_layer + backward + 2 * (2 * width + shape.vocab) + 8);
        let parameters = members * layout.size * 14;
        let gains = capacity.div_ceil(NORM_ROWS.0) * (layout.size - layout.decayed);
        let partials = 4 * members * (gains + (capacity / CROWD + 1) * width);
        activations + parameters + partials + Parts::most(members, capacity, shape.vocab) + (64 << 20)
    }

    pub(super) fn run(
        &mut self,
        name: &'static str,
        blocks: (usize, usize, usize),
        threads: usize,
        shared: usize,
        args: &[u64],
    ) -> Result<()> {
        self.kernels.launch(name, Grid { blocks, threads, shared }, &[], args, &self.stream)
    }

    pub(super) fn staged(&self, part: usize) -> u64 {
        self.staging.device.ptr + part as u64
    }

    pub(super) fn rows(&self) -> usize {
        self.parts.rows
    }

    /// Rows a block of the norm's backward takes for the loaded batch.
    pub(super) fn norm_rows(&self) -> usize {
        match (self.few(), self.fused) {
            (true, _) => NORM_ROWS.0,
            (false, true) => fused::TILE_ROWS.1,
            (false, false) => NORM_ROWS.1,
        }
    }

    /// Whether the loaded batch has fewer rows than a GPU is filled by.
    pub(super) fn few(&self) -> bool {
        few(self.total())
    }

    /// Lets kernels begin while the one before ends, where that gains something: not where each takes long.
    pub(super) fn let_kernels_overlap(&mut self) {
        self.kernels.early = self.gpu.capability >= (9, 0) && self.total() < 4 * MANY_ROWS;
    }

    /// Rows of all members together.
    pub(super) fn total(&self) -> usize {
        self.members * self.parts.rows
    }

    /// Copies values to the GPU.
    pub(super) fn copy_in<T: Copy>(&self, at: u64, values: &[T], doing: &str) -> Result<()> {
        self.start_copy(at, values, doing)?;
        self.wait()
    }

    /// Starts a copy to the GPU that comes before whatever is asked next, as one outside the stream might not. The values
    /// must stay where they are until the stream was waited for.
    pub(super) fn start_copy<T: Copy>(&self, at: u64, values: &[T], doing: &str) -> Result<()> {
        unsafe { result::memcpy_htod_async(at, values, self.stream.cu_stream()) }.map_err(|e| device_error(doing, e))
    }

    /// Waits until the GPU has done everything asked so far.
    pub fn wait(&self) -> Result<()> {
        self.stream.synchronize().map_err(|e| device_error("waiting", e))
    }

    /// From the first step on, products and what stands beside them run apart, as on GPUs that have no kernel for both:
    /// what the joined kernels are measured against.
    pub fn run_apart(&mut self) {
        self.fused = false;
    }

    /// Times every kernel from now on; steps are issued one by one, not replayed.
    pub fn start_timing(&mut self) {
        self.kernels.start_timing();
    }

    /// Milliseconds and launches per kernel.
    pub fn stop_timing(&mut self) -> Result<BTreeMap<String, (f64, usize)>> {
        self.kernels.stop_timing()
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        // What a step still under way reads goes with the lane. A failure has no one to tell.
        let _ = self.gpu.context.synchronize();
    }
}

/// Shared memory of an attention block: some matrices of a span, two numbers per row, and 16 rows for each warp.
pub(super) fn attention_shared(shape: &Shape, rows: usize, matrices: usize, warps: usize) -> usize {
    let rows = rows.next_multiple_of(16);
    2 * (rows * matrices + 16 * warps) * (shape.head_width() + 8) + 8 * rows
}
