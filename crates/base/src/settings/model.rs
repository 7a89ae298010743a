//! `[model]`

use super::Range;
use crate::{named, settings};

settings! {
    /// `[model]`: a decoder-only transformer, its vocabulary being the tokenizer's.
    ModelConfig in "model", "a decoder-only transformer; its vocabulary is the tokenizer's" {
        kind: ModelKind = ModelKind::Llama, Range::Any, Ours + neutral,
            "Llama (RMSNorm, rotary positions, SwiGLU, no biases) or GPT-2 (LayerNorm, learned positions, GELU, biases)";
        tied: bool = false, Range::Any, Ours + neutral, "whether embedding and head share one matrix";
        layers: usize = 4, Range::from(1.0), Paper, "transformer blocks";
        width: usize = 256, Range::Words("a multiple of 2 × heads"), Paper, "size of the residual stream";
        heads: usize = 8, Range::Words("width must be a multiple of 2 × heads"), Ours, "attention heads";
        hidden: usize = 704, Range::from(1.0), Ours, "width of the MLP's inside: of the SwiGLU, or of GPT-2's GELU, where 4 × width is usual";
        context: usize = 256, Range::from(1.0), Paper + probes, "longest sequence, in tokens; longer ones are redrawn";
        rope_theta: f64 = 1e4, Range::above(0.0), Ours, "base of the rotary frequencies; GPT-2 has none";
        norm_eps: f64 = 1e-5, Range::from(0.0), Ours, "added to the mean square in RMSNorm, to the variance in LayerNorm";
        init_std: f64 = 0.02, Range::from(0.0), Ours, "standard deviation of the initial weights";
    }
}

named! {
    /// The architecture of a model.
    ModelKind {
        /// RMSNorm, rotary positions, SwiGLU, no biases.
        Llama = "llama",
        /// LayerNorm with bias, learned positions, GELU, biases.
        Gpt2 = "gpt2",
    }
}
