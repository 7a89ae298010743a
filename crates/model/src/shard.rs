//! The members of a population that one device processes together, behind one interface for all devices.

use crate::inference::{HiddenState, InferOps, Inference, MemberPass, Output, Outputs};
use crate::ops::{Loss, Update, Vector};
use crate::{Batch, Result, Shape, TokenSequence, Transformer};

/// A shard of a population; slices have one element per member of the shard.
pub trait Shard: Send {
    fn members(&self) -> usize;
    fn shape(&self) -> &Shape;
    /// The number of sequences that a member decodes at once.
    fn regions(&self) -> usize;
    fn train_step(&mut self, sequences: &[Vec<TokenSequence>], updates: &[Update]) -> Result<()>;
    /// Waits for the last step.
    fn losses(&mut self) -> Result<Vec<Loss>>;
    /// The losses of every step since the last call, as [`crate::Ops::history`].
    fn history(&mut self) -> Result<Vec<Vec<Loss>>>;
    /// Losses without training.
    fn evaluate(&mut self, sequences: &[Vec<TokenSequence>]) -> Result<Vec<Loss>>;
    fn read(&mut self, member: usize, vector: Vector) -> Result<Vec<f32>>;
    fn write(&mut self, member: usize, vector: Vector, values: &[f32]) -> Result<()>;
    /// Allocates memory for forward-only passes of this size per member. The cache may be cleared.
    fn make_room(&mut self, rows: usize, slots: usize, picks: usize) -> Result<()>;
    /// Runs one forward-only pass.
    fn run(&mut self, parts: &[MemberPass], output: Output) -> Result<Vec<Outputs>>;
    /// The gradients of the mean loss, without an update.
    fn gradients(&mut self, sequences: &[Vec<TokenSequence>]) -> Result<Vec<Vec<f32>>>;
    /// The hidden states of the picked rows of one forward-only pass, `[member][layer][pick]`, with their norms if `normed`.
    fn hidden(&mut self, parts: &[MemberPass], layers: &[usize], normed: bool) -> Result<Vec<Vec<Vec<HiddenState>>>>;
}

/// The number of sequences that a member decodes at once on a device that rounds rows up to multiples of `round`.
pub fn regions(shape: &Shape, round: usize) -> usize {
    // Wider models need fewer rows to fill a device. Only GPUs round rows up, and they need more rows.
    let enough = if round == 1 { 16_384 } else { 65_536 };
    (enough / shape.width).clamp(32, 256)
}

/// A shard of any device that offers the operations.
pub struct ModelShard<O: InferOps> {
    model: Transformer<O>,
    inference: Option<Inference<O>>,
    /// Rows are rounded up to multiples of this.
    round: usize,
}

impl<O: InferOps> ModelShard<O> {
    pub fn new(ops: O, capacity: usize, round: usize) -> Result<Self> {
        Ok(ModelShard { model: Transformer::new(ops, capacity)?, inference: None, round })
    }

    /// The operations, and memory for a pass over these parts.
    fn with_room(&mut self, parts: &[MemberPass]) -> Result<(&mut O, &mut Inference<O>)> {
        let most = |count: fn(&MemberPass) -> usize| parts.iter().map(count).max().unwrap_or(0).max(1);
        let (rows, picks) = (most(|part| part.tokens.len()), most(|part| part.picks.len()));
        if self.inference.is_none() {
            self.make_room(rows, rows, picks)?;
        }
        Ok((&mut self.model.ops, self.inference.as_mut().expect("made just above")))
    }

    fn make_room(&mut self, rows: usize, slots: usize, picks: usize) -> Result<()> {
        let wanted = [rows.next_multiple_of(self.round), slots, picks.next_multiple_of(self.round)];
        let room = self.inference.as_ref().map_or([0; 3], Inference::room);
        if room.iter().zip(&wanted).any(|(room, wanted)| room < wanted) {
            // At least as much as before, so that alternating decoding and scoring does not reallocate.
            let [rows, slots, picks] = std::array::from_fn(|i| room[i].max(wanted[i]));
            self.inference = None;
            self.inference = Some(Inference::new(&mut self.model.ops, rows, slots, picks)?);
        }
        Ok(())
    }

    fn pack(&self, sequences: &[Vec<TokenSequence>]) -> Result<Batch> {
        Batch::pack(sequences, self.round, self.model.ops.shape().context)
    }
}

impl<O: InferOps + Send> Shard for ModelShard<O>
where
    O::Buf: Send,
    O::Stat: Send,
    O::Logits: Send,
{
    fn members(&self) -> usize {
        self.model.ops.members()
    }

    fn shape(&self) -> &Shape {
        self.model.ops.shape()
    }

    fn regions(&self) -> usize {
        regions(self.model.ops.shape(), self.round)
    }

    fn train_step(&mut self, sequences: &[Vec<TokenSequence>], updates: &[Update]) -> Result<()> {
        let batch = self.pack(sequences)?;
        self.model.train_step(&batch, updates)
    }

    fn losses(&mut self) -> Result<Vec<Loss>> {
        self.model.ops.losses()
    }

    fn history(&mut self) -> Result<Vec<Vec<Loss>>> {
        self.model.ops.history()
    }

    fn evaluate(&mut self, sequences: &[Vec<TokenSequence>]) -> Result<Vec<Loss>> {
        let batch = self.pack(sequences)?;
        self.model.evaluate(&batch)
    }

    fn gradients(&mut self, sequences: &[Vec<TokenSequence>]) -> Result<Vec<Vec<f32>>> {
        let batch = self.pack(sequences)?;
        self.model.gradients(&batch, &[])?;
        (0..batch.members).map(|member| self.model.ops.read(member, Vector::Gradients)).collect()
    }

    fn read(&mut self, member: usize, vector: Vector) -> Result<Vec<f32>> {
        self.model.ops.read(member, vector)
    }

    fn write(&mut self, member: usize, vector: Vector, values: &[f32]) -> Result<()> {
        self.model.ops.write(member, vector, values)
    }

    fn make_room(&mut self, rows: usize, slots: usize, picks: usize) -> Result<()> {
        ModelShard::make_room(self, rows, slots, picks)
    }

    fn run(&mut self, parts: &[MemberPass], output: Output) -> Result<Vec<Outputs>> {
        let round = self.round;
        let (ops, inference) = self.with_room(parts)?;
        inference.run(ops, parts, output, round)
    }

    fn hidden(&mut self, parts: &[MemberPass], layers: &[usize], normed: bool) -> Result<Vec<Vec<Vec<HiddenState>>>> {
        let round = self.round;
        let (ops, inference) = self.with_room(parts)?;
        inference.hidden(ops, parts, layers, normed, round)
    }
}
