//! Whole training steps on a GPU, over real batches, beside the matmuls they are made of.

use super::batches::{real, tokens};
use super::{BenchLine, Report, step_of};
use anyhow::Result;
use invitro_lab::Experiment;
use invitro_model::cuda::{Cuda, Gpu, ROUND};
use invitro_model::init::initial_weights;
use invitro_model::ops::Ops;
use invitro_model::{Batch, Shape, TrainConfig, Transformer, Update, Vector};
use rayon::prelude::*;
use std::time::Instant;

/// Different batches, gone through again and again; a warm-up sees each size often enough to record it.
const POOL: usize = 16;
const WARM_UP: usize = 3 * POOL;

pub fn measure(gpu: usize, cells: &[Experiment], kernels: bool, unfused: bool, report: &Report) -> Result<()> {
    let (members, vocab) = (cells.len(), cells[0].tokenizer.vocab);
    let shape = Shape::new(&cells[0].model, vocab);
    let batches = real(cells, POOL)?;
    let packed =
        batches.iter().map(|batch| Ok(Batch::pack(batch, ROUND, shape.context)?)).collect::<Result<Vec<_>>>()?;
    let capacity = packed.iter().map(|batch| batch.rows).max().unwrap_or(ROUND);
    let gpu = Gpu::open(gpu)?;
    let mut ops = Cuda::new(&gpu, &shape, members, capacity)?;
    if unfused {
        ops.disable_fusion();
    }
    let mut model = Transformer::new(ops, capacity)?;
    let weights: Vec<_> = (0..members as u64).into_par_iter().map(|seed| initial_weights(&shape, seed)).collect();
    for (member, weights) in weights.iter().enumerate() {
        model.ops.write(member, Vector::Weights, weights)?;
    }
    let config = TrainConfig::default();
    let mut step = 0;
    let mut go = |model: &mut Transformer<Cuda>, steps: usize| -> Result<f64> {
        let start = Instant::now();
        for _ in 0..steps {
            step += 1;
            model.train_step(&packed[step % POOL], &vec![Update::at(&config, step as u64); members])?;
        }
        model.ops.wait()?;
        Ok(start.elapsed().as_secs_f64() / steps as f64)
    };
    go(&mut model, WARM_UP)?;
    let rounds = (1.0 / (go(&mut model, POOL)? * POOL as f64)).ceil().clamp(1.0, 20.0) as usize;
    let mut seconds: Vec<f64> = (0..3).map(|_| go(&mut model, rounds * POOL)).collect::<Result<_>>()?;
    seconds.sort_by(f64::total_cmp);
    let seconds = seconds[1];
    let real: f64 = batches.iter().map(|batch| tokens(batch)).sum::<usize>() as f64 / POOL as f64;
    let rows: f64 = packed.iter().map(|batch| batch.rows).sum::<usize>() as f64 / POOL as f64;
    let length = real / (members * cells[0].train.batch) as f64;
    let gemm = model.ops.gemm_seconds((rows as usize).next_multiple_of(ROUND).min(capacity))?;
    let figures = vec![
        ("real tokens/s", real / seconds),
        ("model-steps/s", members as f64 / seconds),
        ("TFLOP/s", shape.train_flops(real, length) / seconds / 1e12),
        ("ms/step", seconds * 1e3),
        ("ms matmuls alone", gemm * 1e3),
        ("of the GEMM ceiling", gemm / seconds),
        ("real share", real / (rows * members as f64)),
        ("tokens/sequence", length),
    ];
    report.row(BenchLine { what: step_of("GPU", &shape), members: Some(members), vocab: Some(vocab), figures })?;
    if kernels {
        model.ops.start_timing();
        go(&mut model, POOL)?;
        let mut table: Vec<_> = model.ops.stop_timing()?.into_iter().collect();
        table.sort_by(|a, b| b.1.0.total_cmp(&a.1.0));
        for (name, (ms, count)) in table {
            let figures = vec![("ms/step", ms / POOL as f64), ("launches", count as f64 / POOL as f64)];
            report.row(BenchLine { what: format!("  {name}"), members: None, vocab: None, figures })?;
        }
    }
    Ok(())
}
