//! The workload of a real study: training on a device, with languages and tokenizers made once and shared by
//! populations that follow each other.

use super::Workload;
use crate::Stop;
use crate::error::Result;
use crate::inputs::InputCache;
use crate::population::{self, Member, Options, Outcome};
use crate::progress::Progress;
use crate::study::Cell;
use invitro_model::Device;
use invitro_model::cuda::Gpu;

/// Members beyond which a GPU gains little.
pub const MOST_ON_GPU: usize = 32;

pub struct Training {
    device: Device,
    /// Members at once, if the user says so.
    at_once: Option<usize>,
    cache: InputCache,
}

impl Training {
    pub fn new(device: Device, at_once: Option<usize>) -> Training {
        Training { device, at_once, cache: InputCache::default() }
    }
}

impl Workload for Training {
    fn kind(&self) -> &'static str {
        self.device.kind()
    }

    /// On a CPU one member per core, each core training a whole model; on a GPU as many as its memory holds.
    fn capacity(&self, cell: &Cell) -> Result<usize> {
        if let Some(at_once) = self.at_once {
            return Ok(at_once);
        }
        match self.device {
            Device::Cpu => Ok(rayon::current_num_threads()),
            Device::Cuda(number) => {
                let (free, _) = Gpu::open(number)?.memory()?;
                Ok(fitting(free as u64, |members| population::memory(&cell.experiment, members, self.device)))
            }
        }
    }

    fn train(&self, members: &[Member], stop: &Stop, progress: &dyn Progress) -> Result<Vec<Outcome>> {
        self.cache.forget_unused();
        let options = Options { device: self.device, force: false, stop, progress };
        population::run_with(members, &options, &self.cache)
    }
}

/// The most members that leave a tenth of the memory free; one at least, for the device to refuse.
pub fn fitting(free: u64, needed: impl Fn(usize) -> u64) -> usize {
    (1..=MOST_ON_GPU).rev().find(|&members| needed(members) <= free / 10 * 9).unwrap_or(1)
}
