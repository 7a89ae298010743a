//! [`Ops`] on CUDA: each operation is one matmul or one or two kernels.

use super::attention;
use super::engine::{Buf, Cuda, Stat};
use super::gemm::{Matmul, Operands};
use super::gpu::Doing;
use super::kernels::*;
use super::memory::{Memory, Ptr};
use super::sizes::{LOSS_THREADS, THREADS, WARPS, cross_entropy_threads};
use super::streams::Streams;
use crate::history::HISTORY;
use crate::layout::{Linear, Norm};
use crate::ops::{GROUPS, Loss, ModelPart, Ops, PassPoint, Update, Vector, check_batch, check_updates};
use crate::{Batch, Error, Layout, Result, Shape, Tensor};
use cudarc::driver::result;
use invitro_base::settings::ModelKind;

impl Cuda {
    /// Launches attention over each class of spans with its kernel. All classes run concurrently.
    fn attend<K: Kernel>(
        &mut self,
        launch: impl Fn(usize, usize, &Shape, bool) -> Grid,
        kernel: impl Fn(Ptr<FlatSpan>) -> K,
    ) -> Result<()> {
        let (parallel, small) = (!self.streams.serial, self.underfilled());
        let classes = self.batch.sections.classes;
        for (class, &count) in classes.iter().enumerate().rev() {
            if count == 0 {
                continue;
            }
            let before: usize = classes[..class].iter().sum();
            let kernel = kernel(self.staging.at(self.batch.sections.spans).add(before));
            let grid = launch(class, count, &self.shape, small);
            if parallel && before > 0 {
                let stream = self.streams.longer_spans[class - 1].fork(&self.streams.main)?;
                // SAFETY: as in `Cuda::run`; each span has its own rows of the result, and the stream is joined below.
                unsafe { self.kernels.launch(&kernel, grid, stream)? };
            } else {
                self.run(kernel, grid)?;
            }
        }
        let Streams { longer_spans, main, .. } = &mut self.streams;
        longer_spans.iter_mut().try_for_each(|stream| stream.join(main))
    }

    /// Waits for the main stream and copies `times` sums of all members from `from`.
    fn fetch_sums(&mut self, from: Ptr<f32>, times: usize) -> Result<Vec<f32>> {
        self.gpu.bind()?;
        self.streams.join()?;
        let main = &self.streams.main;
        let sums = self.scratch.sums_host.slice::<f32>(0, times * self.members * (GROUPS + 1));
        // SAFETY: page-locked memory of as many numbers as are read, waited for in the next line.
        unsafe { result::memcpy_dtoh_async(sums, from.address, main.cu_stream()) }.doing("reading losses")?;
        main.synchronize().doing("training")?;
        Ok(sums.to_vec())
    }

    /// Records the counts of the issued step for the history.
    fn record_step(&mut self) {
        self.steps.counts[self.steps.ring.next()].clone_from(&self.batch.counts);
        self.steps.ring.push();
    }

    /// A grid with a warp per row.
    fn per_row(&self) -> Grid {
        Grid::new([self.total().div_ceil(WARPS), 1, 1], THREADS)
    }

    /// A grid with a block per few rows of a member, whose partial sums [`GainBackward`] adds up, and their number.
    fn per_rows(&self) -> (Grid, i32) {
        let per_block = self.norm_rows();
        (Grid::new([self.batch.rows.div_ceil(per_block), self.members, 1], THREADS), per_block as i32)
    }

    /// A grid with a thread per eight elements of the activation's result, and the number of such chunks.
    fn per_eight(&self) -> (Grid, u32) {
        let chunks = self.total() * self.shape.hidden / 8;
        (Grid::new([chunks.div_ceil(THREADS), 1, 1], THREADS), chunks as u32)
    }
}

impl Ops for Cuda {
    type Buf = Buf;
    type Stat = Stat;

    fn members(&self) -> usize {
        self.members
    }

    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn buf(&mut self, elements: usize) -> Result<Buf> {
        Memory::new(&self.gpu, elements)
    }

    fn stat(&mut self, elements: usize) -> Result<Stat> {
        Memory::new(&self.gpu, elements)
    }

    fn write(&mut self, member: usize, vector: Vector, values: &[f32]) -> Result<()> {
        self.layout.check(values)?;
        self.flush_update()?;
        self.streams.wait()?;
        self.parameters.write(member, vector, values, &self.streams.main)
    }

