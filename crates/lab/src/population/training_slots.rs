//! Whose turn it is to train on a device that several populations share.
//!
//! A population trains up to its next evaluation and then leaves the device alone but for its questions, while its host scores
//! answers and writes files. Another one that waits trains meanwhile. Who waits longest comes first, so that populations
//! that set out together do not stay in step, all training and then all evaluating.
//!
//! ```text
//! one    train ████  score ░░  wait ····  train ████  score ░░  …
//! other  wait  ····  train ████  score ░░  wait ··    train ████ …
//! ```

use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Populations that may train at once on one device, first come, first served.
pub struct TrainingSlots {
    slots: u64,
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Default)]
struct State {
    /// The numbers drawn by those who came, and how many of them have left again.
    drawn: u64,
    left: u64,
    /// Since when a slot is taken, and how long any was before that.
    since: Option<Instant>,
    busy: Duration,
}

/// Held while a population trains.
pub struct Slot<'a>(&'a TrainingSlots);

impl TrainingSlots {
    /// At least one.
    pub fn new(slots: usize) -> TrainingSlots {
        TrainingSlots { slots: slots.max(1) as u64, state: Mutex::default(), freed: Condvar::new() }
    }

    /// Waits for a slot.
    pub fn take(&self) -> Slot<'_> {
        let mut state = self.state();
        let number = state.drawn;
        state.drawn += 1;
        while number >= state.left + self.slots {
            state = self.freed.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        state.since.get_or_insert_with(Instant::now);
        Slot(self)
    }

    /// How long at least one population was training.
    pub fn busy(&self) -> Duration {
        let state = self.state();
        state.busy + state.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// How many populations wait for a slot.
    pub fn waiting(&self) -> u64 {
        let state = self.state();
        (state.drawn - state.left).saturating_sub(self.slots)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.left += 1;
        if state.left == state.drawn {
            let since = state.since.take();
            state.busy += since.map_or(Duration::ZERO, |since| since.elapsed());
        }
        self.0.freed.notify_all();
    }
}
