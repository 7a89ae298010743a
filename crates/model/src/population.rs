//! A population: N models of one shape on one device, each with its own seed, data and optimizer settings.
//!
//! ```
//! use invitro_model::{Device, Population, TokenSequence, Shape, TrainConfig, Update};
//! let shape = Shape { layers: 1, width: 16, heads: 2, hidden: 24, context: 8, ..Shape::paper(32) };
//! let mut population = Population::new(Device::Cpu, &shape, &[0, 1], 16)?;
//! let data = vec![vec![TokenSequence { tokens: vec![1, 2, 3, 4], group: 0 }]; 2];
//! population.train_step(&data, &[Update::at(&TrainConfig::default(), 1); 2])?;
//! assert_eq!(population.losses()?.len(), 2);
//! # Ok::<(), invitro_model::Error>(())
//! ```

use crate::checkpoint::Checkpoint;
use crate::cpu::{Cpu, simd};
use crate::cuda;
use crate::inference::{ContinuationScores, Decoded, HiddenQuery, LayerStates, PatchedQuery, Prompt, ScoreQuery};
use crate::inference::{decode, hidden, score};
use crate::init::initial_weights;
use crate::ops::{Loss, Update, Vector, check_updates};
use crate::shard::{ModelShard, Shard};
use crate::{Device, Error, Result, Shape, TokenSequence, memory};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Allocates shards for `members` models on a device.
fn shards(device: Device, shape: &Shape, members: usize, capacity: usize) -> Result<Vec<Box<dyn Shard>>> {
    if device == Device::Cpu {
        memory::check_host(shape, members, capacity)?;
    }
    match device {
        // One member per shard, so that a core that trains a whole model does not wait for others.
        Device::Cpu => (0..members)
            .map(|_| {
                let ops = Cpu::<f32>::new(shape, 1, capacity)?;
                Ok(Box::new(ModelShard::new(ops, capacity, 1)?) as Box<dyn Shard>)
            })
            .collect(),
        // All members in one shard, for large batched matmuls.
        Device::Cuda(number) => {
            let capacity = capacity.next_multiple_of(cuda::ROUND);
            let ops = cuda::Cuda::new(&cuda::Gpu::open(number)?, shape, members, capacity)?;
            Ok(vec![Box::new(ModelShard::new(ops, capacity, cuda::ROUND)?)])
        }
    }
}

/// N models over the shards of a device.
pub struct Population {
    shape: Shape,
    device: Device,
    seeds: Vec<u64>,
    shards: Vec<Box<dyn Shard>>,
    /// The first member of each shard, and N.
    starts: Vec<usize>,
    /// Unread losses of steps before [`Population::grow`].
    before: Vec<Vec<Loss>>,
}

impl Population {
    /// One model per seed, with its initial weights, and memory for batches of up to `capacity` rows per model (a
    /// sequence of n tokens takes n - 1).
    pub fn new(device: Device, shape: &Shape, seeds: &[u64], capacity: usize) -> Result<Self> {
        shape.validate()?;
        simd::configured()?;
        if seeds.is_empty() {
            return Err(Error::Batch("a population of no models: there must be at least one".into()));
        }
        let shards = shards(device, shape, seeds.len(), capacity)?;
        let mut starts = vec![0];
        starts.extend(shards.iter().scan(0, |sum, shard| {
            *sum += shard.members();
            Some(*sum)
        }));
        let mut population =
            Population { shape: shape.clone(), device, seeds: seeds.to_vec(), shards, starts, before: Vec::new() };
        let weights: Vec<Vec<f32>> = seeds.par_iter().map(|&seed| initial_weights(shape, seed)).collect();
        for (member, weights) in weights.iter().enumerate() {
            population.write(member, Vector::Weights, weights)?;
        }
        Ok(population)
    }

    /// Reallocates for larger batches. The old memory is freed first; after a failure the population is unusable.
    pub fn grow(&mut self, capacity: usize) -> Result<()> {
        self.before = self.history()?;
        let members = (0..self.members()).map(|member| self.checkpoint(member, 0, BTreeMap::new()));
        let members = members.collect::<Result<Vec<_>>>()?;
        self.shards.clear();
        self.shards = shards(self.device, &self.shape, self.members(), capacity)?;
        members.iter().enumerate().try_for_each(|(member, checkpoint)| self.restore(member, checkpoint))
    }

    pub fn members(&self) -> usize {
        self.seeds.len()
    }

    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    pub fn device(&self) -> Device {
        self.device
    }

    pub fn seeds(&self) -> &[u64] {
        &self.seeds
    }

    /// One step of every member on its own sequences with its own update. The device may still be at work when this
    /// returns.
    pub fn train_step(&mut self, sequences: &[Vec<TokenSequence>], updates: &[Update]) -> Result<()> {
        if updates.is_empty() {
            return Err(Error::Batch("a training step without updates".into()));
        }
        check_updates(updates, self.members())?;
        self.per_shard(sequences, |start, shard, sequences| {
            shard.train_step(sequences, &updates[start..][..sequences.len()])?;
            Ok(Vec::new())
        })
        .map(|_: Vec<()>| ())
    }

