//! The kind of a model and its sizes.

use crate::{Error, Result};
use invitro_base::settings::{ModelConfig, ModelKind};
use serde::{Deserialize, Serialize};

/// Larger models fit no machine, and their sizes would overflow integers.
const MOST_PARAMETERS: u128 = 10_000_000_000_000;
const MOST_CONTEXT: usize = 1 << 24;

/// A decoder-only transformer's kind and sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    /// Left out of files at its default, which older files have.
    #[serde(default = "llama", skip_serializing_if = "is_llama")]
    pub kind: ModelKind,
    /// Whether embedding and head are one matrix; left out of files likewise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tied: bool,
    pub layers: usize,
    pub width: usize,
    pub heads: usize,
    /// The hidden width of the MLP.
    pub hidden: usize,
    /// The longest sequence, in tokens.
    pub context: usize,
    pub vocab: usize,
    /// Base of the rotary frequencies, which GPT-2 has not.
    pub rope_theta: f64,
    pub norm_eps: f64,
    /// Standard deviation of the initial weights.
    pub init_std: f64,
}

fn llama() -> ModelKind {
    ModelKind::Llama
}

fn is_llama(kind: &ModelKind) -> bool {
    *kind == ModelKind::Llama
}

impl Shape {
    /// A model of these settings for a vocabulary.
    pub fn new(config: &ModelConfig, vocab: usize) -> Self {
        let ModelConfig { kind, tied, layers, width, heads, hidden, context, rope_theta, norm_eps, init_std } = *config;
        Shape { kind, tied, layers, width, heads, hidden, context, vocab, rope_theta, norm_eps, init_std }
    }

    /// The paper's model for a vocabulary: 4 layers of width 256, context 256.
    pub fn paper(vocab: usize) -> Self {
        Shape::new(&ModelConfig::default(), vocab)
    }

    pub fn head_width(&self) -> usize {
        self.width / self.heads
    }

    /// The width of the MLP before its activation: gate and up, or up alone.
    pub fn up_width(&self) -> usize {
        match self.kind {
            ModelKind::Llama => 2 * self.hidden,
            ModelKind::Gpt2 => self.hidden,
        }
    }

    /// The rows of the matrix of learned positions, if there is one.
    pub fn learned_positions(&self) -> Option<usize> {
        (self.kind == ModelKind::Gpt2).then_some(self.context)
    }

    /// Floating-point operations of one training step over `tokens` tokens whose sequences average `length`.
    pub fn train_flops(&self, tokens: f64, length: f64) -> f64 {
        // Every token is multiplied with the matrices of the layers and the head.
        let layer = self.width * (4 * self.width + self.up_width() + self.hidden);
        let parameters = self.layers * layer + self.width * self.vocab;
        6.0 * parameters as f64 * tokens + 6.0 * (self.layers * self.width) as f64 * length * tokens
    }

    /// The number of parameters, without overflow.
    pub(crate) fn parameters(&self) -> u128 {
        let [layers, width, hidden, context, vocab] =
            [self.layers, self.width, self.hidden, self.context, self.vocab].map(|size| size as u128);
        let times = u128::saturating_mul;
        let vocab = if self.tied { vocab } else { 2 * vocab };
        let (layer, others) = match self.kind {
            ModelKind::Llama => (times(width, 4 * width + 3 * hidden + 2), vocab + 1),
            ModelKind::Gpt2 => (times(width, 4 * width + 2 * hidden + 9).saturating_add(hidden), vocab + context + 2),
        };
        times(layers, layer).saturating_add(times(width, others))
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
