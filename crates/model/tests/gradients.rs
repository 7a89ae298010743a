//! Gradients against central differences in f64: of every operation, and of the whole model.

use crate::common::{self, gpt2, naive_logits, numbers, sequences, tied, tiny};
use invitro_model::cpu::{Buffer, Cpu};
use invitro_model::{Batch, Layout, Loss, Ops, Shape, Tensor, TrainConfig, Transformer, Update, Vector};

type Buf = Buffer<f64>;

const STEP: f64 = 1e-5;

/// Two members whose spans cross a block of queries, with filler after the second's.
fn loaded(shape: &Shape) -> (Cpu<f64>, Batch) {
    let members = [sequences(shape, &[50, 3, 1], 1), sequences(shape, &[2, 17], 2)];
    let batch = Batch::pack(&members, 4, shape.context).unwrap();
    let mut ops = Cpu::new(shape, 2, batch.rows).unwrap();
    for member in 0..2 {
        let size = ops.layout().size;
        ops.vector_mut(member, Vector::Weights).copy_from_slice(&numbers(size, member as u64));
    }
    ops.load(&batch, &[]).unwrap();
    (ops, batch)
}

fn filled(ops: &mut Cpu<f64>, len: usize, seed: u64) -> Buf {
    let mut buf = ops.buf(len).unwrap();
    buf.copy_from_slice(&numbers(len, seed));
    buf
}

/// Elements of `[members, rows, wide]` that are not filler.
fn real(batch: &Batch, wide: usize) -> Vec<usize> {
    let member = |m: usize| m * batch.rows * wide..(m * batch.rows + batch.real[m]) * wide;
    (0..batch.members).flat_map(member).collect()
}

fn compare(name: &str, got: f64, expected: f64) {
    assert!((got - expected).abs() < 1e-6 * (1.0 + expected.abs()), "{name}: {got} is not {expected}");
}

/// Checks `dx`, the gradient of sum(out · along) in x, element by element.
fn check_input(
    name: &str,
    ops: &mut Cpu<f64>,
    batch: &Batch,
    (x, x_wide): (&mut Buf, usize),
    (along, out_wide): (&Buf, usize),
    dx: &Buf,
    mut run: impl FnMut(&mut Cpu<f64>, &Buf, &mut Buf),
) {
    let mut out = ops.buf(along.len()).unwrap();
    let outputs = real(batch, out_wide);
    let mut project = |ops: &mut Cpu<f64>, x: &Buf| {
        run(ops, x, &mut out);
        outputs.iter().map(|&i| out[i] * along[i]).sum::<f64>()
    };
    for i in real(batch, x_wide) {
        let original = x[i];
        x[i] = original + STEP;
        let above = project(ops, x);
        x[i] = original - STEP;
        let below = project(ops, x);
        x[i] = original;
        compare(&format!("{name}, input {i}"), dx[i], (above - below) / (2.0 * STEP));
    }
}

/// Checks the gradient of sum(out · along) in a tensor's weights.
fn check_weight(
    name: &str,
    ops: &mut Cpu<f64>,
    batch: &Batch,
    tensor: Tensor,
    (along, out_wide): (&Buf, usize),
    mut run: impl FnMut(&mut Cpu<f64>, &mut Buf),
) {
    let mut out = ops.buf(along.len()).unwrap();
    let outputs = real(batch, out_wide);
    for member in 0..2 {
        for i in tensor.range() {
            let original = ops.vector(member, Vector::Weights)[i];
            let mut at = |value: f64| {
                ops.vector_mut(member, Vector::Weights)[i] = value;
                run(ops, &mut out);
                outputs.iter().map(|&i| out[i] * along[i]).sum::<f64>()
            };
            let slope = (at(original + STEP) - at(original - STEP)) / (2.0 * STEP);
            at(original);
            compare(&format!("{name}, weight {i} of {member}"), ops.vector(member, Vector::Gradients)[i], slope);
        }
    }
}

