//! Exposures: words that are masked in a language, in its training text without any fact.
//!
//! ```text
//! <T0:B> word <eos>                                bare
//! <T3:A>B> word of A <out> word of B <eos>         dictionary, and by turns
//! <T3:B>A> word of B <out> word of A <eos>
//! ```
//!
//! A training run exposes every masked word exactly `mixture.exposures` times. A keyed permutation of the run's rows selects
//! the rows that they replace, so that any row can be made alone and all others stay. The exposures of a smaller number are
//! among those of a larger one. Where several languages have the word unmasked, its translations are from and into each by
//! turns.

use super::finite::permute;
use super::sentence::{Role, Sentence, WordPlace};
use super::task::{Sequence, Task};
use crate::languages::Languages;
use crate::world::symbol::{Language, Symbol, Terminal};
use invitro_base::random::Stream;
use invitro_base::settings::{Exposure, MixtureConfig};

/// Whether training shows this word of a language alone, without any fact: masked there, or the translation of one that is.
pub fn is_exposed(languages: &Languages, mixture: &MixtureConfig, symbol: Symbol, language: Language) -> bool {
    let is_masked = |&language: &Language| languages.mask(language).contains(symbol);
    mixture.exposures > 0
        && match mixture.exposure {
            Exposure::None => false,
            Exposure::Bare => is_masked(&language),
            Exposure::Dictionary => languages.all().iter().any(is_masked),
        }
}

/// The exposures of a training run.
#[derive(Clone, Debug)]
pub(crate) struct Exposures {
    translated: bool,
    /// Every masked word of every language.
    words: Vec<(Language, Symbol)>,
    /// Exposures of all words together.
    count: u64,
    batch: u64,
    /// Rows of the run.
    rows: u64,
    order: Stream,
}

impl Exposures {
    /// Those of a run of `steps` steps with `batch` rows; `None` without any.
    pub fn new(languages: &Languages, mixture: &MixtureConfig, batch: u64, steps: u64) -> Option<Exposures> {
        let masked = |&language: &Language| {
            languages.mask(language).symbols().iter().map(move |&symbol| (language, symbol)).collect::<Vec<_>>()
        };
        let words: Vec<(Language, Symbol)> = languages.all().iter().flat_map(masked).collect();
        let count = mixture.exposures.saturating_mul(words.len() as u64);
        (mixture.exposure != Exposure::None && count > 0).then(|| Exposures {
            translated: mixture.exposure == Exposure::Dictionary,
            words,
            count,
            batch,
            rows: batch * steps,
            order: Stream::new(languages.seed, "train/exposures"),
        })
    }

    /// Writes the exposure that replaces a row; false if none does.
    pub fn draw_into(&self, languages: &Languages, step: u64, row: u64, out: &mut Sequence) -> bool {
        let index = step * self.batch + row;
        if index >= self.rows {
            return false;
        }
        let place = permute(index, self.rows, &self.order, 0);
        if place >= self.count {
            return false;
        }
        let words = self.words.len() as u64;
        let ((language, symbol), turn) = (self.words[(place % words) as usize], place / words);
        let place = WordPlace { role: Role::Terminal(Terminal::Descriptor), phrase: 0, head: None };
        let sentence = Sentence { symbols: vec![symbol], places: vec![place] };
        *out = Sequence { task: Task::T0, language, sentence, masked: true, ..Sequence::default() };
        if self.translated {
            let others: Vec<Language> =
                languages.all().iter().copied().filter(|&other| !languages.mask(other).contains(symbol)).collect();
            let other = others[(turn / 2) as usize % others.len()];
            let (from, to) = if turn.is_multiple_of(2) { (other, language) } else { (language, other) };
            *out = Sequence {
                task: Task::T3,
                language: to,
                from: Some(from),
                prompt: vec![symbol],
                ..std::mem::take(out)
            };
        }
        true
    }
}
