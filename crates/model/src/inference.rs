//! The model forward only, over a cache of keys and values.

use crate::ops::{Part, Point};
use crate::reading::{InferOps, MemberReading, Reading, Score};
use crate::{Error, Result, Shape};

/// The memory of forward-only passes: up to `rows` rows, `slots` cached rows and `picks` logits per member.
pub struct Inference<O: InferOps> {
    rows: usize,
    slots: usize,
    picks: usize,
    x: O::Buf,
    mid: O::Buf,
    norm: O::Buf,
    inv_rms: O::Stat,
    qkv: O::Buf,
    attended: O::Buf,
    gate_up: O::Buf,
    gated: O::Buf,
    /// One per layer.
    caches: Vec<O::Buf>,
    picked: O::Buf,
    logits: O::Logits,
}

/// Elements of activations and of logits that a member takes in [`Inference`].
pub fn elements(shape: &Shape, rows: usize, slots: usize, picks: usize) -> (usize, usize) {
    let &Shape { layers, width, hidden, vocab, .. } = shape;
    (rows * (7 * width + 3 * hidden) + slots * layers * 2 * width + picks * width, picks * vocab)
}

/// What to read off the logits of the picked rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wanted {
    Argmax,
    /// A token drawn at this temperature, by the picks' numbers.
    Drawn(f64),
    Scores,
    Logits,
}

/// One member's answers, one per pick.
#[derive(Clone, Debug)]
pub enum Answers {
    /// The largest, or the drawn one.
    Tokens(Vec<u32>),
    Scores(Vec<Score>),
    /// `[picks, vocab]`
    Logits(Vec<f32>),
}

impl<O: InferOps> Inference<O> {
    pub fn new(ops: &mut O, rows: usize, slots: usize, picks: usize) -> Result<Self> {
        let (shape, members) = (ops.shape().clone(), ops.members());
        let wide = members * rows;
        Ok(Inference {
            rows,
            slots,
            picks,
            x: ops.buf(wide * shape.width)?,
            mid: ops.buf(wide * shape.width)?,
            norm: ops.buf(wide * shape.width)?,
            inv_rms: ops.stat(wide)?,
            qkv: ops.buf(wide * 3 * shape.width)?,
            attended: ops.buf(wide * shape.width)?,
            gate_up: ops.buf(wide * 2 * shape.hidden)?,
            gated: ops.buf(wide * shape.hidden)?,
            caches: (0..shape.layers).map(|_| ops.buf(members * slots * 2 * shape.width)).collect::<Result<_>>()?,
            picked: ops.buf(members * picks * shape.width)?,
            logits: ops.logits_buf(members * picks * shape.vocab)?,
        })
    }

    /// Rows, cached rows and logits per member that there is room for.
    pub fn room(&self) -> [usize; 3] {
        [self.rows, self.slots, self.picks]
    }

    /// The logits of the picked rows, in the device's buffer.
    pub fn logits(&mut self, ops: &mut O, reading: &Reading) -> Result<&O::Logits> {
        if reading.members != ops.members() || reading.rows > self.rows || reading.picks > self.picks {
            return Err(Error::Batch(format!(
                "{} members reading {} rows for {} logits: there is room for {} members, {} rows and {} logits",
                reading.members,
                reading.rows,
                reading.picks,
                ops.members(),
                self.rows,
                self.picks
            )));
        }
        let context = ops.shape().context;
        for span in reading.spans.iter().flatten() {
            let [len, prefix, prefix_len, slot] =
                [span.len, span.prefix, span.prefix_len, span.slot].map(|value| value as usize);
            if prefix_len + len > context {
                return Err(Error::Batch(format!("{} tokens to read: the context is {context}", prefix_len + len)));
            }
            let end = (prefix + prefix_len).max(slot + len);
            if end > self.slots {
                return Err(Error::Batch(format!("{end} tokens to keep: there is room for {}", self.slots)));
            }
        }
        let layout = ops.layout().clone();
        ops.load_reading(reading)?;
        ops.reach(Point::BeginForward)?;
        let Inference { x, mid, norm, inv_rms, .. } = self;
        ops.embed_rms_norm(layout.embed, x, layout.layers[0].norm1, norm, inv_rms)?;
        for (l, (at, cache)) in layout.layers.iter().zip(&mut self.caches).enumerate() {
            ops.reach(Point::BeginPart(Part::Layer(l)))?;
            ops.linear(norm, at.qkv, None, &mut self.qkv)?;
            ops.attention_cached(&self.qkv, cache, self.slots, &mut self.attended)?;
            ops.linear_rms_norm(&self.attended, at.out, x, mid, at.norm2, norm, inv_rms)?;
            ops.linear_swiglu(norm, at.gate_up, &mut self.gate_up, &mut self.gated)?;
            // What comes after is normed for the next layer, or for the head.
            let gain = layout.layers.get(l + 1).map_or(layout.norm, |next| next.norm1);
            ops.linear_rms_norm(&self.gated, at.down, mid, x, gain, norm, inv_rms)?;
        }
        ops.select(norm, &mut self.picked)?;
        ops.reach(Point::BeginPart(Part::Head))?;
        ops.head(&self.picked, layout.head, &mut self.logits)?;
        Ok(&self.logits)
    }

    /// One pass over what each member reads, its rows rounded up to a multiple of `round`; answers per member.
    pub fn ask(&mut self, ops: &mut O, parts: &[MemberReading], wanted: Wanted, round: usize) -> Result<Vec<Answers>> {
        let reading = Reading::pack(parts, round);
        let vocab = ops.shape().vocab;
        self.logits(ops, &reading)?;
        let logits = &self.logits;
        Ok(match wanted {
            Wanted::Argmax => per_member(&ops.argmax(logits)?, &reading, 1).map(Answers::Tokens).collect(),
            Wanted::Drawn(temperature) => {
                let mut uniforms = vec![0.0; reading.members * reading.picks];
                for (member, part) in parts.iter().enumerate() {
                    uniforms[member * reading.picks..][..part.uniforms.len()].copy_from_slice(&part.uniforms);
                }
                per_member(&ops.draw(logits, temperature, &uniforms)?, &reading, 1).map(Answers::Tokens).collect()
            }
            Wanted::Scores => per_member(&ops.scores(logits)?, &reading, 1).map(Answers::Scores).collect(),
            Wanted::Logits => per_member(&ops.fetch_logits(logits)?, &reading, vocab).map(Answers::Logits).collect(),
        })
    }
}

/// Cuts `[members, picks, wide]` into members, without filler.
fn per_member<T: Clone>(all: &[T], reading: &Reading, wide: usize) -> impl Iterator<Item = Vec<T>> {
    all.chunks(reading.picks * wide).zip(&reading.real_picks).map(move |(all, &real)| all[..real * wide].to_vec())
}
