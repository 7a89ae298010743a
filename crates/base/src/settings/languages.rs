//! `[[languages]]`

use super::language::{CHANGE, GRAMMAR, Morphology};
use super::{Range, Section, SettingError, require};
use crate::dotted::LIST;
use crate::settings;

/// Alphabets beside the shared one.
pub const SCRIPTS: usize = 8;

settings! {
    /// One of `[[languages]]`. What is left out is as in the pair A and B.
    LanguageEntry in "languages.NAME", "a family instead of A and B: a table like this for each language, 64 at most" {
        name: String = String::new() => "none",
            Range::Words("a letter, then letters and digits, 20 at most, not `all`"), Ours,
            "its name in conditions, columns, keys and task tokens";
        #[serde(skip_serializing_if = "Option::is_none")]
        parent: Option<String> = None => "the proto-language", Range::Words("the name of another one"), Ours,
            "which language it descends from";
        #[serde(skip_serializing_if = "Option::is_none")]
        distance: Option<f64> = None => "a sibling's", Range::within(0.0, 1.0), Ours,
            "lexical distance from its parent; siblings give none: the first two of a parent are `language.distance` apart, others as far from both";
        #[serde(skip_serializing_if = "Option::is_none")]
        share: Option<f64> = None => "1 for the first, lambda for others", Range::above(0.0), Ours, "size of its text";
        #[serde(skip_serializing_if = "Option::is_none")]
        grammar: Option<String> = None => "that of `language`", GRAMMAR, Ours, "word order";
        script: usize = 0, Range::within(0.0, SCRIPTS as f64), Ours,
            "0: the shared alphabet; n: its letters mapped one to one into the n-th of 8 others, names aside";
        mask_share: f64 = 0.0, Range::to_below(0.0, 1.0), Ours,
            "share of the descriptors withheld from it; `language.mask_share` has no effect in a family";
        copies: usize = 1, Range::Words("from 0, 64 languages in all"), Ours,
            "languages that this table stands for, named C1, C2, … unless it is one";
        spoken: bool = true, Range::Any, Ours,
            "whether it has text; false for an ancestor, or to take it away: the others stay as they are";
        #[serde(skip_serializing_if = "Option::is_none")]
        change: Option<String> = None => "that of `language`", CHANGE, Ours,
            "how its stems change from its parent's; a file of sound laws also decides its distance";
        #[serde(skip_serializing_if = "Option::is_none")]
        morphology: Option<Morphology> = None => "that of `language`", Range::Any, Ours, "how its words are made of their stems";
        #[serde(skip_serializing_if = "Option::is_none")]
        harmony: Option<bool> = None => "that of `language`", Range::Any, Ours, "whether its affixes' vowels agree with the stem's";
        #[serde(skip_serializing_if = "Option::is_none")]
        loans: Option<f64> = None => "that of `language`, 0 for the first", Range::within(0.0, 1.0), Ours,
            "share of its words whose stem is that of the first language";
        #[serde(skip_serializing_if = "Option::is_none")]
        false_friends: Option<f64> = None => "that of `language`, 0 for the first", Range::within(0.0, 1.0), Ours,
            "share of its words that are the first language's words of other symbols";
    }
}

impl LanguageEntry {
    /// An entry that gives nothing but its name.
    pub fn new(name: &str) -> LanguageEntry {
        LanguageEntry { name: name.into(), ..LanguageEntry::default() }
    }

    /// The languages that it describes.
    pub fn copies(&self) -> Vec<LanguageEntry> {
        let copy = |number| LanguageEntry { name: format!("{}{number}", self.name), copies: 1, ..self.clone() };
        if self.copies == 1 { vec![self.clone()] } else { (1..=self.copies).map(copy).collect() }
    }

    /// Every number in its range, errors under the language's name.
    pub fn validate(&self) -> Result<(), SettingError> {
        let key = format!("{LIST}.{}.share", self.name);
        let has_text = self.share.is_none_or(|share| share > 0.0 && share.is_finite());
        require(has_text, key, self.share.unwrap_or(0.0), "above 0; `spoken = false` for no text at all")?;
        self.check_ranges().map_err(|error| match error {
            SettingError::Range { key, given, allowed } => {
                SettingError::Range { key: key.replace("NAME", &self.name), given, allowed }
            }
            other => other,
        })
    }
}
