//! What instruction sets may change: nothing where multiply-adds are fused, last bits where a tile unit multiplies.
//! A test program of its own, since it holds the whole process to one level after the other.

mod common;

use common::{sequences, small};
use invitro_model::cpu::simd::{self, Level};
use invitro_model::{Device, Population, Slot, TrainConfig};

/// Losses of the steps and the weights after the last, at a level.
fn train(level: Level) -> (Vec<f64>, Vec<f32>) {
    simd::restrict(level);
    let config = TrainConfig { steps: 6, warmup: 2, lr: 3e-3, ..TrainConfig::default() };
    let mut population = Population::new(Device::Cpu, &small(), &[1], 400).unwrap();
    let mut losses = Vec::new();
    for step in 1..=6 {
        let batch = sequences(&small(), &[40, 7, 1, 60, 33], step);
        population.train_step(&[batch], &config.update(step)).unwrap();
        losses.push(population.losses().unwrap()[0].mean());
    }
    (losses, population.read(0, Slot::Weights).unwrap())
}

/// Every multiply-add is fused and every sum has the same partial sums, whatever the vectors' width.
#[test]
fn instruction_sets_change_nothing_but_the_tile_units_last_bits() {
    let fused = train(Level::V4);
    for level in [Level::V3, Level::Base] {
        assert!(train(level) == fused, "{level:?} differs from {:?}", simd::detect().min(Level::V4));
    }
    let best = train(simd::detect());
    if simd::detect() < Level::Amx {
        return assert!(best == fused);
    }
    assert!(best == train(Level::Amx), "the tile unit differs from itself");
    for (step, (unit, fused)) in best.0.iter().zip(&fused.0).enumerate() {
        assert!((unit - fused).abs() < 1e-5, "step {}: loss {unit} on the tile unit, {fused} fused", step + 1);
    }
}
