//! What several tests share: small shapes, data, and the obvious twin of the model.

#![allow(dead_code, reason = "each test uses its part")]

use invitro_base::random::Rng;
use invitro_model::layout::{Linear, Norm};
use invitro_model::{Device, Layout, ModelKind, Population, Shape, Tensor, TokenSequence, Vector};

/// A model small enough to differentiate by hand, with sizes that are no multiple of anything.
pub fn tiny() -> Shape {
    Shape {
        kind: ModelKind::Llama,
        tied: false,
        layers: 2,
        width: 12,
        heads: 2,
        hidden: 10,
        context: 60,
        vocab: 11,
        rope_theta: 100.0,
        norm_eps: 1e-3,
        init_std: 0.3,
    }
}

/// The same with one matrix for embedding and head.
pub fn tied() -> Shape {
    Shape { tied: true, ..tiny() }
}

/// A GPT-2 of these sizes.
pub fn gpt2() -> Shape {
    Shape { kind: ModelKind::Gpt2, ..tiny() }
}

/// One that trains in milliseconds.
pub fn small() -> Shape {
    Shape { layers: 2, width: 32, heads: 4, hidden: 40, context: 64, ..Shape::paper(50) }
}

/// The same of every kind, with a head of its own and tied.
pub fn every_kind() -> Vec<Shape> {
    let of_kind = |kind| [false, true].map(|tied| Shape { kind, tied, ..small() });
    ModelKind::ALL.into_iter().flat_map(of_kind).collect()
}

/// Models with weights far from their small beginnings, so that logits differ clearly.
pub fn clear_population(shape: &Shape, seeds: &[u64]) -> Population {
    let mut population = Population::new(Device::Cpu, shape, seeds, 8).unwrap();
    for member in 0..seeds.len() {
        let mut weights = population.read(member, Vector::Weights).unwrap();
        let (matrices, others) = weights.split_at_mut(Layout::new(shape).decayed);
        matrices.iter_mut().for_each(|w| *w *= 10.0);
        if shape.kind == ModelKind::Gpt2 {
            others.iter_mut().enumerate().for_each(|(i, w)| *w += (i % 7) as f32 * 0.05);
        }
        population.write(member, Vector::Weights, &weights).unwrap();
    }
    population
}

/// Sequences of the given lengths (rows, one less than tokens), their tokens and groups from a stream.
pub fn sequences(shape: &Shape, rows: &[usize], seed: u64) -> Vec<TokenSequence> {
    let mut stream = Rng::keyed("test sequences", [seed, 0, 0]);
    rows.iter()
        .map(|&rows| TokenSequence {
            tokens: (0..=rows).map(|_| (stream.uniform() * shape.vocab as f64) as u32).collect(),
            group: (stream.uniform() * 3.0) as u8,
        })
        .collect()
}

/// Numbers of about unit size.
pub fn numbers(len: usize, seed: u64) -> Vec<f64> {
    let mut stream = Rng::keyed("test numbers", [seed, 0, 0]);
    (0..len).map(|_| stream.normals()[0]).collect()
}

/// The logits of one sequence padded to `padded` rows, keys after a query or past the end masked: every step as three
/// plain loops, in f64. Returns `[rows, vocab]` without the padding.
pub fn naive_logits(shape: &Shape, weights: &[f64], tokens: &[u32], padded: usize) -> Vec<Vec<f64>> {
    naive_forward(shape, weights, tokens, padded, |_, _, _| ())
}

