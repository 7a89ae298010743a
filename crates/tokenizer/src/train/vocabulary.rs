//! What every kind of tokenizer is trained from: letters, and spelled words with their counts.

use crate::special::{MARK, SpecialTokens};
use crate::train::alphabet;
use crate::train::counts::WordCounts;
use invitro_base::settings::{Boundary, TokenizerConfig};
use invitro_language::{Language, Languages};

/// The words and letters of the training text, spelled as the trainers see them.
pub struct TrainingVocabulary<'a> {
    pub config: &'a TokenizerConfig,
    special: SpecialTokens,
    /// The letters as the trainer spells them, marked ones after plain ones.
    pub letters: Vec<char>,
    /// Spelled words with their counts, by language.
    pub words: Vec<Vec<(String, u64)>>,
}

impl<'a> TrainingVocabulary<'a> {
    pub fn new(languages: &Languages, config: &'a TokenizerConfig, counts: &WordCounts<Language>) -> Self {
        let plain = alphabet::letters(languages);
        let marked = plain.iter().map(|&c| alphabet::marked(c)).filter(|_| config.boundary != Boundary::Token);
        let letters = plain.iter().copied().chain(marked).collect();
        TrainingVocabulary {
            config,
            special: SpecialTokens::of(languages),
            letters,
            words: spelled(languages, config, counts),
        }
    }

    /// The special tokens and the mark: the first ids.
    pub fn reserved(&self) -> Vec<String> {
        self.special.tokens().iter().cloned().chain([MARK.to_string()]).collect()
    }

    /// What every vocabulary holds before anything is learned: the special tokens, the mark, the letters.
    pub fn initial(&self) -> Vec<String> {
        self.reserved().into_iter().chain(self.letters.iter().map(char::to_string)).collect()
    }
}

/// Counted words by language, as the trainer spells them.
pub fn spelled(
    languages: &Languages,
    config: &TokenizerConfig,
    counts: &WordCounts<Language>,
) -> Vec<Vec<(String, u64)>> {
    let of = |&language: &Language| {
        let spell = |symbol| alphabet::spell(languages.form(symbol, language), config.boundary);
        counts.words(language).map(|(symbol, count)| (spell(symbol), count)).collect()
    };
    languages.all().iter().map(of).collect()
}