    /// Waits for the last step and returns its losses, one per member.
    pub fn losses(&mut self) -> Result<Vec<Loss>> {
        let losses: Vec<_> = self.shards.iter_mut().map(|shard| shard.losses()).collect::<Result<_>>()?;
        Ok(losses.into_iter().flatten().collect())
    }

    /// Waits for the last step and returns the losses of every step since the last call, the oldest first, one per member.
    /// A device stores at most [`crate::HISTORY`] steps.
    pub fn history(&mut self) -> Result<Vec<Vec<Loss>>> {
        let mut steps: Vec<Vec<Loss>> = Vec::new();
        for shard in &mut self.shards {
            let own = shard.history()?;
            steps.resize_with(own.len(), Vec::new);
            steps.iter_mut().zip(own).for_each(|(step, losses)| step.extend(losses));
        }
        let mut all = std::mem::take(&mut self.before);
        all.extend(steps);
        Ok(all)
    }

    /// Every member's losses on its own sequences, without training.
    pub fn evaluate(&mut self, sequences: &[Vec<TokenSequence>]) -> Result<Vec<Loss>> {
        self.per_shard(sequences, |_, shard, sequences| shard.evaluate(sequences))
    }

    /// Decodes every member's own prompts, each up to `eos` or its limit.
    pub fn decode(&mut self, prompts: &[Vec<Prompt>], eos: u32) -> Result<Vec<Vec<Decoded>>> {
        let seeds = self.seeds.clone();
        self.per_shard(prompts, |start, shard, prompts| decode::decode(shard, prompts, &seeds[start..], eos))
    }

    /// Scores every member's own queries.
    pub fn score(&mut self, queries: &[Vec<ScoreQuery>]) -> Result<Vec<Vec<ContinuationScores>>> {
        self.per_shard(queries, |_, shard, queries| score::score(shard, queries))
    }

    /// The same with patches of hidden states.
    pub fn score_patched(&mut self, queries: &[Vec<PatchedQuery>]) -> Result<Vec<Vec<ContinuationScores>>> {
        self.per_shard(queries, |_, shard, queries| score::score_patched(shard, queries))
    }

    /// The hidden states of every member's own queries.
    pub fn hidden(&mut self, queries: &[Vec<HiddenQuery>]) -> Result<Vec<Vec<LayerStates>>> {
        self.per_shard(queries, |_, shard, queries| hidden::hidden(shard, queries))
    }

    /// The gradient of every member's mean loss on its own sequences, in the order of [`crate::Layout`], without training.
    pub fn gradients(&mut self, sequences: &[Vec<TokenSequence>]) -> Result<Vec<Vec<f32>>> {
        self.per_shard(sequences, |_, shard, sequences| shard.gradients(sequences))
    }

    /// One vector of a member, in the order of [`crate::Layout`].
    pub fn read(&mut self, member: usize, vector: Vector) -> Result<Vec<f32>> {
        let (shard, member) = self.shard(member)?;
        self.shards[shard].read(member, vector)
    }

    pub fn write(&mut self, member: usize, vector: Vector, values: &[f32]) -> Result<()> {
        let (shard, member) = self.shard(member)?;
        self.shards[shard].write(member, vector, values)
    }

    /// The checkpoint to resume a member after `step` steps.
    pub fn checkpoint(&mut self, member: usize, step: u64, metadata: BTreeMap<String, String>) -> Result<Checkpoint> {
        Ok(Checkpoint {
            shape: self.shape.clone(),
            step,
            metadata,
            weights: self.read(member, Vector::Weights)?,
            mean: self.read(member, Vector::Mean)?,
            variance: self.read(member, Vector::Variance)?,
        })
    }

    /// Restores a member from a checkpoint.
    pub fn restore(&mut self, member: usize, checkpoint: &Checkpoint) -> Result<()> {
        checkpoint.fits(&self.shape)?;
        self.write(member, Vector::Weights, &checkpoint.weights)?;
        self.write(member, Vector::Mean, &checkpoint.mean)?;
        self.write(member, Vector::Variance, &checkpoint.variance)
    }

    /// The shard of a member, and its index there.
    fn shard(&self, member: usize) -> Result<(usize, usize)> {
        if member >= self.members() {
            return Err(Error::Batch(format!("member {member}: this population has {}", self.members())));
        }
        let shard = self.starts.partition_point(|&start| start <= member) - 1;
        Ok((shard, member - self.starts[shard]))
    }

    /// Runs `work` on all shards in parallel, each with its members' part of `given`, and joins the results.
    fn per_shard<T: Sync, R: Send>(
        &mut self,
        given: &[T],
        work: impl Fn(usize, &mut dyn Shard, &[T]) -> Result<Vec<R>> + Sync,
    ) -> Result<Vec<R>> {
        if given.len() != self.members() {
            return Err(Error::Batch(format!(
                "data for {} members: this population has {}",
                given.len(),
                self.members()
            )));
        }
        let starts = &self.starts;
        let results: Vec<Vec<R>> = self
            .shards
            .par_iter_mut()
            .enumerate()
            .map(|(l, shard)| work(starts[l], shard.as_mut(), &given[starts[l]..starts[l + 1]]))
            .collect::<Result<_>>()?;
        Ok(results.into_iter().flatten().collect())
    }
}
