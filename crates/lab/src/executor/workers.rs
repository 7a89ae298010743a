//! Several workers in one process: one per population that is to be under way at once, on one device or on many.
//!
//! Each is a worker like any other, with leases of its own. What they share is in `SharedState`: they take cells one after the
//! other, keep one limit, and wake each other when something has changed.

use super::shared::{SharedState, WorkSettings, WorkSummary, WorkerSetup};
use super::worker_loop::work_as;
use super::{Reporter, Workload};
use crate::error::Result;
use crate::study::folder::StudyFolder;
use crate::study::grouping::PopulationSizes;
use std::collections::HashSet;

/// Works on the study with one worker until nothing is left, or it is asked to stop.
pub fn work(
    folder: &StudyFolder,
    workload: &dyn Workload,
    settings: &WorkSettings,
    reporter: &dyn Reporter,
) -> Result<WorkSummary> {
    run_workers(folder, &[(workload, reporter)], settings)
}

/// Works on the study with one worker for each setup, until nothing is left or all are asked to stop. Should one of them
/// break, as with its device, the others continue, and its error is returned at the end.
pub fn run_workers(folder: &StudyFolder, setups: &[WorkerSetup], settings: &WorkSettings) -> Result<WorkSummary> {
    folder.remove_abandoned();
    let wanted = folder.cells.iter().filter(|cell| settings.wants(cell)).take(settings.limit.unwrap_or(usize::MAX));
    let shared = SharedState::new(PopulationSizes::new(wanted, setups.len()));
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
    let ended: Vec<Result<WorkSummary>> = std::thread::scope(|scope| {
        let threads: Vec<_> = setups.iter().map(|setup| scope.spawn(|| work(setup))).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, Result<WorkSummary>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(join).collect()
    });
    let ended = ended.into_iter().collect::<Result<Vec<WorkSummary>>>()?;
    let states = folder.cell_states(&HashSet::new())?;
    let cells = folder.cells.iter().zip(&states);
    let left = cells.filter(|(cell, (state, _))| settings.wants(cell) && state.open_at().is_some()).count();
    Ok(WorkSummary {
        done: ended.iter().map(|one| one.done).sum(),
        failed: ended.iter().map(|one| one.failed).sum(),
        left,
        stopped: left > 0 && settings.stop.requested(),
    })
}
