//! [`InferOps`] on the CPU.

use super::{Buffer, Cpu, Float, cached, loss, pointwise};
use crate::Result;
use crate::reading::{InferOps, Reading, Score};
use rayon::prelude::*;

impl<F: Float> InferOps for Cpu<F> {
    fn load_reading(&mut self, reading: &Reading) -> Result<()> {
        self.check_tokens(&reading.tokens)?;
        self.check_tokens(&reading.pick_targets)?;
        let loaded = &mut self.loaded;
        loaded.rows = reading.rows;
        loaded.real.clone_from(&reading.real);
        loaded.tokens.clone_from(&reading.tokens);
        loaded.cached.clone_from(&reading.spans);
        loaded.picks = reading.picks;
        loaded.real_picks.clone_from(&reading.real_picks);
        loaded.pick_rows.clone_from(&reading.pick_rows);
        loaded.pick_targets.clone_from(&reading.pick_targets);
        Ok(())
    }

    fn attention_cached(
        &mut self,
        qkv: &Buffer<F>,
        cache: &mut Buffer<F>,
        slots: usize,
        out: &mut Buffer<F>,
    ) -> Result<()> {
        let (heads, width) = (self.heads(), self.shape.width);
        for member in 0..self.members {
            let spans = &self.loaded.cached[member];
            let cache = &mut cache[member * slots * 2 * width..][..slots * 2 * width];
            let qkv = &qkv[self.rows(member, 3 * width)];
            cached::store(heads, &self.rope, spans, qkv, cache);
            cached::attend(heads, &self.rope, spans, qkv, cache, &mut out[self.rows(member, width)]);
        }
        Ok(())
    }

    fn select(&mut self, x: &Buffer<F>, out: &mut Buffer<F>) -> Result<()> {
        let (width, picks) = (self.shape.width, self.loaded.picks);
        for member in 0..self.members {
            let rows = &self.loaded.pick_rows[member * picks..][..self.loaded.real_picks[member]];
            let out = &mut out[member * picks * width..][..rows.len() * width];
            pointwise::gather(width, &x[self.rows(member, width)], rows, out);
        }
        self.loaded.rows = picks;
        self.loaded.real.clone_from(&self.loaded.real_picks);
        Ok(())
    }

    fn argmax(&mut self, logits: &Buffer<F>) -> Result<Vec<u32>> {
        let mut tokens = vec![0; self.members * self.loaded.picks];
        for member in 0..self.members {
            let logits = logits[self.rows(member, self.shape.vocab)].par_chunks_exact(self.shape.vocab);
            tokens[self.rows(member, 1)].par_iter_mut().zip(logits).for_each(|(token, row)| *token = loss::argmax(row));
        }
        Ok(tokens)
    }

    fn scores(&mut self, logits: &Buffer<F>) -> Result<Vec<Score>> {
        let mut scores = vec![Score::default(); self.members * self.loaded.picks];
        for member in 0..self.members {
            let each = self.rows(member, 1);
            let logits = &logits[self.rows(member, self.shape.vocab)];
            loss::scores(self.shape.vocab, logits, &self.loaded.pick_targets[each.clone()], &mut scores[each]);
        }
        Ok(scores)
    }

    fn fetch_logits(&mut self, logits: &Buffer<F>) -> Result<Vec<f32>> {
        let vocab = self.shape.vocab;
        let mut fetched = vec![0.0; self.members * self.loaded.picks * vocab];
        for member in 0..self.members {
            let rows = self.rows(member, vocab);
            fetched[rows.clone()].iter_mut().zip(&logits[rows]).for_each(|(own, given)| *own = given.f64() as f32);
        }
        Ok(fetched)
    }
}
