//! An export is what `transformers` expects: checked here by name and size, and by `transformers` itself where the
//! environment variable INVITRO_PYTHON names an interpreter that has it.

use crate::common::{sequences, small};
use invitro_model::export::{ExportTokens, export};
use invitro_model::{Batch, Device, Layout, Ops, Population, Prompt, Sampling, Transformer, Update, Vector};
use safetensors::SafeTensors;
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

const SPECIAL: ExportTokens = ExportTokens { bos: None, eos: 1, pad: 0 };

/// A population of one with clear logits, exported.
fn exported(folder: &Path) -> Population {
    let mut population = Population::new(Device::Cpu, &small(), &[3], 8).unwrap();
    let mut weights = population.read(0, Vector::Weights).unwrap();
    // Larger matrices, and gains that are not all one.
    weights
        .iter_mut()
        .enumerate()
        .for_each(|(i, w)| *w = if *w == 1.0 { 1.0 + (i % 5) as f32 * 0.1 } else { *w * 8.0 });
    population.write(0, Vector::Weights, &weights).unwrap();
    export(folder, &small(), &weights, SPECIAL).unwrap();
    population
}

#[test]
fn names_and_sizes() {
    let folder = tempfile::tempdir().unwrap();
    let mut population = exported(folder.path());
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
    let value = &weights[layout.layers[0].qkv.offset + 2 * 32 * 32..][..32 * 32];
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
fn transformers_loads_it_and_agrees() {
    let Ok(python) = std::env::var("INVITRO_PYTHON") else {
        assert!(std::env::var("CI").is_err(), "INVITRO_PYTHON is not set, and CI needs it");
        // Not captured, unlike what a passing test prints.
        let test = std::thread::current().name().unwrap_or_default().to_owned();
        let _ = writeln!(std::io::stderr(), "skipped {test}: INVITRO_PYTHON is not set");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let mut population = exported(folder.path());
    let weights = population.read(0, Vector::Weights).unwrap();
    let sequence = sequences(&small(), &[40], 1);
    let tokens = sequence[0].tokens[..40].to_vec();
    let prompt = Prompt { tokens: tokens[..5].to_vec(), sampling: Sampling::Greedy, most: 10, key: 0 };
    let decoded = population.decode(&[vec![prompt]], SPECIAL.eos).unwrap().remove(0).remove(0);
    let ending = decoded.ended.then_some(SPECIAL.eos);
    let decoded: Vec<u32> = decoded.tokens.into_iter().chain(ending).collect();

    let batch = Batch::pack(&[sequence], 1, small().context).unwrap();
    let mut ops = invitro_model::cpu::Cpu::<f32>::new(&small(), 1, 40).unwrap();
    ops.write(0, Vector::Weights, &weights).unwrap();
    let mut model = Transformer::new(ops, 40).unwrap();
    let logits = model.logits(&batch, &Update::none()).unwrap();
    let rows: Vec<&[f32]> = logits.chunks(small().vocab).collect();
    let expected = json!({ "tokens": tokens, "logits": rows, "decoded": decoded });
    std::fs::write(folder.path().join("expected.json"), expected.to_string()).unwrap();

    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/load_export.py");
    let output = Command::new(python).arg(script).arg(folder.path()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    println!("{}", text(&output.stdout));
}
