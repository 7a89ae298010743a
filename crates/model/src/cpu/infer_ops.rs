//! [`InferOps`] on the CPU.

use super::{Buffer, Cpu, Float, embedding, kv_cache};
use crate::inference::pass::{Pass, set_of};
use crate::inference::{InferOps, Score};
use crate::layout::Linear;
use crate::ops::{Ops, check_tokens};
use crate::{Error, Result, Tensor};
use rayon::prelude::*;

impl<F: Float> InferOps for Cpu<F> {
    type Logits = Buffer<F>;

    fn load_pass(&mut self, pass: &Pass) -> Result<()> {
        check_tokens(&pass.tokens, &self.shape)?;
        check_tokens(&pass.pick_targets, &self.shape)?;
        for spans in &pass.spans {
            let rows = spans.iter().map(|span| (span.start, span.len));
            let slots = spans.iter().map(|span| (span.slot, span.len));
            if !are_disjoint(rows.collect()) || !are_disjoint(slots.collect()) {
                return Err(Error::Batch("spans of one pass share rows or slots".into()));
            }
        }
        let loaded = &mut self.loaded;
        loaded.rows = pass.rows;
        loaded.real.clone_from(&pass.real);
        loaded.tokens.clone_from(&pass.tokens);
        if self.layout.positions.is_some() {
            loaded.positions = pass.positions();
        }
        loaded.pass = pass.clone();
        Ok(())
    }

    fn attention_cached(
        &mut self,
        qkv: &Buffer<F>,
        cache: &mut Buffer<F>,
        slots: usize,
        out: &mut Buffer<F>,
    ) -> Result<()> {
        let (shape, width) = (&self.shape, self.shape.width);
        for member in 0..self.members {
            let spans = &self.loaded.pass.spans[member];
            let cache = &mut cache[member * slots * 2 * width..][..slots * 2 * width];
            let qkv = &qkv[self.rows(member, 3 * width)];
            kv_cache::store(shape, &self.rope, spans, qkv, cache);
            kv_cache::attend(shape, &self.rope, spans, qkv, cache, &mut out[self.rows(member, width)]);
        }
        Ok(())
    }

    fn select(&mut self, x: &Buffer<F>, out: &mut Buffer<F>) -> Result<()> {
        let (width, picks) = (self.shape.width, self.loaded.pass.picks);
        for member in 0..self.members {
            let rows = &self.loaded.pass.pick_rows[member * picks..][..self.loaded.pass.real_picks[member]];
            let out = &mut out[member * picks * width..][..rows.len() * width];
            embedding::gather(width, &x[self.rows(member, width)], rows, out);
        }
        self.loaded.rows = picks;
        self.loaded.real.clone_from(&self.loaded.pass.real_picks);
        Ok(())
    }

    fn logits_buf(&mut self, elements: usize) -> Result<Buffer<F>> {
        self.buf(elements)
    }

    fn head(&mut self, x: &Buffer<F>, weight: Tensor, logits: &mut Buffer<F>) -> Result<()> {
        self.linear(x, Linear { weight, bias: None }, None, logits)
    }

    fn argmax(&mut self, logits: &Buffer<F>) -> Result<Vec<u32>> {
        let mut tokens = vec![0; self.members * self.loaded.pass.picks];
        for member in 0..self.members {
            let logits = logits[self.rows(member, self.shape.vocab)].par_chunks_exact(self.shape.vocab);
            tokens[self.rows(member, 1)]
                .par_iter_mut()
                .zip(logits)
                .for_each(|(token, row)| *token = super::logits::argmax(row));
        }
        Ok(tokens)
    }

    fn scores(&mut self, logits: &Buffer<F>) -> Result<Vec<Score>> {
        let (vocab, pass) = (self.shape.vocab, &self.loaded.pass);
        let mut scores = vec![Score::default(); self.members * pass.picks];
        for member in 0..self.members {
            let each = self.rows(member, 1);
            let (targets, sets) = (&pass.pick_targets[each.clone()], &pass.pick_sets[each.clone()]);
            let rows = logits[self.rows(member, vocab)].par_chunks_exact(vocab).zip(targets).zip(sets);
            scores[each].par_iter_mut().zip(rows).for_each(|(score, ((row, &target), &set))| {
                *score = super::logits::score(row, target, set_of(set, &pass.sets, vocab));
            });
        }
        Ok(scores)
    }

    fn read_rows(&mut self, x: &Buffer<F>, rows: &[usize]) -> Result<Vec<f32>> {
        let width = self.shape.width;
        Ok(rows.iter().flat_map(|row| x[row * width..][..width].iter().map(|value| value.f64() as f32)).collect())
    }

    fn write_rows(&mut self, x: &mut Buffer<F>, rows: &[usize], values: &[f32]) -> Result<()> {
        let width = self.shape.width;
        for (row, values) in rows.iter().zip(values.chunks(width)) {
            x[row * width..][..width].iter_mut().zip(values).for_each(|(to, &value)| *to = F::from_f64(value as f64));
        }
        Ok(())
    }

    fn fetch_logits(&mut self, logits: &Buffer<F>) -> Result<Vec<f32>> {
        let vocab = self.shape.vocab;
        let mut fetched = vec![0.0; self.members * self.loaded.pass.picks * vocab];
        for member in 0..self.members {
            let rows = self.rows(member, vocab);
            fetched[rows.clone()].iter_mut().zip(&logits[rows]).for_each(|(own, given)| *own = given.f64() as f32);
        }
        Ok(fetched)
    }
}

/// Whether ranges of (start, length) are disjoint: tasks write to them in parallel.
fn are_disjoint(mut ranges: Vec<(u32, u32)>) -> bool {
    ranges.sort_unstable();
    ranges.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0)
}
