//! The kernels of the `.cu` files: their arguments as structs, their launch, and optional timing.
//!
//! The fields of a struct are the kernel's parameters in order, so that arguments cannot be swapped; a test compares them.

use super::bf16::Bf16;
use super::gpu::Doing;
use super::memory::Ptr;
use super::recordings::between_recordings;
use crate::inference::CachedSpan;
use crate::{Error, Result};
use cudarc::driver::{CudaEvent, CudaFunction, CudaModule, CudaStream, sys};
use std::collections::{BTreeMap, HashMap};
use std::ffi::c_void;
use std::sync::Arc;

/// A tensor as the copy engine sees it.
pub type Map = sys::CUtensorMap;
/// A span over the rows of all members: first row, and length with or without `FILLER`.
pub type FlatSpan = [u32; 2];
/// Some rows of a token beyond its first: token, the rows from .. to of `order`, nothing.
pub type Overflow = [u32; 4];
/// The numbers of a member's update, the kernels' `Update`.
pub type UpdateNumbers = [f32; 11];

/// A type of kernel arguments.
///
/// # Safety
/// The type must have the size and layout of the C parameter.
pub unsafe trait Argument: Copy {}
macro_rules! arguments {
    ($($kind:ty),+) => {
        // SAFETY: the C types of the same size, and the driver's own.
        $(unsafe impl Argument for $kind {})+
    };
}
arguments!(i32, u32, u64, f32, Map);
// SAFETY: a transparent u64, as a pointer is on the GPU.
unsafe impl<T> Argument for Ptr<T> {}

/// The arguments of a kernel.
pub trait Kernel {
    /// Its names in the program, one per variant.
    const NAMES: &'static [&'static str];
    /// Pointers to the arguments, in order.
    fn arguments(&self) -> Vec<*mut c_void>;
}

fn argument<A: Argument>(value: &A) -> *mut c_void {
    (&raw const *value).cast_mut().cast()
}

/// The names of a kernel's variants, and the types of their arguments.
pub type Signature = (&'static [&'static str], &'static [&'static str]);

