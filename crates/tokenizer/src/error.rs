//! Errors of tokenizers: one sentence with the given value, the allowed values, and the place.

use invitro_base::settings::SettingError;
use std::path::PathBuf;

/// A setting, file or tokenizer that cannot be used.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum Error {
    /// A setting outside its range, or settings, a tokenizer and languages that do not fit each other.
    #[error(transparent)]
    Setting(#[from] SettingError),

    /// The corpus has fewer pieces than the requested vocabulary.
    #[error(
        "`tokenizer.vocab` is {wanted}, but {sentences} sentences fill only {reached}: ask for at most {reached}, raise \
         `tokenizer.sentences`, or accept fewer with `tokenizer.allow_shortfall=true`"
    )]
    Shortfall { wanted: usize, reached: usize, sentences: usize },

    /// A file that cannot be read or written.
    #[error("`{}` cannot be {verb}: {why}", path.display())]
    File { path: PathBuf, verb: &'static str, why: String },

    /// A file that is not a tokenizer of invitro.
    #[error("`{}` is not a tokenizer of invitro: {why}", path.display())]
    Damaged { path: PathBuf, why: String },

    /// A `tokenizer.file` that these languages cannot use.
    #[error("`tokenizer.file` is `{}`, which cannot be used here: {why}", path.display())]
    Own { path: PathBuf, why: String },

    /// An error of the languages.
    #[error(transparent)]
    Languages(#[from] invitro_language::Error),

    /// An error of the `tokenizers` crate.
    #[error("the tokenizers library failed: {0}")]
    Library(String),
}

impl Error {
    /// The error for settings, a tokenizer or languages that do not fit each other.
    pub(crate) fn mismatch(sentence: impl Into<String>) -> Error {
        SettingError::Mismatch(sentence.into()).into()
    }
}

/// A result with an [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Converts an error of the `tokenizers` crate.
pub(crate) fn library(error: impl std::fmt::Display) -> Error {
    Error::Library(error.to_string())
}
