//! [`Ops`] on the CPU: each operation member by member, each member's rows over all cores.

use super::adamw::{self, Vectors};
use super::attention::{self, Backward};
use super::{Buffer, Cpu, Float, loss, pointwise};
use crate::ops::{Loss, Ops, Slot, Update};
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

    fn write(&mut self, member: usize, slot: Slot, values: &[f32]) -> Result<()> {
        self.layout.check(values)?;
        let vector = self.vector_mut(member, slot);
        vector.iter_mut().zip(values).for_each(|(own, &given)| *own = F::of(given as f64));
        Ok(())
    }

    fn read(&mut self, member: usize, slot: Slot) -> Result<Vec<f32>> {
        Ok(self.vector(member, slot).iter().map(|&value| value.f64() as f32).collect())
    }

    fn load(&mut self, batch: &Batch, update: &Update) -> Result<()> {
        self.load_batch(batch, update)
    }

    fn losses(&mut self) -> Result<Vec<Loss>> {
        Ok(self
            .losses
            .iter()
            .map(|losses| {
                let groups = losses.count.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1);
                Loss {
                    sum: losses.sum[..groups].to_vec(),
                    count: losses.count[..groups].to_vec(),
                    grad_norm: losses.grad_norm,
                }
            })
            .collect())
    }

    fn embed(&mut self, weight: Tensor, out: &mut Buffer<F>) -> Result<()> {
        for member in 0..self.members {
            let rows = self.rows(member, weight.cols);
            let tokens = &self.loaded.tokens[self.rows(member, 1)];
            pointwise::embed(weight.cols, &self.weights[self.place(member, weight)], tokens, &mut out[rows]);
        }
        Ok(())
    }

    fn embed_backward(&mut self, dx: &Buffer<F>, weight: Tensor) -> Result<()> {
        for member in 0..self.members {
            let (place, rows) = (self.place(member, weight), self.rows(member, weight.cols));
            let starts = &self.loaded.starts[member * (weight.rows + 1)..][..weight.rows + 1];
            let by_token = &self.loaded.by_token[member * self.loaded.rows..];
            pointwise::embed_backward(weight.cols, starts, by_token, &dx[rows], &mut self.gradients[place]);
        }
        Ok(())
    }

    fn rms_norm(&mut self, x: &Buffer<F>, gain: Tensor, out: &mut Buffer<F>, inv_rms: &mut Buffer<F>) -> Result<()> {
        let width = gain.cols;
        for member in 0..self.members {
            let (rows, each) = (self.rows(member, width), self.rows(member, 1));
            let gain = &self.weights[self.place(member, gain)];
            pointwise::rms_norm(width, self.shape.norm_eps, &x[rows.clone()], gain, &mut out[rows], &mut inv_rms[each]);
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
            pointwise::rms_norm_backward(
                width,
                &dy[rows.clone()],
                &x[rows.clone()],
                &inv_rms[each],
                &self.weights[place.clone()],
                &mut dx[rows],
                add,
                &mut self.row_partials,
                &mut self.gradients[place],
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
            let panels = start..start + self.products.packed_len(k, n);
            let fresh = &mut self.packed.fresh[member * tensors + index];
            if !*fresh {
                self.products.pack_transposed(&self.weights[place], n, k, &mut self.packed.data[panels.clone()]);
                *fresh = true;
            }
            self.products.rows(
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
            let panels = &mut self.panels[..self.products.packed_len(n, k)];
            self.products.pack(&self.weights[place], n, k, panels);
            let size = (self.loaded.real[member], k, n);
            self.products.rows(size, &dy[input], panels, None, &mut dx[output]);
        }
        Ok(())
    }

    fn linear_backward_weight(&mut self, dy: &Buffer<F>, x: &Buffer<F>, weight: Tensor) -> Result<()> {
        let Tensor { rows: n, cols: k, .. } = weight;
        for member in 0..self.members {
            let (dy, x) = (&dy[self.rows(member, n)], &x[self.rows(member, k)]);
            let place = self.place(member, weight);
            let size = (self.loaded.real[member], n, k);
            self.products.weight_gradient(size, dy, x, &mut self.panels, &mut self.gradients[place]);
        }
        Ok(())
    }

    fn attention(&mut self, qkv: &Buffer<F>, out: &mut Buffer<F>, log_sum: &mut Buffer<F>) -> Result<()> {
        let (heads, width) = (self.heads(), self.shape.width);
        for member in 0..self.members {
            attention::forward(
                &self.kernel,
                heads,
                &self.rope,
                self.real_spans(member),
                &qkv[self.rows(member, 3 * width)],
                &mut out[self.rows(member, width)],
                &mut log_sum[self.rows(member, heads.heads)],
            );
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
        let (heads, width) = (self.heads(), self.shape.width);
        for member in 0..self.members {
            let given = Backward {
                qkv: &qkv[self.rows(member, 3 * width)],
                out: &out[self.rows(member, width)],
                log_sum: &log_sum[self.rows(member, heads.heads)],
                dout: &dout[self.rows(member, width)],
            };
            let dqkv = &mut dqkv[self.rows(member, 3 * width)];
            attention::backward(&self.kernel, heads, &self.rope, self.real_spans(member), &given, dqkv);
        }
        Ok(())
    }

    fn swiglu(&mut self, gate_up: &Buffer<F>, out: &mut Buffer<F>) -> Result<()> {
        let hidden = self.shape.hidden;
        for member in 0..self.members {
            let (input, output) = (self.rows(member, 2 * hidden), self.rows(member, hidden));
            pointwise::swiglu(hidden, &gate_up[input], &mut out[output]);
        }
        Ok(())
    }

    fn swiglu_backward(&mut self, gate_up: &Buffer<F>, dout: &Buffer<F>, dgate_up: &mut Buffer<F>) -> Result<()> {
        let hidden = self.shape.hidden;
        for member in 0..self.members {
            let (input, output) = (self.rows(member, 2 * hidden), self.rows(member, hidden));
            pointwise::swiglu_backward(hidden, &gate_up[input.clone()], &dout[output], &mut dgate_up[input]);
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
            if losses.by_row.len() < targets.len() {
                losses.by_row.resize(targets.len(), 0.0);
            }
            let by_row = &mut losses.by_row[..targets.len()];
            let weight = F::of(1.0 / count.max(1) as f64);
            loss::cross_entropy(vocab, targets, weight, &mut logits[rows], by_row);
            (losses.sum, losses.count, losses.grad_norm) = ([0.0; super::GROUPS], [0; super::GROUPS], 0.0);
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
            let norm = adamw::norm(&self.gradients[range.clone()], &mut self.norm_partials);
            self.losses[member].grad_norm = norm;
            let vectors = Vectors {
                weights: &mut self.weights[range.clone()],
                gradients: &self.gradients[range.clone()],
                mean: &mut self.mean[range.clone()],
                variance: &mut self.variance[range],
            };
            adamw::update(vectors, norm, self.layout.decayed, &update);
        }
        self.packed.fresh.fill(false);
        Ok(())
    }
}

impl<F: Float> Cpu<F> {
    /// A member's spans without those of filler, which come last.
    fn real_spans(&self, member: usize) -> &[crate::Span] {
        let spans = &self.loaded.spans[member];
        let real = self.loaded.real[member];
        &spans[..spans.partition_point(|span| (span.start as usize) < real)]
    }
}
