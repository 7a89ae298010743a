//! The operations of a device: the contract between the transformer and the hardware.
//!
//! A device holds a population's parameters, gradients and moments as `[N, layout.size]`, and the last loaded batch.
//! Activations are buffers of `[N, rows, width]` with the rows of the loaded batch, in the device's number type (f32 or f64
//! on CPU, bf16 on CUDA with f32 inside every reduction). No result depends on the order in which threads finish.
//!
//! A device may overlap or defer work. The transformer therefore reports its progress by [`Ops::reach`]. One training step
//! is these calls and points, in this order:
//!
//! ```text
//! load                                     the batch, and the members' updates that follow it
//! replay_step                              may replay a recording of all that follows
//!   BeginForward                           embed_norm
//!   BeginPart(Layer(l))                    the layer's forward operations; for each layer
//!   BeginPart(Head)                        linear
//!   cross_entropy
//!   linear_backward_weight(head)           EndPartBackward(Head), then the norm's backward
//!   ... of layer l, qkv last               EndPartBackward(Layer(l)), then the norm's backward; from the last layer on
//!   EndNormsBackward                       embed_backward
//!   EndBackward
//!   update
//! EndStep
//! losses, history                          at any time
//! ```
//!
//! A forward-only pass (evaluation, decoding, scoring) makes the calls from `BeginForward` to the head.

use crate::layout::{Linear, Norm};
use crate::{Batch, Error, Layout, Result, Shape, Span, Tensor};
use invitro_base::settings::TrainConfig;

/// AdamW and clipping for one step of one member. The learning rate is the schedule's at this step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Update {
    /// Counted from 1, for the bias correction.
    pub step: u64,
    pub lr: f64,
    pub beta1: f64,
    pub beta2: f64,
    pub eps: f64,
    pub weight_decay: f64,
    /// Gradients of a member are scaled down to this global norm; infinite for no clipping.
    pub clip: f64,
    /// The share of every target's probability that is spread evenly over the vocabulary.
    pub smoothing: f64,
}

impl Update {
    /// The update of a step, counted from 1.
    pub fn at(config: &TrainConfig, step: u64) -> Self {
        let TrainConfig { beta1, beta2, eps, weight_decay, clip, smoothing, .. } = *config;
        let clip = if clip > 0.0 { clip } else { f64::INFINITY };
        Update { step, lr: config.rate(step), beta1, beta2, eps, weight_decay, clip, smoothing }
    }
}

/// The four vectors of a population, each `[N, layout.size]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vector {
    Weights,
    Gradients,
    /// First moment.
    Mean,
    /// Second moment.
    Variance,
}

/// A part of a model whose weights are read, and whose gradients are complete, at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelPart {
    Embedding,
    /// The gains of all norms, and all biases.
    Gains,
    /// The learned positions.
    Positions,
    /// The matrices of a layer.
    Layer(usize),
    Head,
}

/// A point of a pass that the transformer reports to the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassPoint {
    /// Before the first operation of every forward pass. A device that defers updates starts the last one here; then the
    /// embedding, the positions, the gains and the biases may be read.
    BeginForward,
    /// In a forward pass, before the first matrix of a layer or of the head is read.
    BeginPart(ModelPart),
    /// In the backward pass, after the last weight gradient of the head or of a layer is issued.
    EndPartBackward(ModelPart),
    /// After the backward of every norm is issued. A device with partial sums of the gains' and biases' gradients adds them up here.
    EndNormsBackward,
    /// After the last operation of the backward pass. A device with a weight-gradient stream joins it here: all gradients
    /// are complete for later operations.
    EndBackward,
    /// After [`Ops::update`], unless [`Ops::replay_step`] replayed the step; ends a recording.
    EndStep,
}

/// The number of loss groups.
pub const GROUPS: usize = 16;

/// Checks that a model of this shape can read a batch.
pub fn check_batch(batch: &Batch, shape: &Shape) -> Result<()> {
    check_tokens(&batch.tokens, shape)?;
    if let Some(target) = batch.targets.iter().find(|&&target| target >= shape.vocab as i32) {
        return Err(Error::Batch(format!("target {target}: the vocabulary has {} tokens", shape.vocab)));
    }
    if let Some(span) = batch.spans.iter().flatten().find(|span| span.len as usize > shape.context) {
        return Err(Error::Batch(format!("a span of {}: the context is {}", span.len, shape.context)));
    }
    // Spans are computed in parallel, each writing to its own rows.
    let overlap = |pair: &[Span]| pair[0].start + pair[0].len > pair[1].start;
    if batch.spans.iter().any(|spans| spans.windows(2).any(overlap)) {
        return Err(Error::Batch("spans overlap, or are not in the order of their rows".into()));
    }
    if let Some(group) = batch.groups.iter().find(|&&group| group as usize >= GROUPS) {
        return Err(Error::Batch(format!("loss group {group}: groups are numbered from 0 to {}", GROUPS - 1)));
    }
    Ok(())
}