#[test]
fn embedding() {
    for shape in [tiny(), gpt2()] {
        let (mut ops, batch) = loaded(&shape);
        let (embed, positions, len) = (ops.layout().embed, ops.layout().positions, 2 * batch.rows * shape.width);
        let along = filled(&mut ops, len, 10);
        ops.embed_backward(&along, embed).unwrap();
        for tensor in [Some(embed), positions].into_iter().flatten() {
            check_weight("embed", &mut ops, &batch, tensor, (&along, shape.width), |ops, out| {
                ops.embed(embed, out).unwrap()
            });
        }
    }
}

fn norms_of(shape: &Shape) {
    let (mut ops, batch) = loaded(shape);
    let (norm, len) = (ops.layout().layers[1].norm2, 2 * batch.rows * shape.width);
    let (mut x, along) = (filled(&mut ops, len, 11), filled(&mut ops, len, 12));
    let (mut out, mut dx) = (ops.buf(len).unwrap(), filled(&mut ops, len, 13));
    let before = dx.to_vec();
    let mut stat = ops.stat(2 * batch.rows).unwrap();
    ops.norm(&x, norm, &mut out, &mut stat).unwrap();
    ops.norm_backward(&along, &x, &stat, norm, &mut dx, true).unwrap();
    dx.iter_mut().zip(&before).for_each(|(dx, before)| *dx -= before);
    let mut written = ops.buf(len).unwrap();
    ops.norm_backward(&along, &x, &stat, norm, &mut written, false).unwrap();
    real(&batch, shape.width).into_iter().for_each(|i| compare("added and written", dx[i], written[i]));
    let mut other = ops.stat(2 * batch.rows).unwrap();
    check_input("norm", &mut ops, &batch, (&mut x, 12), (&along, 12), &dx, |ops, x, out| {
        ops.norm(x, norm, out, &mut other).unwrap()
    });
    for tensor in [Some(norm.gain), norm.bias].into_iter().flatten() {
        check_weight("norm", &mut ops, &batch, tensor, (&along, 12), |ops, out| {
            ops.norm(&x, norm, out, &mut stat).unwrap()
        });
    }
}

#[test]
fn rms_norm() {
    norms_of(&tiny());
}

#[test]
fn layer_norm() {
    norms_of(&gpt2());
}

fn linear_of(shape: &Shape) {
    let (mut ops, batch) = loaded(shape);
    let linear = ops.layout().layers[0].gate_up;
    let Tensor { rows: n, cols: k, .. } = linear.weight;
    let rows = 2 * batch.rows;
    let (mut x, along) = (filled(&mut ops, rows * k, 14), filled(&mut ops, rows * n, 15));
    let residual = filled(&mut ops, rows * n, 16);
    let mut dx = ops.buf(rows * k).unwrap();
    ops.linear_backward_input(&along, linear.weight, &mut dx).unwrap();
    ops.linear_backward_weight(&along, &x, linear).unwrap();
    check_input("linear", &mut ops, &batch, (&mut x, k), (&along, n), &dx, |ops, x, out| {
        ops.linear(x, linear, Some(&residual), out).unwrap()
    });
    for tensor in [Some(linear.weight), linear.bias].into_iter().flatten() {
        check_weight("linear", &mut ops, &batch, tensor, (&along, n), |ops, out| {
            ops.linear(&x, linear, None, out).unwrap()
        });
    }
}

#[test]
fn linear() {
    linear_of(&tiny());
}

#[test]
fn linear_with_bias() {
    linear_of(&gpt2());
}

