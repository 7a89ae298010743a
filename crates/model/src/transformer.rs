//! The model, forward and backward, over [`Ops`].

use crate::ops::{Loss, ModelPart, Ops, PassPoint, Update};
use crate::{Batch, Error, Layout, Result, Shape};

/// N models of one shape with the memory for a batch of up to `capacity` rows each.
pub struct Transformer<O: Ops> {
    pub ops: O,
    layout: Layout,
    capacity: usize,
    layers: Vec<LayerActivations<O>>,
    /// The residual stream after the last layer, its norm, and the logits (then their gradient).
    last: O::Buf,
    last_norm: O::Buf,
    last_inverse: O::Stat,
    logits: O::Buf,
    back: Gradients<O>,
}

/// The activations of one layer, saved for backward.
struct LayerActivations<O: Ops> {
    x: O::Buf,
    inverse1: O::Stat,
    norm1: O::Buf,
    qkv: O::Buf,
    attended: O::Buf,
    log_sum: O::Stat,
    mid: O::Buf,
    inverse2: O::Stat,
    norm2: O::Buf,
    gate_up: O::Buf,
    gated: O::Buf,
}

/// Gradients of activations, reused by every layer.
struct Gradients<O: Ops> {
    x: O::Buf,
    norm: O::Buf,
    qkv: O::Buf,
    attended: O::Buf,
    gate_up: O::Buf,
    gated: O::Buf,
}

/// Activation and statistics elements per row of a batch in [`Transformer`].
pub fn elements_per_row(shape: &Shape) -> (usize, usize) {
    let &Shape { layers, width, heads, hidden, vocab, .. } = shape;
    let inside = shape.up_width() + hidden;
    let layer = 8 * width + inside;
    let gradients = 6 * width + inside;
    (layers * layer + gradients + 2 * width + vocab, layers * (2 + heads) + 1)
}

impl<O: Ops> Transformer<O> {
    /// Allocates all memory for steps of up to `capacity` rows per member.
    pub fn new(mut ops: O, capacity: usize) -> Result<Self> {
        let (shape, layout) = (ops.shape().clone(), ops.layout().clone());
        let rows = ops.members() * capacity;
        let (width, hidden, up) = (shape.width, shape.hidden, shape.up_width());
        let mut layers = Vec::with_capacity(shape.layers);
        for _ in 0..shape.layers {
            layers.push(LayerActivations {
                x: ops.buf(rows * width)?,
                inverse1: ops.stat(rows)?,
                norm1: ops.buf(rows * width)?,
                qkv: ops.buf(rows * 3 * width)?,
                attended: ops.buf(rows * width)?,
                log_sum: ops.stat(rows * shape.heads)?,
                mid: ops.buf(rows * width)?,
                inverse2: ops.stat(rows)?,
                norm2: ops.buf(rows * width)?,
                gate_up: ops.buf(rows * up)?,
                gated: ops.buf(rows * hidden)?,
            });
        }
        let back = Gradients {
            x: ops.buf(rows * width)?,
            norm: ops.buf(rows * width)?,
            qkv: ops.buf(rows * 3 * width)?,
            attended: ops.buf(rows * width)?,
            gate_up: ops.buf(rows * up)?,
            gated: ops.buf(rows * hidden)?,
        };
        Ok(Transformer {
            last: ops.buf(rows * width)?,
            last_norm: ops.buf(rows * width)?,
            last_inverse: ops.stat(rows)?,
            logits: ops.buf(rows * shape.vocab)?,
            ops,
            layout,
            capacity,
            layers,
            back,
        })
    }

    /// The buffers of all activations and of all statistics.
    pub fn buffers(&self) -> (Vec<&O::Buf>, Vec<&O::Stat>) {
        let d = &self.back;
        let mut bufs = vec![&self.last, &self.last_norm, &self.logits];
        bufs.extend([&d.x, &d.norm, &d.qkv, &d.attended, &d.gate_up, &d.gated]);
        let mut stats = vec![&self.last_inverse];
        for a in &self.layers {
            bufs.extend([&a.x, &a.norm1, &a.qkv, &a.attended, &a.mid, &a.norm2, &a.gate_up, &a.gated]);
            stats.extend([&a.inverse1, &a.log_sum, &a.inverse2]);
        }
        (bufs, stats)
    }

    /// One step: forward, backward, every member's update. The losses come with [`Ops::losses`].
    pub fn train_step(&mut self, batch: &Batch, updates: &[Update]) -> Result<()> {
        self.load(batch, updates)?;
        if self.ops.replay_step()? {
            return Ok(());
        }
        match self.issue_step() {
            Err(_) if self.ops.abandon_recording() => self.issue_step(),
            issued => issued,
        }
    }

    fn issue_step(&mut self) -> Result<()> {
        self.forward()?;
        self.ops.cross_entropy(&mut self.logits)?;
        self.backward()?;
        self.ops.update()?;
        self.ops.reach(PassPoint::EndStep)
    }

