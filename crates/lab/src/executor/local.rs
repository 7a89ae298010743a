//! The work of one process on a study: take, train, go on.
//!
//! A cell is taken by lease, so any number of processes share a folder. A cell that fails is recorded and does not
//! touch the others; one whose results cannot be read is taken again; a population that does not fit the device is halved.
//! When nothing is left to take but others are still at work, the process waits: should one of them die, its cells are
//! taken over.

use super::lease_guard::LeaseGuard;
use super::{Reporter, Workload};
use crate::Stop;
use crate::error::{At, Error, Result};
use crate::population::{Member, Outcome};
use crate::study::Cell;
use crate::study::estimate::{self, Rate};
use crate::study::folder::{CellState, StudyFolder, cell_state};
use crate::study::grouping::{Open, Pool};
use crate::study::intact;
use crate::study::lease::{Lease, Leases};
use crate::study::retry::{reopen, start_over};
use crate::study::worker::{Watch, Worker};
use invitro_results::{State, Status};
use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

pub struct Settings<'a> {
    pub stop: &'a Stop,
    /// Only these cells, by id.
    pub only: Option<&'a HashSet<String>>,
    /// Take no more than this many cells.
    pub limit: Option<usize>,
    /// Stop at the first failure.
    pub fail_fast: bool,
    /// How long a silent worker elsewhere keeps its cells.
    pub expiry: Duration,
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

/// Works on the study until nothing is left, or it is asked to stop.
pub fn work(
    folder: &StudyFolder,
    workload: &dyn Workload,
    settings: &Settings,
    reporter: &dyn Reporter,
) -> Result<Ended> {
    folder.remove_abandoned();
    let worker = Worker::start(&folder.workers(), settings.expiry)?;
    let worker_loop = WorkerLoop { folder, workload, settings, reporter, leases: folder.leases(), worker: &worker };
    let mut memory = Memory {
        watch: Watch::new(&folder.workers(), settings.expiry),
        closed: HashSet::new(),
        busy: HashMap::new(),
        unwritten: HashSet::new(),
        mended: HashSet::new(),
        sizes: HashMap::new(),
        taken: 0,
    };
    let mut ended = Ended::default();
    let mut told = None;
    loop {
        let view = worker_loop.look(&mut memory)?;
        ended.left = view.open.len() + view.held + view.unwritten;
        ended.stopped = ended.left > 0 && settings.stop.requested();
        let enough = settings.limit.is_some_and(|limit| memory.taken >= limit);
        if ended.stopped || enough || view.open.len() + view.held == 0 {
            return Ok(ended);
        }
        let held = if view.open.is_empty() { Vec::new() } else { worker_loop.take(&view, &mut memory, &mut ended)? };
        if held.is_empty() {
            if view.open.is_empty() && told.replace(view.held) != Some(view.held) {
                reporter.waiting(view.held);
            }
            worker_loop.rest();
            continue;
        }
        told = None;
        memory.taken += held.len();
        worker_loop.train(&held, &mut memory, &mut ended)?;
    }
}

/// What one process has learnt about the study so far.
struct Memory {
    watch: Watch,
    /// Cells that are done: they are not looked at again. Failed ones are; somebody may open them.
    closed: HashSet<String>,
    /// Cells whose folder somebody else is writing to, and when to try again.
    busy: HashMap<String, Instant>,
    /// Cells whose folder could not be written to: left for the next process, when there may be room.
    unwritten: HashSet<String>,
    /// Cells that came to no readable results and were started over, which is done once.
    mended: HashSet<String>,
    /// Members per population, by key, once known.
    sizes: HashMap<String, usize>,
    taken: usize,
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
    settings: &'a Settings<'a>,
    reporter: &'a dyn Reporter,
    leases: Leases,
    worker: &'a Worker,
}

type Held<'a> = (&'a Cell, Lease);