/// Declares the kernels of a program: a struct for each, and the list of all.
macro_rules! kernels {
    ($signatures:ident:
     $($(#[$doc:meta])* $kernel:ident($($name:literal),+) { $($field:ident: $kind:ty),+ $(,)? })+) => {
        pub const $signatures: &[Signature] = &[$((&[$($name),+], &[$(stringify!($kind)),+])),+];
        $($(#[$doc])*
        pub struct $kernel { $(pub $field: $kind),+ }
        impl Kernel for $kernel {
            const NAMES: &'static [&'static str] = &[$($name),+];
            fn arguments(&self) -> Vec<*mut c_void> {
                vec![$(argument(&self.$field)),+]
            }
        })+
    };
}

kernels! { PROGRAM_KERNELS:
    Embed("embed") { bf16: Ptr<Bf16>, offset: u64, tokens: Ptr<u32>, out: Ptr<Bf16>, rows: i32, total: i32 }
    EmbedBackward("embed_backward") {
        dx: Ptr<Bf16>, first: Ptr<u32>, order: Ptr<u32>, overflow: Ptr<Overflow>, gradients: Ptr<Bf16>, offset: u64,
        partials: Ptr<f32>, was_read: Ptr<u8>, rows: i32, overflows: i32, add: i32,
    }
    EmbedBackwardOverflow("embed_backward_overflow") {
        overflow: Ptr<Overflow>, gradients: Ptr<Bf16>, offset: u64, partials: Ptr<f32>, overflows: i32,
    }
    RmsNorm("rms_norm") {
        x: Ptr<Bf16>, bf16: Ptr<Bf16>, residual_bits: Ptr<u16>, gain: u64, out: Ptr<Bf16>, inv_rms: Ptr<f32>,
        rows: i32, total: i32,
    }
    EmbedRmsNorm("embed_rms_norm") {
        bf16: Ptr<Bf16>, residual_bits: Ptr<u16>, offset: u64, gain: u64, tokens: Ptr<u32>, out: Ptr<Bf16>,
        norm: Ptr<Bf16>, inv_rms: Ptr<f32>, rows: i32, total: i32,
    }
    RmsNormBackward("rms_norm_backward") {
        dy: Ptr<Bf16>, x: Ptr<Bf16>, inv_rms: Ptr<f32>, bf16: Ptr<Bf16>, residual_bits: Ptr<u16>, offset: u64,
        dx: Ptr<Bf16>, add: i32, partials: Ptr<f32>, rows: i32, per_block: i32,
    }
    GainBackward("gain_backward") { partials: Ptr<f32>, gradients: Ptr<Bf16>, blocks: i32 }
    Swiglu("swiglu") { gate_up: Ptr<Bf16>, out: Ptr<Bf16>, chunks: u32 }
    SwigluBackward("swiglu_backward") { gate_up: Ptr<Bf16>, dout: Ptr<Bf16>, dgate_up: Ptr<Bf16>, chunks: u32 }
    CrossEntropy("cross_entropy") {
        logits: Ptr<Bf16>, targets: Ptr<i32>, weight_of_member: Ptr<f32>, updates: Ptr<UpdateNumbers>, losses: Ptr<f32>,
        rows: i32,
    }
    GroupLosses("group_losses") { losses: Ptr<f32>, groups: Ptr<u8>, sums: Ptr<f32>, rows: i32 }
    SquareSums("square_sums", "square_sums_embedding") {
        gradients: Ptr<Bf16>, partials: Ptr<f32>, was_read: Ptr<u8>, from: u32, to: u32, first: i32, count: i32,
    }
    Clip("clip") {
        partials: Ptr<f32>, blocks: i32, updates: Ptr<UpdateNumbers>, sums: Ptr<f32>, scales: Ptr<f32>,
        pending: Ptr<UpdateNumbers>, log: Ptr<UpdateNumbers>, history: Ptr<f32>,
    }
    AdamW("adamw") {
        bf16: Ptr<Bf16>, residual_bits: Ptr<u16>, means: Ptr<f32>, variances: Ptr<f32>, gradients: Ptr<Bf16>,
        scales: Ptr<f32>, pending: Ptr<UpdateNumbers>, from: u32, to: u32,
    }
    AdamWEmbedding("adamw_embedding") {
        bf16: Ptr<Bf16>, residual_bits: Ptr<u16>, means: Ptr<f32>, variances: Ptr<f32>, gradients: Ptr<Bf16>,
        scales: Ptr<f32>, pending: Ptr<UpdateNumbers>, log: Ptr<UpdateNumbers>, made: Ptr<u32>, was_read: Ptr<u8>,
        first: Ptr<u32>, offset: u64, all: i32,
    }
    SelectRows("select_rows") {
        x: Ptr<Bf16>, pick_rows: Ptr<u32>, out: Ptr<Bf16>, rows: i32, picks: i32, total: i32,
    }
    WriteRows("write_rows") { x: Ptr<Bf16>, rows: Ptr<u32>, values: Ptr<Bf16>, total: i32 }
    Argmax("argmax") { logits: Ptr<f32>, out: Ptr<u32> }
    Draw("draw") { logits: Ptr<f32>, uniforms: Ptr<f32>, out: Ptr<u32>, inverse_temperature: f32 }
    ScoresOf("scores_of") {
        logits: Ptr<f32>, targets: Ptr<u32>, pick_sets: Ptr<u32>, sets: Ptr<u32>, out: Ptr<[u32; 2]>,
    }
}

kernels! { ATTENTION_KERNELS:
    /// Over spans of up to 32, 48 and 64 rows by warps, and over short and long spans by blocks.
    Attention("attention_32", "attention_48", "attention_64", "attention_short", "attention_long") {
        qkv: Ptr<Bf16>, spans: Ptr<FlatSpan>, angles: Ptr<[f32; 2]>, out: Ptr<Bf16>, log_sum: Ptr<f32>,
    }
    AttentionBackward(
        "attention_backward_32",
        "attention_backward_48",
        "attention_backward_short",
        "attention_backward_long",
        "attention_backward_longest"
    ) {
        qkv: Ptr<Bf16>, out: Ptr<Bf16>, log_sum: Ptr<f32>, dout: Ptr<Bf16>, spans: Ptr<FlatSpan>,
        angles: Ptr<[f32; 2]>, dqkv: Ptr<Bf16>,
    }
    CacheStore("cache_store") {
        qkv: Ptr<Bf16>, spans: Ptr<CachedSpan>, angles: Ptr<[f32; 2]>, cache: Ptr<Bf16>, rows: i32, span_cap: i32,
        slots: i32,
    }
    AttentionCached("attention_cached") {
        qkv: Ptr<Bf16>, spans: Ptr<CachedSpan>, angles: Ptr<[f32; 2]>, cache: Ptr<Bf16>, out: Ptr<Bf16>, rows: i32,
        span_cap: i32, slots: i32,
    }
}

kernels! { GPT2_KERNELS:
    EmbedPositions("embed_positions") {
        bf16: Ptr<Bf16>, offset: u64, positions_offset: u64, tokens: Ptr<u32>, positions: Ptr<u32>, out: Ptr<Bf16>,
        rows: i32, total: i32,
    }
    PositionsBackward("positions_backward") {
        dx: Ptr<Bf16>, first: Ptr<u32>, order: Ptr<u32>, gradients: Ptr<Bf16>, offset: u64, rows: i32,
    }
    AddBias("add_bias") {
        y: Ptr<Bf16>, bf16: Ptr<Bf16>, residual_bits: Ptr<u16>, bias: u64, chunks_of_row: u32, rows: i32, chunks: u32,
    }
    BiasBackward("bias_backward") {
        dy: Ptr<Bf16>, partials: Ptr<f32>, bias: u64, width: i32, rows: i32, per_block: i32,
    }
    LayerNorm("layer_norm") {
        x: Ptr<Bf16>, bf16: Ptr<Bf16>, residual_bits: Ptr<u16>, gain: u64, bias: u64, out: Ptr<Bf16>, inverse: Ptr<f32>,
        rows: i32, total: i32,
    }
    LayerNormBackward("layer_norm_backward") {
        dy: Ptr<Bf16>, x: Ptr<Bf16>, inverse: Ptr<f32>, bf16: Ptr<Bf16>, residual_bits: Ptr<u16>, gain: u64, bias: u64,
        dx: Ptr<Bf16>, add: i32, partials: Ptr<f32>, rows: i32, per_block: i32,
    }
    Gelu("gelu") { x: Ptr<Bf16>, out: Ptr<Bf16>, chunks: u32 }
    GeluBackward("gelu_backward") { x: Ptr<Bf16>, dout: Ptr<Bf16>, dx: Ptr<Bf16>, chunks: u32 }
}

kernels! { FUSED_KERNELS:
    LinearSwiglu("linear_swiglu") { x: Map, weight: Map, gate_up: Map, gated: Map }
    LinearSwigluBackward("linear_swiglu_backward") { dy: Map, weight: Map, gate_up: Map, dgate_up: Map }
    /// With blocks of few rows, and of many.
    LinearRmsNorm("linear_rms_norm_small", "linear_rms_norm_large") {
        x: Map, weight: Map, residual: Map, y: Map, norm: Map, bf16: Ptr<Bf16>, residual_bits: Ptr<u16>,
        inv_rms: Ptr<f32>, rows: i32, chunks: i32, stride: u64,
    }
    LinearRmsNormBackward("linear_rms_norm_backward") {
        dy: Map, weight: Map, x: Map, old: Map, dx: Map, bf16: Ptr<Bf16>, residual_bits: Ptr<u16>, inv_rms: Ptr<f32>,
        partials: Ptr<f32>, gains_of_member: i32, add: i32, rows: i32, chunks: i32, stride: u64,
    }
}

#[derive(Default)]
pub struct Kernels {
    functions: HashMap<&'static str, CudaFunction>,
    /// Whether a kernel may start while the previous one ends (programmatic dependent launch, compute capability 9.0); every
    /// kernel then waits for the previous one itself.
    pub overlap: bool,
    /// If set, every launch is timed by two events.
    pub timed: Option<Vec<(String, CudaEvent, CudaEvent)>>,
}

/// Unloading the kernels synchronises the context.
impl Drop for Kernels {
    fn drop(&mut self) {
        let _guard = between_recordings();
        self.functions.clear();
    }
}

pub struct Grid {
    /// The index of the kernel's name.
    pub variant: usize,
    pub blocks: [usize; 3],
    pub threads: usize,
    /// Bytes of dynamic shared memory.
    pub shared: usize,
}

impl Grid {
    pub fn new(blocks: [usize; 3], threads: usize) -> Self {
        Grid { variant: 0, blocks, threads, shared: 0 }
    }
}

impl Kernels {
    pub fn load(&mut self, program: &Arc<CudaModule>, list: &[Signature]) -> Result<()> {
        for &name in list.iter().flat_map(|(names, _)| *names) {
            let function = program.load_function(name).doing(format_args!("finding {name}"))?;
            self.functions.insert(name, function);
        }
        Ok(())
    }

    /// Lets a kernel use more than 48 KB of shared memory.
    pub fn allow_shared(&self, name: &str, bytes: usize) -> Result<()> {
        let attribute = sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        self.functions[name].set_attribute(attribute, bytes as i32).map_err(|_| {
            Error::Shape(format!(
                "{name} needs {bytes} bytes of shared memory, more than this GPU has: shorten the context"
            ))
        })
    }

    /// Launches a kernel on a stream.
    ///
    /// # Safety
    /// The memory that the kernel reads and writes must be on this GPU and live until the kernel ends, and no other stream
    /// may write it at the same time.
    pub unsafe fn launch<K: Kernel>(&mut self, kernel: &K, grid: Grid, stream: &Arc<CudaStream>) -> Result<()> {
        let name = K::NAMES[grid.variant];
        let mut overlap = sys::CUlaunchAttribute {
            id: sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
            pad: [0; 4],
            value: sys::CUlaunchAttributeValue { programmaticStreamSerializationAllowed: 1 },
        };
        let [x, y, z] = grid.blocks.map(|blocks| blocks as u32);
        let config = sys::CUlaunchConfig {
            gridDimX: x,
            gridDimY: y,
            gridDimZ: z,
            blockDimX: grid.threads as u32,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: grid.shared as u32,
            hStream: stream.cu_stream(),
            attrs: &mut overlap,
            numAttrs: (self.overlap && self.timed.is_none()) as u32,
        };
        let mut arguments = kernel.arguments();
        let function = self.functions[name].cu_function();
        self.time(
            || name.into(),
            stream,
            || {
                // SAFETY: the arguments have the kernel's types and live until it is launched; the caller guarantees
                // the memory they point to.
                let launched =
                    unsafe { sys::cuLaunchKernelEx(&config, function, arguments.as_mut_ptr(), std::ptr::null_mut()) };
                launched.result().doing(format_args!("launching {name}"))
            },
        )
    }

    /// Runs work on a stream, between two events if timing is on.
    pub fn time(
        &mut self,
        name: impl FnOnce() -> String,
        stream: &Arc<CudaStream>,
        run: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let Some(log) = &mut self.timed else { return run() };
        let mark = || stream.record_event(Some(sys::CUevent_flags::CU_EVENT_DEFAULT)).doing("timing");
        let from = mark()?;
        run()?;
        log.push((name(), from, mark()?));
        Ok(())
    }

    /// Milliseconds and launches per name since `timed` was set.
    pub fn stop_timing(&mut self) -> Result<BTreeMap<String, (f64, usize)>> {
        let mut totals = BTreeMap::new();
        for (name, from, to) in self.timed.take().unwrap_or_default() {
            to.synchronize().doing("waiting for a kernel")?;
            let ms = from.elapsed_ms(&to).doing("timing a kernel")?;
            let total: &mut (f64, usize) = totals.entry(name).or_default();
            total.0 += ms as f64;
            total.1 += 1;
        }
        Ok(totals)
    }
}
