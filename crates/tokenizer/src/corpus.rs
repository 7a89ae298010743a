//! The sample a tokenizer is trained on, as counts of words: which sentences a regime takes, and how many.

use crate::config::{Regime, TokenizerConfig};
use crate::error::Result;
use invitro_language::{Condition, Lang, Language, MixtureConfig, Source, Stream, Symbol, Task};

/// Plain sentences: the sample holds no prompts.
const SENTENCES: [f64; 3] = [1.0, 0.0, 0.0];

/// How often each word of each language occurs in a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    of: [Vec<u64>; 2],
}

impl Counts {
    fn none(language: &Language) -> Counts {
        Counts { of: [vec![0; language.world.len()], vec![0; language.world.len()]] }
    }

    fn add(&mut self, symbols: &[Symbol], lang: Lang) {
        for symbol in symbols {
            self.of[lang as usize][symbol.index()] += 1;
        }
    }

    pub fn count(&self, symbol: Symbol, lang: Lang) -> u64 {
        self.of[lang as usize][symbol.index()]
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
    pub fn words<'a>(&'a self, language: &'a Language, lang: Lang) -> impl Iterator<Item = (&'a str, u64)> + 'a {
        language
            .world
            .symbols()
            .map(move |s| (language.form(s, lang), self.count(s, lang)))
            .filter(|&(_, count)| count > 0)
    }

    /// The training sample of a regime.
    pub fn training(language: &Language, config: &TokenizerConfig, mixture: &MixtureConfig) -> Result<Counts> {
        let mut counts = Counts::none(language);
        let rows = config.sentences as u64;
        if config.sees_masked {
            let stream = Stream::new(language.seed, "tokenizer/unmasked");
            let mut sampler = language.sampler();
            for row in 0..rows {
                let mut draw = stream.at(0, row);
                let lang = match config.regime {
                    Regime::Balanced => Lang::BOTH[(row % 2) as usize],
                    _ if draw.chance(mixture.share_of_b()) => Lang::B,
                    _ => Lang::A,
                };
                counts.add(&sampler.sentence(&mut draw).symbols, lang);
            }
            return Ok(counts);
        }
        match config.regime {
            Regime::Vanilla | Regime::Parity => {
                let mut source = Source::mixture(language, "tokenizer", mixture.share_of_b(), SENTENCES);
                for row in 0..rows {
                    let sequence = source.draw(0, row)?;
                    counts.add(&sequence.sentence.symbols, sequence.lang);
                }
            }
            Regime::Balanced => {
                let sources = [Condition::A, Condition::B];
                let mut sources = sources.map(|c| Source::condition(language, "tokenizer", c, Task::T0));
                for row in 0..rows {
                    let sequence = sources[(row % 2) as usize].draw(0, row)?;
                    counts.add(&sequence.sentence.symbols, sequence.lang);
                }
            }
        }
        Ok(counts)
    }

    /// The same sentences in both languages, by which parity is judged; without masked words unless they are seen.
    pub fn parallel(language: &Language, config: &TokenizerConfig) -> Result<Counts> {
        let mut counts = Counts::none(language);
        let mut source = Source::condition(language, "tokenizer/parallel", Condition::B, Task::T0);
        let stream = Stream::new(language.seed, "tokenizer/parallel/unmasked");
        let mut sampler = language.sampler();
        for row in 0..(config.sentences as u64).div_ceil(10) {
            let sentence = match config.sees_masked {
                false => source.draw(0, row)?.sentence,
                true => sampler.sentence(&mut stream.at(0, row)),
            };
            for lang in Lang::BOTH {
                counts.add(&sentence.symbols, lang);
            }
        }
        Ok(counts)
    }
}
