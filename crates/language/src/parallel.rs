//! Texts that are translations of each other: a sentence is drawn once and said in every language, in each as often as its
//! size over the largest, unless the language withholds it. So a smaller text is a translation of a part of the largest,
//! though nothing says which sentence belongs to which.
//!
//! Nothing is translated here: that is what T3 is for. A block of rows (a step's, or a finite corpus's) is drawn at once, since which sentence a row has depends on the rows
//! before it.

use crate::error::Result;
use crate::sentence::Sentence;
use crate::source::{Source, TRIES, Training};
use crate::task::Sequence;

/// The rows of one step.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    rows: usize,
    step: Option<u64>,
    drawn: Vec<Sequence>,
}

impl Block {
    /// Blocks of so many rows.
    pub fn of(rows: u64) -> Block {
        Block { rows: rows as usize, step: None, drawn: Vec::new() }
    }

    /// A row of a step, with the rest of its block.
    pub fn draw(
        &mut self,
        source: &mut Source,
        training: &Training,
        step: u64,
        row: u64,
        accept: impl FnMut(&Sequence) -> bool,
        out: &mut Sequence,
    ) -> Result<()> {
        if self.step != Some(step) {
            self.step = None;
            self.fill(source, training, step, accept)?;
            self.step = Some(step);
        }
        out.clone_from(&self.drawn[row as usize]);
        Ok(())
    }

    fn fill(
        &mut self,
        source: &mut Source,
        training: &Training,
        step: u64,
        mut accept: impl FnMut(&Sequence) -> bool,
    ) -> Result<()> {
        let languages = source.sampler.languages();
        let shares = training.shares(step);
        let largest = shares.iter().copied().fold(0.0, f64::max);
        self.drawn.clear();
        let mut sentence = Sentence::default();
        for number in 0.. {
            if number as usize >= TRIES + 100 * self.rows {
                return Err(source.exhausted());
            }
            let mut rng = source.stream.at(step, number);
            source.sampler.sample(languages.all()[0], &mut rng, &mut sentence);
            if !source.pool.has(languages, &sentence.symbols) {
                continue;
            }
            for (&language, share) in languages.all().iter().zip(shares) {
                if self.drawn.len() == self.rows {
                    return Ok(());
                }
                if !rng.chance(share / largest) {
                    continue;
                }
                let mut out = Sequence { language, sentence: sentence.clone(), ..Default::default() };
                out.masked = languages.withholds(language, &sentence);
                out.prepare(source.task(&mut rng), &mut rng);
                training.switch(languages, &mut rng, &mut out);
                if training.allows(&out) && accept(&out) {
                    self.drawn.push(out);
                }
            }
        }
        Ok(())
    }
}
