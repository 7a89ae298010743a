//! An export is what `transformers` expects: checked here by name and size, and by `transformers` itself where the
//! environment variable INVITRO_PYTHON names an interpreter that has it.

use crate::common::{clear_population, every_kind, sequences, small};
use invitro_model::export::{ExportTokens, export};
use invitro_model::{Batch, Layout, ModelKind, Ops, Population, Prompt, Sampling, Shape, Transformer, Vector};
use safetensors::SafeTensors;
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

const SPECIAL: ExportTokens = ExportTokens { bos: None, eos: 1, pad: 0 };

/// A population of one with clear logits, exported.
fn exported(shape: &Shape, folder: &Path) -> Population {
    let mut population = clear_population(shape, &[3]);
    export(folder, shape, &population.read(0, Vector::Weights).unwrap(), SPECIAL).unwrap();
    population
}

#[test]
fn names_and_sizes() {
    let folder = tempfile::tempdir().unwrap();
    let mut population = exported(&small(), folder.path());
    let bytes = std::fs::read(folder.path().join("model.safetensors")).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    assert_eq!(file.len(), 3 + 9 * small().layers);
    for (name, shape) in [
        ("model.embed_tokens.weight", &[50, 32][..]),
        ("model.layers.0.input_layernorm.weight", &[32]),
        ("model.layers.1.self_attn.k_proj.weight", &[32, 32]),
        ("model.layers.1.mlp.up_proj.weight", &[40, 32]),
        ("model.layers.1.mlp.down_proj.weight", &[32, 40]),
        ("lm_head.weight", &[50, 32]),
    ] {
        assert_eq!(file.tensor(name).unwrap().shape(), shape, "{name}");
    }
    // The value projection is the last third of the joint tensor.
    let layout = Layout::new(&small());
    let weights = population.read(0, Vector::Weights).unwrap();
    let value = &weights[layout.layers[0].qkv.weight.offset + 2 * 32 * 32..][..32 * 32];
    let bytes: Vec<u8> = value.iter().flat_map(|w| w.to_le_bytes()).collect();
    assert_eq!(file.tensor("model.layers.0.self_attn.v_proj.weight").unwrap().data(), bytes);

    let config: Value = serde_json::from_slice(&std::fs::read(folder.path().join("config.json")).unwrap()).unwrap();
    assert_eq!(config["rope_theta"], 10_000.0);
    assert_eq!(config["rope_parameters"]["rope_theta"], 10_000.0);
    assert_eq!(config["rms_norm_eps"], 1e-5);
    assert_eq!(config["tie_word_embeddings"], false);
    assert_eq!(config["head_dim"], 8);
    let wrong = export(folder.path(), &small(), &weights[1..], SPECIAL).unwrap_err().to_string();
    assert!(wrong.contains("weights to export"), "{wrong}");
}

#[test]
fn gpt2_is_transposed_and_a_tied_model_has_no_head() {
    for shape in every_kind() {
        let folder = tempfile::tempdir().unwrap();
        let mut population = exported(&shape, folder.path());
        let bytes = std::fs::read(folder.path().join("model.safetensors")).unwrap();
        let file = SafeTensors::deserialize(&bytes).unwrap();
        assert_eq!(file.tensor("lm_head.weight").is_err(), shape.tied);
        let config: Value = serde_json::from_slice(&std::fs::read(folder.path().join("config.json")).unwrap()).unwrap();
        assert_eq!(config["tie_word_embeddings"], shape.tied);
        if shape.kind == ModelKind::Llama {
            continue;
        }
        assert_eq!((&config["model_type"], &config["n_inner"]), (&json!("gpt2"), &json!(40)));
        let up = file.tensor("transformer.h.1.mlp.c_fc.weight").unwrap();
        assert_eq!(up.shape(), [32, 40]);
        // Row 0, column 1 is the weight of the second unit for the first input.
        let weights = population.read(0, Vector::Weights).unwrap();
        let own = Layout::new(&shape).layers[1].gate_up.weight;
        assert_eq!(up.data()[4..8], weights[own.offset + 32].to_le_bytes());
        assert_eq!(file.tensor("transformer.h.1.attn.c_attn.bias").unwrap().shape(), [96]);
    }
}

/// Logits, greedy decoding through the cache, and gradients of the loss, of every kind.
#[test]
fn transformers_loads_it_and_agrees() {
    let Ok(python) = std::env::var("INVITRO_PYTHON") else {
        assert!(std::env::var("CI").is_err(), "INVITRO_PYTHON is not set, and CI needs it");
        // Not captured, unlike what a passing test prints.
        let test = std::thread::current().name().unwrap_or_default().to_owned();
        let _ = writeln!(std::io::stderr(), "skipped {test}: INVITRO_PYTHON is not set");
        return;
    };
    for shape in every_kind() {
        agrees_with_transformers(&shape, &python);
    }
}

fn agrees_with_transformers(shape: &Shape, python: &str) {
    let folder = tempfile::tempdir().unwrap();
    let mut population = exported(shape, folder.path());
    let weights = population.read(0, Vector::Weights).unwrap();
    let sequence = sequences(shape, &[40], 1);
    let (tokens, targets) = (sequence[0].tokens[..40].to_vec(), sequence[0].tokens[1..].to_vec());
    let prompt = Prompt { tokens: tokens[..5].to_vec(), sampling: Sampling::Greedy, most: 10, key: 0 };
    let decoded = population.decode(&[vec![prompt]], SPECIAL.eos).unwrap().remove(0).remove(0);
    let ending = decoded.ended.then_some(SPECIAL.eos);
    let decoded: Vec<u32> = decoded.tokens.into_iter().chain(ending).collect();

    let batch = Batch::pack(&[sequence], 1, shape.context).unwrap();
    let mut ops = invitro_model::cpu::Cpu::<f32>::new(shape, 1, 40).unwrap();
    ops.write(0, Vector::Weights, &weights).unwrap();
    let mut model = Transformer::new(ops, 40).unwrap();
    let logits = model.logits(&batch).unwrap();
    let rows: Vec<&[f32]> = logits.chunks(shape.vocab).collect();
    let expected = json!({ "tokens": tokens, "targets": targets, "logits": rows, "decoded": decoded });
    std::fs::write(folder.path().join("expected.json"), expected.to_string()).unwrap();
    // The gradients are written as if they were weights.
    model.gradients(&batch, &[]).unwrap();
    let gradients = model.ops.read(0, Vector::Gradients).unwrap();
    export(&folder.path().join("gradients"), shape, &gradients, SPECIAL).unwrap();

    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/load_export.py");
    let output = Command::new(python).arg(script).arg(folder.path()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{shape:?}\n{}{}", text(&output.stdout), text(&output.stderr));
    println!("{}", text(&output.stdout));
}
