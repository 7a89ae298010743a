//! What can be wrong with what a user gives: one sentence each, with what was given, what is allowed, and where.

use invitro_base::settings::SettingError;
use std::path::PathBuf;

/// A setting, grammar or draw that cannot be.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum Error {
    /// A setting outside its range, or settings that do not fit each other.
    #[error(transparent)]
    Setting(#[from] SettingError),

    /// A fault in a grammar, at a line of its text.
    #[error("grammar `{name}`, line {line}: {fault}")]
    Grammar { name: String, line: usize, fault: String },

    /// The grammar is neither a built-in one nor a readable file.
    #[error("`language.grammar` is `{given}`, which is neither svo, sov, vso or vos nor a readable file ({why})")]
    GrammarFile { given: PathBuf, why: String },

    /// A list of words that cannot be read.
    #[error("`language.lexicon` is `{}`, which cannot be used: {why}", path.display())]
    WordList { path: PathBuf, why: String },

    /// The phonology cannot make as many distinct words as the world has symbols.
    #[error(
        "the lexicon ran out of distinct words after {found} of {asked} at `language.word_length` = {length}: \
         use longer words or a smaller world"
    )]
    Exhausted { asked: usize, found: usize, length: f64 },

    /// No sentence with the wanted property turned up.
    #[error("no {wanted} was found in {tries} draws")]
    NotFound { wanted: String, tries: usize },
}

impl Error {
    /// Settings that do not fit each other, as a sentence.
    pub(crate) fn mismatch(sentence: impl Into<String>) -> Error {
        SettingError::Mismatch(sentence.into()).into()
    }
}

/// Or an [`Error`].
pub type Result<T> = std::result::Result<T, Error>;
