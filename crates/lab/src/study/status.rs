//! How a study stands: of every cell what has become of it, who is at work, how fast, and how long it will take.

use super::file::Cell;
use super::folder::{CellState, StudyFolder};
use super::worker::{WorkerRecord, live_records};
use crate::error::Result;
use crate::training::activity::{Activity, Times};
use invitro_results::Status;
use serde::Serialize;
use std::collections::HashSet;
use std::time::Duration;

/// What has become of a cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum CellStatus {
    Done,
    /// It says that it is done, but its results are not there: it waits to be taken again.
    Damaged {
        step: u64,
        why: String,
    },
    Running {
        step: u64,
        worker: String,
    },
    Failed {
        step: u64,
        error: String,
    },
    /// Nobody is at work on it; beyond step 0, it was interrupted.
    Waiting {
        step: u64,
    },
    Stale {
        why: String,
    },
}

/// A study at a live_records. Cells are in the study's order.
#[derive(Debug, Clone)]
pub struct Overview {
    pub cells: Vec<CellStatus>,
    /// Workers whose heart beats.
    pub workers: Vec<WorkerRecord>,
    /// Those not heard of for longer than the expiry: frozen, cut off, or gone with their machine. Others may take over
    /// what they hold.
    pub silent: Vec<(WorkerRecord, Duration)>,
    /// Steps, of every member that trains, per second, by all workers together.
    pub rate: Option<f64>,
    /// Steps that are still to be taken for cells running or waiting.
    pub steps_left: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    pub done: usize,
    pub damaged: usize,
    pub running: usize,
    pub failed: usize,
    pub waiting: usize,
    pub stale: usize,
}

impl Overview {
    pub fn read(folder: &StudyFolder, expiry: Duration) -> Result<Overview> {
        let states = folder.cell_states(&HashSet::new())?;
        let leases = folder.leases();
        let generations = leases.generations()?;
        let (silent, workers): (Vec<_>, Vec<_>) =
            live_records(&folder.workers()).into_iter().partition(|(_, silence)| *silence > expiry);
        let workers: Vec<WorkerRecord> = workers.into_iter().map(|(record, _)| record).collect();
        let holder = |cell: &Cell| {
            let worker = leases.holder(&cell.id, *generations.get(&cell.id)?)?;
            workers.iter().any(|record| record.worker == worker).then_some(worker)
        };
        let mut steps_left = 0;
        let status = |(cell, (state, _)): (&Cell, (CellState, Option<Status>))| match state {
            CellState::Done => CellStatus::Done,
            CellState::Damaged { step, why } => CellStatus::Damaged { step, why },
            CellState::Failed { step, error } => CellStatus::Failed { step, error },
            CellState::Stale { why } => CellStatus::Stale { why },
            CellState::Open { step } => {
                steps_left += cell.experiment.train.steps.saturating_sub(step);
                holder(cell).map_or(CellStatus::Waiting { step }, |worker| CellStatus::Running { step, worker })
            }
        };
        let cells = folder.cells.iter().zip(states).map(status).collect();
        let rate: f64 = workers.iter().map(rate).sum();
        Ok(Overview { cells, workers, silent, rate: (rate > 0.0).then_some(rate), steps_left })
    }

    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for status in &self.cells {
            *match status {
                CellStatus::Done => &mut counts.done,
                CellStatus::Damaged { .. } => &mut counts.damaged,
                CellStatus::Running { .. } => &mut counts.running,
                CellStatus::Failed { .. } => &mut counts.failed,
                CellStatus::Waiting { .. } => &mut counts.waiting,
                CellStatus::Stale { .. } => &mut counts.stale,
            } += 1;
        }
        counts
    }

    /// What the time of the workers goes to, once one of them trains.
    pub fn times(&self) -> Option<Times> {
        let mut all = Times::default();
        self.workers.iter().for_each(|worker| all.add(&worker.times));
        all.0.contains_key(&Activity::Training).then_some(all)
    }

    pub fn seconds_left(&self) -> Option<f64> {
        self.rate.map(|rate| self.steps_left as f64 / rate)
    }
}

/// Steps per second since the worker started, its preparations and evaluations included.
fn rate(record: &WorkerRecord) -> f64 {
    if record.seconds > 0.0 { record.steps as f64 / record.seconds } else { 0.0 }
}
