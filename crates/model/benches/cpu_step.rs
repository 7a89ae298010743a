//! Times whole training steps on the CPU and the operations they are made of.
//!
//! `cargo bench -p invitro-model --bench cpu_step [-- --vocab 2048 --heads 8 --members 1 --steps 8]`
//! Means over the steps. First batches of 64 sequences of 64, then of natural lengths (mean about 40, longest 256).

use invitro_base::random::Rng;
use invitro_model::cpu::{Buffer, Cpu};
use invitro_model::init::initial_weights;
use invitro_model::ops::{Loss, Ops, Update, Vector};
use invitro_model::{Batch, Layout, Result, Shape, Tensor, TokenSequence, TrainConfig, Transformer};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Operations with a clock on each.
struct Timed {
    ops: Cpu<f32>,
    clock: BTreeMap<&'static str, Duration>,
}

impl Timed {
    fn time<R>(&mut self, name: &'static str, run: impl FnOnce(&mut Cpu<f32>) -> R) -> R {
        let start = Instant::now();
        let result = run(&mut self.ops);
        *self.clock.entry(name).or_default() += start.elapsed();
        result
    }
}

type Buf = Buffer<f32>;

impl Ops for Timed {
    type Buf = Buf;
    type Stat = Buf;

    fn members(&self) -> usize {
        self.ops.members()
    }
    fn shape(&self) -> &Shape {
        self.ops.shape()
    }
    fn layout(&self) -> &Layout {
        self.ops.layout()
    }
    fn buf(&mut self, elements: usize) -> Result<Buf> {
        self.ops.buf(elements)
    }
    fn stat(&mut self, elements: usize) -> Result<Buf> {
        self.ops.stat(elements)
    }
    fn write(&mut self, member: usize, slot: Vector, values: &[f32]) -> Result<()> {
        self.ops.write(member, slot, values)
    }
    fn read(&mut self, member: usize, slot: Vector) -> Result<Vec<f32>> {
        self.ops.read(member, slot)
    }
    fn load(&mut self, batch: &Batch, update: &Update) -> Result<()> {
        self.time("load", |ops| ops.load(batch, update))
    }
    fn losses(&mut self) -> Result<Vec<Loss>> {
        self.ops.losses()
    }
    fn history(&mut self) -> Result<Vec<Vec<Loss>>> {
        self.ops.history()
    }
    fn embed(&mut self, weight: Tensor, out: &mut Buf) -> Result<()> {
        self.time("embed", |ops| ops.embed(weight, out))
    }
    fn embed_backward(&mut self, dx: &Buf, weight: Tensor) -> Result<()> {
        self.time("embed back", |ops| ops.embed_backward(dx, weight))
    }
    fn rms_norm(&mut self, x: &Buf, gain: Tensor, out: &mut Buf, inv_rms: &mut Buf) -> Result<()> {
        self.time("norm", |ops| ops.rms_norm(x, gain, out, inv_rms))
    }
    fn rms_norm_backward(
        &mut self,
        dy: &Buf,
        x: &Buf,
        inv_rms: &Buf,
        gain: Tensor,
        dx: &mut Buf,
        add: bool,
    ) -> Result<()> {
        self.time("norm back", |ops| ops.rms_norm_backward(dy, x, inv_rms, gain, dx, add))
    }
    fn linear(&mut self, x: &Buf, weight: Tensor, residual: Option<&Buf>, y: &mut Buf) -> Result<()> {
        self.time("linear", |ops| ops.linear(x, weight, residual, y))
    }
    fn linear_backward_input(&mut self, dy: &Buf, weight: Tensor, dx: &mut Buf) -> Result<()> {
        self.time("linear back, input", |ops| ops.linear_backward_input(dy, weight, dx))
    }
    fn linear_backward_weight(&mut self, dy: &Buf, x: &Buf, weight: Tensor) -> Result<()> {
        self.time("linear back, weight", |ops| ops.linear_backward_weight(dy, x, weight))
    }
    fn attention(&mut self, qkv: &Buf, out: &mut Buf, log_sum: &mut Buf) -> Result<()> {
        self.time("attention", |ops| ops.attention(qkv, out, log_sum))
    }
    fn attention_backward(&mut self, qkv: &Buf, out: &Buf, log_sum: &Buf, dout: &Buf, dqkv: &mut Buf) -> Result<()> {
        self.time("attention back", |ops| ops.attention_backward(qkv, out, log_sum, dout, dqkv))
    }
    fn swiglu(&mut self, gate_up: &Buf, out: &mut Buf) -> Result<()> {
        self.time("swiglu", |ops| ops.swiglu(gate_up, out))
    }
    fn swiglu_backward(&mut self, gate_up: &Buf, dout: &Buf, dgate_up: &mut Buf) -> Result<()> {
        self.time("swiglu back", |ops| ops.swiglu_backward(gate_up, dout, dgate_up))
    }
    fn cross_entropy(&mut self, logits: &mut Buf) -> Result<()> {
        self.time("cross-entropy", |ops| ops.cross_entropy(logits))
    }
    fn update(&mut self) -> Result<()> {
        self.time("update", |ops| ops.update())
    }
}

