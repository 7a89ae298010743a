//! `[model]`

use super::Range;
use crate::settings;

settings! {
    /// `[model]`: a decoder-only transformer, its vocabulary being the tokenizer's.
    ModelConfig in "model", "a decoder-only transformer; its vocabulary is the tokenizer's" {
        layers: usize = 4, Range::from(1.0), Paper, "transformer blocks";
        width: usize = 256, Range::Words("a multiple of 2 × heads"), Paper, "size of the residual stream";
        heads: usize = 8, Range::Words("width must be a multiple of 2 × heads"), Ours, "attention heads";
        hidden: usize = 704, Range::from(1.0), Ours, "width of the SwiGLU's inside";
        context: usize = 256, Range::from(1.0), Paper + probes, "longest sequence, in tokens; longer ones are redrawn";
        rope_theta: f64 = 1e4, Range::above(0.0), Ours, "base of the rotary frequencies";
        norm_eps: f64 = 1e-5, Range::from(0.0), Ours, "added to the mean square in RMSNorm";
        init_std: f64 = 0.02, Range::from(0.0), Ours, "standard deviation of the initial weights";
    }
}
