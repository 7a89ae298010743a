//! Compares two devices on the same inputs: every operation, a whole gradient, training, decoding and scoring.
//!
//! Inputs are rounded to bf16 first, so that devices that compute in bf16 have the same inputs. [`Inspect`] has the
//! operations that only the self-test needs.

pub(crate) mod inputs;

use crate::checkpoint::named_tensors;
use crate::cpu::{Cpu, Float};
use crate::history::HISTORY;
use crate::inference::ops::sample_token;
use crate::inference::pass::set_of;
use crate::inference::{
    ContinuationScores, HiddenQuery, HiddenState, InferOps, LayerStates, MemberPass, Pass, Patch, PatchedQuery,
    ScoreQuery,
};
use crate::ops::{Loss, ModelPart, PassPoint, Update, Vector};
use crate::{Batch, Layout, Population, Result, Shape, Tensor, TrainConfig, Transformer};
use inputs::{LENGTHS, normals, sequences, weights};
use std::sync::Arc;

pub use inputs::usual_populations;

/// Copies of a device's buffers, for comparison.
pub trait Inspect: InferOps {
    fn upload(&mut self, buf: &mut Self::Buf, values: &[f32]) -> Result<()>;
    fn download(&mut self, buf: &Self::Buf) -> Result<Vec<f32>>;
    fn download_stat(&mut self, stat: &Self::Stat) -> Result<Vec<f32>>;
}

impl<F: Float> Inspect for Cpu<F> {
    fn upload(&mut self, buf: &mut Self::Buf, values: &[f32]) -> Result<()> {
        buf.iter_mut().zip(values).for_each(|(to, &value)| *to = F::from_f64(value as f64));
        Ok(())
    }

    fn download(&mut self, buf: &Self::Buf) -> Result<Vec<f32>> {
        Ok(buf.iter().map(|value| value.f64() as f32).collect())
    }

    fn download_stat(&mut self, stat: &Self::Stat) -> Result<Vec<f32>> {
        self.download(stat)
    }
}

/// One compared tensor.
#[derive(Clone, Debug)]
pub struct TensorDifference {
    pub name: String,
    /// ‖a − b‖ / ‖b‖, b being the CPU's.
    pub relative: f64,
    pub allowed: f64,
}

impl TensorDifference {
    pub fn passes(&self) -> bool {
        self.relative <= self.allowed
    }
}

/// Named tensors from a device.
type Named = Vec<(String, Vec<f32>)>;

/// Allowed differences for one operation, for a whole gradient, and after many steps.
const OPERATION: f64 = 1e-2;
const GRADIENT: f64 = 3e-2;
const TRAINED: f64 = 5e-2;

