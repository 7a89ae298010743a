//! The text measures are taken on: a fixed sample of sentences of each condition, as counts of words.

use crate::corpus::Counts;
use crate::error::Result;
use invitro_language::{Condition, Languages, Source, Symbol, Task};

/// Sentences of a condition, unless asked otherwise.
pub const SENTENCES: u64 = 2000;

/// How often each symbol occurs in the sentences of each condition. B's are read in A too, for parity.
#[derive(Clone, Debug)]
pub struct Sample {
    counts: [Vec<u64>; 3],
}

impl Sample {
    /// Running text: the same for every tokenizer of a language.
    pub fn text(languages: &Languages, sentences: u64) -> Result<Sample> {
        let mut counts = [const { Vec::new() }; 3];
        for condition in Condition::ALL {
            let mut source = Source::condition(languages, "tokenizer/measure", condition, Task::T0);
            let symbols: Vec<Vec<Symbol>> =
                (0..sentences).map(|row| Ok(source.draw(0, row)?.sentence.symbols)).collect::<Result<_>>()?;
            counts[condition as usize] = Counts::of(languages.world.len(), symbols.into_iter().flatten());
        }
        Ok(Sample { counts })
    }

    /// The lexicon: every word of A; of B, the words that are not masked and, apart, those that are.
    pub fn lexicon(languages: &Languages) -> Sample {
        let words = |keep: &dyn Fn(Symbol) -> bool| languages.world.symbols().map(|s| u64::from(keep(s))).collect();
        let masked = |s| languages.mask.contains(s);
        Sample { counts: [words(&|_| true), words(&|s| !masked(s)), words(&masked)] }
    }

    /// From counts by condition and symbol.
    pub fn new(counts: [Vec<u64>; 3]) -> Sample {
        Sample { counts }
    }

    /// The symbols that occur in a condition, with their counts.
    pub fn words(&self, condition: Condition) -> impl Iterator<Item = (Symbol, u64)> + '_ {
        let counts = self.counts[condition as usize].iter().enumerate();
        counts.filter(|&(_, &count)| count > 0).map(|(i, &count)| (Symbol(i as u32), count))
    }
}
