//! What a token spells: the letters it stands for, and whether it says that a word begins or ends there.
//!
//! ```text
//! mark         ▁fe koc      fe koc▁      fe koc ▁       SentencePiece, ours
//! byte level   Ġfe koc      with a character for every byte, Ġ the space      GPT-2
//! continued    fe ##koc     a prefix on all pieces but the first              WordPiece
//! closed       fe koc</w>   a suffix on the last                              BPE
//! whole        fekoc        every token is a word
//! ```

use crate::special::MARK;
use invitro_base::settings::Kind;
use serde_json::Value;
use std::sync::LazyLock;

/// How the tokens of a vocabulary are to be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Spelling {
    bytes: Bytes,
    ends: Ends,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Bytes {
    /// Letters are letters.
    None,
    /// `<0x61>` is a byte.
    Fallback,
    /// Every character is a byte.
    Level,
}

/// How the ends of words show.
#[derive(Clone, Debug, PartialEq)]
enum Ends {
    Mark(char),
    Continued(String),
    Closed(String),
    Whole,
}

impl Spelling {
    /// Of a kind of ours.
    pub fn of_kind(kind: Kind) -> Spelling {
        let bytes = if kind == Kind::Byte { Bytes::Fallback } else { Bytes::None };
        Spelling { bytes, ends: Ends::Mark(MARK) }
    }

    /// Of any `tokenizer.json`, by its parts.
    pub fn of_json(json: &Value) -> Spelling {
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
                Some(rest) => (self.bytes(rest).trim_ascii().into(), false),
                None => (self.bytes(token).trim_ascii().into(), true),
            },
            Ends::Closed(suffix) => match token.strip_suffix(&**suffix) {
                Some(rest) => (self.bytes(rest).trim_ascii().into(), true),
                None => (self.bytes(token).trim_ascii().into(), false),
            },
            Ends::Whole => (self.bytes(token).into(), true),
        }
    }

    /// Whether letters stand on both sides of a mark: a token of more than one word.
    pub fn is_of_words(&self, token: &str) -> bool {
        self.bytes(token).trim_ascii().contains(&b' ')
    }

    /// The byte that a token is written as.
    fn byte(&self, token: &str) -> Option<u8> {
        let digits = token.strip_prefix("<0x").filter(|_| self.bytes == Bytes::Fallback)?;
        u8::from_str_radix(digits.strip_suffix('>')?, 16).ok()
    }

    /// A token's bytes, its mark as a space.
    fn bytes(&self, token: &str) -> Vec<u8> {
        match (self.bytes, &self.ends) {
            (Bytes::Level, _) => token.chars().flat_map(of_level).collect(),
            (_, Ends::Mark(mark)) => token.replace(*mark, " ").into_bytes(),
            _ => token.as_bytes().to_vec(),
        }
    }

    /// A part of a word as the model is given it, the first one's mark before it; none where that cannot be said.
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
            // The model closes whatever it is given.
            Ends::Closed(_) | Ends::Whole => (first && last).then(|| spelled(part)),
        }
    }

    /// The token that is a mark and nothing else, if there can be one.
    pub fn mark(&self) -> Option<char> {
        match (self.bytes, &self.ends) {
            (Bytes::Level, Ends::Mark(_)) => Some(to_level(b' ')),
            (_, Ends::Mark(mark)) => Some(*mark),
            _ => None,
        }
    }
}

/// The part of a type, in a part of `tokenizer.json` or among those it is a sequence of.
fn find<'a>(part: &'a Value, kind: &str) -> Option<&'a Value> {
    match part {
        Value::Object(map) if map.get("type").is_some_and(|found| found == kind) => Some(part),
        Value::Object(map) => map.values().find_map(|below| find(below, kind)),
        Value::Array(list) => list.iter().find_map(|below| find(below, kind)),
        _ => None,
    }
}

/// GPT-2's characters for bytes: a byte that can be seen is itself, the others are letters from U+0100 on.
static LEVEL: LazyLock<[char; 256]> = LazyLock::new(|| {
    let mut others = '\u{100}'..;
    std::array::from_fn(|byte| match byte as u8 {
        shown @ (b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF) => char::from(shown),
        _ => others.next().expect("letters go on"),
    })
});

/// Such a character.
pub fn to_level(byte: u8) -> char {
    LEVEL[usize::from(byte)]
}

/// The byte of such a character; of any other, what it is written with.
pub fn of_level(c: char) -> Vec<u8> {
    match (0..=u8::MAX).find(|&byte| to_level(byte) == c) {
        Some(byte) => vec![byte],
        None => c.to_string().into_bytes(),
    }
}