/// The same; `visit` sees the residual stream of every layer, the embedding first, and may change it, and the norm
/// that reads it.
pub fn naive_forward(
    shape: &Shape,
    weights: &[f64],
    tokens: &[u32],
    padded: usize,
    mut visit: impl FnMut(usize, &mut [Vec<f64>], Norm),
) -> Vec<Vec<f64>> {
    let layout = Layout::new(shape);
    let (d, half) = (shape.head_width(), shape.head_width() / 2);
    let is_gpt2 = shape.kind == ModelKind::Gpt2;
    let numbers = |tensor: Tensor| &weights[tensor.range()];
    let linear = |x: &[f64], Linear { weight, bias }: Linear| -> Vec<f64> {
        let bias = |row: usize| bias.map_or(0.0, |bias| numbers(bias)[row]);
        let rows = numbers(weight).chunks(weight.cols).enumerate();
        rows.map(|(r, row)| bias(r) + row.iter().zip(x).map(|(w, x)| w * x).sum::<f64>()).collect()
    };
    let norm = |x: &[f64], norm: Norm| naive_norm(shape, weights, x, norm);
    let turn = |x: &[f64], position: usize| -> Vec<f64> {
        let mut out = x.to_vec();
        if is_gpt2 {
            return out;
        }
        for i in 0..half {
            let angle = position as f64 * shape.rope_theta.powf(-2.0 * i as f64 / d as f64);
            out[i] = x[i] * angle.cos() - x[i + half] * angle.sin();
            out[i + half] = x[i + half] * angle.cos() + x[i] * angle.sin();
        }
        out
    };
    let activated = |up: Vec<f64>| -> Vec<f64> {
        if is_gpt2 {
            let gelu =
                |x: &f64| 0.5 * x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3))).tanh());
            return up.iter().map(gelu).collect();
        }
        let (gate, up) = up.split_at(shape.hidden);
        gate.iter().zip(up).map(|(g, u)| g / (1.0 + (-g).exp()) * u).collect()
    };
    let mut x: Vec<Vec<f64>> = (0..padded)
        .map(|row| {
            let token = tokens.get(row).copied().unwrap_or(0) as usize;
            let mut x = numbers(layout.embed)[token * shape.width..][..shape.width].to_vec();
            if let Some(positions) = layout.positions {
                x.iter_mut().zip(&numbers(positions)[row * shape.width..]).for_each(|(x, p)| *x += p);
            }
            x
        })
        .collect();
    visit(0, &mut x, layout.layers[0].norm1);
    for (l, layer) in layout.layers.iter().enumerate() {
        let qkv: Vec<Vec<f64>> = x.iter().map(|x| linear(&norm(x, layer.norm1), layer.qkv)).collect();
        for row in 0..padded {
            let mut attended = Vec::new();
            for head in 0..shape.heads {
                let part = |row: usize, which: usize| &qkv[row][which * shape.width + head * d..][..d];
                let query = turn(part(row, 0), row);
                let scores: Vec<f64> = (0..padded)
                    .map(|key| {
                        let seen = key <= row && key < tokens.len();
                        let dot: f64 = turn(part(key, 1), key).iter().zip(&query).map(|(k, q)| k * q).sum();
                        if seen { dot / (d as f64).sqrt() } else { f64::NEG_INFINITY }
                    })
                    .collect();
                let total: f64 = scores.iter().map(|s| s.exp()).sum();
                for i in 0..d {
                    let mixed = (0..padded).map(|key| scores[key].exp() / total * part(key, 2)[i]).sum();
                    attended.push(mixed);
                }
            }
            let out = linear(&attended, layer.out);
            x[row].iter_mut().zip(out).for_each(|(x, o)| *x += o);
        }
        for x in &mut x {
            let gated = activated(linear(&norm(x, layer.norm2), layer.gate_up));
            x.iter_mut().zip(linear(&gated, layer.down)).for_each(|(x, o)| *x += o);
        }
        visit(l + 1, &mut x, layout.layers.get(l + 1).map_or(layout.norm, |next| next.norm1));
    }
    x[..tokens.len()].iter().map(|x| linear(&norm(x, layout.norm), layout.head)).collect()
}

/// The norm of a row.
pub fn naive_norm(shape: &Shape, weights: &[f64], x: &[f64], Norm { gain, bias }: Norm) -> Vec<f64> {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let center = if bias.is_some() { mean(x) } else { 0.0 };
    let squares: Vec<f64> = x.iter().map(|v| (v - center).powi(2)).collect();
    let scale = 1.0 / (mean(&squares) + shape.norm_eps).sqrt();
    let bias = |i: usize| bias.map_or(0.0, |bias| weights[bias.offset + i]);
    x.iter().enumerate().map(|(i, v)| (v - center) * scale * weights[gain.offset + i] + bias(i)).collect()
}

/// Log-probability of a token under a row of logits.
pub fn log_probability(logits: &[f64], token: u32) -> f64 {
    let max = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    logits[token as usize] - max - logits.iter().map(|l| (l - max).exp()).sum::<f64>().ln()
}
