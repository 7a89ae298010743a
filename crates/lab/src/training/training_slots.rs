//! Whose turn it is to train on a device that several populations share.
//!
//! A population trains up to its next evaluation and then leaves the device alone but for its questions, while its host scores
//! answers and writes files. Another one that waits trains meanwhile. The one with the larger share of its steps done has
//! priority, and the other yields between two steps: so populations that were started together get out of phase, and while one
//! of them ends and the next is prepared, another trains.
//!
//! ```text
//! one    train ████  score ░░  train ████  score ░░  train ████  …
//! other  wait  ····  train ██  wait  ····  train ██  wait  ····  …
//! ```

use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Populations that may train at once on one device.
pub struct TrainingSlots {
    slots: usize,
    state: Mutex<SlotQueue>,
    changed: Condvar,
}

#[derive(Default)]
struct SlotQueue {
    taken: usize,
    /// Who waits: the share of its steps that is done, and a number that rises with every one who comes.
    waiting: Vec<(f64, u64)>,
    came: u64,
    /// Since when a slot is taken, and how long any was before that.
    since: Option<Instant>,
    busy: Duration,
}

/// Held while a population trains.
pub struct Slot<'a> {
    slots: &'a TrainingSlots,
    done: f64,
}

impl TrainingSlots {
    /// At least one.
    pub fn new(slots: usize) -> TrainingSlots {
        TrainingSlots { slots: slots.max(1), state: Mutex::default(), changed: Condvar::new() }
    }

    /// Waits for a slot, for a population that has done this share of its steps.
    pub fn take(&self, done: f64) -> Slot<'_> {
        let mut state = self.state();
        let own = (done, state.came);
        state.came += 1;
        state.waiting.push(own);
        while state.taken == self.slots || state.next() != Some(own) {
            state = self.changed.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        state.waiting.retain(|&other| other != own);
        state.taken += 1;
        state.since.get_or_insert_with(Instant::now);
        // There may be a slot for the next one too.
        self.changed.notify_all();
        Slot { slots: self, done }
    }

    /// How long at least one population was training.
    pub fn busy(&self) -> Duration {
        let state = self.state();
        state.busy + state.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// How many populations wait for a slot.
    pub fn waiting(&self) -> usize {
        self.state().waiting.len()
    }

    fn state(&self) -> MutexGuard<'_, SlotQueue> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl SlotQueue {
    /// The furthest of those who wait; of those who are as far, the one who came first.
    fn next(&self) -> Option<(f64, u64)> {
        self.waiting.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))
    }
}

impl Slot<'_> {
    /// Whether a population waits that is further than this one was when it took the slot.
    pub fn should_yield(&self) -> bool {
        self.slots.state().next().is_some_and(|(done, _)| done > self.done)
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let mut state = self.slots.state();
        state.taken -= 1;
        if state.taken == 0 {
            let since = state.since.take();
            state.busy += since.map_or(Duration::ZERO, |since| since.elapsed());
        }
        self.slots.changed.notify_all();
    }
}
