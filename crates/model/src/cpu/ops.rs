//! [`Ops`] on the CPU: each operation member by member, each member's rows over all cores.

use super::attention::{Attention, Backward};
use super::{Buffer, Cpu, Float, adamw, embedding, logits, matmul, rms_norm, swiglu};
use crate::by_token::sort_by_token;
use crate::ops::{Loss, Ops, Update, Vector, check_batch};
use crate::{Batch, Error, Layout, Result, Shape, Tensor};

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

    fn load(&mut self, batch: &Batch, update: &Update) -> Result<()> {
        check_batch(batch, &self.shape)?;
        let loaded = &mut self.loaded;
        loaded.rows = batch.rows;
        loaded.real.clone_from(&batch.real);
        loaded.tokens.clone_from(&batch.tokens);
        loaded.targets.clone_from(&batch.targets);
        loaded.groups.clone_from(&batch.groups);
        loaded.update = Some(*update);
        for (own, given) in loaded.spans.iter_mut().zip(&batch.spans) {
            own.clone_from(given);
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
            embedding::gather(weight.cols, table, tokens, &mut out[rows]);
        }
        Ok(())
    }

    fn embed_backward(&mut self, dx: &Buffer<F>, weight: Tensor) -> Result<()> {
        for member in 0..self.members {
            let (place, rows) = (self.place(member, weight), self.rows(member, weight.cols));
            let starts = &self.loaded.starts[member * (weight.rows + 1)..][..weight.rows + 1];
            let by_token = &self.loaded.by_token[member * self.loaded.rows..];
            let [_, gradients, ..] = &mut self.vectors;
            embedding::scatter_add(weight.cols, starts, by_token, &dx[rows], &mut gradients[place]);
        }
        Ok(())
    }

    fn rms_norm(&mut self, x: &Buffer<F>, gain: Tensor, out: &mut Buffer<F>, inv_rms: &mut Buffer<F>) -> Result<()> {
        let width = gain.cols;
        for member in 0..self.members {
            let (rows, each) = (self.rows(member, width), self.rows(member, 1));
            let gain = &self.vector(member, Vector::Weights)[gain.range()];
            rms_norm::forward(width, self.shape.norm_eps, &x[rows.clone()], gain, &mut out[rows], &mut inv_rms[each]);
        }
        Ok(())
    }

    fn rms_norm_backward(
        &mut self,
        dy: &Buffer<F>,
        x: &Buffer<F>,
        inv_rms: &Buffer<F>,
        gain: Tensor,
        dx: &mut Buffer<F>,
        add: bool,
    ) -> Result<()> {
        let width = gain.cols;
        for member in 0..self.members {
            let (rows, each, place) = (self.rows(member, width), self.rows(member, 1), self.place(member, gain));
            let [weights, gradients, ..] = &mut self.vectors;
            rms_norm::backward(
                width,
                &dy[rows.clone()],
                &x[rows.clone()],
                &inv_rms[each],
                &weights[place.clone()],
                &mut dx[rows],
                add,
                &mut self.row_partials,
                &mut gradients[place],
            );
        }
        Ok(())
    }

    fn linear(&mut self, x: &Buffer<F>, weight: Tensor, residual: Option<&Buffer<F>>, y: &mut Buffer<F>) -> Result<()> {
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
                &mut y[output],
            );
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

    fn linear_backward_weight(&mut self, dy: &Buffer<F>, x: &Buffer<F>, weight: Tensor) -> Result<()> {
        let Tensor { rows: n, cols: k, .. } = weight;
        for member in 0..self.members {
            let (dy, x) = (&dy[self.rows(member, n)], &x[self.rows(member, k)]);
            let place = self.place(member, weight);
            let size = (self.loaded.real[member], n, k);
            let [_, gradients, ..] = &mut self.vectors;
            matmul::weight_gradient(&self.kernel, size, dy, x, &mut gradients[place]);
        }
        Ok(())
    }

    fn attention(&mut self, qkv: &Buffer<F>, out: &mut Buffer<F>, log_sum: &mut Buffer<F>) -> Result<()> {
        let &Shape { width, heads, .. } = &self.shape;
        for member in 0..self.members {
            let (qkv, log_sum) = (&qkv[self.rows(member, 3 * width)], &mut log_sum[self.rows(member, heads)]);
            self.attend().forward(self.real_spans(member), qkv, &mut out[self.rows(member, width)], log_sum);
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
            self.attend().backward(self.real_spans(member), &given, dqkv);
        }
        Ok(())
    }

    fn swiglu(&mut self, gate_up: &Buffer<F>, out: &mut Buffer<F>) -> Result<()> {
        let hidden = self.shape.hidden;
        for member in 0..self.members {
            let (input, output) = (self.rows(member, 2 * hidden), self.rows(member, hidden));
            swiglu::forward(hidden, &gate_up[input], &mut out[output]);
        }
        Ok(())
    }

    fn swiglu_backward(&mut self, gate_up: &Buffer<F>, dout: &Buffer<F>, dgate_up: &mut Buffer<F>) -> Result<()> {
        let hidden = self.shape.hidden;
        for member in 0..self.members {
            let (input, output) = (self.rows(member, 2 * hidden), self.rows(member, hidden));
            swiglu::backward(hidden, &gate_up[input.clone()], &dout[output], &mut dgate_up[input]);
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
            let weight = F::from_f64(1.0 / count.max(1) as f64);
            logits::cross_entropy(vocab, targets, weight, &mut logits[rows], by_row);
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
        let update = self.loaded.update.ok_or_else(|| Error::Batch("an update before any batch was loaded".into()))?;
        for member in 0..self.members {
            let range = member * self.layout.size..(member + 1) * self.layout.size;
            let [weights, gradients, mean, variance] = self.vectors.each_mut().map(|vector| &mut vector[range.clone()]);
            let norm = adamw::norm(gradients, &mut self.norm_partials);
            self.losses[member].grad_norm = norm;
            adamw::update(weights, gradients, (mean, variance), norm, self.layout.decayed, &update);
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

    /// A member's spans without those of filler, which come last.
    fn real_spans(&self, member: usize) -> &[crate::Span] {
        let spans = &self.loaded.spans[member];
        let real = self.loaded.real[member];
        &spans[..spans.partition_point(|span| (span.start as usize) < real)]
    }
}
