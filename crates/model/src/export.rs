//! A model as a HuggingFace folder: `config.json`, `generation_config.json` and `model.safetensors`, the Llama shape.
//!
//! Joint tensors are split into those of `transformers`. The caller adds the tokenizer's files.

use crate::{Error, Layout, Result, Shape, Tensor, tensor_file};
use serde_json::{Value, json};
use std::path::Path;

/// The special token ids for generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExportTokens {
    pub bos: Option<u32>,
    pub eos: u32,
    pub pad: u32,
}

/// Writes the folder's files, and creates the folder if necessary.
pub fn export(folder: &Path, shape: &Shape, weights: &[f32], special: ExportTokens) -> Result<()> {
    let layout = Layout::new(shape);
    if weights.len() != layout.size {
        return Err(Error::Shape(format!("{} weights to export: this shape has {}", weights.len(), layout.size)));
    }
    std::fs::create_dir_all(folder).map_err(|e| Error::File(format!("{}: cannot make: {e}", folder.display())))?;
    write_json(&folder.join("config.json"), &config(shape, special))?;
    let generation = json!({
        "bos_token_id": special.bos,
        "eos_token_id": special.eos,
        "pad_token_id": special.pad,
        "max_length": shape.context,
        "do_sample": false,
    });
    write_json(&folder.join("generation_config.json"), &generation)?;
    let tensors: Vec<(String, Tensor, &[f32])> =
        split_tensors(&layout).into_iter().map(|(_, name, tensor)| (name, tensor, &weights[tensor.range()])).collect();
    tensor_file::write(&folder.join("model.safetensors"), &tensors, ("format", "pt".to_string()))
}

/// Every tensor with invitro's name and the name in `transformers`, joint ones split.
pub fn split_tensors(layout: &Layout) -> Vec<(String, String, Tensor)> {
    let part = |tensor: Tensor, index: usize, parts: usize| {
        let rows = tensor.rows / parts;
        Tensor { offset: tensor.offset + index * rows * tensor.cols, rows, cols: tensor.cols }
    };
    let mut tensors = vec![("embed".to_string(), "model.embed_tokens.weight".to_string(), layout.embed)];
    for (l, layer) in layout.layers.iter().enumerate() {
        for (own, name, tensor) in [
            ("norm1", "input_layernorm", layer.norm1),
            ("q", "self_attn.q_proj", part(layer.qkv, 0, 3)),
            ("k", "self_attn.k_proj", part(layer.qkv, 1, 3)),
            ("v", "self_attn.v_proj", part(layer.qkv, 2, 3)),
            ("out", "self_attn.o_proj", layer.out),
            ("norm2", "post_attention_layernorm", layer.norm2),
            ("gate", "mlp.gate_proj", part(layer.gate_up, 0, 2)),
            ("up", "mlp.up_proj", part(layer.gate_up, 1, 2)),
            ("down", "mlp.down_proj", layer.down),
        ] {
            tensors.push((format!("layers.{l}.{own}"), format!("model.layers.{l}.{name}.weight"), tensor));
        }
    }
    tensors.push(("norm".to_string(), "model.norm.weight".to_string(), layout.norm));
    tensors.push(("head".to_string(), "lm_head.weight".to_string(), layout.head));
    tensors
}

fn config(shape: &Shape, special: ExportTokens) -> Value {
    json!({
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": shape.vocab,
        "hidden_size": shape.width,
        "intermediate_size": shape.hidden,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.heads,
        "head_dim": shape.head_width(),
        "hidden_act": "silu",
        "max_position_embeddings": shape.context,
        "rms_norm_eps": shape.norm_eps,
        "initializer_range": shape.init_std,
        // The first for older versions of transformers, the second for newer ones.
        "rope_theta": shape.rope_theta,
        "rope_parameters": { "rope_type": "default", "rope_theta": shape.rope_theta },
        "attention_bias": false,
        "mlp_bias": false,
        "attention_dropout": 0.0,
        "tie_word_embeddings": false,
        "use_cache": true,
        "bos_token_id": special.bos,
        "eos_token_id": special.eos,
        "pad_token_id": special.pad,
        "torch_dtype": "float32",
    })
}

fn write_json(path: &Path, value: &Value) -> Result<()> {
    invitro_base::files::write(path, format!("{value:#}\n")).map_err(|error| Error::writing(path, error))
}
