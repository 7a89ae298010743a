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
    /// The highest learning rate, reached after `warmup` steps; it then falls as a cosine to 0 at `steps`.
    pub lr: f64,
    pub warmup: u64,
    pub beta1: f64,
    pub beta2: f64,
    pub eps: f64,
    /// On matrices only.
    pub weight_decay: f64,
    /// Largest global norm of a gradient; 0 for no clipping.
    pub clip: f64,
}

impl Default for TrainConfig {
    fn default() -> Self {
        TrainConfig {
            steps: 10_000,
            batch: 64,
            lr: 1e-4,
            warmup: 256,
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
        let done = (step - self.warmup) as f64 / self.steps.saturating_sub(self.warmup).max(1) as f64;
        self.lr * 0.5 * (1.0 + (std::f64::consts::PI * done.min(1.0)).cos())
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
        let wrong = |name: &str, value: f64, allowed: &str| {
            Err(Error::Train(format!("train.{name} is {value}, but must be {allowed}")))
        };
        if self.batch == 0 {
            return wrong("batch", 0.0, "at least 1");
        }
        for (name, value) in [("lr", self.lr), ("weight_decay", self.weight_decay), ("clip", self.clip)] {
            if !value.is_finite() || value < 0.0 {
                return wrong(name, value, "a number of at least 0");
            }
        }
        // A weight that was never read has a moment of 0, which is divided by this.
        let eps = self.eps as f32;
        if !eps.is_finite() || eps <= 0.0 {
            return wrong("eps", self.eps, "a number above 0 (of at least 1e-45)");
        }
        for (name, value) in [("beta1", self.beta1), ("beta2", self.beta2)] {
            if !(0.0..1.0).contains(&value) {
                return wrong(name, value, "at least 0 and below 1");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warms_up_linearly_and_falls_as_a_cosine() {
        let train = TrainConfig { steps: 1256, ..TrainConfig::default() };
        assert_eq!(train.rate(1), 1e-4 / 256.0);
        assert_eq!(train.rate(128), 0.5e-4);
        assert!((train.rate(256 + 500) - 0.5e-4).abs() < 1e-18);
        assert!(train.rate(1256).abs() < 1e-18);
        assert!((2..=256).all(|s| train.rate(s) > train.rate(s - 1)));
        assert!((257..=1256).all(|s| train.rate(s) < train.rate(s - 1)));
    }

    #[test]
    fn no_warm_up_and_no_clipping_are_possible() {
        let train = TrainConfig { warmup: 0, clip: 0.0, steps: 10, ..TrainConfig::default() };
        assert!(train.rate(1) > 0.9e-4);
        assert_eq!(train.update(1).clip, f64::INFINITY);
        assert!(train.validate().is_ok());
    }

    #[test]
    fn nonsense_is_refused() {
        let bad = TrainConfig { beta2: 1.0, ..TrainConfig::default() };
        assert_eq!(
            bad.validate().unwrap_err().to_string(),
            "training: train.beta2 is 1, but must be at least 0 and below 1"
        );
        assert!(TrainConfig { batch: 0, ..TrainConfig::default() }.validate().is_err());
        assert!(TrainConfig { eps: 0.0, ..TrainConfig::default() }.validate().is_err());
        assert!(TrainConfig { lr: f64::NAN, ..TrainConfig::default() }.validate().is_err());
    }
}
