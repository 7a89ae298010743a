//! The work of one worker on a study: it takes cells, trains them, and takes the next.
//!
//! A cell is taken by lease, so any number of workers share a folder, in one process or in many. A cell that fails is
//! recorded and does not touch the others; one whose results cannot be read is taken again; a population that does not fit
//! the device is halved. When nothing is left to take but others are still at work, it waits: should one of them die, its
//! cells are taken over.

use super::faults::{is_device, is_no_room, panic_text, record_failure};
use super::lease_guard::LeaseGuard;
use super::shared::{SharedState, WorkSettings, WorkSummary, WorkerSetup};
use super::{Reporter, Workload};
use crate::error::Result;
use crate::study::Cell;
use crate::study::estimate::{self, TrainingRate};
use crate::study::folder::{CellState, StudyFolder, cell_state};
use crate::study::grouping::{Open, OpenCells};
use crate::study::intact::{self, Depth};
use crate::study::lease::{Lease, Leases};
use crate::study::retry::{reopen, start_over};
use crate::study::worker::{Watch, Worker};
use crate::training::activity::Activity;
use crate::training::{Member, MemberOutcome};
use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Works on the study as one of the workers of a process, until nothing is left or it has to stop.
pub(super) fn work_as(
    folder: &StudyFolder,
    (workload, reporter): WorkerSetup,
    settings: &WorkSettings,
    shared: &SharedState,
) -> Result<WorkSummary> {
    let worker = Worker::start(&folder.workers(), settings.expiry)?;
    let leases = folder.leases();
    let worker_loop = WorkerLoop { folder, workload, settings, reporter, leases, worker: &worker, shared };
    let ended = worker_loop.work();
    reporter.timed(&worker.stopwatch.times());
    ended
}

/// What a worker has learnt about the study so far.
struct WorkerMemory {
    watch: Watch,
    /// Cells that are done: they are not looked at again. Failed ones are; somebody may open them.
    closed: HashSet<String>,
    /// Cells whose folder somebody else is writing to, and when to try again.
    busy: HashMap<String, Instant>,
    /// Members per population, by key, once known.
    sizes: HashMap<String, usize>,
}

struct View<'a> {
    /// Cells nobody holds, in the study's order.
    open: Vec<Open<'a>>,
    /// How many others hold.
    held: usize,
    /// How many this process could not write to.
    unwritten: usize,
}

struct WorkerLoop<'a> {
    folder: &'a StudyFolder,
    workload: &'a dyn Workload,
    settings: &'a WorkSettings<'a>,
    reporter: &'a dyn Reporter,
    leases: Leases,
    worker: &'a Worker,
    shared: &'a SharedState,
}

type Held<'a> = (&'a Cell, Lease);

impl<'a> WorkerLoop<'a> {
    fn work(&self) -> Result<WorkSummary> {
        let WorkSettings { stop, limit, expiry, .. } = self.settings;
        let mut memory = WorkerMemory {
            watch: Watch::new(&self.folder.workers(), *expiry),
            closed: HashSet::new(),
            busy: HashMap::new(),
            sizes: HashMap::new(),
        };
        let mut ended = WorkSummary::default();
        let mut last_reported = None;
        loop {
            let changes = self.shared.changes.load(Ordering::Relaxed);
            let mut taken = self.shared.taken.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let view = self.survey(&mut memory)?;
            ended.left = view.open.len() + view.held + view.unwritten;
            ended.stopped = ended.left > 0 && stop.requested();
            let enough = limit.is_some_and(|limit| *taken >= limit);
            if ended.stopped || enough || view.open.len() + view.held == 0 {
                return Ok(ended);
            }
            let most = limit.map_or(usize::MAX, |limit| limit - *taken);
            let held = if view.open.is_empty() { Vec::new() } else { self.take(&view, most, &mut memory, &mut ended)? };
            if held.is_empty() {
                drop(taken);
                // Other workers of this process are no news.
                let alone = self.shared.at_work.load(Ordering::Relaxed) == 0;
                if view.open.is_empty() && alone && last_reported.replace(view.held) != Some(view.held) {
                    self.reporter.waiting(view.held);
                }
                self.wait_for_changes(changes);
                continue;
            }
            *taken += held.len();
            self.shared.at_work.fetch_add(1, Ordering::Relaxed);
            drop(taken);
            last_reported = None;
            let trained = self.train(&held, &mut memory, &mut ended);
            self.worker.stopwatch.switch(Activity::Idle);
            self.shared.at_work.fetch_sub(1, Ordering::Relaxed);
            self.shared.changed();
            trained?;
        }
    }