    fn read(&mut self, member: usize, vector: Vector) -> Result<Vec<f32>> {
        self.flush_update()?;
        let mut values = self.parameters.read(member, vector, &self.streams.main)?;
        if vector == Vector::Gradients && self.update.sparse {
            // Rows of the embedding that no token read have an older batch's gradient.
            let (embed, was_read) = (self.layout.embed, &self.update.was_read);
            let was_read = was_read.read(member * embed.rows, embed.rows, &self.streams.main)?;
            let unread = values[embed.range()].chunks_mut(embed.cols).zip(was_read).filter(|(_, read)| *read == 0);
            unread.for_each(|(row, _)| row.fill(0.0));
        }
        Ok(values)
    }

    fn load(&mut self, batch: &Batch, updates: &[Update]) -> Result<()> {
        check_batch(batch, &self.shape)?;
        check_updates(updates, self.members)?;
        self.gpu.bind()?;
        let place = (self.steps.ring.next(), self.update.count);
        let sections = self.staging.send(batch, updates, place, &self.shape, &self.streams.main)?;
        self.batch.sections = sections;
        self.set_rows(batch.rows, self.staging.at(sections.tokens), self.staging.at(sections.positions));
        for (member, counts) in self.batch.counts.iter_mut().enumerate() {
            *counts = [0; GROUPS];
            let rows = member * batch.rows..(member + 1) * batch.rows;
            for (&group, &target) in batch.groups[rows.clone()].iter().zip(&batch.targets[rows]) {
                counts[group as usize] += u64::from(target >= 0);
            }
        }
        self.batch.has_updates = !updates.is_empty();
        Ok(())
    }

    fn replay_step(&mut self) -> Result<bool> {
        if self.streams.serial || !self.batch.has_updates {
            return Ok(false);
        }
        let key = (self.batch.rows, self.batch.sections.classes, (self.update.pending, self.update.behind));
        self.before_step = Some((self.update.progress(), self.steps.ring.clone()));
        let replayed = self.graphs.begin(key, &self.streams.main)?;
        if replayed {
            self.update.replayed();
            self.record_step();
        }
        Ok(replayed)
    }

    fn abandon_recording(&mut self) -> bool {
        let recording = self.graphs.is_recording();
        if let (true, Some((update, ring))) = (recording, self.before_step.take()) {
            self.graphs.abandon(&self.streams.main);
            self.streams.abandon();
            self.update.restore(update);
            self.steps.ring = ring;
        }
        recording
    }

    fn reach(&mut self, point: PassPoint) -> Result<()> {
        let (update, parameters, kernels) = (&mut self.update, &self.parameters, &mut self.kernels);
        let first = self.staging.at(self.batch.sections.first);
        match point {
            // Starts the previous step's update, which the forward pass awaits part by part.
            PassPoint::BeginForward => update.start(first, parameters, kernels, &self.streams),
            PassPoint::BeginPart(part) => update.await_part(part, &self.streams.main),
            // In a tied model the gradient of the embedding is added to it.
            PassPoint::EndPartBackward(ModelPart::Head) if !update.sparse => Ok(()),
            // Sums the squares of the part's gradients as soon as they are complete.
            PassPoint::EndPartBackward(part) => {
                self.streams.after_weight_gradients(|stream| update.square(part, parameters, kernels, stream))
            }
            // Adds up the partial sums of the gains' and biases' gradients, concurrently with the embedding's gradient.
            PassPoint::EndNormsBackward => {
                let gains = self.layout.size - self.layout.decayed;
                let kernel = GainBackward {
                    partials: self.scratch.gain_partials.ptr(),
                    gradients: self.parameters.gradients.ptr(),
                    blocks: self.batch.rows.div_ceil(self.norm_rows()) as i32,
                };
                self.run_reduction(kernel, Grid::new([gains / 32, self.members, 1], THREADS))
            }
            PassPoint::EndBackward => self.streams.join(),
            PassPoint::EndStep => self.graphs.end(&self.streams.main),
        }
    }

    fn losses(&mut self) -> Result<Vec<Loss>> {
        let sums = self.fetch_sums(self.scratch.sums.ptr(), 1)?;
        Ok(losses(&sums, &self.batch.counts))
    }

    fn history(&mut self) -> Result<Vec<Vec<Loss>>> {
        let places = self.steps.ring.take();
        let sums = self.fetch_sums(self.scratch.history.ptr(), HISTORY)?;
        let width = self.members * (GROUPS + 1);
        let of_step = |place: usize| losses(&sums[place * width..][..width], &self.steps.counts[place]);
        Ok(places.map(of_step).collect())
    }

