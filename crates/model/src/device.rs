//! Where a population trains: the one place that knows the names of devices.

use crate::cpu::simd;
use crate::cuda::Gpu;
use crate::{Error, Result};

/// A CPU, or an NVIDIA GPU by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
            _ => {
                text.strip_prefix("cuda:").and_then(|number| number.parse().ok()).map(Device::Cuda).ok_or_else(|| {
                    Error::Device(format!("no device {text:?}: there are auto, cpu, cuda and cuda:NUMBER"))
                })
            }
        }
    }

    /// What a person would call it.
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

    /// `cpu` or `cuda`: runs on the same kind of device repeat bit for bit (a processor's tile unit, or a GPU's model, make
    /// a kind of their own; see [`crate::cpu::simd`]).
    pub fn kind(&self) -> &'static str {
        match self {
            Device::Cpu => "cpu",
            Device::Cuda(_) => "cuda",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_others_refused() {
        assert_eq!(Device::parse("cpu").unwrap(), Device::Cpu);
        assert_eq!(Device::parse("cuda").unwrap(), Device::Cuda(0));
        assert_eq!(Device::parse("cuda:3").unwrap(), Device::Cuda(3));
        let error = Device::parse("gpu").unwrap_err().to_string();
        assert!(error.contains("gpu") && error.contains("cuda:NUMBER"), "{error}");
    }
}
