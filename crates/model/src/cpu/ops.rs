//! [`Ops`] on the CPU: each operation member by member, each member's rows over all cores.

use super::attention::{Attention, Backward};
use super::{Buffer, Cpu, CpuBatch, Float, adamw, bias, embedding, gelu, layer_norm, logits, matmul, rms_norm, swiglu};
use crate::by_token::sort_by_token;
use crate::layout::{Linear, Norm};
use crate::ops::{Loss, Ops, Update, Vector, check_batch, check_updates};
use crate::{Batch, Error, Layout, Result, Shape, Span, Tensor};
use invitro_base::settings::ModelKind;

impl<F: Float> Ops for Cpu<F> {
    type Buf = Buffer<F>;
    type Stat = Buffer<F>;

    fn members(&self) -> usize {
        self.members
    }

    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn buf(&mut self, elements: usize) -> Result<Buffer<F>> {
        Ok(Buffer::new(elements))
    }

    fn stat(&mut self, elements: usize) -> Result<Buffer<F>> {
        Ok(Buffer::new(elements))
    }

    fn write(&mut self, member: usize, vector: Vector, values: &[f32]) -> Result<()> {
        self.layout.check(values)?;
        let vector = self.vector_mut(member, vector);
        vector.iter_mut().zip(values).for_each(|(own, &given)| *own = F::from_f64(given as f64));
        Ok(())
    }

    fn read(&mut self, member: usize, vector: Vector) -> Result<Vec<f32>> {
        Ok(self.vector(member, vector).iter().map(|&value| value.f64() as f32).collect())
    }

    fn load(&mut self, batch: &Batch, updates: &[Update]) -> Result<()> {
        check_batch(batch, &self.shape)?;
        check_updates(updates, self.members)?;
        let loaded = &mut self.loaded;
        loaded.rows = batch.rows;
        loaded.real.clone_from(&batch.real);
        loaded.tokens.clone_from(&batch.tokens);
        loaded.targets.clone_from(&batch.targets);
        loaded.groups.clone_from(&batch.groups);
        loaded.updates.clear();
        loaded.updates.extend_from_slice(updates);
        for (own, given) in loaded.spans.iter_mut().zip(&batch.spans) {
            own.clone_from(given);
        }
        if self.layout.positions.is_some() {
            loaded.positions.clear();
            loaded.positions.resize(batch.tokens.len(), 0);
            for (member, spans) in batch.spans.iter().enumerate() {
                for span in spans {
                    let rows = &mut loaded.positions[member * batch.rows + span.start as usize..][..span.len as usize];
                    rows.iter_mut().zip(0..).for_each(|(to, position)| *to = position);
                }
            }
        }
        let vocab = self.shape.vocab;
        if loaded.by_token.len() < self.members * batch.rows {
            loaded.by_token.resize(self.members * batch.rows, 0);
        }
        for member in 0..self.members {
            let tokens = &loaded.tokens[member * batch.rows..][..batch.real[member]];
            let starts = &mut loaded.starts[member * (vocab + 1)..][..vocab + 1];
            let by_token = &mut loaded.by_token[member * batch.rows..][..batch.rows];
            sort_by_token(tokens, starts, by_token);
        }
        Ok(())
    }

    fn losses(&mut self) -> Result<Vec<Loss>> {
        Ok(self.losses.iter().map(without_empty_groups).collect())
    }

    fn history(&mut self) -> Result<Vec<Vec<Loss>>> {
        let places = self.ring.take();
        Ok(places.map(|place| self.history[place].iter().map(without_empty_groups).collect()).collect())
    }

    fn embed(&mut self, weight: Tensor, out: &mut Buffer<F>) -> Result<()> {
        for member in 0..self.members {
            let rows = self.rows(member, weight.cols);
            let tokens = &self.loaded.tokens[self.rows(member, 1)];
            let table = &self.vector(member, Vector::Weights)[weight.range()];
            embedding::gather(weight.cols, table, tokens, &mut out[rows.clone()]);
            if let Some(learned) = self.layout.positions {
                let table = &self.vector(member, Vector::Weights)[learned.range()];
                embedding::gather_add(weight.cols, table, &self.loaded.positions[self.rows(member, 1)], &mut out[rows]);
            }
        }
        Ok(())
    }