/// Runs every operation on random inputs.
fn operations<O: Inspect>(ops: &mut O, batch: &Batch) -> Result<Named> {
    let (shape, layout) = (ops.shape().clone(), ops.layout().clone());
    let (width, hidden, up, total) = (shape.width, shape.hidden, shape.up_width(), batch.members * batch.rows);
    for member in 0..batch.members {
        ops.write(member, Vector::Weights, &weights(&shape, member))?;
    }
    let smoothed = |member: usize| TrainConfig { smoothing: 0.1 * (member % 3) as f64, ..TrainConfig::default() };
    let updates: Vec<Update> = (0..batch.members).map(|member| Update::at(&smoothed(member), 1)).collect();
    ops.load(batch, &updates)?;
    // Gradients of filler rows are zero, as in training.
    let input = |ops: &mut O, name: &str, width: usize| -> Result<O::Buf> {
        let mut values = normals(name, total * width, 0.5);
        for (member, &rows) in values.chunks_mut(batch.rows * width).zip(&batch.real) {
            member[rows * width..].fill(0.0);
        }
        let mut buf = ops.buf(total * width)?;
        ops.upload(&mut buf, &values)?;
        Ok(buf)
    };
    let mut out = Named::new();
    // The rows of a buffer without filler; a buffer has `total` rows.
    let real = |values: Vec<f32>| -> Vec<f32> {
        let width = values.len() / total;
        let members = values.chunks(batch.rows * width).zip(&batch.real);
        members.flat_map(|(member, &rows)| member[..rows * width].to_vec()).collect()
    };
    let gradient = |ops: &mut O, weight: Tensor| -> Result<Vec<f32>> {
        Ok(ops.read(0, Vector::Gradients)?[weight.range()].to_vec())
    };
    let x = input(ops, "x", width)?;
    let dy = input(ops, "dy", width)?;
    let layer = &layout.layers[1];

    let mut y = ops.buf(total * width)?;
    ops.reach(PassPoint::BeginForward)?;
    ops.embed(layout.embed, &mut y)?;
    out.push(("embed".into(), real(ops.download(&y)?)));
    ops.embed_backward(&dy, layout.embed)?;
    out.push(("embed gradient".into(), gradient(ops, layout.embed)?));
    if let Some(positions) = layout.positions {
        out.push(("positions gradient".into(), gradient(ops, positions)?));
    }

    let mut inverse = ops.stat(total)?;
    ops.norm(&x, layer.norm1, &mut y, &mut inverse)?;
    out.push(("norm".into(), real(ops.download(&y)?)));
    out.push(("norm inverse".into(), real(ops.download_stat(&inverse)?)));
    let mut embedded = ops.buf(total * width)?;
    ops.embed_norm(layout.embed, &mut embedded, layer.norm1, &mut y, &mut inverse)?;
    out.push(("embed and norm, inside".into(), real(ops.download(&embedded)?)));
    out.push(("embed and norm".into(), real(ops.download(&y)?)));
    out.push(("embed and norm, inverse".into(), real(ops.download_stat(&inverse)?)));
    ops.norm(&x, layer.norm1, &mut y, &mut inverse)?;
    let mut dx = input(ops, "dx", width)?;
    ops.norm_backward(&dy, &x, &inverse, layer.norm1, &mut dx, true)?;
    out.push(("norm backward, added".into(), real(ops.download(&dx)?)));
    ops.norm_backward(&dy, &x, &inverse, layer.norm2, &mut dx, false)?;
    out.push(("norm backward, written".into(), real(ops.download(&dx)?)));

    ops.reach(PassPoint::BeginPart(ModelPart::Layer(1)))?;
    ops.linear(&x, layer.out, Some(&dy), &mut y)?;
    out.push(("linear with residual".into(), real(ops.download(&y)?)));
    let mut wide = ops.buf(total * up)?;
    ops.linear(&x, layer.gate_up, None, &mut wide)?;
    out.push(("linear".into(), real(ops.download(&wide)?)));
    let dgate_up = input(ops, "dgate_up", up)?;
    ops.linear_backward_input(&dgate_up, layer.gate_up.weight, &mut dx)?;
    out.push(("linear backward, input".into(), real(ops.download(&dx)?)));
    ops.linear_backward_weight(&dgate_up, &x, layer.gate_up)?;
    ops.reach(PassPoint::EndNormsBackward)?;
    ops.reach(PassPoint::EndBackward)?;
    out.push(("linear backward, weight".into(), gradient(ops, layer.gate_up.weight)?));
    out.push(("norm backward, gain".into(), gradient(ops, layer.norm2.gain)?));
    if let (Some(of_norm), Some(of_linear)) = (layer.norm2.bias, layer.gate_up.bias) {
        out.push(("norm backward, bias".into(), gradient(ops, of_norm)?));
        out.push(("linear backward, bias".into(), gradient(ops, of_linear)?));
    }

    let qkv = input(ops, "qkv", 3 * width)?;
    let mut log_sum = ops.stat(total * shape.heads)?;
    ops.attention(&qkv, &mut y, &mut log_sum)?;
    out.push(("attention".into(), real(ops.download(&y)?)));
    out.push(("attention log-sum".into(), real(ops.download_stat(&log_sum)?)));
    let mut dqkv = ops.buf(total * 3 * width)?;
    ops.attention_backward(&qkv, &y, &log_sum, &dy, &mut dqkv)?;
    out.push(("attention backward".into(), real(ops.download(&dqkv)?)));

    let gate_up = input(ops, "gate_up", up)?;
    let mut gated = ops.buf(total * hidden)?;
    ops.activate(&gate_up, &mut gated)?;
    out.push(("activation".into(), real(ops.download(&gated)?)));
    let dgated = input(ops, "dgated", hidden)?;
    ops.activate_backward(&gate_up, &dgated, &mut wide)?;
    out.push(("activation backward".into(), real(ops.download(&wide)?)));

    ops.linear_activate(&x, layer.gate_up, &mut wide, &mut gated)?;
    out.push(("linear and activation, inside".into(), real(ops.download(&wide)?)));
    out.push(("linear and activation".into(), real(ops.download(&gated)?)));
    let mut scratch = ops.buf(total * hidden)?;
    ops.linear_activate_backward(&dy, layer.down.weight, &gate_up, &mut scratch, &mut wide)?;
    out.push(("linear and activation backward".into(), real(ops.download(&wide)?)));

    let mut norm = ops.buf(total * width)?;
    ops.linear_norm(&gated, layer.down, &x, &mut y, layer.norm1, &mut norm, &mut inverse)?;
    out.push(("linear and norm, inside".into(), real(ops.download(&y)?)));
    out.push(("linear and norm".into(), real(ops.download(&norm)?)));
    out.push(("linear and norm, inverse".into(), real(ops.download_stat(&inverse)?)));
    let mut dx = input(ops, "dx", width)?;
    ops.linear_norm_backward(&dgate_up, layer.gate_up.weight, &x, &inverse, layer.norm2, &mut norm, &mut dx, true)?;
    out.push(("linear and norm backward, added".into(), real(ops.download(&dx)?)));
    ops.linear_norm_backward(&qkv, layer.qkv.weight, &x, &inverse, layer.norm1, &mut norm, &mut dx, false)?;
    out.push(("linear and norm backward, written".into(), real(ops.download(&dx)?)));

    let mut logits = input(ops, "logits", shape.vocab)?;
    ops.cross_entropy(&mut logits)?;
    out.push(("cross-entropy gradient".into(), real(ops.download(&logits)?)));
    let losses = ops.losses()?;
    let sums = losses.iter().flat_map(|loss| loss.sum[..3].to_vec()).map(|sum| sum as f32).collect();
    out.push(("losses".into(), sums));
    Ok(out)
}

