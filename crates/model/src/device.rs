//! Devices and their names.

use crate::cpu::simd;
use crate::cuda::{Gpu, attention, compile, sizes};
use crate::{Error, Result, Shape};

/// The name of all GPUs of the machine.
pub const ALL: &str = "cuda:all";

/// A CPU, or an NVIDIA GPU by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Device {
    Cpu,
    Cuda(usize),
}

impl Device {
    /// `cpu`, `cuda`, `cuda:1`, or `auto`: the first GPU if there is one that can be used, else the CPU.
    pub fn parse(text: &str) -> Result<Self> {
        match text {
            "cpu" => Ok(Device::Cpu),
            "cuda" => Ok(Device::Cuda(0)),
            "auto" => Ok(if Gpu::driver_present() && Gpu::open(0).is_ok() { Device::Cuda(0) } else { Device::Cpu }),
            _ if text == ALL || text.contains(',') => Err(Error::Device(format!(
                "{text:?} is for several devices, which only `study run` and `study plan` take: name one, such as cuda:0"
            ))),
            _ => {
                text.strip_prefix("cuda:").and_then(|number| number.parse().ok()).map(Device::Cuda).ok_or_else(|| {
                    Error::Device(format!("no device {text:?}: there are auto, cpu, cuda and cuda:NUMBER"))
                })
            }
        }
    }

    /// One device as in [`Device::parse`], several separated by commas (`cuda:0,cuda:2`), or all GPUs (`cuda:all`). A GPU
    /// may be listed twice.
    pub fn parse_list(text: &str) -> Result<Vec<Self>> {
        if text == ALL {
            return Ok((0..Gpu::count()?).map(Device::Cuda).collect());
        }
        let named: Vec<&str> = text.split(',').map(str::trim).collect();
        if named.len() == 1 {
            return Ok(vec![Device::parse(text)?]);
        }
        let gpu = |name: &&str| match Device::parse(name)? {
            gpu @ Device::Cuda(_) if *name != "auto" => Ok(gpu),
            _ => Err(Error::Device(format!("{text:?} is not a list of GPUs: write cuda:0,cuda:1 and so on, or {ALL}"))),
        };
        named.iter().map(gpu).collect()
    }

    /// A description for users.
    pub fn describe(&self) -> Result<String> {
        match self {
            Device::Cpu => {
                let threads = rayon::current_num_threads();
                let plural = if threads == 1 { "" } else { "s" };
                Ok(format!("CPU, {threads} thread{plural}, {}", simd::level().name()))
            }
            Device::Cuda(number) => Ok(format!("{} (cuda:{number})", Gpu::open(*number)?.name)),
        }
    }

    /// An error if this kind of device trains no model of this shape. The device is not opened.
    pub fn check(&self, shape: &Shape) -> Result<()> {
        match self {
            Device::Cpu => Ok(()),
            Device::Cuda(_) => sizes::check(shape).and_then(|()| attention::check(shape)),
        }
    }

    /// Opens the device and compiles its kernels for a shape ahead of time. Errors are ignored here; they recur when models
    /// are created.
    pub fn prepare(&self, shape: &Shape) {
        if let Device::Cuda(number) = self {
            let _ = Gpu::open(*number).and_then(|gpu| compile::prepare(&gpu, shape));
        }
    }

    /// `cpu` or `cuda`: runs on the same kind of device repeat bit for bit. All CPUs of an architecture are one kind,
    /// and each model of GPU is one.
    pub fn kind(&self) -> &'static str {
        match self {
            Device::Cpu => "cpu",
            Device::Cuda(_) => "cuda",
        }
    }
}
