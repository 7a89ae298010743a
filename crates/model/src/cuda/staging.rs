//! The data of each step, copied to the GPU at once: tokens, targets, spans, the rows of each token, and the numbers of
//! the members' updates. The host fills one of two page-locked buffers while the GPU reads the other.

use super::gpu::{Doing, Gpu};
use super::kernels::{FlatSpan, Overflow, UpdateNumbers};
use super::memory::{Memory, Pinned, Ptr};
use super::sizes::{EMBED_ROWS, FILLER};
use super::span_class::{CLASSES, class_of};
use super::streams::event;
use crate::by_token::sort_by_token;
use crate::ops::Update;
use crate::{Batch, Error, Result, Shape};
use cudarc::driver::{CudaEvent, CudaStream};
use std::marker::PhantomData;

/// Rows of all members that fill a GPU; smaller batches merge the classes of short spans.
pub const FULL_ROWS: usize = 16384;

/// The start of a section of `T`s in the staged bytes.
#[derive(Clone, Copy)]
pub struct StagedSection<T> {
    start: usize,
    of: PhantomData<T>,
}

/// The sections of a batch: a function of the sizes alone, so that a recorded step can be replayed.
#[derive(Clone, Copy)]
pub struct Sections {
    /// Room for spans of each class, unused ones empty.
    pub classes: ByClass,
    /// Pieces of frequent tokens per member.
    pub overflows: usize,
    pub tokens: StagedSection<u32>,
    pub targets: StagedSection<i32>,
    pub order: StagedSection<u32>,
    pub first: StagedSection<u32>,
    pub overflow: StagedSection<Overflow>,
    /// Empty without learned positions.
    pub positions: StagedSection<u32>,
    pub position_order: StagedSection<u32>,
    pub position_first: StagedSection<u32>,
    pub spans: StagedSection<FlatSpan>,
    pub groups: StagedSection<u8>,
    pub member_weights: StagedSection<f32>,
    pub updates: StagedSection<UpdateNumbers>,
    bytes: usize,
}

/// Reserves `len` elements at `at` and advances it.
fn section<T>(at: &mut usize, len: usize) -> StagedSection<T> {
    let start = *at;
    *at += (len * size_of::<T>()).next_multiple_of(256);
    StagedSection { start, of: PhantomData }
}

impl Sections {
    pub fn new(members: usize, rows: usize, classes: ByClass, shape: &Shape) -> Self {
        // Rows with a learned position, and the positions with their end.
        let (positioned, bounds) =
            shape.learned_positions().map_or((0, 0), |positions| (members * rows, members * (positions + 1)));
        let (total, overflows) = (members * rows, rows / EMBED_ROWS + 1);
        let at = &mut 0;
        Sections {
            classes,
            overflows,
            tokens: section(at, total),
            targets: section(at, total),
            order: section(at, total),
            first: section(at, members * (shape.vocab + 1)),
            overflow: section(at, members * overflows),
            spans: section(at, classes.iter().sum()),
            groups: section(at, total),
            member_weights: section(at, members),
            updates: section(at, members),
            positions: section(at, positioned),
            position_order: section(at, positioned),
            position_first: section(at, bounds),
            bytes: *at,
        }
    }

    /// The maximum bytes of a batch of up to `capacity` rows.
    pub fn most(members: usize, capacity: usize, shape: &Shape) -> usize {
        let spans = (members * capacity).next_multiple_of(64) + 64;
        Self::new(members, capacity, [spans; CLASSES.len()], shape).bytes
    }
}

/// A number for each class of spans.
pub type ByClass = [usize; CLASSES.len()];

pub struct Staging {
    device: Memory<u8>,
    buffers: [(Pinned, CudaEvent); 2],
    turn: usize,
}

impl Staging {
    pub fn new(gpu: &Gpu, bytes: usize) -> Result<Self> {
        let buffer = || -> Result<(Pinned, CudaEvent)> { Ok((Pinned::new(gpu, bytes)?, event(&gpu.context)?)) };
        Ok(Staging { device: Memory::new(gpu, bytes)?, buffers: [buffer()?, buffer()?], turn: 0 })
    }

    /// The address of a section on the GPU.
    pub fn at<T>(&self, section: StagedSection<T>) -> Ptr<T> {
        self.device.ptr().add(section.start).cast()
    }

