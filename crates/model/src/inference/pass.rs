//! The input of a forward-only pass: rows that attend to a cache of keys and values, and the rows whose logits are needed.
//!
//! Decoding adds one row per sequence and step, which attends to its own sequence's slots. In scoring, many short
//! continuations attend to the slots of one shared prompt, which is computed once.

use super::queries::Patch;
use std::sync::Arc;

/// Consecutive rows of a member. Row i has position `prefix_len` + i. It attends to the slots
/// `prefix .. prefix + prefix_len` and `slot ..= slot + i`; its key and value are stored in `slot` + i.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct CachedSpan {
    pub start: u32,
    pub len: u32,
    pub prefix: u32,
    pub prefix_len: u32,
    pub slot: u32,
}

/// The input of all members in one forward-only pass.
#[derive(Clone, Debug, Default)]
pub struct Pass {
    pub members: usize,
    /// Rows per member, filler included; filler belongs to no span, and its output is undefined.
    pub rows: usize,
    /// `[members, rows]`
    pub tokens: Vec<u32>,
    /// Per member.
    pub spans: Vec<Vec<CachedSpan>>,
    /// Rows per member that are not filler.
    pub real: Vec<usize>,
    /// Rows per member whose logits are computed, filler included.
    pub picks: usize,
    /// `[members, picks]`, 0 in filler.
    pub pick_rows: Vec<u32>,
    /// `[members, picks]`: the token to score, or 0.
    pub pick_targets: Vec<u32>,
    /// `[members, picks]`: the set of ranked tokens, numbered from 1 in the order of `sets`; 0 for all tokens.
    pub pick_sets: Vec<u32>,
    /// `[sets, ⌈vocab / 32⌉]`: a bit per token, the lowest first.
    pub sets: Vec<u32>,
    pub real_picks: Vec<usize>,
    /// Rows over all members, each with the state that overwrites it.
    pub patches: Vec<(usize, Patch)>,
}

/// One member's part of a [`Pass`].
#[derive(Clone, Debug, Default)]
pub struct MemberPass {
    pub tokens: Vec<u32>,
    pub spans: Vec<CachedSpan>,
    /// Row and token.
    pub picks: Vec<(u32, u32)>,
    /// By pick, the mask of ranked tokens; `None` for all tokens. Empty if all picks rank all tokens.
    pub among: Vec<Option<Arc<[bool]>>>,
    /// Patches, each with the row it overwrites.
    pub patches: Vec<(u32, Patch)>,
    /// Random numbers in [0, 1) for sampled picks; below 0 for the argmax.
    pub uniforms: Vec<f32>,
}

impl MemberPass {
    /// Adds a span that reads `tokens`; returns its first row.
    pub fn push(&mut self, tokens: &[u32], prefix: usize, prefix_len: usize, slot: usize) -> u32 {
        let start = self.tokens.len() as u32;
        self.tokens.extend_from_slice(tokens);
        self.spans.push(CachedSpan {
            start,
            len: tokens.len() as u32,
            prefix: prefix as u32,
            prefix_len: prefix_len as u32,
            slot: slot as u32,
        });
        start
    }
}

impl Pass {
    /// Joins the members' parts, with rows and picks rounded up to multiples of `round`.
    pub fn pack(parts: &[MemberPass], round: usize) -> Self {
        let most =
            |count: fn(&MemberPass) -> usize| parts.iter().map(count).max().unwrap_or(0).max(1).next_multiple_of(round);
        let (rows, picks) = (most(|part| part.tokens.len()), most(|part| part.picks.len()));
        let mut pass = Pass {
            members: parts.len(),
            rows,
            tokens: vec![0; parts.len() * rows],
            spans: parts.iter().map(|part| part.spans.clone()).collect(),
            real: parts.iter().map(|part| part.tokens.len()).collect(),
            picks,
            pick_rows: vec![0; parts.len() * picks],
            pick_targets: vec![0; parts.len() * picks],
            pick_sets: vec![0; parts.len() * picks],
            sets: Vec::new(),
            real_picks: parts.iter().map(|part| part.picks.len()).collect(),
            patches: Vec::new(),
        };
        for (member, part) in parts.iter().enumerate() {
            let row = |row: u32| member * rows + row as usize;
            pass.patches.extend(part.patches.iter().map(|(at, patch)| (row(*at), patch.clone())));
            pass.tokens[member * rows..][..part.tokens.len()].copy_from_slice(&part.tokens);
            for (i, &(row, target)) in part.picks.iter().enumerate() {
                pass.pick_rows[member * picks + i] = row;
                pass.pick_targets[member * picks + i] = target;
            }
        }
        pass.pack_sets(parts);
        pass
    }

    /// The position of every row in its sequence, `[members, rows]`, 0 in filler.
    pub fn positions(&self) -> Vec<u32> {
        let mut positions = vec![0; self.tokens.len()];
        for (member, spans) in self.spans.iter().enumerate() {
            for span in spans {
                let rows = &mut positions[member * self.rows + span.start as usize..][..span.len as usize];
                rows.iter_mut().zip(span.prefix_len..).for_each(|(to, position)| *to = position);
            }
        }
        positions
    }

    /// Stores each distinct set once.
    fn pack_sets(&mut self, parts: &[MemberPass]) {
        let mut known: Vec<&Arc<[bool]>> = Vec::new();
        for (member, part) in parts.iter().enumerate() {
            for (i, among) in part.among.iter().enumerate() {
                let Some(among) = among else { continue };
                let same = |other: &&Arc<[bool]>| Arc::ptr_eq(other, among);
                let set = known.iter().position(same).unwrap_or_else(|| {
                    let word = |tokens: &[bool]| tokens.iter().rev().fold(0, |word, &counts| word << 1 | counts as u32);
                    self.sets.extend(among.chunks(32).map(word));
                    known.push(among);
                    known.len() - 1
                });
                self.pick_sets[member * self.picks + i] = set as u32 + 1;
            }
        }
    }
}

/// The set of ranked tokens by its number in [`Pass::pick_sets`]; `None` for all tokens.
pub fn set_of(pick_set: u32, sets: &[u32], vocab: usize) -> Option<&[u32]> {
    let words = vocab.div_ceil(32);
    (pick_set as usize).checked_sub(1).map(|set| &sets[set * words..][..words])
}

/// Rows and logits per member of a pass of scores or hidden states.
pub fn rows(context: usize) -> usize {
    1024.max(2 * context)
}