    fn embed_backward(&mut self, dx: &Buffer<F>, weight: Tensor) -> Result<()> {
        for member in 0..self.members {
            let (place, rows) = (self.place(member, weight), self.rows(member, weight.cols));
            let starts = &self.loaded.starts[member * (weight.rows + 1)..][..weight.rows + 1];
            let by_token = &self.loaded.by_token[member * self.loaded.rows..];
            let positions = self.layout.positions.map(|learned| self.place(member, learned));
            let spans = real_spans(&self.loaded, member);
            let [_, gradients, ..] = &mut self.vectors;
            let dx = &dx[rows];
            embedding::scatter_add(weight.cols, starts, by_token, dx, self.shape.tied, &mut gradients[place]);
            if let Some(place) = positions {
                embedding::sum_positions(weight.cols, spans, dx, &mut gradients[place]);
            }
        }
        Ok(())
    }

    fn norm(&mut self, x: &Buffer<F>, norm: Norm, out: &mut Buffer<F>, inverse: &mut Buffer<F>) -> Result<()> {
        let (width, eps) = (norm.gain.cols, self.shape.norm_eps);
        for member in 0..self.members {
            let (rows, each) = (self.rows(member, width), self.rows(member, 1));
            let (x, out, inverse) = (&x[rows.clone()], &mut out[rows], &mut inverse[each]);
            let weights = self.vector(member, Vector::Weights);
            let gain = &weights[norm.gain.range()];
            match norm.bias {
                None => rms_norm::forward(width, eps, x, gain, out, inverse),
                Some(bias) => layer_norm::forward(width, eps, x, (gain, &weights[bias.range()]), out, inverse),
            }
        }
        Ok(())
    }

    fn norm_backward(
        &mut self,
        dy: &Buffer<F>,
        x: &Buffer<F>,
        inverse: &Buffer<F>,
        norm: Norm,
        dx: &mut Buffer<F>,
        add: bool,
    ) -> Result<()> {
        let width = norm.gain.cols;
        for member in 0..self.members {
            let (rows, each, gain) = (self.rows(member, width), self.rows(member, 1), self.place(member, norm.gain));
            let bias = norm.bias.map(|bias| self.place(member, bias));
            let [weights, gradients, ..] = &mut self.vectors;
            let (dy, x, inverse, dx) = (&dy[rows.clone()], &x[rows.clone()], &inverse[each], &mut dx[rows]);
            let (own, partials) = (&weights[gain.clone()], &mut self.row_partials);
            match bias {
                None => rms_norm::backward(width, dy, x, inverse, own, dx, add, partials, &mut gradients[gain]),
                Some(bias) => {
                    let (before, after) = gradients.split_at_mut(bias.start);
                    let gradients = (&mut before[gain], &mut after[..width]);
                    layer_norm::backward(width, dy, x, inverse, own, dx, add, partials, gradients);
                }
            }
        }
        Ok(())
    }

