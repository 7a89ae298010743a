//! Sequences packed end to end.
//!
//! A sequence of n tokens fills n - 1 rows: row i reads token i and predicts token i + 1. All members have the same
//! number of rows, the largest member's rounded up; the remaining rows are filler without targets.
//!
//! ```
//! use invitro_model::{Batch, TokenSequence};
//! let member = vec![TokenSequence { tokens: vec![5, 6, 7], group: 0 }, TokenSequence { tokens: vec![5, 8], group: 1 }];
//! let batch = Batch::pack(&[member], 4, 16).unwrap();
//! assert_eq!(batch.rows, 4);
//! assert_eq!(batch.tokens, [5, 6, 5, 0]);
//! assert_eq!(batch.targets, [6, 7, 8, -1]);
//! assert_eq!(batch.real, [3]);
//! ```

use crate::{Error, Result};

/// One training sequence and the group (task) of its loss.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenSequence {
    pub tokens: Vec<u32>,
    pub group: u8,
}

/// Consecutive rows of a member with causal attention among them; positions count from `start`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub start: u32,
    pub len: u32,
}

/// The input of all members of a population in one step.
#[derive(Clone, Debug)]
pub struct Batch {
    pub members: usize,
    /// Rows per member, filler included.
    pub rows: usize,
    /// `[members, rows]`
    pub tokens: Vec<u32>,
    /// `[members, rows]`, -1 for rows without a target.
    pub targets: Vec<i32>,
    /// `[members, rows]`: the loss group of each row.
    pub groups: Vec<u8>,
    /// By member; they cover all its rows, filler included.
    pub spans: Vec<Vec<Span>>,
    /// Rows per member that are not filler.
    pub real: Vec<usize>,
}

impl Batch {
    /// Packs each member's sequences and rounds rows up to a multiple of `round`. No sequence may exceed `context` + 1
    /// tokens (its last token is only predicted).
    pub fn pack(members: &[Vec<TokenSequence>], round: usize, context: usize) -> Result<Self> {
        let real: Vec<usize> =
            members.iter().map(|m| m.iter().map(|s| s.tokens.len().saturating_sub(1)).sum()).collect();
        let rows = real.iter().copied().max().unwrap_or(0).max(1).next_multiple_of(round);
        let total = members.len() * rows;
        let mut batch = Batch {
            members: members.len(),
            rows,
            tokens: vec![0; total],
            targets: vec![-1; total],
            groups: vec![0; total],
            spans: Vec::with_capacity(members.len()),
            real,
        };
        for (member, sequences) in members.iter().enumerate() {
            let mut spans = Vec::with_capacity(sequences.len() + 1);
            let mut row = 0;
            for TokenSequence { tokens, group } in sequences {
                let len = tokens.len().saturating_sub(1);
                if len == 0 || len > context {
                    return Err(Error::Batch(format!(
                        "a sequence of {} tokens: this model takes 2 to {}",
                        tokens.len(),
                        context + 1
                    )));
                }
                let at = member * rows + row;
                batch.tokens[at..at + len].copy_from_slice(&tokens[..len]);
                for (slot, &next) in batch.targets[at..at + len].iter_mut().zip(&tokens[1..]) {
                    *slot = i32::try_from(next)
                        .map_err(|_| Error::Batch(format!("token {next} is above every vocabulary")))?;
                }
                batch.groups[at..at + len].fill(*group);
                spans.push(Span { start: row as u32, len: len as u32 });
                row += len;
            }
            while row < rows {
                let len = (rows - row).min(context);
                spans.push(Span { start: row as u32, len: len as u32 });
                row += len;
            }
            batch.spans.push(spans);
        }
        Ok(batch)
    }
}
