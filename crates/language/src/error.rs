//! What can be wrong with what a user gives: one sentence each, with what was given, what is allowed, and where.

use std::path::PathBuf;

/// A setting, grammar or draw that cannot be.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum Error {
    /// A setting outside its range; `key` is its dotted name in the experiment file.
    #[error("`{key}` is {given}, but must be {allowed}")]
    Range { key: String, given: String, allowed: String },

    /// Two settings that do not fit each other.
    #[error("{0}")]
    Mismatch(String),

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

/// Or an [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// `Ok` if `holds`, else [`Error::Range`].
pub(crate) fn range(holds: bool, key: impl Into<String>, given: impl ToString, allowed: impl ToString) -> Result<()> {
    if holds {
        return Ok(());
    }
    Err(Error::Range { key: key.into(), given: given.to_string(), allowed: allowed.to_string() })
}

/// `Ok` if `low <= given <= high`, else [`Error::Range`].
pub(crate) fn within<T: PartialOrd + ToString>(key: &'static str, given: T, low: T, high: T) -> Result<()> {
    let allowed = format!("{} to {}", low.to_string(), high.to_string());
    range(low <= given && given <= high, key, given, allowed)
}
