//! Greedy decoding of unscrambling prompts.

use super::batches::{cells, real, tokens};
use super::{BenchLine, Report};
use anyhow::Result;
use invitro_model::{Device, Population, Prompt, Sampling, Shape};
use std::time::Instant;

pub fn measure(device: Device, vocab: usize, settings: &[String], report: &Report) -> Result<()> {
    let members = if device == Device::Cpu { 1 } else { 8 };
    let cells = cells(vocab, members, settings)?;
    let batch = real(&cells, 1)?.remove(0);
    let shape = Shape::new(&cells[0].model, vocab);
    let seeds: Vec<u64> = (0..members as u64).collect();
    let mut population = Population::new(device, &shape, &seeds, tokens(&batch).max(1))?;
    // Untrained models never end a sequence: every prompt is decoded to the same length.
    const NEW: usize = 40;
    let head = |tokens: &[u32]| Prompt {
        tokens: tokens[..tokens.len().min(shape.context - NEW).min(32)].to_vec(),
        sampling: Sampling::Greedy,
        most: NEW,
        key: 0,
    };
    let prompts: Vec<Vec<Prompt>> =
        batch.iter().map(|member| member.iter().map(|sequence| head(&sequence.tokens)).collect()).collect();
    population.decode(&prompts, u32::MAX)?;
    let start = Instant::now();
    let decoded = population.decode(&prompts, u32::MAX)?;
    let seconds = start.elapsed().as_secs_f64();
    let made: usize = decoded.iter().flatten().map(|one| one.tokens.len()).sum();
    let figures = vec![("tokens/s", made as f64 / seconds), ("s", seconds)];
    report.row(BenchLine { what: "greedy decoding".into(), members: Some(members), vocab: Some(vocab), figures })
}
