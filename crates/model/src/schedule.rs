//! How a model is trained: the configuration, and the update it gives for each step.
//!
//! ```
//! use invitro_model::TrainConfig;
//! let train = TrainConfig::default();
//! assert_eq!(train.rate(256), 1e-4); // the end of the warm-up
//! assert_eq!(train.rate(10_000), 0.0);
//! ```

use crate::ops::Update;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// Steps, batch and AdamW.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainConfig {
    pub steps: u64,
    /// Sequences per step.
    pub batch: usize,
    /// The highest learning rate, reached after `warmup` steps.
    pub lr: f64,
    pub warmup: u64,
    pub decay: Decay,
    pub beta1: f64,
    pub beta2: f64,
    pub eps: f64,
    /// On matrices only.
    pub weight_decay: f64,
    /// Largest global norm of a gradient; 0 for no clipping.
    pub clip: f64,
}

/// What becomes of the learning rate after the warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decay {
    /// It falls as a cosine to 0 at the last step.
    Cosine,
    /// It stays: a run can be given more steps.
    None,
}

impl Default for TrainConfig {
    fn default() -> Self {
        TrainConfig {
            steps: 10_000,
            batch: 64,
            lr: 1e-4,
            warmup: 256,
            decay: Decay::Cosine,
            beta1: 0.9,
            beta2: 0.95,
            eps: 1e-10,
            weight_decay: 0.01,
            clip: 1.0,
        }
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

    /// The update of a step, counted from 1.
    pub fn update(&self, step: u64) -> Update {
        Update {
            step,
            lr: self.rate(step),
            beta1: self.beta1,
            beta2: self.beta2,
            eps: self.eps,
            weight_decay: self.weight_decay,
            clip: if self.clip > 0.0 { self.clip } else { f64::INFINITY },
        }
    }

    /// Says what is wrong with the numbers, if anything is.
    pub fn validate(&self) -> Result<()> {
        let at_least_0 = |value: f64| value.is_finite() && value >= 0.0;
        let share = |value: f64| (0.0..1.0).contains(&value);
        let eps = self.eps as f32;
        let checks = [
            ("batch", self.batch as f64, self.batch > 0, "at least 1"),
            ("lr", self.lr, at_least_0(self.lr), "a number of at least 0"),
            ("weight_decay", self.weight_decay, at_least_0(self.weight_decay), "a number of at least 0"),
            ("clip", self.clip, at_least_0(self.clip), "a number of at least 0"),
            // A weight that was never read has a moment of 0, which is divided by this.
            ("eps", self.eps, eps.is_finite() && eps > 0.0, "a number above 0 (of at least 1e-45)"),
            ("beta1", self.beta1, share(self.beta1), "at least 0 and below 1"),
            ("beta2", self.beta2, share(self.beta2), "at least 0 and below 1"),
        ];
        match checks.into_iter().find(|&(_, _, right, _)| !right) {
            Some((name, value, _, allowed)) => {
                Err(Error::Train(format!("train.{name} is {value}, but must be {allowed}")))
            }
            None => Ok(()),
        }
    }
}
