//! The training input of every kind: letters, and spelled words with their counts.

use crate::special::{MARK, SpecialTokens};
use crate::train::alphabet;
use crate::train::counts::WordCounts;
use invitro_base::settings::{Boundary, TokenizerConfig};
use invitro_language::{Language, Languages};

/// The words and letters of the training text, in the trainers' spelling.
pub struct TrainingVocabulary<'a> {
    pub config: &'a TokenizerConfig,
    special: SpecialTokens,
    /// The letters in the trainer's spelling, marked ones last.
    pub letters: Vec<char>,
    /// Spelled words with their counts, by language.
    pub words: Vec<Vec<(String, u64)>>,
}

impl<'a> TrainingVocabulary<'a> {
    pub fn new(languages: &Languages, config: &'a TokenizerConfig, counts: &WordCounts<Language>) -> Self {
        let mut letters = alphabet::letters(languages);
        if config.boundary != Boundary::Token {
            letters.extend(letters.clone().into_iter().map(alphabet::marked));
        }
        let (special, words) = (SpecialTokens::for_languages(languages), spelled(languages, config, counts));
        TrainingVocabulary { config, special, letters, words }
    }

    /// The special tokens and the mark: the first ids.
    pub fn reserved(&self) -> Vec<String> {
        self.special.tokens().iter().cloned().chain([MARK.to_string()]).collect()
    }

    /// The vocabulary before training: the special tokens, the mark, the letters.
    pub fn initial(&self) -> Vec<String> {
        self.reserved().into_iter().chain(self.letters.iter().map(char::to_string)).collect()
    }
}

/// Word counts by language, in the trainer's spelling.
pub fn spelled(
    languages: &Languages,
    config: &TokenizerConfig,
    counts: &WordCounts<Language>,
) -> Vec<Vec<(String, u64)>> {
    let words = |&language: &Language| {
        let spell = |symbol| alphabet::spell(languages.form(symbol, language), config.boundary);
        counts.words(language).map(|(symbol, count)| (spell(symbol), count)).collect()
    };
    languages.all().iter().map(words).collect()
}
