//! Where the cells of a study are run: on this machine, or by Slurm on many.
//!
//! Both run [`workers`]: a worker takes cells that no other worker holds and trains them as populations, until none is
//! left. Any number of processes may work on one folder, on any number of machines that share it. A Slurm array starts
//! them, each with its part of the cells.

mod faults;
mod lease_guard;
pub mod queue;
pub mod shared;
pub mod slurm;
pub mod training;
mod worker_loop;
pub mod workers;

pub use training::Training;

use crate::Stop;
use crate::error::Result;
use crate::study::Cell;
use crate::training::activity::Times;
use crate::training::progress::Progress;
use crate::training::{Member, MemberOutcome};

/// What is done with cells; training, but for tests.
pub trait Workload: Sync {
    /// The kind of device, `cpu` or `cuda`, that recorded rates hold for.
    fn kind(&self) -> &'static str;

    /// How many populations share its device at a time.
    fn populations(&self) -> usize {
        1
    }

    /// How many cells like this one are trained at once, in one population.
    fn capacity(&self, cell: &Cell) -> Result<usize>;

    /// Trains the members as one population: one outcome each. `Err` for what concerns all of them.
    fn train(&self, members: &[Member], stop: &Stop, progress: &dyn Progress) -> Result<Vec<MemberOutcome>>;
}

/// What there is to tell about the work on a study. Members of [`Progress`] are the cells last `taken`.
pub trait Reporter: Progress {
    fn taken(&self, _cells: &[&Cell]) {}
    fn finished(&self, _cell: &Cell) {}
    fn cell_failed(&self, _cell: &Cell, _error: &str) {}
    /// A cell said that it was done, but its results are not there or cannot be read.
    fn taken_again(&self, _cell: &Cell, _why: &str) {}
    /// A population that did not fit, or broke as a whole, is tried again in two halves.
    fn halved(&self, _members: usize, _why: &str) {}
    /// Another worker took the cell over; nothing was written.
    fn taken_over(&self, _cell: &Cell) {}
    /// Nothing is left to take, but others are still at work on so many cells.
    fn waiting(&self, _held: usize) {}
    /// The worker ends by an error; the other workers of this process continue.
    fn gave_up(&self, _error: &str) {}
    /// What the worker's time went to, at its end.
    fn timed(&self, _times: &Times) {}
}
