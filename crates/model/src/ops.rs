//! The operations a device must offer: the contract between the transformer and the hardware.
//!
//! A device holds a population's parameters, gradients and moments as `[N, layout.size]`, and the batch that was
//! loaded last. Activations are buffers of `[N, rows, width]`, rows being the loaded batch's; their number type is the
//! device's (f32 or f64 on CPU, bf16 on CUDA with f32 inside every reduction). No result depends on the order in which
//! threads finish.

use crate::{Batch, Layout, Result, Shape, Tensor};

/// AdamW and clipping for one step. The learning rate is the schedule's at this step.
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
}

impl Update {
    /// The update of a batch that none follows.
    pub fn none() -> Self {
        Update { step: 0, lr: 0.0, beta1: 0.0, beta2: 0.0, eps: 0.0, weight_decay: 0.0, clip: f64::INFINITY }
    }
}

/// The four vectors of a population, each `[N, layout.size]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    Weights,
    Gradients,
    /// First moment.
    Mean,
    /// Second moment.
    Variance,
}

/// Loss of one member: sums over its rows, and how many rows each sum has, per group.
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

/// Whether the operations that follow are to be issued, or were replayed from a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recording {
    Issue,
    Replayed,
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

    /// Copies a vector of one member in and out, as f32.
    fn write(&mut self, member: usize, slot: Slot, values: &[f32]) -> Result<()>;
    fn read(&mut self, member: usize, slot: Slot) -> Result<Vec<f32>>;

    /// Makes `batch` the one that all operations work on, with the update that [`Ops::update`] is to apply.
    fn load(&mut self, batch: &Batch, update: &Update) -> Result<()>;
    /// Before a whole step's operations; a device that replays recordings returns `Replayed` where it has one for the
    /// loaded batch's rows, and the caller then issues nothing.
    fn begin_step(&mut self) -> Result<Recording> {
        Ok(Recording::Issue)
    }
    fn end_step(&mut self) -> Result<()> {
        Ok(())
    }
    /// Waits for the last step and returns the losses per member.
    fn losses(&mut self) -> Result<Vec<Loss>>;

    /// out\[row\] = weight\[token\[row\]\]
    fn embed(&mut self, weight: Tensor, out: &mut Self::Buf) -> Result<()>;
    /// grad(weight)\[v\] = sum of dx over the rows that read v, in row order; every row of the gradient is written.
    fn embed_backward(&mut self, dx: &Self::Buf, weight: Tensor) -> Result<()>;

    /// out = x · inv_rms · gain, inv_rms = 1 / sqrt(mean(x²) + ε), kept for the way back.
    fn rms_norm(&mut self, x: &Self::Buf, gain: Tensor, out: &mut Self::Buf, inv_rms: &mut Self::Stat) -> Result<()>;
    /// The gradient through the norm into `dx`, added where `add` is set, else written; grad(gain) is written.
    fn rms_norm_backward(
        &mut self,
        dy: &Self::Buf,
        x: &Self::Buf,
        inv_rms: &Self::Stat,
        gain: Tensor,
        dx: &mut Self::Buf,
        add: bool,
    ) -> Result<()>;

    /// y = x · weightᵀ, plus `residual` where given.
    fn linear(&mut self, x: &Self::Buf, weight: Tensor, residual: Option<&Self::Buf>, y: &mut Self::Buf) -> Result<()>;
    /// dx = dy · weight
    fn linear_backward_input(&mut self, dy: &Self::Buf, weight: Tensor, dx: &mut Self::Buf) -> Result<()>;
    /// grad(weight) = dyᵀ · x
    fn linear_backward_weight(&mut self, dy: &Self::Buf, x: &Self::Buf, weight: Tensor) -> Result<()>;

    /// Causal attention within each span, heads side by side in every row of `qkv` = \[query | key | value\], rotary
    /// positions (rotate-half) applied to query and key on the way. `log_sum` keeps each row's log-sum-exp per head.
    fn attention(&mut self, qkv: &Self::Buf, out: &mut Self::Buf, log_sum: &mut Self::Stat) -> Result<()>;
    fn attention_backward(
        &mut self,
        qkv: &Self::Buf,
        out: &Self::Buf,
        log_sum: &Self::Stat,
        dout: &Self::Buf,
        dqkv: &mut Self::Buf,
    ) -> Result<()>;

    /// gate_up = x · weightᵀ, then gated = silu(gate) · up: [`Ops::linear`] and [`Ops::swiglu`], which a device may join.
    fn linear_swiglu(
        &mut self,
        x: &Self::Buf,
        weight: Tensor,
        gate_up: &mut Self::Buf,
        gated: &mut Self::Buf,
    ) -> Result<()> {
        self.linear(x, weight, None, gate_up)?;
        self.swiglu(gate_up, gated)
    }
    /// The way back from dy, the gradient of gated · weightᵀ, to gate_up. A device that joins the two leaves `dgated` as it
    /// was.
    fn linear_swiglu_backward(
        &mut self,
        dy: &Self::Buf,
        weight: Tensor,
        gate_up: &Self::Buf,
        dgated: &mut Self::Buf,
        dgate_up: &mut Self::Buf,
    ) -> Result<()> {
        self.linear_backward_input(dy, weight, dgated)?;
        self.swiglu_backward(gate_up, dgated, dgate_up)
    }

    /// [`Ops::embed`] and [`Ops::rms_norm`] of what comes out, which a device may join.
    fn embed_rms_norm(
        &mut self,
        weight: Tensor,
        out: &mut Self::Buf,
        gain: Tensor,
        norm: &mut Self::Buf,
        inv_rms: &mut Self::Stat,
    ) -> Result<()> {
        self.embed(weight, out)?;
        self.rms_norm(out, gain, norm, inv_rms)
    }
    /// y = x · weightᵀ + residual and its norm: [`Ops::linear`] and [`Ops::rms_norm`], which a device may join.
    #[allow(clippy::too_many_arguments)]
    fn linear_rms_norm(
        &mut self,
        x: &Self::Buf,
        weight: Tensor,
        residual: &Self::Buf,
        y: &mut Self::Buf,
        gain: Tensor,
        norm: &mut Self::Buf,
        inv_rms: &mut Self::Stat,
    ) -> Result<()> {
        self.linear(x, weight, Some(residual), y)?;
        self.rms_norm(y, gain, norm, inv_rms)
    }
    /// The way back from dy, the gradient of norm · weightᵀ, to x, of which norm is the norm. A device that joins the two
    /// leaves `dnorm` as it was.
    #[allow(clippy::too_many_arguments)]
    fn linear_rms_norm_backward(
        &mut self,
        dy: &Self::Buf,
        weight: Tensor,
        x: &Self::Buf,
        inv_rms: &Self::Stat,
        gain: Tensor,
        dnorm: &mut Self::Buf,
        dx: &mut Self::Buf,
        add: bool,
    ) -> Result<()> {
        self.linear_backward_input(dy, weight, dnorm)?;
        self.rms_norm_backward(dnorm, x, inv_rms, gain, dx, add)
    }

    /// out = silu(gate) · up, with `gate_up` = \[gate | up\] in every row.
    fn swiglu(&mut self, gate_up: &Self::Buf, out: &mut Self::Buf) -> Result<()>;
    fn swiglu_backward(&mut self, gate_up: &Self::Buf, dout: &Self::Buf, dgate_up: &mut Self::Buf) -> Result<()>;

    /// Cross-entropy of every row with a target. Turns `logits` into their gradient: of the member's mean loss over its
    /// rows with targets. Keeps the losses for [`Ops::losses`].
    fn cross_entropy(&mut self, logits: &mut Self::Buf) -> Result<()>;

    /// Clips each member's gradient and applies AdamW, with the update given at [`Ops::load`].
    fn update(&mut self) -> Result<()>;
}