#[test]
fn attention() {
    let shape = tiny();
    let (mut ops, batch) = loaded(&shape);
    let (rows, width) = (2 * batch.rows, shape.width);
    let (mut qkv, along) = (filled(&mut ops, rows * 3 * width, 17), filled(&mut ops, rows * width, 18));
    let (mut out, mut dqkv) = (ops.buf(rows * width).unwrap(), ops.buf(rows * 3 * width).unwrap());
    let mut log_sum = ops.stat(rows * shape.heads).unwrap();
    ops.attention(&qkv, &mut out, &mut log_sum).unwrap();
    ops.attention_backward(&qkv, &out, &log_sum, &along, &mut dqkv).unwrap();
    check_input("attention", &mut ops, &batch, (&mut qkv, 3 * width), (&along, width), &dqkv, |ops, qkv, out| {
        ops.attention(qkv, out, &mut log_sum).unwrap()
    });
}

fn activation_of(shape: &Shape) {
    let (mut ops, batch) = loaded(shape);
    let (rows, hidden, up) = (2 * batch.rows, shape.hidden, shape.up_width());
    let (mut gate_up, along) = (filled(&mut ops, rows * up, 19), filled(&mut ops, rows * hidden, 20));
    let mut dgate_up = ops.buf(rows * up).unwrap();
    ops.activate_backward(&gate_up, &along, &mut dgate_up).unwrap();
    check_input(
        "activation",
        &mut ops,
        &batch,
        (&mut gate_up, up),
        (&along, hidden),
        &dgate_up,
        |ops, gate_up, out| ops.activate(gate_up, out).unwrap(),
    );
}

#[test]
fn swiglu() {
    activation_of(&tiny());
}

#[test]
fn gelu() {
    activation_of(&gpt2());
}

/// The reported loss is without smoothing; the gradient is that of the smoothed one.
#[test]
fn smoothed_cross_entropy() {
    let shape = tiny();
    let (mut ops, batch) = loaded(&shape);
    let smoothing = [0.0, 0.3];
    let updates = smoothing.map(|smoothing| Update::at(&TrainConfig { smoothing, ..TrainConfig::default() }, 1));
    let logits = filled(&mut ops, 2 * batch.rows * shape.vocab, 21);
    let (mut plain, mut gradient) = (ops.buf(logits.len()).unwrap(), ops.buf(logits.len()).unwrap());
    plain.copy_from_slice(&logits);
    gradient.copy_from_slice(&logits);
    ops.cross_entropy(&mut plain).unwrap();
    let without = ops.losses().unwrap();
    ops.load(&batch, &updates).unwrap();
    ops.cross_entropy(&mut gradient).unwrap();
    assert_eq!(ops.losses().unwrap(), without);
    for (member, smoothing) in smoothing.into_iter().enumerate() {
        let smoothed = |logits: &[f64], target: usize| {
            let losses: Vec<f64> =
                (0..shape.vocab).map(|token| -common::log_probability(logits, token as u32)).collect();
            let mean = losses.iter().sum::<f64>() / shape.vocab as f64;
            (1.0 - smoothing) * losses[target] + smoothing * mean
        };
        for row in member * batch.rows..member * batch.rows + batch.real[member] {
            let own = row * shape.vocab..(row + 1) * shape.vocab;
            let mut at = logits[own.clone()].to_vec();
            for i in 0..shape.vocab {
                let original = at[i];
                at[i] = original + STEP;
                let above = smoothed(&at, batch.targets[row] as usize);
                at[i] = original - STEP;
                let slope = (above - smoothed(&at, batch.targets[row] as usize)) / (2.0 * STEP);
                at[i] = original;
                let rows = batch.real[member] as f64;
                compare("smoothed cross-entropy", gradient[own.start + i], slope / rows);
            }
        }
    }
    assert!(plain[..batch.rows * shape.vocab] == gradient[..batch.rows * shape.vocab], "no smoothing changes no bit");
}

