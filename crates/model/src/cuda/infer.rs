//! [`InferOps`] for a [`Lane`]: forward-only work over a cache of keys and values.

use super::device_error;
use super::gemm::{Operands, Product};
use super::lane::Lane;
use super::memory::Memory;
use super::ops::WARPS;
use crate::reading::{InferOps, Reading, Score};
use crate::selftest::Inspect;
use crate::{Error, Result, Tensor};
use cudarc::driver::result;

/// The loaded reading, on the GPU.
#[derive(Default)]
pub struct Loaded {
    arena: Option<Memory>,
    /// What was copied there: kept until the next, since the copy may still be under way.
    whole: Vec<u32>,
    spans: u64,
    spans_per_member: usize,
    pick_rows: u64,
    pick_targets: u64,
    picks: usize,
    answers: Option<Memory>,
}

impl Lane {
    /// Runs a kernel with one block per pick that answers `words` u32 each, to the address given to `arguments`.
    fn ask(
        &mut self,
        kernel: &'static str,
        words: usize,
        arguments: impl FnOnce(&Loaded, u64) -> Vec<u64>,
    ) -> Result<Vec<u32>> {
        let total = self.members * self.loaded.picks;
        if self.loaded.answers.as_ref().is_none_or(|memory| memory.bytes < 4 * words * total) {
            self.loaded.answers = Some(Memory::new(&self.gpu.context, 4 * words * total)?);
        }
        let answers = self.loaded.answers.as_ref().expect("just made").ptr;
        let arguments = arguments(&self.loaded, answers);
        self.run(kernel, (total, 1, 1), 256, 0, &arguments)?;
        self.wait()?;
        let mut values = vec![0u32; words * total];
        unsafe { result::memcpy_dtoh_sync(&mut values, answers) }.map_err(|e| device_error("reading scores", e))?;
        Ok(values)
    }
}

impl InferOps for Lane {
    fn load_reading(&mut self, reading: &Reading) -> Result<()> {
        self.gpu.context.bind_to_thread().map_err(|e| device_error("using the GPU", e))?;
        self.wait()?;
        let vocab = self.shape.vocab;
        for &token in reading.tokens.iter().chain(&reading.pick_targets) {
            if token as usize >= vocab {
                return Err(Error::Batch(format!("token {token} is not below the vocabulary's {vocab}")));
            }
        }
        let widest = reading.spans.iter().map(Vec::len).max().unwrap_or(0).max(1);
        let mut spans = vec![0u32; 5 * reading.members * widest];
        for (member, list) in reading.spans.iter().enumerate() {
            for (i, span) in list.iter().enumerate() {
                let at = 5 * (member * widest + i);
                spans[at..at + 5].copy_from_slice(&[span.start, span.len, span.prefix, span.prefix_len, span.slot]);
            }
        }
        let parts = [&reading.tokens, &spans, &reading.pick_rows, &reading.pick_targets];
        let mut offsets = [0; 4];
        let mut whole = std::mem::take(&mut self.loaded.whole);
        whole.clear();
        for (offset, part) in offsets.iter_mut().zip(parts) {
            *offset = 4 * whole.len() as u64;
            whole.extend_from_slice(part);
            whole.resize(whole.len().next_multiple_of(64), 0);
        }
        let bytes = 4 * whole.len();
        if self.loaded.arena.as_ref().is_none_or(|arena| arena.bytes < bytes) {
            self.loaded.arena = Some(Memory::new(&self.gpu.context, 2 * bytes)?);
        }
        let base = self.loaded.arena.as_ref().expect("just made").ptr;
        self.start_copy(base, &whole, "copying a reading")?;
        self.loaded.whole = whole;
        self.tokens = base;
        self.parts.rows = reading.rows;
        self.let_kernels_overlap();
        self.loaded.spans = base + offsets[1];
        self.loaded.spans_per_member = widest;
        self.loaded.pick_rows = base + offsets[2];
        self.loaded.pick_targets = base + offsets[3];
        self.loaded.picks = reading.picks;
        Ok(())
    }

