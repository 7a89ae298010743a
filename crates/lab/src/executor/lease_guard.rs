//! Progress as a study needs it: everything is passed on to the one who watches, and before a member writes, its lease
//! is looked at.

use super::Reporter;
use crate::study::Cell;
use crate::study::lease::{Lease, Leases};
use crate::study::worker::Worker;
use crate::training::activity::Activity;
use crate::training::progress::{Headline, Progress, Started};
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) struct LeaseGuard<'a> {
    pub reporter: &'a dyn Reporter,
    pub worker: &'a Worker,
    pub leases: &'a Leases,
    /// In the order of the members.
    pub held: &'a [(&'a Cell, Lease)],
    /// The last step that was counted, and how many were, of all members.
    pub step: AtomicU64,
    pub counted: AtomicU64,
}

impl Progress for LeaseGuard<'_> {
    fn doing(&self, activity: Activity) {
        self.worker.stopwatch.switch(activity);
        self.reporter.doing(activity);
    }

    fn preparing(&self, what: &str) {
        self.reporter.preparing(what);
    }

    fn started(&self, start: &Started) {
        self.step.store(start.from, Ordering::Relaxed);
        self.reporter.started(start);
    }

    fn note(&self, member: usize, note: &str) {
        self.reporter.note(member, note);
    }

    fn damaged(&self, member: usize, from: u64, why: &str) {
        self.reporter.damaged(member, from, why);
    }

    fn mended(&self, member: usize, why: &str) {
        self.reporter.mended(member, why);
    }

    fn stepped(&self, step: u64, losses: &[f64], tokens: u64) {
        let before = self.step.swap(step, Ordering::Relaxed);
        let steps = step.saturating_sub(before) * losses.len() as u64;
        self.counted.fetch_add(steps, Ordering::Relaxed);
        self.worker.stepped(steps);
        self.reporter.stepped(step, losses, tokens);
    }

    fn evaluated(&self, member: usize, step: u64, headline: &Headline) {
        self.reporter.evaluated(member, step, headline);
    }

    fn failed(&self, member: usize, step: u64, error: &str) {
        self.reporter.failed(member, step, error);
        self.reporter.cell_failed(self.held[member].0, error);
    }

    fn may_write(&self, member: usize) -> bool {
        let (_, lease) = &self.held[member];
        // A worker that was stopped or cut off makes itself heard before it looks: from then on nobody may take over
        // what it still holds.
        let heard = !self.worker.overdue() || self.worker.beat_now();
        heard && self.leases.holds(lease) && self.reporter.may_write(member)
    }
}
