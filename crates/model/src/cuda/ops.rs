//! [`Ops`] for a [`Lane`]: each operation is one product or one or two kernels.

use super::compile::GROUPS;
use super::device_error;
use super::gemm::{Operands, Product, Size};
use super::lane::{Lane, NORM_CHUNK, Step, attention_shared};
use super::memory::Memory;
use super::staging::CLASSES;
use crate::ops::{Loss, Ops, Recording, Slot, Update};
use crate::{Batch, Error, Layout, Result, Shape, Tensor};
use cudarc::driver::{result, sys};

impl Lane {
    fn slot(&self, slot: Slot) -> &Memory {
        match slot {
            Slot::Weights => &self.weights,
            Slot::Gradients => &self.gradients,
            Slot::Mean => &self.means,
            Slot::Variance => &self.variances,
        }
    }

    fn size(&self, product: Product, weight: Tensor, residual: bool) -> Size {
        Size {
            product,
            members: self.members,
            rows: self.rows(),
            inputs: weight.cols,
            outputs: weight.rows,
            stride: self.layout.size,
            residual,
        }
    }

    pub(super) fn product(&mut self, product: Product, weight: Tensor, at: Operands) -> Result<()> {
        let size = self.size(product, weight, at.residual != 0);
        let name = if self.kernels.is_timing() { self.describe(product, weight) } else { String::new() };
        let (gemm, stream) = (&mut self.gemm, &self.stream);
        self.kernels.alongside(&name, stream, || gemm.run(size, at, stream.cu_stream()))
    }

    fn describe(&self, product: Product, weight: Tensor) -> String {
        format!("product {:?} {}x{}", product, weight.cols, weight.rows).to_lowercase()
    }

    pub(super) fn halves_at(&self, weight: Tensor) -> u64 {
        self.halves.ptr + 2 * weight.offset as u64
    }

    /// To be called before a buffer is written on the way back.
    fn about_to_write(&mut self, buffer: &Memory) -> Result<()> {
        self.aside.release(&self.stream, Some(buffer.ptr))
    }

