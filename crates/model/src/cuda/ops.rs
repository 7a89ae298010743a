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
use crate::ops::{GROUPS, Loss, ModelPart, Ops, PassPoint, Update, Vector, check_batch};
use crate::{Batch, Layout, Result, Shape, Tensor};
use cudarc::driver::result;

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

    /// A grid with a thread per eight elements of the SwiGLU's result, and the number of such chunks.
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
        if vector == Vector::Gradients {
            // Rows of the embedding that no token read have an older batch's gradient.
            let (embed, was_read) = (self.layout.embed, &self.update.was_read);
            let was_read = was_read.read(member * embed.rows, embed.rows, &self.streams.main)?;
            let unread = values[embed.range()].chunks_mut(embed.cols).zip(was_read).filter(|(_, read)| *read == 0);
            unread.for_each(|(row, _)| row.fill(0.0));
        }
        Ok(values)
    }

    fn load(&mut self, batch: &Batch, update: &Update) -> Result<()> {
        check_batch(batch, &self.shape)?;
        self.gpu.bind()?;
        let place = (self.steps.ring.next(), self.update.count);
        let sections = self.staging.send(batch, update, place, self.shape.vocab, &self.streams.main)?;
        self.batch.sections = sections;
        self.set_rows(batch.rows, self.staging.at(sections.tokens));
        for (member, counts) in self.batch.counts.iter_mut().enumerate() {
            *counts = [0; GROUPS];
            let rows = member * batch.rows..(member + 1) * batch.rows;
            for (&group, &target) in batch.groups[rows.clone()].iter().zip(&batch.targets[rows]) {
                counts[group as usize] += u64::from(target >= 0);
            }
        }
        Ok(())
    }

    fn replay_step(&mut self) -> Result<bool> {
        if self.streams.serial {
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
            // Sums the squares of the part's gradients as soon as they are complete.
            PassPoint::EndPartBackward(part) => {
                self.streams.after_weight_gradients(|stream| update.square(part, parameters, kernels, stream))
            }
            // Adds up the partial sums of the norms' backward, concurrently with the embedding's gradient.
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
        let ((rows, total), tokens) = (self.extent(), self.batch.tokens);
        self.run(Embed { bf16, offset, tokens, out: out.ptr(), rows, total }, self.per_row())
    }

    fn embed_backward(&mut self, dx: &Buf, weight: Tensor) -> Result<()> {
        let sections = self.batch.sections;
        let (first, order) = (self.staging.at(sections.first), self.staging.at(sections.order));
        let (overflow, overflows) = (self.staging.at(sections.overflow), sections.overflows as i32);
        let (gradients, offset) = (self.parameters.gradients.ptr(), weight.offset as u64);
        let (partials, (rows, _), dx) = (self.scratch.embed_partials.ptr(), self.extent(), dx.ptr());
        let blocks = [(weight.rows + sections.overflows).div_ceil(WARPS), self.members, 1];
        let was_read = self.update.was_read.ptr();
        let kernel =
            EmbedBackward { dx, first, order, overflow, gradients, offset, partials, was_read, rows, overflows };
        self.run(kernel, Grid::new(blocks, THREADS))?;
        let kernel = EmbedBackwardOverflow { overflow, gradients, offset, partials, overflows };
        self.run(kernel, Grid::new([sections.overflows, self.members, 1], THREADS))
    }

    fn rms_norm(&mut self, x: &Buf, gain: Tensor, out: &mut Buf, inv_rms: &mut Stat) -> Result<()> {
        let ((bf16, residual_bits), gain) = (self.parameters.weights(), gain.offset as u64);
        let ((rows, total), x, out, inv_rms) = (self.extent(), x.ptr(), out.ptr(), inv_rms.ptr());
        self.run(RmsNorm { x, bf16, residual_bits, gain, out, inv_rms, rows, total }, self.per_row())
    }

    fn rms_norm_backward(
        &mut self,
        dy: &Buf,
        x: &Buf,
        inv_rms: &Stat,
        gain: Tensor,
        dx: &mut Buf,
        add: bool,
    ) -> Result<()> {
        self.about_to_write(dx)?;
        let (rows, per_block) = (self.batch.rows, self.norm_rows());
        let grid = Grid::new([rows.div_ceil(per_block), self.members, 1], THREADS);
        let (bf16, residual_bits) = self.parameters.weights();
        let kernel = RmsNormBackward {
            dy: dy.ptr(),
            x: x.ptr(),
            inv_rms: inv_rms.ptr(),
            bf16,
            residual_bits,
            offset: gain.offset as u64,
            dx: dx.ptr(),
            add: add as i32,
            partials: self.scratch.gain_partials.ptr(),
            rows: rows as i32,
            per_block: per_block as i32,
        };
        self.run(kernel, grid)
    }

    fn linear(&mut self, x: &Buf, weight: Tensor, residual: Option<&Buf>, y: &mut Buf) -> Result<()> {
        let residual = residual.map_or(Ptr::default(), Memory::ptr);
        let at = Operands { left: self.parameters.weight(weight), right: x.ptr(), residual, result: y.ptr() };
        self.matmul(Matmul::Forward, weight, at)
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

    fn linear_backward_weight(&mut self, dy: &Buf, x: &Buf, weight: Tensor) -> Result<()> {
        let result = self.parameters.gradient(weight);
        self.matmul(
            Matmul::Weight,
            weight,
            Operands { left: x.ptr(), right: dy.ptr(), residual: Ptr::default(), result },
        )
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

    fn embed_rms_norm(
        &mut self,
        weight: Tensor,
        out: &mut Buf,
        gain: Tensor,
        norm: &mut Buf,
        inv_rms: &mut Stat,
    ) -> Result<()> {
        let ((bf16, residual_bits), tokens) = (self.parameters.weights(), self.batch.tokens);
        let (offset, gain, (rows, total)) = (weight.offset as u64, gain.offset as u64, self.extent());
        let (out, norm, inv_rms) = (out.ptr(), norm.ptr(), inv_rms.ptr());
        let kernel = EmbedRmsNorm { bf16, residual_bits, offset, gain, tokens, out, norm, inv_rms, rows, total };
        self.run(kernel, self.per_row())
    }

    fn linear_rms_norm(
        &mut self,
        x: &Buf,
        weight: Tensor,
        residual: &Buf,
        y: &mut Buf,
        gain: Tensor,
        norm: &mut Buf,
        inv_rms: &mut Stat,
    ) -> Result<()> {
        if self.fused {
            return self.fused_rms_norm([x, residual, y, norm], weight, gain, inv_rms);
        }
        self.linear(x, weight, Some(residual), y)?;
        self.rms_norm(y, gain, norm, inv_rms)
    }

    fn linear_rms_norm_backward(
        &mut self,
        dy: &Buf,
        weight: Tensor,
        x: &Buf,
        inv_rms: &Stat,
        gain: Tensor,
        dnorm: &mut Buf,
        dx: &mut Buf,
        add: bool,
    ) -> Result<()> {
        // Small batches have too few tiles. Rows of the copy engine's matrices start at multiples of 16 bytes.
        if self.fused && !self.underfilled() && weight.rows.is_multiple_of(8) {
            self.about_to_write(dx)?;
            return self.fused_rms_norm_backward([dy, x, dx], weight, gain, inv_rms, add);
        }
        self.linear_backward_input(dy, weight, dnorm)?;
        self.rms_norm_backward(dnorm, x, inv_rms, gain, dx, add)
    }

    fn swiglu(&mut self, gate_up: &Buf, out: &mut Buf) -> Result<()> {
        let (grid, chunks) = self.per_eight();
        self.run(Swiglu { gate_up: gate_up.ptr(), out: out.ptr(), chunks }, grid)
    }

    fn swiglu_backward(&mut self, gate_up: &Buf, dout: &Buf, dgate_up: &mut Buf) -> Result<()> {
        self.about_to_write(dgate_up)?;
        let (grid, chunks) = self.per_eight();
        let (gate_up, dout, dgate_up) = (gate_up.ptr(), dout.ptr(), dgate_up.ptr());
        self.run(SwigluBackward { gate_up, dout, dgate_up, chunks }, grid)
    }

    fn linear_swiglu(&mut self, x: &Buf, weight: Tensor, gate_up: &mut Buf, gated: &mut Buf) -> Result<()> {
        if self.fused {
            return self.fused_swiglu(x, weight, gate_up, gated);
        }
        self.linear(x, weight, None, gate_up)?;
        self.swiglu(gate_up, gated)
    }

    fn linear_swiglu_backward(
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
        self.swiglu_backward(gate_up, dgated, dgate_up)
    }

    fn cross_entropy(&mut self, logits: &mut Buf) -> Result<()> {
        let (sections, losses, (rows, _)) = (self.batch.sections, self.scratch.row_losses.ptr(), self.extent());
        let (targets, weight_of_member) = (self.staging.at(sections.targets), self.staging.at(sections.member_weights));
        let kernel = CrossEntropy { logits: logits.ptr(), targets, weight_of_member, losses, rows };
        self.run(kernel, Grid::new([self.total(), 1, 1], cross_entropy_threads(self.shape.vocab)))?;
        let (groups, sums) = (self.staging.at(sections.groups), self.scratch.sums.ptr());
        self.run_reduction(GroupLosses { losses, groups, sums, rows }, Grid::new([self.members, 1, 1], LOSS_THREADS))
    }

    /// Sums the gradients' norm. The next forward pass applies the update.
    fn update(&mut self) -> Result<()> {
        let (parameters, kernels, main) = (&self.parameters, &mut self.kernels, &self.streams.main);
        self.update.square(ModelPart::Embedding, parameters, kernels, main)?;
        self.update.square(ModelPart::Gains, parameters, kernels, main)?;
        let update = self.staging.at(self.batch.sections.update);
        let (sums, history) = (self.scratch.sums.ptr(), self.scratch.history.ptr());
        self.update.defer(update, sums, history, kernels, main)?;
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
