//! The batches of a training run, made by other threads a few steps ahead of the device.
//!
//! Every row is a function of (data seed, step, row), so threads need not agree on anything: thread i makes the steps
//! that are i modulo the number of threads, and they are taken in turn.

use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::inputs::RunInputs;
use invitro_language::Source;
use invitro_model::TokenSequence;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Batches a thread makes ahead.
const AHEAD: usize = 4;

/// A batch of every member.
pub type MemberBatches = Vec<Vec<TokenSequence>>;

pub struct DataLoader {
    threads: Vec<Receiver<Result<MemberBatches>>>,
    next: usize,
}

impl DataLoader {
    /// Makes the steps after `from`, up to the last, for members with these experiments and inputs.
    pub fn start(members: Vec<(Experiment, RunInputs)>, from: u64, threads: usize) -> DataLoader {
        let members = Arc::new(members);
        let work = |thread: u64| {
            let (sender, receiver) = sync_channel(AHEAD);
            let members = members.clone();
            std::thread::spawn(move || make(&members, from + 1 + thread, threads as u64, &sender));
            receiver
        };
        DataLoader { threads: (0..threads as u64).map(work).collect(), next: 0 }
    }

    /// The batch of the next step.
    pub fn take(&mut self) -> Result<MemberBatches> {
        let thread = &self.threads[self.next];
        self.next = (self.next + 1) % self.threads.len();
        thread.recv().unwrap_or_else(|_| Err(Error::Inputs("the training data ended early".into())))
    }
}

/// Makes every `stride`-th step from `first` on. Ends with the last, or when nobody takes them any more.
fn make(members: &[(Experiment, RunInputs)], first: u64, stride: u64, out: &SyncSender<Result<MemberBatches>>) {
    let Some((experiment, _)) = members.first() else { return };
    let (steps, rows) = (experiment.train.steps, experiment.train.batch as u64);
    let mut sources: Vec<Source> =
        members.iter().map(|(e, m)| Source::training(&m.languages, &e.mixture, rows, steps)).collect();
    // Members that read the same rows: the first of them makes them.
    let same = |a: &(Experiment, RunInputs), b: &(Experiment, RunInputs)| {
        Arc::ptr_eq(&a.1.text, &b.1.text) && a.0.mixture == b.0.mixture
    };
    let origin: Vec<usize> =
        (0..members.len()).map(|m| (0..m).find(|&o| same(&members[o], &members[m])).unwrap_or(m)).collect();
    for step in (first..=steps).step_by(stride as usize) {
        let mut batch = MemberBatches::with_capacity(members.len());
        for (m, (experiment, inputs)) in members.iter().enumerate() {
            let own = if origin[m] < m {
                Ok(batch[origin[m]].clone())
            } else {
                inputs.text.batch(&mut sources[m], step, rows, experiment.model.context)
            };
            match own {
                Ok(own) => batch.push(own),
                Err(error) => {
                    let _ = out.send(Err(error));
                    return;
                }
            }
        }
        if out.send(Ok(batch)).is_err() {
            return;
        }
    }
}
