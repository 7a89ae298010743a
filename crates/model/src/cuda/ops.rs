//! [`Ops`] for a [`Lane`]: each operation is one product or one or two kernels.

use super::compile::GROUPS;
use super::device_error;
use super::gemm::{Operands, Product, Size};
use super::halves::{split, whole};
use super::lane::{Lane, Step, attention_shared};
use super::launch::Grid;
use super::memory::Memory;
use super::staging::CLASSES;
use crate::ops::{Loss, Ops, Recording, Slot, Update};
use crate::{Batch, Error, Layout, Result, Shape, Tensor};
use cudarc::driver::{result, sys};

impl Lane {
    /// The halves, or the rests, of a member's weights; or its gradients.
    fn shorts(&self, of: &Memory, member: usize) -> Result<Vec<u16>> {
        let mut values = vec![0u16; self.layout.size];
        let at = of.ptr + (2 * member * self.layout.size) as u64;
        unsafe { result::memcpy_dtoh_sync(&mut values, at) }.map_err(|e| device_error("reading parameters", e))?;
        Ok(values)
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
    /// among the arguments. Where there are few rows, long spans and short ones run beside each other.
    fn attend(
        &mut self,
        kernels: [(&'static str, usize); 3],
        matrices: usize,
        args: &mut [u64],
        spans_at: usize,
    ) -> Result<()> {
        let beside = self.few() && !self.kernels.is_timing();
        for (class, (name, warps)) in kernels.into_iter().enumerate().rev() {
            let count = self.parts.classes[class];
            if count == 0 {
                continue;
            }
            let before: usize = self.parts.classes[..class].iter().sum();
            args[spans_at] = self.staged(self.parts.spans) + 8 * before as u64;
            let shared = attention_shared(&self.shape, CLASSES[class].min(self.shape.context), matrices, warps);
            let grid = Grid { blocks: (count * self.shape.heads, 1, 1), threads: 32 * warps, shared };
            if beside && before > 0 {
                self.longer.begin(&self.stream)?;
                self.kernels.launch(name, grid, &[], args, &self.longer.stream)?;
            } else {
                self.kernels.launch(name, grid, &[], args, &self.stream)?;
            }
        }
        self.longer.end(&self.stream)
    }

    /// A small kernel that nothing waits for before the update.
    fn run_beside(
        &mut self,
        name: &'static str,
        blocks: (usize, usize, usize),
        threads: usize,
        args: &[u64],
    ) -> Result<()> {
        if self.kernels.is_timing() {
            return self.run(name, blocks, threads, 0, args);
        }
        self.beside.begin(&self.stream)?;
        self.kernels.launch(name, Grid { blocks, threads, shared: 0 }, &[], args, &self.beside.stream)
    }

    /// Makes the stream wait for all that runs beside it.
    fn join(&mut self) -> Result<()> {
        self.aside.release(&self.stream, None)?;
        self.beside.end(&self.stream)
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
        self.layout.check(values)?;
        self.settle()?;
        self.wait()?;
        let doing = "writing parameters";
        let at = |memory: &Memory, bytes: usize| memory.ptr + (bytes * member * self.layout.size) as u64;
        match slot {
            Slot::Weights => {
                let (halves, rests): (Vec<u16>, Vec<u16>) = values.iter().map(|&value| split(value)).unzip();
                self.copy_in(at(&self.halves, 2), &halves, doing)?;
                self.copy_in(at(&self.rests, 2), &rests, doing)
            }
            Slot::Mean => self.copy_in(at(&self.means, 4), values, doing),
            Slot::Variance => self.copy_in(at(&self.variances, 4), values, doing),
            Slot::Gradients => {
                Err(Error::Device("gradients are made by the backward pass, not written from outside".into()))
            }
        }
    }

    fn read(&mut self, member: usize, slot: Slot) -> Result<Vec<f32>> {
        self.settle()?;
        self.wait()?;
        let moments = match slot {
            Slot::Weights => {
                let (halves, rests) = (self.shorts(&self.halves, member)?, self.shorts(&self.rests, member)?);
                return Ok(halves.into_iter().zip(rests).map(|(half, rest)| whole(half, rest)).collect());
            }
            Slot::Gradients => {
                let halves = self.shorts(&self.gradients, member)?;
                return Ok(halves.into_iter().map(|half| whole(half, 0)).collect());
            }
            Slot::Mean => &self.means,
            Slot::Variance => &self.variances,
        };
        let mut values = vec![0f32; self.layout.size];
        let at = moments.ptr + (4 * member * self.layout.size) as u64;
        unsafe { result::memcpy_dtoh_sync(&mut values, at) }.map_err(|e| device_error("reading parameters", e))?;
        Ok(values)
    }

    fn load(&mut self, batch: &Batch, update: &Update) -> Result<()> {
        self.gpu.context.bind_to_thread().map_err(|e| device_error("using the GPU", e))?;
        self.parts = self.staging.send(batch, update, self.shape.vocab, &self.stream)?;
        self.tokens = self.staged(self.parts.tokens);
        self.let_kernels_overlap();
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
        let key = (self.parts, self.deferred.pending);
        match self.steps.get(&key) {
            None => {
                // The first time is issued plainly: libraries load their kernels then, which a recording must not see.
                self.steps.insert(key, Step::Seen);
                Ok(Recording::Issue)
            }
            Some(Step::Seen) => {
                let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
                self.stream.begin_capture(mode).map_err(|e| device_error("recording a step", e))?;
                self.recording = Some(key);
                Ok(Recording::Issue)
            }
            Some(Step::Recorded(graph)) => {
                graph.launch().map_err(|e| device_error("replaying a step", e))?;
                self.deferred.replayed();
                Ok(Recording::Replayed)
            }
        }
    }

    fn end_step(&mut self) -> Result<()> {
        let Some(key) = self.recording.take() else { return Ok(()) };
        let flags = sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
        let graph = self.stream.end_capture(flags).map_err(|e| device_error("recording a step", e))?;
        let graph = graph.ok_or_else(|| Error::Device("CUDA recorded no step".into()))?;
        graph.launch().map_err(|e| device_error("replaying a step", e))?;
        self.steps.insert(key, Step::Recorded(graph));
        Ok(())
    }

    fn losses(&mut self) -> Result<Vec<Loss>> {
        self.gpu.context.bind_to_thread().map_err(|e| device_error("using the GPU", e))?;
        self.join()?;
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
        self.start_update()?;
        let (rows, total) = (self.rows(), self.total());
        let args = [self.halves.ptr, weight.offset as u64, self.tokens, out.ptr, rows as u64, total as u64];
        self.run("embed", (total.div_ceil(WARPS), 1, 1), 32 * WARPS, 0, &args)
    }

    /// The last of the way back: the gains' gradients are summed beside it.
    fn embed_backward(&mut self, dx: &Memory, weight: Tensor) -> Result<()> {
        let gains = self.layout.size - self.layout.decayed;
        let shares = self.rows().div_ceil(self.norm_rows());
        let args = [self.gain_partials.ptr, self.gradients.ptr, shares as u64];
        self.run_beside("gain_backward", (gains / 32, self.members, 1), 256, &args)?;
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
        let (halves, rests, gain) = (self.halves.ptr, self.rests.ptr, gain.offset as u64);
        let args = [x.ptr, halves, rests, gain, out.ptr, inv_rms.ptr, rows as u64, total as u64];
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
            self.halves.ptr,
            self.rests.ptr,
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
        self.about_to_read(weight)?;
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
            self.product(Product::Weight, weight, at)?;
        } else {
            self.aside.run(&self.stream, self.size(Product::Weight, weight, false), at, dy.ptr)?;
        }
        // The last of the head's gradients, or of a layer's.
        let last = weight == self.layout.head || self.layout.layers.iter().any(|layer| weight == layer.qkv);
        if last { self.square(weight, true) } else { Ok(()) }
    }

    fn attention(&mut self, qkv: &Memory, out: &mut Memory, log_sum: &mut Memory) -> Result<()> {
        let mut args = [qkv.ptr, 0, self.angles.ptr, out.ptr, log_sum.ptr];
        self.attend([("attention_4", 4), ("attention_8", 8), ("attention_8", 8)], 3, &mut args, 1)
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
        let mut args = [qkv.ptr, out.ptr, log_sum.ptr, dout.ptr, 0, self.angles.ptr, dqkv.ptr];
        let (four, eight) = (("attention_backward_4", 4), ("attention_backward_8", 8));
        self.attend([four, eight, eight], 4, &mut args, 4)
    }

    fn linear_swiglu(&mut self, x: &Memory, weight: Tensor, gate_up: &mut Memory, gated: &mut Memory) -> Result<()> {
        if self.fused {
            self.about_to_read(weight)?;
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

    fn embed_rms_norm(
        &mut self,
        weight: Tensor,
        out: &mut Memory,
        gain: Tensor,
        norm: &mut Memory,
        inv_rms: &mut Memory,
    ) -> Result<()> {
        self.start_update()?;
        let (rows, total) = (self.rows(), self.total());
        let args = [
            self.halves.ptr,
            self.rests.ptr,
            weight.offset as u64,
            gain.offset as u64,
            self.tokens,
            out.ptr,
            norm.ptr,
            inv_rms.ptr,
            rows as u64,
            total as u64,
        ];
        self.run("embed_rms_norm", (total.div_ceil(WARPS), 1, 1), 32 * WARPS, 0, &args)
    }

    fn linear_rms_norm(
        &mut self,
        x: &Memory,
        weight: Tensor,
        residual: &Memory,
        y: &mut Memory,
        gain: Tensor,
        norm: &mut Memory,
        inv_rms: &mut Memory,
    ) -> Result<()> {
        if self.fused {
            self.about_to_read(weight)?;
            return self.fused_rms_norm([x, residual, y, norm], weight, gain, inv_rms);
        }
        self.linear(x, weight, Some(residual), y)?;
        self.rms_norm(y, gain, norm, inv_rms)
    }

    fn linear_rms_norm_backward(
        &mut self,
        dy: &Memory,
        weight: Tensor,
        x: &Memory,
        inv_rms: &Memory,
        gain: Tensor,
        dnorm: &mut Memory,
        dx: &mut Memory,
        add: bool,
    ) -> Result<()> {
        // Few rows have too few tiles. Rows of the copy engine's matrices start at multiples of 16 bytes.
        if self.fused && !self.few() && weight.rows.is_multiple_of(8) {
            self.about_to_write(dx)?;
            return self.fused_rms_norm_backward([dy, x, dx], weight, gain, inv_rms, add);
        }
        self.linear_backward_input(dy, weight, dnorm)?;
        self.rms_norm_backward(dnorm, x, inv_rms, gain, dx, add)
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
        self.run_beside("group_losses", (self.members, 1, 1), 512, &args)
    }

    fn update(&mut self) -> Result<()> {
        self.join()?;
        self.square(self.layout.embed, false)?;
        self.square(self.layout.norm, false)?;
        let blocks = self.deferred.squares();
        let args = [
            self.square_partials.ptr,
            blocks as u64,
            self.staged(self.parts.update),
            self.sums.ptr,
            self.deferred.scales.ptr,
            self.deferred.numbers.ptr,
        ];
        self.run("clip", (self.members, 1, 1), 256, 0, &args)?;
        self.deferred.pending = true;
        Ok(())
    }
}
