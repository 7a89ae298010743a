//! A model as a HuggingFace folder: `config.json`, `generation_config.json` and `model.safetensors`, as `LlamaForCausalLM` or
//! `GPT2LMHeadModel`.
//!
//! Joint tensors of Llama are split, and matrices of GPT-2 transposed, as in `transformers`. The caller adds the tokenizer's files.

use crate::{Error, Layout, Result, Shape, Tensor, tensor_file};
use invitro_base::settings::ModelKind;
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
    let named = exported_tensors(shape, &layout).into_iter().map(|one| one.with_values(weights));
    let named: Vec<(String, Tensor, Vec<f32>)> = named.collect();
    let tensors: Vec<_> = named.iter().map(|(name, tensor, values)| (name.clone(), *tensor, &values[..])).collect();
    tensor_file::write(&folder.join("model.safetensors"), &tensors, ("format", "pt".to_string()))
}

/// A tensor of the exported model.
pub struct ExportedTensor {
    /// Its name in invitro, which keys its initial values.
    pub own: String,
    /// Its name in `transformers`.
    pub name: String,
    /// Where it is, as a matrix (out, in).
    pub tensor: Tensor,
    /// Whether `transformers` has it as (in, out).
    pub transposed: bool,
}

impl ExportedTensor {
    /// Its name, size and values in `transformers`.
    fn with_values(self, weights: &[f32]) -> (String, Tensor, Vec<f32>) {
        let Tensor { rows, cols, .. } = self.tensor;
        let own = &weights[self.tensor.range()];
        if !self.transposed {
            return (self.name, self.tensor, own.to_vec());
        }
        let values = (0..cols).flat_map(|column| (0..rows).map(move |row| own[row * cols + column])).collect();
        (self.name, Tensor { rows: cols, cols: rows, ..self.tensor }, values)
    }
}

/// Every tensor of the exported model.
pub fn exported_tensors(shape: &Shape, layout: &Layout) -> Vec<ExportedTensor> {
    let mut all = Vec::new();
    let mut push = |own: &str, name: &str, tensor: Option<Tensor>, transposed: bool| {
        let (own, name) = (own.to_owned(), name.to_owned());
        all.extend(tensor.map(|tensor| ExportedTensor { own, name, tensor, transposed }));
    };
    let untied = (!shape.tied).then_some(layout.head.weight);
    match shape.kind {
        ModelKind::Llama => {
            push("embed", "model.embed_tokens.weight", Some(layout.embed), false);
            for (l, layer) in layout.layers.iter().enumerate() {
                for (own, name, tensor) in [
                    ("norm1", "input_layernorm", layer.norm1.gain),
                    ("q", "self_attn.q_proj", part(layer.qkv.weight, 0, 3)),
                    ("k", "self_attn.k_proj", part(layer.qkv.weight, 1, 3)),
                    ("v", "self_attn.v_proj", part(layer.qkv.weight, 2, 3)),
                    ("out", "self_attn.o_proj", layer.out.weight),
                    ("norm2", "post_attention_layernorm", layer.norm2.gain),
                    ("gate", "mlp.gate_proj", part(layer.gate_up.weight, 0, 2)),
                    ("up", "mlp.up_proj", part(layer.gate_up.weight, 1, 2)),
                    ("down", "mlp.down_proj", layer.down.weight),
                ] {
                    let (own, name) = (format!("layers.{l}.{own}"), format!("model.layers.{l}.{name}.weight"));
                    push(&own, &name, Some(tensor), false);
                }
            }
            push("norm", "model.norm.weight", Some(layout.norm.gain), false);
        }
        ModelKind::Gpt2 => {
            push("embed", "transformer.wte.weight", Some(layout.embed), false);
            push("positions", "transformer.wpe.weight", layout.positions, false);
            for (l, layer) in layout.layers.iter().enumerate() {
                for (own, name, weight, bias) in [
                    ("norm1", "ln_1", layer.norm1.gain, layer.norm1.bias),
                    ("qkv", "attn.c_attn", layer.qkv.weight, layer.qkv.bias),
                    ("out", "attn.c_proj", layer.out.weight, layer.out.bias),
                    ("norm2", "ln_2", layer.norm2.gain, layer.norm2.bias),
                    ("up", "mlp.c_fc", layer.gate_up.weight, layer.gate_up.bias),
                    ("down", "mlp.c_proj", layer.down.weight, layer.down.bias),
                ] {
                    let (own, name) = (format!("layers.{l}.{own}"), format!("transformer.h.{l}.{name}"));
                    push(&own, &format!("{name}.weight"), Some(weight), weight.offset < layout.decayed);
                    push(&format!("{own}.bias"), &format!("{name}.bias"), bias, false);
                }
            }
            push("norm", "transformer.ln_f.weight", Some(layout.norm.gain), false);
            push("norm.bias", "transformer.ln_f.bias", layout.norm.bias, false);
        }
    }
    push("head", "lm_head.weight", untied, false);
    all
}

/// Some rows of a joint tensor.
fn part(tensor: Tensor, index: usize, parts: usize) -> Tensor {
    let rows = tensor.rows / parts;
    Tensor { offset: tensor.offset + index * rows * tensor.cols, rows, cols: tensor.cols }
}

fn config(shape: &Shape, special: ExportTokens) -> Value {
    let of_kind = match shape.kind {
        ModelKind::Llama => llama_config(shape),
        ModelKind::Gpt2 => gpt2_config(shape),
    };
    let mut config = json!({
        "vocab_size": shape.vocab,
        "initializer_range": shape.init_std,
        "tie_word_embeddings": shape.tied,
        "use_cache": true,
        "bos_token_id": special.bos,
        "eos_token_id": special.eos,
        "pad_token_id": special.pad,
        "torch_dtype": "float32",
    });
    if let (Value::Object(config), Value::Object(more)) = (&mut config, of_kind) {
        config.extend(more);
    }
    config
}

fn llama_config(shape: &Shape) -> Value {
    json!({
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": shape.width,
        "intermediate_size": shape.hidden,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.heads,
        "head_dim": shape.head_width(),
        "hidden_act": "silu",
        "max_position_embeddings": shape.context,
        "rms_norm_eps": shape.norm_eps,
        // The first for older versions of transformers, the second for newer ones.
        "rope_theta": shape.rope_theta,
        "rope_parameters": { "rope_type": "default", "rope_theta": shape.rope_theta },
        "attention_bias": false,
        "mlp_bias": false,
        "attention_dropout": 0.0,
    })
}

fn gpt2_config(shape: &Shape) -> Value {
    json!({
        "architectures": ["GPT2LMHeadModel"],
        "model_type": "gpt2",
        "n_embd": shape.width,
        "n_inner": shape.hidden,
        "n_layer": shape.layers,
        "n_head": shape.heads,
        "n_positions": shape.context,
        "activation_function": "gelu_new",
        "layer_norm_epsilon": shape.norm_eps,
        "scale_attn_weights": true,
        "embd_pdrop": 0.0,
        "attn_pdrop": 0.0,
        "resid_pdrop": 0.0,
    })
}

fn write_json(path: &Path, value: &Value) -> Result<()> {
    invitro_base::files::write(path, format!("{value:#}\n")).map_err(|error| Error::writing(path, error))
}
