//! The same bytes at every instruction set and number of threads: training, evaluation, decoding and scoring of a
//! population. A test program of its own, since it holds the whole process to one level after the other.

use crate::common::{sequences, small};
use invitro_model::cpu::simd::{self, Level};
use invitro_model::{
    Device, Population, Prompt, Sampling, ScoreQuery, Shape, TokenSequence, TrainConfig, Update, Vector,
};

const SEEDS: [u64; 3] = [0, 1, 2];
const STEPS: u64 = 3;
const EOS: u32 = 7;

/// Sizes that no vector or block divides, and some above the blocks that matmuls are cut into.
fn odd() -> Shape {
    Shape { layers: 1, width: 36, heads: 2, hidden: 300, context: 96, ..Shape::paper(77) }
}

/// A member's sequences of a step; members have different numbers of rows.
fn data(shape: &Shape, seed: u64, step: u64) -> Vec<TokenSequence> {
    let rows: Vec<usize> = (0..6 + seed as usize).map(|i| 1 + (i * 29 + step as usize * 7) % shape.context).collect();
    sequences(shape, &rows, 1000 * seed + step)
}

fn prompts(shape: &Shape, seed: u64) -> Vec<Prompt> {
    let random = Sampling::Random { seed: 5, temperature: 1.5, top_k: Some(20), top_p: Some(0.9) };
    let unrestricted = Sampling::Random { seed: 5, temperature: 0.8, top_k: None, top_p: None };
    let tokens = sequences(shape, &[1, 4, 9, 30, 2, 17], 50 + seed).into_iter().map(|s| s.tokens);
    let samplings = [Sampling::Greedy, random, unrestricted].into_iter().cycle();
    let prompts = tokens.zip(samplings).zip(0..);
    prompts.map(|((tokens, sampling), key)| Prompt { tokens, sampling, most: 12, key }).collect()
}

fn questions(shape: &Shape, seed: u64) -> Vec<ScoreQuery> {
    let tokens = |rows: &[usize], seed| sequences(shape, rows, seed).into_iter().map(|s| s.tokens);
    let prompts = tokens(&[1, 20, 5], 70 + seed);
    prompts
        .map(|prompt| ScoreQuery { prompt, continuations: tokens(&[1, 3, 8, 2], 80 + seed).collect(), among: None })
        .collect()
}

/// Everything that comes out of a population, named, to the last bit.
fn outputs(shape: &Shape) -> Vec<(String, Vec<u8>)> {
    let config = TrainConfig { steps: STEPS, warmup: 2, lr: 3e-3, ..TrainConfig::default() };
    let mut population = Population::new(Device::Cpu, shape, &SEEDS, 700).unwrap();
    let mut outputs = Vec::new();
    let mut losses = |name: String, losses: Vec<invitro_model::Loss>| {
        let numbers = losses.into_iter().flat_map(|loss| loss.sum.into_iter().chain([loss.grad_norm]));
        outputs.push((name, numbers.flat_map(f64::to_le_bytes).collect()));
    };
    for step in 1..=STEPS {
        let batch: Vec<_> = SEEDS.iter().map(|&seed| data(shape, seed, step)).collect();
        population.train_step(&batch, &[Update::at(&config, step); SEEDS.len()]).unwrap();
        losses(format!("losses of step {step}"), population.losses().unwrap());
    }
    let batch: Vec<_> = SEEDS.iter().map(|&seed| data(shape, seed, 100)).collect();
    losses("evaluated losses".into(), population.evaluate(&batch).unwrap());
    for member in 0..SEEDS.len() {
        for slot in [Vector::Weights, Vector::Gradients, Vector::Mean, Vector::Variance] {
            let values = population.read(member, slot).unwrap();
            outputs.push((format!("{slot:?} of {member}"), values.iter().flat_map(|v| v.to_le_bytes()).collect()));
        }
    }
    let requests: Vec<_> = SEEDS.iter().map(|&seed| prompts(shape, seed)).collect();
    let decoded = population.decode(&requests, EOS).unwrap();
    let tokens = decoded.iter().flatten().flat_map(|d| d.tokens.iter().copied().chain([d.ended as u32]));
    outputs.push(("decoded tokens".into(), tokens.flat_map(u32::to_le_bytes).collect()));
    let requests: Vec<_> = SEEDS.iter().map(|&seed| questions(shape, seed)).collect();
    let scores = population.score(&requests).unwrap();
    let scores = scores.iter().flatten().flatten().flatten().flat_map(|s| [s.logprob.to_bits(), s.rank]);
    outputs.push(("scores".into(), scores.flat_map(u32::to_le_bytes).collect()));
    outputs
}

fn on_threads(threads: usize, shape: &Shape) -> Vec<(String, Vec<u8>)> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| outputs(shape))
}

/// FNV-1a over all outputs.
fn checksum(outputs: &[(String, Vec<u8>)]) -> u64 {
    let bytes = outputs.iter().flat_map(|(_, bytes)| bytes);
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ byte as u64).wrapping_mul(0x0100_0000_01b3))
}

/// Every multiply-add is fused and every sum has the same partial sums, whatever the vectors' width.
#[test]
fn levels_and_threads_change_no_byte() {
    for (name, shape, expected) in [("small", small(), SMALL), ("odd", odd(), ODD)] {
        simd::restrict(Level::Base);
        let first = on_threads(1, &shape);
        assert!(first.iter().all(|(_, bytes)| bytes.iter().any(|&byte| byte != 0)), "an output is empty");
        let sum = checksum(&first);
        println!("{name}: {sum:#018x}");
        for level in Level::ALL.into_iter().filter(|&level| level <= simd::detect()) {
            simd::restrict(level);
            assert_eq!(simd::level(), level);
            for threads in [1, 2, 3, 5] {
                for ((name, got), (_, first)) in on_threads(threads, &shape).iter().zip(&first) {
                    assert!(got == first, "{name} at {level:?} on {threads} threads differ from one thread of Base");
                }
            }
        }
        assert_eq!(sum, expected, "{name}: the bytes differ from those of other machines and versions");
    }
}

/// Of every machine; these change only with what a training step computes.
const SMALL: u64 = 0x6946_9072_4d31_40ad;
const ODD: u64 = 0xcb91_fe27_edb7_719b;
