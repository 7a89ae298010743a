//! Checkpoints on disk: contents, and errors of bad files.

use crate::common::{every_kind, small};
use invitro_base::sealed;
use invitro_model::{Checkpoint, Device, Error, Layout, ModelKind, Population, Shape};
use safetensors::SafeTensors;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn saved(folder: &Path) -> (Checkpoint, PathBuf) {
    saved_of(&small(), folder)
}

fn saved_of(shape: &Shape, folder: &Path) -> (Checkpoint, PathBuf) {
    let mut population = Population::new(Device::Cpu, shape, &[1], 4).unwrap();
    let note = BTreeMap::from([("run".to_string(), "x".to_string()), ("a".to_string(), "b".to_string())]);
    let checkpoint = population.checkpoint(0, 12, note).unwrap();
    let path = folder.join("step-12.safetensors");
    checkpoint.save(&path).unwrap();
    (checkpoint, path)
}

fn refusal(path: &Path) -> String {
    match Checkpoint::load(path) {
        Err(Error::File(message)) => message.replace(&format!("{}: ", path.display()), ""),
        other => panic!("{other:?} is no refusal"),
    }
}

#[test]
fn what_is_saved_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let (checkpoint, path) = saved(folder.path());
    assert_eq!(Checkpoint::load(&path).unwrap(), checkpoint);
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["step-12.safetensors"], "nothing else stays behind");
    let again = folder.path().join("again.safetensors");
    checkpoint.save(&again).unwrap();
    assert!(std::fs::read(&again).unwrap() == std::fs::read(&path).unwrap(), "the same checkpoint, the same bytes");
}

#[test]
fn the_header_can_be_read_by_anyone() {
    let folder = tempfile::tempdir().unwrap();
    let (_, path) = saved(folder.path());
    let bytes = std::fs::read(&path).unwrap();
    let (_, metadata) = SafeTensors::read_metadata(&bytes).unwrap();
    let entry = &metadata.metadata().as_ref().unwrap()["invitro"];
    let header: serde_json::Value = serde_json::from_str(entry).unwrap();
    assert_eq!((header["schema"].as_u64(), header["step"].as_u64()), (Some(2), Some(12)));
    assert_eq!(header["shape"]["width"], 32);
    assert_eq!(header["metadata"]["run"], "x");
    let tensor = metadata.info("variance.layers.1.gate_up").unwrap();
    assert_eq!(tensor.shape, [80, 32]);
}

#[test]
fn bad_files_are_named_for_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let (_, path) = saved(folder.path());
    let whole = std::fs::read(&path).unwrap();
    let bad = folder.path().join("bad.safetensors");

    for cut in [0, 4, 100, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&bad, &whole[..cut]).unwrap();
        let message = refusal(&bad);
        assert!(message.contains("truncated"), "cut to {cut}: {message}");
    }
    std::fs::write(&bad, b"a text of some length, and no tensors in it").unwrap();
    assert!(refusal(&bad).starts_with("not a safetensors file"));

    let none: Vec<(&str, safetensors::tensor::TensorView)> = Vec::new();
    std::fs::write(&bad, safetensors::serialize(none, None).unwrap()).unwrap();
    assert_eq!(refusal(&bad), "a safetensors file, but not a checkpoint of invitro");

    // Changed by someone who knows how to seal a file.
    let replace = |from: &str, to: &str| {
        let header = u64::from_le_bytes(whole[..8].try_into().unwrap()) as usize;
        let text = String::from_utf8(whole[8..8 + header].to_vec()).unwrap();
        assert!(text.contains(from));
        let text = text.replace(from, to);
        let mut changed = [&(text.len() as u64).to_le_bytes(), text.as_bytes(), &whole[8 + header..]].concat();
        assert!(sealed::seal(&mut changed, 8..8 + text.len()));
        std::fs::write(&bad, changed).unwrap();
    };
    replace(r#"\"schema\":2"#, r#"\"schema\":1"#);
    assert_eq!(refusal(&bad), "a checkpoint with schema 1, but this version reads schema 2");
    replace("mean.layers.0.out", "mean.layers.0.foo");
    assert_eq!(refusal(&bad), "a checkpoint without mean.layers.0.out");
    replace(r#"\"hidden\":40"#, r#"\"hidden\":36"#);
    assert!(refusal(&bad).contains("weights.layers.0.gate_up is F32 of [80, 32]"), "{}", refusal(&bad));
    for size in ["vocab", "layers", "hidden"] {
        let given = serde_json::to_value(small()).unwrap()[size].to_string();
        replace(&format!(r#"\"{size}\":{given}"#), &format!(r#"\"{size}\":1000000000000"#));
        let message = refusal(&bad);
        let refused = message.starts_with("its header's shape takes") || message.ends_with("are supported");
        assert!(refused, "{message}");
    }
    assert!(refusal(&folder.path().join("none")).starts_with("cannot read"));
}

#[test]
fn a_flipped_bit_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let (checkpoint, path) = saved(folder.path());
    let whole = std::fs::read(&path).unwrap();
    for i in 0..200 {
        // Half of them in the header.
        let among = if i % 2 == 0 { 3000 } else { whole.len() };
        let mut flipped = whole.clone();
        flipped[i * 7919 % among] ^= 1 << (i % 8);
        std::fs::write(&path, flipped).unwrap();
        assert!(!refusal(&path).is_empty());
    }
    std::fs::write(&path, &whole).unwrap();
    assert_eq!(Checkpoint::load(&path).unwrap(), checkpoint);
}

#[test]
fn every_kind_is_saved_and_loaded_by_its_own_kind() {
    for shape in every_kind() {
        let folder = tempfile::tempdir().unwrap();
        let (checkpoint, path) = saved_of(&shape, folder.path());
        let loaded = Checkpoint::load(&path).unwrap();
        assert_eq!(loaded, checkpoint);
        for other in every_kind() {
            assert_eq!(loaded.fits(&other).is_ok(), other == shape);
        }
    }
    let gpt2 = Shape { kind: ModelKind::Gpt2, ..small() };
    let folder = tempfile::tempdir().unwrap();
    let message = saved(folder.path()).0.fits(&gpt2).unwrap_err().to_string();
    assert_eq!(message, "model shape: the checkpoint's kind is llama, but the model's is gpt2");
}

#[test]
fn a_checkpoint_of_another_shape_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (checkpoint, _) = saved(folder.path());
    let other = Shape { hidden: 48, ..small() };
    let mut population = Population::new(Device::Cpu, &other, &[1], 4).unwrap();
    let message = population.restore(0, &checkpoint).unwrap_err().to_string();
    assert_eq!(message, "model shape: the checkpoint's hidden is 40, but the model's is 48");
    assert_eq!(checkpoint.weights.len(), Layout::new(&small()).size);
}

#[test]
fn a_folder_that_is_not_there_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let (checkpoint, _) = saved(folder.path());
    let message = checkpoint.save(&folder.path().join("none/model.safetensors")).unwrap_err().to_string();
    assert!(message.contains("none/model.safetensors: cannot write"), "{message}");
}