/// Checks that there is an update for each member, or none at all.
pub fn check_updates(updates: &[Update], members: usize) -> Result<()> {
    match updates.len() {
        count if count == 0 || count == members => Ok(()),
        count => Err(Error::Batch(format!("updates for {count} members: this population has {members}"))),
    }
}

/// Checks tokens.
pub fn check_tokens(tokens: &[u32], shape: &Shape) -> Result<()> {
    match tokens.iter().find(|&&token| token as usize >= shape.vocab) {
        Some(token) => Err(Error::Batch(format!("token {token}: the vocabulary has {} tokens", shape.vocab))),
        None => Ok(()),
    }
}

/// The loss of one member: by group, the sum over rows and the number of rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loss {
    pub sum: Vec<f64>,
    pub count: Vec<u64>,
    /// Global norm of the gradient before clipping.
    pub grad_norm: f64,
}

impl Loss {
    /// Mean loss over all rows, in nats per token.
    pub fn mean(&self) -> f64 {
        self.sum.iter().sum::<f64>() / self.count.iter().sum::<u64>().max(1) as f64
    }
}

pub trait Ops {
    /// An activation buffer.
    type Buf;
    /// A buffer of per-row statistics, always at least f32.
    type Stat;

    fn members(&self) -> usize;
    fn shape(&self) -> &Shape;
    fn layout(&self) -> &Layout;

    fn buf(&mut self, elements: usize) -> Result<Self::Buf>;
    fn stat(&mut self, elements: usize) -> Result<Self::Stat>;

    /// Copies a vector of one member in and out, as f32, after any deferred update.
    fn write(&mut self, member: usize, vector: Vector, values: &[f32]) -> Result<()>;
    fn read(&mut self, member: usize, vector: Vector) -> Result<Vec<f32>>;

    /// Loads a batch for the following operations, and every member's update for [`Ops::update`]; there are no updates for
    /// a pass that ends without one.
    fn load(&mut self, batch: &Batch, updates: &[Update]) -> Result<()>;
    /// Called after [`Ops::load`], before a training step. A device that records steps replays a recording for the batch's
    /// sizes, if it has one, and returns true; the caller then issues nothing.
    fn replay_step(&mut self) -> Result<bool> {
        Ok(false)
    }
    /// Called when a step has failed: true if it was being recorded, so that nothing of it has run and it can be issued again.
    fn abandon_recording(&mut self) -> bool {
        false
    }
    /// Called at every point of a pass.
    fn reach(&mut self, _point: PassPoint) -> Result<()> {
        Ok(())
    }
    /// Waits for the last step, or for the last [`Ops::cross_entropy`], and returns the losses per member.
    fn losses(&mut self) -> Result<Vec<Loss>>;
    /// Waits for the last [`Ops::update`], and returns the losses per member of every step since the last call, the oldest
    /// first, at most [`crate::HISTORY`].
    fn history(&mut self) -> Result<Vec<Vec<Loss>>>;

    /// out\[row\] = weight\[token\[row\]\], plus the learned position of the row where there is one.
    fn embed(&mut self, weight: Tensor, out: &mut Self::Buf) -> Result<()>;
    /// grad(weight)\[v\] = sum of dx over the rows with token v, in row order, for every v; in a tied model it is added to the
    /// gradient of the head. Likewise for learned positions.
    fn embed_backward(&mut self, dx: &Self::Buf, weight: Tensor) -> Result<()>;

    /// RMSNorm: out = x · inverse · gain, inverse = 1 / sqrt(mean(x²) + ε), saved for backward.
    /// LayerNorm: out = (x - mean) · inverse · gain + bias, inverse = 1 / sqrt(variance + ε).
    fn norm(&mut self, x: &Self::Buf, norm: Norm, out: &mut Self::Buf, inverse: &mut Self::Stat) -> Result<()>;
    /// Writes the gradient through the norm to `dx`, or adds it if `add`; writes the gradients of gain and bias by
    /// [`PassPoint::EndNormsBackward`] at the latest.
    fn norm_backward(
        &mut self,
        dy: &Self::Buf,
        x: &Self::Buf,
        inverse: &Self::Stat,
        norm: Norm,
        dx: &mut Self::Buf,
        add: bool,
    ) -> Result<()>;

