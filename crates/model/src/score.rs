//! Scoring: log-probability and rank of every token of given continuations.
//!
//! A prompt is computed once for all its continuations, which see it through the cache; the first token of each is
//! read off the prompt's last row, and a continuation's last token is never read. Hundreds of short continuations of
//! one prompt go through in a pass or two.
//!
//! A question may name the tokens that ranks are taken among.

use crate::inference::{Answers, Wanted};
use crate::reading::{MemberReading, Score};
use crate::shard::Shard;
use crate::{Error, Result};
use rayon::prelude::*;
use std::sync::Arc;

/// A prompt and what might follow it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub prompt: Vec<u32>,
    pub continuations: Vec<Vec<u32>>,
    /// Of every token, whether ranks count it. None where they count all.
    pub among: Option<Arc<[bool]>>,
}

/// The scores of every token of every continuation of a question.
pub type Answer = Vec<Vec<Score>>;

/// Rows, and logits, of a pass per member.
pub fn rows(context: usize) -> usize {
    1024.max(2 * context)
}

/// Where the next pass starts: question and continuation.
#[derive(Clone, Copy, Default)]
struct Cursor {
    question: usize,
    continuation: usize,
}

/// Answers every question of every member of a shard.
pub fn score(shard: &mut dyn Shard, questions: &[Vec<Question>]) -> Result<Vec<Vec<Answer>>> {
    let (context, vocab) = (shard.shape().context, shard.shape().vocab);
    check(questions, context, vocab)?;
    let rows = rows(context);
    shard.make_room(rows, rows, rows)?;
    let mut cursors = vec![Cursor::default(); questions.len()];
    let mut answers: Vec<Vec<Answer>> = questions.par_iter().map(|questions| room_for_answers(questions)).collect();
    loop {
        let members = questions.par_iter().zip(&mut cursors);
        let (parts, order): (Vec<_>, Vec<_>) = members.map(|(questions, cursor)| fill(questions, cursor, rows)).unzip();
        if parts.iter().all(|part| part.tokens.is_empty()) {
            return Ok(answers);
        }
        let got = shard.ask(&parts, Wanted::Scores)?;
        order.par_iter().zip(got).zip(&mut answers).for_each(|((asked, got), answers)| {
            let Answers::Scores(scores) = got else { unreachable!("scores were asked for") };
            for (&(question, continuation), score) in asked.iter().zip(scores) {
                answers[question][continuation].push(score);
            }
        });
    }
}

fn room_for_answers(questions: &[Question]) -> Vec<Answer> {
    let room = |continuation: &Vec<u32>| Vec::with_capacity(continuation.len());
    questions.iter().map(|question| question.continuations.iter().map(room).collect()).collect()
}

/// One pass of a member: as many continuations as fit, each prompt before its first, every row's slot being its own
/// number. Returns what each pick is for.
fn fill(questions: &[Question], cursor: &mut Cursor, rows: usize) -> (MemberReading, Vec<(usize, usize)>) {
    let (mut part, mut asked) = (MemberReading::default(), Vec::new());
    while let Some(question) = questions.get(cursor.question) {
        let prompt_len = question.prompt.len();
        let mut prompt_row = None;
        while let Some(continuation) = question.continuations.get(cursor.continuation) {
            let new = continuation.len().saturating_sub(1) + if prompt_row.is_none() { prompt_len } else { 0 };
            if part.tokens.len() + new > rows || part.picks.len() + continuation.len() > rows {
                return (part, asked);
            }
            if let Some((&first, &last)) = continuation.first().zip(continuation.last()) {
                let prompt = *prompt_row.get_or_insert_with(|| {
                    let at = part.tokens.len();
                    part.push(&question.prompt, 0, 0, at)
                });
                part.picks.push((prompt + prompt_len as u32 - 1, first));
                let read = &continuation[..continuation.len() - 1];
                if !read.is_empty() {
                    let at = part.tokens.len();
                    let row = part.push(read, prompt as usize, prompt_len, at);
                    let targets = read[1..].iter().chain([&last]);
                    part.picks.extend(targets.enumerate().map(|(i, &target)| (row + i as u32, target)));
                }
                asked.extend((0..continuation.len()).map(|_| (cursor.question, cursor.continuation)));
                part.among.resize(part.picks.len(), question.among.clone());
            }
            cursor.continuation += 1;
        }
        *cursor = Cursor { question: cursor.question + 1, continuation: 0 };
    }
    (part, asked)
}

fn check(questions: &[Vec<Question>], context: usize, vocab: usize) -> Result<()> {
    for Question { prompt, continuations, among } in questions.iter().flatten() {
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
    }
    Ok(())
}
