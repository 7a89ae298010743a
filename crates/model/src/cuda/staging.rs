//! What changes from step to step, copied to the GPU in one piece: tokens, targets, spans, the rows of each token, and
//! the update's numbers. Two page-locked slots, so that the host fills one while the GPU reads the other.

use super::aside::event;
use super::device_error;
use super::memory::{Memory, Pinned};
use crate::ops::Update;
use crate::{Batch, Error, Result};
use cudarc::driver::{CudaContext, CudaEvent, CudaStream, result};
use std::sync::Arc;

/// Spans are dealt to classes by length, each with its own launch of the attention kernels: up to so many rows.
pub const CLASSES: [usize; 3] = [64, 128, usize::MAX];

/// Rows from which on a GPU is full with short spans alone; below, all longer ones go to the last class.
pub const MANY_ROWS: usize = 16384;

/// Whether so many rows, of all members together, leave much of a GPU idle.
pub fn few(rows: usize) -> bool {
    rows < MANY_ROWS
}

/// More rows than this that read one token are summed in pieces; the kernels' `CROWD`.
pub const CROWD: usize = 64;

/// Where each part lies, in bytes from the start: a function of the sizes alone, so a recorded step finds them again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Parts {
    pub rows: usize,
    /// Room for spans of each class, unused ones empty.
    pub classes: [usize; 3],
    /// Room per member for what crowded tokens have beyond their first rows.
    pub extras: usize,
    pub tokens: usize,
    pub targets: usize,
    pub order: usize,
    pub first: usize,
    pub extra: usize,
    pub spans: usize,
    pub groups: usize,
    pub member_weights: usize,
    pub update: usize,
    pub bytes: usize,
}

impl Parts {
    pub fn new(members: usize, rows: usize, classes: [usize; 3], vocab: usize) -> Self {
        let mut at = 0;
        let mut place = |bytes: usize| {
            let start = at;
            at += bytes.next_multiple_of(256);
            start
        };
        let (total, extras) = (members * rows, rows / CROWD + 1);
        Parts {
            rows,
            classes,
            extras,
            tokens: place(4 * total),
            targets: place(4 * total),
            order: place(4 * total),
            first: place(4 * members * (vocab + 1)),
            extra: place(16 * members * extras),
            spans: place(8 * classes.iter().sum::<usize>()),
            groups: place(total),
            member_weights: place(4 * members),
            update: place(32),
            bytes: at,
        }
    }

    /// The most bytes a batch of up to `capacity` rows may take.
    pub fn most(members: usize, capacity: usize, vocab: usize) -> usize {
        let spans = (members * capacity).next_multiple_of(64) + 64;
        Self::new(members, capacity, [spans; 3], vocab).bytes
    }
}

pub struct Staging {
    pub device: Memory,
    slots: [(Pinned, CudaEvent); 2],
    turn: usize,
}

impl Staging {
    pub fn new(context: &Arc<CudaContext>, bytes: usize) -> Result<Self> {
        let slot = || -> Result<(Pinned, CudaEvent)> { Ok((Pinned::new(context, bytes)?, event(context)?)) };
        Ok(Staging { device: Memory::new(context, bytes)?, slots: [slot()?, slot()?], turn: 0 })
    }

    /// Fills the next slot and starts its copy.
    pub fn send(&mut self, batch: &Batch, update: &Update, vocab: usize, stream: &CudaStream) -> Result<Parts> {
        let spans = classified(batch);
        let step = (batch.spans.iter().map(Vec::len).sum::<usize>() / 16).max(1).next_multiple_of(8);
        let parts =
            Parts::new(batch.members, batch.rows, spans.each_ref().map(|s| s.len().next_multiple_of(step)), vocab);
        if parts.bytes > self.device.bytes {
            return Err(Error::Batch(format!("{} rows exceed the room laid out", batch.rows)));
        }
        self.turn ^= 1;
        let (slot, copied) = &mut self.slots[self.turn];
        copied.synchronize().map_err(|e| device_error("waiting for a copy", e))?;
        fill(slot, batch, &spans, update, vocab, &parts)?;
        unsafe { result::memcpy_htod_async(self.device.ptr, &slot.bytes()[..parts.bytes], stream.cu_stream()) }
            .map_err(|e| device_error("copying a batch", e))?;
        copied.record(stream).map_err(|e| device_error("recording an event", e))?;
        Ok(parts)
    }
}