    fn attention_cached(&mut self, qkv: &Memory, cache: &mut Memory, slots: usize, out: &mut Memory) -> Result<()> {
        let spans = self.loaded.spans_per_member;
        let (rows, cap, slots) = (self.rows() as u64, spans as u64, slots as u64);
        let args = [qkv.ptr, self.loaded.spans, self.angles.ptr, cache.ptr, rows, cap, slots];
        self.run("cache_store", (spans, self.members, 1), 256, 0, &args)?;
        let args = [qkv.ptr, self.loaded.spans, self.angles.ptr, cache.ptr, out.ptr, rows, cap, slots];
        self.run("attention_cached", (spans, self.shape.heads, self.members), 128, 0, &args)
    }

    fn select(&mut self, x: &Memory, out: &mut Memory) -> Result<()> {
        let picks = self.loaded.picks;
        let total = self.members * picks;
        let args = [x.ptr, self.loaded.pick_rows, out.ptr, self.rows() as u64, picks as u64, total as u64];
        self.run("select_rows", (total.div_ceil(WARPS), 1, 1), 32 * WARPS, 0, &args)?;
        self.parts.rows = picks;
        Ok(())
    }

    /// f32, so that close logits do not tie.
    fn logits_buf(&mut self, elements: usize) -> Result<Memory> {
        Memory::new(&self.gpu.context, 4 * elements)
    }

    fn head(&mut self, x: &Memory, weight: Tensor, logits: &mut Memory) -> Result<()> {
        self.about_to_read(weight)?;
        let at = Operands { left: self.halves_at(weight), right: x.ptr, residual: 0, result: logits.ptr };
        self.product(Product::Logits, weight, at)
    }

    fn argmax(&mut self, logits: &Memory) -> Result<Vec<u32>> {
        self.ask("argmax", 1, |_, answers| vec![logits.ptr, answers])
    }

    fn scores(&mut self, logits: &Memory) -> Result<Vec<Score>> {
        let answers = self.ask("scores_of", 2, |loaded, answers| vec![logits.ptr, loaded.pick_targets, answers])?;
        let score = |pair: &[u32]| Score { logprob: f32::from_bits(pair[0]), rank: pair[1] };
        Ok(answers.chunks(2).map(score).collect())
    }

    fn draw(&mut self, logits: &Memory, temperature: f64, uniforms: &[f32]) -> Result<Vec<u32>> {
        // The numbers go where targets would.
        self.start_copy(self.loaded.pick_targets, uniforms, "copying a reading")?;
        let coldness = temperature.recip().min(f32::MAX as f64) as f32;
        self.ask("draw", 1, |loaded, answers| vec![logits.ptr, loaded.pick_targets, answers, coldness.to_bits() as u64])
    }

    fn fetch_logits(&mut self, logits: &Memory) -> Result<Vec<f32>> {
        self.wait()?;
        let mut values = vec![0f32; self.members * self.loaded.picks * self.shape.vocab];
        unsafe { result::memcpy_dtoh_sync(&mut values, logits.ptr) }.map_err(|e| device_error("reading logits", e))?;
        Ok(values)
    }
}

impl Inspect for Lane {
    fn put(&mut self, buf: &mut Memory, values: &[f32]) -> Result<()> {
        self.wait()?;
        let halves: Vec<u16> = values.iter().map(|value| (value.to_bits() >> 16) as u16).collect();
        self.copy_in(buf.ptr, &halves, "copying to the GPU")
    }

    fn get(&mut self, buf: &Memory, len: usize) -> Result<Vec<f32>> {
        self.wait()?;
        let mut halves = vec![0u16; len];
        unsafe { result::memcpy_dtoh_sync(&mut halves, buf.ptr) }
            .map_err(|e| device_error("copying from the GPU", e))?;
        Ok(halves.into_iter().map(|half| f32::from_bits((half as u32) << 16)).collect())
    }

    fn get_stat(&mut self, stat: &Memory, len: usize) -> Result<Vec<f32>> {
        self.wait()?;
        let mut values = vec![0f32; len];
        unsafe { result::memcpy_dtoh_sync(&mut values, stat.ptr) }
            .map_err(|e| device_error("copying from the GPU", e))?;
        Ok(values)
    }
}
