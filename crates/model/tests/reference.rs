//! Logits, losses and gradients against `reference/reference.safetensors`, which `reference/make_reference.py` wrote:
//! an independent PyTorch program, padded, with autograd.

use invitro_model::cpu::{Cpu, MatmulFloat};
use invitro_model::export::{ExportedTensor, exported_tensors};
use invitro_model::{Batch, Layout, Ops, Shape, TokenSequence, Transformer, Vector};
use safetensors::SafeTensors;
use safetensors::tensor::Dtype;

fn numbers(file: &SafeTensors, name: &str) -> Vec<f64> {
    let tensor = file.tensor(name).unwrap();
    let data = tensor.data();
    match tensor.dtype() {
        Dtype::F64 => data.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect(),
        Dtype::F32 => data.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap()) as f64).collect(),
        Dtype::I32 => data.chunks_exact(4).map(|b| i32::from_le_bytes(b.try_into().unwrap()) as f64).collect(),
        other => panic!("{name} is {other:?}"),
    }
}

/// The largest difference, over the largest value.
fn difference(got: impl Iterator<Item = f64>, expected: &[f64]) -> f64 {
    let largest = expected.iter().fold(1e-30f64, |a, b| a.max(b.abs()));
    got.zip(expected).map(|(g, e)| (g - e).abs() / largest).fold(0.0, f64::max)
}

fn agrees<F: MatmulFloat>(tolerance: f64) {
    let bytes = include_bytes!("reference/reference.safetensors");
    let file = SafeTensors::deserialize(bytes).unwrap();
    let sizes = numbers(&file, "sizes");
    let [layers, width, heads, hidden, vocab] = std::array::from_fn(|i| sizes[i] as usize);
    let shape =
        Shape { layers, width, heads, hidden, context: 16, rope_theta: 500.0, norm_eps: 1e-5, ..Shape::paper(vocab) };
    let tensors = exported_tensors(&shape, &Layout::new(&shape));

    let (tokens, lengths) = (numbers(&file, "tokens"), numbers(&file, "lengths"));
    let padded = tokens.len() / lengths.len();
    let sequences: Vec<TokenSequence> = lengths
        .iter()
        .zip(tokens.chunks(padded))
        .map(|(&rows, row)| TokenSequence {
            tokens: row[..rows as usize + 1].iter().map(|&t| t as u32).collect(),
            group: 0,
        })
        .collect();
    let batch = Batch::pack(&[sequences], 1, shape.context).unwrap();

    let mut ops = Cpu::<F>::new(&shape, 1, batch.rows).unwrap();
    for ExportedTensor { name, tensor, .. } in &tensors {
        let weights = numbers(&file, &format!("weight.{name}"));
        let own = &mut ops.vector_mut(0, Vector::Weights)[tensor.range()];
        own.iter_mut().zip(&weights).for_each(|(own, &given)| *own = F::from_f64(given));
    }
    let mut model = Transformer::new(ops, batch.rows).unwrap();

    let logits = model.logits(&batch).unwrap();
    let off = difference(logits.iter().map(|l| l.f64()), &numbers(&file, "logits"));
    assert!(off < tolerance, "logits off by {off}");

    let losses = numbers(&file, "losses");
    let loss = model.gradients(&batch, &[]).unwrap()[0].mean();
    let expected = losses.iter().sum::<f64>() / losses.len() as f64;
    assert!((loss - expected).abs() < tolerance, "loss {loss} is not {expected}");

    for ExportedTensor { name, tensor, .. } in &tensors {
        let expected = numbers(&file, &format!("gradient.{name}"));
        assert_eq!(expected.len(), tensor.len());
        let got = model.ops.vector(0, Vector::Gradients)[tensor.range()].iter().map(|g| g.f64());
        let off = difference(got, &expected);
        println!("{name:<48} {off:.1e}");
        assert!(off < tolerance, "the gradient of {name} is off by {off}");
    }
    assert_eq!(model.ops.members(), 1);
}

#[test]
fn in_f64() {
    agrees::<f64>(1e-10);
}

#[test]
fn in_f32() {
    agrees::<f32>(1e-5);
}
