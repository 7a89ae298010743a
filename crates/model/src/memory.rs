//! The memory requirement of a population on a device, before anything is allocated.

use crate::cuda::{Cuda, ROUND};
use crate::inference::{decode, forward, pass};
use crate::{Device, Error, Layout, Result, Shape, shard, transformer};

/// The approximate bytes of device memory of `members` models: parameters, training steps of up to `rows` rows each,
/// decoding and scoring.
pub fn population_bytes(device: Device, shape: &Shape, members: usize, rows: usize) -> usize {
    let round = if device == Device::Cpu { 1 } else { ROUND };
    let regions = shard::regions(shape, round);
    let scored = pass::rows(shape.context);
    let (activations, logits) =
        forward::elements(shape, scored.max(regions + decode::PROMPT_ROWS), regions * shape.context, scored);
    match device {
        Device::Cuda(_) => {
            Cuda::bytes(shape, members, rows.next_multiple_of(ROUND)) + members * (2 * activations + 4 * logits)
        }
        Device::Cpu => {
            let (per_row, statistics) = transformer::elements_per_row(shape);
            // Weights, gradients, two moments, and packed weights.
            let parameters = 5 * Layout::new(shape).size;
            4 * members * (parameters + rows * (per_row + statistics) + activations + logits)
        }
    }
}

/// Returns an error if the machine's memory is too small for a population, before an allocation aborts the process.
pub fn check_host(shape: &Shape, members: usize, rows: usize) -> Result<()> {
    let (needed, Some(available)) = (population_bytes(Device::Cpu, shape, members, rows) as u64, host_bytes()) else {
        return Ok(());
    };
    if needed <= available {
        return Ok(());
    }
    let models = if members == 1 { "a model".to_owned() } else { format!("{members} models") };
    let gigabytes = |bytes: u64| format!("{:.1} GB", bytes as f64 / 1e9);
    Err(Error::OutOfMemory(format!(
        "{models} of {} parameters and batches of {rows} rows take about {} of memory, but this machine has {}",
        Layout::new(shape).size,
        gigabytes(needed),
        gigabytes(available)
    )))
}

/// The machine's memory, if the system reports it.
fn host_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let kilobytes =
        text.lines().find_map(|line| line.strip_prefix("MemTotal:")?.split_whitespace().next()?.parse().ok());
    kilobytes.map(|kilobytes: u64| kilobytes * 1024)
}
