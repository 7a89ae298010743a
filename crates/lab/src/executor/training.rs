//! The workload of a real study: training on a device, with languages and tokenizers made once and shared by
//! populations that follow each other.
//!
//! A GPU has three populations under way: while one is evaluated, saved or prepared by the host, the others train.

use super::Workload;
use crate::Stop;
use crate::error::Result;
use crate::inputs::InputCache;
use crate::study::Cell;
use crate::training::progress::Progress;
use crate::training::{self, Member, MemberOutcome, TrainingOptions, TrainingSlots};
use invitro_model::Device;
use invitro_model::cuda::Gpu;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Members beyond which a GPU gains little.
pub const MOST_ON_GPU: usize = 32;

/// Populations under way on a GPU, unless the user says so.
pub const PER_GPU: usize = 3;

pub struct Training {
    pub device: Device,
    /// Populations under way at once: as many workers are to share this.
    pub populations: usize,
    /// Members at once in all of them, if the user says so.
    at_once: Option<usize>,
    /// Those that train take turns.
    pub slots: TrainingSlots,
    cache: Arc<InputCache>,
    /// Populations under way on all devices, which share the cache.
    sharing: usize,
    /// Memory that was free on the GPU before anything was put there.
    free: Mutex<Option<u64>>,
}

impl Training {
    /// Training on each of these devices, with `per_gpu` populations at once for each time that a GPU is named.
    pub fn on(devices: &[Device], at_once: Option<usize>, per_gpu: usize) -> Vec<Training> {
        let mut times: BTreeMap<Device, usize> = BTreeMap::new();
        devices.iter().for_each(|&device| *times.entry(device).or_default() += 1);
        let populations = |device: Device, times: usize| match device {
            // Every core trains a model: there is nothing to overlap.
            Device::Cpu => 1,
            Device::Cuda(_) => (times * per_gpu).min(at_once.unwrap_or(usize::MAX)).max(1),
        };
        let sharing = times.iter().map(|(&device, &times)| populations(device, times)).sum();
        let cache = Arc::new(InputCache::default());
        let training = |(device, times)| {
            let populations = populations(device, times);
            // One of them has something else to do than to train.
            let slots = TrainingSlots::new(populations - 1);
            Training { device, populations, at_once, slots, cache: cache.clone(), sharing, free: Mutex::new(None) }
        };
        times.into_iter().map(training).collect()
    }

    fn free(&self, gpu: usize) -> Result<u64> {
        let mut free = self.free.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(free) = *free {
            return Ok(free);
        }
        let (now, _) = Gpu::open(gpu)?.memory()?;
        Ok(*free.insert(now as u64))
    }
}

impl Workload for Training {
    fn kind(&self) -> &'static str {
        self.device.kind()
    }

    fn populations(&self) -> usize {
        self.populations
    }

    /// On a CPU one member per core, each core training a whole model; on a GPU, the most that fit its memory.
    fn capacity(&self, cell: &Cell) -> Result<usize> {
        if let Some(at_once) = self.at_once {
            return Ok((at_once / self.populations).max(1));
        }
        match self.device {
            Device::Cpu => Ok(rayon::current_num_threads()),
            Device::Cuda(number) => {
                let free = self.free(number)? / self.populations as u64;
                Ok(fitting(free, |members| training::memory(&cell.experiment, members, self.device)))
            }
        }
    }

    fn train(&self, members: &[Member], stop: &Stop, progress: &dyn Progress) -> Result<Vec<MemberOutcome>> {
        self.cache.forget_unused(self.sharing);
        let options = TrainingOptions { device: self.device, force: false, stop, progress };
        training::run_with(members, &options, &self.cache, Some(&self.slots))
    }
}

/// The most members that leave a tenth of the memory free; one at least, for the device to refuse.
pub fn fitting(free: u64, needed: impl Fn(usize) -> u64) -> usize {
    (1..=MOST_ON_GPU).rev().find(|&members| needed(members) <= free / 10 * 9).unwrap_or(1)
}
