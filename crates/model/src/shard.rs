//! Members of a population that one device works on together, behind one interface whatever the device.

use crate::inference::{HiddenState, InferOps, Inference, MemberPass, Output, Outputs};
use crate::ops::{Loss, Update, Vector};
use crate::{Batch, Result, Shape, TokenSequence, Transformer};

/// What a population asks of its shards; slices have one element per member of the shard.
pub trait Shard: Send {
    fn members(&self) -> usize;
    fn shape(&self) -> &Shape;
    /// Sequences of a member that are decoded at once.
    fn regions(&self) -> usize;
    fn train_step(&mut self, sequences: &[Vec<TokenSequence>], update: &Update) -> Result<()>;
    /// Waits for the last step.
    fn losses(&mut self) -> Result<Vec<Loss>>;
    /// Waits for the last step; the losses of every step since the last call, as [`crate::Ops::history`].
    fn history(&mut self) -> Result<Vec<Vec<Loss>>>;
    /// Losses on sequences that are not trained on.
    fn evaluate(&mut self, sequences: &[Vec<TokenSequence>]) -> Result<Vec<Loss>>;
    fn read(&mut self, member: usize, vector: Vector) -> Result<Vec<f32>>;
    fn write(&mut self, member: usize, vector: Vector, values: &[f32]) -> Result<()>;
    /// Makes room for forward-only passes of this size per member. What was cached may be lost.
    fn make_room(&mut self, rows: usize, slots: usize, picks: usize) -> Result<()>;
    /// One forward-only pass, and what is computed from its logits.
    fn run(&mut self, parts: &[MemberPass], output: Output) -> Result<Vec<Outputs>>;
    /// One forward-only pass, and the hidden states of its picked rows, `[member][layer][pick]`.
    fn hidden(&mut self, parts: &[MemberPass], layers: &[usize]) -> Result<Vec<Vec<Vec<HiddenState>>>>;
}

/// Sequences of a member that are decoded at once on a device that rounds rows up to multiples of `round`.
pub fn regions(shape: &Shape, round: usize) -> usize {
    // The wider a model, the sooner a pass is work enough. A GPU, which is what rounds rows up, wants more of it.
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
            // As much as before at least: who decodes and scores in turn should find room for both.
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

    fn train_step(&mut self, sequences: &[Vec<TokenSequence>], update: &Update) -> Result<()> {
        let batch = self.pack(sequences)?;
        self.model.train_step(&batch, update)
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

    fn hidden(&mut self, parts: &[MemberPass], layers: &[usize]) -> Result<Vec<Vec<Vec<HiddenState>>>> {
        let round = self.round;
        let (ops, inference) = self.with_room(parts)?;
        inference.hidden(ops, parts, layers, round)
    }
}