    /// y = x · weightᵀ (+ bias) (+ `residual`)
    fn linear(&mut self, x: &Self::Buf, linear: Linear, residual: Option<&Self::Buf>, y: &mut Self::Buf) -> Result<()>;
    /// dx = dy · weight
    fn linear_backward_input(&mut self, dy: &Self::Buf, weight: Tensor, dx: &mut Self::Buf) -> Result<()>;
    /// grad(weight) = dyᵀ · x; grad(bias) = sum of dy over rows, by [`PassPoint::EndNormsBackward`] at the latest.
    fn linear_backward_weight(&mut self, dy: &Self::Buf, x: &Self::Buf, linear: Linear) -> Result<()>;

    /// Causal attention within each span, heads side by side in every row of `qkv` = \[query | key | value\]; Llama's
    /// rotary positions (rotate-half) are applied to query and key first. `log_sum` saves each row's log-sum-exp per head.
    fn attention(&mut self, qkv: &Self::Buf, out: &mut Self::Buf, log_sum: &mut Self::Stat) -> Result<()>;
    fn attention_backward(
        &mut self,
        qkv: &Self::Buf,
        out: &Self::Buf,
        log_sum: &Self::Stat,
        dout: &Self::Buf,
        dqkv: &mut Self::Buf,
    ) -> Result<()>;

    /// gate_up = x · weightᵀ (+ bias), then gated = activation(gate_up): [`Ops::linear`] and [`Ops::activate`], which a device
    /// may fuse.
    fn linear_activate(
        &mut self,
        x: &Self::Buf,
        linear: Linear,
        gate_up: &mut Self::Buf,
        gated: &mut Self::Buf,
    ) -> Result<()> {
        self.linear(x, linear, None, gate_up)?;
        self.activate(gate_up, gated)
    }
    /// Backward from dy, the gradient of gated · weightᵀ, to gate_up. A device that fuses the two does not write `dgated`.
    fn linear_activate_backward(
        &mut self,
        dy: &Self::Buf,
        weight: Tensor,
        gate_up: &Self::Buf,
        dgated: &mut Self::Buf,
        dgate_up: &mut Self::Buf,
    ) -> Result<()> {
        self.linear_backward_input(dy, weight, dgated)?;
        self.activate_backward(gate_up, dgated, dgate_up)
    }

    /// [`Ops::embed`], then [`Ops::norm`], which a device may fuse.
    fn embed_norm(
        &mut self,
        weight: Tensor,
        out: &mut Self::Buf,
        norm: Norm,
        normed: &mut Self::Buf,
        inverse: &mut Self::Stat,
    ) -> Result<()> {
        self.embed(weight, out)?;
        self.norm(out, norm, normed, inverse)
    }
    /// y = x · weightᵀ (+ bias) + residual and its norm: [`Ops::linear`] and [`Ops::norm`], which a device may fuse.
    #[allow(clippy::too_many_arguments)]
    fn linear_norm(
        &mut self,
        x: &Self::Buf,
        linear: Linear,
        residual: &Self::Buf,
        y: &mut Self::Buf,
        norm: Norm,
        normed: &mut Self::Buf,
        inverse: &mut Self::Stat,
    ) -> Result<()> {
        self.linear(x, linear, Some(residual), y)?;
        self.norm(y, norm, normed, inverse)
    }
    /// Backward from dy, the gradient of norm(x) · weightᵀ, to x. A device that fuses the two does not write `dnormed`.
    #[allow(clippy::too_many_arguments)]
    fn linear_norm_backward(
        &mut self,
        dy: &Self::Buf,
        weight: Tensor,
        x: &Self::Buf,
        inverse: &Self::Stat,
        norm: Norm,
        dnormed: &mut Self::Buf,
        dx: &mut Self::Buf,
        add: bool,
    ) -> Result<()> {
        self.linear_backward_input(dy, weight, dnormed)?;
        self.norm_backward(dnormed, x, inverse, norm, dx, add)
    }

    /// SwiGLU: out = silu(gate) · up, with `gate_up` = \[gate | up\] in every row. GPT-2: out = gelu(up).
    fn activate(&mut self, gate_up: &Self::Buf, out: &mut Self::Buf) -> Result<()>;
    fn activate_backward(&mut self, gate_up: &Self::Buf, dout: &Self::Buf, dgate_up: &mut Self::Buf) -> Result<()>;

    /// Computes the cross-entropy of every row with a target, for [`Ops::losses`]. Turns `logits` into the gradient of the
    /// member's mean loss, whose targets are smoothed by the loaded update.
    fn cross_entropy(&mut self, logits: &mut Self::Buf) -> Result<()>;

    /// Clips each member's gradient and applies AdamW, with the member's loaded update. A device may defer it to the next forward pass.
    fn update(&mut self) -> Result<()>;
}