    fn embed(&mut self, weight: Tensor, out: &mut Buf) -> Result<()> {
        let ((bf16, _), offset) = (self.parameters.weights(), weight.offset as u64);
        let ((rows, total), tokens, out) = (self.extent(), self.batch.tokens, out.ptr());
        let Some(learned) = self.layout.positions else {
            return self.run(Embed { bf16, offset, tokens, out, rows, total }, self.per_row());
        };
        let (positions_offset, positions) = (learned.offset as u64, self.batch.positions);
        let kernel = EmbedPositions { bf16, offset, positions_offset, tokens, positions, out, rows, total };
        self.run(kernel, self.per_row())
    }

    fn embed_backward(&mut self, dx: &Buf, weight: Tensor) -> Result<()> {
        let add = !self.update.sparse;
        if add {
            // The gradient of the head is complete.
            self.streams.release(None)?;
        }
        let sections = self.batch.sections;
        let (first, order) = (self.staging.at(sections.first), self.staging.at(sections.order));
        let (overflow, overflows) = (self.staging.at(sections.overflow), sections.overflows as i32);
        let (gradients, offset) = (self.parameters.gradients.ptr(), weight.offset as u64);
        let (partials, (rows, _), dx) = (self.scratch.embed_partials.ptr(), self.extent(), dx.ptr());
        let blocks = [(weight.rows + sections.overflows).div_ceil(WARPS), self.members, 1];
        let was_read = self.update.was_read.ptr();
        let kernel = EmbedBackward {
            dx,
            first,
            order,
            overflow,
            gradients,
            offset,
            partials,
            was_read,
            rows,
            overflows,
            add: add as i32,
        };
        self.run(kernel, Grid::new(blocks, THREADS))?;
        let kernel = EmbedBackwardOverflow { overflow, gradients, offset, partials, overflows };
        self.run(kernel, Grid::new([sections.overflows, self.members, 1], THREADS))?;
        let Some(learned) = self.layout.positions else { return Ok(()) };
        let (first, order) = (self.staging.at(sections.position_first), self.staging.at(sections.position_order));
        let kernel = PositionsBackward { dx, first, order, gradients, offset: learned.offset as u64, rows };
        self.run(kernel, Grid::new([learned.rows.div_ceil(WARPS), self.members, 1], THREADS))
    }

    fn norm(&mut self, x: &Buf, norm: Norm, out: &mut Buf, inverse: &mut Stat) -> Result<()> {
        let ((bf16, residual_bits), gain) = (self.parameters.weights(), norm.gain.offset as u64);
        let ((rows, total), x, out, inverse) = (self.extent(), x.ptr(), out.ptr(), inverse.ptr());
        let grid = self.per_row();
        let Some(bias) = norm.bias else {
            return self.run(RmsNorm { x, bf16, residual_bits, gain, out, inv_rms: inverse, rows, total }, grid);
        };
        self.run(LayerNorm { x, bf16, residual_bits, gain, bias: bias.offset as u64, out, inverse, rows, total }, grid)
    }

    fn norm_backward(&mut self, dy: &Buf, x: &Buf, inverse: &Stat, norm: Norm, dx: &mut Buf, add: bool) -> Result<()> {
        self.about_to_write(dx)?;
        let (grid, per_block) = self.per_rows();
        let ((bf16, residual_bits), gain) = (self.parameters.weights(), norm.gain.offset as u64);
        let (dy, x, inverse, dx, add) = (dy.ptr(), x.ptr(), inverse.ptr(), dx.ptr(), add as i32);
        let (partials, rows) = (self.scratch.gain_partials.ptr(), self.batch.rows as i32);
        let Some(bias) = norm.bias else {
            let (inv_rms, offset) = (inverse, gain);
            return self.run(
                RmsNormBackward { dy, x, inv_rms, bf16, residual_bits, offset, dx, add, partials, rows, per_block },
                grid,
            );
        };
        let bias = bias.offset as u64;
        self.run(
            LayerNormBackward { dy, x, inverse, bf16, residual_bits, gain, bias, dx, add, partials, rows, per_block },
            grid,
        )
    }

