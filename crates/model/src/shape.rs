//! The sizes of a Llama-shaped model.

use crate::{Error, Result};
use invitro_base::settings::ModelConfig;
use serde::{Deserialize, Serialize};

/// Larger models fit no machine, and their sizes would overflow integers.
const MOST_PARAMETERS: u128 = 10_000_000_000_000;
const MOST_CONTEXT: usize = 1 << 24;

/// Sizes of a decoder-only transformer: RMSNorm, rotary positions, SwiGLU, an untied head, no biases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    pub layers: usize,
    pub width: usize,
    pub heads: usize,
    /// The hidden width of the SwiGLU.
    pub hidden: usize,
    /// The longest sequence, in tokens.
    pub context: usize,
    pub vocab: usize,
    /// Base of the rotary frequencies.
    pub rope_theta: f64,
    pub norm_eps: f64,
    /// Standard deviation of the initial weights.
    pub init_std: f64,
}

impl Shape {
    /// A model of these settings for a vocabulary.
    pub fn new(config: &ModelConfig, vocab: usize) -> Self {
        let ModelConfig { layers, width, heads, hidden, context, rope_theta, norm_eps, init_std } = *config;
        Shape { layers, width, heads, hidden, context, vocab, rope_theta, norm_eps, init_std }
    }

    /// The paper's model for a vocabulary: 4 layers of width 256, context 256.
    pub fn paper(vocab: usize) -> Self {
        Shape::new(&ModelConfig::default(), vocab)
    }

    pub fn head_width(&self) -> usize {
        self.width / self.heads
    }

    /// Floating-point operations of one training step over `tokens` tokens whose sequences average `length`.
    pub fn train_flops(&self, tokens: f64, length: f64) -> f64 {
        // Every token is multiplied with all parameters but the embedding and the gains.
        let layer = 4 * self.width * self.width + 3 * self.width * self.hidden;
        let parameters = self.layers * layer + self.width * self.vocab;
        6.0 * parameters as f64 * tokens + 6.0 * (self.layers * self.width) as f64 * length * tokens
    }

    /// The number of parameters, without overflow.
    pub(crate) fn parameters(&self) -> u128 {
        let [layers, width, hidden, vocab] =
            [self.layers, self.width, self.hidden, self.vocab].map(|size| size as u128);
        let times = u128::saturating_mul;
        let layer = times(width, 4 * width + 3 * hidden + 2);
        times(layers, layer).saturating_add(times(width, 2 * vocab + 1))
    }

    /// The sizes, and the floats that a trained model depends on.
    pub(crate) fn numbers(&self) -> ([(&'static str, usize); 6], [(&'static str, f64); 2]) {
        let sizes = [
            ("layers", self.layers),
            ("width", self.width),
            ("heads", self.heads),
            ("hidden", self.hidden),
            ("context", self.context),
            ("vocab", self.vocab),
        ];
        (sizes, [("rope_theta", self.rope_theta), ("norm_eps", self.norm_eps)])
    }

    /// Checks the sizes.
    pub fn validate(&self) -> Result<()> {
        let wrong = |text: String| Err(Error::Shape(text));
        let (sizes, floats) = self.numbers();
        if let Some((name, _)) = sizes.into_iter().find(|&(_, size)| size == 0) {
            return wrong(format!("{name} is 0, but must be at least 1"));
        }
        for (name, value) in floats.into_iter().chain([("init_std", self.init_std)]) {
            let zero = name != "rope_theta";
            if !(value as f32).is_finite() || value < 0.0 || (value == 0.0 && !zero) {
                let allowed = if zero { "a number of at least 0" } else { "a number above 0" };
                return wrong(format!("{name} is {value}, but must be {allowed}"));
            }
        }
        if !self.width.is_multiple_of(self.heads) || !self.head_width().is_multiple_of(2) {
            return wrong(format!(
                "width {} over {} heads: the width must be a multiple of twice the heads",
                self.width, self.heads
            ));
        }
        if self.parameters() > MOST_PARAMETERS || self.context > MOST_CONTEXT {
            return wrong(format!(
                "{} parameters and a context of {}: at most {MOST_PARAMETERS} and {MOST_CONTEXT} are supported",
                self.parameters(),
                self.context
            ));
        }
        Ok(())
    }
}
