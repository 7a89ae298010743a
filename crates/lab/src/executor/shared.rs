//! What the workers of one process have in common: settings, counts, and a summary of their work.

use super::{Reporter, Workload};
use crate::Stop;
use crate::study::Cell;
use crate::study::grouping::PopulationSizes;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// What a process works on, and when it stops.
pub struct WorkSettings<'a> {
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

impl WorkSettings<'_> {
    pub(super) fn wants(&self, cell: &Cell) -> bool {
        self.only.is_none_or(|only| only.contains(&cell.id))
    }
}

/// What a process did, and what it left.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkSummary {
    /// Cells this process finished.
    pub done: usize,
    pub failed: usize,
    /// Cells that are neither done nor failed nor stale.
    pub left: usize,
    /// By a signal, the time, or a failure that ends all.
    pub stopped: bool,
}

/// What a worker does with cells, and where it reports.
pub type WorkerSetup<'a> = (&'a dyn Workload, &'a dyn Reporter);

/// What the workers of a process share.
pub(super) struct SharedState {
    /// How large their populations are.
    pub sizes: PopulationSizes,
    /// Cells taken so far. A worker that looks for cells holds the lock.
    pub taken: Mutex<usize>,
    /// Workers that have cells.
    pub at_work: AtomicUsize,
    /// Rises whenever one of them is done with a population.
    pub changes: AtomicU64,
    /// Cells whose folder could not be written to: left for the next process, when there may be room.
    unwritten: Mutex<HashSet<String>>,
    /// Cells that came to no readable results and were started over, which is done once.
    started_over: Mutex<HashSet<String>>,
}

impl SharedState {
    pub fn new(sizes: PopulationSizes) -> SharedState {
        SharedState {
            sizes,
            taken: Mutex::new(0),
            at_work: AtomicUsize::new(0),
            changes: AtomicU64::new(0),
            unwritten: Mutex::default(),
            started_over: Mutex::default(),
        }
    }

    pub fn unwritten(&self) -> MutexGuard<'_, HashSet<String>> {
        self.unwritten.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Records that a cell is started over; whether this is the first time.
    pub fn first_start_over(&self, cell: &str) -> bool {
        self.started_over.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).insert(cell.to_owned())
    }

    pub fn changed(&self) {
        self.changes.fetch_add(1, Ordering::Relaxed);
    }
}
