//! [`InferOps`] on CUDA.

use super::bf16::{Bf16, split};
use super::engine::{Buf, Cuda};
use super::gemm::{Matmul, Operands};
use super::kernels::{Argmax, AttentionCached, CacheStore, Draw, Grid, Kernel, ScoresOf, SelectRows, WriteRows};
use super::memory::{Memory, Ptr};
use super::sizes::{CACHED_WARPS, THREADS, WARPS};
use crate::inference::{CachedSpan, InferOps, Pass, Score};
use crate::ops::check_tokens;
use crate::{Result, Tensor};

/// Memory of at least `len` elements, reallocated with `room` elements if it is smaller.
fn at_least<'a, T: Copy>(
    memory: &'a mut Option<Memory<T>>,
    len: usize,
    room: usize,
    gpu: &super::Gpu,
) -> Result<&'a Memory<T>> {
    if memory.as_ref().is_none_or(|memory| memory.len() < len) {
        *memory = Some(Memory::new(gpu, room)?);
    }
    Ok(memory.as_ref().expect("allocated just above"))
}

impl Cuda {
    /// Runs a kernel with one block per pick and returns its results, `words` u32 per pick.
    fn query<K: Kernel>(&mut self, words: usize, kernel: impl FnOnce(Ptr<u32>) -> K) -> Result<Vec<u32>> {
        let total = self.members * self.reading.picks;
        let answers = at_least(&mut self.reading.answers, words * total, words * total, &self.gpu)?.ptr();
        self.run(kernel(answers), Grid::new([total, 1, 1], THREADS))?;
        let answers = self.reading.answers.as_ref().expect("made above");
        answers.read(0, words * total, &self.streams.main)
    }

    /// Row numbers, and memory for these rows, on the GPU.
    fn rows_on_gpu(&mut self, rows: &[usize]) -> Result<(Ptr<u32>, &Memory<Bf16>)> {
        let (count, numbers) = (rows.len(), rows.iter().map(|&row| row as u32).collect::<Vec<u32>>());
        let memory = at_least(&mut self.reading.row_numbers, count, 2 * count, &self.gpu)?;
        memory.write(0, &numbers, &self.streams.main)?;
        let values =
            at_least(&mut self.reading.row_values, count * self.shape.width, 2 * count * self.shape.width, &self.gpu)?;
        Ok((memory.ptr(), values))
    }

    /// The pass's memory, with the targets from `targets_at` on.
    fn targets(&self) -> &Memory<u32> {
        self.reading.memory.as_ref().expect("a reading is loaded before its logits are made")
    }
}

impl InferOps for Cuda {
    /// f32, to avoid ties.
    type Logits = Memory<f32>;

    fn load_pass(&mut self, pass: &Pass) -> Result<()> {
        self.gpu.bind()?;
        self.flush_update()?;
        self.streams.wait()?;
        check_tokens(&pass.tokens, &self.shape)?;
        check_tokens(&pass.pick_targets, &self.shape)?;
        let widest = pass.spans.iter().map(Vec::len).max().unwrap_or(0).max(1);
        let mut spans = vec![0u32; 5 * pass.members * widest];
        for (member, list) in pass.spans.iter().enumerate() {
            for (i, &CachedSpan { start, len, prefix, prefix_len, slot }) in list.iter().enumerate() {
                let at = 5 * (member * widest + i);
                spans[at..at + 5].copy_from_slice(&[start, len, prefix, prefix_len, slot]);
            }
        }
        let host = &mut self.reading.host;
        host.clear();
        let Pass { tokens, pick_rows, pick_targets, pick_sets, sets, .. } = pass;
        let positions = self.layout.positions.map(|_| pass.positions()).unwrap_or_default();
        let [tokens, spans, pick_rows, targets, pick_sets, sets, positions] =
            [tokens, &spans, pick_rows, pick_targets, pick_sets, sets, &positions].map(|part| {
                let start = host.len();
                host.extend_from_slice(part);
                host.resize(host.len().next_multiple_of(64), 0);
                start
            });
        let memory = at_least(&mut self.reading.memory, host.len(), 2 * host.len(), &self.gpu)?;
        // SAFETY: `host` is not changed before the next pass waits for the stream.
        unsafe { memory.start_write(0, host, &self.streams.main)? };
        let at = memory.ptr();
        self.reading.spans = at.add(spans).cast();
        self.reading.spans_per_member = widest;
        self.reading.pick_rows = at.add(pick_rows);
        self.reading.targets_at = targets;
        self.reading.pick_sets = at.add(pick_sets);
        self.reading.sets = at.add(sets);
        self.reading.picks = pass.picks;
        self.set_rows(pass.rows, at.add(tokens), at.add(positions));
        Ok(())
    }

