//! Scoring: log-probability and rank of every token of given continuations.
//!
//! A prompt is computed once for all its continuations, which attend to it through the cache. The prompt's last row scores
//! the first token of each; a continuation's last token is never read. One or two passes score hundreds of short
//! continuations of one prompt. A query may restrict the ranked tokens.

use super::forward::{Output, Outputs};
use super::pass::{MemberPass, rows};
use super::queries::{ContinuationScores, Patch, PatchedQuery, ScoreQuery, check_layers};
use crate::shard::Shard;
use crate::{Error, Result};
use rayon::prelude::*;

/// A query with the patches of its prompt, if any.
#[derive(Clone, Copy)]
struct ScoreItem<'a> {
    query: &'a ScoreQuery,
    patches: &'a [Patch],
}

/// The start of the next pass: query and continuation.
#[derive(Clone, Copy, Default)]
struct Cursor {
    query: usize,
    continuation: usize,
}

/// Scores every query of every member of a shard.
pub fn score(shard: &mut dyn Shard, queries: &[Vec<ScoreQuery>]) -> Result<Vec<Vec<ContinuationScores>>> {
    let item = |query| ScoreItem { query, patches: &[] };
    score_items(shard, &queries.iter().map(|own| own.iter().map(item).collect()).collect::<Vec<_>>())
}

/// The same with patches.
pub fn score_patched(shard: &mut dyn Shard, queries: &[Vec<PatchedQuery>]) -> Result<Vec<Vec<ContinuationScores>>> {
    let mut items: Vec<Vec<ScoreItem>> = Vec::new();
    for own in queries {
        items.push(own.iter().map(|PatchedQuery { query, patches }| ScoreItem { query, patches }).collect());
    }
    score_items(shard, &items)
}

fn score_items(shard: &mut dyn Shard, items: &[Vec<ScoreItem>]) -> Result<Vec<Vec<ContinuationScores>>> {
    let (context, vocab) = (shard.shape().context, shard.shape().vocab);
    let (width, layers) = (shard.shape().width, shard.shape().layers);
    items.iter().flatten().try_for_each(|item| check(item, context, vocab, (layers, width)))?;
    let rows = rows(context);
    shard.make_room(rows, rows, rows)?;
    let mut cursors = vec![Cursor::default(); items.len()];
    let mut scores: Vec<Vec<ContinuationScores>> = items.par_iter().map(|items| room_for_scores(items)).collect();
    loop {
        let members = items.par_iter().zip(&mut cursors);
        let (parts, order): (Vec<_>, Vec<_>) = members.map(|(items, cursor)| fill(items, cursor, rows)).unzip();
        if parts.iter().all(|part| part.tokens.is_empty()) {
            return Ok(scores);
        }
        let outputs = shard.run(&parts, Output::Scores)?;
        order.par_iter().zip(outputs).zip(&mut scores).for_each(|((places, output), scores)| {
            let Outputs::Scores(new) = output else { unreachable!("scores were requested") };
            for (&(query, continuation), score) in places.iter().zip(new) {
                scores[query][continuation].push(score);
            }
        });
    }
}

fn room_for_scores(items: &[ScoreItem]) -> Vec<ContinuationScores> {
    let room = |continuation: &Vec<u32>| Vec::with_capacity(continuation.len());
    items.iter().map(|item| item.query.continuations.iter().map(room).collect()).collect()
}

/// Fills one pass of a member with continuations, each prompt before its first; every row's slot is its own number. Returns
/// the query and continuation of each pick.
fn fill(items: &[ScoreItem], cursor: &mut Cursor, rows: usize) -> (MemberPass, Vec<(usize, usize)>) {
    let (mut part, mut places) = (MemberPass::default(), Vec::new());
    while let Some(ScoreItem { query, patches }) = items.get(cursor.query) {
        let prompt_len = query.prompt.len();
        let mut prompt_row = None;
        while let Some(continuation) = query.continuations.get(cursor.continuation) {
            let new = continuation.len().saturating_sub(1) + if prompt_row.is_none() { prompt_len } else { 0 };
            if part.tokens.len() + new > rows || part.picks.len() + continuation.len() > rows {
                return (part, places);
            }
            if let Some((&first, &last)) = continuation.first().zip(continuation.last()) {
                let prompt = *prompt_row.get_or_insert_with(|| {
                    let at = part.tokens.len();
                    let row = part.push(&query.prompt, 0, 0, at);
                    part.patches.extend(patches.iter().map(|patch| (row + patch.position as u32, patch.clone())));
                    row
                });
                part.picks.push((prompt + prompt_len as u32 - 1, first));
                let read = &continuation[..continuation.len() - 1];
                if !read.is_empty() {
                    let at = part.tokens.len();
                    let row = part.push(read, prompt as usize, prompt_len, at);
                    let targets = read[1..].iter().chain([&last]);
                    part.picks.extend(targets.enumerate().map(|(i, &target)| (row + i as u32, target)));
                }
                places.extend((0..continuation.len()).map(|_| (cursor.query, cursor.continuation)));
                part.among.resize(part.picks.len(), query.among.clone());
            }
            cursor.continuation += 1;
        }
        *cursor = Cursor { query: cursor.query + 1, continuation: 0 };
    }
    (part, places)
}

fn check(item: &ScoreItem, context: usize, vocab: usize, (layers, width): (usize, usize)) -> Result<()> {
    let ScoreQuery { prompt, continuations, among } = item.query;
    if let Some(among) = among.as_ref().filter(|among| among.len() != vocab) {
        return Err(Error::Batch(format!(
            "ranks among {} tokens: the vocabulary has {vocab}, and each is counted or not",
            among.len()
        )));
    }
    let longest = continuations.iter().map(Vec::len).max().unwrap_or(0);
    // The last token of a continuation is only predicted.
    if prompt.is_empty() || prompt.len() + longest > context + 1 {
        return Err(Error::Batch(format!(
            "a prompt of {} tokens with a continuation of {longest}: a prompt has at least 1, and together they \
             may have {}",
            prompt.len(),
            context + 1
        )));
    }
    check_layers(item.patches.iter().map(|patch| patch.layer), layers)?;
    for Patch { position, state, .. } in item.patches {
        if *position >= prompt.len() {
            return Err(Error::Batch(format!(
                "a patch at position {position}: the prompt has {} tokens",
                prompt.len()
            )));
        }
        let lengths = [state.residual.len(), state.normed.len()];
        if lengths != [width; 2] {
            return Err(Error::Batch(format!(
                "a patch of {} and {} numbers: the width is {width}",
                lengths[0], lengths[1]
            )));
        }
    }
    Ok(())
}
