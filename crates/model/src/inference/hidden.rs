//! Hidden states: the residual stream at chosen layers and positions, and patches that overwrite it.
//!
//! Layer 0 is the embedding, layer l the residual stream after the l-th layer. A state has the residual and its norm, the
//! input of the next layer or of the head. Both are copied exactly, so patching a state with itself changes no bit, and
//! patching the last layer at the last position gives the donor's logits.

use super::pass::{self, MemberPass};
use super::queries::{HiddenQuery, LayerStates, check_layers};
use crate::shard::Shard;
use crate::{Error, Result};
use rayon::prelude::*;

/// The hidden states of every member's queries.
pub fn hidden(shard: &mut dyn Shard, queries: &[Vec<HiddenQuery>]) -> Result<Vec<Vec<LayerStates>>> {
    let (context, layers) = (shard.shape().context, shard.shape().layers);
    queries.iter().flatten().try_for_each(|query| check(query, context, layers))?;
    let mut captured: Vec<usize> = queries.iter().flatten().flat_map(|query| query.layers.iter().copied()).collect();
    captured.sort_unstable();
    captured.dedup();
    let normed = queries.iter().flatten().any(|query| query.normed);
    let rows = pass::rows(context);
    shard.make_room(rows, rows, rows)?;
    let mut next = vec![0; queries.len()];
    let mut answers: Vec<Vec<LayerStates>> = queries.iter().map(|_| Vec::new()).collect();
    loop {
        let passes: Vec<(MemberPass, usize)> = queries
            .par_iter()
            .zip(&next)
            .map(|(queries, &next)| {
                let (mut pass, mut end) = (MemberPass::default(), next);
                while let Some(query) = queries.get(end) {
                    let fits = pass.tokens.len() + query.tokens.len() <= rows
                        && pass.picks.len() + query.positions.len() <= rows;
                    if !fits {
                        break;
                    }
                    let slot = pass.tokens.len();
                    let start = pass.push(&query.tokens, 0, 0, slot);
                    pass.picks.extend(query.positions.iter().map(|&position| (start + position as u32, 0)));
                    end += 1;
                }
                (pass, end)
            })
            .collect();
        let (parts, ends): (Vec<MemberPass>, Vec<usize>) = passes.into_iter().unzip();
        if ends == next {
            return Ok(answers);
        }
        let states = shard.hidden(&parts, &captured, normed)?;
        for (member, by_layer) in states.into_iter().enumerate() {
            let mut picked = 0;
            for query in &queries[member][next[member]..ends[member]] {
                let range = picked..picked + query.positions.len();
                picked = range.end;
                let of_layer = |layer: &usize| {
                    let place = captured.binary_search(layer).expect("every queried layer is captured");
                    by_layer[place][range.clone()].to_vec()
                };
                answers[member].push(query.layers.iter().map(of_layer).collect());
            }
        }
        next = ends;
    }
}

fn check(query: &HiddenQuery, context: usize, layers: usize) -> Result<()> {
    let length = query.tokens.len();
    if length == 0 || length > context {
        return Err(Error::Batch(format!("hidden states of {length} tokens: this model takes 1 to {context}")));
    }
    if let Some(position) = query.positions.iter().find(|&&position| position >= length) {
        return Err(Error::Batch(format!("hidden states at position {position}: the sequence has {length} tokens")));
    }
    check_layers(query.layers.iter().copied(), layers)
}
