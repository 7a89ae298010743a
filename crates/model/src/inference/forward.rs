//! The forward-only model over a cache of keys and values.

use super::ops::InferOps;
use super::pass::{MemberPass, Pass};
use super::queries::{HiddenState, Score};
use crate::ops::{ModelPart, PassPoint};
use crate::{Error, Result, Shape};

/// The memory of forward-only passes with up to `rows` rows, `slots` cached rows and `picks` logits per member.
pub struct Inference<O: InferOps> {
    rows: usize,
    slots: usize,
    picks: usize,
    x: O::Buf,
    mid: O::Buf,
    norm: O::Buf,
    inverse: O::Stat,
    qkv: O::Buf,
    attended: O::Buf,
    gate_up: O::Buf,
    gated: O::Buf,
    /// One per layer.
    caches: Vec<O::Buf>,
    picked: O::Buf,
    logits: O::Logits,
}

/// A member's activation elements and logits in [`Inference`].
pub fn elements(shape: &Shape, rows: usize, slots: usize, picks: usize) -> (usize, usize) {
    let &Shape { layers, width, hidden, vocab, .. } = shape;
    (rows * (7 * width + shape.up_width() + hidden) + slots * layers * 2 * width + picks * width, picks * vocab)
}

/// The computation on the logits of the picked rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Output {
    Argmax,
    /// A token sampled at this temperature, by the picks' random numbers.
    Sample(f64),
    Scores,
    Logits,
}

