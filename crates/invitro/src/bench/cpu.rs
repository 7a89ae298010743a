//! Whole training steps on the CPU, over real batches.

use super::batches::{cells, real, tokens};
use super::{BenchLine, Report, step_of};
use anyhow::Result;
use invitro_model::{Device, Population, Shape, TrainConfig, Update};
use std::time::Instant;

const STEPS: usize = 6;

pub fn measure(vocab: usize, settings: &[String], report: &Report) -> Result<()> {
    let cells = cells(vocab, 1, settings)?;
    let batches = real(&cells, STEPS)?;
    let shape = Shape::new(&cells[0].model, vocab);
    let capacity = batches.iter().map(|batch| tokens(batch)).max().unwrap_or(1);
    let mut population = Population::new(Device::Cpu, &shape, &[0], capacity)?;
    let config = TrainConfig::default();
    let mut best = f64::INFINITY;
    let mut rates = Vec::new();
    for (i, batch) in batches.iter().enumerate() {
        let start = Instant::now();
        population.train_step(batch, &[Update::at(&config, i as u64 + 1)])?;
        population.losses()?;
        let seconds = start.elapsed().as_secs_f64();
        rates.push(tokens(batch) as f64 / seconds);
        best = best.min(seconds);
    }
    let rate = rates.iter().copied().fold(0.0, f64::max);
    let length = tokens(&batches[0]) as f64 / batches[0][0].len() as f64;
    let figures = vec![
        ("tokens/s", rate),
        ("model-steps/s", 1.0 / best),
        ("GFLOP/s", shape.train_flops(rate, length) / 1e9),
        ("tokens/sequence", length),
    ];
    report.row(BenchLine { what: step_of("CPU", &shape), members: Some(1), vocab: Some(vocab), figures })
}
