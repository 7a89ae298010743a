//! The sections `[model]`, `[eval]` and `[checkpoint]` of an experiment file. Defaults are those of the preset `paper`.

use crate::error::{Error, Result};
use invitro_model::Shape;
use serde::{Deserialize, Serialize};

/// `[model]`: a decoder-only transformer, its vocabulary being the tokenizer's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelConfig {
    pub layers: usize,
    pub width: usize,
    pub heads: usize,
    /// Width of the SwiGLU's inside.
    pub hidden: usize,
    /// The longest sequence, in tokens; longer ones are redrawn.
    pub context: usize,
    /// Base of the rotary frequencies.
    pub rope_theta: f64,
    pub norm_eps: f64,
    /// Standard deviation of the initial weights.
    pub init_std: f64,
}

impl Default for ModelConfig {
    fn default() -> Self {
        let Shape { layers, width, heads, hidden, context, rope_theta, norm_eps, init_std, .. } = Shape::paper(1);
        ModelConfig { layers, width, heads, hidden, context, rope_theta, norm_eps, init_std }
    }
}

impl ModelConfig {
    pub fn shape(&self, vocab: usize) -> Shape {
        let ModelConfig { layers, width, heads, hidden, context, rope_theta, norm_eps, init_std } = *self;
        Shape { layers, width, heads, hidden, context, vocab, rope_theta, norm_eps, init_std }
    }
}

/// `[eval]`: when a model is judged, and on how much.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EvalConfig {
    /// Steps between evaluations; 0 for one at the last step alone.
    pub every: u64,
    /// Further evaluations before the first of these, each at half the step of the next.
    pub early: u32,
    /// Steps at which there is one too, wherever something is expected to happen.
    pub also: Vec<u64>,
    /// Prompts of T1, per condition.
    pub sentences: usize,
    /// Sampled sentences of T0 and of T2, per condition.
    pub samples: usize,
    /// The temperature they are sampled at.
    pub temperature: f64,
    /// Subjects of reachability.
    pub subjects: usize,
    /// Targets of each set, per subject, at most.
    pub targets: usize,
    /// Words of a contrast, masked and unmasked, or all there are.
    pub words: usize,
    /// Whether the words of the contrast are put to the model in other forms, too.
    pub forms: bool,
    /// Whether the inside of the model is measured, layer by layer.
    pub inside: bool,
    /// Held-out sequences for the loss, per condition and of the training mixture.
    pub losses: usize,
    /// Rows of training text that the n-gram models are counted on.
    pub ngram_rows: u64,
    /// A metric has emerged at the first evaluated step at which it exceeds this.
    pub emergence: f64,
    /// Decoded sentences written to `samples.jsonl`, per condition and task.
    pub kept: usize,
}

impl Default for EvalConfig {
    fn default() -> Self {
        EvalConfig {
            every: 500,
            early: 5,
            also: Vec::new(),
            sentences: 100,
            samples: 32,
            temperature: 1.0,
            subjects: 48,
            targets: 20,
            words: 200,
            forms: false,
            inside: false,
            losses: 128,
            ngram_rows: 20_000,
            emergence: 0.02,
            kept: 6,
        }
    }
}

impl EvalConfig {
    pub fn validate(&self) -> Result<()> {
        let whole = [
            ("eval.sentences", self.sentences, 1, 100_000),
            ("eval.samples", self.samples, 0, 100_000),
            ("eval.subjects", self.subjects, 2, 100_000),
            ("eval.targets", self.targets, 1, 100_000),
            ("eval.words", self.words, 2, 100_000),
            ("eval.losses", self.losses, 1, 100_000),
            ("eval.ngram_rows", self.ngram_rows as usize, 1, 100_000_000),
            ("eval.early", self.early as usize, 0, 40),
            ("eval.kept", self.kept, 0, 100_000),
        ];
        for (key, given, least, most) in whole {
            range((least..=most).contains(&given), key, given, format!("{least} to {most}"))?;
        }
        let warm = self.temperature > 0.0 && self.temperature.is_finite();
        range(warm, "eval.temperature", self.temperature, "above 0")?;
        range((0.0..1.0).contains(&self.emergence), "eval.emergence", self.emergence, "at least 0 and below 1")
    }

    /// The steps at which a run of `steps` is evaluated, rising.
    ///
    /// ```
    /// let eval = invitro_lab::EvalConfig { every: 100, early: 2, ..Default::default() };
    /// assert_eq!(eval.at(250), [0, 25, 50, 100, 200, 250]);
    /// ```
    pub fn at(&self, steps: u64) -> Vec<u64> {
        if self.every == 0 {
            return vec![steps];
        }
        let early = (1..=self.early).map(|halvings| self.every.checked_shr(halvings).unwrap_or(0));
        let mut at: Vec<u64> = [0, steps].into_iter().chain(early).chain(self.also.iter().copied()).collect();
        at.extend((1..=steps / self.every).map(|i| i * self.every));
        at.retain(|&step| step <= steps);
        at.sort_unstable();
        at.dedup();
        at
    }
}

/// `[checkpoint]`: how often a run is saved, and what stays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CheckpointConfig {
    /// Steps between checkpoints; the last step always has one.
    pub every: u64,
    pub keep: Keep,
}

/// Which checkpoints stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// None once the run is done: its results are all that is wanted.
    None,
    Last,
    All,
    /// The last, and those at steps 1, 2, 4, 8 and so on, which are then saved too.
    LogSpaced,
}

impl Default for CheckpointConfig {
    fn default() -> Self {
        CheckpointConfig { every: 1000, keep: Keep::Last }
    }
}

impl CheckpointConfig {
    pub fn validate(&self) -> Result<()> {
        range(self.every >= 1, "checkpoint.every", self.every, "at least 1")
    }

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

fn range(holds: bool, key: &'static str, given: impl ToString, allowed: impl ToString) -> Result<()> {
    if holds {
        return Ok(());
    }
    Err(Error::Range { key, given: given.to_string(), allowed: allowed.to_string() })
}