    fn linear(&mut self, x: &Buf, linear: Linear, residual: Option<&Buf>, y: &mut Buf) -> Result<()> {
        let residual = residual.map_or(Ptr::default(), Memory::ptr);
        let left = self.parameters.weight(linear.weight);
        let at = Operands { left, right: x.ptr(), residual, result: y.ptr() };
        self.matmul(Matmul::Forward, linear.weight, at)?;
        let Some(bias) = linear.bias else { return Ok(()) };
        let ((bf16, residual_bits), chunks_of_row) = (self.parameters.weights(), bias.cols / 8);
        let chunks = self.total() * chunks_of_row;
        let kernel = AddBias {
            y: y.ptr(),
            bf16,
            residual_bits,
            bias: bias.offset as u64,
            chunks_of_row: chunks_of_row as u32,
            rows: self.batch.rows as i32,
            chunks: chunks as u32,
        };
        self.run(kernel, Grid::new([chunks.div_ceil(THREADS), 1, 1], THREADS))
    }

    fn linear_backward_input(&mut self, dy: &Buf, weight: Tensor, dx: &mut Buf) -> Result<()> {
        self.about_to_write(dx)?;
        let left = self.parameters.weight(weight);
        self.matmul(
            Matmul::Input,
            weight,
            Operands { left, right: dy.ptr(), residual: Ptr::default(), result: dx.ptr() },
        )
    }

    fn linear_backward_weight(&mut self, dy: &Buf, x: &Buf, linear: Linear) -> Result<()> {
        let result = self.parameters.gradient(linear.weight);
        let at = Operands { left: x.ptr(), right: dy.ptr(), residual: Ptr::default(), result };
        self.matmul(Matmul::Weight, linear.weight, at)?;
        let Some(bias) = linear.bias else { return Ok(()) };
        let (grid, per_block) = self.per_rows();
        let (partials, rows, width) = (self.scratch.gain_partials.ptr(), self.batch.rows as i32, bias.cols as i32);
        let kernel = BiasBackward { dy: dy.ptr(), partials, bias: bias.offset as u64, width, rows, per_block };
        self.run(kernel, grid)
    }

    fn attention(&mut self, qkv: &Buf, out: &mut Buf, log_sum: &mut Stat) -> Result<()> {
        let angles = self.scratch.angles.ptr();
        let (qkv, out, log_sum) = (qkv.ptr(), out.ptr(), log_sum.ptr());
        self.attend(attention::forward, |spans| Attention { qkv, spans, angles, out, log_sum })
    }

    fn attention_backward(&mut self, qkv: &Buf, out: &Buf, log_sum: &Stat, dout: &Buf, dqkv: &mut Buf) -> Result<()> {
        self.about_to_write(dqkv)?;
        let angles = self.scratch.angles.ptr();
        let (qkv, out, log_sum, dout, dqkv) = (qkv.ptr(), out.ptr(), log_sum.ptr(), dout.ptr(), dqkv.ptr());
        self.attend(attention::backward, |spans| AttentionBackward { qkv, out, log_sum, dout, spans, angles, dqkv })
    }

    fn embed_norm(
        &mut self,
        weight: Tensor,
        out: &mut Buf,
        norm: Norm,
        normed: &mut Buf,
        inverse: &mut Stat,
    ) -> Result<()> {
        if self.shape.kind != ModelKind::Llama {
            self.embed(weight, out)?;
            return self.norm(out, norm, normed, inverse);
        }
        let ((bf16, residual_bits), tokens) = (self.parameters.weights(), self.batch.tokens);
        let (offset, gain, (rows, total)) = (weight.offset as u64, norm.gain.offset as u64, self.extent());
        let (out, norm, inv_rms) = (out.ptr(), normed.ptr(), inverse.ptr());
        let kernel = EmbedRmsNorm { bf16, residual_bits, offset, gain, tokens, out, norm, inv_rms, rows, total };
        self.run(kernel, self.per_row())
    }

    fn linear_norm(
        &mut self,
        x: &Buf,
        linear: Linear,
        residual: &Buf,
        y: &mut Buf,
        norm: Norm,
        normed: &mut Buf,
        inverse: &mut Stat,
    ) -> Result<()> {
        if self.fused {
            return self.fused_rms_norm([x, residual, y, normed], linear.weight, norm.gain, inverse);
        }
        self.linear(x, linear, Some(residual), y)?;
        self.norm(y, norm, normed, inverse)
    }

    fn linear_norm_backward(
        &mut self,
        dy: &Buf,
        weight: Tensor,
        x: &Buf,
        inverse: &Stat,
        norm: Norm,
        dnormed: &mut Buf,
        dx: &mut Buf,
        add: bool,
    ) -> Result<()> {
        // Small batches have too few tiles. Rows of the copy engine's matrices start at multiples of 16 bytes.
        if self.fused && !self.underfilled() && weight.rows.is_multiple_of(8) {
            self.about_to_write(dx)?;
            return self.fused_rms_norm_backward([dy, x, dx], weight, norm.gain, inverse, add);
        }
        self.linear_backward_input(dy, weight, dnormed)?;
        self.norm_backward(dnormed, x, inverse, norm, dx, add)
    }