/// The gradient of the whole model, tensor by tensor, and the first moment after one update.
fn whole_gradient<O: Inspect>(ops: O, batch: &Batch) -> Result<Named> {
    let (shape, layout) = (ops.shape().clone(), ops.layout().clone());
    let mut model = Transformer::new(ops, batch.rows)?;
    for member in 0..batch.members {
        model.ops.write(member, Vector::Weights, &weights(&shape, member))?;
    }
    let update = Update::at(&TrainConfig { lr: 1e-2, warmup: 1, ..TrainConfig::default() }, 1);
    let losses = model.gradients(batch, &vec![update; batch.members])?;
    model.ops.update()?;
    let norms = model.ops.losses()?;
    let mut out: Named = vec![
        ("loss".into(), losses.iter().map(|loss| loss.mean() as f32).collect()),
        ("gradient norm".into(), norms.iter().map(|loss| loss.grad_norm as f32).collect()),
    ];
    let gradient = model.ops.read(batch.members - 1, Vector::Gradients)?;
    for (name, tensor) in named_tensors(&layout) {
        out.push((format!("gradient of {name}"), gradient[tensor.range()].to_vec()));
    }
    let mean = model.ops.read(0, Vector::Mean)?;
    out.push(("first moment".into(), mean));
    Ok(out)
}