/// Set in the length of a span that is filler; the kernels' `FILLER`.
const FILLER: u32 = 1 << 31;

/// A span over the rows of all members: first row, length.
type FlatSpan = [u32; 2];

/// Spans of all members by class, the last first, as the kernels' `BACKWARDS` explains.
fn classified(batch: &Batch) -> [Vec<FlatSpan>; 3] {
    let mut classes = [const { Vec::new() }; 3];
    let few = few(batch.members * batch.rows);
    for (member, spans) in batch.spans.iter().enumerate() {
        for span in spans {
            let filler = span.start as usize >= batch.real[member];
            let class = CLASSES.iter().position(|&most| filler || span.len as usize <= most).unwrap_or(2);
            let class = if few && class > 0 { 2 } else { class };
            let start = (member * batch.rows) as u32 + span.start;
            classes[class].push([start, if filler { span.len | FILLER } else { span.len }]);
        }
    }
    for class in &mut classes {
        class.reverse();
    }
    classes
}

fn fill(
    slot: &mut Pinned,
    batch: &Batch,
    spans: &[Vec<FlatSpan>; 3],
    update: &Update,
    vocab: usize,
    parts: &Parts,
) -> Result<()> {
    let (rows, total) = (batch.rows, batch.members * batch.rows);
    slot.slice::<u32>(parts.tokens, total).copy_from_slice(&batch.tokens);
    slot.slice::<i32>(parts.targets, total).copy_from_slice(&batch.targets);
    slot.slice::<u8>(parts.groups, total).copy_from_slice(&batch.groups);
    let out_of_range = |kind: &str, id: i64| Error::Batch(format!("{kind} {id} is not below the vocabulary's {vocab}"));
    if let Some(&token) = batch.tokens.iter().find(|&&t| t as usize >= vocab) {
        return Err(out_of_range("token", token as i64));
    }
    if let Some(&target) = batch.targets.iter().find(|&&t| t >= vocab as i32) {
        return Err(out_of_range("target", target as i64));
    }
    // Rows of each token by counting sort: `first[v]` is where v's rows begin in `order`.
    let mut first = vec![0u32; vocab + 1];
    let mut order = vec![0u32; rows];
    for member in 0..batch.members {
        let tokens = &batch.tokens[member * rows..(member + 1) * rows];
        first.fill(0);
        for &token in tokens {
            first[token as usize + 1] += 1;
        }
        for v in 0..vocab {
            first[v + 1] += first[v];
        }
        slot.slice::<u32>(parts.first + 4 * member * (vocab + 1), vocab + 1).copy_from_slice(&first);
        let extra = slot.slice::<[u32; 4]>(parts.extra + 16 * member * parts.extras, parts.extras);
        extra.fill([0; 4]);
        let crowds = (0..vocab).flat_map(|v| {
            let (from, to) = (first[v], first[v + 1]);
            let pieces = (from..to).step_by(CROWD).skip(1);
            pieces.map(move |piece| [v as u32, piece, (piece + CROWD as u32).min(to), 0])
        });
        for (to, crowd) in extra.iter_mut().zip(crowds) {
            *to = crowd;
        }
        for (row, &token) in tokens.iter().enumerate() {
            let at = &mut first[token as usize];
            order[*at as usize] = row as u32;
            *at += 1;
        }
        slot.slice::<u32>(parts.order + 4 * member * rows, rows).copy_from_slice(&order);
        let targets = batch.targets[member * rows..(member + 1) * rows].iter().filter(|&&t| t >= 0).count();
        slot.slice::<f32>(parts.member_weights, batch.members)[member] = 1.0 / targets.max(1) as f32;
    }
    let mut at = parts.spans;
    for (class, &room) in spans.iter().zip(&parts.classes) {
        let to = slot.slice::<FlatSpan>(at, room);
        to[..class.len()].copy_from_slice(class);
        to[class.len()..].fill([0, 0]);
        at += 8 * room;
    }
    let correct = |beta: f64| (1.0 / (1.0 - beta.powf(update.step.max(1) as f64))) as f32;
    slot.slice::<f32>(parts.update, 8).copy_from_slice(&[
        update.lr as f32,
        update.beta1 as f32,
        update.beta2 as f32,
        update.eps as f32,
        update.weight_decay as f32,
        update.clip as f32,
        correct(update.beta1),
        correct(update.beta2),
    ]);
    Ok(())
}