    fn activate(&mut self, gate_up: &Buf, out: &mut Buf) -> Result<()> {
        let ((grid, chunks), gate_up, out) = (self.per_eight(), gate_up.ptr(), out.ptr());
        match self.shape.kind {
            ModelKind::Llama => self.run(Swiglu { gate_up, out, chunks }, grid),
            ModelKind::Gpt2 => self.run(Gelu { x: gate_up, out, chunks }, grid),
        }
    }

    fn activate_backward(&mut self, gate_up: &Buf, dout: &Buf, dgate_up: &mut Buf) -> Result<()> {
        self.about_to_write(dgate_up)?;
        let (grid, chunks) = self.per_eight();
        let (gate_up, dout, dgate_up) = (gate_up.ptr(), dout.ptr(), dgate_up.ptr());
        match self.shape.kind {
            ModelKind::Llama => self.run(SwigluBackward { gate_up, dout, dgate_up, chunks }, grid),
            ModelKind::Gpt2 => self.run(GeluBackward { x: gate_up, dout, dx: dgate_up, chunks }, grid),
        }
    }

    fn linear_activate(&mut self, x: &Buf, linear: Linear, gate_up: &mut Buf, gated: &mut Buf) -> Result<()> {
        if self.fused {
            return self.fused_swiglu(x, linear.weight, gate_up, gated);
        }
        self.linear(x, linear, None, gate_up)?;
        self.activate(gate_up, gated)
    }

    fn linear_activate_backward(
        &mut self,
        dy: &Buf,
        weight: Tensor,
        gate_up: &Buf,
        dgated: &mut Buf,
        dgate_up: &mut Buf,
    ) -> Result<()> {
        if self.fused {
            self.about_to_write(dgate_up)?;
            return self.fused_swiglu_backward(dy, weight, gate_up, dgate_up);
        }
        self.linear_backward_input(dy, weight, dgated)?;
        self.activate_backward(gate_up, dgated, dgate_up)
    }

    fn cross_entropy(&mut self, logits: &mut Buf) -> Result<()> {
        let (sections, losses, (rows, _)) = (self.batch.sections, self.scratch.row_losses.ptr(), self.extent());
        let (targets, weight_of_member) = (self.staging.at(sections.targets), self.staging.at(sections.member_weights));
        let (logits, updates) = (logits.ptr(), self.staging.at(sections.updates));
        let kernel = CrossEntropy { logits, targets, weight_of_member, updates, losses, rows };
        self.run(kernel, Grid::new([self.total(), 1, 1], cross_entropy_threads(self.shape.vocab)))?;
        let (groups, sums) = (self.staging.at(sections.groups), self.scratch.sums.ptr());
        self.run_reduction(GroupLosses { losses, groups, sums, rows }, Grid::new([self.members, 1, 1], LOSS_THREADS))
    }

    /// Sums the gradients' norm. The next forward pass applies the update.
    fn update(&mut self) -> Result<()> {
        if !self.batch.has_updates {
            return Err(Error::Batch("an update, but none was loaded".into()));
        }
        let (parameters, kernels, main) = (&self.parameters, &mut self.kernels, &self.streams.main);
        self.update.square(ModelPart::Embedding, parameters, kernels, main)?;
        self.update.square(ModelPart::Gains, parameters, kernels, main)?;
        if self.layout.positions.is_some() {
            self.update.square(ModelPart::Positions, parameters, kernels, main)?;
        }
        let updates = self.staging.at(self.batch.sections.updates);
        let (sums, history) = (self.scratch.sums.ptr(), self.scratch.history.ptr());
        self.update.defer(updates, sums, history, kernels, main)?;
        self.record_step();
        Ok(())
    }
}

/// The losses of members from their sums and counts.
fn losses(sums: &[f32], counts: &[[u64; GROUPS]]) -> Vec<Loss> {
    let loss = |(sums, counts): (&[f32], &[u64; GROUPS])| Loss {
        sum: sums[..GROUPS].iter().map(|&sum| sum as f64).collect(),
        count: counts.to_vec(),
        grad_norm: sums[GROUPS] as f64,
    };
    sums.chunks(GROUPS + 1).zip(counts).map(loss).collect()
}
