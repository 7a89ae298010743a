//! Where the time of a population goes: what it is doing, and how long it has done each thing.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Instant;

/// What a population is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activity {
    Training,
    /// The data loader is behind.
    AwaitingBatch,
    /// Another population trains on the device.
    AwaitingSlot,
    /// The part of an evaluation that the device does.
    Inference,
    /// The rest of it: answers are scored and written down.
    Scoring,
    Saving,
    /// Writing the tables of runs that are done.
    Finishing,
    /// Languages, tokenizers, evaluation sets, and the models on the device.
    Preparing,
    /// There is no population: cells are looked for.
    Idle,
}

impl Activity {
    pub fn name(self) -> &'static str {
        match self {
            Activity::Training => "training",
            Activity::AwaitingBatch => "awaiting batches",
            Activity::AwaitingSlot => "awaiting the device",
            Activity::Inference => "inference",
            Activity::Scoring => "scoring",
            Activity::Saving => "saving",
            Activity::Finishing => "finishing",
            Activity::Preparing => "preparing",
            Activity::Idle => "idle",
        }
    }
}

/// Seconds of each activity.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Times(pub BTreeMap<Activity, f64>);

impl Times {
    pub fn total(&self) -> f64 {
        self.0.values().sum()
    }

    pub fn add(&mut self, other: &Times) {
        other.0.iter().for_each(|(&activity, seconds)| self.spent(activity, *seconds));
    }

    fn spent(&mut self, activity: Activity, seconds: f64) {
        *self.0.entry(activity).or_default() += seconds;
    }

    /// `training 71 %, inference 9 %, …`, what is less than one in two hundred left out.
    pub fn shares(&self) -> String {
        let total = self.total();
        let share = |(activity, seconds): (&Activity, &f64)| {
            let percent = 100.0 * seconds / total;
            (percent >= 0.5).then(|| format!("{} {percent:.0} %", activity.name()))
        };
        self.0.iter().filter_map(share).collect::<Vec<_>>().join(", ")
    }
}

/// Adds up the time of each activity.
pub struct Stopwatch(Mutex<(Activity, Instant, Times)>);

impl Default for Stopwatch {
    fn default() -> Stopwatch {
        Stopwatch(Mutex::new((Activity::Idle, Instant::now(), Times::default())))
    }
}

impl Stopwatch {
    /// From now on this is done.
    pub fn switch(&self, to: Activity) {
        let mut state = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let (from, since, times) = &mut *state;
        let now = Instant::now();
        times.spent(*from, (now - *since).as_secs_f64());
        (*from, *since) = (to, now);
    }

    /// Up to now.
    pub fn times(&self) -> Times {
        let state = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut times = state.2.clone();
        times.spent(state.0, state.1.elapsed().as_secs_f64());
        times
    }
}