fn argument(name: &str, default: usize) -> usize {
    let arguments: Vec<String> = std::env::args().collect();
    let at = arguments.iter().position(|a| a == &format!("--{name}"));
    at.and_then(|at| arguments.get(at + 1)).and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Steps before the clock starts.
const WARM_UP: usize = 3;

/// 64 sequences per member; natural lengths are 1 + a sum of two exponentials, cut at the context.
fn batch(shape: &Shape, members: usize, natural: bool) -> Batch {
    let sequences: Vec<Vec<TokenSequence>> = (0..members as u64)
        .map(|member| {
            let mut stream = Rng::keyed("bench", [member, natural as u64, 0]);
            (0..64)
                .map(|i| {
                    let tail = -19.0 * ((1.0 - stream.uniform()) * (1.0 - stream.uniform())).ln();
                    let len = if !natural { 64 } else { (3.0 + tail) as usize };
                    // One row is as long as the context, as in most batches of 64.
                    let len = if natural && i == 0 { shape.context } else { len.min(shape.context) };
                    let tokens = (0..=len).map(|_| (stream.uniform() * shape.vocab as f64) as u32).collect();
                    TokenSequence { tokens, group: 0 }
                })
                .collect()
        })
        .collect();
    Batch::pack(&sequences, 1, shape.context).expect("lengths within the context")
}

fn main() -> Result<()> {
    let (vocab, heads) = (argument("vocab", 2048), argument("heads", 8));
    let (members, steps) = (argument("members", 1), argument("steps", 8));
    let shape = Shape { heads, ..Shape::paper(vocab) };
    for natural in [false, true] {
        let batch = batch(&shape, members, natural);
        let mut ops = Timed { ops: Cpu::new(&shape, members, batch.rows)?, clock: BTreeMap::new() };
        for member in 0..members {
            ops.write(member, Vector::Weights, &initial_weights(&shape, member as u64))?;
        }
        let mut model = Transformer::new(ops, batch.rows)?;
        let train = TrainConfig::default();
        let mut first = None;
        let mut start = Instant::now();
        for step in 0..WARM_UP + steps {
            if step == WARM_UP {
                model.ops.clock.clear();
                start = Instant::now();
            }
            model.train_step(&batch, &Update::at(&train, 256))?;
            first.get_or_insert(model.ops.losses()?[0].mean());
        }
        let seconds = start.elapsed().as_secs_f64() / steps as f64;
        let tokens: usize = batch.real.iter().sum();
        let squares: f64 = batch.spans.iter().flatten().map(|span| (span.len as f64).powi(2)).sum();
        let flops = shape.train_flops(tokens as f64, squares / tokens as f64);
        println!(
            "{} lengths: N {members}, |V| {vocab}, {heads} heads, {tokens} tokens, {} threads, {:?}: {:.1} ms/step, \
             {:.0} tokens/s, {:.1} GFLOP/s, loss {:.5} -> {:.5}",
            if natural { "natural" } else { "equal" },
            rayon::current_num_threads(),
            invitro_model::cpu::simd::level(),
            seconds * 1e3,
            tokens as f64 / seconds,
            flops / seconds / 1e9,
            first.unwrap_or(f64::NAN),
            model.ops.losses()?[0].mean(),
        );
        for (name, time) in &model.ops.clock {
            let time = time.as_secs_f64() / steps as f64;
            println!("  {name:<20} {:8.2} ms  {:5.1} %", time * 1e3, 100.0 * time / seconds);
        }
    }
    Ok(())
}