    fn linear(&mut self, x: &Buffer<F>, linear: Linear, residual: Option<&Buffer<F>>, y: &mut Buffer<F>) -> Result<()> {
        let weight = linear.weight;
        let Tensor { rows: n, cols: k, .. } = weight;
        let tensors = self.packed.tensors.len();
        let index = self
            .packed
            .tensors
            .iter()
            .position(|&(offset, _)| offset == weight.offset)
            .ok_or_else(|| Error::Shape(format!("no matrix of this layout starts at element {}", weight.offset)))?;
        for member in 0..self.members {
            let (input, output, place) = (self.rows(member, k), self.rows(member, n), self.place(member, weight));
            let start = member * self.packed.size + self.packed.tensors[index].1;
            let panels = start..start + matmul::packed_len(&self.kernel, k, n);
            let fresh = &mut self.packed.fresh[member * tensors + index];
            if !*fresh {
                let [weights, ..] = &self.vectors;
                let packed = &mut self.packed.data[panels.clone()];
                matmul::pack_transposed(&self.kernel, &weights[place], n, k, packed);
                *fresh = true;
            }
            matmul::rows(
                &self.kernel,
                (self.loaded.real[member], n, k),
                &x[input],
                &self.packed.data[panels],
                residual.map(|residual| &residual[output.clone()]),
                &mut y[output.clone()],
            );
            if let Some(tensor) = linear.bias {
                bias::add(&self.vector(member, Vector::Weights)[tensor.range()], &mut y[output]);
            }
        }
        Ok(())
    }

    fn linear_backward_input(&mut self, dy: &Buffer<F>, weight: Tensor, dx: &mut Buffer<F>) -> Result<()> {
        let Tensor { rows: n, cols: k, .. } = weight;
        for member in 0..self.members {
            let (input, output, place) = (self.rows(member, n), self.rows(member, k), self.place(member, weight));
            let panels = &mut self.panels[..matmul::packed_len(&self.kernel, n, k)];
            let [weights, ..] = &self.vectors;
            matmul::pack(&self.kernel, &weights[place], n, k, panels);
            let size = (self.loaded.real[member], k, n);
            matmul::rows(&self.kernel, size, &dy[input], panels, None, &mut dx[output]);
        }
        Ok(())
    }

    fn linear_backward_weight(&mut self, dy: &Buffer<F>, x: &Buffer<F>, linear: Linear) -> Result<()> {
        let weight = linear.weight;
        let Tensor { rows: n, cols: k, .. } = weight;
        for member in 0..self.members {
            let (dy, x) = (&dy[self.rows(member, n)], &x[self.rows(member, k)]);
            let place = self.place(member, weight);
            let size = (self.loaded.real[member], n, k);
            let of_bias = linear.bias.map(|bias| self.place(member, bias));
            let [_, gradients, ..] = &mut self.vectors;
            matmul::weight_gradient(&self.kernel, size, dy, x, &mut gradients[place]);
            if let Some(place) = of_bias {
                bias::backward(dy, &mut self.row_partials, &mut gradients[place]);
            }
        }
        Ok(())
    }

    fn attention(&mut self, qkv: &Buffer<F>, out: &mut Buffer<F>, log_sum: &mut Buffer<F>) -> Result<()> {
        let &Shape { width, heads, .. } = &self.shape;
        for member in 0..self.members {
            let (qkv, log_sum) = (&qkv[self.rows(member, 3 * width)], &mut log_sum[self.rows(member, heads)]);
            self.attend().forward(real_spans(&self.loaded, member), qkv, &mut out[self.rows(member, width)], log_sum);
        }
        Ok(())
    }

    fn attention_backward(
        &mut self,
        qkv: &Buffer<F>,
        out: &Buffer<F>,
        log_sum: &Buffer<F>,
        dout: &Buffer<F>,
        dqkv: &mut Buffer<F>,
    ) -> Result<()> {
        let &Shape { width, heads, .. } = &self.shape;
        for member in 0..self.members {
            let given = Backward {
                qkv: &qkv[self.rows(member, 3 * width)],
                out: &out[self.rows(member, width)],
                log_sum: &log_sum[self.rows(member, heads)],
                dout: &dout[self.rows(member, width)],
            };
            let dqkv = &mut dqkv[self.rows(member, 3 * width)];
            self.attend().backward(real_spans(&self.loaded, member), &given, dqkv);
        }
        Ok(())
    }

    fn activate(&mut self, gate_up: &Buffer<F>, out: &mut Buffer<F>) -> Result<()> {
        let (hidden, up) = (self.shape.hidden, self.shape.up_width());
        for member in 0..self.members {
            let (input, out) = (&gate_up[self.rows(member, up)], &mut out[self.rows(member, hidden)]);
            match self.shape.kind {
                ModelKind::Llama => swiglu::forward(hidden, input, out),
                ModelKind::Gpt2 => gelu::forward(hidden, input, out),
            }
        }
        Ok(())
    }

