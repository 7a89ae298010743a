//! Several workers in one process: one per population that is to be under way at once, on one device or on many.
//!
//! Each is a worker like any other, with leases of its own. What they share is in `SharedState`: they take cells one after the
//! other, keep one limit, and wake each other when something has changed.

use super::local::work_as;
use super::{Reporter, Workload};
use crate::Stop;
use crate::error::Result;
use crate::study::Cell;
use crate::study::folder::StudyFolder;
use crate::study::grouping::Sizes;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

pub struct Settings<'a> {
    pub stop: &'a Stop,
    /// Only these cells, by id.
    pub only: Option<&'a HashSet<String>>,
    /// Take no more than this many cells, the first that are open in the study's order.
    pub limit: Option<usize>,
    /// Stop at the first failure.
    pub fail_fast: bool,
    /// How long a silent worker elsewhere keeps its cells.
    pub expiry: Duration,
}

impl Settings<'_> {
    pub(super) fn wants(&self, cell: &Cell) -> bool {
        self.only.is_none_or(|only| only.contains(&cell.id))
    }
}

/// How the work ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ended {
    /// Cells this process brought to their end.
    pub done: usize,
    pub failed: usize,
    /// Cells that are neither done nor failed nor stale.
    pub left: usize,
    /// By a signal, the time, or a failure that ends all.
    pub stopped: bool,
}

/// What a worker does with cells, and whom it tells.
pub type WorkerSetup<'a> = (&'a dyn Workload, &'a dyn Reporter);

/// What the workers of a process share.
pub(super) struct SharedState {
    /// How large their populations are.
    pub sizes: Sizes,
    /// Cells taken so far. Whoever looks for cells holds it.
    pub taken: Mutex<usize>,
    /// Workers that have cells.
    pub at_work: AtomicUsize,
    /// Rises whenever one of them is through with a population.
    pub changes: AtomicU64,
    /// Cells whose folder could not be written to: left for the next process, when there may be room.
    unwritten: Mutex<HashSet<String>>,
    /// Cells that came to no readable results and were started over, which is done once.
    mended: Mutex<HashSet<String>>,
}

impl SharedState {
    pub fn unwritten(&self) -> MutexGuard<'_, HashSet<String>> {
        self.unwritten.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Notes that a cell is to be started over; whether this is the first time.
    pub fn mended(&self, cell: &str) -> bool {
        self.mended.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).insert(cell.to_owned())
    }

    pub fn changed(&self) {
        self.changes.fetch_add(1, Ordering::Relaxed);
    }
}

/// Works on the study with one worker for each setup, until nothing is left or all are asked to stop. Should one of them
/// break, as with its device, the others go on, and what happened is returned at the end.
pub fn run_workers(folder: &StudyFolder, setups: &[WorkerSetup], settings: &Settings) -> Result<Ended> {
    folder.remove_abandoned();
    let wanted = folder.cells.iter().filter(|cell| settings.wants(cell)).take(settings.limit.unwrap_or(usize::MAX));
    let shared = SharedState {
        sizes: Sizes::new(wanted, setups.len()),
        taken: Mutex::new(0),
        at_work: AtomicUsize::new(0),
        changes: AtomicU64::new(0),
        unwritten: Mutex::default(),
        mended: Mutex::default(),
    };
    if let [setup] = setups {
        return work_as(folder, *setup, settings, &shared);
    }
    let threads = rayon::current_num_threads();
    let work = |setup: &WorkerSetup| {
        // A pool of its own: what one evaluates must not keep another from its next step.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| invitro_model::Error::Device(format!("threads cannot be started: {error}")))?;
        let ended = pool.install(|| work_as(folder, *setup, settings, &shared));
        if let Err(error) = &ended {
            setup.1.gave_up(&error.to_string());
        }
        shared.changed();
        ended
    };
    let ended: Vec<Result<Ended>> = std::thread::scope(|scope| {
        let threads: Vec<_> = setups.iter().map(|setup| scope.spawn(|| work(setup))).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, Result<Ended>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(join).collect()
    });
    let ended = ended.into_iter().collect::<Result<Vec<Ended>>>()?;
    let states = folder.cell_states(&HashSet::new())?;
    let cells = folder.cells.iter().zip(&states);
    let left = cells.filter(|(cell, (state, _))| settings.wants(cell) && state.open_at().is_some()).count();
    Ok(Ended {
        done: ended.iter().map(|one| one.done).sum(),
        failed: ended.iter().map(|one| one.failed).sum(),
        left,
        stopped: left > 0 && settings.stop.requested(),
    })
}