    /// Forward and backward without an update: the gradients stay in the device's vectors.
    pub fn gradients(&mut self, batch: &Batch, updates: &[Update]) -> Result<Vec<Loss>> {
        self.load(batch, updates)?;
        self.forward()?;
        self.ops.cross_entropy(&mut self.logits)?;
        self.backward()?;
        self.ops.losses()
    }

    /// Losses without gradients.
    pub fn evaluate(&mut self, batch: &Batch) -> Result<Vec<Loss>> {
        self.load(batch, &[])?;
        self.forward()?;
        self.ops.cross_entropy(&mut self.logits)?;
        self.ops.losses()
    }

    /// The logits of every row of a batch, in the device's buffer.
    pub fn logits(&mut self, batch: &Batch) -> Result<&mut O::Buf> {
        self.load(batch, &[])?;
        self.forward()?;
        Ok(&mut self.logits)
    }

    fn load(&mut self, batch: &Batch, updates: &[Update]) -> Result<()> {
        if batch.members != self.ops.members() || batch.rows > self.capacity {
            return Err(Error::Batch(format!(
                "{} members of {} rows: this population has {} members and room for {} rows",
                batch.members,
                batch.rows,
                self.ops.members(),
                self.capacity
            )));
        }
        self.ops.load(batch, updates)
    }

    fn forward(&mut self) -> Result<()> {
        let ops = &mut self.ops;
        ops.reach(PassPoint::BeginForward)?;
        let first = &mut self.layers[0];
        let norm = self.layout.layers[0].norm1;
        ops.embed_norm(self.layout.embed, &mut first.x, norm, &mut first.norm1, &mut first.inverse1)?;
        for (l, at) in self.layout.layers.iter().enumerate() {
            let (here, after) = self.layers[l..].split_at_mut(1);
            let a = &mut here[0];
            ops.reach(PassPoint::BeginPart(ModelPart::Layer(l)))?;
            ops.linear(&a.norm1, at.qkv, None, &mut a.qkv)?;
            ops.attention(&a.qkv, &mut a.attended, &mut a.log_sum)?;
            let (mid, norm2, inverse2) = (&mut a.mid, &mut a.norm2, &mut a.inverse2);
            ops.linear_norm(&a.attended, at.out, &a.x, mid, at.norm2, norm2, inverse2)?;
            ops.linear_activate(&a.norm2, at.gate_up, &mut a.gate_up, &mut a.gated)?;
            // The norm is that of the next layer, or of the head.
            let (norm, next, normed, inverse) = match after.first_mut() {
                Some(next) => (self.layout.layers[l + 1].norm1, &mut next.x, &mut next.norm1, &mut next.inverse1),
                None => (self.layout.norm, &mut self.last, &mut self.last_norm, &mut self.last_inverse),
            };
            ops.linear_norm(&a.gated, at.down, &a.mid, next, norm, normed, inverse)?;
        }
        ops.reach(PassPoint::BeginPart(ModelPart::Head))?;
        ops.linear(&self.last_norm, self.layout.head, None, &mut self.logits)
    }

    /// From the gradient of the logits to the gradients of all parameters.
    fn backward(&mut self) -> Result<()> {
        let (ops, d, layout) = (&mut self.ops, &mut self.back, &self.layout);
        ops.linear_backward_weight(&self.logits, &self.last_norm, layout.head)?;
        ops.reach(PassPoint::EndPartBackward(ModelPart::Head))?;
        let (x, inverse) = (&self.last, &self.last_inverse);
        ops.linear_norm_backward(
            &self.logits,
            layout.head.weight,
            x,
            inverse,
            layout.norm,
            &mut d.norm,
            &mut d.x,
            false,
        )?;
        for (l, (a, at)) in self.layers.iter().zip(&layout.layers).enumerate().rev() {
            ops.linear_backward_weight(&d.x, &a.gated, at.down)?;
            ops.linear_activate_backward(&d.x, at.down.weight, &a.gate_up, &mut d.gated, &mut d.gate_up)?;
            ops.linear_backward_weight(&d.gate_up, &a.norm2, at.gate_up)?;
            let (x, inverse) = (&a.mid, &a.inverse2);
            ops.linear_norm_backward(&d.gate_up, at.gate_up.weight, x, inverse, at.norm2, &mut d.norm, &mut d.x, true)?;
            ops.linear_backward_weight(&d.x, &a.attended, at.out)?;
            ops.linear_backward_input(&d.x, at.out.weight, &mut d.attended)?;
            ops.attention_backward(&a.qkv, &a.attended, &a.log_sum, &d.attended, &mut d.qkv)?;
            ops.linear_backward_weight(&d.qkv, &a.norm1, at.qkv)?;
            ops.reach(PassPoint::EndPartBackward(ModelPart::Layer(l)))?;
            let (x, inverse) = (&a.x, &a.inverse1);
            ops.linear_norm_backward(&d.qkv, at.qkv.weight, x, inverse, at.norm1, &mut d.norm, &mut d.x, true)?;
        }
        ops.reach(PassPoint::EndNormsBackward)?;
        ops.embed_backward(&d.x, layout.embed)?;
        ops.reach(PassPoint::EndBackward)
    }
}