    fn survey(&self, memory: &mut WorkerMemory) -> Result<View<'a>> {
        let cell_states = self.folder.cell_states(&memory.closed)?;
        let generations = self.leases.generations()?;
        let mut view = View { open: Vec::new(), held: 0, unwritten: 0 };
        for (cell, (state, _)) in self.folder.cells.iter().zip(cell_states) {
            if state == CellState::Done {
                memory.closed.insert(cell.id.clone());
            }
            let (Some(step), true) = (state.open_at(), self.settings.wants(cell)) else { continue };
            let holder = generations.get(&cell.id).and_then(|generation| self.leases.holder(&cell.id, *generation));
            let is_held = holder.is_some_and(|holder| !memory.watch.dead(&holder));
            let is_busy = memory.busy.get(&cell.id).is_some_and(|until| Instant::now() < *until);
            if is_held || is_busy {
                view.held += 1;
            } else if self.shared.unwritten().contains(&cell.id) {
                view.unwritten += 1;
            } else {
                view.open.push(Open { cell, step });
            }
        }
        Ok(view)
    }

    /// Takes the next population, or what others leave of it, out of the first `most` cells: a limit takes the study's
    /// cells in order, whatever trains well together.
    fn take(
        &self,
        view: &View<'a>,
        most: usize,
        memory: &mut WorkerMemory,
        ended: &mut WorkSummary,
    ) -> Result<Vec<Held<'a>>> {
        let mut pool = OpenCells::new(view.open.iter().copied().take(most));
        let Some(first) = pool.first() else { return Ok(Vec::new()) };
        let size = match memory.sizes.get(&first.cell.population_key) {
            Some(&size) => size,
            None => {
                let capacity = self.workload.capacity(first.cell)?.max(1);
                let size = self.shared.sizes.members(first.cell, capacity);
                memory.sizes.insert(first.cell.population_key.clone(), size);
                size
            }
        };
        let generations = self.leases.generations()?;
        let mut members: Vec<Open> = Vec::new();
        let mut leases: HashMap<&str, Lease> = HashMap::new();
        while members.len() < size
            && let Some(open) = pool.take_with(first)
        {
            let Some(lease) = self.leases.take(&open.cell.id, self.worker, &generations, &mut memory.watch)? else {
                continue;
            };
            let run = self.folder.run(open.cell);
            match cell_state(&run).0 {
                CellState::Open { .. } => {}
                CellState::Damaged { why, .. } => {
                    self.reporter.taken_again(open.cell, &why);
                    if let Err(error) = reopen(&run) {
                        self.reporter.cell_failed(open.cell, &error.to_string());
                        self.close(
                            open.cell,
                            &lease,
                            MemberOutcome::Unwritten { error: error.to_string() },
                            memory,
                            ended,
                        )?;
                        continue;
                    }
                }
                // What was open when we looked may have been finished by its last holder since.
                _ => {
                    self.leases.give_back(&lease)?;
                    continue;
                }
            }
            members.push(open);
            leases.insert(&open.cell.id, lease);
        }
        members.sort_by_key(|member| member.cell.data_seed);
        Ok(members.iter().filter_map(|open| Some((open.cell, leases.remove(open.cell.id.as_str())?))).collect())
    }

    /// Trains what is held, halving where the whole does not work, and gives back what is not finished.
    fn train(&self, held: &[Held<'a>], memory: &mut WorkerMemory, ended: &mut WorkSummary) -> Result<()> {
        let cells: Vec<&Cell> = held.iter().map(|(cell, _)| *cell).collect();
        self.reporter.taken(&cells);
        let members: Vec<Member> = cells
            .iter()
            .map(|cell| Member { experiment: cell.experiment.clone(), folder: self.folder.run(cell) })
            .collect();
        let (reporter, worker, leases) = (self.reporter, self.worker, &self.leases);
        let (step, counted) = Default::default();
        let guard = LeaseGuard { reporter, worker, leases, held, step, counted };
        let begun = Instant::now();
        let trained = catch_unwind(AssertUnwindSafe(|| self.workload.train(&members, self.settings.stop, &guard)));
        let (why, no_room) = match trained {
            Ok(Ok(outcomes)) => {
                let population_key = held[0].0.population_key.clone();
                let (kind, members) = (self.workload.kind().to_owned(), held.len());
                let (steps, seconds) = (guard.counted.into_inner(), begun.elapsed().as_secs_f64());
                // Of the device's time it had its share.
                let seconds = seconds / self.workload.populations() as f64;
                if steps > 0 {
                    // A rate that is not noted costs an estimate; the cells are what counts.
                    let _ = estimate::record_rate(
                        self.folder,
                        &TrainingRate { population_key, kind, members, steps, seconds },
                    );
                }
                for ((cell, lease), outcome) in held.iter().zip(outcomes) {
                    self.close(cell, lease, outcome, memory, ended)?;
                }
                return Ok(());
            }
            Ok(Err(error)) if is_device(&error) => {
                held.iter().try_for_each(|(_, lease)| self.leases.give_back(lease))?;
                return Err(error);
            }
            Ok(Err(error)) => (error.to_string(), is_no_room(&error)),
            Err(panic) => (panic_text(panic.as_ref()), false),
        };
        if let [(cell, lease)] = held {
            self.reporter.cell_failed(cell, &why);
            return self.close(cell, lease, MemberOutcome::Failed { error: why }, memory, ended);
        }
        // A population that does not fit is halved; one that broke is too, until the member that breaks it is alone.
        self.reporter.halved(held.len(), &why);
        let half = held.len().div_ceil(2);
        if no_room {
            memory.sizes.insert(held[0].0.population_key.clone(), half);
        }
        for part in held.chunks(half) {
            if self.settings.stop.requested() {
                part.iter().try_for_each(|(_, lease)| self.leases.give_back(lease))?;
            } else {
                self.train(part, memory, ended)?;
            }
        }
        Ok(())
    }

    fn close(
        &self,
        cell: &Cell,
        lease: &Lease,
        outcome: MemberOutcome,
        memory: &mut WorkerMemory,
        ended: &mut WorkSummary,
    ) -> Result<()> {
        match outcome {
            MemberOutcome::Done => match intact::damage_of_cell(&self.folder.run(cell), cell, Depth::Tables) {
                None => {
                    memory.closed.insert(cell.id.clone());
                    ended.done += 1;
                    self.reporter.finished(cell);
                }
                // What it was made from may be damaged too.
                Some(why) if self.shared.first_start_over(&cell.id) && self.leases.holds(lease) => {
                    self.reporter.taken_again(cell, &why);
                    start_over(self.folder, cell)?;
                }
                Some(error) => {
                    self.reporter.cell_failed(cell, &error);
                    return self.close(cell, lease, MemberOutcome::Failed { error }, memory, ended);
                }
            },
            MemberOutcome::Failed { error } => {
                // Should its record be missing, as on a full disk, the cell would be tried over and over.
                let is_open = cell_state(&self.folder.run(cell)).0.open_at().is_some();
                if is_open && self.leases.holds(lease) && record_failure(self.folder, cell, &error).is_err() {
                    self.shared.unwritten().insert(cell.id.clone());
                }
                self.count_failure(ended);
            }
            MemberOutcome::Unwritten { .. } => {
                self.shared.unwritten().insert(cell.id.clone());
                self.count_failure(ended);
            }
            MemberOutcome::Stopped { .. } => {}
            MemberOutcome::Busy => {
                memory.busy.insert(cell.id.clone(), Instant::now() + self.settings.expiry / 6);
            }
            MemberOutcome::Lost => self.reporter.taken_over(cell),
        }
        self.leases.give_back(lease)
    }

    fn count_failure(&self, ended: &mut WorkSummary) {
        ended.failed += 1;
        if self.settings.fail_fast {
            self.settings.stop.request();
        }
    }

    /// Waits a moment, or less if asked to stop or if another worker of this process has made a change since.
    fn wait_for_changes(&self, changes: u64) {
        let until = Instant::now() + (self.settings.expiry / 12).min(Duration::from_secs(5));
        let changed = || self.shared.changes.load(Ordering::Relaxed) != changes;
        while Instant::now() < until && !self.settings.stop.requested() && !changed() {
            std::thread::sleep(Duration::from_millis(50).min(self.settings.expiry / 12));
        }
    }
}