    /// Fills the next buffer and starts its copy. `place` is the step's position in the history, `number` its
    /// updates. Without updates their numbers are zeros.
    pub fn send(
        &mut self,
        batch: &Batch,
        updates: &[Update],
        (place, number): (usize, u32),
        shape: &Shape,
        stream: &CudaStream,
    ) -> Result<Sections> {
        let spans = classified(batch, batch.members * batch.rows < FULL_ROWS);
        let step = (batch.spans.iter().map(Vec::len).sum::<usize>() / 16).max(1).next_multiple_of(8);
        let classes = spans.each_ref().map(|s| s.len().next_multiple_of(step));
        let sections = Sections::new(batch.members, batch.rows, classes, shape);
        if sections.bytes > self.device.len() {
            return Err(Error::Batch(format!("{} rows exceed the allocated memory", batch.rows)));
        }
        self.turn ^= 1;
        let (buffer, copied) = &mut self.buffers[self.turn];
        copied.synchronize().doing("waiting for a copy")?;
        fill(buffer, batch, &spans, shape.vocab, &sections);
        if let Some(positions) = shape.learned_positions() {
            fill_positions(buffer, batch, positions, &sections);
        }
        let staged = slice(buffer, sections.updates, 0, batch.members);
        staged.fill(UpdateNumbers::default());
        staged.iter_mut().zip(updates).for_each(|(to, update)| *to = numbers(update, place, number));
        // SAFETY: the buffer is not changed before `copied`, recorded in the next line, is waited for.
        unsafe { self.device.start_write(0, buffer.slice(0, sections.bytes), stream)? };
        copied.record(stream).doing("recording an event")?;
        Ok(sections)
    }
}

type SpansByClass = [Vec<FlatSpan>; CLASSES.len()];

/// Spans of all members by class, the last first, as `REVERSED_BLOCK` in `pointwise.cu` explains.
fn classified(batch: &Batch, small: bool) -> SpansByClass {
    let mut classes = [const { Vec::new() }; CLASSES.len()];
    for (member, spans) in batch.spans.iter().enumerate() {
        for span in spans {
            let filler = span.start as usize >= batch.real[member];
            let class = class_of(if filler { 0 } else { span.len as usize }, small);
            let start = (member * batch.rows) as u32 + span.start;
            classes[class].push([start, if filler { span.len | FILLER } else { span.len }]);
        }
    }
    for class in &mut classes {
        class.reverse();
    }
    classes
}

/// `len` elements of a section, from element `from` on.
fn slice<T: Copy>(buffer: &mut Pinned, section: StagedSection<T>, from: usize, len: usize) -> &mut [T] {
    buffer.slice(section.start + from * size_of::<T>(), len)
}

fn fill(buffer: &mut Pinned, batch: &Batch, spans: &SpansByClass, vocab: usize, to: &Sections) {
    let (rows, total) = (batch.rows, batch.members * batch.rows);
    slice(buffer, to.tokens, 0, total).copy_from_slice(&batch.tokens);
    slice(buffer, to.targets, 0, total).copy_from_slice(&batch.targets);
    slice(buffer, to.groups, 0, total).copy_from_slice(&batch.groups);
    let mut first = vec![0u32; vocab + 1];
    let mut order = vec![0u32; rows];
    for member in 0..batch.members {
        sort_by_token(&batch.tokens[member * rows..(member + 1) * rows], &mut first, &mut order);
        slice(buffer, to.first, member * (vocab + 1), vocab + 1).copy_from_slice(&first);
        let overflow = slice(buffer, to.overflow, member * to.overflows, to.overflows);
        overflow.fill([0; 4]);
        let pieces = (0..vocab).flat_map(|v| {
            let (from, to) = (first[v], first[v + 1]);
            let starts = (from..to).step_by(EMBED_ROWS).skip(1);
            starts.map(move |start| [v as u32, start, (start + EMBED_ROWS as u32).min(to), 0])
        });
        overflow.iter_mut().zip(pieces).for_each(|(to, piece)| *to = piece);
        slice(buffer, to.order, member * rows, rows).copy_from_slice(&order);
        let targets = batch.targets[member * rows..(member + 1) * rows].iter().filter(|&&t| t >= 0).count();
        slice(buffer, to.member_weights, member, 1)[0] = 1.0 / targets.max(1) as f32;
    }
    let mut at = 0;
    for (class, &room) in spans.iter().zip(&to.classes) {
        let to = slice(buffer, to.spans, at, room);
        to[..class.len()].copy_from_slice(class);
        to[class.len()..].fill([0, 0]);
        at += room;
    }
}

/// The position of every row, and the rows of every position.
fn fill_positions(buffer: &mut Pinned, batch: &Batch, count: usize, to: &Sections) {
    let rows = batch.rows;
    let (mut first, mut order) = (vec![0u32; count + 1], vec![0u32; rows]);
    for (member, spans) in batch.spans.iter().enumerate() {
        // Spans cover all rows, filler included.
        let positions: Vec<u32> = spans.iter().flat_map(|span| 0..span.len).collect();
        sort_by_token(&positions, &mut first, &mut order);
        slice(buffer, to.positions, member * rows, rows).copy_from_slice(&positions);
        slice(buffer, to.position_order, member * rows, rows).copy_from_slice(&order);
        slice(buffer, to.position_first, member * (count + 1), count + 1).copy_from_slice(&first);
    }
}

fn numbers(update: &Update, place: usize, number: u32) -> UpdateNumbers {
    let correct = |beta: f64| (1.0 / (1.0 - beta.powf(update.step.max(1) as f64))) as f32;
    [
        update.lr as f32,
        update.beta1 as f32,
        update.beta2 as f32,
        update.eps as f32,
        update.weight_decay as f32,
        update.clip as f32,
        correct(update.beta1),
        correct(update.beta2),
        place as f32,
        // The kernels read the bits.
        f32::from_bits(number),
        update.smoothing as f32,
    ]
}
