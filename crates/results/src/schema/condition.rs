//! Conditions: what a model is asked about, a language with or without words it never saw there.

use crate::UnknownName;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// A language, and whether the sentences hold a word that was masked there in training. On disk `A`, `B`, `B_masked`;
/// for people `A`, `B`, `B†`.
///
/// ```
/// use invitro_results::Condition;
/// let masked: Condition = "B_masked".parse().unwrap();
/// assert_eq!((&*masked.language, masked.masked), ("B", true));
/// assert_eq!((masked.to_string(), masked.label()), ("B_masked".into(), "B†".into()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Condition {
    /// The language's name.
    pub language: Arc<str>,
    /// Whether a masked word is in every sentence; without it, in none.
    pub masked: bool,
}

const SUFFIX: &str = "_masked";

impl Condition {
    /// The condition of a language's name.
    pub fn new(language: &str, masked: bool) -> Condition {
        Condition { language: language.into(), masked }
    }

    /// As people write it.
    pub fn label(&self) -> String {
        self.to_string().replace(SUFFIX, "†")
    }
}

impl From<invitro_language::LanguageCondition> for Condition {
    fn from(condition: invitro_language::LanguageCondition) -> Condition {
        condition.to_string().parse().expect("a language's name is a plain word")
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{}{}", self.language, if self.masked { SUFFIX } else { "" })
    }
}

impl FromStr for Condition {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Condition, UnknownName> {
        let (language, masked) = name.strip_suffix(SUFFIX).map_or((name, false), |language| (language, true));
        if language.is_empty() || language == crate::schema::quantity::ALL || language.contains('.') {
            return Err(UnknownName(name.to_owned()));
        }
        Ok(Condition::new(language, masked))
    }
}

impl TryFrom<String> for Condition {
    type Error = UnknownName;

    fn try_from(name: String) -> Result<Condition, UnknownName> {
        name.parse()
    }
}

impl From<Condition> for String {
    fn from(condition: Condition) -> String {
        condition.to_string()
    }
}