/// Logits of rows with a cache: a prompt, two continuations, and a second pass over the first pass's cache.
fn cached<O: Inspect>(ops: &mut O) -> Result<Named> {
    let (shape, members) = (ops.shape().clone(), ops.members());
    for member in 0..members {
        ops.write(member, Vector::Weights, &weights(&shape, member))?;
    }
    let mut inference = crate::inference::Inference::new(ops, 64, 64, 64)?;
    let mut out = Named::new();
    // More rows than a GPU processes at once.
    let prompt: Vec<u32> = (20..61).collect();
    let len = prompt.len();
    let mut first = MemberPass::default();
    let start = first.push(&prompt, 0, 0, 0);
    first.picks.extend([(start + 10, 30), (start + 40, 40)]);
    for (i, slot) in [(0, len), (1, len + 3)] {
        let start = first.push(&[40 + i, 50, 60], 0, len, slot);
        first.picks.extend([(start, 50), (start + 2, 70)]);
    }
    let mut second = MemberPass::default();
    let start = second.push(&[81, 82], 0, len, len + 9);
    second.picks.push((start + 1, 5));
    // Every second pick ranks only some of the tokens.
    let some: Arc<[bool]> = (0..shape.vocab).map(|token| token % 3 == 1).collect();
    for (name, mut part) in [("first", first), ("second", second)] {
        part.among = (0..part.picks.len()).map(|pick| (pick % 2 == 0).then(|| some.clone())).collect();
        let pass = Pass::pack(&vec![part; members], 16);
        let logits = inference.logits(ops, &pass)?;
        let values = ops.fetch_logits(logits)?;
        let real = pass.real_picks[0] * shape.vocab;
        let wide = pass.picks * shape.vocab;
        out.push((
            format!("logits over a cache, {name} pass"),
            values.chunks(wide).flat_map(|member| member[..real].to_vec()).collect(),
        ));
        let scores = ops.scores(logits)?;
        let wanted = scores.chunks(pass.picks).flat_map(|m| &m[..pass.real_picks[0]]);
        out.push((format!("log-probabilities, {name} pass"), wanted.map(|score| score.logprob).collect()));
        // 1 where the rank agrees with these logits.
        let right = values.chunks(shape.vocab).zip(&scores).enumerate().map(|(i, (row, score))| {
            let set = set_of(pass.pick_sets[i], &pass.sets, shape.vocab);
            let counts = |token: usize| set.is_none_or(|set| set[token / 32] >> (token % 32) & 1 == 1);
            let own = row[pass.pick_targets[i] as usize];
            let rank = row.iter().enumerate().filter(|&(token, &logit)| logit > own && counts(token)).count();
            f32::from(u8::from(rank == score.rank as usize))
        });
        out.push((format!("ranks, {name} pass"), right.collect()));
        // 1 where the argmax or sampled token agrees with these logits.
        let uniforms: Vec<f32> = (0..members * pass.picks).map(|i| (i * 7 % 10) as f32 / 9.9 - 0.1).collect();
        let tokens = ops.draw(logits, 0.8, &uniforms)?;
        let expected = values.chunks(shape.vocab).zip(&uniforms).map(|(row, &uniform)| sample_token(row, 0.8, uniform));
        let right = expected.zip(tokens).map(|(expected, token)| f32::from(u8::from(expected == token)));
        out.push((format!("tokens drawn, {name} pass"), right.collect()));
    }
    Ok(out)
}

/// Hidden states of every layer, scores with a patch, and whether neutral patches change no bit.
fn hidden_states(population: &mut Population) -> Result<Named> {
    let shape = population.shape().clone();
    for member in 0..population.members() {
        population.write(member, Vector::Weights, &weights(&shape, member))?;
    }
    let (receiver, donor): (Vec<u32>, Vec<u32>) = ((20..50).collect(), (60..71).collect());
    let members = population.members();
    let layers: Vec<usize> = (0..=shape.layers).collect();
    let mut states_of = |tokens: &[u32]| -> Result<Vec<LayerStates>> {
        let positions = vec![0, tokens.len() - 1];
        let query = HiddenQuery { tokens: tokens.to_vec(), positions, layers: layers.clone(), normed: true };
        Ok(population.hidden(&vec![vec![query]; members])?.into_iter().flatten().collect())
    };
    let (own, of_donor) = (states_of(&receiver)?, states_of(&donor)?);
    let mut out = Named::new();
    for &layer in &layers {
        let all = |part: fn(&HiddenState) -> &Vec<f32>| {
            own.iter().flat_map(|states| states[layer].iter().flat_map(part)).copied().collect()
        };
        out.push((format!("residual stream, layer {layer}"), all(|state| &state.residual)));
        out.push((format!("residual stream, layer {layer}, normed"), all(|state| &state.normed)));
    }
    let query = |prompt: &[u32]| ScoreQuery {
        prompt: prompt.to_vec(),
        continuations: vec![vec![5, 6, 7], vec![8]],
        among: None,
    };
    let last = receiver.len() - 1;
    let mut patched = |layer: usize, position: usize, states: &[LayerStates], at: usize| {
        let patch = |states: &LayerStates| Patch { layer, position, state: states[layer][at].clone() };
        let queries =
            states.iter().map(|states| vec![PatchedQuery { query: query(&receiver), patches: vec![patch(states)] }]);
        population.score_patched(&queries.collect::<Vec<_>>())
    };
    let from_donor = patched(1, last, &of_donor, 1)?;
    let (itself, whole) = (patched(1, 0, &own, 0)?, patched(shape.layers, last, &of_donor, 1)?);
    let [unpatched, donors] = [&receiver, &donor].map(|prompt| population.score(&vec![vec![query(prompt)]; members]));
    let (unpatched, donors) = (unpatched?, donors?);
    let logprobs = from_donor.iter().flatten().flatten().flatten().map(|score| score.logprob).collect();
    out.push(("scores with a patch".into(), logprobs));
    // 1 if nothing changed, and if the donor's logits result.
    let same = |holds: bool| vec![f32::from(u8::from(holds))];
    out.push(("a state patched with itself".into(), same(itself == unpatched)));
    let first = |scores: &[Vec<ContinuationScores>]| {
        scores.iter().flatten().flatten().map(|continuation| continuation[0]).collect::<Vec<_>>()
    };
    out.push(("the donor's last state".into(), same(first(&whole) == first(&donors))));
    Ok(out)
}