    /// Attention over each class of spans; `kernels` are (name, warps) for each, `spans_at` is where the class's spans go
    /// among the arguments.
    fn attend(
        &mut self,
        kernels: [(&'static str, usize); 3],
        matrices: usize,
        args: &mut [u64],
        spans_at: usize,
    ) -> Result<()> {
        let mut spans = self.staged(self.parts.spans);
        for (class, (name, warps)) in kernels.into_iter().enumerate() {
            let count = self.parts.classes[class];
            if count > 0 {
                args[spans_at] = spans;
                let shared = attention_shared(&self.shape, CLASSES[class].min(self.shape.context), matrices);
                self.run(name, (count * self.shape.heads, 1, 1), 32 * warps, shared, args)?;
            }
            spans += 8 * count as u64;
        }
        Ok(())
    }

    /// Makes the bf16 copies follow the f32 weights.
    fn halve(&mut self) -> Result<()> {
        let quads = self.members * self.layout.size / 4;
        let args = [self.weights.ptr, self.halves.ptr, quads as u64];
        self.run("halve", (quads.div_ceil(256), 1, 1), 256, 0, &args)
    }
}

pub(super) const WARPS: usize = 8;

impl Ops for Lane {
    type Buf = Memory;
    type Stat = Memory;

    fn members(&self) -> usize {
        self.members
    }

    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn buf(&mut self, elements: usize) -> Result<Memory> {
        Memory::new(&self.gpu.context, 2 * elements)
    }

    fn stat(&mut self, elements: usize) -> Result<Memory> {
        Memory::new(&self.gpu.context, 4 * elements)
    }

    fn write(&mut self, member: usize, slot: Slot, values: &[f32]) -> Result<()> {
        assert_eq!(values.len(), self.layout.size);
        if slot == Slot::Gradients {
            return Err(Error::Device("gradients are made by the backward pass, not written from outside".into()));
        }
        self.wait()?;
        let at = self.slot(slot).ptr + (4 * member * self.layout.size) as u64;
        self.copy_in(at, values, "writing parameters")?;
        if slot == Slot::Weights { self.halve() } else { Ok(()) }
    }

    fn read(&mut self, member: usize, slot: Slot) -> Result<Vec<f32>> {
        self.wait()?;
        let size = self.layout.size;
        let failed = |e| device_error("reading parameters", e);
        if slot == Slot::Gradients {
            let mut values = vec![0u16; size];
            let at = self.gradients.ptr + (2 * member * size) as u64;
            unsafe { result::memcpy_dtoh_sync(&mut values, at) }.map_err(failed)?;
            return Ok(values.into_iter().map(|half| f32::from_bits((half as u32) << 16)).collect());
        }
        let mut values = vec![0f32; size];
        let at = self.slot(slot).ptr + (4 * member * size) as u64;
        unsafe { result::memcpy_dtoh_sync(&mut values, at) }.map_err(failed)?;
        Ok(values)
    }

    fn load(&mut self, batch: &Batch, update: &Update) -> Result<()> {
        self.gpu.context.bind_to_thread().map_err(|e| device_error("using the GPU", e))?;
        self.parts = self.staging.send(batch, update, self.shape.vocab, &self.stream)?;
        self.tokens = self.staged(self.parts.tokens);
        for (member, counts) in self.counts.iter_mut().enumerate() {
            counts.fill(0);
            let rows = member * batch.rows..(member + 1) * batch.rows;
            for (&group, &target) in batch.groups[rows.clone()].iter().zip(&batch.targets[rows]) {
                if target >= 0 {
                    let count = counts.get_mut(group as usize);
                    *count
                        .ok_or_else(|| Error::Batch(format!("loss group {group}: at most {GROUPS} are counted")))? += 1;
                }
            }
        }
        Ok(())
    }

    fn begin_step(&mut self) -> Result<Recording> {
        if self.kernels.is_timing() {
            return Ok(Recording::Issue);
        }
        match self.steps.get(&self.parts) {
            None => {
                // The first time is issued plainly: libraries load their kernels then, which a recording must not see.
                self.steps.insert(self.parts, Step::Seen);
                Ok(Recording::Issue)
            }
            Some(Step::Seen) => {
                let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
                self.stream.begin_capture(mode).map_err(|e| device_error("recording a step", e))?;
                self.recording = true;
                Ok(Recording::Issue)
            }
            Some(Step::Recorded(graph)) => {
                graph.launch().map_err(|e| device_error("replaying a step", e))?;
                Ok(Recording::Replayed)
            }
        }
    }

    fn end_step(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.recording) {
            return Ok(());
        }
        let flags = sys::CUgraphInstantiate_flags(0);
        let graph = self.stream.end_capture(flags).map_err(|e| device_error("recording a step", e))?;
        let graph = graph.ok_or_else(|| Error::Device("CUDA recorded no step".into()))?;
        graph.launch().map_err(|e| device_error("replaying a step", e))?;
        self.steps.insert(self.parts, Step::Recorded(graph));
        Ok(())
    }

    fn losses(&mut self) -> Result<Vec<Loss>> {
        self.aside.release(&self.stream, None)?;
        let width = GROUPS + 1;
        let sums = self.sums_host.slice::<f32>(0, self.members * width);
        unsafe { result::memcpy_dtoh_async(sums, self.sums.ptr, self.stream.cu_stream()) }
            .map_err(|e| device_error("reading losses", e))?;
        self.stream.synchronize().map_err(|e| device_error("training", e))?;
        let losses = sums.chunks(width).zip(&self.counts);
        Ok(losses
            .map(|(sums, counts)| Loss {
                sum: sums[..GROUPS].iter().map(|&s| s as f64).collect(),
                count: counts.clone(),
                grad_norm: sums[GROUPS] as f64,
            })
            .collect())
    }

    fn embed(&mut self, weight: Tensor, out: &mut Memory) -> Result<()> {
        let (rows, total) = (self.rows(), self.total());
        let args = [self.halves.ptr, weight.offset as u64, self.tokens, out.ptr, rows as u64, total as u64];
        self.run("embed", (total.div_ceil(WARPS), 1, 1), 32 * WARPS, 0, &args)
    }

    fn embed_backward(&mut self, dx: &Memory, weight: Tensor) -> Result<()> {
        let (extra, extras) = (self.staged(self.parts.extra), self.parts.extras);
        let (gradients, offset, partials) = (self.gradients.ptr, weight.offset as u64, self.crowd_partials.ptr);
        let (first, order) = (self.staged(self.parts.first), self.staged(self.parts.order));
        let args = [dx.ptr, first, order, extra, gradients, offset, partials, self.rows() as u64, extras as u64];
        let blocks = ((weight.rows + extras).div_ceil(WARPS), self.members, 1);
        self.run("embed_backward", blocks, 32 * WARPS, 0, &args)?;
        let args = [extra, gradients, offset, partials, extras as u64];
        self.run("embed_crowds", (extras, self.members, 1), 256, 0, &args)
    }

    fn rms_norm(&mut self, x: &Memory, gain: Tensor, out: &mut Memory, inv_rms: &mut Memory) -> Result<()> {
        let (rows, total) = (self.rows(), self.total());
        let args = [x.ptr, self.weights.ptr, gain.offset as u64, out.ptr, inv_rms.ptr, rows as u64, total as u64];
        self.run("rms_norm", (total.div_ceil(WARPS), 1, 1), 32 * WARPS, 0, &args)
    }

    fn rms_norm_backward(
        &mut self,
        dy: &Memory,
        x: &Memory,
        inv_rms: &Memory,
        gain: Tensor,
        dx: &mut Memory,
        add: bool,
    ) -> Result<()> {
        self.about_to_write(dx)?;
        let (rows, per_block) = (self.rows(), self.norm_rows());
        let args = [
            dy.ptr,
            x.ptr,
            inv_rms.ptr,
            self.weights.ptr,
            gain.offset as u64,
            dx.ptr,
            add as u64,
            self.gain_partials.ptr,
            rows as u64,
            per_block as u64,
        ];
        self.run("rms_norm_backward", (rows.div_ceil(per_block), self.members, 1), 32 * WARPS, 0, &args)
    }

    fn linear(&mut self, x: &Memory, weight: Tensor, residual: Option<&Memory>, y: &mut Memory) -> Result<()> {
        let residual = residual.map_or(0, |memory| memory.ptr);
        let at = Operands { left: self.halves_at(weight), right: x.ptr, residual, result: y.ptr };
        self.product(Product::Forward, weight, at)
    }

    fn linear_backward_input(&mut self, dy: &Memory, weight: Tensor, dx: &mut Memory) -> Result<()> {
        self.about_to_write(dx)?;
        let at = Operands { left: self.halves_at(weight), right: dy.ptr, residual: 0, result: dx.ptr };
        self.product(Product::Input, weight, at)
    }

    fn linear_backward_weight(&mut self, dy: &Memory, x: &Memory, weight: Tensor) -> Result<()> {
        let result = self.gradients.ptr + 2 * weight.offset as u64;
        let at = Operands { left: x.ptr, right: dy.ptr, residual: 0, result };
        if self.kernels.is_timing() {
            return self.product(Product::Weight, weight, at);
        }
        self.aside.run(&self.stream, self.size(Product::Weight, weight, false), at, dy.ptr)
    }

    fn attention(&mut self, qkv: &Memory, out: &mut Memory, log_sum: &mut Memory) -> Result<()> {
        let mut args = [qkv.ptr, 0, self.cos.ptr, self.sin.ptr, out.ptr, log_sum.ptr];
        self.attend([("attention_2", 2), ("attention_4", 4), ("attention_8", 8)], 2, &mut args, 1)
    }

    fn attention_backward(
        &mut self,
        qkv: &Memory,
        out: &Memory,
        log_sum: &Memory,
        dout: &Memory,
        dqkv: &mut Memory,
    ) -> Result<()> {
        self.about_to_write(dqkv)?;
        let mut args = [qkv.ptr, out.ptr, log_sum.ptr, dout.ptr, 0, self.cos.ptr, self.sin.ptr, dqkv.ptr];
        let (four, eight) = (("attention_backward_4", 4), ("attention_backward_8", 8));
        self.attend([four, four, eight], 4, &mut args, 4)
    }

    fn linear_swiglu(&mut self, x: &Memory, weight: Tensor, gate_up: &mut Memory, gated: &mut Memory) -> Result<()> {
        if self.fused {
            return self.fused_swiglu(x, weight, gate_up, gated);
        }
        self.linear(x, weight, None, gate_up)?;
        self.swiglu(gate_up, gated)
    }

    fn linear_swiglu_backward(
        &mut self,
        dy: &Memory,
        weight: Tensor,
        gate_up: &Memory,
        dgated: &mut Memory,
        dgate_up: &mut Memory,
    ) -> Result<()> {
        if self.fused {
            self.about_to_write(dgate_up)?;
            return self.fused_swiglu_backward(dy, weight, gate_up, dgate_up);
        }
        self.linear_backward_input(dy, weight, dgated)?;
        self.swiglu_backward(gate_up, dgated, dgate_up)
    }

    fn swiglu(&mut self, gate_up: &Memory, out: &mut Memory) -> Result<()> {
        let chunks = self.total() * self.shape.hidden / 8;
        self.run("swiglu", (chunks.div_ceil(256), 1, 1), 256, 0, &[gate_up.ptr, out.ptr, chunks as u64])
    }

    fn swiglu_backward(&mut self, gate_up: &Memory, dout: &Memory, dgate_up: &mut Memory) -> Result<()> {
        self.about_to_write(dgate_up)?;
        let chunks = self.total() * self.shape.hidden / 8;
        let args = [gate_up.ptr, dout.ptr, dgate_up.ptr, chunks as u64];
        self.run("swiglu_backward", (chunks.div_ceil(256), 1, 1), 256, 0, &args)
    }

    fn cross_entropy(&mut self, logits: &mut Memory) -> Result<()> {
        let (rows, total) = (self.rows() as u64, self.total());
        let args = [
            logits.ptr,
            self.staged(self.parts.targets),
            self.staged(self.parts.member_weights),
            self.row_losses.ptr,
            rows,
        ];
        let threads = if self.shape.vocab <= 4096 { 128 } else { 256 };
        self.run("cross_entropy", (total, 1, 1), threads, 0, &args)?;
        let args = [self.row_losses.ptr, self.staged(self.parts.groups), self.sums.ptr, rows];
        self.run("group_losses", (self.members, 1, 1), 512, 0, &args)
    }

    fn update(&mut self) -> Result<()> {
        self.aside.release(&self.stream, None)?;
        let gains = self.layout.size - self.layout.decayed;
        let shares = self.rows().div_ceil(self.norm_rows());
        let args = [self.gain_partials.ptr, self.gradients.ptr, shares as u64];
        self.run("gain_backward", (gains / 32, self.members, 1), 256, 0, &args)?;
        let blocks = self.layout.size.div_ceil(NORM_CHUNK);
        let args = [self.gradients.ptr, self.square_partials.ptr];
        self.run("square_sums", (blocks, self.members, 1), 256, 0, &args)?;
        let args = [
            self.weights.ptr,
            self.halves.ptr,
            self.means.ptr,
            self.variances.ptr,
            self.gradients.ptr,
            self.square_partials.ptr,
            blocks as u64,
            self.staged(self.parts.update),
            self.sums.ptr,
        ];
        self.run("adamw", ((self.layout.size / 4).div_ceil(256), self.members, 1), 256, 0, &args)
    }
}
