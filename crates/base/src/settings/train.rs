//! `[train]`
//!
//! ```
//! use invitro_base::settings::TrainConfig;
//! let train = TrainConfig::default();
//! assert_eq!(train.rate(256), 1e-4); // the end of the warm-up
//! assert_eq!(train.rate(10_000), 0.0);
//! ```

use super::{Range, Section, SettingError, require};
use crate::{named, settings};

settings! {
    /// `[train]`: steps, batch and AdamW.
    TrainConfig in "train", "steps, batch and AdamW" {
        steps: u64 = 10_000, Range::from(0.0), Paper + probes, "training steps";
        batch: usize = 64, Range::from(1.0), Paper + probes, "sequences of a step";
        lr: f64 = 1e-4, Range::from(0.0), Paper, "highest learning rate, reached after the warm-up";
        warmup: u64 = 256, Range::from(0.0), Paper, "steps in which the learning rate rises";
        decay: Decay = Decay::Cosine, Range::Any, Paper,
            "how it falls from there: to 0 at the last step, or not, so that steps can be raised";
        beta1: f64 = 0.9, Range::to_below(0.0, 1.0), Paper, "decay of AdamW's first moment";
        beta2: f64 = 0.95, Range::to_below(0.0, 1.0), Paper, "decay of AdamW's second moment";
        eps: f64 = 1e-10, Range::above(0.0), Paper, "added to the root of AdamW's second moment";
        weight_decay: f64 = 0.01, Range::from(0.0), Paper, "on matrices only";
        clip: f64 = 1.0, Range::from(0.0), Ours, "largest norm of the gradient; 0 for none";
        smoothing: f64 = 0.0, Range::to_below(0.0, 1.0), Ours + neutral,
            "label smoothing: this share of every target's probability is spread evenly over the vocabulary; reported losses are without it";
    }
}

named! {
    /// What becomes of the learning rate after the warm-up.
    Decay {
        /// It falls as a cosine to 0 at the last step.
        Cosine = "cosine",
        /// It stays: a run can be given more steps.
        None = "none",
    }
}

impl TrainConfig {
    /// Learning rate of a step, counted from 1.
    pub fn rate(&self, step: u64) -> f64 {
        if step <= self.warmup {
            return self.lr * step as f64 / self.warmup as f64;
        }
        if self.decay == Decay::None {
            return self.lr;
        }
        let done = (step - self.warmup) as f64 / self.steps.saturating_sub(self.warmup).max(1) as f64;
        self.lr * 0.5 * (1.0 + libm::cos(std::f64::consts::PI * done.min(1.0)))
    }

    /// The first step up to `last` that would have had another rate with so many steps in all, if there is one.
    pub fn first_other_rate(&self, steps: u64, last: u64) -> Option<u64> {
        let other = TrainConfig { steps, ..self.clone() };
        (1..=last).find(|&step| self.rate(step) != other.rate(step))
    }

    /// Every setting in its range.
    pub fn validate(&self) -> Result<(), SettingError> {
        self.check_ranges()?;
        // A weight that was never read has a moment of 0, which is divided by this, in f32.
        let eps = self.eps as f32;
        require(eps.is_finite() && eps > 0.0, "train.eps", self.eps, "a number above 0 (of at least 1e-45)")
    }
}
