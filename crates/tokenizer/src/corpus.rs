//! The sample a tokenizer is trained on, as counts of words: which sentences a regime takes, and how many.

use crate::config::{Regime, TokenizerConfig};
use crate::error::Result;
use invitro_language::{Condition, Language, Languages, MixtureConfig, Source, Stream, Symbol, Task};

/// Plain sentences: the sample holds no prompts.
const SENTENCES: [f64; 3] = [1.0, 0.0, 0.0];

/// How often each word of each language occurs in a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    of: [Vec<u64>; 2],
}

impl Counts {
    fn none(languages: &Languages) -> Counts {
        Counts { of: [vec![0; languages.world.len()], vec![0; languages.world.len()]] }
    }

    fn add(&mut self, symbols: &[Symbol], language: Language) {
        for symbol in symbols {
            self.of[language as usize][symbol.index()] += 1;
        }
    }

    pub fn count(&self, symbol: Symbol, language: Language) -> u64 {
        self.of[language as usize][symbol.index()]
    }

    /// Counts by symbol alone.
    pub(crate) fn of(world: usize, symbols: impl Iterator<Item = Symbol>) -> Vec<u64> {
        let mut counts = vec![0; world];
        for symbol in symbols {
            counts[symbol.index()] += 1;
        }
        counts
    }

    /// The words of a language that occur, with their counts, in the order of their symbols.
    pub fn words<'a>(
        &'a self,
        languages: &'a Languages,
        language: Language,
    ) -> impl Iterator<Item = (&'a str, u64)> + 'a {
        languages
            .world
            .symbols()
            .map(move |s| (languages.form(s, language), self.count(s, language)))
            .filter(|&(_, count)| count > 0)
    }

    /// The training sample of a regime.
    pub fn training(languages: &Languages, config: &TokenizerConfig, mixture: &MixtureConfig) -> Result<Counts> {
        let mut counts = Counts::none(languages);
        let rows = config.sentences as u64;
        if config.sees_masked {
            let stream = Stream::new(languages.seed, "tokenizer/unmasked");
            let mut sampler = languages.sampler();
            for row in 0..rows {
                let mut draw = stream.at(0, row);
                let language = match config.regime {
                    Regime::Balanced => Language::BOTH[(row % 2) as usize],
                    _ if draw.chance(mixture.share_of_b()) => Language::B,
                    _ => Language::A,
                };
                counts.add(&sampler.sentence(&mut draw).symbols, language);
            }
            return Ok(counts);
        }
        match config.regime {
            Regime::Vanilla | Regime::Parity => {
                let mut source = Source::mixture(languages, "tokenizer", mixture.share_of_b(), SENTENCES);
                for row in 0..rows {
                    let sequence = source.draw(0, row)?;
                    counts.add(&sequence.sentence.symbols, sequence.language);
                }
            }
            Regime::Balanced => {
                let sources = [Condition::A, Condition::B];
                let mut sources = sources.map(|c| Source::condition(languages, "tokenizer", c, Task::T0));
                for row in 0..rows {
                    let sequence = sources[(row % 2) as usize].draw(0, row)?;
                    counts.add(&sequence.sentence.symbols, sequence.language);
                }
            }
        }
        Ok(counts)
    }

    /// The same sentences in both languages, by which parity is judged; without masked words unless they are seen.
    pub fn parallel(languages: &Languages, config: &TokenizerConfig) -> Result<Counts> {
        let mut counts = Counts::none(languages);
        let mut source = Source::condition(languages, "tokenizer/parallel", Condition::B, Task::T0);
        let stream = Stream::new(languages.seed, "tokenizer/parallel/unmasked");
        let mut sampler = languages.sampler();
        for row in 0..(config.sentences as u64).div_ceil(10) {
            let sentence = match config.sees_masked {
                false => source.draw(0, row)?.sentence,
                true => sampler.sentence(&mut stream.at(0, row)),
            };
            for language in Language::BOTH {
                counts.add(&sentence.symbols, language);
            }
        }
        Ok(counts)
    }
}