impl<'a> WorkerLoop<'a> {
    fn look(&self, memory: &mut Memory) -> Result<View<'a>> {
        let cell_states = self.folder.cell_states(&memory.closed)?;
        let generations = self.leases.generations()?;
        let mut view = View { open: Vec::new(), held: 0, unwritten: 0 };
        for (cell, (state, _)) in self.folder.cells.iter().zip(cell_states) {
            if state == CellState::Done {
                memory.closed.insert(cell.id.clone());
            }
            let wanted = self.settings.only.is_none_or(|only| only.contains(&cell.id));
            let (Some(step), true) = (state.open_at(), wanted) else { continue };
            let holder = generations.get(&cell.id).and_then(|generation| self.leases.holder(&cell.id, *generation));
            let is_held = holder.is_some_and(|holder| !memory.watch.dead(&holder));
            let is_busy = memory.busy.get(&cell.id).is_some_and(|until| Instant::now() < *until);
            if is_held || is_busy {
                view.held += 1;
            } else if memory.unwritten.contains(&cell.id) {
                view.unwritten += 1;
            } else {
                view.open.push(Open { cell, step });
            }
        }
        Ok(view)
    }

    /// Takes the next population, or what others leave of it.
    fn take(&self, view: &View<'a>, memory: &mut Memory, ended: &mut Ended) -> Result<Vec<Held<'a>>> {
        let mut pool = Pool::new(view.open.iter().copied());
        let Some(first) = pool.first() else { return Ok(Vec::new()) };
        let size = match memory.sizes.get(&first.cell.population_key) {
            Some(&size) => size,
            None => {
                let size = self.workload.capacity(first.cell)?.max(1);
                memory.sizes.insert(first.cell.population_key.clone(), size);
                size
            }
        };
        let size = self.settings.limit.map_or(size, |limit| size.min(limit - memory.taken));
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
                        self.close(open.cell, &lease, Outcome::Unwritten { error: error.to_string() }, memory, ended)?;
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
    fn train(&self, held: &[Held<'a>], memory: &mut Memory, ended: &mut Ended) -> Result<()> {
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
                if steps > 0 {
                    // A rate that is not noted costs an estimate; the cells are what counts.
                    let _ = estimate::note(self.folder, &Rate { population_key, kind, members, steps, seconds });
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
            return self.close(cell, lease, Outcome::Failed { error: why }, memory, ended);
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
        outcome: Outcome,
        memory: &mut Memory,
        ended: &mut Ended,
    ) -> Result<()> {
        match outcome {
            Outcome::Done => match intact::damage(&self.folder.run(cell), cell) {
                None => {
                    memory.closed.insert(cell.id.clone());
                    ended.done += 1;
                    self.reporter.finished(cell);
                }
                // What it was made from may be damaged too.
                Some(why) if memory.mended.insert(cell.id.clone()) && self.leases.holds(lease) => {
                    self.reporter.taken_again(cell, &why);
                    start_over(self.folder, cell)?;
                }
                Some(error) => {
                    self.reporter.cell_failed(cell, &error);
                    return self.close(cell, lease, Outcome::Failed { error }, memory, ended);
                }
            },
            Outcome::Failed { error } => {
                // Should its record be missing, as on a full disk, the cell would be tried over and over.
                let is_open = cell_state(&self.folder.run(cell)).0.open_at().is_some();
                if is_open && self.leases.holds(lease) && record_failure(self.folder, cell, &error).is_err() {
                    memory.unwritten.insert(cell.id.clone());
                }
                self.count_failure(ended);
            }
            Outcome::Unwritten { .. } => {
                memory.unwritten.insert(cell.id.clone());
                self.count_failure(ended);
            }
            Outcome::Stopped { .. } => {}
            Outcome::Busy => {
                memory.busy.insert(cell.id.clone(), Instant::now() + self.settings.expiry / 6);
            }
            Outcome::Lost => self.reporter.lost(cell),
        }
        self.leases.give_back(lease)
    }

    fn count_failure(&self, ended: &mut Ended) {
        ended.failed += 1;
        if self.settings.fail_fast {
            self.settings.stop.request();
        }
    }

    /// Waits a moment, or less if asked to stop.
    fn rest(&self) {
        let until = Instant::now() + (self.settings.expiry / 12).min(Duration::from_secs(5));
        while Instant::now() < until && !self.settings.stop.requested() {
            std::thread::sleep(Duration::from_millis(50).min(self.settings.expiry / 12));
        }
    }
}

fn record_failure(folder: &StudyFolder, cell: &Cell, error: &str) -> Result<()> {
    let run = folder.run(cell);
    std::fs::create_dir_all(&run).writing(&run)?;
    let status = Status::read(&run).ok().flatten();
    let mut status = status.unwrap_or_else(|| Status::new(cell.id.clone(), cell.experiment.train.steps));
    (status.state, status.error) = (State::Failed, Some(error.to_owned()));
    Ok(status.write(&run)?)
}

/// The device itself is missing or broken: no cell is to blame, and no other cell would fare better.
fn is_device(error: &Error) -> bool {
    matches!(error, Error::Model(invitro_model::Error::Device(_)))
}

fn is_no_room(error: &Error) -> bool {
    matches!(error, Error::Model(invitro_model::Error::OutOfMemory(_)))
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no reason given".into());
    format!("the run broke: {text}")
}