    fn attention_cached(&mut self, qkv: &Buf, cache: &mut Buf, slots: usize, out: &mut Buf) -> Result<()> {
        let (qkv, cache, angles, count) =
            (qkv.ptr(), cache.ptr(), self.scratch.angles.ptr(), self.reading.spans_per_member);
        let (spans, rows, span_cap, slots) = (self.reading.spans, self.batch.rows as i32, count as i32, slots as i32);
        let store = CacheStore { qkv, spans, angles, cache, rows, span_cap, slots };
        self.run(store, Grid::new([count, self.members, 1], THREADS))?;
        let attend = AttentionCached { qkv, spans, angles, cache, out: out.ptr(), rows, span_cap, slots };
        let blocks = [count, self.shape.heads.div_ceil(CACHED_WARPS), self.members];
        self.run(attend, Grid::new(blocks, 32 * CACHED_WARPS))
    }

    fn select(&mut self, x: &Buf, out: &mut Buf) -> Result<()> {
        let picks = self.reading.picks;
        let total = self.members * picks;
        let (x, out, pick_rows, (rows, _)) = (x.ptr(), out.ptr(), self.reading.pick_rows, self.extent());
        let kernel = SelectRows { x, pick_rows, out, rows, picks: picks as i32, total: total as i32 };
        self.run(kernel, Grid::new([total.div_ceil(WARPS), 1, 1], THREADS))?;
        self.batch.rows = picks;
        Ok(())
    }

    fn logits_buf(&mut self, elements: usize) -> Result<Memory<f32>> {
        Memory::new(&self.gpu, elements)
    }

    fn head(&mut self, x: &Buf, weight: Tensor, logits: &mut Memory<f32>) -> Result<()> {
        let (left, result) = (self.parameters.weight(weight), logits.ptr().cast());
        self.matmul(Matmul::Logits, weight, Operands { left, right: x.ptr(), residual: Ptr::default(), result })
    }

    fn argmax(&mut self, logits: &Memory<f32>) -> Result<Vec<u32>> {
        self.query(1, |out| Argmax { logits: logits.ptr(), out })
    }

    fn scores(&mut self, logits: &Memory<f32>) -> Result<Vec<Score>> {
        let targets = self.targets().ptr().add(self.reading.targets_at);
        let (logits, pick_sets, sets) = (logits.ptr(), self.reading.pick_sets, self.reading.sets);
        let answers = self.query(2, |out| ScoresOf { logits, targets, pick_sets, sets, out: out.cast() })?;
        let score = |pair: &[u32]| Score { logprob: f32::from_bits(pair[0]), rank: pair[1] };
        Ok(answers.chunks(2).map(score).collect())
    }

    fn draw(&mut self, logits: &Memory<f32>, temperature: f64, uniforms: &[f32]) -> Result<Vec<u32>> {
        // The numbers take the place of the targets.
        let bits: Vec<u32> = uniforms.iter().map(|uniform| uniform.to_bits()).collect();
        let at = self.reading.targets_at;
        // SAFETY: `query` waits for the stream before `bits` is dropped.
        unsafe { self.targets().start_write(at, &bits, &self.streams.main)? };
        let uniforms = self.targets().ptr().add(at).cast();
        let inverse_temperature = temperature.recip().min(f32::MAX as f64) as f32;
        self.query(1, |out| Draw { logits: logits.ptr(), uniforms, out, inverse_temperature })
    }

    fn read_rows(&mut self, x: &Buf, rows: &[usize]) -> Result<Vec<f32>> {
        let (count, x) = (rows.len(), x.ptr());
        if count == 0 {
            return Ok(Vec::new());
        }
        let (pick_rows, values) = self.rows_on_gpu(rows)?;
        let out = values.ptr();
        // Rows are numbered over all members, like those of one member.
        let kernel = SelectRows { x, pick_rows, out, rows: 0, picks: count as i32, total: count as i32 };
        self.run(kernel, Grid::new([count.div_ceil(WARPS), 1, 1], THREADS))?;
        let values = self.reading.row_values.as_ref().expect("made above");
        Ok(values.read(0, count * self.shape.width, &self.streams.main)?.into_iter().map(Bf16::f32).collect())
    }

    fn write_rows(&mut self, x: &mut Buf, rows: &[usize], values: &[f32]) -> Result<()> {
        let (total, x) = (rows.len(), x.ptr());
        let new: Vec<Bf16> = values.iter().map(|&value| split(value).0).collect();
        let stream = self.streams.main.clone();
        let (rows, values) = self.rows_on_gpu(rows)?;
        values.write(0, &new, &stream)?;
        let kernel = WriteRows { x, rows, values: values.ptr(), total: total as i32 };
        self.run(kernel, Grid::new([total.div_ceil(WARPS), 1, 1], THREADS))
    }

    fn fetch_logits(&mut self, logits: &Memory<f32>) -> Result<Vec<f32>> {
        logits.read(0, self.members * self.reading.picks * self.shape.vocab, &self.streams.main)
    }
}
