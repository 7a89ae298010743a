//! Errors in what a user gives: one sentence with the given value, the allowed values, and the place.

use invitro_base::settings::SettingError;
use std::path::PathBuf;

/// An invalid setting, grammar or word list, or a search without result.
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

    /// A fault in a file of sound laws, at a token.
    #[error("sound laws `{name}`, line {line}, column {column}: {fault}")]
    Laws { name: String, line: usize, column: usize, fault: String },

    /// The sound laws are neither drawn nor in a readable file.
    #[error("`language.change` is `{given}`, which is neither edits nor rules nor a readable file ({why})")]
    LawsFile { given: PathBuf, why: String },

    /// A list of words that cannot be read.
    #[error("`language.lexicon` is `{}`, which cannot be used: {why}", path.display())]
    WordList { path: PathBuf, why: String },

    /// The phonology has fewer distinct words than the world has symbols.
    #[error(
        "the lexicon ran out of distinct words after {found} of {wanted} at `language.word_length` = {length}: \
         use longer words or a smaller world"
    )]
    Exhausted { wanted: usize, found: usize, length: f64 },

    /// No sentence with the wanted property was found.
    #[error("no {wanted} was found in {tries} draws")]
    NotFound { wanted: String, tries: usize },
}

impl Error {
    /// The error for settings that do not fit each other.
    pub(crate) fn mismatch(sentence: impl Into<String>) -> Error {
        SettingError::Mismatch(sentence.into()).into()
    }
}

/// A result with an [`Error`].
pub type Result<T> = std::result::Result<T, Error>;
