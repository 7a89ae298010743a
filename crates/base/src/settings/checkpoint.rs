//! `[checkpoint]`

use super::Range;
use crate::{named, settings};

settings! {
    /// `[checkpoint]`: how often a run is saved, and which checkpoints stay.
    CheckpointConfig in "checkpoint", "how often a run is saved, and what stays" {
        every: u64 = 1000, Range::from(1.0), Ours, "steps between checkpoints; the last step always has one";
        keep: Keep = Keep::Last, Range::Any, Ours, "which stay; none: not even the last, once the run is done";
    }
}

named! {
    /// Which checkpoints stay.
    Keep {
        /// The last one.
        Last = "last",
        /// None once the run is done: its results are all that is wanted.
        None = "none",
        /// All.
        All = "all",
        /// The last, and those at steps 1, 2, 4, 8 and so on, which are then saved too.
        LogSpaced = "log-spaced",
    }
}

impl CheckpointConfig {
    /// Whether a run is saved at a step.
    pub fn at(&self, step: u64) -> bool {
        step.is_multiple_of(self.every) || (self.keep == Keep::LogSpaced && step.is_power_of_two())
    }

    /// Whether the checkpoint of a step stays when a later one is there.
    pub fn stays(&self, step: u64) -> bool {
        match self.keep {
            Keep::None | Keep::Last => false,
            Keep::All => self.at(step),
            Keep::LogSpaced => step.is_power_of_two(),
        }
    }
}