/// One member's outputs, one per pick.
#[derive(Clone, Debug)]
pub enum Outputs {
    /// The argmax or the sampled token.
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
            inverse: ops.stat(wide)?,
            qkv: ops.buf(wide * 3 * shape.width)?,
            attended: ops.buf(wide * shape.width)?,
            gate_up: ops.buf(wide * shape.up_width())?,
            gated: ops.buf(wide * shape.hidden)?,
            caches: (0..shape.layers).map(|_| ops.buf(members * slots * 2 * shape.width)).collect::<Result<_>>()?,
            picked: ops.buf(members * picks * shape.width)?,
            logits: ops.logits_buf(members * picks * shape.vocab)?,
        })
    }

    /// The capacity per member: rows, cached rows and logits.
    pub fn room(&self) -> [usize; 3] {
        [self.rows, self.slots, self.picks]
    }

    /// The logits of the picked rows, in the device's buffer.
    pub fn logits(&mut self, ops: &mut O, pass: &Pass) -> Result<&O::Logits> {
        self.forward(ops, pass, |_, _, _| Ok(()))?;
        ops.select(&self.norm, &mut self.picked)?;
        ops.reach(PassPoint::BeginPart(ModelPart::Head))?;
        let head = ops.layout().head.weight;
        ops.head(&self.picked, head, &mut self.logits)?;
        Ok(&self.logits)
    }

    /// The hidden states of every member's picked rows at these layers, `[member][layer][pick]`, with their norms if
    /// `normed`.
    pub fn hidden(
        &mut self,
        ops: &mut O,
        parts: &[MemberPass],
        layers: &[usize],
        normed: bool,
        round: usize,
    ) -> Result<Vec<Vec<Vec<HiddenState>>>> {
        let (pass, width) = (Pass::pack(parts, round), ops.shape().width);
        let row = |member: usize, pick: usize| member * pass.rows + pass.pick_rows[member * pass.picks + pick] as usize;
        let members = pass.real_picks.iter().enumerate();
        let rows: Vec<usize> =
            members.flat_map(|(member, &picks)| (0..picks).map(move |pick| row(member, pick))).collect();
        let mut states: Vec<Vec<Vec<HiddenState>>> = parts.iter().map(|_| Vec::new()).collect();
        self.forward(ops, &pass, |ops, layer, [residual, norm]| {
            if !layers.contains(&layer) {
                return Ok(());
            }
            let residual = ops.read_rows(residual, &rows)?;
            let norms = if normed { ops.read_rows(norm, &rows)? } else { Vec::new() };
            let mut norms = norms.chunks(width).map(<[f32]>::to_vec);
            let mut all = residual
                .chunks(width)
                .map(|residual| HiddenState { residual: residual.to_vec(), normed: norms.next().unwrap_or_default() });
            for (states, &picks) in states.iter_mut().zip(&pass.real_picks) {
                states.push(all.by_ref().take(picks).collect());
            }
            Ok(())
        })?;
        Ok(states)
    }

    /// The pass up to the last norm. Calls `visit` with every layer's residual stream and its norm, after patches.
    fn forward(
        &mut self,
        ops: &mut O,
        pass: &Pass,
        mut visit: impl FnMut(&mut O, usize, [&O::Buf; 2]) -> Result<()>,
    ) -> Result<()> {
        self.check(ops, pass)?;
        let layout = ops.layout().clone();
        ops.load_pass(pass)?;
        ops.reach(PassPoint::BeginForward)?;
        let Inference { x, mid, norm, inverse, .. } = self;
        ops.embed_norm(layout.embed, x, layout.layers[0].norm1, norm, inverse)?;
        patch(ops, pass, 0, x, norm)?;
        visit(ops, 0, [x, norm])?;
        for (l, (at, cache)) in layout.layers.iter().zip(&mut self.caches).enumerate() {
            ops.reach(PassPoint::BeginPart(ModelPart::Layer(l)))?;
            ops.linear(norm, at.qkv, None, &mut self.qkv)?;
            ops.attention_cached(&self.qkv, cache, self.slots, &mut self.attended)?;
            ops.linear_norm(&self.attended, at.out, x, mid, at.norm2, norm, inverse)?;
            ops.linear_activate(norm, at.gate_up, &mut self.gate_up, &mut self.gated)?;
            // The norm is that of the next layer, or of the head.
            let next = layout.layers.get(l + 1).map_or(layout.norm, |next| next.norm1);
            ops.linear_norm(&self.gated, at.down, mid, x, next, norm, inverse)?;
            patch(ops, pass, l + 1, x, norm)?;
            visit(ops, l + 1, [x, norm])?;
        }
        Ok(())
    }

    fn check(&self, ops: &O, pass: &Pass) -> Result<()> {
        if pass.members != ops.members() || pass.rows > self.rows || pass.picks > self.picks {
            return Err(Error::Batch(format!(
                "{} members reading {} rows for {} logits: there is room for {} members, {} rows and {} logits",
                pass.members,
                pass.rows,
                pass.picks,
                ops.members(),
                self.rows,
                self.picks
            )));
        }
        let context = ops.shape().context;
        for span in pass.spans.iter().flatten() {
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
        Ok(())
    }

    /// Runs one pass, with rows rounded up to a multiple of `round`, and returns each member's outputs.
    pub fn run(&mut self, ops: &mut O, parts: &[MemberPass], output: Output, round: usize) -> Result<Vec<Outputs>> {
        let pass = Pass::pack(parts, round);
        let vocab = ops.shape().vocab;
        self.logits(ops, &pass)?;
        let logits = &self.logits;
        Ok(match output {
            Output::Argmax => per_member(&ops.argmax(logits)?, &pass, 1).map(Outputs::Tokens).collect(),
            Output::Sample(temperature) => {
                let mut uniforms = vec![0.0; pass.members * pass.picks];
                for (member, part) in parts.iter().enumerate() {
                    uniforms[member * pass.picks..][..part.uniforms.len()].copy_from_slice(&part.uniforms);
                }
                per_member(&ops.draw(logits, temperature, &uniforms)?, &pass, 1).map(Outputs::Tokens).collect()
            }
            Output::Scores => per_member(&ops.scores(logits)?, &pass, 1).map(Outputs::Scores).collect(),
            Output::Logits => per_member(&ops.fetch_logits(logits)?, &pass, vocab).map(Outputs::Logits).collect(),
        })
    }
}

/// Splits `[members, picks, wide]` by member, without filler.
fn per_member<T: Clone>(all: &[T], pass: &Pass, wide: usize) -> impl Iterator<Item = Vec<T>> {
    all.chunks(pass.picks * wide).zip(&pass.real_picks).map(move |(all, &real)| all[..real * wide].to_vec())
}

/// Applies the patches of a layer.
fn patch<O: InferOps>(ops: &mut O, pass: &Pass, layer: usize, x: &mut O::Buf, norm: &mut O::Buf) -> Result<()> {
    let of_layer = || pass.patches.iter().filter(|(_, patch)| patch.layer == layer);
    let rows: Vec<usize> = of_layer().map(|(row, _)| *row).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let residual: Vec<f32> = of_layer().flat_map(|(_, patch)| patch.state.residual.iter().copied()).collect();
    let normed: Vec<f32> = of_layer().flat_map(|(_, patch)| patch.state.normed.iter().copied()).collect();
    ops.write_rows(x, &rows, &residual)?;
    ops.write_rows(norm, &rows, &normed)
}
