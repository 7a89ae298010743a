//! How a study stands: of every cell what has become of it, who is at work, how fast, and how long it will take.

use super::folder::{Fate, Holders, StudyFolder};
use super::worker::{Card, seems_dead};
use crate::error::Result;
use serde::Serialize;
use std::collections::HashSet;
use std::time::Duration;

/// What has become of a cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum Standing {
    Done,
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

/// A study at a glance. Cells are in the study's order.
#[derive(Debug, Clone)]
pub struct Overview {
    pub standings: Vec<Standing>,
    /// Workers whose heart beats.
    pub workers: Vec<Card>,
    /// Steps, of every member that trains, per second, by all workers together.
    pub rate: Option<f64>,
    /// Steps that are still to be taken for cells running or waiting.
    pub steps_left: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    pub done: usize,
    pub running: usize,
    pub failed: usize,
    pub waiting: usize,
    pub stale: usize,
}

impl Overview {
    pub fn read(folder: &StudyFolder, expiry: Duration) -> Result<Overview> {
        let fates = folder.fates(&HashSet::new())?;
        let fate = |id: &str| fates.get(id).map_or(Fate::Open { step: 0 }, |(fate, _)| fate.clone());
        let cells: Vec<(&str, Fate)> = folder.cells.iter().map(|cell| (cell.id.as_str(), fate(&cell.id))).collect();
        let open = cells.iter().filter(|(_, fate)| matches!(fate, Fate::Open { .. })).map(|(id, _)| *id);
        let holders = Holders::read(folder, open)?;
        let alive = |card: &Card| !seems_dead(card, expiry);
        let mut steps_left = 0;
        let standings = folder
            .cells
            .iter()
            .zip(cells)
            .map(|(cell, (id, fate))| match fate {
                Fate::Done => Standing::Done,
                Fate::Failed { step, error } => Standing::Failed { step, error },
                Fate::Stale { why } => Standing::Stale { why },
                Fate::Open { step } => {
                    steps_left += cell.experiment.train.steps.saturating_sub(step);
                    let holder = holders.by_cell.get(id).filter(|id| holders.cards.get(*id).is_some_and(alive));
                    match holder {
                        Some(worker) => Standing::Running { step, worker: worker.clone() },
                        None => Standing::Waiting { step },
                    }
                }
            })
            .collect();
        let mut workers: Vec<Card> = holders.cards.into_values().filter(alive).collect();
        workers.sort_by(|a, b| a.worker.cmp(&b.worker));
        let rate: f64 = workers.iter().map(rate).sum();
        Ok(Overview { standings, workers, rate: (rate > 0.0).then_some(rate), steps_left })
    }

    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for standing in &self.standings {
            *match standing {
                Standing::Done => &mut counts.done,
                Standing::Running { .. } => &mut counts.running,
                Standing::Failed { .. } => &mut counts.failed,
                Standing::Waiting { .. } => &mut counts.waiting,
                Standing::Stale { .. } => &mut counts.stale,
            } += 1;
        }
        counts
    }

    pub fn seconds_left(&self) -> Option<f64> {
        self.rate.map(|rate| self.steps_left as f64 / rate)
    }
}

/// Steps per second since the worker started, its preparations and evaluations included.
fn rate(card: &Card) -> f64 {
    let seconds = card.at.saturating_sub(card.since);
    if seconds == 0 { 0.0 } else { card.steps as f64 / seconds as f64 }
}
