//! What can be wrong with a tokenizer: one sentence each, with what was given, what is allowed, and where.

use invitro_base::settings::SettingError;
use std::path::PathBuf;

/// A setting, file or tokenizer that cannot be used.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum Error {
    /// A setting outside its range, or settings, a tokenizer and languages that do not fit each other.
    #[error(transparent)]
    Setting(#[from] SettingError),

    /// The corpus does not hold enough pieces for the vocabulary asked for.
    #[error(
        "`tokenizer.vocab` is {asked}, but {sentences} sentences fill only {reached}: ask for at most {reached}, raise \
         `tokenizer.sentences`, or accept fewer with `tokenizer.allow_shortfall=true`"
    )]
    Shortfall { asked: usize, reached: usize, sentences: usize },

    /// A file that cannot be read or written.
    #[error("`{}` cannot be {verb}: {why}", path.display())]
    File { path: PathBuf, verb: &'static str, why: String },

    /// A file that is there but is no tokenizer of ours.
    #[error("`{}` is not a tokenizer of invitro: {why}", path.display())]
    Damaged { path: PathBuf, why: String },

    /// A file that `tokenizer.file` names and these languages cannot use.
    #[error("`tokenizer.file` is `{}`, which cannot be used here: {why}", path.display())]
    Own { path: PathBuf, why: String },

    /// What went wrong with the languages.
    #[error(transparent)]
    Languages(#[from] invitro_language::Error),

    /// A fault inside the `tokenizers` crate.
    #[error("the tokenizers library failed: {0}")]
    Library(String),
}

impl Error {
    /// What does not fit together, as a sentence.
    pub(crate) fn mismatch(sentence: impl Into<String>) -> Error {
        SettingError::Mismatch(sentence.into()).into()
    }
}

/// Or an [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The `tokenizers` crate speaks in boxed errors.
pub(crate) fn library(error: impl std::fmt::Display) -> Error {
    Error::Library(error.to_string())
}
