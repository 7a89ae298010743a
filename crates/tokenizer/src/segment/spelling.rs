//! The spelling of a token: its letters, and whether it marks the beginning or end of a word.
//!
//! ```text
//! mark         ▁fe koc      fe koc▁      fe koc ▁       SentencePiece, ours
//! byte level   Ġfe koc      a character for every byte, Ġ for the space       GPT-2
//! continued    fe ##koc     a prefix on all pieces but the first              WordPiece
//! closed       fe koc</w>   a suffix on the last                              BPE
//! whole        fekoc        every token is a word
//! ```

use crate::special::MARK;
use invitro_base::settings::Kind;
use serde_json::Value;
use std::sync::LazyLock;

/// The rules to spell the tokens of a vocabulary.
#[derive(Clone, Debug, PartialEq)]
pub struct Spelling {
    bytes: Bytes,
    ends: Ends,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Bytes {
    /// Letters are written as letters.
    None,
    /// `<0x61>` is a byte.
    Fallback,
    /// Every character is a byte.
    Level,
}

/// How tokens mark the ends of words.
#[derive(Clone, Debug, PartialEq)]
enum Ends {
    Mark(char),
    Continued(String),
    Closed(String),
    Whole,
}

impl Spelling {
    /// The spelling of invitro's kinds.
    pub fn from_kind(kind: Kind) -> Spelling {
        let bytes = if kind == Kind::Byte { Bytes::Fallback } else { Bytes::None };
        Spelling { bytes, ends: Ends::Mark(MARK) }
    }

    /// The spelling of any `tokenizer.json`.
    pub fn from_json(json: &Value) -> Spelling {
        let model = &json["model"];
        let around = [&json["normalizer"], &json["pre_tokenizer"]];
        let bytes = match () {
            () if around.iter().any(|part| find(part, "ByteLevel").is_some()) => Bytes::Level,
            () if model["byte_fallback"] == true => Bytes::Fallback,
            () => Bytes::None,
        };
        let text = |key: &str| model[key].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let ends = match (text("continuing_subword_prefix"), text("end_of_word_suffix")) {
            _ if model["type"] == "WordLevel" => Ends::Whole,
            (Some(prefix), _) => Ends::Continued(prefix),
            (_, Some(suffix)) => Ends::Closed(suffix),
            _ => {
                let metaspace = around.iter().find_map(|part| find(part, "Metaspace"));
                let replacement = metaspace.and_then(|found| found["replacement"].as_str()?.chars().next());
                Ends::Mark(if bytes == Bytes::Level { ' ' } else { replacement.unwrap_or(MARK) })
            }
        };
        Spelling { bytes, ends }
    }

    /// A token's letters, without its mark, and whether it has one.
    pub fn read(&self, token: &str) -> (Box<[u8]>, bool) {
        if let Some(byte) = self.byte(token) {
            return ([byte].into(), false);
        }
        match &self.ends {
            Ends::Mark(_) => {
                let bytes = self.bytes(token);
                let letters = bytes.trim_ascii();
                (letters.into(), letters.len() < bytes.len())
            }
            Ends::Continued(prefix) => match token.strip_prefix(&**prefix) {
                Some(letters) => (self.bytes(letters).trim_ascii().into(), false),
                None => (self.bytes(token).trim_ascii().into(), true),
            },
            Ends::Closed(suffix) => match token.strip_suffix(&**suffix) {
                Some(letters) => (self.bytes(letters).trim_ascii().into(), true),
                None => (self.bytes(token).trim_ascii().into(), false),
            },
            Ends::Whole => (self.bytes(token).into(), true),
        }
    }

    /// Whether a token has letters on both sides of a mark.
    pub fn spans_words(&self, token: &str) -> bool {
        self.bytes(token).trim_ascii().contains(&b' ')
    }

    /// The byte of a token such as `<0x61>`.
    fn byte(&self, token: &str) -> Option<u8> {
        let digits = token.strip_prefix("<0x").filter(|_| self.bytes == Bytes::Fallback)?;
        u8::from_str_radix(digits.strip_suffix('>')?, 16).ok()
    }

    /// A token's bytes, its mark as a space.
    fn bytes(&self, token: &str) -> Vec<u8> {
        match (self.bytes, &self.ends) {
            (Bytes::Level, _) => token.chars().flat_map(level_byte).collect(),
            (_, Ends::Mark(mark)) => token.replace(*mark, " ").into_bytes(),
            _ => token.as_bytes().to_vec(),
        }
    }

    /// A part of a word as input for the model, with its mark; `None` if the model cannot take parts.
    pub fn write(&self, part: &str, first: bool, last: bool, boundary_is_first: bool) -> Option<String> {
        let spelled = |text: &str| match self.bytes {
            Bytes::Level => text.bytes().map(to_level).collect(),
            _ => text.to_owned(),
        };
        match &self.ends {
            Ends::Mark(mark) => {
                let mark = if self.bytes == Bytes::Level { to_level(b' ') } else { *mark };
                let [before, after] =
                    [boundary_is_first && first, !boundary_is_first && last].map(|has| has.then_some(mark));
                Some(before.into_iter().chain(spelled(part).chars()).chain(after).collect())
            }
            Ends::Continued(_) if first => Some(spelled(part)),
            Ends::Continued(prefix) => Some(format!("{prefix}{}", spelled(part))),
            // The model closes every input.
            Ends::Closed(_) | Ends::Whole => (first && last).then(|| spelled(part)),
        }
    }

    /// The token that is only a mark, if there can be one.
    pub fn mark(&self) -> Option<char> {
        match (self.bytes, &self.ends) {
            (Bytes::Level, Ends::Mark(_)) => Some(to_level(b' ')),
            (_, Ends::Mark(mark)) => Some(*mark),
            _ => None,
        }
    }
}

/// Searches a part of `tokenizer.json` and its children for a type.
fn find<'a>(part: &'a Value, kind: &str) -> Option<&'a Value> {
    match part {
        Value::Object(map) if map.get("type").is_some_and(|found| found == kind) => Some(part),
        Value::Object(map) => map.values().find_map(|below| find(below, kind)),
        Value::Array(list) => list.iter().find_map(|below| find(below, kind)),
        _ => None,
    }
}

/// GPT-2's characters for bytes: printable bytes are themselves, the others are letters from U+0100 on.
static LEVEL: LazyLock<[char; 256]> = LazyLock::new(|| {
    let mut unused = '\u{100}'..;
    std::array::from_fn(|byte| match byte as u8 {
        shown @ (b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF) => char::from(shown),
        _ => unused.next().expect("the range is long enough"),
    })
});

/// GPT-2's character for a byte.
pub fn to_level(byte: u8) -> char {
    LEVEL[usize::from(byte)]
}

/// The byte of such a character; for any other, its UTF-8 bytes.
pub fn level_byte(c: char) -> Vec<u8> {
    match (0..=u8::MAX).find(|&byte| to_level(byte) == c) {
        Some(byte) => vec![byte],
        None => c.to_string().into_bytes(),
    }
}