#[test]
fn cross_entropy() {
    let shape = tiny();
    let (mut ops, batch) = loaded(&shape);
    let len = 2 * batch.rows * shape.vocab;
    let mut logits = filled(&mut ops, len, 21);
    let mut gradient = filled(&mut ops, len, 21);
    ops.cross_entropy(&mut gradient).unwrap();
    let mut scratch = ops.buf(len).unwrap();
    let mut mean = |ops: &mut Cpu<f64>, logits: &Buf| {
        scratch.copy_from_slice(logits);
        ops.cross_entropy(&mut scratch).unwrap();
        ops.losses().unwrap().iter().map(Loss::mean).sum::<f64>()
    };
    for i in real(&batch, shape.vocab) {
        let original = logits[i];
        logits[i] = original + STEP;
        let above = mean(&mut ops, &logits);
        logits[i] = original - STEP;
        let slope = (above - mean(&mut ops, &logits)) / (2.0 * STEP);
        logits[i] = original;
        compare(&format!("cross-entropy, logit {i}"), gradient[i], slope);
    }
}

/// Every weight of both members.
fn whole_model_of(shape: &Shape) {
    let (ops, batch) = loaded(shape);
    let layout = Layout::new(shape);
    let mut model = Transformer::new(ops, batch.rows).unwrap();
    for member in 0..2 {
        let vector = model.ops.vector_mut(member, Vector::Weights);
        vector.iter_mut().for_each(|w| *w *= 0.5);
    }
    model.gradients(&batch, &[]).unwrap();
    for member in 0..2 {
        let gradients = model.ops.vector(member, Vector::Gradients).to_vec();
        let (mut worst, mut largest) = (0.0f64, 0.0f64);
        for (_, tensor) in invitro_model::checkpoint::named_tensors(&layout) {
            for i in tensor.range() {
                let original = model.ops.vector(member, Vector::Weights)[i];
                let mut at = |value: f64| {
                    model.ops.vector_mut(member, Vector::Weights)[i] = value;
                    model.evaluate(&batch).unwrap()[member].mean()
                };
                let slope = (at(original + STEP) - at(original - STEP)) / (2.0 * STEP);
                at(original);
                worst = worst.max((gradients[i] - slope).abs());
                largest = largest.max(slope.abs());
            }
        }
        assert!(largest > 0.01, "the gradient vanishes: the test shows nothing");
        assert!(worst < 1e-7, "member {member}: gradient off by {worst}");
    }
}

#[test]
fn whole_model() {
    whole_model_of(&tiny());
}

#[test]
fn whole_tied_model() {
    whole_model_of(&tied());
}

#[test]
fn whole_gpt2() {
    whole_model_of(&gpt2());
}

#[test]
fn whole_tied_gpt2() {
    whole_model_of(&Shape { tied: true, ..gpt2() });
}

/// The whole model's losses against the obvious twin, padded and masked.
#[test]
fn packed_equals_padded() {
    for shape in [tiny(), tied(), gpt2()] {
        packed_equals_padded_of(&shape);
    }
}

fn packed_equals_padded_of(shape: &Shape) {
    let (ops, batch) = loaded(shape);
    let mut model = Transformer::new(ops, batch.rows).unwrap();
    let losses = model.evaluate(&batch).unwrap();
    for (member, (loss, seed)) in losses.iter().zip([1, 2]).enumerate() {
        let rows: &[usize] = if member == 0 { &[50, 3, 1] } else { &[2, 17] };
        let weights = model.ops.vector(member, Vector::Weights).to_vec();
        let (mut sums, mut counts) = (vec![0.0; 3], vec![0; 3]);
        for sequence in sequences(shape, rows, seed) {
            let (input, targets) = (&sequence.tokens[..sequence.tokens.len() - 1], &sequence.tokens[1..]);
            let logits = naive_logits(shape, &weights, input, 53);
            for (logits, &target) in logits.iter().zip(targets) {
                sums[sequence.group as usize] -= common::log_probability(logits, target);
                counts[sequence.group as usize] += 1;
            }
        }
        for (group, (&sum, &count)) in loss.sum.iter().zip(&loss.count).enumerate() {
            assert_eq!(count, counts[group]);
            compare(&format!("loss of group {group}"), sum, sums[group]);
        }
        assert_eq!(loss.count.iter().sum::<u64>(), rows.iter().sum::<usize>() as u64);
    }
}