fn compare(ours: Named, theirs: Named, allowed: f64, report: &mut dyn FnMut(&TensorDifference)) -> bool {
    let mut passed = ours.len() == theirs.len();
    for ((name, a), (_, b)) in ours.into_iter().zip(theirs) {
        let norm = |values: &mut dyn Iterator<Item = f64>| values.map(|v| v * v).sum::<f64>().sqrt();
        let apart = norm(&mut a.iter().zip(&b).map(|(&a, &b)| a as f64 - b as f64));
        let size = norm(&mut b.iter().map(|&b| b as f64));
        let relative = if a.len() == b.len() && apart.is_finite() { apart / size.max(1e-30) } else { f64::INFINITY };
        let difference = TensorDifference { name, relative, allowed };
        passed &= difference.passes();
        report(&difference);
    }
    passed
}

/// Compares a device with the CPU; `make` creates its operations for a shape, members and capacity. One of the
/// trainings is between `break_recordings(true)` and `(false)`. Reports every tensor and returns whether all passed.
pub fn selftest<O: Inspect>(
    shape: &Shape,
    members: usize,
    make: impl Fn(&Shape, usize, usize) -> Result<O>,
    population: impl Fn(&Shape, &[u64], usize) -> Result<Population>,
    break_recordings: impl Fn(bool),
    report: &mut dyn FnMut(&TensorDifference),
) -> Result<bool> {
    let data: Vec<_> = (0..members).map(|member| sequences(shape, member, 0)).collect();
    let batch = Batch::pack(&data, 64, shape.context)?;
    let cpu = |members| Cpu::<f32>::new(shape, members, batch.rows);
    let mut passed = true;

    let (mut ours, mut theirs) = (make(shape, members, batch.rows)?, cpu(members)?);
    passed &= compare(operations(&mut ours, &batch)?, operations(&mut theirs, &batch)?, OPERATION, report);
    passed &= compare(cached(&mut ours)?, cached(&mut theirs)?, GRADIENT, report);
    drop((ours, theirs));
    let ours = whole_gradient(make(shape, members, batch.rows)?, &batch)?;
    passed &= compare(ours, whole_gradient(cpu(members)?, &batch)?, GRADIENT, report);

    // 50 steps on random text at a low learning rate: when a model learns something, small differences grow.
    const STEPS: u64 = 50;
    // Both members have numbers of the optimizer of their own.
    let first = TrainConfig { lr: 3e-4, warmup: 10, steps: 200, ..TrainConfig::default() };
    let second = TrainConfig {
        lr: 5e-4,
        warmup: 20,
        beta1: 0.8,
        beta2: 0.98,
        eps: 1e-8,
        weight_decay: 0.1,
        clip: 0.3,
        smoothing: 0.1,
        ..first.clone()
    };
    let updates = |step: u64| [&first, &second].map(|config| Update::at(config, step));
    // Steps after which the history is read: the first, and when the ring is full, across an evaluation.
    const READ: [u64; 3] = [1, 1 + HISTORY as u64, STEPS];
    let train = |mut population: Population| -> Result<Named> {
        let mut losses = Named::new();
        let mut read = 0;
        for step in 1..=STEPS {
            let data: Vec<_> = (0..2).map(|member| sequences(shape, member, step)).collect();
            population.train_step(&data, &updates(step))?;
            if step % 10 == 0 {
                let means = population.losses()?.iter().map(|loss| loss.mean() as f32).collect();
                losses.push((format!("losses after {step} steps"), means));
            }
            if step == 28 {
                let means = population.evaluate(&data)?.iter().map(|loss| loss.mean() as f32).collect();
                losses.push(("losses between steps".into(), means));
            }
            if READ.contains(&step) {
                let last = population.losses()?;
                let steps = population.history()?;
                let values = |value: fn(&Loss) -> f64| steps.iter().flatten().map(|loss| value(loss) as f32).collect();
                let name = |what: &str| format!("{what} of steps {} to {step}", read + 1);
                losses.push((name("losses"), values(Loss::mean)));
                losses.push((name("tokens"), values(|loss| loss.count.iter().sum::<u64>() as f64)));
                losses.push((name("gradient norms"), values(|loss| loss.grad_norm)));
                // 1 if the last entry is the last step's.
                let same = f32::from(u8::from(steps.last() == Some(&last)));
                losses.push((format!("the last of them, step {step}"), vec![same]));
                read = step;
            }
        }
        losses.push(("weights after training".into(), population.read(1, Vector::Weights)?));
        (0..2).try_for_each(|member| population.write(member, Vector::Weights, &weights(shape, member)))?;
        let other: Vec<_> = (0..2).map(|member| sequences(shape, member, 0)).collect();
        let means = population.evaluate(&other)?.iter().map(|loss| loss.mean() as f32).collect();
        losses.push(("losses of other weights".into(), means));
        // The last member's weights are NaN, and the number of rows grows: filler covers its former rows.
        population.write(1, Vector::Weights, &vec![f32::NAN; Layout::new(shape).size])?;
        for sentences in [7, LENGTHS.len()] {
            let data: Vec<_> = other.iter().map(|own| own[..sentences.min(own.len())].to_vec()).collect();
            population.train_step(&data, &updates(STEPS))?;
        }
        losses.push(("weights beside a diverged model".into(), population.read(0, Vector::Weights)?));
        Ok(losses)
    };
    let ours = train(population(shape, &[3, 4], batch.rows)?)?;
    let theirs = train(Population::new(crate::Device::Cpu, shape, &[3, 4], batch.rows)?)?;
    passed &= compare(ours, theirs, TRAINED, report);
    let ours = hidden_states(&mut population(shape, &[3, 4], batch.rows)?)?;
    let theirs = hidden_states(&mut Population::new(crate::Device::Cpu, shape, &[3, 4], batch.rows)?)?;
    passed &= compare(ours, theirs, GRADIENT, report);

    // Reading the weights during training changes no bit, nor do recordings of steps that fail.
    let looked_at = |every: u64| -> Result<Named> {
        let mut population = population(shape, &[3, 4], batch.rows)?;
        for step in 1..=STEPS {
            let data: Vec<_> = (0..2).map(|member| sequences(shape, member, step)).collect();
            population.train_step(&data, &updates(step))?;
            if step % every == 0 {
                population.evaluate(&data[..])?;
                population.read(0, Vector::Weights)?;
            }
        }
        Ok(vec![("weights, looked at meanwhile".into(), population.read(1, Vector::Weights)?)])
    };
    let alone = looked_at(STEPS)?;
    break_recordings(true);
    let unrecorded = looked_at(STEPS);
    break_recordings(false);
    let unrecorded =
        unrecorded?.into_iter().map(|(_, weights)| ("weights, recordings failed".into(), weights)).collect();
    passed &= compare(unrecorded, alone.clone(), 0.0, report);
    passed &= compare(looked_at(3)?, alone, 0.0, report);
    Ok(passed)
}
