//! Launches kernels by name, and times them where asked.

use super::device_error;
use crate::{Error, Result};
use cudarc::driver::{CudaEvent, CudaFunction, CudaModule, CudaStream, sys};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Every kernel of `kernels.cu`.
const NAMES: [&str; 24] = [
    "embed",
    "embed_backward",
    "embed_crowds",
    "rms_norm",
    "embed_rms_norm",
    "rms_norm_backward",
    "gain_backward",
    "swiglu",
    "swiglu_backward",
    "attention_4",
    "attention_8",
    "attention_backward_4",
    "attention_backward_8",
    "cross_entropy",
    "group_losses",
    "square_sums",
    "clip",
    "adamw",
    "cache_store",
    "attention_cached",
    "select_rows",
    "argmax",
    "draw",
    "scores_of",
];

pub struct Kernels {
    functions: HashMap<&'static str, CudaFunction>,
    /// Whether a kernel may be started while the one before it ends, as GPUs can from compute capability 9.0 on; every
    /// kernel waits for what came before by itself then.
    pub early: bool,
    /// While set, every launch is timed between two events.
    timed: Option<Vec<(String, CudaEvent, CudaEvent)>>,
}

pub struct Grid {
    pub blocks: (usize, usize, usize),
    pub threads: usize,
    /// Bytes of dynamic shared memory.
    pub shared: usize,
}

impl Kernels {
    pub fn new(module: &Arc<CudaModule>) -> Result<Self> {
        let mut kernels = Kernels { functions: HashMap::new(), early: false, timed: None };
        kernels.load(module, &NAMES)?;
        Ok(kernels)
    }

    pub fn load(&mut self, module: &Arc<CudaModule>, names: &[&'static str]) -> Result<()> {
        for &name in names {
            let function = module.load_function(name).map_err(|e| device_error(&format!("finding {name}"), e))?;
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

    /// Tensor maps come first, then 8-byte words, of which a kernel that takes a 4-byte one reads the lower half.
    pub fn launch(
        &mut self,
        name: &'static str,
        grid: Grid,
        maps: &[sys::CUtensorMap],
        words: &[u64],
        stream: &Arc<CudaStream>,
    ) -> Result<()> {
        let maps = maps.iter().map(|map| (&raw const *map).cast_mut().cast());
        let words = words.iter().map(|word| (&raw const *word).cast_mut().cast());
        let mut pointers: Vec<*mut std::ffi::c_void> = maps.chain(words).collect();
        let (x, y, z) = grid.blocks;
        let function = &self.functions[name];
        let mut early = sys::CUlaunchAttribute {
            id: sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
            pad: [0; 4],
            value: sys::CUlaunchAttributeValue { programmaticStreamSerializationAllowed: 1 },
        };
        let config = sys::CUlaunchConfig {
            gridDimX: x as u32,
            gridDimY: y as u32,
            gridDimZ: z as u32,
            blockDimX: grid.threads as u32,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: grid.shared as u32,
            hStream: stream.cu_stream(),
            attrs: &mut early,
            numAttrs: (self.early && self.timed.is_none()) as u32,
        };
        let function = function.cu_function();
        timed(&mut self.timed, name, stream, || {
            // Sound: the arguments are those of the kernel, and live until it is launched.
            let launched =
                unsafe { sys::cuLaunchKernelEx(&config, function, pointers.as_mut_ptr(), std::ptr::null_mut()) };
            launched.result().map_err(|e| device_error(&format!("launching {name}"), e))
        })
    }

    /// Runs something that is not one of our kernels under the same clock.
    pub fn alongside(&mut self, name: &str, stream: &Arc<CudaStream>, run: impl FnOnce() -> Result<()>) -> Result<()> {
        timed(&mut self.timed, name, stream, run)
    }

    pub fn start_timing(&mut self) {
        self.timed = Some(Vec::new());
    }

    pub fn is_timing(&self) -> bool {
        self.timed.is_some()
    }

    /// Milliseconds and launches per name since [`Kernels::start_timing`].
    pub fn stop_timing(&mut self) -> Result<BTreeMap<String, (f64, usize)>> {
        let mut totals = BTreeMap::new();
        for (name, from, to) in self.timed.take().unwrap_or_default() {
            to.synchronize().map_err(|e| device_error("waiting for a kernel", e))?;
            let ms = from.elapsed_ms(&to).map_err(|e| device_error("timing a kernel", e))?;
            let total: &mut (f64, usize) = totals.entry(name).or_default();
            total.0 += ms as f64;
            total.1 += 1;
        }
        Ok(totals)
    }
}

fn timed(
    log: &mut Option<Vec<(String, CudaEvent, CudaEvent)>>,
    name: &str,
    stream: &Arc<CudaStream>,
    run: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let Some(log) = log else { return run() };
    let mark =
        || stream.record_event(Some(sys::CUevent_flags::CU_EVENT_DEFAULT)).map_err(|e| device_error("timing", e));
    let from = mark()?;
    run()?;
    log.push((name.to_string(), from, mark()?));
    Ok(())
}