    fn activate_backward(&mut self, gate_up: &Buffer<F>, dout: &Buffer<F>, dgate_up: &mut Buffer<F>) -> Result<()> {
        let (hidden, up) = (self.shape.hidden, self.shape.up_width());
        for member in 0..self.members {
            let (input, dout) = (&gate_up[self.rows(member, up)], &dout[self.rows(member, hidden)]);
            let dinput = &mut dgate_up[self.rows(member, up)];
            match self.shape.kind {
                ModelKind::Llama => swiglu::backward(hidden, input, dout, dinput),
                ModelKind::Gpt2 => gelu::backward(hidden, input, dout, dinput),
            }
        }
        Ok(())
    }

    fn cross_entropy(&mut self, logits: &mut Buffer<F>) -> Result<()> {
        let vocab = self.shape.vocab;
        for member in 0..self.members {
            let (rows, each) = (self.rows(member, vocab), self.rows(member, 1));
            let targets = &self.loaded.targets[each.clone()];
            let losses = &mut self.losses[member];
            let count = targets.iter().filter(|&&target| target >= 0).count();
            if self.row_losses.len() < targets.len() {
                self.row_losses.resize(targets.len(), 0.0);
            }
            let by_row = &mut self.row_losses[..targets.len()];
            let smoothing = self.loaded.updates.get(member).map_or(0.0, |update| update.smoothing);
            let weight = 1.0 / count.max(1) as f64;
            logits::cross_entropy(vocab, targets, (weight, smoothing), &mut logits[rows], by_row);
            losses.sum.fill(0.0);
            losses.count.fill(0);
            losses.grad_norm = 0.0;
            for ((&loss, &group), &target) in by_row.iter().zip(&self.loaded.groups[each]).zip(targets) {
                if target >= 0 {
                    losses.sum[group as usize] += loss;
                    losses.count[group as usize] += 1;
                }
            }
        }
        Ok(())
    }

    fn update(&mut self) -> Result<()> {
        if self.loaded.updates.is_empty() {
            return Err(Error::Batch("an update, but none was loaded".into()));
        }
        for (member, update) in self.loaded.updates.iter().enumerate() {
            let range = member * self.layout.size..(member + 1) * self.layout.size;
            let [weights, gradients, mean, variance] = self.vectors.each_mut().map(|vector| &mut vector[range.clone()]);
            let norm = adamw::norm(gradients, &mut self.norm_partials);
            self.losses[member].grad_norm = norm;
            adamw::update(weights, gradients, (mean, variance), norm, self.layout.decayed, update);
        }
        for (entry, Loss { sum, count, grad_norm }) in self.history[self.ring.next()].iter_mut().zip(&self.losses) {
            entry.sum.copy_from_slice(sum);
            entry.count.copy_from_slice(count);
            entry.grad_norm = *grad_norm;
        }
        self.ring.push();
        self.packed.fresh.fill(false);
        Ok(())
    }
}

/// A loss without trailing groups that have no rows.
fn without_empty_groups(loss: &Loss) -> Loss {
    let groups = loss.count.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1);
    Loss { sum: loss.sum[..groups].to_vec(), count: loss.count[..groups].to_vec(), grad_norm: loss.grad_norm }
}

impl<F: Float> Cpu<F> {
    fn attend(&self) -> Attention<'_, F> {
        Attention { kernel: &self.kernel, shape: &self.shape, rope: &self.rope }
    }
}

/// A member's spans without those of filler, which come last.
fn real_spans(loaded: &CpuBatch, member: usize) -> &[Span] {
    let spans = &loaded.spans[member];
    let real = loaded.real[member];
    &spans[..spans.partition_point(|span| (span.start as usize) < real)]
}
